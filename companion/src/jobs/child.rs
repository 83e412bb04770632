//! The worker process of one job: started, read line by line, and killed if it does not exit.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::environment;
use super::message::{LINE, WorkerMessage};
use super::order::{self, Order};
use crate::hooks::Hooks;
use crate::reason::Reason;

/// Bytes of its stderr that are kept for the fault's sentence.
const STDERR: usize = 2048;

/// A running worker.
pub(super) struct Worker {
    child: Child,
    stdin: Option<UnixStream>,
    lines: BufReader<ChildStdout>,
    line: Vec<u8>,
    stderr: JoinHandle<String>,
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

impl Worker {
    /// Starts the worker of a job: this program, with the variables of [`environment`] alone, in its own process group. Its stdin is a
    /// socket, because descriptors travel through no pipe.
    pub(super) async fn start(order: Order) -> io::Result<Self> {
        let (stdin, theirs) = net::UnixStream::pair()?;
        let mut command = Command::new(program()?);
        command.arg("worker").env_clear().current_dir("/").process_group(0).kill_on_drop(true);
        command.envs(environment::passed()).envs(Hooks::variable());
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        // The daemon's copy of the worker's end.
        drop(command);
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::Error::other("a worker without pipes"));
        };
        stdin.set_nonblocking(true)?;
        let mut stdin = UnixStream::from_std(stdin)?;
        order::send(order, &mut stdin).await?;
        Ok(Self {
            child,
            stdin: Some(stdin),
            lines: BufReader::new(stdout),
            line: Vec::new(),
            stderr: tokio::spawn(last_words(stderr)),
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
    pub(super) fn ask_to_stop(&mut self) {
        self.stdin = None;
    }

    /// Kills the process group after the grace time; returns the exit status and the end of stderr.
    pub(super) async fn end(mut self, grace: Duration) -> (String, String) {
        self.stdin = None;
        let status = if let Ok(status) = timeout(grace, self.child.wait()).await {
            status
        } else {
            self.kill();
            self.child.wait().await
        };
        // Children of the worker may outlive it.
        self.kill();
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        let words = timeout(Duration::from_millis(200), &mut self.stderr).await;
        self.stderr.abort();
        (status, words.ok().and_then(Result::ok).unwrap_or_default())
    }

    fn kill(&self) {
        let pid = self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        if let Some(pid) = pid {
            // It may be gone already.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

/// The running program; on Linux even if its file was replaced by a later version meanwhile.
fn program() -> io::Result<std::path::PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Reads to the end of a line; false at the end of the stream.
async fn line(from: &mut (impl AsyncBufRead + Unpin), line: &mut Vec<u8>) -> io::Result<bool> {
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

/// The end of stderr, as one line.
async fn last_words(mut stderr: impl tokio::io::AsyncRead + Unpin) -> String {
    let (mut kept, mut buffer) = (Vec::new(), [0; 1024]);
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..read]);
        let extra = kept.len().saturating_sub(STDERR);
        kept.drain(..extra);
    }
    String::from_utf8_lossy(&kept).trim().replace(['\n', '\r'], " ")
}
