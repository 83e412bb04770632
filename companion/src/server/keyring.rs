//! The daemon's copy of the keys in memory. It follows the file, so that a key revoked on the command line ends its
//! sessions within a second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::watch;

use crate::clock::Millis;
use crate::hooks::Hooks;
use crate::keys::{Book, KeyFile, KeyFileError, KeyId, Stamp};

/// Interval in which the file's modification time is read.
const LOOK: Duration = Duration::from_millis(250);
/// Resolution of the stored time of a key's last use, in ms.
const USED: Millis = 3600 * 1000;

/// Keys in memory and on disk.
#[derive(Debug)]
pub(super) struct Keyring {
    file: KeyFile,
    book: RwLock<Arc<Book>>,
    /// Stamp of the file of which the copy was read, taken before reading.
    changed: watch::Sender<Stamp>,
    /// True if that file could not have been changed since with the same stamp.
    is_settled: AtomicBool,
    hooks: Hooks,
}

impl Keyring {
    /// Reads the file or creates it, and brings it into today's form.
    pub(super) fn open(file: KeyFile, hooks: Hooks) -> Result<Self, KeyFileError> {
        let (book, stamp) = file.change_stamped(|book| book.clone())?;
        let changed = watch::Sender::new(stamp);
        let (book, is_settled) = (RwLock::new(Arc::new(book)), AtomicBool::new(false));
        Ok(Self { file, book, changed, is_settled, hooks })
    }

    /// The keys now.
    pub(super) fn book(&self) -> Arc<Book> {
        Arc::clone(&self.book.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A receiver that is notified of every change.
    pub(super) fn changes(&self) -> watch::Receiver<Stamp> {
        self.changed.subscribe()
    }

    /// Changes the file and the copy. It blocks on the disk, so it must not run on the thread of the sockets.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Book) -> T) -> Result<T, KeyFileError> {
        let ((done, book), stamp) = self.file.change_stamped(|book| {
            let done = change(book);
            (done, book.clone())
        })?;
        self.put(book, stamp, false);
        Ok(done)
    }

    /// True if the stored time of a key's last use is older than [`USED`].
    pub(super) fn is_use_due(&self, key: KeyId, now: Millis) -> bool {
        self.book().paired(key).is_some_and(|key| now.saturating_sub(key.used_ms) > USED)
    }

    /// Stores the time of a key's last use. It blocks on the disk.
    pub(super) fn used(&self, key: KeyId, now: Millis) {
        // If this fails, the key expires a little earlier.
        let _ = self.change(|book| {
            for known in book.keys.iter_mut().filter(|known| known.id == key) {
                known.used_ms = now;
            }
        });
    }

    fn put(&self, book: Book, stamp: Stamp, is_settled: bool) {
        self.is_settled.store(is_settled, Ordering::Relaxed);
        *self.book.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(book);
        self.changed.send_replace(stamp);
    }

    /// Follows the file until the daemon ends.
    pub(super) async fn follow(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            self.look();
        }
    }

    /// Reads the file again if it has changed. If it cannot be trusted any more, no key is valid.
    fn look(&self) {
        let stamp = self.file.stamp();
        let (is_same, is_settled) = (*self.changed.borrow() == stamp, stamp.is_settled());
        if is_same && self.is_settled.load(Ordering::Relaxed) {
            return;
        }
        let book = match self.file.read() {
            Ok(book) => book,
            Err(error) => {
                eprintln!("all keys are disabled: {error}");
                None
            }
        };
        self.hooks.pause_after_keys();
        let server = self.book().server;
        self.put(book.unwrap_or_else(|| Book::of(server)), stamp, is_settled);
    }
}
