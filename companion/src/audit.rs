//! The audit log: actions and refusals, one line of JSON per event in `audit.jsonl` of the state folder. Lines are only appended, each
//! with a number and the hash of the line before it, so that a changed or removed line is detected. The log contains no secrets.

mod tally;
mod verify;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use protocol::hex::Hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::clock::{Clock, Millis};
use crate::files;
use crate::keys::KeyId;

pub(crate) use tally::Tally;
pub(crate) use verify::{Chain, verify};

/// Largest size of a file, in bytes.
const FILE: u64 = 16 << 20;
/// Number of older files that are kept.
const KEPT: u32 = 4;
/// Largest size of all files, in bytes.
#[cfg(test)]
pub(crate) const MOST_BYTES: u64 = (1 + KEPT as u64) * FILE;
/// Longest wait for the lock. Whoever holds it writes one line.
const WAIT: Duration = Duration::from_secs(2);
/// Longest line, in bytes: an origin has at most 256, all other fields are short.
const LINE: u64 = 4096;

/// The action of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(Deserialize))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    /// The daemon started.
    Serve,
    /// The daemon shut down.
    End,
    /// A pairing code was made.
    NewCode,
    Pair,
    /// A key opened a session.
    Identify,
    StartJob,
    CancelJob,
    /// A session reads an inference server.
    WatchEngine,
    /// A token was made.
    NewToken,
    RevokeKeys,
    /// A key got more scopes.
    GrantScopes,
    /// A key lost scopes.
    WithdrawScopes,
    /// Another message of a session.
    Session,
    /// An HTTP request.
    Request,
}

/// The client of an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Who {
    pub(crate) session: Option<u64>,
    pub(crate) key: Option<KeyId>,
    pub(crate) origin: Option<String>,
    /// The connection: this machine, a socket, or an address.
    pub(crate) peer: String,
}

impl Who {
    /// The user of this machine at a terminal.
    pub(crate) fn terminal() -> Self {
        Self { peer: "command line".into(), ..Self::default() }
    }
}

/// An entry of the log.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) who: Who,
    pub(crate) action: Action,
    /// Digest of the request's text.
    pub(crate) args: Option<Hex<32>>,
    /// Reason of a refusal; `None` for an allowed action.
    pub(crate) refused: Option<&'static str>,
    /// Number of occurrences.
    pub(crate) count: u64,
}

impl Entry {
    /// An allowed action.
    pub(crate) fn done(who: Who, action: Action, args: &str) -> Self {
        let args = (!args.is_empty()).then(|| hash(args.as_bytes()));
        Self { who, action, args, refused: None, count: 1 }
    }
}

/// An entry as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(Deserialize), serde(deny_unknown_fields))]
struct Line {
    ts: Millis,
    seq: u64,
    prev_sha256: Hex<32>,
    session: Option<u64>,
    key_id: Option<KeyId>,
    origin: Option<String>,
    peer: String,
    action: Action,
    args_hash: Option<Hex<32>>,
    decision: String,
    count: u64,
}

/// A line of this or a later version, which may have actions and fields of its own.
#[derive(Debug, Deserialize)]
struct Linked {
    seq: u64,
    prev_sha256: Hex<32>,
}

/// The SHA-256 hash of bytes.
pub(crate) fn hash(bytes: &[u8]) -> Hex<32> {
    Hex(Sha256::digest(bytes).into())
}

/// The log of a state folder. It keeps no state in memory, because the verbs `pair` and `keys` write the same files.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    folder: PathBuf,
    clock: Clock,
    /// Largest size of a file, in bytes.
    most: u64,
}

impl Log {
    pub(crate) fn of(state: &Path, clock: Clock) -> Self {
        Self { folder: state.into(), clock, most: FILE }
    }

    /// Appends a line; with `safe`, returns once it is on the disk.
    ///
    /// # Errors
    /// Errors of the system, a last line that this program did not write, and a program that holds the lock for 2 s.
    pub(crate) fn add(&self, entry: &Entry, safe: bool) -> io::Result<()> {
        self.add_within(entry, safe, WAIT)
    }

    /// Checks without waiting whether a line could be appended.
    ///
    /// # Errors
    /// See [`Self::add`].
    pub(crate) fn probe(&self) -> io::Result<()> {
        let _lock = self.lock(Duration::ZERO)?;
        self.open().and_then(|mut file| self.next(&mut file)).map(|_next| ())
    }

    /// Appends a line, and waits for the lock at most so long.
    ///
    /// # Errors
    /// See [`Self::add`].
    pub(crate) fn add_within(&self, entry: &Entry, safe: bool, limit: Duration) -> io::Result<()> {
        let _lock = self.lock(limit)?;
        let mut file = self.open()?;
        let next = self.next(&mut file)?;
        let line = self.line(entry, next);
        if file.metadata()?.len() + line.len() as u64 > self.most {
            self.rotate()?;
            file = self.open()?;
        }
        file.write_all(&line)?;
        if safe {
            file.sync_data()?;
            // The directory entry of a new file must be on the disk, too.
            File::open(&self.folder)?.sync_all()?;
        }
        Ok(())
    }

    fn line(&self, entry: &Entry, next: Option<(u64, Hex<32>)>) -> Vec<u8> {
        let (seq, prev_sha256) = next.unwrap_or((1, Hex([0; 32])));
        let Who { session, key, origin, peer } = entry.who.clone();
        let decision = match entry.refused {
            None => "allowed".to_owned(),
            Some(why) => format!("refused: {why}"),
        };
        let line = Line {
            ts: self.clock.now(),
            seq,
            prev_sha256,
            session,
            key_id: key,
            origin,
            peer,
            action: entry.action,
            args_hash: entry.args,
            decision,
            count: entry.count,
        };
        let mut bytes = serde_json::to_vec(&line).expect("a line has text keys");
        bytes.push(b'\n');
        bytes
    }

    /// The lock that all programs of this user share.
    fn lock(&self, limit: Duration) -> io::Result<File> {
        files::lock_within(&self.folder.join("audit.lock"), limit)
    }

    fn open(&self) -> io::Result<File> {
        let path = path(&self.folder, 0);
        if fs::symlink_metadata(&path).is_ok_and(|known| !known.is_file()) {
            return Err(io::Error::other(format!("{} is not a file", path.display())));
        }
        OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(path)
    }

    /// Number of the next line and hash of the last one, which may be in the previous file. An incomplete line, left by a crash or a full disk,
    /// was never acknowledged; it is truncated.
    fn next(&self, file: &mut File) -> io::Result<Option<(u64, Hex<32>)>> {
        let length = file.metadata()?.len();
        let tail = tail(file, length)?;
        let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if (tail.len() - whole) as u64 > LINE {
            return Err(none_of_ours());
        }
        if whole < tail.len() {
            file.set_len(length - (tail.len() - whole) as u64)?;
        }
        if whole == 0 {
            let Ok(mut before) = File::open(path(&self.folder, 1)) else { return Ok(None) };
            let length = before.metadata()?.len();
            return after_last(&self::tail(&mut before, length)?).map(Some);
        }
        after_last(&tail[..whole]).map(Some)
    }

    fn rotate(&self) -> io::Result<()> {
        for number in (0..KEPT).rev() {
            match fs::rename(path(&self.folder, number), path(&self.folder, number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The file that is written, or an older one.
fn path(folder: &Path, number: u32) -> PathBuf {
    match number {
        0 => folder.join("audit.jsonl"),
        _ => folder.join(format!("audit.{number}.jsonl")),
    }
}

/// The end of a file, with its complete last line if this program wrote it.
fn tail(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(length.saturating_sub(2 * LINE)))?;
    let mut tail = Vec::new();
    file.take(2 * LINE).read_to_end(&mut tail)?;
    Ok(tail)
}

/// Number of the line after the last complete one, and the hash of that.
fn after_last(lines: &[u8]) -> io::Result<(u64, Hex<32>)> {
    let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
    let line = lines.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let parsed: Linked = serde_json::from_slice(line).map_err(|_unread| none_of_ours())?;
    let next = parsed.seq.checked_add(1).ok_or_else(none_of_ours)?;
    Ok((next, hash(line)))
}

fn none_of_ours() -> io::Error {
    io::Error::other("its last line is not an audit line")
}

#[cfg(test)]
mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;

    fn log(name: &str, most: u64) -> Log {
        let name = format!("ridgepoint-audit-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Log { most, ..Log::of(&folder, Clock::default()) }
    }

    fn entry(args: &str) -> Entry {
        Entry::done(Who::terminal(), Action::RevokeKeys, args)
    }

    fn lines(log: &Log) -> Vec<Line> {
        let text = fs::read_to_string(path(&log.folder, 0)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn every_line_names_the_one_before_it() {
        let log = log("chain", FILE);
        for args in ["a", "b", ""] {
            log.add(&entry(args), true).unwrap();
        }
        let lines = lines(&log);
        assert_eq!(lines.iter().map(|line| line.seq).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(lines[0].prev_sha256, Hex([0; 32]));
        assert_ne!(lines[1].prev_sha256, lines[2].prev_sha256);
        assert_eq!((lines[0].args_hash, lines[2].args_hash), (Some(hash(b"a")), None));
        assert_eq!(verify(&log.folder).unwrap(), Chain { lines: 3, first: 1 });
        fs::remove_dir_all(log.folder).unwrap();
    }

    #[test]
    fn a_line_of_a_later_version_is_continued_and_verified() {
        let log = log("later", FILE);
        log.add(&entry("a"), false).unwrap();
        let file = path(&log.folder, 0);
        let first = fs::read_to_string(&file).unwrap();
        let before = hash(first.trim_end().as_bytes());
        let later = format!(
            r#"{{"ts":2,"seq":2,"prev_sha256":"{before}","session":null,"peer":"socket","action":"quantize","decision":"allowed","count":1,"model":"x"}}"#
        );
        fs::write(&file, format!("{first}{later}\n")).unwrap();
        log.add(&entry("b"), false).unwrap();
        assert_eq!(verify(&log.folder).unwrap(), Chain { lines: 3, first: 1 });
        // A changed line of a later version is detected as any other.
        let text = fs::read_to_string(&file).unwrap().replace("\"quantize\"", "\"serve\"");
        fs::write(&file, text).unwrap();
        assert!(verify(&log.folder).unwrap_err().contains("line before it was changed"));
        fs::remove_dir_all(log.folder).unwrap();
    }

    #[test]
    fn an_incomplete_last_line_is_cut_off_and_a_malformed_one_stops_the_log() {
        let log = log("torn", FILE);
        log.add(&entry("a"), false).unwrap();
        let file = path(&log.folder, 0);
        let whole = fs::read(&file).unwrap();
        fs::write(&file, [&whole[..], b"{\"ts\":1,\"se"].concat()).unwrap();
        assert_eq!(verify(&log.folder).unwrap().lines, 1, "it was never there");
        log.add(&entry("b"), false).unwrap();
        assert_eq!(lines(&log).len(), 2);
        assert_eq!(verify(&log.folder).unwrap().lines, 2);
        fs::write(&file, [&whole[..], b"{}\n"].concat()).unwrap();
        assert!(log.add(&entry("c"), false).is_err());
        fs::remove_dir_all(log.folder).unwrap();
    }

    #[test]
    fn a_flood_of_lines_fills_at_most_five_files() {
        let log = log("rotate", 2000);
        for number in 0..100 {
            log.add(&entry(&number.to_string()), false).unwrap();
        }
        let files: Vec<u64> = fs::read_dir(&log.folder)
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .filter(|bytes| *bytes > 0)
            .collect();
        assert_eq!(files.len(), 1 + KEPT as usize, "{files:?}");
        assert!(files.iter().all(|bytes| *bytes <= 2000), "{files:?}");
        let chain = verify(&log.folder).unwrap();
        assert_eq!(chain.first + chain.lines, 101, "{chain:?}: the latest are there");
        // The chain also continues between the two renames of a rotation.
        fs::rename(path(&log.folder, 0), path(&log.folder, 1)).unwrap();
        log.add(&entry("after"), false).unwrap();
        assert_eq!(lines(&log)[0].seq, 101);
        fs::remove_dir_all(log.folder).unwrap();
    }

    #[test]
    fn symbolic_links_are_not_followed() {
        let log = log("link", FILE);
        std::os::unix::fs::symlink("/dev/null", path(&log.folder, 0)).unwrap();
        assert!(log.add(&entry("a"), false).is_err());
        fs::remove_dir_all(log.folder).unwrap();
    }
}
