//! Peak arithmetic: independent chains of multiply-adds in registers, without memory access.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use super::isa::{Isa, Level};

/// Parallelism of a peak kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainShape {
    /// Independent dependency chains.
    pub chains: usize,
    /// Multiply-adds in one step of a chain.
    pub lanes: usize,
}

impl ChainShape {
    /// FLOP (or integer operations) of that many rounds; a multiply-add counts 2.
    pub const fn operations(self, rounds: u64) -> u64 {
        2 * rounds * (self.chains * self.lanes) as u64
    }
}

/// Factor of an FP32 step, x ← x·A + B. It is so close to 1 that the start value still matters after a hundred thousand steps,
/// so a kernel that skips steps is detected.
const A: f32 = 1.0 - 1.0 / 1_048_576.0;
/// Addend of an FP32 step.
const B: f32 = 1.0 / 2_097_152.0;

/// Start value of a chain.
fn start(chain: usize) -> f32 {
    1.0 + u8::try_from(chain).map_or(0.0, f32::from) / 32.0
}

/// Chains and lanes of the FP32 kernel on an instruction set.
pub const fn fma_shape(isa: Isa) -> ChainShape {
    match isa.level() {
        Level::Portable => portable::FMA,
        Level::Avx2 | Level::AvxVnni => ChainShape { chains: 12, lanes: 8 },
        Level::Avx512 | Level::Avx512Vnni => ChainShape { chains: 12, lanes: 16 },
        Level::Neon | Level::NeonDot => ChainShape { chains: 20, lanes: 4 },
    }
}

/// Instruction set of the FP32 kernel that runs on a processor with `isa`; equal to that of the streams.
pub(in crate::cpu) use super::stream::level as fma_level;

/// Runs the FP32 chains and returns the sum over all lanes.
pub fn fma(isa: Isa, rounds: u64) -> f64 {
    match fma_level(isa) {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::fma(rounds),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::fma(rounds),
        #[cfg(target_arch = "aarch64")]
        Level::Neon => neon::fma(rounds),
        _ => portable::fma(rounds),
    }
}

/// Expected result of [`fma`], computed step by step.
pub fn fma_reference(isa: Isa, rounds: u64) -> f64 {
    let fused = isa.level() != Level::Portable;
    let step = |x: f32| if fused { x.mul_add(A, B) } else { x * A + B };
    let shape = fma_shape(isa);
    let end = |chain| (0..rounds).fold(start(chain), |x, _| step(x));
    (0..shape.chains).map(|chain| f64::from(end(chain)) * shape.lanes as f64).sum()
}

/// Operands: `unsigned` at most 127 and `signed` at least −64, so that a sum of two products fits into 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DotInput {
    /// Factors from 0 to 127.
    pub unsigned: [u8; 64],
    /// Factors from −64 to 63.
    pub signed: [i8; 64],
}

/// Chains and lanes of the INT8 kernel, with INT32 accumulation, on an instruction set.
pub const fn dot_shape(isa: Isa) -> ChainShape {
    match isa.level() {
        Level::Portable => portable::DOT,
        Level::Avx2 | Level::AvxVnni => ChainShape { chains: 12, lanes: 32 },
        Level::Avx512 | Level::Avx512Vnni => ChainShape { chains: 12, lanes: 64 },
        Level::Neon | Level::NeonDot => ChainShape { chains: 20, lanes: 16 },
    }
}

/// Runs the INT8 chains and returns the sum over all lanes.
pub fn dot(isa: Isa, input: &DotInput, rounds: u64) -> i64 {
    match isa.level() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512Vnni => avx512::dot(input, rounds),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::dot_by_maddubs(input, rounds),
        #[cfg(target_arch = "x86_64")]
        Level::AvxVnni => avx2::dot(input, rounds),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::dot_by_maddubs(input, rounds),
        #[cfg(target_arch = "aarch64")]
        Level::NeonDot => neon::dot(input, rounds),
        #[cfg(target_arch = "aarch64")]
        Level::Neon => neon::dot_by_mull(input, rounds),
        _ => portable::dot(input, rounds),
    }
}

/// Expected result of [`dot`], provided that no accumulator exceeds 31 bits.
pub fn dot_reference(isa: Isa, input: &DotInput, rounds: u64) -> i64 {
    let shape = dot_shape(isa);
    let pairs = input.unsigned.iter().zip(&input.signed).take(shape.lanes);
    let once: i64 = pairs.map(|(u, s)| i64::from(*u) * i64::from(*s)).sum();
    once * (shape.chains as u64 * rounds).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn input() -> DotInput {
        let mut random = Random::new(9);
        let mut input = DotInput { unsigned: [0; 64], signed: [0; 64] };
        input.unsigned.fill_with(|| (random.bits() >> 57) as u8);
        input.signed.fill_with(|| ((random.bits() >> 57) as i8) - 64);
        input
    }

    #[test]
    fn every_instruction_set_multiplies_and_adds_to_the_bit() {
        for isa in Isa::available() {
            for rounds in [0, 1, 2, 1000, 100_000] {
                let (got, expected) = (fma(isa, rounds), fma_reference(isa, rounds));
                assert!(
                    (got - expected).abs() < 1e-9,
                    "{} {rounds}: {got} {expected}",
                    isa.level()
                );
            }
        }
    }

    #[test]
    fn a_skipped_step_changes_the_sum() {
        for isa in Isa::available() {
            let (got, short) = (fma(isa, 100_000), fma_reference(isa, 99_999));
            assert!((got - short).abs() > 1e-6, "{}", isa.level());
        }
    }

    #[test]
    fn every_instruction_set_multiplies_bytes_exactly() {
        for isa in Isa::available() {
            for rounds in [0, 1, 7, 10_000] {
                let (got, expected) =
                    (dot(isa, &input(), rounds), dot_reference(isa, &input(), rounds));
                assert_eq!(got, expected, "{} {rounds}", isa.level());
            }
        }
    }

    #[test]
    fn operations_by_hand() {
        // 12 chains of 16 lanes: 384 FLOP per round.
        assert_eq!(ChainShape { chains: 12, lanes: 16 }.operations(10), 3840);
    }
}
