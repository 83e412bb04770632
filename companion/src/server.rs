//! The HTTP server and the socket of the page. Requests pass the guard (host name, origin), then the table of routes; a
//! socket passes the handshake, then becomes a session.

mod audit;
mod coding;
mod connections;
mod daemon;
pub(crate) mod embedded;
mod engine;
mod fair;
mod freshness;
mod guard;
mod handshake;
mod host;
mod kept;
mod keyring;
mod mcp;
mod metrics;
mod negotiation;
mod notes;
mod openapi;
mod origin;
mod peer;
mod places;
mod refusal;
mod reply;
mod rest;
mod routes;
mod session;
#[cfg(all(test, debug_assertions))]
mod simulation;
mod socket;
pub(crate) mod static_files;
mod table;
mod throttle;
mod upgrade;

pub(crate) use connections::Bound;
pub(crate) use daemon::Config;
pub(crate) use origin::is_plain;
#[cfg(test)]
pub(crate) use refusal::Refusal;

use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

use connections::Listener;
use daemon::Daemon;

/// Grace time of a running job when the daemon ends.
const EXIT_GRACE: Duration = Duration::from_secs(3);

/// Serves until a signal ends the daemon; returns the exit code.
///
/// `announce` is called when everything is open and requests are answered.
///
/// # Errors
/// A sentence that says why the server cannot start.
pub(crate) fn serve(
    config: Config,
    bound: Vec<Bound>,
    announce: impl FnOnce() -> Result<(), String>,
) -> Result<u8, String> {
    let failed = |error: std::io::Error| format!("the server failed: {error}");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(8)
        .build()
        .map_err(failed)?;
    runtime.block_on(async {
        let daemon = Arc::new(Daemon::new(config)?);
        let runner = tokio::spawn(Arc::clone(&daemon.jobs).run());
        let follower = Arc::clone(&daemon);
        tokio::spawn(async move { follower.keys.follow().await });
        tokio::spawn(audit::follow(Arc::clone(&daemon)));
        let connections = connections::none();
        let mut paths = Vec::new();
        for bound in bound {
            if let Bound::Unix { path, .. } = &bound {
                paths.push(path.clone());
            }
            let listener = Listener::of(bound).map_err(failed)?;
            let (daemon, connections) = (Arc::clone(&daemon), Arc::clone(&connections));
            tokio::spawn(connections::accept(daemon, connections, listener));
        }
        announce()?;
        let code = ended_by_signal().await.map_err(failed)?;
        // Sessions send their last message, and the running job is marked as interrupted.
        daemon.ending.send_replace(true);
        daemon.jobs.end();
        let _ = timeout(EXIT_GRACE, runner).await;
        daemon.jobs.store().settle().await;
        audit::finish(&daemon);
        // A socket file that cannot be removed is found stale at the next start.
        for path in paths {
            let _ = std::fs::remove_file(path);
        }
        Ok(code)
    })
}

/// Exit code 130 for Ctrl-C, 129 for the end of the terminal, 0 for SIGTERM, by which services are stopped.
async fn ended_by_signal() -> std::io::Result<u8> {
    let mut terminate: Signal = signal(SignalKind::terminate())?;
    let mut hang_up = hears_hang_up().then(|| signal(SignalKind::hangup())).transpose()?;
    tokio::select! {
        done = tokio::signal::ctrl_c() => done.map(|()| 130),
        _ = terminate.recv() => Ok(0),
        () = hung_up(&mut hang_up) => Ok(129),
    }
}

async fn hung_up(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// False if whoever started this program wants it to outlive the terminal, as `nohup` does. Only Linux tells that.
fn hears_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_none_or(|mask| mask & 1 == 0)
}
