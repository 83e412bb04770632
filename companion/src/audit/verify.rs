//! Checks a log: the numbers are consecutive, and every line has the hash of the line before it.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use protocol::hex::Hex;

use super::{KEPT, LINE, Linked, hash, path};

/// The extent of an unchanged log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) lines: u64,
    /// Number of the first line: above 1 if older files were dropped, 0 for an empty log.
    pub(crate) first: u64,
}

/// Reads all files of a log, the oldest first.
///
/// # Errors
/// A sentence about the first changed line.
pub(crate) fn verify(folder: &Path) -> Result<Chain, String> {
    let mut chain = Chain { lines: 0, first: 0 };
    let mut last = None;
    // Files before this one may have been dropped only if the oldest kept file exists.
    let may_begin_later = path(folder, KEPT).exists();
    for number in (0..=KEPT).rev() {
        let path = path(folder, number);
        let shown = path.display();
        let file = match File::open(&path) {
            Ok(file) => BufReader::new(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("{shown} cannot be read: {error}")),
        };
        follow(file, may_begin_later, &mut last, &mut chain)
            .map_err(|why| format!("{shown}, {why}"))?;
    }
    Ok(chain)
}

/// Number of the line after one, and the hash of that one.
type Link = (u64, Hex<32>);

fn follow(
    mut file: impl BufRead,
    may_begin_later: bool,
    last: &mut Option<Link>,
    chain: &mut Chain,
) -> Result<(), String> {
    for number in 1_u64.. {
        let wrong = |why: &str| format!("line {number}: {why}");
        let mut line = Vec::new();
        let mut part = io::Read::take(&mut file, 2 * LINE);
        part.read_until(b'\n', &mut line).map_err(|error| wrong(&error.to_string()))?;
        // An incomplete last line was never acknowledged.
        let Some(line) = line.strip_suffix(b"\n") else {
            return if (line.len() as u64) < LINE {
                Ok(())
            } else {
                Err(wrong("it has no line end"))
            };
        };
        let read: Linked =
            serde_json::from_slice(line).map_err(|_unread| wrong("it is not an audit line"))?;
        let (expected, before) = match *last {
            Some(last) => last,
            None if read.seq == 1 || !may_begin_later => (1, Hex([0; 32])),
            // The line before it was dropped with its file.
            None => (read.seq, read.prev_sha256),
        };
        if read.seq != expected {
            return Err(wrong(&format!("its number is {} instead of {expected}", read.seq)));
        }
        if read.prev_sha256 != before {
            return Err(wrong("the line before it was changed"));
        }
        if chain.lines == 0 {
            chain.first = read.seq;
        }
        chain.lines += 1;
        let next = read.seq.checked_add(1).ok_or_else(|| wrong("its number is impossible"))?;
        *last = Some((next, hash(line)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Action, Entry, Log, Who};
    use super::*;
    use crate::clock::Clock;

    /// A manipulation of the lines.
    type Edit = fn(&mut Vec<String>);

    #[test]
    fn changed_lines_are_detected() {
        let name = format!("ridgepoint-verify-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let log = Log::of(&folder, Clock::default());
        for action in [Action::Serve, Action::NewToken, Action::RevokeKeys, Action::End] {
            log.add(&Entry::done(Who::terminal(), action, "x"), false).unwrap();
        }
        let whole = std::fs::read_to_string(path(&folder, 0)).unwrap();
        let edits: [(&str, Edit); 7] = [
            ("another action", |lines| lines[1] = lines[1].replace("new_token", "identify")),
            ("one taken out", |lines| drop(lines.remove(1))),
            ("the first taken out", |lines| drop(lines.remove(0))),
            ("the first taken out and renumbered", |lines| {
                lines.remove(0);
                lines[0] = lines[0].replace("\"seq\":2", "\"seq\":1");
            }),
            ("two swapped", |lines| lines.swap(1, 2)),
            ("one twice", |lines| lines.insert(1, lines[0].clone())),
            ("no JSON", |lines| lines[2].clear()),
        ];
        assert_eq!(verify(&folder).unwrap(), Chain { lines: 4, first: 1 });
        for (row, edit) in edits {
            let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
            edit(&mut lines);
            std::fs::write(path(&folder, 0), lines.join("\n") + "\n").unwrap();
            assert!(verify(&folder).is_err(), "{row}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(verify(&folder).unwrap().lines, 0);
    }
}
