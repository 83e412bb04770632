//! Data of which few rows are distinct, so that their reference stays affordable: further rows repeat them, and each copy begins with
//! another one.

mod heads;

pub(crate) use heads::{Head, Heads, Numbers};

use crate::random::Random;
use crate::reference::ReferenceResult;

/// Distinct rows. A prime, so that a row that is off by a power of two is detected.
pub(crate) const DISTINCT: usize = 67;
/// Distinct heads of keys and values. A prime, as for the rows of a matrix.
pub(crate) const DISTINCT_HEADS: usize = 5;
/// ε of the norm, as Llama has it.
pub(crate) const EPSILON: f32 = 1e-5;
/// Base of the angles of rotary positions, and position of the first token.
pub(crate) const ROPE: (f64, f64) = (10_000.0, 1000.0);
/// Rows by which consecutive copies are shifted, so that the use of a wrong copy is detected.
const STAGGER: usize = 7;

/// Set of buffers of an iteration.
#[expect(clippy::cast_possible_truncation, reason = "below the number of sets")]
pub(crate) const fn set(iteration: u64, sets: usize) -> usize {
    (iteration % sets as u64) as usize
}

/// First distinct row of a copy.
#[expect(clippy::cast_possible_truncation, reason = "below the number of rows")]
pub(crate) const fn start(copy: u64, rows: usize) -> usize {
    (STAGGER as u64 * copy % rows as u64) as usize
}

/// Weights with the distribution of a model's: normal around 0.
#[expect(clippy::cast_possible_truncation, reason = "any number near it will do")]
pub(crate) fn normal(random: &mut Random, len: usize, deviation: f64) -> Vec<f32> {
    (0..len).map(|_| (deviation * random.normal()) as f32).collect()
}

/// Reference result of a matrix that repeats its rows, beginning with `start`.
pub(crate) fn repeated(few: &ReferenceResult, start: usize, rows: usize) -> ReferenceResult {
    let again = |values: &[f64]| values.iter().copied().cycle().skip(start).take(rows).collect();
    ReferenceResult {
        values: again(&few.values),
        magnitudes: again(&few.magnitudes),
        terms: few.terms,
    }
}

/// All rows of a table in an order that jumps about, and the first `more` ones again.
pub(crate) fn look_ups(vocab: u64, more: usize) -> Vec<u32> {
    let common = |a: u64, b: u64| {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    // Golden section: consecutive look-ups are far apart, and so are those after a few.
    let near = (vocab * 34 / 55).max(1);
    let step = (near..=near + vocab).find(|step| common(*step, vocab) == 1).unwrap_or(1);
    let all = (0..vocab + more as u64).map(|i| i % vocab * step % vocab);
    all.filter_map(|row| u32::try_from(row).ok()).collect()
}
