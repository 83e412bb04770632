//! The audit log as a running daemon writes it: what nobody waits for is written by a thread of its own, and what must be written
//! before something is done waits for a limited time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::audit::{Entry, Log};

/// Entries that wait for the thread.
const WAITING: usize = 256;
/// Longest wait for them at the end of the daemon.
const SETTLE: Duration = Duration::from_secs(3);

/// The log of a daemon.
#[derive(Debug, Clone)]
pub(super) struct Notes {
    written: Arc<Written>,
    queue: SyncSender<Note>,
}

#[derive(Debug)]
struct Written {
    log: Log,
    /// True while the last line could not be written.
    failing: AtomicBool,
    lost: AtomicU64,
}

enum Note {
    Entry(Box<Entry>),
    Probe,
    Settled(SyncSender<()>),
}

impl Notes {
    /// Starts the thread.
    ///
    /// # Errors
    /// A sentence if the system has no thread.
    pub(super) fn start(log: Log) -> Result<Self, String> {
        let (queue, waiting) = sync_channel(WAITING);
        let (failing, lost) = (AtomicBool::new(false), AtomicU64::new(0));
        let written = Arc::new(Written { log, failing, lost });
        let writes = Arc::clone(&written);
        thread::Builder::new()
            .name("audit".into())
            .spawn(move || writes.follow(&waiting))
            .map_err(|error| format!("no thread for the audit log: {error}"))?;
        Ok(Self { written, queue })
    }

    /// Writes a line soon. Never waits: where too many wait already, the line is counted as lost.
    pub(super) fn note(&self, entry: Entry) {
        if self.queue.try_send(Note::Entry(Box::new(entry))).is_err() {
            self.written.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes a line that must be on the disk before its action; false if that failed.
    pub(super) fn write(&self, entry: &Entry) -> bool {
        self.written.write(entry, true)
    }

    /// True while lines cannot be written.
    pub(super) fn is_failing(&self) -> bool {
        self.written.failing.load(Ordering::Relaxed)
    }

    /// Lines that were never written.
    pub(super) fn lost(&self) -> u64 {
        self.written.lost.load(Ordering::Relaxed)
    }

    /// Looks whether lines can be written again.
    pub(super) fn probe(&self) {
        if self.is_failing() {
            // With a full queue the next entry finds out.
            let _ = self.queue.try_send(Note::Probe);
        }
    }

    /// Waits until everything that was noted is written, if that is soon.
    pub(super) fn settle(&self) {
        let (told, settled) = sync_channel(1);
        if self.queue.try_send(Note::Settled(told)).is_ok() {
            let _ = settled.recv_timeout(SETTLE);
        }
    }
}

impl Written {
    fn follow(&self, waiting: &Receiver<Note>) {
        for note in waiting {
            match note {
                Note::Entry(entry) => {
                    if !self.write(&entry, false) {
                        self.lost.fetch_add(1, Ordering::Relaxed);
                    }
                }
                Note::Probe => {
                    if self.log.probe().is_ok() {
                        self.failing.store(false, Ordering::Relaxed);
                    }
                }
                // Nobody waits any more if the receiver is gone.
                Note::Settled(told) => drop(told.try_send(())),
            }
        }
    }

    /// Only the first line that fails waits for the lock; those after it fail at once.
    fn write(&self, entry: &Entry, safe: bool) -> bool {
        let added = if self.failing.load(Ordering::Relaxed) {
            self.log.add_within(entry, safe, Duration::ZERO)
        } else {
            self.log.add(entry, safe)
        };
        let was_failing = self.failing.swap(added.is_err(), Ordering::Relaxed);
        match added {
            Ok(()) => true,
            Err(error) => {
                if !was_failing {
                    eprintln!("the audit log cannot be written: {error}");
                }
                false
            }
        }
    }
}
