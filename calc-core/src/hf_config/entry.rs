//! One field of a config.json: absent, null, a value, or something of another type.
//! A field of the wrong type is kept as data, so that the import can report it, and only if the field is needed.

use alloc::string::String;
use alloc::vec::Vec;

/// A field as found in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Entry<T> {
    /// The file does not contain the field.
    #[default]
    Absent,
    /// The field is `null`, which some fields distinguish from absent (no sliding window).
    Null,
    /// A value of the expected type.
    Value(T),
    /// A value of another type.
    Wrong(Found),
}

impl<T> Entry<T> {
    /// The value, if it has the expected type.
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null | Self::Wrong(_) => None,
        }
    }

    /// True if the file has a value other than `null`, of any type.
    pub const fn is_given(&self) -> bool {
        match self {
            Self::Value(_) | Self::Wrong(_) => true,
            Self::Absent | Self::Null => false,
        }
    }
}

/// The value found where another type was expected.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    Flag(bool),
    /// A number that is negative, fractional or too large for a count.
    Number(f64),
    /// The beginning of a text.
    Text(String),
    /// A list, possibly with a wrong element.
    List,
    Object,
}

/// The expected type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// A non-negative integer.
    Count,
    Flag,
    Text,
    Texts,
    /// A list of non-negative integers.
    Counts,
    /// A list of flags.
    Flags,
    Object,
}

/// A type that a field can have.
pub trait FieldType {
    /// The expected type, for messages.
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
impl FieldType for Vec<bool> {
    const ALLOWED: Allowed = Allowed::Flags;
}
impl<T> FieldType for alloc::boxed::Box<T> {
    const ALLOWED: Allowed = Allowed::Object;
}

/// A number for all layers, or one for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PerLayer {
    All(u64),
    Each(Vec<u64>),
}

impl FieldType for PerLayer {
    const ALLOWED: Allowed = Allowed::Counts;
}

/// The number of entries of a list or an object, whatever they are; 1 for a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length(pub u64);

impl FieldType for Length {
    const ALLOWED: Allowed = Allowed::Counts;
}

/// Marks that a field is present; its content is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Present;

impl FieldType for Present {
    const ALLOWED: Allowed = Allowed::Object;
}
