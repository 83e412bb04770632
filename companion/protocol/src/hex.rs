//! Bytes of a fixed length as lower-case hexadecimal text.

use core::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `N` bytes that travel as `2 N` hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex<const N: usize>(pub [u8; N]);

impl<const N: usize> Hex<N> {
    /// Reads `2 N` digits; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        let mut bytes = [0; N];
        if digits.len() != 2 * N {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }
}

/// Upper case is not accepted: one value has one spelling.
const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

impl<const N: usize> fmt::Display for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<const N: usize> fmt::Debug for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const N: usize> Serialize for Hex<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Digits)
    }
}

struct Digits<const N: usize>;

impl<const N: usize> Visitor<'_> for Digits<N> {
    type Value = Hex<N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hexadecimal digits in lower case", 2 * N)
    }

    // The input may be a secret, so the error does not repeat it.
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Hex::parse(text).ok_or_else(|| {
            E::custom(format_args!("not {} hexadecimal digits in lower case", 2 * N))
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn one_value_has_one_spelling() {
        assert_eq!(Hex::<2>::parse("0aff").map(|hex| hex.to_string()).as_deref(), Some("0aff"));
        for bad in ["", "0a", "0aff0", "0aff00", "0AFF", "0xff", "+fff", "0ag0", "0é"] {
            assert_eq!(Hex::<2>::parse(bad), None, "{bad}");
        }
    }
}
