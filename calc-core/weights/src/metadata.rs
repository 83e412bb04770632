//! Values of the metadata of GGUF. Numbers and short texts are kept; of a vocabulary only its length.

/// A metadata value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Count(u64),
    Negative(i64),
    Real(f64),
    Flag(bool),
    Text(String),
    /// A text that is not kept.
    LongText {
        /// Its size [byte].
        bytes: u64,
    },
    Counts(Vec<u64>),
    Flags(Vec<bool>),
    /// A list that is not kept: of texts, of fractions, or a long one.
    List {
        /// Number of its entries.
        entries: u64,
    },
}

impl Value {
    /// The value of a count.
    pub const fn count(&self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// The value of a text that is kept.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn signed(number: i64) -> Self {
        u64::try_from(number).map_or(Self::Negative(number), Self::Count)
    }
}
