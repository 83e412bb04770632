//! A vector as an array, which the compiler vectorizes for the target's baseline.
#![expect(clippy::inline_always, reason = "as in the parent module")]

use half::{bf16, f16};

use super::Lanes;
use crate::pack::minifloat::{E4M3, Fp8};

const WIDTH: usize = 8;
/// 1.5 · 2²³: adding it moves the whole part of a number to the lowest bits.
const SHIFT: f32 = 12_582_912.0;

#[derive(Debug, Clone, Copy)]
pub(super) struct Array([f32; WIDTH]);

impl Array {
    #[inline(always)]
    fn with(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self;
        for (out, other) in out.0.iter_mut().zip(other.0) {
            *out = f(*out, other);
        }
        out
    }
}

impl Lanes for Array {
    const WIDTH: usize = WIDTH;
    const HAS_MANY: bool = false;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; WIDTH])
    }

    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        Self(*from.first_chunk().expect("a whole vector"))
    }

    #[inline(always)]
    fn load_f16(from: &[f16]) -> Self {
        Self(from.first_chunk::<WIDTH>().expect("a whole vector").map(f16::to_f32))
    }

    #[inline(always)]
    fn load_bf16(from: &[bf16]) -> Self {
        Self(from.first_chunk::<WIDTH>().expect("a whole vector").map(bf16::to_f32))
    }

    #[inline(always)]
    fn load_e4m3(from: &[Fp8]) -> Self {
        Self(from.first_chunk::<WIDTH>().expect("a whole vector").map(|code| E4M3.decode(code.0)))
    }

    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        to[..WIDTH].copy_from_slice(&self.0);
    }

    #[inline(always)]
    fn store_f16(self, to: &mut [f16]) {
        to[..WIDTH].copy_from_slice(&self.0.map(f16::from_f32));
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.with(other, |a, b| a / b)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.with(other, |a, b| if a < b { a } else { b })
    }

    /// Two steps where the baseline has no such instruction and a call of the library would be slow.
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        if cfg!(target_arch = "aarch64") {
            let mut out = self;
            for ((out, factor), addend) in out.0.iter_mut().zip(factor.0).zip(addend.0) {
                *out = out.mul_add(factor, addend);
            }
            return out;
        }
        self.mul(factor).add(addend)
    }

    #[inline(always)]
    fn round(self) -> Self {
        self.add(Self::splat(SHIFT)).sub(Self::splat(SHIFT))
    }

    #[inline(always)]
    fn times_two_to(self, power: Self) -> Self {
        self.with(power, |value, power| {
            f32::from_bits(value.to_bits().wrapping_add((power + SHIFT).to_bits() << 23))
        })
    }

    #[inline(always)]
    fn sum(self) -> f32 {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }

    #[inline(always)]
    fn sums(four: [Self; 4]) -> [f32; 4] {
        four.map(Self::sum)
    }

    #[inline(always)]
    fn largest(self) -> f32 {
        self.0
            .iter()
            .fold(f32::NEG_INFINITY, |most, value| if *value > most { *value } else { most })
    }
}
