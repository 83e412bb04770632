//! The header of GGUF: metadata, then the list of tensors.
//!
//! Versions 1 to 3; in version 1 lengths and sizes have 32 bits instead of 64. A big-endian file has its version with the bytes
//! in the other order. Source: the format's description in the ggml repository, and llama.cpp's reader.

mod cursor;
mod value;

use std::collections::BTreeMap;

use crate::error::{HeaderError, clipped};
use crate::header::{Container, Header, MAX_TENSORS, Stop, check};
use crate::metadata::Value;
use crate::tensor::{GGML_TYPES, Tensor, TensorType, elements};
use cursor::Cursor;

/// First bytes of a file.
pub const MAGIC: [u8; 4] = *b"GGUF";
/// Key of the alignment, and its default [byte].
const ALIGNMENT: (&str, u64) = ("general.alignment", 32);
/// Most metadata keys; published files have about fifty.
const MAX_KEYS: u64 = 4096;
/// Most sizes of a tensor in ggml.
const MAX_SIZES: u32 = 4;

/// Parses a header whose first bytes are [`MAGIC`].
pub(crate) fn parse(start: &[u8], file_bytes: u64) -> Result<Header, Stop> {
    let mut cursor = Cursor::new(start, file_bytes);
    cursor.take(MAGIC.len() as u64)?;
    let mut version = cursor.number::<4>().map(u32::from_le_bytes)?;
    let big_endian = version.trailing_zeros() >= 16;
    if big_endian {
        version = version.swap_bytes();
    }
    if !(1..=3).contains(&version) {
        return Err(HeaderError::Version { found: version }.into());
    }
    cursor.big_endian = big_endian;
    cursor.short_lengths = version == 1;
    let n_tensors = limited("tensors", cursor.length()?, MAX_TENSORS)?;
    let n_keys = limited("metadata keys", cursor.length()?, MAX_KEYS)?;
    let metadata = metadata(&mut cursor, n_keys)?;
    let alignment = alignment(&metadata)?;
    let mut tensors = Vec::new();
    for _ in 0..n_tensors {
        tensors.push(tensor(&mut cursor, alignment)?);
    }
    let bytes = cursor.place().next_multiple_of(alignment);
    for tensor in &mut tensors {
        tensor.offset = tensor.offset.saturating_add(bytes);
    }
    check(&tensors, file_bytes)?;
    let container = Container::Gguf { version, big_endian };
    Ok(Header { container, tensors, metadata, bytes })
}

fn limited(what: &'static str, found: u64, most: u64) -> Result<u64, Stop> {
    if found <= most { Ok(found) } else { Err(HeaderError::TooMany { what, found, most }.into()) }
}

fn metadata(cursor: &mut Cursor<'_>, count: u64) -> Result<BTreeMap<String, Value>, Stop> {
    let mut metadata = BTreeMap::new();
    for _ in 0..count {
        let key = cursor.text()?;
        let value = value::read(cursor, key)?;
        if metadata.insert(key.to_owned(), value).is_some() {
            return Err(HeaderError::DuplicateKey { key: clipped(key) }.into());
        }
    }
    Ok(metadata)
}

fn alignment(metadata: &BTreeMap<String, Value>) -> Result<u64, HeaderError> {
    /// Largest alignment; a page of memory is 4096, a huge one 2 MiB.
    const MOST: u64 = 1 << 30;
    match metadata.get(ALIGNMENT.0).map(Value::count) {
        None => Ok(ALIGNMENT.1),
        Some(Some(found)) if found.is_power_of_two() && found <= MOST => Ok(found),
        Some(found) => Err(HeaderError::Alignment { found: found.unwrap_or(0) }),
    }
}

/// Reads an entry of the list; its offset counts from the start of the data.
fn tensor(cursor: &mut Cursor<'_>, alignment: u64) -> Result<Tensor, Stop> {
    let name = cursor.text()?;
    let n_sizes = cursor.u32()?;
    if n_sizes > MAX_SIZES {
        let (found, most) = (n_sizes.into(), MAX_SIZES.into());
        return Err(HeaderError::TooMany { what: "sizes of a tensor", found, most }.into());
    }
    let mut shape = Vec::new();
    for _ in 0..n_sizes {
        shape.push(cursor.length()?);
    }
    let number = cursor.u32()?;
    let offset = cursor.u64()?;
    let kind = GGML_TYPES.iter().find(|(known, _)| *known == number);
    let Some((_, kind)) = kind else {
        let found = number.to_string();
        return Err(HeaderError::UnknownType { tensor: clipped(name), found }.into());
    };
    if !offset.is_multiple_of(alignment) {
        return Err(HeaderError::Misaligned { tensor: clipped(name), offset, alignment }.into());
    }
    let bytes = bytes(name, &shape, kind)?;
    shape.reverse();
    Ok(Tensor { name: name.to_owned(), shape, kind, bytes, offset })
}

/// Bytes of a tensor with `sizes` from the innermost out.
fn bytes(name: &str, sizes: &[u64], kind: &'static TensorType) -> Result<u64, HeaderError> {
    let (row, block) = (sizes.first().copied().unwrap_or(1), kind.block());
    if !row.is_multiple_of(block) {
        let (tensor, type_name) = (clipped(name), kind.name);
        return Err(HeaderError::PartialBlock { tensor, row, block, type_name });
    }
    let bytes = elements(sizes).and_then(|elements| kind.bytes(elements));
    bytes.ok_or_else(|| HeaderError::TooLarge { tensor: clipped(name) })
}
