//! Tasks of the operators that stream: add and norm, rotary positions, gate. They rotate over sets of arrays, whose rows repeat a few
//! distinct ones.

use std::cell::RefCell;
use std::rc::Rc;

use calc_core::math::pow;
use calc_core::units::Bytes;

use crate::backend::{Check, Cost, Fault, RopeSizes, RowSizes, Task, Work};
use crate::cpu::buffer::Buffer;
use crate::cpu::isa::Isa;
use crate::cpu::lanes::Stored;
use crate::cpu::launch::{CarrierLaunch, GateBuffers, NormBuffers, RopeBuffers};
use crate::cpu::threads::Pool;
use crate::distinct::{DISTINCT, EPSILON, ROPE, set, start};
use crate::random::Random;
use crate::reference::layer::{Bounded, added, gated, normalized, rotated};

/// Sets of arrays, and what is expected of them.
pub(in crate::cpu) struct RowTask<T: CarrierLaunch> {
    pool: Rc<RefCell<Pool>>,
    isa: Isa,
    operator: Operator<T>,
    rows: DistinctRows<T>,
    cost: Cost,
}

/// The operator with its arrays.
enum Operator<T: CarrierLaunch> {
    Norm { sets: Vec<[Buffer<T>; 3]>, weights: Vec<f32>, few: Vec<[Bounded; 2]> },
    Rope { sets: Vec<Buffer<T>>, cosines: Vec<f32>, sines: Vec<f32>, tokens: usize },
    Gate { sets: Vec<[Buffer<T>; 3]>, few: Vec<Bounded> },
}

/// Distinct rows of two arrays; row r of a copy repeats one of them.
struct DistinctRows<T> {
    width: usize,
    first: Vec<T>,
    second: Vec<T>,
}

impl<T: Stored> DistinctRows<T> {
    #[expect(clippy::cast_possible_truncation, reason = "any number near it will do")]
    fn new(seed: u64, width: usize) -> Self {
        let mut random = Random::new(seed);
        let mut draw = || -> Vec<T> {
            let mut one = || T::nearest((4.0 * random.uniform() - 2.0) as f32);
            (0..DISTINCT * width).map(|_| one()).collect()
        };
        Self { width, first: draw(), second: draw() }
    }

    /// Index of the distinct row that row `row` of a copy repeats.
    const fn which(copy: u64, row: usize) -> usize {
        (row + start(copy, DISTINCT)) % DISTINCT
    }

    fn wide(&self, of: &[T], which: usize) -> Vec<f64> {
        of[which * self.width..][..self.width].iter().map(|x| f64::from(x.wide())).collect()
    }

    /// Writes a part of a copy, from element `at` on.
    fn write(&self, of: &[T], copy: u64, mut at: usize, mut part: &mut [T]) {
        while !part.is_empty() {
            let row = &of[Self::which(copy, at / self.width) * self.width..][..self.width];
            let from = &row[at % self.width..];
            let len = from.len().min(part.len());
            let (now, later) = part.split_at_mut(len);
            now.copy_from_slice(&from[..len]);
            (part, at) = (later, at + len);
        }
    }

    fn buffer(&self, pool: &mut Pool, of: &[T], copy: u64, rows: usize) -> Buffer<T> {
        let fill = |first, part: &mut [T]| self.write(of, copy, first, part);
        Buffer::filled(pool, rows * self.width, fill)
    }
}

/// Expected values, where the kernel rounds to `T`.
fn rounded<T: Stored>(right: Bounded) -> Bounded {
    if T::FLOAT.bytes() == 2 { right.rounded_to_half() } else { right }
}

fn error<T: Stored>(right: &Bounded, got: &[T]) -> f64 {
    right.error(got.iter().map(|value| value.wide()))
}

fn size(n: u64) -> Result<usize, Fault> {
    usize::try_from(n).ok().ok_or(Fault::Unsupported)
}

impl<T: CarrierLaunch> RowTask<T> {
    /// Add and norm.
    ///
    /// # Errors
    /// When there is no such problem, or it exceeds the address space.
    pub(in crate::cpu) fn norm(
        pool: Rc<RefCell<Pool>>,
        isa: Isa,
        work: &Work,
        sizes: RowSizes,
        copies: u64,
    ) -> Result<Self, Fault> {
        let (tokens, rows) = Self::rows(work, &sizes)?;
        let mut random = Random::new(work.seed.wrapping_add(1));
        #[expect(clippy::cast_possible_truncation, reason = "any number near it will do")]
        let weights: Vec<f32> = (0..rows.width).map(|_| (0.5 + random.uniform()) as f32).collect();
        let wide: Vec<f64> = weights.iter().map(|weight| f64::from(*weight)).collect();
        let few = (0..DISTINCT).map(|which| {
            let sum = added(&rows.wide(&rows.first, which), &rows.wide(&rows.second, which));
            // The kernel normalizes the sum as it is stored.
            #[expect(clippy::cast_possible_truncation, reason = "rounded to FP32 first, as there")]
            let stored = sum.values.iter().map(|x| f64::from(T::nearest(*x as f32).wide()));
            let norm = normalized(&stored.collect::<Vec<f64>>(), &wide, f64::from(EPSILON));
            [rounded::<T>(sum), rounded::<T>(norm)]
        });
        let few = few.collect();
        let sets = Self::sets(&mut pool.borrow_mut(), &rows, tokens, copies);
        let operator = Operator::Norm { sets, weights, few };
        Ok(Self { pool, isa, operator, rows, cost: sizes.norm_cost().into() })
    }

    /// Gated activation.
    ///
    /// # Errors
    /// Sizes that no kernel has, or that do not fit an address space.
    pub(in crate::cpu) fn gate(
        pool: Rc<RefCell<Pool>>,
        isa: Isa,
        work: &Work,
        sizes: RowSizes,
        copies: u64,
    ) -> Result<Self, Fault> {
        let (tokens, rows) = Self::rows(work, &sizes)?;
        let few = (0..DISTINCT).map(|which| {
            let right = gated(&rows.wide(&rows.first, which), &rows.wide(&rows.second, which));
            rounded::<T>(right)
        });
        let few = few.collect();
        let sets = Self::sets(&mut pool.borrow_mut(), &rows, tokens, copies);
        let operator = Operator::Gate { sets, few };
        Ok(Self { pool, isa, operator, rows, cost: sizes.gate_cost().into() })
    }

    /// Rotary positions.
    ///
    /// # Errors
    /// Sizes that no kernel has, or that do not fit an address space.
    pub(in crate::cpu) fn rope(
        pool: Rc<RefCell<Pool>>,
        isa: Isa,
        work: &Work,
        sizes: RopeSizes,
        copies: u64,
    ) -> Result<Self, Fault> {
        size(sizes.bytes())?;
        if !sizes.is_possible() {
            return Err(Fault::Unsupported);
        }
        let (tokens, head_dim) = (size(sizes.tokens)?, size(sizes.head_dim)?);
        let rows = DistinctRows::new(work.seed, head_dim);
        let heads = tokens * size(sizes.heads)?;
        let buffer = |copy| rows.buffer(&mut pool.borrow_mut(), &rows.first, copy, heads);
        let sets = (0..copies).map(buffer).collect();
        let (cosines, sines) = angles(tokens, head_dim);
        let operator = Operator::Rope { sets, cosines, sines, tokens };
        Ok(Self { pool, isa, operator, rows, cost: sizes.cost().into() })
    }

    fn rows(work: &Work, sizes: &RowSizes) -> Result<(usize, DistinctRows<T>), Fault> {
        size(sizes.bytes())?;
        if !sizes.is_possible() {
            return Err(Fault::Unsupported);
        }
        Ok((size(sizes.tokens)?, DistinctRows::new(work.seed, size(sizes.width)?)))
    }

    /// Two arrays of rows and one for the result, per copy.
    fn sets(
        pool: &mut Pool,
        rows: &DistinctRows<T>,
        tokens: usize,
        copies: u64,
    ) -> Vec<[Buffer<T>; 3]> {
        let mut set = |copy| {
            let first = rows.buffer(pool, &rows.first, copy, tokens);
            let second = rows.buffer(pool, &rows.second, copy, tokens);
            [first, second, Buffer::zeroed(pool, tokens * rows.width)]
        };
        (0..copies).map(&mut set).collect()
    }

    fn copies(&self) -> usize {
        match &self.operator {
            Operator::Norm { sets, .. } | Operator::Gate { sets, .. } => sets.len(),
            Operator::Rope { sets, .. } => sets.len(),
        }
    }

    /// Restores what calls change in place, and overwrites results with NaN, so that an unwritten value is detected.
    fn restore(&mut self, copy: usize) {
        let rows = &self.rows;
        match &mut self.operator {
            Operator::Norm { sets, .. } => {
                let [residual, _, output] = &mut sets[copy];
                rows.write(&rows.first, copy as u64, 0, residual);
                output.fill(T::NAN);
            }
            Operator::Rope { sets, .. } => {
                rows.write(&rows.first, copy as u64, 0, &mut sets[copy]);
            }
            Operator::Gate { sets, .. } => sets[copy][2].fill(T::NAN),
        }
    }

    /// Largest error over tolerance of a copy after one call since it was restored.
    fn error(&self, copy: usize) -> f64 {
        let (rows, width) = (&self.rows, self.rows.width);
        let which = |row| DistinctRows::<T>::which(copy as u64, row);
        let mut worst = 0.0_f64;
        match &self.operator {
            Operator::Norm { sets, few, .. } => {
                let [sums, _, norms] = &sets[copy];
                for (row, (sum, norm)) in sums.chunks(width).zip(norms.chunks(width)).enumerate() {
                    let right = &few[which(row)];
                    worst = worst.max(error(&right[0], sum)).max(error(&right[1], norm));
                }
            }
            Operator::Rope { sets, cosines, sines, tokens } => {
                let half = width / 2;
                let per_token = sets[copy].len() / width / tokens;
                let wide = |angles: &[f32]| angles.iter().map(|x| f64::from(*x)).collect();
                for (row, got) in sets[copy].chunks(width).enumerate() {
                    let place = row / per_token * half;
                    let cos: Vec<f64> = wide(&cosines[place..][..half]);
                    let sin: Vec<f64> = wide(&sines[place..][..half]);
                    let right = rotated(&rows.wide(&rows.first, which(row)), &cos, &sin);
                    worst = worst.max(error(&rounded::<T>(right), got));
                }
            }
            Operator::Gate { sets, few } => {
                for (row, got) in sets[copy][2].chunks(width).enumerate() {
                    worst = worst.max(error(&few[which(row)], got));
                }
            }
        }
        worst
    }
}

/// Cosines and sines of the angles of tokens at consecutive positions, half a head each.
#[expect(clippy::cast_possible_truncation, reason = "between −1 and 1")]
fn angles(tokens: usize, head_dim: usize) -> (Vec<f32>, Vec<f32>) {
    let (base, first) = ROPE;
    let half = head_dim / 2;
    let angle = move |token: usize, i: usize| {
        (first + token as f64) * pow(base, -2.0 * i as f64 / head_dim as f64)
    };
    let all = (0..tokens).flat_map(move |token| (0..half).map(move |i| angle(token, i)));
    all.map(|angle| (angle.cos() as f32, angle.sin() as f32)).unzip()
}

impl<T: CarrierLaunch> Task for RowTask<T> {
    fn run(&mut self, iteration: u64) -> Result<(), Fault> {
        let which = set(iteration, self.copies());
        let head_dim = self.rows.width;
        let launch = match &mut self.operator {
            Operator::Norm { sets, weights, .. } => {
                let [residual, branch, output] = &mut sets[which];
                T::norm(NormBuffers { residual, branch, weights, epsilon: EPSILON, output })
            }
            Operator::Rope { sets, cosines, sines, tokens } => {
                let (heads, tokens) = (&mut *sets[which], *tokens);
                T::rope(RopeBuffers { heads, cosines, sines, tokens, head_dim })
            }
            Operator::Gate { sets, .. } => {
                let [gate, up, output] = &mut sets[which];
                T::gate(GateBuffers { gate, up, output })
            }
        };
        launch.run(self.isa, &mut self.pool.borrow_mut());
        Ok(())
    }

    fn synchronize(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    /// The error is relative to the rounding bound, so the tolerance is 1.
    fn check(&mut self) -> Result<Check, Fault> {
        Check::worst_of(1.0, self.copies() as u64, |copy| {
            let which = usize::try_from(copy).expect("fewer copies than addresses");
            self.restore(which);
            self.run(copy)?;
            Ok(self.error(which))
        })
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn footprint(&self) -> Bytes {
        let elements: usize = match &self.operator {
            Operator::Norm { sets, .. } | Operator::Gate { sets, .. } => {
                sets.iter().flatten().map(|it| it.len()).sum()
            }
            Operator::Rope { sets, .. } => sets.iter().map(|it| it.len()).sum(),
        };
        Bytes::new((elements * size_of::<T>()) as f64)
    }
}

#[cfg(test)]
mod tests;
