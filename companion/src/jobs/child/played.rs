//! A worker that a simulation plays: its lines come from a task of this process, through the same reader as those of a process.

use std::sync::Arc;
use std::time::Duration;

use protocol::job::JobEvent;
use tokio::io::{BufReader, DuplexStream};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{END, JobReadings, Left, Order, Worker};
use crate::jobs::order::Task;

/// Plays a worker for a task.
pub(crate) type Cast = Arc<dyn Fn(Task) -> Played + Send + Sync>;

/// A worker as a simulation gives it.
pub(crate) struct Played {
    /// Lines that it writes.
    pub(crate) lines: DuplexStream,
    /// Dropped when it is asked to stop.
    pub(crate) stdin: oneshot::Sender<()>,
    /// Runs until it exits, and gives its status.
    pub(crate) task: JoinHandle<String>,
    /// Where there is one, the worker ends only with its sender, even if it is killed.
    pub(crate) wedged: Option<oneshot::Receiver<()>>,
    /// Readings of the sensors beside it.
    pub(crate) readings: UnboundedReceiver<JobEvent>,
}

/// The task in place of a process.
pub(super) struct Body {
    stdin: Option<oneshot::Sender<()>>,
    task: JoinHandle<String>,
    wedged: Option<oneshot::Receiver<()>>,
}

pub(super) fn start(cast: &Cast, order: Order) -> (Worker, JobReadings) {
    let Played { lines, stdin, task, wedged, readings } = cast(order.task);
    let body = super::Body::Played(Body { stdin: Some(stdin), task, wedged });
    let worker = Worker { body, lines: BufReader::new(Box::new(lines)), line: Vec::new() };
    (worker, JobReadings::played(readings))
}

impl Body {
    pub(super) fn ask_to_stop(&mut self) {
        self.stdin = None;
    }

    pub(super) async fn end(mut self, grace: Duration) -> Left {
        let status = timeout(grace, &mut self.task).await;
        self.task.abort();
        if let Some(mut wedged) = self.wedged.take()
            && timeout(END, &mut wedged).await.is_err()
        {
            return Left::Wedged(Box::pin(async move { drop(wedged.await) }));
        }
        let status = status.map_or("killed".into(), Result::unwrap_or_default);
        Left::Gone { status, words: String::new() }
    }
}

/// The daemon that drops a worker kills it.
impl Drop for Body {
    fn drop(&mut self) {
        self.task.abort();
    }
}
