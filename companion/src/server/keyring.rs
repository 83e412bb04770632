//! The daemon's copy of the keys in memory. It follows the file, so that a key revoked on the command line ends its
//! sessions within a second.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use tokio::sync::watch;

use crate::clock::Millis;
use crate::keys::{Book, KeyFile, KeyFileError, KeyId};

/// Interval in which the file's modification time is read.
const LOOK: Duration = Duration::from_millis(250);
/// Resolution of the stored time of a key's last use, in ms.
const USED: Millis = 3600 * 1000;

/// Keys in memory and on disk.
#[derive(Debug)]
pub(super) struct Keyring {
    file: KeyFile,
    book: RwLock<Arc<Book>>,
    changed: watch::Sender<Option<(SystemTime, u64)>>,
}

impl Keyring {
    /// Reads the file, or creates it.
    pub(super) fn open(file: KeyFile) -> Result<Self, KeyFileError> {
        let book = match file.read()? {
            Some(book) => book,
            None => file.change(|book| book.clone())?,
        };
        let changed = watch::Sender::new(file.stamp());
        Ok(Self { file, book: RwLock::new(Arc::new(book)), changed })
    }

    /// The keys now.
    pub(super) fn book(&self) -> Arc<Book> {
        Arc::clone(&self.book.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A receiver that is notified of every change.
    pub(super) fn changes(&self) -> watch::Receiver<Option<(SystemTime, u64)>> {
        self.changed.subscribe()
    }

    /// Changes the file and the copy. It blocks on the disk, so it must not run on the thread of the sockets.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Book) -> T) -> Result<T, KeyFileError> {
        let (done, book) = self.file.change(|book| {
            let done = change(book);
            (done, book.clone())
        })?;
        self.put(book);
        Ok(done)
    }

    /// Stores the time of a key's last use if the stored one is older than [`USED`].
    pub(super) fn used(&self, key: KeyId, now: Millis) {
        let is_old = |book: &Book| {
            book.paired(key).is_some_and(|key| now.saturating_sub(key.used_ms) > USED)
        };
        if is_old(&self.book()) {
            // If this fails, the key expires a little earlier.
            let _ = self.change(|book| {
                for known in book.keys.iter_mut().filter(|known| known.id == key) {
                    known.used_ms = now;
                }
            });
        }
    }

    fn put(&self, book: Book) {
        *self.book.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(book);
        self.changed.send_replace(self.file.stamp());
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
        if *self.changed.borrow() == self.file.stamp() {
            return;
        }
        let book = match self.file.read() {
            Ok(book) => book,
            Err(error) => {
                eprintln!("all keys are disabled: {error}");
                None
            }
        };
        let server = self.book().server;
        self.put(book.unwrap_or_else(|| Book::of(server)));
    }
}
