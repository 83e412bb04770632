//! A place in the bytes of a header, with reads that stop where bytes are missing.

use crate::error::HeaderError;
use crate::header::{MAX_HEADER, Stop};

/// The bytes at hand of a longer file.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    start: &'a [u8],
    file_bytes: u64,
    at: u64,
    pub(super) big_endian: bool,
    /// Lengths of 32 bits, as in version 1.
    pub(super) short_lengths: bool,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(start: &'a [u8], file_bytes: u64) -> Self {
        Self { start, file_bytes, at: 0, big_endian: false, short_lengths: false }
    }

    pub(super) const fn place(&self) -> u64 {
        self.at
    }

    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: u64) -> Result<&'a [u8], Stop> {
        let needs = self.at.saturating_add(count);
        if needs > self.file_bytes {
            let has = self.file_bytes;
            return Err(HeaderError::Truncated { needs, has }.into());
        }
        if needs > MAX_HEADER {
            return Err(HeaderError::TooLong { needs, most: MAX_HEADER }.into());
        }
        let range = usize::try_from(self.at).ok().zip(usize::try_from(needs).ok());
        let bytes = range.and_then(|(from, to)| self.start.get(from..to));
        let bytes = bytes.ok_or(Stop::Needs(needs))?;
        self.at = needs;
        Ok(bytes)
    }

    /// The next bytes in the order of a little-endian number.
    pub(super) fn number<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let mut number = [0; N];
        number.copy_from_slice(self.take(N as u64)?);
        if self.big_endian {
            number.reverse();
        }
        Ok(number)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Stop> {
        self.number().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Stop> {
        self.number().map(u64::from_le_bytes)
    }

    /// A length, a count or a size.
    pub(super) fn length(&mut self) -> Result<u64, Stop> {
        if self.short_lengths { self.u32().map(u64::from) } else { self.u64() }
    }

    /// A text with its length before it.
    pub(super) fn text(&mut self) -> Result<&'a str, Stop> {
        let at = self.at;
        let length = self.length()?;
        let bytes = self.take(length)?;
        str::from_utf8(bytes).ok().ok_or_else(|| HeaderError::NotText { at }.into())
    }
}
