//! The file of keys: readable by this user only, replaced atomically, and changed under a lock.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::book::Book;
use crate::files;

/// Largest file that is read, in bytes; a real one has kilobytes.
const MAX_BYTES: u64 = 1 << 20;

/// Longest wait for the lock. Whoever holds it may wait for the audit log's.
const WAIT: Duration = Duration::from_secs(5);
/// Age from which on a file with the same stamp is the same file: clocks of file systems have coarse steps, and numbers of files are
/// used again.
const SETTLED: Duration = Duration::from_secs(1);

/// Modification time, number and size of the file, which change with it; empty without a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp(Option<(SystemTime, u64, u64)>);

impl Stamp {
    fn of(known: &Metadata) -> Self {
        Self(known.modified().ok().map(|modified| (modified, known.ino(), known.len())))
    }

    /// True if the same stamp will mean the same file from now on.
    pub(crate) fn is_settled(self) -> bool {
        self.0.is_none_or(|(modified, ..)| modified.elapsed().is_ok_and(|age| age > SETTLED))
    }
}

/// The path of the keys.
#[derive(Debug, Clone)]
pub(crate) struct KeyFile {
    path: PathBuf,
}

/// The reason why the keys cannot be used.
#[derive(Debug)]
pub(crate) enum KeyFileError {
    /// Another user could read or replace the file.
    Unsafe(String),
    /// The system refused an operation.
    Io(io::Error),
    /// The content is not a book of keys.
    Damaged(String),
    /// A later version of this program wrote it.
    Later(String),
}

impl std::fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsafe(why) => f.write_str(why),
            Self::Io(error) => write!(f, "the keys cannot be read or written: {error}"),
            Self::Damaged(why) => {
                write!(f, "the file of keys is damaged ({why}); remove it, then pair again")
            }
            Self::Later(path) => write!(
                f,
                "a later version of this program wrote the keys ({path}); update it, or choose another folder with --state"
            ),
        }
    }
}

impl From<io::Error> for KeyFileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl KeyFile {
    /// The file in a state folder; creates the folder if it is missing.
    pub(crate) fn of(state: &Path) -> Result<Self, KeyFileError> {
        // For a file in its place, the check below gives the reason.
        if !state.exists() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(state)?;
        }
        is_private(state, true)?;
        Ok(Self { path: state.join("keys.json") })
    }

    /// Reads the book; `None` if there is no file.
    pub(crate) fn read(&self) -> Result<Option<Book>, KeyFileError> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
            Ok(_) => is_private(&self.path, false)?,
        }
        let mut text = String::new();
        File::open(&self.path)?.take(MAX_BYTES).read_to_string(&mut text)?;
        // The parser's message may quote a secret, so it is not passed on.
        let book: Book = serde_json::from_str(&text).map_err(|error| {
            KeyFileError::Damaged(format!("{}, line {}", self.path.display(), error.line()))
        })?;
        let later = || KeyFileError::Later(self.path.display().to_string());
        book.of_today().map(Some).ok_or_else(later)
    }

    /// Changes the book under a lock that all programs of this user share.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Book) -> T) -> Result<T, KeyFileError> {
        self.change_stamped(change).map(|(done, _stamp)| done)
    }

    /// Changes the book like [`Self::change`]; also returns the stamp of the file that was written.
    pub(crate) fn change_stamped<T>(
        &self,
        change: impl FnOnce(&mut Book) -> T,
    ) -> Result<(T, Stamp), KeyFileError> {
        let _lock = files::lock_within(&self.path.with_extension("lock"), WAIT)?;
        let mut book = self.read()?.unwrap_or_else(Book::new);
        let done = change(&mut book);
        Ok((done, self.write(&book)?))
    }

    fn write(&self, book: &Book) -> Result<Stamp, KeyFileError> {
        let unfinished = self.path.with_extension("new");
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let mut file =
            OpenOptions::new().create_new(true).write(true).mode(0o600).open(&unfinished)?;
        file.write_all(&serde_json::to_vec_pretty(book).expect("a book has text keys"))?;
        file.sync_all()?;
        let stamp = Stamp::of(&file.metadata()?);
        fs::rename(&unfinished, &self.path)?;
        let folder = self.path.parent().expect("it lies in the state folder");
        File::open(folder)?.sync_all()?;
        Ok(stamp)
    }

    /// The stamp of the file now. Whoever reads the file takes it before, so that a change meanwhile is seen later.
    pub(crate) fn stamp(&self) -> Stamp {
        fs::symlink_metadata(&self.path)
            .map_or_else(|_missing| Stamp(None), |known| Stamp::of(&known))
    }
}

/// Refuses a path that another user of this machine could read, write or replace.
fn is_private(path: &Path, folder: bool) -> Result<(), KeyFileError> {
    let known = fs::symlink_metadata(path)?;
    let shown = path.display();
    let refuse = |why: String| Err(KeyFileError::Unsafe(why));
    if known.is_symlink() {
        return refuse(format!("{shown} is a symbolic link; put the real one in its place"));
    }
    if known.is_dir() != folder || !(folder || known.is_file()) {
        return refuse(format!("{shown} is not a {}", if folder { "folder" } else { "file" }));
    }
    if known.uid() != rustix::process::geteuid().as_raw() {
        return refuse(format!("{shown} belongs to another user; choose another --state folder"));
    }
    let mode = known.mode() & 0o777;
    if mode & 0o077 != 0 {
        let right = if folder { "700" } else { "600" };
        return refuse(format!(
            "other users may read {shown} (mode {mode:o}); run `chmod {right} {shown}`, then revoke its keys"
        ));
    }
    Ok(())
}
