//! A claimed speed in the address: its keys and its units. `check` judges it.

use report::output::address::key;

/// Key of the claimed time of the operator [µs].
pub const TIME: &str = key::CLAIMED_TIME;
/// Key of the claimed number for the model, in the unit under [`UNIT`].
pub const AMOUNT: &str = key::CLAIMED_AMOUNT;
/// Key of the unit of [`AMOUNT`].
pub const UNIT: &str = key::CLAIMED_UNIT;

/// All keys of claims.
pub const CLAIM: [&str; 3] = [TIME, AMOUNT, UNIT];

/// Unit of a claim about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimUnit {
    /// Tokens per second over the batch.
    Total,
    /// Tokens per second of one sequence.
    User,
    /// Seconds for the prompt and all new tokens.
    Seconds,
}

impl ClaimUnit {
    /// All units, in the order of the list.
    pub const ALL: [Self; 3] = [Self::Total, Self::User, Self::Seconds];

    /// Key in the address; empty for the default unit.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Total => "",
            Self::User => key::UNIT_USER,
            Self::Seconds => key::UNIT_SECONDS,
        }
    }

    /// Label in the list.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Total => "token/s in all",
            Self::User => "token/s of each user",
            Self::Seconds => "s for prompt and answer",
        }
    }
}
