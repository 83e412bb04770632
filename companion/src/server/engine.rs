//! The process that reads an inference server for a session: HTTP and the headers of its weights stay out of the daemon. It ends with the
//! session, and when it is dropped.

use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use protocol::engine::WatchEngine;
use protocol::fault::Fault;
use protocol::server::ServerMessage;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::jobs::{line, program};
use crate::reason::Reason;
use crate::verbs::attach::EngineLine;

/// Most servers that all sessions of a daemon read at once.
pub(super) const MOST: usize = 4;

/// Longest time until the process has its order.
const START: Duration = Duration::from_secs(5);

/// A server that is read.
#[derive(Debug)]
pub(super) struct EngineWatch {
    /// Killed when it is dropped.
    _child: Child,
    /// The process ends when this closes.
    _stdin: ChildStdin,
    lines: BufReader<ChildStdout>,
    line: Vec<u8>,
    _place: OwnedSemaphorePermit,
}

impl EngineWatch {
    /// Starts to read the server of an order that is allowed.
    ///
    /// # Errors
    /// Too many servers, and a process that does not start.
    pub(super) async fn start(places: &Arc<Semaphore>, order: &WatchEngine) -> Result<Self, Fault> {
        let place = Arc::clone(places)
            .try_acquire_owned()
            .map_err(|_full| Reason::EnginesFull.with(&[&MOST]))?;
        let started = timeout(START, Self::spawn(order, place)).await;
        let started = started.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        started.map_err(|error| Reason::EngineUnread.with(&[&error]))
    }

    async fn spawn(order: &WatchEngine, place: OwnedSemaphorePermit) -> io::Result<Self> {
        let mut command = Command::new(program()?);
        command.arg("read-engine").env_clear().current_dir("/").kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("a process without pipes"));
        };
        let mut text = serde_json::to_vec(order)?;
        text.push(b'\n');
        stdin.write_all(&text).await?;
        let (lines, line) = (BufReader::new(stdout), Vec::new());
        Ok(Self { _child: child, _stdin: stdin, lines, line, _place: place })
    }

    /// The next message for the client. The future can be dropped without loss: an incomplete line is kept.
    pub(super) async fn next(&mut self) -> ServerMessage {
        let ended = |why: &str| ServerMessage::EngineEnded { why: why.to_owned() };
        if !matches!(line(&mut self.lines, &mut self.line).await, Ok(true)) {
            return ended("the process that reads the server ended");
        }
        let said = serde_json::from_slice(&self.line);
        self.line.clear();
        match said {
            Ok(EngineLine::Report(report)) => ServerMessage::Engine(*report),
            Ok(EngineLine::Ended(why)) => ended(&why),
            Err(_) => ended("the process that reads the server wrote no report"),
        }
    }
}

/// The next message of a server that is read; without one, never.
pub(super) async fn next(watch: &mut Option<EngineWatch>) -> ServerMessage {
    match watch {
        Some(watch) => watch.next().await,
        None => std::future::pending().await,
    }
}
