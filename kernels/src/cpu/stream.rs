//! Memory streams on one worker's part of the arrays: read, copy, triad, each for every instruction set and in plain Rust.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;

use super::isa::{Isa, Level};

/// Parts are multiples of this many bytes: the largest step of a kernel.
pub const STEP: usize = 1024;

/// Factor of the triad.
pub const FACTOR: f64 = 3.0;

/// Instruction set of the kernel that runs on a processor with `isa`.
pub(in crate::cpu) const fn level(isa: Isa) -> Level {
    match isa.level() {
        Level::Avx2 | Level::AvxVnni => Level::Avx2,
        Level::Avx512 | Level::Avx512Vnni => Level::Avx512,
        Level::Neon | Level::NeonDot => Level::Neon,
        Level::Portable => Level::Portable,
    }
}

/// Sums all words modulo 2⁶⁴. The sum does not depend on the order, so a skipped word is detected.
///
/// # Panics
/// When the part is not a multiple of [`STEP`] bytes.
pub fn read(isa: Isa, words: &[u64]) -> u64 {
    assert_steps(words);
    match level(isa) {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::read(words),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::read(words),
        #[cfg(target_arch = "aarch64")]
        Level::Neon => neon::read(words),
        _ => portable::read(words),
    }
}

/// Copies with non-temporal stores where the processor has them.
///
/// # Panics
/// When the parts differ in length or are not multiples of [`STEP`] bytes.
pub fn copy(isa: Isa, to: &mut [f64], from: &[f64]) {
    assert_steps(to);
    assert_eq!(to.len(), from.len(), "parts of one length");
    match level(isa) {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::copy(to, from),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::copy(to, from),
        #[cfg(target_arch = "aarch64")]
        Level::Neon => neon::copy(to, from),
        _ => portable::copy(to, from),
    }
}

/// Computes `to = b + FACTOR · c` with non-temporal stores where the processor has them.
///
/// # Panics
/// When the parts differ in length or are not multiples of [`STEP`] bytes.
pub fn triad(isa: Isa, to: &mut [f64], b: &[f64], c: &[f64]) {
    assert_steps(to);
    assert!(to.len() == b.len() && to.len() == c.len(), "parts of one length");
    match level(isa) {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => avx512::triad(to, b, c),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::triad(to, b, c),
        #[cfg(target_arch = "aarch64")]
        Level::Neon => neon::triad(to, b, c),
        _ => portable::triad(to, b, c),
    }
}

fn assert_steps<T>(part: &[T]) {
    assert!(size_of_val(part).is_multiple_of(STEP), "a part is whole steps of {STEP} bytes");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::buffer::Buffer;
    use crate::cpu::threads::Pool;
    use crate::random::Random;

    /// Steps per part: boundary cases of the unrolling, and many.
    const STEPS: [usize; 6] = [0, 1, 2, 3, 4, 129];

    fn buffer(pool: &mut Pool, len: usize, seed: u64) -> Buffer<f64> {
        Buffer::filled(pool, len, |first, part| {
            let mut random = Random::new(seed + first as u64);
            part.fill_with(|| random.normal());
        })
    }

    #[test]
    fn every_instruction_set_reads_all_words_once() {
        let mut pool = Pool::new(Some(1));
        for steps in STEPS {
            let len = steps * STEP / 8;
            let words = Buffer::<u64>::filled(&mut pool, len, |_, part| {
                let mut random = Random::new(3);
                part.fill_with(|| random.bits());
            });
            let expected = words.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word));
            for isa in Isa::available() {
                assert_eq!(read(isa, &words), expected, "{} {steps}", isa.level());
            }
        }
    }

    #[test]
    fn every_instruction_set_copies_and_adds_to_the_bit() {
        let mut pool = Pool::new(Some(1));
        for steps in STEPS {
            let len = steps * STEP / 8;
            let (b, c) = (buffer(&mut pool, len, 1), buffer(&mut pool, len, 2));
            for isa in Isa::available() {
                let mut to = Buffer::<f64>::zeroed(&mut pool, len);
                copy(isa, &mut to, &b);
                assert!(to.iter().zip(&*b).all(|(x, y)| x.to_bits() == y.to_bits()));
                triad(isa, &mut to, &b, &c);
                for i in 0..len {
                    // With and without an intermediate rounding.
                    let (fused, plain) = (FACTOR.mul_add(c[i], b[i]), b[i] + FACTOR * c[i]);
                    let got = to[i].to_bits();
                    assert!(got == fused.to_bits() || got == plain.to_bits(), "{}", isa.level());
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "whole steps")]
    fn a_part_that_no_kernel_can_finish_is_refused() {
        read(Isa::PORTABLE, &[0; 5]);
    }
}
