//! The embedding task: every call looks up other rows of a table, in an order that visits all before one comes again.

use std::cell::RefCell;
use std::rc::Rc;

use calc_core::units::Bytes;

use crate::backend::{Check, Cost, EmbeddingSizes, Fault, Task, Work};
use crate::cpu::buffer::Buffer;
use crate::cpu::isa::Isa;
use crate::cpu::launch::{EmbeddingBuffers, StoredLaunch};
use crate::cpu::threads::Pool;
use crate::distinct::{DISTINCT, look_ups, set, start};
use crate::random::Random;

/// Look-ups that rotate over tables, and in them over all rows.
pub(in crate::cpu) struct EmbeddingTask<T: StoredLaunch> {
    pool: Rc<RefCell<Pool>>,
    isa: Isa,
    width: usize,
    /// Rows of a table.
    vocab: usize,
    tables: Vec<Buffer<T>>,
    /// Distinct rows, which every table repeats.
    rows: Vec<T>,
    /// All rows in the order of look-ups, and the first ones once more, so that any call has its tokens in one piece.
    order: Vec<u32>,
    /// Tokens per call.
    tokens: usize,
    output: Vec<f32>,
    cost: Cost,
}

impl<T: StoredLaunch> EmbeddingTask<T> {
    /// # Errors
    /// When there is no such problem, or it exceeds the address space.
    pub(in crate::cpu) fn new(
        pool: Rc<RefCell<Pool>>,
        isa: Isa,
        work: &Work,
        sizes: EmbeddingSizes,
        copies: u64,
    ) -> Result<Self, Fault> {
        let size = |n: u64| usize::try_from(n).ok().ok_or(Fault::Unsupported);
        size(sizes.table_bytes())?;
        if !sizes.is_possible() {
            return Err(Fault::Unsupported);
        }
        let (tokens, width, vocab) = (size(sizes.tokens)?, size(sizes.width)?, size(sizes.vocab)?);
        let mut random = Random::new(work.seed);
        #[expect(clippy::cast_possible_truncation, reason = "any number near it will do")]
        let rows: Vec<T> = (0..DISTINCT * width)
            .map(|_| T::nearest((2.0 * random.uniform() - 1.0) as f32))
            .collect();
        let table = |copy| {
            Buffer::filled(&mut pool.borrow_mut(), vocab * width, |first, part| {
                write(&rows, width, start(copy, DISTINCT), first, part);
            })
        };
        let tables = (0..copies).map(table).collect();
        Ok(Self {
            order: look_ups(sizes.vocab, tokens),
            output: vec![f32::NAN; tokens * width],
            cost: sizes.cost().into(),
            pool,
            isa,
            width,
            vocab,
            tables,
            rows,
            tokens,
        })
    }

    /// The tokens of a call: all tables have their turn before the next ones.
    fn tokens_of(&self, iteration: u64) -> std::ops::Range<usize> {
        let turn = iteration / self.tables.len() as u64;
        #[expect(clippy::cast_possible_truncation, reason = "below the number of rows")]
        let first = (turn % self.vocab as u64 * self.tokens as u64 % self.vocab as u64) as usize;
        first..first + self.tokens
    }

    /// Zero if the result of this call is right to the bit, else infinite.
    fn error(&self, iteration: u64) -> f64 {
        let start = start(set(iteration, self.tables.len()) as u64, DISTINCT);
        let tokens = &self.order[self.tokens_of(iteration)];
        let right = tokens.iter().zip(self.output.chunks(self.width)).all(|(token, got)| {
            let row = (*token as usize + start) % DISTINCT * self.width;
            let row = self.rows[row..][..self.width].iter();
            row.zip(got).all(|(value, got)| value.wide().to_bits() == got.to_bits())
        });
        if right { 0.0 } else { f64::INFINITY }
    }
}

/// Writes a part of a table, from element `at` on, whose rows repeat the distinct ones, beginning with `start`.
fn write<T: Copy>(rows: &[T], width: usize, start: usize, mut at: usize, mut part: &mut [T]) {
    while !part.is_empty() {
        let from = &rows[(at / width + start) % DISTINCT * width..][..width][at % width..];
        let len = from.len().min(part.len());
        let (now, later) = part.split_at_mut(len);
        now.copy_from_slice(&from[..len]);
        (part, at) = (later, at + len);
    }
}

impl<T: StoredLaunch> Task for EmbeddingTask<T> {
    fn run(&mut self, iteration: u64) -> Result<(), Fault> {
        let tokens = self.tokens_of(iteration);
        let launch = T::embedding(EmbeddingBuffers {
            table: &self.tables[set(iteration, self.tables.len())],
            width: self.width,
            tokens: &self.order[tokens],
            output: &mut self.output,
        });
        launch.run(self.isa, &mut self.pool.borrow_mut());
        Ok(())
    }

    fn synchronize(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// Numbers are widened, which is exact.
    fn check(&mut self) -> Result<Check, Fault> {
        Check::worst_of(0.0, 2 * self.tables.len() as u64, |iteration| {
            self.output.fill(f32::NAN);
            self.run(iteration)?;
            Ok(self.error(iteration))
        })
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn footprint(&self) -> Bytes {
        let elements: usize = self.tables.iter().map(|table| table.len()).sum();
        Bytes::new((elements * size_of::<T>()) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Cache, Kernel};
    use crate::pack::minifloat::Fp8;
    use half::{bf16, f16};

    fn task<T: StoredLaunch>(tokens: u64, width: u64, vocab: u64) -> EmbeddingTask<T> {
        let sizes = EmbeddingSizes { table: T::FLOAT, tokens, width, vocab };
        let pool = Rc::new(RefCell::new(Pool::new(Some(2))));
        let work = Work { kernel: Kernel::Embedding(sizes), cache: Cache::Cold, seed: 3 };
        EmbeddingTask::new(pool, Isa::best(), &work, sizes, 3).unwrap()
    }

    fn check<T: StoredLaunch>() {
        for (tokens, width, vocab) in [(1, 1, 1), (1, 33, 100), (7, 128, 1000), (100, 20, 100)] {
            let mut task = task::<T>(tokens, width, vocab);
            assert!(task.check().unwrap().passed(), "{:?} {tokens} {width}", T::FLOAT);
            task.rows[0] = T::nearest(77.0);
            let mut seen = false;
            for iteration in 0..3 * vocab {
                task.run(iteration).unwrap();
                seen |= task.error(iteration) > 0.0;
            }
            assert!(seen, "{:?} {tokens} {width} {vocab}: the wrong row shows", T::FLOAT);
        }
    }

    #[test]
    fn every_table_is_right_and_another_row_is_not() {
        check::<f32>();
        check::<f16>();
        check::<bf16>();
        check::<Fp8>();
    }

    #[test]
    fn all_rows_come_before_one_comes_again() {
        for vocab in [1, 2, 3, 10, 97, 1000, 32_000] {
            let order = look_ups(vocab, 5);
            assert_eq!(order.len(), usize::try_from(vocab).unwrap() + 5);
            let mut first: Vec<u32> = order[..order.len() - 5].to_vec();
            first.sort_unstable();
            assert!(first.iter().zip(0..).all(|(row, i)| *row == i), "{vocab}");
            assert_eq!(order[0], order[order.len() - 5], "{vocab}");
        }
    }

    #[test]
    fn turns_take_one_table_after_the_other() {
        let mut task = task::<f32>(3, 20, 200);
        for iteration in 0..7 {
            task.run(iteration).unwrap();
            assert!(task.error(iteration) == 0.0 && task.error(iteration + 1) > 0.0, "{iteration}");
        }
    }
}
