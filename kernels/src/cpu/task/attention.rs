//! The attention task: it rotates over caches. Few heads are distinct, so that the reference stays affordable.

use std::cell::RefCell;
use std::rc::Rc;

use calc_core::units::Bytes;

use crate::backend::{AttentionSizes, Check, Cost, Fault, Task, Work};
use crate::cpu::attention::Space;
use crate::cpu::buffer::Buffer;
use crate::cpu::isa::Isa;
use crate::cpu::launch::{AttentionBuffers, AttentionScratch, StoredLaunch};
use crate::cpu::threads::Pool;
use crate::distinct::{DISTINCT_HEADS, Heads, Numbers, set, start};
use crate::reference::layer::WeightRounding;

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
    heads: Heads,
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
        let numbers = Numbers {
            nearest: &|value| T::nearest(value).wide(),
            query: &|value| value,
            weights: WeightRounding::NONE,
        };
        let heads = Heads::new(&sizes, work.seed, &numbers).ok_or(Fault::Unsupported)?;
        let stored = |values: &[f32]| values.iter().copied().map(T::nearest).collect();
        let keys: Vec<Vec<T>> = heads.distinct.iter().map(|head| stored(&head.keys)).collect();
        let values: Vec<Vec<T>> = heads.distinct.iter().map(|head| stored(&head.values)).collect();
        let starts: Vec<usize> = (0..copies).map(|copy| start(copy, DISTINCT_HEADS)).collect();
        let mut pool_now = pool.borrow_mut();
        let mut filled = |start: usize, distinct: &[Vec<T>]| {
            let len = space.cache_elements(space.context);
            Buffer::filled(&mut pool_now, len, |first, part| repeat(distinct, start, first, part))
        };
        let caches =
            starts.iter().map(|start| [filled(*start, &keys), filled(*start, &values)]).collect();
        drop(pool_now);
        let first_queries = starts.iter().take(DISTINCT_HEADS);
        Ok(Self {
            queries: first_queries.map(|start| heads.queries(*start)).collect(),
            output: vec![f32::NAN; space.query_elements()],
            cost: sizes.cost().into(),
            heads,
            pool,
            isa,
            caches,
            scratch,
            space,
        })
    }

    /// Largest error over tolerance of this iteration's result.
    fn error(&self, iteration: u64) -> f64 {
        let which = set(iteration, self.caches.len()) as u64;
        self.heads.error(start(which, DISTINCT_HEADS), &self.output)
    }
}

/// Writes a part of a cache, from element `first` on, whose heads repeat the distinct ones, beginning with `start`.
fn repeat<T: Copy>(heads: &[Vec<T>], start: usize, first: usize, mut part: &mut [T]) {
    let head = heads[0].len();
    let mut at = first;
    while !part.is_empty() {
        let from = &heads[(at / head + start) % heads.len()][at % head..];
        let len = from.len().min(part.len());
        let (now, later) = part.split_at_mut(len);
        now.copy_from_slice(&from[..len]);
        (part, at) = (later, at + len);
    }
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
    use crate::cpu::lanes::Stored;
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
            for few in &mut task.heads.few {
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
        assert!(!task.heads.tokens.contains(&5));
        task.output[5 * 32] = f32::NAN;
        assert!(task.error(0).is_infinite());
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
