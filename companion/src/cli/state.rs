//! The state folder: keys, jobs, and the small files beside them.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, ValueHint, value_parser};
use protocol::ability::ScopeOff;

use crate::audit::{Action, Entry, Log, Who};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::files;
use crate::keys::{KeyFile, KeyFileError, KeyId};

/// File of the scopes that no session of the daemon has.
const OFF: &str = "scopes-off";

pub(super) fn argument() -> Arg {
    Arg::new("state")
        .long("state")
        .value_name("DIR")
        .value_hint(ValueHint::DirPath)
        .value_parser(value_parser!(PathBuf))
        .help("Folder of keys and results; default: `ridgepoint` in the user's state folder")
}

/// The folder of `--state`, else the user's default.
pub(super) fn folder(matches: &ArgMatches) -> Result<PathBuf, Failure> {
    if let Some(folder) = matches.get_one::<PathBuf>("state") {
        return Ok(std::path::absolute(folder)?);
    }
    let none = || Failure::bad("no home folder; name a folder for keys and results with --state");
    usual().ok_or_else(none)
}

fn usual() -> Option<PathBuf> {
    let xdg =
        std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let base = xdg.or_else(|| std::env::home_dir().map(|home| home.join(".local/state")));
    base.map(|base| base.join("ridgepoint"))
}

/// Whether a folder is the one that is used without `--state`.
pub(super) fn is_usual(folder: &Path) -> bool {
    usual().is_some_and(|usual| usual == folder)
}

/// The key book in it.
pub(super) fn keys(folder: &Path) -> Result<KeyFile, Failure> {
    Ok(KeyFile::of(folder)?)
}

/// A sentence about a folder that does not exist; verbs that only read keys, or change those that are there, do not create it.
pub(super) fn missing(folder: &Path) -> Option<String> {
    let is_missing =
        matches!(folder.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound);
    let shown = folder.display();
    is_missing.then(|| format!("there is no state in {shown}; --state names the folder that the daemon was started with"))
}

/// Writes an action of the user at the terminal into the audit log.
pub(super) fn log(folder: &Path, action: Action, args: &str) -> Result<(), Failure> {
    log_on(folder, None, action, args)
}

/// Writes an action on a key into the audit log.
pub(super) fn log_on(
    folder: &Path,
    key: Option<KeyId>,
    action: Action,
    args: &str,
) -> Result<(), Failure> {
    let entry = Entry::done(Who { key, ..Who::terminal() }, action, args);
    Log::of(folder, Clock::default()).add(&entry, true).map_err(|error| {
        Failure::Failed(format!("the audit log cannot be used: {}", files::said(&error)))
    })
}

impl From<KeyFileError> for Failure {
    fn from(error: KeyFileError) -> Self {
        match error {
            KeyFileError::Unsafe(_) => Self::Permission(error.to_string()),
            KeyFileError::Io(_) | KeyFileError::Damaged(_) | KeyFileError::Later(_) => {
                Self::Failed(error.to_string())
            }
        }
    }
}

/// A daemon's exclusive lock on a folder; the system releases it when the process ends in any way.
pub(super) fn lock(folder: &Path) -> Result<File, Failure> {
    let file = files::open_lock(&folder.join("daemon.lock"));
    let file = file.map_err(|error| unusable(folder, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Failure::Failed(format!(
            "a daemon already uses {}; end it, or choose another folder with --state",
            folder.display()
        ))),
        Err(TryLockError::Error(error)) => Err(unusable(folder, &error)),
    }
}

/// True if a daemon runs.
pub(super) fn is_running(folder: &Path) -> bool {
    let path = folder.join("daemon.lock");
    let is_file = fs::symlink_metadata(&path).is_ok_and(|known| known.is_file());
    is_file
        && files::open_lock(&path)
            .is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Writes a small file that only this user may read.
pub(super) fn put(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| unusable(folder, &error))
}

/// The address at which the daemon serves its page.
pub(super) fn address(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("address")).ok()?;
    Some(text.trim().to_owned())
}

/// Notes which scopes no session of this daemon has.
pub(super) fn put_off(folder: &Path, off: &[ScopeOff]) -> Result<(), Failure> {
    let text = serde_json::to_string(off).expect("scopes have text keys");
    put(folder, OFF, &text)
}

/// The scopes that no session of the running daemon has; none if no daemon runs.
pub(super) fn off(folder: &Path) -> Vec<ScopeOff> {
    let text = fs::read_to_string(folder.join(OFF)).ok().filter(|_| is_running(folder));
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

fn unusable(folder: &Path, error: &io::Error) -> Failure {
    Failure::Failed(format!("cannot use {}: {}", folder.display(), files::said(error)))
}
