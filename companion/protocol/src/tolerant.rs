//! Reading what a side of a later version says: a part that is not known is passed over, and the rest is read.

use alloc::vec::Vec;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that this version reads, or any other one.
#[derive(Deserialize)]
#[serde(untagged, bound = "T: DeserializeOwned")]
enum Tolerant<T> {
    Known(T),
    Later(IgnoredAny),
}

/// Reads a value; the default stands for one of a later version.
pub(crate) fn or_default<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: DeserializeOwned + Default,
    D: Deserializer<'de>,
{
    Ok(match Tolerant::deserialize(from)? {
        Tolerant::Known(value) => value,
        Tolerant::Later(_) => T::default(),
    })
}

/// Reads a list without the items of a later version.
pub(crate) fn known_items<'de, T, D>(from: D) -> Result<Vec<T>, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let known = |item| match item {
        Tolerant::Known(value) => Some(value),
        Tolerant::Later(_) => None,
    };
    Ok(Vec::<Tolerant<T>>::deserialize(from)?.into_iter().filter_map(known).collect())
}

/// A value of a later version, of any shape; it is written as null.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Later;

impl<'de> Deserialize<'de> for Later {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(from).map(|_| Self)
    }
}

impl Serialize for Later {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_unit()
    }
}
