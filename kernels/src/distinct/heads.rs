//! Heads of attention: few are distinct, and some of their keys are loud, so that a key that is left out shows.

use calc_core::math::{ln, sqrt};

use super::{DISTINCT_HEADS, normal};
use crate::backend::AttentionSizes;
use crate::random::Random;
use crate::reference::layer::{Bounded, WeightRounding, attended_with};

/// New tokens whose results are compared; those of all others must be numbers.
const COMPARED: usize = 8;

/// The distinct heads of an attention problem with their reference results.
#[derive(Debug)]
pub(crate) struct Heads {
    pub(crate) distinct: Vec<Head>,
    /// Reference results of each distinct head: token by token, and query head by query head of its group.
    pub(crate) few: Vec<Vec<Bounded>>,
    /// New tokens that are compared.
    pub(crate) tokens: Vec<usize>,
    batch: usize,
    /// KV heads of a sequence.
    units: usize,
    head_dim: usize,
    new: usize,
    /// Query heads per head of keys.
    group: usize,
}

/// The numbers that a kernel computes attention with.
pub(crate) struct Numbers<'a> {
    /// Rounds a number to the format of the cache.
    pub(crate) nearest: &'a dyn Fn(f32) -> f32,
    /// A query as the kernel multiplies it.
    pub(crate) query: &'a dyn Fn(f32) -> f32,
    pub(crate) weights: WeightRounding,
}

/// A head of keys and values, rounded as they are stored, with the queries of its group.
#[derive(Debug)]
pub(crate) struct Head {
    /// new × group × head_dim.
    queries: Vec<f32>,
    pub(crate) keys: Vec<f32>,
    pub(crate) values: Vec<f32>,
}

impl Heads {
    /// Heads of a problem. `None` beyond the address space.
    pub(crate) fn new(sizes: &AttentionSizes, seed: u64, numbers: &Numbers<'_>) -> Option<Self> {
        let size = |n: u64| usize::try_from(n).ok();
        let (kv_heads, new, context) =
            (size(sizes.kv_heads)?, size(sizes.new)?, size(sizes.context)?);
        let (group, head_dim) = (size(sizes.heads)? / kv_heads, size(sizes.head_dim)?);
        let mut random = Random::new(seed);
        let mut head = || Head::new(&mut random, [new, context, group, head_dim], numbers.nearest);
        let distinct: Vec<Head> = (0..DISTINCT_HEADS).map(|_| head()).collect();
        let tokens = compared(new);
        let rows = group * head_dim;
        let few = distinct.iter().map(|head| {
            let expected = |token: &usize| {
                let seen = (context - new + token + 1) * head_dim;
                let queries = head.queries[token * rows..][..rows].chunks(head_dim);
                queries
                    .map(move |query| head.attended(query, seen, numbers))
                    .collect::<Vec<Bounded>>()
            };
            tokens.iter().flat_map(expected).collect()
        });
        let (few, batch) = (few.collect(), size(sizes.batch)?);
        Some(Self { distinct, few, tokens, batch, units: kv_heads, head_dim, new, group })
    }

    /// The distinct head of a unit, which is a KV head of a sequence, in a cache that begins with `start`.
    const fn which(unit: usize, start: usize) -> usize {
        (unit + start) % DISTINCT_HEADS
    }

    /// The queries of all heads: sequence, new token, query head.
    pub(crate) fn queries(&self, start: usize) -> Vec<f32> {
        let len = self.group * self.head_dim;
        let mut all = Vec::new();
        for sequence in 0..self.batch {
            for token in 0..self.new {
                for kv_head in 0..self.units {
                    let which = Self::which(sequence * self.units + kv_head, start);
                    all.extend_from_slice(&self.distinct[which].queries[token * len..][..len]);
                }
            }
        }
        all
    }

    /// Largest error over tolerance of an output, in the order of the queries.
    pub(crate) fn error(&self, start: usize, output: &[f32]) -> f64 {
        if output.iter().any(|value| !value.is_finite()) {
            return f64::INFINITY;
        }
        let (d, heads) = (self.head_dim, self.units * self.group);
        let mut worst = 0.0_f64;
        for unit in 0..self.batch * self.units {
            let few = &self.few[Self::which(unit, start)];
            let (sequence, kv_head) = (unit / self.units, unit % self.units);
            for (t, token) in self.tokens.iter().enumerate() {
                for member in 0..self.group {
                    let row = (sequence * self.new + token) * heads + kv_head * self.group + member;
                    let got = output[row * d..][..d].iter().copied();
                    worst = worst.max(few[t * self.group + member].error(got));
                }
            }
        }
        worst
    }
}

impl Head {
    /// Random numbers. The first, the middle and the last key are loud: each has a good part of the weight of the last token's
    /// queries, however long the context, so that leaving one out shows.
    #[expect(clippy::cast_possible_truncation, reason = "any number near it will do")]
    fn new(
        random: &mut Random,
        [new, context, group, d]: [usize; 4],
        nearest: &dyn Fn(f32) -> f32,
    ) -> Self {
        let queries = normal(random, new * group * d, 1.0);
        let mut numbers = || -> Vec<f32> {
            let mut one = || nearest(((random.uniform() - 0.5) * sqrt(12.0)) as f32);
            (0..context * d).map(|_| one()).collect()
        };
        let (mut keys, values) = (numbers(), numbers());
        // Scores of ln S above the others: weights like that of all others together.
        let size = ln(context as f64) / sqrt(d as f64);
        let last = &queries[(new - 1) * group * d..];
        for place in [0, context / 2, context - 1] {
            for i in 0..d {
                let sum: f32 = last.chunks(d).map(|query| query[i]).sum();
                keys[place * d + i] = nearest(sum * size as f32);
            }
        }
        Self { queries, keys, values }
    }

    /// The reference result of one query, which sees so many elements of keys and values.
    fn attended(&self, query: &[f32], seen: usize, numbers: &Numbers<'_>) -> Bounded {
        let wide = |values: &[f32]| values.iter().copied().map(f64::from).collect::<Vec<f64>>();
        let query: Vec<f64> = query.iter().map(|q| f64::from((numbers.query)(*q))).collect();
        let (keys, values) = (wide(&self.keys[..seen]), wide(&self.values[..seen]));
        attended_with(numbers.weights, &query, &keys, &values)
    }
}

/// At most [`COMPARED`] of the new tokens, evenly spread, the first and the last among them.
fn compared(new: usize) -> Vec<usize> {
    let count = COMPARED.min(new);
    (0..count).map(|i| if i + 1 == count { new - 1 } else { i * new / count }).collect()
}

#[cfg(test)]
mod tests {
    use super::compared;

    #[test]
    fn compared_tokens_are_some_of_them_or_all() {
        assert_eq!(compared(1), [0]);
        assert_eq!(compared(3), [0, 1, 2]);
        assert_eq!(compared(100), [0, 12, 25, 37, 50, 62, 75, 99]);
    }
}
