//! Criteria by which two points are compared, and the points that no other one beats.

use alloc::vec::Vec;

use crate::quality::QualityLoss;
use crate::recommend::Outcome;

/// A quantity that is as small or as large as possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Criterion {
    /// Time from the request to its last token [s].
    Whole,
    /// Tokens per second of one user, in the mean over the generation.
    Rate,
    /// Tokens per second of all users, in the mean over the generation.
    Throughput,
    /// Energy per token over all devices, in the mean over the generation [J].
    Energy,
    /// Memory needed on one device [B].
    Memory,
    /// Larger end of the quality loss [%].
    Quality,
}

/// Values of two criteria; less is better in each.
pub type Costs = [f64; 2];

impl Criterion {
    /// All criteria with their keys.
    pub const ALL: [(&'static str, Self); 6] = [
        ("whole", Self::Whole),
        ("rate", Self::Rate),
        ("throughput", Self::Throughput),
        ("energy", Self::Energy),
        ("memory", Self::Memory),
        ("quality", Self::Quality),
    ];

    /// Whether larger values are better.
    pub const fn more_is_better(self) -> bool {
        match self {
            Self::Rate | Self::Throughput => true,
            Self::Whole | Self::Energy | Self::Memory | Self::Quality => false,
        }
    }

    /// The value of an outcome, in base units; `None` if a fact that it needs is not published.
    pub fn value(self, batch: u64, outcome: &Outcome, quality: &QualityLoss) -> Option<f64> {
        let token = outcome.token.expected.time.get();
        Some(match self {
            Self::Whole => outcome.whole.time.get(),
            Self::Rate => 1.0 / token,
            Self::Throughput => batch as f64 / token,
            Self::Energy => outcome.token.energy?.per_token.get(),
            Self::Memory => outcome.memory.get(),
            Self::Quality => quality.high,
        })
    }

    /// The value so that less is better.
    pub(super) fn cost(self, batch: u64, outcome: &Outcome, quality: &QualityLoss) -> Option<f64> {
        self.value(batch, outcome, quality).map(|value| self.cost_of(value))
    }

    /// The cost of a value.
    pub const fn cost_of(self, value: f64) -> f64 {
        if self.more_is_better() { -value } else { value }
    }

    /// The value of a cost.
    pub const fn value_of(self, cost: f64) -> f64 {
        self.cost_of(cost)
    }
}

/// Whether some costs are at most the others in both, and less in one.
pub fn beats(one: &Costs, other: &Costs) -> bool {
    at_most(one, other) && (one[0] < other[0] || one[1] < other[1])
}

/// Whether some costs are at most the others in both.
pub(super) fn at_most(one: &Costs, other: &Costs) -> bool {
    one[0] <= other[0] && one[1] <= other[1]
}

/// Points that no other one beats, by index, in the order of the first cost. Where points are equal, the first one counts.
///
/// ```
/// use calc_core::explore::front;
/// assert_eq!(front(&[[3.0, 1.0], [1.0, 3.0], [2.0, 3.5], [2.0, 2.0], [2.0, 2.0]]), [1, 3, 0]);
/// ```
pub fn front(points: &[Costs]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    let by = |a: usize, b: usize, place: usize| points[a][place].total_cmp(&points[b][place]);
    order.sort_by(|&a, &b| by(a, b, 0).then(by(a, b, 1)));
    let mut least = f64::INFINITY;
    order.retain(|&index| {
        let second = points[index][1];
        let is_less = second < least;
        least = least.min(second);
        is_less
    });
    order
}
