//! Operands of a product of matrices in FP32 or FP16, and what the result must be.

use half::f16;

use super::gemv::{DISTINCT, normal, repeated, set, start};
use crate::backend::Fault;
use crate::compare::{Mismatch, compare_rounded};
use crate::cpu::buffer::{Buffer, Plain};
use crate::cpu::gemm::{Float, GemmDims, gemm_float, pitch};
use crate::cpu::threads::Pool;
use crate::pack::{Layout, Packed};
use crate::random::Random;
use crate::reference;

/// Tokens that differ; the others are the same again. A prime, as with rows.
pub(super) const TOKENS: usize = 5;
/// Terms at least that the library adds up before it rounds to the format of the result: its blocks along K (gemm 0.19).
const BLOCK: usize = 512;

/// FP32 and FP16.
pub(super) trait Real: Float + Plain {
    /// How weights of it are packed.
    const LAYOUT: Layout;
    /// What rounding to it changes, relative to the number; FP32 is counted with the sums.
    const ROUNDING: f64;
    const NAN: Self;
    fn rounded(value: f32) -> Self;
    fn wide(self) -> f32;
}

impl Real for f32 {
    const LAYOUT: Layout = Layout::Fp32;
    const ROUNDING: f64 = 0.0;
    const NAN: Self = Self::NAN;
    fn rounded(value: f32) -> Self {
        value
    }
    fn wide(self) -> f32 {
        self
    }
}

impl Real for f16 {
    const LAYOUT: Layout = Layout::Fp16;
    const ROUNDING: f64 = 1.0 / 2048.0;
    const NAN: Self = Self::NAN;
    fn rounded(value: f32) -> Self {
        Self::from_f32(value)
    }
    fn wide(self) -> f32 {
        self.to_f32()
    }
}

/// Operands, the result, and what it must be for every token that differs.
pub(super) struct FloatOperands<T: Real> {
    weights: Vec<Buffer<T>>,
    x: Buffer<T>,
    y: Vec<T>,
    expected: Vec<Expected>,
}

/// A row of the result, as far as rows of the weights differ.
struct Expected {
    product: reference::ReferenceResult,
    /// By how much rounding to the format of the result may change each value.
    rounding: Vec<f64>,
}

impl<T: Real> FloatOperands<T> {
    /// # Errors
    /// When a size cannot be packed.
    pub(super) fn new(
        pool: &mut Pool,
        seed: u64,
        shape: GemmDims,
        copies: u64,
    ) -> Result<Self, Fault> {
        let GemmDims { m, n, k } = shape;
        let mut random = Random::new(seed);
        let mut draw = |rows: usize, deviation| -> Vec<T> {
            normal(&mut random, rows * k, deviation).into_iter().map(T::rounded).collect()
        };
        let (rows, tokens) = (draw(n.min(DISTINCT), 0.02), draw(m.min(TOKENS), 1.0));
        let wide: Vec<f32> = rows.iter().map(|value| value.wide()).collect();
        let packed = Packed::encode(T::LAYOUT, &wide, k).ok().ok_or(Fault::Unsupported)?;
        let expected = tokens.chunks(k).map(|token| expected(&packed, token));
        let starts = (0..copies).map(|copy| start(copy, packed.rows()));
        Ok(Self {
            expected: expected.collect(),
            weights: starts.map(|start| filled(pool, &rows, start, k, n)).collect(),
            x: filled(pool, &tokens, 0, k, m),
            y: vec![T::NAN; m * n],
        })
    }

    pub(super) fn run(&mut self, pool: &mut Pool, shape: GemmDims, iteration: u64) {
        let which = set(iteration, self.weights.len());
        gemm_float(pool, shape, &self.x, &self.weights[which], &mut self.y);
    }

    /// Overwrites what a call must write.
    pub(super) fn poison(&mut self) {
        self.y.fill(T::NAN);
    }

    /// The greatest error of the set of that iteration, as a share of what it may be.
    pub(super) fn error(&self, n: usize, iteration: u64) -> f64 {
        let whole = |few: &Expected| {
            let copy = set(iteration, self.weights.len()) as u64;
            few.repeated(start(copy, few.rounding.len()), n)
        };
        let expected: Vec<Expected> = self.expected.iter().map(whole).collect();
        let tokens = self.y.chunks(n).zip(expected.iter().cycle());
        tokens.map(|(got, expected)| error(got, expected)).fold(0.0, f64::max)
    }

    #[cfg(test)]
    pub(super) fn expect_more(&mut self, of: f64) {
        self.expected[0].product.values[0] += of;
    }
}

impl Expected {
    /// For weights whose rows are those that differ, from `start` on and over and over.
    fn repeated(&self, start: usize, rows: usize) -> Self {
        let rounding = self.rounding.iter().copied().cycle().skip(start).take(rows);
        Self { product: repeated(&self.product, start, rows), rounding: rounding.collect() }
    }
}

/// So many rows of K, from `start` on and over and over, as far apart as products want them.
fn filled<T: Real>(
    pool: &mut Pool,
    values: &[T],
    start: usize,
    k: usize,
    rows: usize,
) -> Buffer<T> {
    let pitch = pitch::<T>(k);
    let between = vec![T::NAN; pitch - k];
    let apart: Vec<T> = values.chunks(k).flat_map(|row| [row, &between].concat()).collect();
    Buffer::filled(pool, pitch * rows, |first, part| {
        let again = apart.iter().cycle().skip((first + start * pitch) % apart.len());
        part.iter_mut().zip(again).for_each(|(to, value)| *to = *value);
    })
}

fn expected<T: Real>(packed: &Packed, token: &[T]) -> Expected {
    let token: Vec<f64> = token.iter().map(|value| f64::from(value.wide())).collect();
    let k = token.len();
    let product = reference::gemv(packed, &token);
    let roundings = T::ROUNDING * k.div_ceil(BLOCK) as f64;
    let sums = largest_sums(packed, &token).into_iter();
    Expected {
        // The library promises one sum per product, and not sixteen side by side.
        product: reference::ReferenceResult { terms: 16 * k, ..product },
        rounding: sums.map(|sum| roundings * sum).collect(),
    }
}

/// The largest that a sum is on its way along K, for each row: wherever it is rounded, it is not larger than that.
fn largest_sums(packed: &Packed, token: &[f64]) -> Vec<f64> {
    let mut row = vec![0.0; token.len()];
    let largest = |r| {
        packed.decode_row(r, &mut row);
        let products = row.iter().zip(token).map(|(w, x)| w * x);
        let sums = products.scan(0.0_f64, |sum, product| {
            *sum += product;
            Some(sum.abs())
        });
        sums.fold(0.0, f64::max)
    };
    (0..packed.rows()).map(largest).collect()
}

fn error<T: Real>(got: &[T], expected: &Expected) -> f64 {
    let got: Vec<f32> = got.iter().map(|value| value.wide()).collect();
    match compare_rounded(&got, &expected.product, &|index| expected.rounding[index]) {
        Ok(None) => 0.0,
        Ok(Some(worst)) => worst.error / worst.tolerance,
        // A NaN would be lost among numbers.
        Err(Mismatch::Element(worst)) if worst.error.is_finite() => worst.error / worst.tolerance,
        Err(_) => f64::INFINITY,
    }
}
