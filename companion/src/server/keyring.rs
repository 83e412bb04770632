//! The daemon's copy of the keys in memory. It follows the file, so that a key revoked on the command line ends its
//! sessions within a second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
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
    /// Held from before a change of the file until the copy has it, so that no older book takes its place.
    changing: Mutex<()>,
    hooks: Hooks,
}

impl Keyring {
    /// Reads the file or creates it, and brings it into today's form.
    pub(super) fn open(file: KeyFile, hooks: Hooks) -> Result<Self, KeyFileError> {
        let (book, stamp) = file.change_stamped(|book| book.clone())?;
        let changed = watch::Sender::new(stamp);
        let (book, is_settled) = (RwLock::new(Arc::new(book)), AtomicBool::new(false));
        Ok(Self { file, book, changed, is_settled, changing: Mutex::default(), hooks })
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
        let _held = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.change_held(change)
    }

    fn change_held<T>(&self, change: impl FnOnce(&mut Book) -> T) -> Result<T, KeyFileError> {
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

    /// Stores the time of a key's last use: in the copy first, so that whoever sees it in the file finds it there. It blocks on the disk.
    pub(super) fn used(&self, key: KeyId, now: Millis) {
        let _held = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = |book: &mut Book| {
            for known in book.keys.iter_mut().filter(|known| known.id == key) {
                known.used_ms = now;
            }
        };
        let mut book = Book::clone(&self.book());
        mark(&mut book);
        *self.book.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(book);
        // If this fails, the key expires a little earlier after the next start.
        let _ = self.change_held(mark);
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
    pub(super) fn look(&self) {
        let (before, stamp) = (*self.changed.borrow(), self.file.stamp());
        let (is_same, is_settled) = (before == stamp, stamp.is_settled());
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
        // The book may be older than a change of this daemon that is under way or done; the next look decides.
        let Ok(_held) = self.changing.try_lock() else { return };
        if *self.changed.borrow() != before {
            return;
        }
        let server = self.book().server;
        self.put(book.unwrap_or_else(|| Book::of(server)), stamp, is_settled);
    }
}

#[cfg(debug_assertions)]
#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::thread;
    use std::time::Instant;

    use super::*;

    /// A ring of one key in a folder of its own, and the key.
    fn ring(name: &str, hooks: &str) -> (Arc<Keyring>, KeyId, PathBuf) {
        let state = std::env::temp_dir().join(format!("ring-{name}-{}", std::process::id()));
        let _absent_the_first_time = std::fs::remove_dir_all(&state);
        let file = KeyFile::of(&state).unwrap();
        let ring = Keyring::open(file, serde_json::from_str(hooks).unwrap()).unwrap();
        ring.change(|book| book.add_token(Vec::new(), String::new(), 0)).unwrap();
        let key = ring.book().keys[0].id;
        (Arc::new(ring), key, state)
    }

    fn used_ms(ring: &Keyring) -> Millis {
        ring.book().keys[0].used_ms
    }

    #[test]
    fn a_book_that_was_read_before_a_change_does_not_undo_it() {
        let (ring, key, state) = ring("look", "{\"keys_pause_ms\": 500}");
        let looks = thread::spawn({
            let ring = Arc::clone(&ring);
            move || ring.look()
        });
        // It has read the file, and pauses.
        thread::sleep(Duration::from_millis(250));
        ring.used(key, 7);
        looks.join().unwrap();
        assert_eq!(used_ms(&ring), 7);
        std::fs::remove_dir_all(state).unwrap();
    }

    #[test]
    fn a_use_counts_before_it_is_in_the_file() {
        let (ring, key, state) = ring("use", "{}");
        let lock = std::fs::File::create(state.join("keys.lock")).unwrap();
        lock.lock().unwrap();
        let uses = thread::spawn({
            let ring = Arc::clone(&ring);
            move || ring.used(key, 7)
        });
        let begin = Instant::now();
        while used_ms(&ring) != 7 && begin.elapsed() < Duration::from_mins(1) {
            thread::sleep(Duration::from_millis(5));
        }
        let in_file = ring.file.read().unwrap().unwrap().keys[0].used_ms;
        assert_eq!((used_ms(&ring), in_file), (7, 0), "another program holds the lock of the file");
        drop(lock);
        uses.join().unwrap();
        assert_eq!(ring.file.read().unwrap().unwrap().keys[0].used_ms, 7);
        std::fs::remove_dir_all(state).unwrap();
    }
}
