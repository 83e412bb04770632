//! The latest events of jobs in memory, each serialized once for all sessions, and a channel that notifies of additions.
//! Older ones are in the store.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::extract::ws::Utf8Bytes;
use protocol::job::{JobEvent, JobId, NumberedEvent};
use protocol::server::{Say, ServerMessage};
use tokio::sync::watch;

/// An event as the JSON text that is sent.
#[derive(Debug, Clone)]
pub(crate) struct EventText {
    pub(crate) seq: u64,
    pub(crate) text: Utf8Bytes,
    /// True for the last event of the job.
    pub(crate) is_last: bool,
}

const KEPT_EVENTS: usize = 512;
const KEPT_JOBS: usize = 32;

/// The latest events of all jobs.
#[derive(Debug)]
pub(crate) struct Journal {
    jobs: Mutex<BTreeMap<JobId, VecDeque<EventText>>>,
    changes: watch::Sender<u64>,
}

impl Journal {
    pub(crate) fn new() -> Self {
        Self { jobs: Mutex::default(), changes: watch::Sender::new(0) }
    }

    /// A receiver that is notified of every addition.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Adds a stored event. Only the store's thread calls this, so events are added in the order of their numbers.
    pub(super) fn add(&self, event: &NumberedEvent) {
        let line = serialize(event);
        let mut jobs = self.lock();
        let latest = jobs.entry(event.job).or_default();
        latest.push_back(line);
        if latest.len() > KEPT_EVENTS {
            latest.pop_front();
        }
        while jobs.len() > KEPT_JOBS {
            jobs.pop_first();
        }
        drop(jobs);
        self.notify();
    }

    /// Notifies all receivers, also without an event.
    pub(super) fn notify(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// The events after a number; `None` if some of them are in the store only.
    pub(crate) fn after(&self, job: JobId, after: u64, limit: usize) -> Option<Vec<EventText>> {
        let jobs = self.lock();
        let latest = jobs.get(&job)?;
        let first = latest.front()?.seq;
        if after.saturating_add(1) < first {
            return None;
        }
        Some(latest.iter().filter(|line| line.seq > after).take(limit).cloned().collect())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<JobId, VecDeque<EventText>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serializes an event once for all subscribers.
pub(crate) fn serialize(event: &NumberedEvent) -> EventText {
    let say = Say { id: None, say: ServerMessage::Event(event.clone()) };
    let text = serde_json::to_vec(&say).expect("messages have text keys");
    EventText {
        seq: event.seq,
        text: Utf8Bytes::try_from(Bytes::from(text)).expect("JSON is UTF-8"),
        is_last: matches!(event.event, JobEvent::Ended { .. }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_left_memory_are_read_from_the_store() {
        let journal = Journal::new();
        let job = JobId(1);
        assert!(journal.after(job, 0, 10).is_none());
        for seq in 1..=600 {
            journal.add(&NumberedEvent { job, seq, at_ms: 0, event: JobEvent::Queued });
        }
        let first = 600 - KEPT_EVENTS as u64 + 1;
        assert!(journal.after(job, first - 2, 10).is_none());
        let found = journal.after(job, first - 1, 10).expect("all are here");
        assert_eq!((found.len(), found[0].seq), (10, first));
        assert_eq!(journal.after(job, 600, 10).map(|found| found.len()), Some(0));
    }
}
