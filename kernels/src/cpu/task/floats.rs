//! GEMM operands in FP32 or FP16, and the reference result.

use half::f16;

use crate::backend::Fault;
use crate::compare::{Mismatch, compare_rounded};
use crate::cpu::buffer::Buffer;
use crate::cpu::gemm::{GemmDims, pitch};
use crate::cpu::launch::{CarrierLaunch, GemmBuffers, Launch};
use crate::cpu::threads::Pool;
use crate::distinct::{DISTINCT, normal, repeated, set, start};
use crate::pack::{Layout, Packed};
use crate::random::Random;
use crate::reference;

/// Distinct tokens; further tokens repeat them. A prime, as for rows.
pub(super) const TOKENS: usize = 5;
/// Fewest terms that the library accumulates before it rounds to the result format: its block along K (gemm 0.19).
const BLOCK: usize = 512;

/// Element types: FP32 and FP16.
pub(super) trait Real: CarrierLaunch {
    /// Packed layout of this element type.
    const LAYOUT: Layout;
    /// Relative rounding error of this type; 0 for FP32, whose rounding is in the tolerance of the sum.
    const ROUNDING: f64;
}

impl Real for f32 {
    const LAYOUT: Layout = Layout::Fp32;
    const ROUNDING: f64 = 0.0;
}

impl Real for f16 {
    const LAYOUT: Layout = Layout::Fp16;
    const ROUNDING: f64 = 1.0 / 2048.0;
}

/// Operands, result, and the expected result of every distinct token.
pub(super) struct FloatOperands<T: Real> {
    weights: Vec<Buffer<T>>,
    x: Buffer<T>,
    y: Vec<T>,
    expected: Vec<Expected>,
}

/// Expected result of one token for the distinct rows of the weights.
struct Expected {
    product: reference::ReferenceResult,
    /// Additional tolerance of each value, from rounding to the result format.
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
            normal(&mut random, rows * k, deviation).into_iter().map(T::nearest).collect()
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

    pub(super) fn launch(&mut self, shape: GemmDims, iteration: u64) -> Launch<'_> {
        let which = set(iteration, self.weights.len());
        T::gemm(GemmBuffers { shape, x: &self.x, w: &self.weights[which], y: &mut self.y })
    }

    /// Overwrites the result with NaN, so that an unwritten value is detected.
    pub(super) fn poison(&mut self) {
        self.y.fill(T::NAN);
    }

    /// Largest error over tolerance of this iteration's result.
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
    /// Repeats the result for `rows` rows of weights, beginning with distinct row `start`.
    fn repeated(&self, start: usize, rows: usize) -> Self {
        let rounding = self.rounding.iter().copied().cycle().skip(start).take(rows);
        Self { product: repeated(&self.product, start, rows), rounding: rounding.collect() }
    }
}

/// A buffer of `rows` rows that repeat `values` beginning with row `start`, one [`pitch`] apart.
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
        // The library guarantees one accumulator, not sixteen.
        product: reference::ReferenceResult { terms: 16 * k, ..product },
        rounding: sums.map(|sum| roundings * sum).collect(),
    }
}

/// Largest partial sum along K of each row: a bound on every intermediate rounding.
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
        // `f64::max` drops NaN, so NaN is reported as infinity.
        Err(Mismatch::Element(worst)) if worst.error.is_finite() => worst.error / worst.tolerance,
        Err(_) => f64::INFINITY,
    }
}
