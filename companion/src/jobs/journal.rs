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

/// Size of all texts that are kept, in bytes. One event may exceed it.
const KEPT: usize = 8 << 20;

/// The latest events of all jobs.
#[derive(Debug)]
pub(crate) struct Journal {
    kept: Mutex<Kept>,
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    jobs: BTreeMap<JobId, VecDeque<EventText>>,
    bytes: usize,
}

impl Kept {
    /// Drops the oldest event of the oldest job, which the store has.
    fn drop_oldest(&mut self) {
        let Some(mut oldest) = self.jobs.first_entry() else { return };
        let dropped = oldest.get_mut().pop_front();
        if oldest.get().is_empty() {
            oldest.remove();
        }
        self.bytes -= dropped.map_or(0, |line| line.size());
    }
}

impl EventText {
    /// Bytes of memory.
    fn size(&self) -> usize {
        size_of::<Self>() + self.text.len()
    }
}

impl Journal {
    pub(crate) fn new() -> Self {
        Self { kept: Mutex::default(), changes: watch::Sender::new(0) }
    }

    /// A receiver that is notified of every addition.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Adds a stored event. Only the store's thread calls this, so events are added in the order of their numbers.
    pub(super) fn add(&self, event: &NumberedEvent) {
        let line = serialize(event);
        let mut kept = self.lock();
        kept.bytes += line.size();
        kept.jobs.entry(event.job).or_default().push_back(line);
        while kept.bytes > KEPT && (kept.jobs.len() > 1 || kept.jobs[&event.job].len() > 1) {
            kept.drop_oldest();
        }
        drop(kept);
        self.notify();
    }

    /// Notifies all receivers, also without an event.
    pub(super) fn notify(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// The events after a number; `None` if some of them are in the store only.
    pub(crate) fn after(&self, job: JobId, after: u64, limit: usize) -> Option<Vec<EventText>> {
        let kept = self.lock();
        let latest = kept.jobs.get(&job)?;
        let first = latest.front()?.seq;
        if after.saturating_add(1) < first {
            return None;
        }
        Some(latest.iter().filter(|line| line.seq > after).take(limit).cloned().collect())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn log(job: u64, seq: u64, bytes: usize) -> NumberedEvent {
        NumberedEvent {
            job: JobId(job),
            seq,
            at_ms: 0,
            event: JobEvent::Log { line: "x".repeat(bytes) },
        }
    }

    fn held(journal: &Journal) -> usize {
        journal.lock().jobs.values().flatten().map(EventText::size).sum()
    }

    #[test]
    fn events_that_left_memory_are_read_from_the_store() {
        let journal = Journal::new();
        let job = JobId(1);
        assert!(journal.after(job, 0, 10).is_none());
        for seq in 1..=600 {
            journal.add(&log(1, seq, 100));
        }
        let found = journal.after(job, 500, 10).expect("small ones are all here");
        assert_eq!((found.len(), found[0].seq), (10, 501));
        assert_eq!(journal.after(job, 600, 10).map(|found| found.len()), Some(0));
        for seq in 601..=640 {
            journal.add(&log(1, seq, 256 * 1024));
        }
        assert!(journal.after(job, 500, 10).is_none());
        assert!(journal.after(job, 630, 10).is_some_and(|found| found.len() == 10));
    }

    #[test]
    fn memory_is_limited_by_bytes_whatever_their_number() {
        for (jobs, events, bytes) in [(1, 100, 256 * 1024), (40, 20, 64 * 1024), (3000, 3, 1000)] {
            let journal = Journal::new();
            for seq in 1..=events {
                (1..=jobs).for_each(|job| journal.add(&log(job, seq, bytes)));
            }
            let kept = held(&journal);
            assert!(kept <= KEPT && kept > KEPT - 2 * bytes, "{jobs} {events} {bytes}: {kept}");
            assert_eq!(journal.lock().bytes, kept);
            let last = journal.after(JobId(jobs), events - 1, 10).expect("the latest is here");
            assert_eq!(last.len(), 1);
        }
        // An event that is larger than all that is kept is there until the next one.
        let journal = Journal::new();
        journal.add(&log(1, 1, KEPT));
        assert!(journal.after(JobId(1), 0, 10).is_some_and(|found| found.len() == 1));
        journal.add(&log(2, 1, 1));
        assert!(journal.after(JobId(1), 0, 10).is_none());
    }
}
