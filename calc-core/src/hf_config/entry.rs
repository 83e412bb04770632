//! One field of a config.json: absent, null, a value, or something of another type.
//! A field of the wrong type stays data, so that the import can name it, and only if it is needed.

use alloc::string::String;
use alloc::vec::Vec;

/// A field as found in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Entry<T> {
    /// The file does not have it.
    #[default]
    Absent,
    /// The file says `null`, which some fields tell from absent (no sliding window).
    Null,
    /// A value of the right type.
    Value(T),
    /// Something else.
    Wrong(Found),
}

impl<T> Entry<T> {
    /// The value, if there is one of the right type.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null | Self::Wrong(_) => None,
        }
    }

    /// True when the file has something other than `null` here, of whatever type.
    pub const fn is_given(&self) -> bool {
        match self {
            Self::Value(_) | Self::Wrong(_) => true,
            Self::Absent | Self::Null => false,
        }
    }
}

/// What stood where something else was expected.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// True or false.
    Flag(bool),
    /// A number that is negative, fractional or too large for a count.
    Number(f64),
    /// A text, its beginning.
    Text(String),
    /// A list, or a list with a wrong element.
    List,
    /// An object.
    Object,
}

/// What a field may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// A whole number from 0.
    Count,
    /// True or false.
    Flag,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// A list of whole numbers.
    Counts,
    /// An object.
    Object,
}

/// A type that a field can have.
pub trait FieldType {
    /// What the field may be, for messages.
    const ALLOWED: Allowed;
}

impl FieldType for u64 {
    const ALLOWED: Allowed = Allowed::Count;
}
impl FieldType for bool {
    const ALLOWED: Allowed = Allowed::Flag;
}
impl FieldType for String {
    const ALLOWED: Allowed = Allowed::Text;
}
impl FieldType for Vec<String> {
    const ALLOWED: Allowed = Allowed::Texts;
}
impl FieldType for Vec<u64> {
    const ALLOWED: Allowed = Allowed::Counts;
}
impl<T> FieldType for alloc::boxed::Box<T> {
    const ALLOWED: Allowed = Allowed::Object;
}

/// That a field is there; its content does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Present;

impl FieldType for Present {
    const ALLOWED: Allowed = Allowed::Object;
}
