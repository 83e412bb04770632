//! The columns of the table by their keys in the address.

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointColumn {
    Name,
    Memory,
    Rate,
    First,
    Whole,
    Batch,
    Scheme,
    Mode,
    Prompt,
    Throughput,
    Energy,
    Loss,
}

/// Order of the table: a column, and whether the largest comes first.
pub type Order = (PointColumn, bool);

impl PointColumn {
    /// All columns, from left to right. Those that answer the question come first, where a phone shows them.
    pub const ALL: [Self; 12] = [
        Self::Name,
        Self::Memory,
        Self::Rate,
        Self::First,
        Self::Whole,
        Self::Batch,
        Self::Scheme,
        Self::Mode,
        Self::Prompt,
        Self::Throughput,
        Self::Energy,
        Self::Loss,
    ];

    /// Key in the address.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Memory => "memory",
            Self::Rate => "rate",
            Self::First => "first",
            Self::Whole => "whole",
            Self::Batch => "users",
            Self::Scheme => "scheme",
            Self::Mode => "mode",
            Self::Prompt => "in",
            Self::Throughput => "all",
            Self::Energy => "energy",
            Self::Loss => "loss",
        }
    }

    /// Words, which stand at the left of their column; numbers stand at the right.
    pub const fn is_words(self) -> bool {
        matches!(self, Self::Name | Self::Scheme | Self::Mode)
    }
}
