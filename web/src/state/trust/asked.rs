//! The filter of the Trust view as every view carries it: pairs of the address, which that view understands.

use crate::state::model::asked::Pair;

/// Keys in the address: set, device, engine, format, tier, what was left out.
pub const KEYS: [&str; 6] = ["ts", "td", "te", "tf", "tt", "tl"];

/// Longest value that is carried.
const LONGEST: usize = 60;

/// Takes a pair of an address over; false for a key that the view does not have, or has already.
pub fn take(pairs: &mut Vec<Pair>, key: &str, value: &str) -> bool {
    let Some(key) = KEYS.into_iter().find(|known| *known == key) else { return false };
    let is_new = pairs.iter().all(|(known, _)| *known != key);
    if is_new {
        pairs.push((key, value.chars().take(LONGEST).collect()));
    }
    is_new
}
