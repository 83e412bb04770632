//! Reads metadata values, and passes those that are not kept.

use super::cursor::Cursor;
use crate::error::{HeaderError, clipped};
use crate::header::Stop;
use crate::metadata::Value;

/// Longest text that is kept [byte]; chat templates are longer.
const MAX_TEXT: usize = 1024;
/// Longest list that is kept; lists by layer have at most a few hundred entries.
const MAX_LIST: u64 = 1024;
/// Deepest nesting of arrays.
const MAX_DEPTH: u32 = 4;

/// Types of values by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    Text,
    Array,
    U64,
    I64,
    F64,
}

impl Kind {
    /// All types, at the place of their numbers.
    const ALL: [Self; 13] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::F32,
        Self::Bool,
        Self::Text,
        Self::Array,
        Self::U64,
        Self::I64,
        Self::F64,
    ];

    fn read(cursor: &mut Cursor<'_>, key: &str) -> Result<Self, Stop> {
        let found = cursor.u32()?;
        let kind = usize::try_from(found).ok().and_then(|place| Self::ALL.get(place));
        let unknown = || HeaderError::ValueType { key: clipped(key), found };
        Ok(*kind.ok_or_else(unknown)?)
    }

    /// Bytes of a number; `None` for texts and arrays.
    const fn bytes(self) -> Option<u64> {
        match self {
            Self::U8 | Self::I8 | Self::Bool => Some(1),
            Self::U16 | Self::I16 => Some(2),
            Self::U32 | Self::I32 | Self::F32 => Some(4),
            Self::U64 | Self::I64 | Self::F64 => Some(8),
            Self::Text | Self::Array => None,
        }
    }
}

/// Reads the type and the value of a key.
pub(super) fn read(cursor: &mut Cursor<'_>, key: &str) -> Result<Value, Stop> {
    let kind = Kind::read(cursor, key)?;
    one(cursor, kind, key, 0)
}

fn one(cursor: &mut Cursor<'_>, kind: Kind, key: &str, depth: u32) -> Result<Value, Stop> {
    Ok(match kind {
        Kind::U8 => Value::Count(cursor.number().map(u8::from_le_bytes)?.into()),
        Kind::I8 => Value::signed(cursor.number().map(i8::from_le_bytes)?.into()),
        Kind::U16 => Value::Count(cursor.number().map(u16::from_le_bytes)?.into()),
        Kind::I16 => Value::signed(cursor.number().map(i16::from_le_bytes)?.into()),
        Kind::U32 => Value::Count(cursor.u32()?.into()),
        Kind::I32 => Value::signed(cursor.number().map(i32::from_le_bytes)?.into()),
        Kind::F32 => Value::Real(cursor.number().map(f32::from_le_bytes)?.into()),
        Kind::Bool => Value::Flag(cursor.number::<1>()? != [0]),
        Kind::U64 => Value::Count(cursor.u64()?),
        Kind::I64 => Value::signed(cursor.number().map(i64::from_le_bytes)?),
        Kind::F64 => Value::Real(cursor.number().map(f64::from_le_bytes)?),
        Kind::Text => {
            let length = cursor.length()?;
            let bytes = cursor.take(length)?;
            // A text that is no UTF-8, such as a token, is nothing that this crate needs.
            match str::from_utf8(bytes) {
                Ok(text) if text.len() <= MAX_TEXT => Value::Text(text.to_owned()),
                _ => Value::LongText { bytes: length },
            }
        }
        Kind::Array => array(cursor, key, depth)?,
    })
}

fn array(cursor: &mut Cursor<'_>, key: &str, depth: u32) -> Result<Value, Stop> {
    if depth >= MAX_DEPTH {
        let (found, most) = ((depth + 1).into(), MAX_DEPTH.into());
        return Err(HeaderError::TooMany { what: "arrays inside each other", found, most }.into());
    }
    let kind = Kind::read(cursor, key)?;
    let entries = cursor.length()?;
    match kind.bytes() {
        Some(_) if entries <= MAX_LIST => numbers(cursor, kind, key, entries),
        Some(bytes) => {
            cursor.take(entries.saturating_mul(bytes))?;
            Ok(Value::List { entries })
        }
        None => {
            for _ in 0..entries {
                skip(cursor, kind, key, depth)?;
            }
            Ok(Value::List { entries })
        }
    }
}

/// Passes a text or an array without keeping it.
fn skip(cursor: &mut Cursor<'_>, kind: Kind, key: &str, depth: u32) -> Result<(), Stop> {
    if kind == Kind::Array {
        return array(cursor, key, depth + 1).map(|_| ());
    }
    let length = cursor.length()?;
    cursor.take(length).map(|_| ())
}

/// A list of counts or of flags; of other numbers only its length.
fn numbers(cursor: &mut Cursor<'_>, kind: Kind, key: &str, entries: u64) -> Result<Value, Stop> {
    let (mut counts, mut flags) = (Vec::new(), Vec::new());
    for _ in 0..entries {
        match one(cursor, kind, key, 0)? {
            Value::Count(count) => counts.push(count),
            Value::Flag(flag) => flags.push(flag),
            _ => {}
        }
    }
    Ok(if counts.len() as u64 == entries {
        Value::Counts(counts)
    } else if flags.len() as u64 == entries {
        Value::Flags(flags)
    } else {
        Value::List { entries }
    })
}
