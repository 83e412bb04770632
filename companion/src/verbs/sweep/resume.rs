//! The output file of a sweep: a new one, or one that is continued after its last complete line.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use super::Failure;
use super::grid::Grid;
use crate::files::{self, Output};
use crate::verbs::merge::{MAX_ROW, RowPosition};

/// Opens the file for the remaining rows, and returns the number of points of the range that it has already. A device is written
/// and never read.
pub(super) fn open(path: &Path, grid: &Grid, range: &Range<u64>) -> Result<(File, u64), Failure> {
    let refused = |why: &str| Failure::bad(format!("{}: {why}", path.display()));
    if files::output(path).map_err(|why| refused(&why))? == Output::Device {
        let device = OpenOptions::new().write(true).open(path);
        return Ok((device.map_err(|error| refused(&files::said(&error)))?, 0));
    }
    let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let mut file = options.map_err(|error| refused(&files::said(&error)))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Err(refused("another sweep is writing it")),
        // Some file systems have no locks; there the user must avoid two sweeps at once.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    let (done, end) = complete_lines(&file, grid, range).map_err(|why| refused(&why))?;
    let cut = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)));
    cut.map_err(|error| refused(&files::said(&error)))?;
    Ok((file, done))
}

/// The complete lines and their length in bytes. A last line without a line end was cut off by an interruption.
fn complete_lines(file: &File, grid: &Grid, range: &Range<u64>) -> Result<(u64, u64), String> {
    let mut lines = BufReader::with_capacity(1 << 16, file);
    let (mut done, mut end) = (0, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        let row = lines.by_ref().take(MAX_ROW).read_until(b'\n', &mut line);
        let read = row.map_err(|error| files::said(&error))?;
        if !line.ends_with(b"\n") {
            return if done > 0 || line.is_empty() || is_cut_row(&line) {
                Ok((done, end))
            } else {
                Err("it is not a sweep file; choose another name".into())
            };
        }
        let place: RowPosition = serde_json::from_slice(&line).map_err(|error| {
            format!("line {} is not a row of a sweep; choose another name ({error})", done + 1)
        })?;
        let expected = range.start + done;
        if place.sweep != grid.id() || place.points != grid.points() {
            return Err("it holds another sweep; choose another name or remove it".into());
        }
        if place.point != expected || expected >= range.end {
            return Err(format!(
                "line {} has point {} instead of {expected}; the file is of another shard",
                done + 1,
                place.point
            ));
        }
        done += 1;
        end += read as u64;
    }
}

/// The start of a first row; checked so that another file without a line end is never overwritten.
fn is_cut_row(line: &[u8]) -> bool {
    let start = b"{\"sweep\":\"";
    line.iter().zip(start).all(|(a, b)| a == b)
}
