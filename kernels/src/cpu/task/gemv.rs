//! The task of a product with packed weights: it rotates over copies of a packed matrix.

use std::cell::RefCell;
use std::rc::Rc;

use calc_core::cost::gemm::{GemmFormats, GemmShape, gemm};
use calc_core::units::Bytes;

use crate::activation::effective_input;
use crate::backend::{Check, Cost, Fault, GemvShape, Task, Work};
use crate::compare::{Mismatch, SampledOutput, compare, sampled};
use crate::cpu::gemv::{Input, MAX_TOKENS, Matrix, Output, input_format};
use crate::cpu::isa::Isa;
use crate::cpu::launch::{Launch, PackedBuffers};
use crate::cpu::threads::Pool;
use crate::distinct::{DISTINCT, normal, repeated, set, start};
use crate::pack::Packed;
use crate::random::Random;
use crate::reference;

/// GEMV that rotates over copies of the weights.
pub(in crate::cpu) struct GemvTask {
    pool: Rc<RefCell<Pool>>,
    isa: Isa,
    matrices: Vec<Matrix>,
    /// One input per token.
    inputs: Vec<Input>,
    output: Output,
    /// Reference result of the distinct rows, for each token.
    few: Vec<reference::ReferenceResult>,
    cost: Cost,
}

impl GemvTask {
    /// # Errors
    /// When a size exceeds the address space, or there are too many tokens.
    pub(in crate::cpu) fn new(
        pool: Rc<RefCell<Pool>>,
        isa: Isa,
        work: &Work,
        product: GemvShape,
        copies: u64,
    ) -> Result<Self, Fault> {
        let size = |n: u64| usize::try_from(n).ok().ok_or(Fault::Unsupported);
        let (m, n, k) = (size(product.m)?, size(product.n)?, size(product.k)?);
        if !(1..=MAX_TOKENS).contains(&m) || k == 0 {
            return Err(Fault::Unsupported);
        }
        let mut random = Random::new(work.seed);
        let weights = normal(&mut random, n.min(DISTINCT) * k, 0.02);
        let x = normal(&mut random, m * k, 1.0);
        // Every layout holds such values; a layout that refused them would be unsupported.
        let packed = Packed::encode(product.layout, &weights, k).ok().ok_or(Fault::Unsupported)?;
        let few = |x| reference::gemv(&packed, &effective_input(product.layout, x));
        let copy = |start| Matrix::repeated(&mut pool.borrow_mut(), &packed, start, n);
        let starts = (0..copies).map(|copy| start(copy, packed.rows()));
        let matrices: Vec<Matrix> = starts.map(copy).collect();
        Ok(Self {
            cost: cost(product, &matrices[0]),
            inputs: x.chunks(k).map(|x| Input::new(product.layout, x)).collect(),
            output: Output::new(n, m),
            few: x.chunks(k).map(few).collect(),
            pool,
            isa,
            matrices,
        })
    }
}

/// Cost by the core's formula, with the bytes of the layout, which may differ from the catalog's.
fn cost(product: GemvShape, matrix: &Matrix) -> Cost {
    let formats = GemmFormats {
        weights: product.layout.format(),
        input: input_format(product.layout),
        output: GemvShape::output_format(),
    };
    let cost = gemm(GemmShape { m: product.m, n: product.n, k: product.k }, formats);
    let weights = Bytes::new(matrix.bytes() as f64);
    Cost { bytes: weights + cost.traffic.activations, flops: cost.flops }
}

impl GemvTask {
    /// Reference result of this iteration's copy.
    fn expected(&self, iteration: u64) -> reference::ReferenceResult {
        let copy = set(iteration, self.matrices.len()) as u64;
        let start = start(copy, self.few[0].values.len());
        let tokens = self.few.iter().map(|few| repeated(few, start, self.matrices[0].rows()));
        reference::ReferenceResult {
            values: tokens.clone().flat_map(|token| token.values).collect(),
            magnitudes: tokens.flat_map(|token| token.magnitudes).collect(),
            terms: self.few[0].terms,
        }
    }
}

impl Task for GemvTask {
    fn run(&mut self, iteration: u64) -> Result<(), Fault> {
        let which = set(iteration, self.matrices.len());
        let (weights, x, y) = (&self.matrices[which], &*self.inputs, &self.output);
        let launch = Launch::Packed(PackedBuffers { weights, x, y });
        launch.run(self.isa, &mut self.pool.borrow_mut());
        Ok(())
    }

    fn synchronize(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// The error is relative to the rounding bound, so the tolerance is 1.
    fn check(&mut self) -> Result<Check, Fault> {
        Check::worst_of(1.0, self.matrices.len() as u64, |iteration| {
            self.output.clear();
            self.run(iteration)?;
            Ok(match compare(&self.output.to_vec(), &self.expected(iteration)) {
                Ok(None) => 0.0,
                Ok(Some(worst)) | Err(Mismatch::Element(worst)) => worst.error / worst.tolerance,
                Err(Mismatch::Length { .. }) => f64::INFINITY,
            })
        })
    }

    fn outputs(&mut self) -> Result<Vec<SampledOutput>, Fault> {
        self.output.clear();
        self.run(0)?;
        Ok(sampled(&self.output.to_vec(), &self.expected(0), &|_| 0.0))
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn footprint(&self) -> Bytes {
        Bytes::new(self.matrices.iter().map(|matrix| matrix.bytes() as f64).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Cache, Kernel};
    use crate::pack::Layout;

    fn task(layout: Layout, m: u64, n: u64, k: u64) -> GemvTask {
        let pool = Rc::new(RefCell::new(Pool::new(Some(2))));
        let product = GemvShape { layout, m, n, k };
        let work = Work { kernel: Kernel::Gemv(product), cache: Cache::Cold, seed: 3 };
        GemvTask::new(pool, Isa::best(), &work, product, 2).unwrap()
    }

    #[test]
    fn every_layout_is_right_and_a_wrong_expectation_is_not() {
        for layout in Layout::ALL {
            for m in [1, 3, 16] {
                let mut task = task(layout, m, 200, 300);
                assert!(task.check().unwrap().passed(), "{layout:?} {m}");
                task.few.last_mut().unwrap().values[50] += 1.0;
                assert!(!task.check().unwrap().passed(), "{layout:?} {m}");
            }
        }
    }

    #[test]
    fn more_tokens_than_fit_are_refused() {
        for m in [0, 17] {
            let pool = Rc::new(RefCell::new(Pool::new(Some(1))));
            let product = GemvShape { layout: Layout::Int8, m, n: 2, k: 2 };
            let work = Work { kernel: Kernel::Gemv(product), cache: Cache::Hot, seed: 3 };
            let refused = GemvTask::new(pool, Isa::best(), &work, product, 1).err();
            assert_eq!(refused, Some(Fault::Unsupported), "{m}");
        }
    }

    #[test]
    fn turns_take_one_copy_after_the_other() {
        let mut task = task(Layout::Int8, 2, 200, 300);
        for iteration in 0..4 {
            task.run(iteration).unwrap();
            let y = task.output.to_vec();
            assert!(compare(&y, &task.expected(iteration)).is_ok(), "iteration {iteration}");
            assert!(compare(&y, &task.expected(iteration + 1)).is_err(), "iteration {iteration}");
        }
    }

    #[test]
    fn costs_by_hand() {
        // 4096 rows of 32 blocks of 68 bytes, 4096 bytes in, 4096 · 4 bytes out.
        let many = task(Layout::Int4G128, 4, 4096, 4096).cost();
        assert!((many.bytes.get() - (8_912_896.0 + 4.0 * (4096.0 + 16_384.0))).abs() < 0.5);
        assert!((many.flops.get() - 4.0 * 33_554_432.0).abs() < 0.5);
        let task = task(Layout::Int4G128, 1, 4096, 4096);
        let cost = task.cost();
        assert!((cost.bytes.get() - (8_912_896.0 + 4096.0 + 16_384.0)).abs() < 0.5);
        assert!((cost.flops.get() - 33_554_432.0).abs() < 0.5);
        assert!((task.footprint().get() - 2.0 * 8_912_896.0).abs() < 0.5);
    }
}
