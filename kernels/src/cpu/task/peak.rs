//! The peak task: arithmetic in registers on every worker.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use calc_core::units::{Bytes, Flops};

use crate::backend::{Check, Cost, Fault, Kernel, Task, Work};
use crate::cpu::isa::Isa;
use crate::cpu::peak::{self, DotInput};
use crate::cpu::threads::Pool;
use crate::random::Random;

/// Rounds per call: a few hundred µs, so that starting and joining the workers takes below 1 %.
const ROUNDS: u64 = 100_000;
/// Relative tolerance: sums of up to 512 FP32 values are exact in f64 except for the last bits.
const TOLERANCE: f64 = 1e-9;

/// Kernel with its operands.
enum Chains {
    Fma { expected: f64 },
    Dot { input: DotInput, expected: i64 },
}

/// Peak arithmetic on every worker.
pub(in crate::cpu) struct PeakTask {
    pool: Rc<RefCell<Pool>>,
    isa: Isa,
    chains: Chains,
    flops: Flops,
    /// Largest error of any call so far.
    worst: f64,
}

impl PeakTask {
    pub(in crate::cpu) fn new(pool: Rc<RefCell<Pool>>, isa: Isa, work: &Work) -> Self {
        let (shape, chains) = if work.kernel == Kernel::Dot {
            let input = input(work.seed);
            let expected = peak::dot_reference(isa, &input, ROUNDS);
            (peak::dot_shape(isa), Chains::Dot { input, expected })
        } else {
            (peak::fma_shape(isa), Chains::Fma { expected: peak::fma_reference(isa, ROUNDS) })
        };
        let workers = pool.borrow().len();
        let flops = Flops::new(shape.operations(ROUNDS) as f64 * workers as f64);
        Self { pool, isa, chains, flops, worst: 0.0 }
    }
}

/// Operands within the bounds of [`DotInput`]. A hundred thousand sums of four products stay below 31 bits: the signed
/// factor is at most 5.
fn input(seed: u64) -> DotInput {
    let mut random = Random::new(seed);
    let unsigned = std::array::from_fn(|_| (random.bits() >> 57).to_le_bytes()[0]);
    let signed = std::array::from_fn(|i| if i % 2 == 0 { 5 } else { -4 });
    DotInput { unsigned, signed }
}

impl Task for PeakTask {
    fn run(&mut self, _: u64) -> Result<(), Fault> {
        // Bit patterns of non-negative floats have the order of their values.
        let worst = AtomicU64::new(0);
        let (isa, chains) = (self.isa, &self.chains);
        self.pool.borrow_mut().run(|_| {
            let error = match chains {
                Chains::Fma { expected } => (peak::fma(isa, ROUNDS) - expected).abs(),
                Chains::Dot { input, expected } => {
                    peak::dot(isa, input, ROUNDS).abs_diff(*expected) as f64
                }
            };
            worst.fetch_max(error.to_bits(), Relaxed);
        });
        self.worst = self.worst.max(f64::from_bits(worst.into_inner()));
        Ok(())
    }

    fn synchronize(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn check(&mut self) -> Result<Check, Fault> {
        self.run(0)?;
        let tolerance = match self.chains {
            Chains::Fma { .. } => TOLERANCE,
            Chains::Dot { .. } => 0.0,
        };
        Ok(Check { worst_error: self.worst, tolerance })
    }

    fn cost(&self) -> Cost {
        Cost { bytes: Bytes::ZERO, flops: self.flops }
    }

    fn footprint(&self) -> Bytes {
        Bytes::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Cache;

    #[test]
    fn a_wrong_expectation_does_not_pass() {
        for kernel in [Kernel::Fma, Kernel::Dot] {
            let pool = Rc::new(RefCell::new(Pool::new(Some(2))));
            let work = Work { kernel, cache: Cache::Hot, seed: 1 };
            let mut task = PeakTask::new(pool, Isa::best(), &work);
            assert!(task.check().unwrap().passed(), "{kernel:?}");
            match &mut task.chains {
                Chains::Fma { expected } => *expected += 1e-6,
                Chains::Dot { expected, .. } => *expected += 1,
            }
            assert!(!task.check().unwrap().passed(), "{kernel:?}");
        }
    }
}
