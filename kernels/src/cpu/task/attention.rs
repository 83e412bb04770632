//! The attention task: it rotates over caches. Few heads are distinct, so that the reference stays affordable.

use std::cell::RefCell;
use std::rc::Rc;

use calc_core::math::{ln, sqrt};
use calc_core::units::Bytes;

use super::gemv::{normal, set, start};
use crate::backend::{AttentionSizes, Check, Cost, Fault, Task, Work};
use crate::cpu::attention::Space;
use crate::cpu::buffer::Buffer;
use crate::cpu::isa::Isa;
use crate::cpu::lanes::Stored;
use crate::cpu::launch::{AttentionBuffers, AttentionScratch, StoredLaunch};
use crate::cpu::threads::Pool;
use crate::random::Random;
use crate::reference::layer::{Bounded, attended};

/// Distinct heads of keys and values; further ones repeat them. A prime, as for the rows of a matrix.
pub(in crate::cpu) const DISTINCT_HEADS: usize = 5;
/// New tokens whose results are compared; those of all others must be numbers.
const COMPARED: usize = 8;

/// Attention that rotates over caches.
pub(in crate::cpu) struct AttentionTask<T: StoredLaunch> {
    pool: Rc<RefCell<Pool>>,
    isa: Isa,
    space: Space,
    /// Keys and values.
    caches: Vec<[Buffer<T>; 2]>,
    /// Queries by the distinct head that a cache begins with.
    queries: Vec<Vec<f32>>,
    output: Vec<f32>,
    scratch: AttentionScratch,
    /// New tokens that are compared.
    tokens: Vec<usize>,
    /// Reference results of each distinct head: token by token, and query head by query head of its group.
    few: Vec<Vec<Bounded>>,
    cost: Cost,
}

impl<T: StoredLaunch> AttentionTask<T> {
    /// # Errors
    /// When there is no such problem, or it exceeds the address space.
    pub(in crate::cpu) fn new(
        pool: Rc<RefCell<Pool>>,
        isa: Isa,
        work: &Work,
        sizes: AttentionSizes,
        copies: u64,
    ) -> Result<Self, Fault> {
        let workers = pool.borrow().len();
        let space = Space::new(&sizes).ok_or(Fault::Unsupported)?;
        let scratch = AttentionScratch::new(&sizes, workers).ok_or(Fault::Unsupported)?;
        let mut random = Random::new(work.seed);
        let heads: Vec<Head<T>> =
            (0..DISTINCT_HEADS).map(|_| Head::new(&mut random, &space)).collect();
        let tokens = compared(space.new);
        let starts: Vec<usize> = (0..copies).map(|copy| start(copy, DISTINCT_HEADS)).collect();
        let mut pool_now = pool.borrow_mut();
        let mut filled = |start: usize, of: fn(&Head<T>) -> &[T]| {
            let head = space.context * space.head_dim;
            let len = space.cache_elements(space.context);
            Buffer::filled(&mut pool_now, len, |first, part| {
                repeat(&heads, head, start, of, first, part);
            })
        };
        let caches = starts
            .iter()
            .map(|start| [filled(*start, |it| &it.keys), filled(*start, |it| &it.values)])
            .collect();
        drop(pool_now);
        let first_queries = starts.iter().take(DISTINCT_HEADS);
        Ok(Self {
            queries: first_queries.map(|start| queries(&heads, &space, *start)).collect(),
            output: vec![f32::NAN; space.query_elements()],
            few: heads.iter().map(|head| head.expected(&space, &tokens)).collect(),
            cost: sizes.cost().into(),
            pool,
            isa,
            caches,
            scratch,
            tokens,
            space,
        })
    }

    /// Largest error over tolerance of this iteration's result.
    fn error(&self, iteration: u64) -> f64 {
        let (space, which) = (&self.space, set(iteration, self.caches.len()) as u64);
        if self.output.iter().any(|value| !value.is_finite()) {
            return f64::INFINITY;
        }
        let mut worst = 0.0_f64;
        for unit in 0..space.batch * space.kv_heads {
            let few = &self.few[(unit + start(which, DISTINCT_HEADS)) % DISTINCT_HEADS];
            let (sequence, kv_head) = (unit / space.kv_heads, unit % space.kv_heads);
            for (t, token) in self.tokens.iter().enumerate() {
                for member in 0..space.group {
                    let row = (sequence * space.new + token) * space.heads;
                    let row = (row + kv_head * space.group + member) * space.head_dim;
                    let got = self.output[row..][..space.head_dim].iter().copied();
                    worst = worst.max(few[t * space.group + member].error(got));
                }
            }
        }
        worst
    }
}

/// A head of keys and values, with the queries of its group.
struct Head<T> {
    /// new × group × head_dim.
    queries: Vec<f32>,
    keys: Vec<T>,
    values: Vec<T>,
}

impl<T: Stored> Head<T> {
    /// Random numbers. The first, the middle and the last key are loud: each has a good part of the weight of the last token's
    /// queries, however long the context, so that leaving one out shows.
    #[expect(clippy::cast_possible_truncation, reason = "any number near it will do")]
    fn new(random: &mut Random, space: &Space) -> Self {
        let d = space.head_dim;
        let queries = normal(random, space.new * space.group * d, 1.0);
        let mut numbers = || -> Vec<T> {
            let mut one = || T::nearest(((random.uniform() - 0.5) * sqrt(12.0)) as f32);
            (0..space.context * d).map(|_| one()).collect()
        };
        let (mut keys, values) = (numbers(), numbers());
        // Scores of ln S above the others: weights like that of all others together.
        let size = ln(space.context as f64) / sqrt(d as f64);
        let last = &queries[(space.new - 1) * space.group * d..];
        for place in [0, space.context / 2, space.context - 1] {
            for i in 0..d {
                let sum: f32 = last.chunks(d).map(|query| query[i]).sum();
                keys[place * d + i] = T::nearest(sum * size as f32);
            }
        }
        Self { queries, keys, values }
    }

    fn expected(&self, space: &Space, tokens: &[usize]) -> Vec<Bounded> {
        let d = space.head_dim;
        let wide = |stored: &[T]| -> Vec<f64> {
            stored.iter().map(|value| f64::from(value.wide())).collect()
        };
        let (keys, values) = (wide(&self.keys), wide(&self.values));
        let rows = tokens.iter().flat_map(|token| {
            let queries = self.queries[token * space.group * d..][..space.group * d].chunks(d);
            queries.map(move |query| (token, query))
        });
        rows.map(|(token, query)| {
            let query: Vec<f64> = query.iter().map(|value| f64::from(*value)).collect();
            let seen = (space.cached + token + 1) * d;
            attended(&query, &keys[..seen], &values[..seen])
        })
        .collect()
    }
}

/// At most [`COMPARED`] of the new tokens, evenly spread, the first and the last among them.
fn compared(new: usize) -> Vec<usize> {
    let count = COMPARED.min(new);
    (0..count).map(|i| if i + 1 == count { new - 1 } else { i * new / count }).collect()
}

/// Writes a part of a cache, from element `first` on, whose heads repeat the distinct ones, beginning with `start`.
fn repeat<T: Stored>(
    heads: &[Head<T>],
    head: usize,
    start: usize,
    of: fn(&Head<T>) -> &[T],
    first: usize,
    mut part: &mut [T],
) {
    let mut at = first;
    while !part.is_empty() {
        let from = &of(&heads[(at / head + start) % heads.len()])[at % head..];
        let len = from.len().min(part.len());
        let (now, later) = part.split_at_mut(len);
        now.copy_from_slice(&from[..len]);
        (part, at) = (later, at + len);
    }
}

/// The queries of all heads, by the distinct heads of a cache that begins with `start`.
fn queries<T>(heads: &[Head<T>], space: &Space, start: usize) -> Vec<f32> {
    let len = space.group * space.head_dim;
    let mut all = Vec::with_capacity(space.query_elements());
    for sequence in 0..space.batch {
        for token in 0..space.new {
            for kv_head in 0..space.kv_heads {
                let head = &heads[(sequence * space.kv_heads + kv_head + start) % heads.len()];
                all.extend_from_slice(&head.queries[token * len..][..len]);
            }
        }
    }
    all
}

impl<T: StoredLaunch> Task for AttentionTask<T> {
    fn run(&mut self, iteration: u64) -> Result<(), Fault> {
        let which = set(iteration, self.caches.len());
        let [keys, values] = &self.caches[which];
        // Caches begin with the distinct heads in turn, and so do the queries.
        let queries = &self.queries[which % self.queries.len()];
        let launch = T::attention(AttentionBuffers {
            queries,
            keys,
            values,
            room: self.space.context,
            output: &mut self.output,
            scratch: &mut self.scratch,
        });
        launch.run(self.isa, &mut self.pool.borrow_mut());
        Ok(())
    }

    fn synchronize(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// The error is relative to the rounding bound, so the tolerance is 1.
    fn check(&mut self) -> Result<Check, Fault> {
        Check::worst_of(1.0, self.caches.len() as u64, |iteration| {
            self.output.fill(f32::NAN);
            self.run(iteration)?;
            Ok(self.error(iteration))
        })
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn footprint(&self) -> Bytes {
        let one = 2 * self.space.cache_elements(self.space.context) * size_of::<T>();
        Bytes::new((one * self.caches.len()) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Cache, Kernel, StoredFloat};
    use half::f16;

    fn task<T: StoredLaunch>(
        [batch, heads, kv_heads, head_dim, new, context]: [u64; 6],
    ) -> AttentionTask<T> {
        let sizes =
            AttentionSizes { cache: T::FLOAT, batch, heads, kv_heads, head_dim, new, context };
        let pool = Rc::new(RefCell::new(Pool::new(Some(2))));
        let work = Work { kernel: Kernel::Attention(sizes), cache: Cache::Cold, seed: 3 };
        AttentionTask::new(pool, Isa::best(), &work, sizes, 3).unwrap()
    }

    #[test]
    fn every_shape_is_right_and_a_wrong_expectation_is_not() {
        for shape in [
            [1, 1, 1, 1, 1, 1],
            [2, 8, 4, 64, 1, 300],
            [1, 32, 8, 128, 1, 5000],
            [3, 6, 1, 40, 1, 77],
            [1, 4, 2, 32, 50, 90],
        ] {
            let mut task = task::<f16>(shape);
            let check = task.check().unwrap();
            assert!(check.passed(), "{shape:?}: {check:?}");
            for few in &mut task.few {
                few.last_mut().unwrap().values[0] += 1.0;
            }
            assert!(!task.check().unwrap().passed(), "{shape:?}");
        }
    }

    #[test]
    fn a_key_left_out_of_a_long_context_shows() {
        // The kernel sees a context that is one key shorter, or that lacks the middle.
        let shape = [1, 4, 1, 64, 1, 50_000];
        let mut right = task::<f16>(shape);
        assert!(right.check().unwrap().passed());
        for place in [0, 25_000, 49_999] {
            let mut task = task::<f16>(shape);
            for cache in &mut task.caches {
                cache[0][place * 64..][..64].fill(f16::ZERO);
            }
            assert!(!task.check().unwrap().passed(), "key {place}");
        }
    }

    #[test]
    fn turns_take_one_cache_after_the_other() {
        let mut task = task::<f32>([1, 4, 2, 16, 1, 100]);
        for iteration in 0..6 {
            task.run(iteration).unwrap();
            assert!(task.error(iteration) <= 1.0, "iteration {iteration}");
            assert!(task.error(iteration + 1) > 1.0, "iteration {iteration}");
        }
    }

    #[test]
    fn a_value_that_nobody_wrote_does_not_pass() {
        let mut task = task::<f32>([1, 2, 2, 16, 30, 30]);
        task.run(0).unwrap();
        assert!(task.error(0) <= 1.0);
        // Token 5 is not among those that are compared.
        assert!(!task.tokens.contains(&5));
        task.output[5 * 32] = f32::NAN;
        assert!(task.error(0).is_infinite());
    }

    #[test]
    fn compared_tokens_are_some_of_them_or_all() {
        assert_eq!(compared(1), [0]);
        assert_eq!(compared(3), [0, 1, 2]);
        assert_eq!(compared(100), [0, 12, 25, 37, 50, 62, 75, 99]);
    }

    #[test]
    fn cost_and_footprint_are_those_of_the_sizes() {
        let task = task::<f16>([2, 8, 4, 64, 1, 300]);
        // 2 sequences · 4 heads · 300 tokens · 128 numbers · 2 B, and 2 · 8 · 128 · 4 B of queries and output.
        assert!((task.cost().bytes.get() - (614_400.0 + 8192.0)).abs() < 0.5);
        assert!((task.footprint().get() - 3.0 * 614_400.0).abs() < 0.5);
        assert_eq!(StoredFloat::Fp16, <f16 as Stored>::FLOAT);
    }
}
