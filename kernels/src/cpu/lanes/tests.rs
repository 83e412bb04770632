//! Vectors of every instruction set against scalar arithmetic.

use super::*;
use crate::random::Random;

/// Inputs and results of one operation, sixteen at a time.
struct Case<'a, T> {
    x: &'a [T],
    y: &'a mut [f32],
    what: Operation,
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    Load,
    Exp,
    Round,
    /// Sum and largest of a vector, in every lane of the result: the larger one is in odd lanes.
    Fold,
    /// x · 2 + x / 2 − min(x, 1) + max(x, 1).
    Mixed,
}

impl<T: Stored> VectorKernel for Case<'_, T> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (x, y) in self.x.chunks(L::WIDTH).zip(self.y.chunks_mut(L::WIDTH)) {
            let x: L = T::load_some(x);
            let (two, one) = (L::splat(2.0), L::splat(1.0));
            let result = match self.what {
                Operation::Load => x,
                Operation::Exp => exp(x),
                Operation::Round => x.round(),
                Operation::Fold => {
                    y.fill(x.sum());
                    let [one, three, none, half] =
                        L::sums([x, x.add(x).add(x), L::splat(0.0), x.div(two)]);
                    let same = |a: f32, b: f32| (a - b).abs() <= 1e-5 * (1.0 + b.abs());
                    let sum = x.sum();
                    assert!(same(one, sum) && same(three, 3.0 * sum) && same(half, sum / 2.0));
                    assert_eq!(none.to_bits(), 0);
                    y.iter_mut().skip(1).step_by(2).for_each(|y| *y = x.largest());
                    continue;
                }
                Operation::Mixed => {
                    x.mul_add(two, x.div(two)).sub(x.min(one)).add(x.max(one).mul(one))
                }
            };
            f32::store_some(result, y);
        }
    }
}

fn results<T: Stored>(isa: Isa, x: &[T], what: Operation) -> Vec<f32> {
    let mut y = vec![f32::NAN; x.len()];
    run(isa, Case { x, y: &mut y, what });
    y
}

#[expect(clippy::cast_possible_truncation, reason = "any number will do")]
fn noise(len: usize, size: f64) -> Vec<f32> {
    let mut random = Random::new(4);
    (0..len).map(|_| (size * random.normal()) as f32).collect()
}

fn loads<T: Stored>(isa: Isa) {
    for len in [1, 7, 8, 15, 16, 17, 40] {
        let x: Vec<T> = noise(len, 3.0).into_iter().map(T::nearest).collect();
        let expected: Vec<u32> = x.iter().map(|x| x.wide().to_bits()).collect();
        let got = results(isa, &x, Operation::Load);
        let got: Vec<u32> = got.iter().map(|y| y.to_bits()).collect();
        assert_eq!(got, expected, "{:?} on {}, {len}", T::FLOAT, isa.level());
    }
}

#[test]
fn every_stored_number_is_read_to_the_bit() {
    for isa in Isa::available() {
        loads::<f32>(isa);
        loads::<f16>(isa);
        loads::<bf16>(isa);
        loads::<Fp8>(isa);
        let finite = (0..=u8::MAX).filter(|code| E4M3.decode(*code).is_finite()).map(Fp8);
        let codes: Vec<Fp8> = finite.collect();
        let got = results(isa, &codes, Operation::Load);
        for (code, got) in codes.iter().zip(got) {
            assert_eq!(got.to_bits(), code.wide().to_bits(), "{code:?} on {}", isa.level());
        }
    }
}

#[test]
fn halves_are_written_to_the_nearest() {
    struct Narrow<'a>(&'a [f32], &'a mut [f16]);
    impl VectorKernel for Narrow<'_> {
        #[inline(always)]
        fn run<L: Lanes>(self) {
            for (x, y) in self.0.chunks(L::WIDTH).zip(self.1.chunks_mut(L::WIDTH)) {
                f16::store_some::<L>(f32::load_some(x), y);
            }
        }
    }
    let x = noise(101, 7.0);
    for isa in Isa::available() {
        let mut y = vec![f16::NAN; x.len()];
        run(isa, Narrow(&x, &mut y));
        assert!(x.iter().zip(&y).all(|(x, y)| f16::from_f32(*x) == *y), "{}", isa.level());
    }
}

#[test]
fn powers_of_e_are_right_to_two_units_in_the_last_place() {
    let mut x = noise(2000, 30.0);
    x.retain(|x| (EXP_RANGE.0..EXP_RANGE.1).contains(x));
    x.extend([0.0, -0.0, 1.0, -1.0, 87.9, -86.9, 1e-30]);
    for isa in Isa::available() {
        for (x, y) in x.iter().zip(results(isa, &x, Operation::Exp)) {
            let expected = calc_core::math::exp(f64::from(*x));
            let error = (f64::from(y) / expected - 1.0).abs();
            assert!(error < 2.4e-7, "exp({x}) on {}: {y}, off by {error:e}", isa.level());
        }
        for (x, y) in [(f32::NEG_INFINITY, -87.0_f32), (-1e30, -87.0), (1e30, 88.0)] {
            let ends = results(isa, &[x; 16], Operation::Exp)[3];
            assert!((ends / y.exp() - 1.0).abs() < 1e-5, "{x} on {}: {ends}", isa.level());
        }
    }
}

#[test]
fn arithmetic_is_that_of_scalars() {
    let x = noise(160, 2.0);
    for isa in Isa::available() {
        for (x, y) in x.iter().zip(results(isa, &x, Operation::Round)) {
            assert_eq!(y.to_bits() << 1, x.round_ties_even().to_bits() << 1, "{x}");
        }
        for (x, y) in x.iter().zip(results(isa, &x, Operation::Mixed)) {
            let expected = x * 2.0 + x / 2.0 - x.min(1.0) + x.max(1.0);
            assert!((y - expected).abs() <= 1e-6 * (1.0 + x.abs() * 4.0), "{x}: {y} {expected}");
        }
        let folded = results(isa, &x, Operation::Fold);
        let width = if level(isa) == Level::Avx512 { 16 } else { 8 };
        for (x, y) in x.chunks(width).zip(folded.chunks(width)) {
            assert!((y[0] - x.iter().sum::<f32>()).abs() < 1e-4, "{}", isa.level());
            let most = x.iter().fold(f32::NEG_INFINITY, |most, x| most.max(*x));
            assert_eq!(y[1].to_bits(), most.to_bits(), "{}", isa.level());
        }
    }
}
