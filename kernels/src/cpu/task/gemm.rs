//! A product of matrices in FP32: arithmetic rather than memory.

use std::cell::RefCell;
use std::rc::Rc;

use calc_core::cost::gemm::{GemmFormats, GemmShape, gemm as gemm_cost};
use calc_core::units::Bytes;

use super::gemv::{DISTINCT, normal, repeated};
use crate::backend::{Check, Cost, Fault, Product, Task, Work};
use crate::compare::{Mismatch, compare};
use crate::cpu::buffer::Buffer;
use crate::cpu::gemm::{Output, Sizes, gemm};
use crate::cpu::threads::Pool;
use crate::pack::{Layout, Packed};
use crate::random::Random;
use crate::reference;

/// Tokens that are compared with the reference; the others are the same again.
const TOKENS: usize = 5;

/// A product over sets of weights.
pub(in crate::cpu) struct GemmTask {
    pool: Rc<RefCell<Pool>>,
    sizes: Sizes,
    weights: Vec<Buffer<f32>>,
    x: Buffer<f32>,
    y: Output,
    /// Of the tokens that differ.
    expected: Vec<reference::Product>,
    cost: Cost,
}

impl GemmTask {
    /// # Errors
    /// When a size cannot be addressed.
    pub(in crate::cpu) fn new(
        pool: Rc<RefCell<Pool>>,
        work: &Work,
        shape: GemmShape,
        copies: u64,
    ) -> Result<Self, Fault> {
        let size = |n: u64| usize::try_from(n).ok().ok_or(Fault::Unsupported);
        let sizes = Sizes { m: size(shape.m)?, n: size(shape.n)?, k: size(shape.k)? };
        let mut random = Random::new(work.seed);
        let rows = normal(&mut random, sizes.n.min(DISTINCT) * sizes.k, 0.02);
        let tokens = normal(&mut random, sizes.m.min(TOKENS) * sizes.k, 1.0);
        let mut borrowed = pool.borrow_mut();
        let weights = (0..copies).map(|_| filled(&mut borrowed, &rows, sizes.n * sizes.k));
        let weights: Vec<Buffer<f32>> = weights.collect();
        let x = filled(&mut borrowed, &tokens, sizes.m * sizes.k);
        let y = Output::new(sizes, borrowed.len());
        drop(borrowed);
        let packed = Packed::encode(Layout::Fp32, &rows, sizes.k).ok().ok_or(Fault::Unsupported)?;
        let expected = tokens.chunks(sizes.k).map(|token| {
            let token: Vec<f64> = token.iter().map(|value| f64::from(*value)).collect();
            repeated(&reference::gemv(&packed, &token), sizes.n)
        });
        let expected = expected.collect();
        Ok(Self { pool, sizes, weights, x, y, expected, cost: cost(shape) })
    }
}

/// The values over and over.
fn filled(pool: &mut Pool, values: &[f32], len: usize) -> Buffer<f32> {
    Buffer::filled(pool, len, |first, part| {
        let again = values.iter().cycle().skip(first % values.len());
        part.iter_mut().zip(again).for_each(|(to, value)| *to = *value);
    })
}

fn cost(shape: GemmShape) -> Cost {
    let fp32 = Product::output_format();
    let cost = gemm_cost(shape, GemmFormats { weights: fp32, input: fp32, output: fp32 });
    Cost { bytes: cost.traffic.total(), flops: cost.flops }
}

impl Task for GemmTask {
    fn run(&mut self, turn: u64) -> Result<(), Fault> {
        // Matrices are few.
        #[expect(clippy::cast_possible_truncation, reason = "below the number of matrices")]
        let which = (turn % self.weights.len() as u64) as usize;
        gemm(&mut self.pool.borrow_mut(), self.sizes, &self.weights[which], &self.x, &self.y);
        Ok(())
    }

    fn synchronize(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// The error as a share of what rounding may make of it, so the tolerance is 1.
    fn check(&mut self) -> Result<Check, Fault> {
        let mut check = Check { worst_error: 0.0, tolerance: 1.0 };
        for turn in 0..self.weights.len() as u64 {
            self.y.clear();
            self.run(turn)?;
            for token in 0..self.sizes.m {
                let expected = &self.expected[token % self.expected.len()];
                let worst_error = match compare(&self.y.row(token), expected) {
                    Ok(None) => 0.0,
                    Ok(Some(worst)) | Err(Mismatch::Element(worst)) => {
                        worst.error / worst.tolerance
                    }
                    Err(Mismatch::Length { .. }) => f64::INFINITY,
                };
                check = check.worse(Check { worst_error, tolerance: 1.0 });
            }
        }
        Ok(check)
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn footprint(&self) -> Bytes {
        let elements = self.weights.iter().map(|it| it.len()).sum::<usize>() + self.x.len();
        Bytes::new(4.0 * elements as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Cache, Kernel};

    fn task(m: u64, n: u64, k: u64) -> GemmTask {
        let pool = Rc::new(RefCell::new(Pool::new(Some(2))));
        let shape = GemmShape { m, n, k };
        let work = Work { kernel: Kernel::Gemm { m, n, k }, cache: Cache::Cold, seed: 3 };
        GemmTask::new(pool, &work, shape, 2).unwrap()
    }

    #[test]
    fn products_of_any_shape_are_right_and_a_wrong_expectation_is_not() {
        for (m, n, k) in
            [(1, 1, 1), (1, 127, 128), (3, 15, 129), (7, 16, 31), (17, 129, 127), (64, 200, 300)]
        {
            let mut task = task(m, n, k);
            assert!(task.check().unwrap().passed(), "{m} {n} {k}");
            task.expected[0].values[0] += 1.0;
            assert!(!task.check().unwrap().passed(), "{m} {n} {k}");
        }
    }

    #[test]
    fn a_value_that_nobody_wrote_does_not_pass() {
        let task = task(3, 40, 8);
        task.y.clear();
        assert!(compare(&task.y.row(2), &task.expected[2]).is_err());
    }

    #[test]
    fn costs_by_hand() {
        let cost = task(2, 40, 8).cost();
        // 2·2·40·8 operations; 4 bytes of 2·8 inputs, 40·8 weights, 2·40 outputs.
        assert!((cost.flops.get() - 1280.0).abs() < 0.5);
        assert!((cost.bytes.get() - 4.0 * (16.0 + 320.0 + 80.0)).abs() < 0.5);
    }
}
