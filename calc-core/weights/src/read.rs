//! The beginning of a file as a header: from bytes at hand, or from a source that blocks.

use std::io::{self, Read};

use crate::error::HeaderError;
use crate::gguf;
use crate::header::{Header, Stop, not_weights};
use crate::safetensors;

/// Bytes that a first read should have: enough for all headers but those of large vocabularies.
pub const FIRST_READ: u64 = 1 << 20;

/// The outcome of looking at the beginning of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    Done(Box<Header>),
    /// At least so many bytes from the start of the file are needed; never more than the file has.
    Needs(u64),
}

/// Parses the header of a file of `file_bytes` that begins with `start`.
///
/// # Errors
/// The first mistake of the header.
pub fn parse(start: &[u8], file_bytes: u64) -> Result<Progress, HeaderError> {
    const FEWEST: u64 = 8;
    if file_bytes < FEWEST {
        return Err(not_weights(start));
    }
    let Some((first, _)) = start.split_first_chunk::<8>() else {
        return Ok(Progress::Needs(FEWEST));
    };
    let parsed = if first.starts_with(&gguf::MAGIC) {
        gguf::parse(start, file_bytes)
    } else {
        safetensors::parse(start, file_bytes)
    };
    match parsed {
        Ok(header) => Ok(Progress::Done(Box::new(header))),
        Err(Stop::Needs(bytes)) => Ok(Progress::Needs(bytes)),
        Err(Stop::Wrong(error)) => Err(error),
    }
}

/// Why a file could not be read.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ReadError {
    Io(io::Error),
    Header(HeaderError),
}

/// Reads the header of a file of `file_bytes`, from its start and no further than the header goes.
///
/// # Errors
/// Reading fails, or the header has a mistake; the first one is given.
pub fn read(source: &mut impl Read, file_bytes: u64) -> Result<Header, ReadError> {
    let mut start = Vec::new();
    let mut wanted = FIRST_READ.min(file_bytes);
    loop {
        let more = wanted.saturating_sub(start.len() as u64);
        let read = source.by_ref().take(more).read_to_end(&mut start).map_err(ReadError::Io)?;
        if (read as u64) < more {
            return Err(ReadError::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        match parse(&start, file_bytes).map_err(ReadError::Header)? {
            Progress::Done(header) => return Ok(*header),
            Progress::Needs(bytes) => wanted = next_read(bytes, start.len() as u64, file_bytes),
        }
    }
}

/// Bytes from the start of a file to have for the next try, after a try with `had` that needs `needs`: at least twice as many,
/// so that the tries cost no more than two reads.
pub const fn next_read(needs: u64, had: u64, file_bytes: u64) -> u64 {
    let doubled = had.saturating_mul(2);
    let wanted = if needs > doubled { needs } else { doubled };
    if wanted < file_bytes { wanted } else { file_bytes }
}
