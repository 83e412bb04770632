//! G06: a worker that no signal ends, as in a call of a driver that does not return. It is played, because a process in uninterruptible
//! sleep needs such a driver.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::StatusCode;
use protocol::fault::FaultCode;
use protocol::hex::Hex;
use protocol::job::{JobEvent, JobId, JobSpec, JobState};
use serde_json::json;
use tokio::io::{AsyncWriteExt, duplex};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};

use super::health;
use crate::hooks::Hooks;
use crate::jobs::message::WorkerMessage;
use crate::jobs::order::Task;
use crate::jobs::{Played, Workers};
use crate::keys::random;
use crate::server::daemon::{Config, Daemon};

/// Keeps the first worker from ending while it is there.
type Held = Arc<Mutex<Option<oneshot::Sender<()>>>>;

/// Plays workers that finish at once. The first is silent instead, and cannot be killed.
fn workers(held: &Held) -> Workers {
    let (held, started) = (Arc::clone(held), AtomicU32::new(0));
    Workers::Played(Arc::new(move |_: Task| {
        let (mut out, lines) = duplex(1 << 10);
        let is_first = started.fetch_add(1, Ordering::Relaxed) == 0;
        let wedged = is_first.then(|| {
            let (sender, wedged) = oneshot::channel();
            *held.lock().expect("nobody panics") = Some(sender);
            wedged
        });
        let task = tokio::spawn(async move {
            if is_first {
                std::future::pending::<()>().await;
            }
            let line = serde_json::to_string(&WorkerMessage::Done {}).expect("text keys");
            let _ = out.write_all(format!("{line}\n").as_bytes()).await;
            "exit status: 0".to_owned()
        });
        Played {
            lines,
            stdin: oneshot::channel().0,
            task,
            wedged,
            readings: mpsc::unbounded_channel().1,
        }
    }))
}

/// A daemon with such workers, in a folder of its own.
fn daemon(name: &str, held: &Held, silence_ms: u64) -> (Arc<Daemon>, std::path::PathBuf) {
    let folder =
        std::env::temp_dir().join(format!("ridgepoint-wedged-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let hooks = json!({ "silence_ms": silence_ms, "device": "", "memory_byte": 1_u64 << 40 });
    let hooks: Hooks = serde_json::from_value(hooks).expect("hooks");
    let config = Config { hooks, ..Config::of_test(&folder) };
    let (daemon, desk) = Daemon::open(config, workers(held)).expect("a folder of its own");
    desk.start().expect("a thread");
    let daemon = Arc::new(daemon);
    tokio::spawn(Arc::clone(&daemon.jobs).run());
    (daemon, folder)
}

fn job(backend: &str) -> JobSpec {
    let spec = json!({ "kind": "bench", "what": "bandwidth", "backend": backend });
    serde_json::from_value(spec).expect("an order")
}

async fn start(daemon: &Daemon, backend: &str) -> Result<JobId, (FaultCode, String)> {
    let started = daemon.jobs.start(Hex(random()), "x".into(), &job(backend), |_| true).await;
    started.map(|(job, _)| job).map_err(|fault| (fault.code, fault.message))
}

/// The end of a job.
async fn end_of(daemon: &Daemon, job: JobId) -> (JobState, Option<(FaultCode, String)>) {
    let ended = async {
        loop {
            let events = daemon.jobs.store().events(job, 0, 100).await.expect("they can be read");
            if let Some(JobEvent::Ended { state, fault }) = events.last().map(|it| it.event.clone())
            {
                return (state, fault.map(|fault| (fault.code, fault.message)));
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(30), ended).await.expect("it ends")
}

fn is_well(daemon: &Daemon) -> bool {
    health(daemon, None).status() == StatusCode::OK
}

async fn status(daemon: &Daemon) -> String {
    let body = health(daemon, None).into_body();
    let body = axum::body::to_bytes(body, 1 << 10).await.expect("a short body");
    serde_json::from_slice::<serde_json::Value>(&body).expect("JSON")["status"].to_string()
}

const SAID: &str = "the worker on cpu:0 was killed and has not ended";

#[tokio::test]
async fn a_worker_that_cannot_be_killed_ends_its_job_and_holds_its_device_alone() {
    let held = Held::default();
    let (daemon, folder) = daemon("silent", &held, 300);
    let wedged = start(&daemon, "cpu:0").await.expect("all is well");
    // Two that wait behind it: on its device, and on another.
    let behind = start(&daemon, "cpu:0").await.expect("all is well still");
    let beside = start(&daemon, "fake:0").await.expect("all is well still");
    let is_said = |ended: (JobState, Option<(FaultCode, String)>)| {
        let (state, fault) = ended;
        let (code, message) = fault.expect("a reason");
        assert!(state == JobState::Failed && code == FaultCode::Hung, "{state:?} {code:?}");
        assert!(message.starts_with(SAID), "{message}");
    };
    is_said(end_of(&daemon, wedged).await);
    is_said(end_of(&daemon, behind).await);
    assert_eq!(end_of(&daemon, beside).await, (JobState::Done, None));
    let (code, message) = start(&daemon, "cpu:0").await.expect_err("the device is held");
    assert!(code == FaultCode::Hung && message.starts_with(SAID), "{code:?} {message}");
    assert_eq!(health(&daemon, None).status(), StatusCode::SERVICE_UNAVAILABLE);
    let status = status(&daemon).await;
    assert!(status.contains(SAID), "{status}");
    // It ends at last.
    drop(held.lock().expect("nobody panics").take());
    while !is_well(&daemon) {
        sleep(Duration::from_millis(10)).await;
    }
    let next = start(&daemon, "cpu:0").await.expect("all is well again");
    assert_eq!(end_of(&daemon, next).await, (JobState::Done, None));
    let _ = std::fs::remove_dir_all(folder);
}

#[tokio::test]
async fn a_job_whose_worker_cannot_be_killed_is_canceled_within_the_promised_time() {
    let held = Held::default();
    let (daemon, folder) = daemon("canceled", &held, 60_000);
    let wedged = start(&daemon, "cpu:0").await.expect("all is well");
    while held.lock().expect("nobody panics").is_none() {
        sleep(Duration::from_millis(10)).await;
    }
    let begin = Instant::now();
    assert_eq!(daemon.jobs.cancel(wedged).await, Ok(true));
    let (state, fault) = end_of(&daemon, wedged).await;
    // A second of grace, a second in tests for its end, and the time of a loaded machine.
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    let (_, message) = fault.expect("a reason");
    assert!(state == JobState::Canceled && message.starts_with(SAID), "{state:?} {message}");
    assert!(!is_well(&daemon));
    let _ = std::fs::remove_dir_all(folder);
}
