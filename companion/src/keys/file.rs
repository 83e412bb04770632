//! The file of keys: only this user reads it, every change is whole or not at all, and nobody changes it at the same time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::book::Book;

/// A file of keys has kilobytes.
const MAX_BYTES: u64 = 1 << 20;

/// Where keys lie.
#[derive(Debug, Clone)]
pub(crate) struct KeyFile {
    path: PathBuf,
}

/// Why they cannot be used.
#[derive(Debug)]
pub(crate) enum KeyFileError {
    /// Somebody else could read or replace them.
    Unsafe(String),
    /// The system says no.
    Io(io::Error),
    /// It is no file of keys.
    Damaged(String),
}

impl std::fmt::Display for KeyFileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsafe(why) => f.write_str(why),
            Self::Io(error) => write!(f, "the keys cannot be read or written: {error}"),
            Self::Damaged(why) => {
                write!(f, "the file of keys is damaged ({why}); remove it, then pair again")
            }
        }
    }
}

impl From<io::Error> for KeyFileError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl KeyFile {
    /// That of a state folder, which is made if it is not there.
    pub(crate) fn of(state: &Path) -> Result<Self, KeyFileError> {
        // Of a file in its place the check below says what it is.
        if !state.exists() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(state)?;
        }
        is_private(state, true)?;
        Ok(Self { path: state.join("keys.json") })
    }

    /// What stands in it; a new book if there is none.
    pub(crate) fn read(&self) -> Result<Option<Book>, KeyFileError> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
            Ok(_) => is_private(&self.path, false)?,
        }
        let mut text = String::new();
        File::open(&self.path)?.take(MAX_BYTES).read_to_string(&mut text)?;
        // What the parser found is not repeated, because it may be a secret.
        let book = serde_json::from_str(&text).map_err(|error| {
            KeyFileError::Damaged(format!("{}, line {}", self.path.display(), error.line()))
        })?;
        Ok(Some(book))
    }

    /// Changes it under a lock that all programs of this user share.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Book) -> T) -> Result<T, KeyFileError> {
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(self.path.with_extension("lock"))?;
        lock.lock()?;
        let mut book = self.read()?.unwrap_or_else(Book::new);
        let done = change(&mut book);
        self.write(&book)?;
        Ok(done)
    }

    fn write(&self, book: &Book) -> Result<(), KeyFileError> {
        let unfinished = self.path.with_extension("new");
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let mut file =
            OpenOptions::new().create_new(true).write(true).mode(0o600).open(&unfinished)?;
        file.write_all(&serde_json::to_vec_pretty(book).expect("a book has text keys"))?;
        file.sync_all()?;
        fs::rename(&unfinished, &self.path)?;
        let folder = self.path.parent().expect("it lies in the state folder");
        Ok(File::open(folder)?.sync_all()?)
    }

    /// Changes when the file does.
    pub(crate) fn stamp(&self) -> Option<(SystemTime, u64)> {
        let known = fs::symlink_metadata(&self.path).ok()?;
        Some((known.modified().ok()?, known.ino()))
    }
}

/// Refuses what another user of this machine could read, write or swap.
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
