//! Vectors of FP32 numbers, so that a kernel is written once and compiled for every instruction set: AVX2, AVX-512, and plain arrays
//! that the compiler vectorizes for the target's baseline (SSE2, NEON).
#![expect(
    clippy::inline_always,
    reason = "a kernel is compiled for an instruction set, and only inside its caller it has the features"
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use half::{bf16, f16};

use super::buffer::Plain;
use super::isa::{Isa, Level};
use crate::backend::StoredFloat;
use crate::pack::minifloat::{E4M3, Fp8};

/// Most lanes of a vector.
pub(super) const MOST: usize = 16;

/// A vector. Loads and stores touch the first [`Lanes::WIDTH`] elements of a slice, which has at least as many.
pub(super) trait Lanes: Copy {
    const WIDTH: usize;
    /// Whether there are 32 registers instead of 16.
    const HAS_MANY: bool;
    fn splat(value: f32) -> Self;
    fn load(from: &[f32]) -> Self;
    fn load_f16(from: &[f16]) -> Self;
    fn load_bf16(from: &[bf16]) -> Self;
    fn load_e4m3(from: &[Fp8]) -> Self;
    fn store(self, to: &mut [f32]);
    fn store_f16(self, to: &mut [f16]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// The larger of two numbers per lane.
    fn max(self, other: Self) -> Self;
    /// The smaller of two numbers per lane.
    fn min(self, other: Self) -> Self;
    /// `self · factor + addend`, rounded once where the processor has such an instruction.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// Nearest whole number, of numbers below 2²².
    fn round(self) -> Self;
    /// `self · 2^power` for whole powers whose results are normal numbers.
    fn times_two_to(self, power: Self) -> Self;
    /// Sum over the lanes.
    fn sum(self) -> f32;
    /// Sums of four vectors, which take fewer instructions together.
    fn sums(four: [Self; 4]) -> [f32; 4];
    /// Largest lane.
    fn largest(self) -> f32;
}

/// A number as it is stored.
pub(super) trait Stored: Plain {
    const FLOAT: StoredFloat;
    const ZERO: Self;
    /// A vector of the first elements.
    fn load<L: Lanes>(from: &[Self]) -> L;
    /// The nearest stored number.
    fn nearest(value: f32) -> Self;
    fn wide(self) -> f32;

    /// Up to a vector of elements; zeros in the other lanes.
    #[inline(always)]
    fn load_some<L: Lanes>(from: &[Self]) -> L {
        if from.len() >= L::WIDTH {
            return Self::load(from);
        }
        let mut whole = [Self::ZERO; MOST];
        whole[..from.len()].copy_from_slice(from);
        Self::load(&whole)
    }
}

/// A number that kernels write.
pub(super) trait Carried: Stored {
    const NAN: Self;
    fn store<L: Lanes>(values: L, to: &mut [Self]);

    /// Stores as many lanes as there is room for.
    #[inline(always)]
    fn store_some<L: Lanes>(values: L, to: &mut [Self]) {
        if to.len() >= L::WIDTH {
            return Self::store(values, to);
        }
        let mut whole = [Self::ZERO; MOST];
        Self::store(values, &mut whole);
        to.copy_from_slice(&whole[..to.len()]);
    }
}

macro_rules! stored {
    ($($number:ty, $float:ident, $zero:expr, $load:ident, $nearest:expr, $wide:expr;)*) => {
        $(impl Stored for $number {
            const FLOAT: StoredFloat = StoredFloat::$float;
            const ZERO: Self = $zero;
            #[inline(always)]
            fn load<L: Lanes>(from: &[Self]) -> L {
                L::$load(from)
            }
            fn nearest(value: f32) -> Self {
                $nearest(value)
            }
            fn wide(self) -> f32 {
                $wide(self)
            }
        })*
    };
}

stored! {
    f32, Fp32, 0.0, load, |value| value, |value| value;
    f16, Fp16, f16::ZERO, load_f16, f16::from_f32, f16::to_f32;
    bf16, Bf16, bf16::ZERO, load_bf16, bf16::from_f32, bf16::to_f32;
    Fp8, Fp8E4m3, Fp8(0), load_e4m3, |value| Fp8(E4M3.encode(value)), |code: Fp8| E4M3.decode(code.0);
}

impl Carried for f32 {
    const NAN: Self = Self::NAN;
    #[inline(always)]
    fn store<L: Lanes>(values: L, to: &mut [Self]) {
        values.store(to);
    }
}

impl Carried for f16 {
    const NAN: Self = Self::NAN;
    #[inline(always)]
    fn store<L: Lanes>(values: L, to: &mut [Self]) {
        values.store_f16(to);
    }
}

/// A kernel that is compiled for every instruction set; `run` is inlined, with all that it calls.
pub(super) trait VectorKernel {
    fn run<L: Lanes>(self);
}

/// Runs a kernel with the vectors of an instruction set.
pub(super) fn run(isa: Isa, kernel: impl VectorKernel) {
    match level(isa) {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::run(kernel),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::run(kernel),
        _ => kernel.run::<portable::Array>(),
    }
}

/// Instruction set of the vectors on a processor with `isa`.
pub(super) const fn level(isa: Isa) -> Level {
    match isa.level() {
        Level::Avx2 | Level::AvxVnni => Level::Avx2,
        Level::Avx512 | Level::Avx512Vnni => Level::Avx512,
        Level::Portable | Level::Neon | Level::NeonDot => Level::Portable,
    }
}

/// Range of [`exp`]: results are normal numbers, and beyond it those of its ends.
const EXP_RANGE: (f32, f32) = (-87.0, 88.0);

/// e^x with a relative error of about 2⁻²³: x = n · ln 2 + r, and a polynomial of degree 7 in r, with the coefficients of the Cephes
/// library's `expf`.
#[inline(always)]
pub(super) fn exp<L: Lanes>(x: L) -> L {
    let x = x.max(L::splat(EXP_RANGE.0)).min(L::splat(EXP_RANGE.1));
    let n = x.mul(L::splat(std::f32::consts::LOG2_E)).round();
    // ln 2 in two parts, of which the first has few bits, so that its product with n is exact.
    let r = n.mul_add(L::splat(-355.0 / 512.0), x);
    let r = n.mul_add(L::splat(2.121_944_4e-4), r);
    let mut y = L::splat(1.987_569_1e-4);
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        y = y.mul_add(r, L::splat(coefficient));
    }
    let y = y.mul_add(r.mul(r), r).add(L::splat(1.0));
    y.times_two_to(n)
}

/// e^x of one number, at most 0; 0 where the result would not be a normal number.
#[expect(clippy::cast_possible_truncation, reason = "a weight between 0 and 1")]
pub(super) fn exp_of(x: f32) -> f32 {
    if x < EXP_RANGE.0 { 0.0 } else { calc_core::math::exp(f64::from(x)) as f32 }
}

#[cfg(test)]
mod tests;
