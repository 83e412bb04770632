//! The Explore place: what the reader asks, all points of it in a worker, and the rows that remain. Here are the texts of its
//! fields, which are all that the first program has of it.

pub mod asked;
pub mod column;
pub mod command;
pub mod narrowing;
pub mod row;
pub mod shown;
pub mod sweep;

use super::model::url::Pair;

/// Keys in the address, by field.
pub const KEYS: [&str; 9] =
    ["ask", "batches", "prompts", "watts", "ex", "ey", "best", "sort", "brush"];

/// Longest text of a field, in characters.
const LONGEST: usize = 200;

/// A field of the place, in the order of [`KEYS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExploreField {
    /// Devices or models.
    Subject,
    Batches,
    Prompts,
    /// Largest power budget [W].
    Power,
    /// Criterion along x.
    Across,
    /// Criterion along y.
    Up,
    /// Rows of the table: the front, or the best point of each device or model.
    Rows,
    /// Order of the table.
    Sort,
    /// The part of the chart that the table shows.
    Brush,
}

impl ExploreField {
    /// Key in the address.
    pub const fn key(self) -> &'static str {
        KEYS[self as usize]
    }
}

/// Texts of the fields; an empty one is the default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExploreTexts([String; KEYS.len()]);

impl ExploreTexts {
    /// The text of a field.
    pub fn get(&self, field: ExploreField) -> &str {
        self.0[field as usize].trim()
    }

    /// Replaces the text of a field.
    pub fn set(&mut self, field: ExploreField, text: String) {
        self.0[field as usize] = text;
    }

    /// Applies a pair of the address; false for a key of another place. Its field says what is wrong with a value.
    pub fn read(&mut self, key: &str, value: &str) -> bool {
        let Some(place) = KEYS.iter().position(|known| *known == key) else { return false };
        self.0[place] = value.chars().take(LONGEST).collect();
        true
    }

    /// Adds the pairs that differ from the default to an address.
    pub fn write(&self, pairs: &mut Vec<Pair>) {
        for (key, text) in KEYS.into_iter().zip(&self.0) {
            if !text.trim().is_empty() {
                pairs.push((key, text.trim().to_owned()));
            }
        }
    }
}
