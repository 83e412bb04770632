//! Where a number comes from: one vocabulary for facts and results.

/// Origin of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Provenance {
    /// Read in the named source.
    Read,
    /// Measured by others, as the named source reports.
    Reported,
    /// Computed from other facts.
    Derived,
    /// From memory; no source was opened.
    Recalled,
    /// Fitted on published or own measurements.
    Fitted,
    /// Measured on this device.
    Measured,
    /// Assumed until something better is known.
    Assumed,
    /// Several origins; the source text gives the origin of each.
    Mixed,
}

impl Provenance {
    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Reported => "reported",
            Self::Derived => "derived",
            Self::Recalled => "recalled",
            Self::Fitted => "fitted",
            Self::Measured => "measured",
            Self::Assumed => "assumed",
            Self::Mixed => "mixed",
        }
    }
}

/// A value with its origin; the row that holds the fact names the source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fact<T> {
    pub value: T,
    pub provenance: Provenance,
}

impl<T> Fact<T> {
    /// A value read in the row's source.
    pub const fn read(value: T) -> Self {
        Self { value, provenance: Provenance::Read }
    }

    /// A value that others measured, read in the row's source.
    pub const fn reported(value: T) -> Self {
        Self { value, provenance: Provenance::Reported }
    }

    /// A value computed from other facts.
    pub const fn derived(value: T) -> Self {
        Self { value, provenance: Provenance::Derived }
    }

    /// A value from memory.
    pub const fn recalled(value: T) -> Self {
        Self { value, provenance: Provenance::Recalled }
    }

    /// A value taken as given: a constant of ours, or one that the user states in a custom file.
    pub const fn assumed(value: T) -> Self {
        Self { value, provenance: Provenance::Assumed }
    }
}
