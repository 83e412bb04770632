//! Where a number comes from: one vocabulary, carried by facts and by results.

/// Origin of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Provenance {
    /// Read in the named source.
    Read,
    /// Computed from other facts.
    Derived,
    /// From memory; nobody opened a source.
    Recalled,
    /// Fitted on published or own measurements.
    Fitted,
    /// Measured on this device.
    Measured,
    /// Assumed until something better is known.
    Assumed,
    /// Parts of different origin; the source text says which.
    Mixed,
}

impl Provenance {
    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Derived => "derived",
            Self::Recalled => "recalled",
            Self::Fitted => "fitted",
            Self::Measured => "measured",
            Self::Assumed => "assumed",
            Self::Mixed => "mixed",
        }
    }
}

/// A value with its origin; the source itself is named by the row that holds the fact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fact<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub provenance: Provenance,
}

impl<T> Fact<T> {
    /// Read in the row's source.
    pub const fn read(value: T) -> Self {
        Self { value, provenance: Provenance::Read }
    }

    /// Computed from other facts.
    pub const fn derived(value: T) -> Self {
        Self { value, provenance: Provenance::Derived }
    }

    /// From memory.
    pub const fn recalled(value: T) -> Self {
        Self { value, provenance: Provenance::Recalled }
    }

    /// Taken as given: a constant of ours, or what the user states in a custom file.
    pub const fn assumed(value: T) -> Self {
        Self { value, provenance: Provenance::Assumed }
    }
}
