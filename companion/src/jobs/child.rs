//! The worker process of one job: started, read line by line, and killed if it does not exit.

mod last_words;
#[cfg(all(test, debug_assertions))]
mod played;

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use self::last_words::last_words;
use super::environment;
use super::message::{LINE, WorkerMessage};
use super::order::{self, Order, Written};
use super::readings::JobReadings;
use crate::hooks::Hooks;
use crate::reason::Reason;
use crate::telemetry::SharedSensors;

/// Longest wait for a worker that was killed to end. A driver may need seconds to free the memory of its GPU; one that takes longer does
/// not return.
pub(super) const END: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 20 });

#[cfg(all(test, debug_assertions))]
pub(crate) use played::{Cast, Played};

/// How workers are started.
#[derive(Clone)]
pub(crate) enum Workers {
    /// Each is a process of its own.
    Processes,
    /// A simulation plays them.
    #[cfg(all(test, debug_assertions))]
    Played(Cast),
}

/// A running worker.
pub(super) struct Worker {
    body: Body,
    lines: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    line: Vec<u8>,
}

/// The process or the task that writes a worker's lines.
enum Body {
    Process {
        child: Child,
        /// Its stdin closes when this is dropped.
        stdin: Option<oneshot::Sender<()>>,
        stderr: JoinHandle<String>,
    },
    #[cfg(all(test, debug_assertions))]
    Played(played::Body),
}

/// The next event of a worker.
pub(super) enum Next {
    /// A message, and the bytes of its line.
    Says(Box<WorkerMessage>, usize),
    /// It wrote a malformed message.
    Garbles(Reason),
    /// It closed its stdout.
    Ends,
}

/// How a worker was left.
pub(super) enum Left {
    /// It has ended.
    Gone {
        /// Its exit status.
        status: String,
        /// The end of its stderr.
        words: String,
    },
    /// It was killed and has not ended, as in a call of a driver that does not return.
    Wedged(Gone),
}

/// Completes when a worker has ended at last.
pub(super) type Gone = Pin<Box<dyn Future<Output = ()> + Send>>;

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Processes => "Processes",
            #[cfg(all(test, debug_assertions))]
            Self::Played(_) => "Played",
        })
    }
}

impl Workers {
    /// Whether jobs measure.
    pub(super) const fn are_processes(&self) -> bool {
        match self {
            Self::Processes => true,
            #[cfg(all(test, debug_assertions))]
            Self::Played(_) => false,
        }
    }

    /// Starts the worker of a job, and the sensors that are read beside it.
    pub(super) fn start(
        &self,
        order: Order,
        sensors: &Arc<SharedSensors>,
    ) -> io::Result<(Worker, JobReadings)> {
        match self {
            Self::Processes => {
                let worker = Worker::process(order)?;
                Ok((worker, JobReadings::start(sensors)))
            }
            #[cfg(all(test, debug_assertions))]
            Self::Played(cast) => Ok(played::start(cast, order)),
        }
    }
}

impl Worker {
    /// Starts the worker of a job: this program, with the variables of [`environment`] alone, in its own process group. Its stdin is a
    /// socket, because descriptors travel through no pipe. Its order is on the way meanwhile: one that does not take it is silent.
    fn process(order: Order) -> io::Result<Self> {
        let order = order::written(order)?;
        let (stdin, theirs) = net::UnixStream::pair()?;
        let mut command = Command::new(program()?);
        command.arg("worker").env_clear().current_dir("/").process_group(0).kill_on_drop(true);
        command.envs(environment::passed()).envs(Hooks::variable());
        command.envs(environment::libraries());
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        // The daemon's copy of the worker's end.
        drop(command);
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("a worker without pipes"));
        };
        stdin.set_nonblocking(true)?;
        let (until, stopped) = oneshot::channel();
        tokio::spawn(hold(UnixStream::from_std(stdin)?, order, stopped));
        Ok(Self {
            body: Body::Process {
                child,
                stdin: Some(until),
                stderr: tokio::spawn(last_words(stderr)),
            },
            lines: BufReader::new(Box::new(stdout)),
            line: Vec::new(),
        })
    }

    /// The next message. The future can be dropped without loss: an incomplete line is kept.
    pub(super) async fn next(&mut self) -> Next {
        match line(&mut self.lines, &mut self.line).await {
            Ok(true) => {
                let (said, bytes) = (serde_json::from_slice(&self.line), self.line.len());
                self.line.clear();
                match said {
                    Ok(message) => Next::Says(Box::new(message), bytes),
                    Err(_) => Next::Garbles(Reason::LineNoMessage),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Next::Garbles(Reason::LineEndless)
            }
            Ok(false) | Err(_) => Next::Ends,
        }
    }

    /// Asks the worker to stop by closing its stdin.
    fn ask_to_stop(&mut self) {
        match &mut self.body {
            Body::Process { stdin, .. } => *stdin = None,
            #[cfg(all(test, debug_assertions))]
            Body::Played(body) => body.ask_to_stop(),
        }
    }

    /// Kills the process group after the grace time. The wait for its end has a limit, because the system ends no process within a call
    /// of a driver.
    pub(super) async fn end(mut self, grace: Duration) -> Left {
        self.ask_to_stop();
        match self.body {
            Body::Process { child, stderr, .. } => end(child, stderr, grace).await,
            #[cfg(all(test, debug_assertions))]
            Body::Played(body) => body.end(grace).await,
        }
    }
}

/// Sends a worker its order and keeps its stdin open until it is to stop. Without its whole order it cannot begin, and ends with stdin.
async fn hold(mut stdin: UnixStream, order: Written, mut stopped: oneshot::Receiver<()>) {
    let sent = tokio::select! {
        sent = order::send(order, &mut stdin) => sent,
        _ = &mut stopped => return,
    };
    if sent.is_ok() {
        // An error says that the sender was dropped.
        let _ = stopped.await;
    }
}

async fn end(mut child: Child, mut stderr: JoinHandle<String>, grace: Duration) -> Left {
    let mut ended = timeout(grace, child.wait()).await;
    if ended.is_err() {
        kill(&child);
        ended = timeout(END, child.wait()).await;
    }
    let Ok(status) = ended else {
        stderr.abort();
        // Its status is of no use any more.
        return Left::Wedged(Box::pin(async move { drop(child.wait().await) }));
    };
    // Children of the worker may outlive it.
    kill(&child);
    let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    let words = timeout(Duration::from_millis(200), &mut stderr).await;
    stderr.abort();
    Left::Gone { status, words: words.ok().and_then(Result::ok).unwrap_or_default() }
}

fn kill(child: &Child) {
    let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    if let Some(pid) = pid {
        // It may be gone already.
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// The running program; on Linux even if its file was replaced by a later version meanwhile.
pub(crate) fn program() -> io::Result<std::path::PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Reads to the end of a line; false at the end of the stream.
pub(crate) async fn line(
    from: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> io::Result<bool> {
    loop {
        let buffer = from.fill_buf().await?;
        if buffer.is_empty() {
            return Ok(false);
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(buffer.len());
        line.extend_from_slice(&buffer[..taken]);
        from.consume(end.map_or(taken, |end| end + 1));
        if line.len() > LINE {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if end.is_some() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// A process that a signal to its group does not reach, because it leads none, stands for one that no signal ends.
    #[tokio::test]
    async fn the_wait_for_the_end_of_a_process_has_a_limit() {
        let mut command = Command::new("sleep");
        command.arg("4").stderr(Stdio::piped());
        let mut child = command.spawn().expect("it is there");
        let stderr = tokio::spawn(last_words(child.stderr.take().expect("piped")));
        let begin = Instant::now();
        let Left::Wedged(gone) = end(child, stderr, Duration::ZERO).await else {
            panic!("it was killed")
        };
        assert!(begin.elapsed() >= END, "{:?}", begin.elapsed());
        gone.await;
        assert!(begin.elapsed() > Duration::from_secs(3), "it has ended: {:?}", begin.elapsed());
    }
}
