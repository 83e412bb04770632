//! The stream task: read, copy and triad on arrays that workers share by pages.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use calc_core::units::{Bytes, Flops};

use crate::backend::{Check, Cost, Fault, Kernel, Task, Work};
use crate::cpu::buffer::Buffer;
use crate::cpu::isa::Isa;
use crate::cpu::stream::{self, FACTOR};
use crate::cpu::threads::{Pool, Worker};
use crate::random::Random;
use crate::rotation::PAGE;

/// Relative tolerance of the triad: a fused multiply-add rounds once, a plain one twice; relative to |b| + |3c|.
const TRIAD_TOLERANCE: f64 = f64::EPSILON;

/// The arrays of one call.
enum Arrays {
    Read { words: Buffer<u64>, sum: u64 },
    Copy { to: Buffer<f64>, from: Buffer<f64> },
    Triad { to: Buffer<f64>, b: Buffer<f64>, c: Buffer<f64> },
}

/// A stream that rotates over sets of arrays.
pub(in crate::cpu) struct StreamTask {
    pool: Rc<RefCell<Pool>>,
    isa: Isa,
    sets: Vec<Arrays>,
    cost: Cost,
    array: u64,
    /// Timed calls that read a wrong sum.
    wrong: u64,
}

impl StreamTask {
    pub(in crate::cpu) fn new(pool: Rc<RefCell<Pool>>, isa: Isa, work: &Work, copies: u64) -> Self {
        let array = match work.kernel {
            Kernel::Read { bytes } | Kernel::Copy { bytes } | Kernel::Triad { bytes } => bytes,
            _ => 0,
        };
        let array = array.div_ceil(PAGE).max(1) * PAGE;
        let seeds = (0..copies).map(|copy| work.seed.wrapping_add(copy.wrapping_mul(1000)));
        let sets = seeds.map(|seed| arrays(&mut pool.borrow_mut(), work.kernel, array, seed));
        let sets: Vec<Arrays> = sets.collect();
        Self { pool, isa, cost: cost(work.kernel, array), sets, array, wrong: 0 }
    }
}

fn cost(kernel: Kernel, array: u64) -> Cost {
    let (arrays, flops_per_number) = match kernel {
        Kernel::Copy { .. } => (2.0, 0.0),
        Kernel::Triad { .. } => (3.0, 2.0),
        _ => (1.0, 0.0),
    };
    let bytes = array as f64;
    Cost { bytes: Bytes::new(arrays * bytes), flops: Flops::new(flops_per_number * bytes / 8.0) }
}

fn arrays(pool: &mut Pool, kernel: Kernel, array: u64, seed: u64) -> Arrays {
    let len = usize::try_from(array / 8).expect("memory for it was there a moment ago");
    match kernel {
        Kernel::Copy { .. } => Arrays::Copy {
            to: numbers(pool, len, seed),
            from: numbers(pool, len, seed.wrapping_add(1)),
        },
        Kernel::Triad { .. } => Arrays::Triad {
            to: numbers(pool, len, seed),
            b: numbers(pool, len, seed.wrapping_add(1)),
            c: numbers(pool, len, seed.wrapping_add(2)),
        },
        _ => {
            let words = Buffer::<u64>::filled(pool, len, |first, part| {
                let mut random = Random::new(seed ^ first as u64);
                part.fill_with(|| random.bits());
            });
            let sum = words.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word));
            Arrays::Read { words, sum }
        }
    }
}

/// Values with the distribution of weights: near 0, either sign, all different.
fn numbers(pool: &mut Pool, len: usize, seed: u64) -> Buffer<f64> {
    Buffer::filled(pool, len, |first, part| {
        let mut random = Random::new(seed ^ first as u64);
        part.fill_with(|| random.uniform() - 0.5);
    })
}

impl Arrays {
    /// Runs one call. False if the sum of the words read is wrong.
    fn stream(&mut self, pool: &mut Pool, isa: Isa) -> bool {
        match self {
            Self::Read { words, sum } => {
                let total = AtomicU64::new(0);
                pool.run(|worker| {
                    let part = &words[worker.share(words.len(), Buffer::<u64>::GRANULE)];
                    total.fetch_add(stream::read(isa, part), Relaxed);
                });
                total.into_inner() == *sum
            }
            Self::Copy { to, from } => {
                to.in_shares(pool, |worker, to| stream::copy(isa, to, part(worker, from)));
                true
            }
            Self::Triad { to, b, c } => {
                to.in_shares(pool, |worker, to| {
                    stream::triad(isa, to, part(worker, b), part(worker, c));
                });
                true
            }
        }
    }

    /// Overwrites the result, so that a call that writes nothing is detected.
    fn poison(&mut self) {
        match self {
            Self::Read { .. } => {}
            Self::Copy { to, .. } | Self::Triad { to, .. } => to.fill(f64::NAN),
        }
    }

    /// Largest error of the last call's result; infinite for NaN.
    fn error(&self) -> f64 {
        let worst =
            |errors: &mut dyn Iterator<Item = f64>| errors.map(nan_is_worst).fold(0.0, f64::max);
        match self {
            Self::Read { .. } => 0.0,
            Self::Copy { to, from } => {
                worst(&mut to.iter().zip(&**from).map(|(to, from)| (to - from).abs()))
            }
            Self::Triad { to, b, c } => {
                let inputs = b.iter().zip(&**c);
                worst(&mut to.iter().zip(inputs).map(|(to, (b, c))| {
                    let scale = b.abs() + (FACTOR * c).abs();
                    (to - (b + FACTOR * c)).abs() / scale.max(f64::MIN_POSITIVE)
                }))
            }
        }
    }
}

const fn nan_is_worst(error: f64) -> f64 {
    if error.is_nan() { f64::INFINITY } else { error }
}

fn part(worker: Worker, numbers: &Buffer<f64>) -> &[f64] {
    &numbers[worker.share(numbers.len(), Buffer::<f64>::GRANULE)]
}

impl Task for StreamTask {
    fn run(&mut self, iteration: u64) -> Result<(), Fault> {
        // There are few sets.
        #[expect(clippy::cast_possible_truncation, reason = "below the number of sets")]
        let set = (iteration % self.sets.len() as u64) as usize;
        if !self.sets[set].stream(&mut self.pool.borrow_mut(), self.isa) {
            self.wrong += 1;
        }
        Ok(())
    }

    fn synchronize(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn check(&mut self) -> Result<Check, Fault> {
        let mut worst = 0.0_f64;
        let mut pool = self.pool.borrow_mut();
        for set in &mut self.sets {
            set.poison();
            if !set.stream(&mut pool, self.isa) {
                self.wrong += 1;
            }
            worst = worst.max(set.error());
        }
        let tolerance = match self.sets[0] {
            Arrays::Read { .. } | Arrays::Copy { .. } => 0.0,
            Arrays::Triad { .. } => TRIAD_TOLERANCE,
        };
        // The size of a wrong sum says nothing, so its error is infinite.
        let worst_error = if self.wrong > 0 { f64::INFINITY } else { worst };
        Ok(Check { worst_error, tolerance })
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn footprint(&self) -> Bytes {
        let arrays = match self.sets[0] {
            Arrays::Read { .. } => 1,
            Arrays::Copy { .. } => 2,
            Arrays::Triad { .. } => 3,
        };
        Bytes::new((self.array * arrays * self.sets.len() as u64) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Cache;

    fn task(kernel: Kernel) -> StreamTask {
        let pool = Rc::new(RefCell::new(Pool::new(Some(2))));
        StreamTask::new(pool, Isa::best(), &Work { kernel, cache: Cache::Cold, seed: 5 }, 2)
    }

    #[test]
    fn costs_and_footprints_by_hand() {
        for (kernel, bytes, flops, footprint) in [
            (Kernel::Read { bytes: 8192 }, 8192, 0, 16384),
            (Kernel::Copy { bytes: 8192 }, 16384, 0, 32768),
            (Kernel::Triad { bytes: 8192 }, 24576, 2048, 49152),
            // Arrays are whole pages.
            (Kernel::Read { bytes: 1 }, 4096, 0, 8192),
        ] {
            let task = task(kernel);
            let whole = |x: f64| format!("{x}").parse::<u64>().unwrap();
            let cost = task.cost();
            assert_eq!((whole(cost.bytes.get()), whole(cost.flops.get())), (bytes, flops));
            assert_eq!(whole(task.footprint().get()), footprint);
        }
    }

    #[test]
    fn a_corrupt_array_does_not_pass() {
        let mut read = task(Kernel::Read { bytes: 100_000 });
        assert!(read.check().unwrap().passed());
        if let Arrays::Read { words, .. } = &mut read.sets[1] {
            words[7] ^= 1;
        }
        assert!(!read.check().unwrap().passed());

        let mut copy = task(Kernel::Copy { bytes: 100_000 });
        assert!(copy.check().unwrap().passed());
        if let Arrays::Copy { to, .. } = &mut copy.sets[0] {
            to[3] = f64::NAN;
        }
        assert!(copy.sets[0].error().is_infinite());
        let mut triad = task(Kernel::Triad { bytes: 100_000 });
        assert!(triad.check().unwrap().passed());
        if let Arrays::Triad { to, .. } = &mut triad.sets[0] {
            to[3] += 1e-10;
        }
        assert!(triad.sets[0].error() > TRIAD_TOLERANCE);
    }

    #[test]
    fn turns_take_one_set_after_the_other() {
        let mut read = task(Kernel::Read { bytes: 100_000 });
        if let Arrays::Read { words, .. } = &mut read.sets[1] {
            words[7] ^= 1;
        }
        for (iteration, wrong) in [(0, 0), (1, 1), (2, 1), (3, 2)] {
            read.run(iteration).unwrap();
            assert_eq!(read.wrong, wrong, "iteration {iteration}");
        }
    }

    #[test]
    fn a_wrong_sum_while_timing_is_remembered() {
        let mut read = task(Kernel::Read { bytes: 100_000 });
        if let Arrays::Read { words, .. } = &mut read.sets[0] {
            words[7] ^= 1;
        }
        read.run(0).unwrap();
        if let Arrays::Read { words, .. } = &mut read.sets[0] {
            words[7] ^= 1;
        }
        assert!(!read.check().unwrap().passed());
    }
}
