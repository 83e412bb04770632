//! The file of keys: readable by this user only, replaced atomically, and changed under a lock.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::book::{Book, BookError};
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
        self.is_settled_at(SystemTime::now())
    }

    fn is_settled_at(self, now: SystemTime) -> bool {
        let age = |(modified, ..): (SystemTime, u64, u64)| now.duration_since(modified);
        self.0.is_none_or(|known| age(known).is_ok_and(|age| age > SETTLED))
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
        if Book::is_later(&text) {
            return Err(KeyFileError::Later(self.path.display().to_string()));
        }
        // The parser's message may quote a secret, so it is not passed on.
        let book: Book = serde_json::from_str(&text).map_err(|error| {
            KeyFileError::Damaged(format!("{}, line {}", self.path.display(), error.line()))
        })?;
        let shown = self.path.display();
        book.of_today().map(Some).map_err(|error| match error {
            BookError::Changed => KeyFileError::Damaged(format!("{shown}, not as it was written")),
            BookError::Later => KeyFileError::Later(shown.to_string()),
        })
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
        file.write_all(&serde_json::to_vec_pretty(&book.sealed()).expect("a book has text keys"))?;
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

#[cfg(test)]
mod fuzz;

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    use super::*;

    /// An empty folder of its own.
    fn folder(name: &str) -> PathBuf {
        let name = format!("ridgepoint-keys-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _absent_the_first_time = fs::remove_dir_all(&folder);
        fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
        folder
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_book_is_kept_for_this_user_alone() {
        let outer = folder("kept");
        let file = KeyFile::of(&outer.join("a/state")).unwrap();
        assert!(file.read().unwrap().is_none() && file.stamp().is_settled());
        // Longer than a thousandth of the limit.
        let label = "l".repeat(2000);
        let token = file.change(|book| book.add_token(vec![], label, 0)).unwrap();
        let (token, stamp) =
            file.change_stamped(|book| (book.token(&token).is_some(), ())).unwrap();
        assert!(token.0 && stamp == file.stamp() && !stamp.is_settled());
        for (path, mode) in [("a/state", 0o700), ("a/state/keys.json", 0o600)] {
            assert_eq!(fs::metadata(outer.join(path)).unwrap().mode() & 0o777, mode, "{path}");
        }
        fs::remove_dir_all(outer).unwrap();
    }

    #[test]
    fn a_stamp_is_settled_after_more_than_a_second() {
        let stamp = Stamp(Some((SystemTime::UNIX_EPOCH, 1, 1)));
        for (ms, is_settled) in [(0, false), (1000, false), (1001, true)] {
            let now = SystemTime::UNIX_EPOCH + Duration::from_millis(ms);
            assert_eq!(stamp.is_settled_at(now), is_settled, "{ms}");
        }
        let before = SystemTime::UNIX_EPOCH - Duration::from_secs(5);
        assert!(!stamp.is_settled_at(before) && stamp.is_settled(), "the clock was set back");
    }

    #[test]
    fn keys_that_others_may_read_are_not_used() {
        let state = folder("private");
        let file = KeyFile::of(&state).unwrap();
        file.change(|_| ()).unwrap();
        let keys = state.join("keys.json");
        for mode in [0o640, 0o604, 0o660, 0o601] {
            set_mode(&keys, mode);
            let said = file.read().unwrap_err().to_string();
            assert!(said.contains(&format!("mode {mode:o}")) && said.contains("600"), "{said}");
        }
        set_mode(&keys, 0o600);
        assert!(file.read().unwrap().is_some());
        set_mode(&state, 0o710);
        let said = KeyFile::of(&state).unwrap_err().to_string();
        assert!(said.contains("mode 710") && said.contains("chmod 700"), "{said}");
        fs::remove_dir_all(state).unwrap();
    }

    #[test]
    fn what_is_no_file_of_keys_is_refused_with_its_reason() {
        let state = folder("kinds");
        let (file, keys) = (KeyFile::of(&state).unwrap(), state.join("keys.json"));
        let said = |file: &KeyFile| file.read().unwrap_err().to_string();
        let _listener = UnixListener::bind(&keys).unwrap();
        set_mode(&keys, 0o600);
        assert!(said(&file).contains("is not a file"), "{}", said(&file));
        fs::remove_file(&keys).unwrap();
        fs::DirBuilder::new().mode(0o700).create(&keys).unwrap();
        assert!(said(&file).contains("is not a file"), "{}", said(&file));
        fs::remove_dir(&keys).unwrap();
        std::os::unix::fs::symlink("elsewhere", &keys).unwrap();
        assert!(said(&file).contains("symbolic link"), "{}", said(&file));
        fs::remove_file(&keys).unwrap();
        for (text, words) in [
            ("{", "line 1"),
            ("\n{}", "line 2"),
            (
                "{\"version\": 4, \"server\": \"00000000000000000000000000000000\", \"keys\": [], \"codes\": [], \"more\": 1}",
                "a later version",
            ),
        ] {
            fs::write(&keys, text).unwrap();
            set_mode(&keys, 0o600);
            assert!(said(&file).contains(words), "{text}: {}", said(&file));
        }
        // A file in the place of the folder.
        set_mode(&keys, 0o600);
        let inside = KeyFile { path: keys.join("keys.json") };
        assert!(matches!(inside.read(), Err(KeyFileError::Io(_))), "no missing file");
        let error = KeyFile::of(&keys).unwrap_err().to_string();
        assert!(error.contains("is not a folder"), "{error}");
        fs::remove_dir_all(state).unwrap();
    }

    #[test]
    fn what_a_crash_left_is_replaced_and_what_cannot_be_is_said() {
        let state = folder("crash");
        let (file, unfinished) = (KeyFile::of(&state).unwrap(), state.join("keys.new"));
        fs::write(&unfinished, "half").unwrap();
        file.change(|_| ()).unwrap();
        assert!(!unfinished.exists());
        fs::create_dir(&unfinished).unwrap();
        let KeyFileError::Io(error) = file.change(|_| ()).unwrap_err() else {
            panic!("of the system")
        };
        assert_ne!(error.kind(), io::ErrorKind::AlreadyExists, "removing failed, not creating");
        fs::remove_dir_all(state).unwrap();
    }

    #[test]
    fn a_changed_digit_of_the_file_is_noticed() {
        let state = folder("digit");
        let file = KeyFile::of(&state).unwrap();
        file.change(|book| book.add_token(vec![], String::new(), 0)).unwrap();
        let keys = state.join("keys.json");
        let text = fs::read_to_string(&keys).unwrap();
        fs::write(&keys, text.replacen("\"used_ms\": 0", "\"used_ms\": 1", 1)).unwrap();
        let said = file.read().unwrap_err().to_string();
        assert!(said.contains("not as it was written") && said.contains("pair again"), "{said}");
        fs::remove_dir_all(state).unwrap();
    }
}
