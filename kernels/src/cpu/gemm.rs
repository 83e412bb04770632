//! Y = X·Wᵀ for peaks: FP32 and FP16 by the crate `gemm`, INT8 by a kernel of our own. INT8 shares
//! rows of Y over workers, the library columns, because it rearranges the weights first, and each worker only its own.
//!
//! Both operands have their K values next to each other, as weights are stored, and each row begins in another place of the
//! caches than its neighbors: with rows of a power of two apart, rearranging them took most of the time.

mod disjoint;
mod int8;

pub use disjoint::Float;
pub(in crate::cpu) use int8::level as int8_level;
pub use int8::{IntMatrix, LONGEST, gemm_int8};

use super::threads::Pool;
use crate::backend::Element;
use disjoint::DisjointRows;

/// The shape of a product: M tokens, N outputs, K inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GemmDims {
    /// Rows of X and Y.
    pub m: usize,
    /// Rows of W, columns of Y.
    pub n: usize,
    /// Columns of X and W.
    pub k: usize,
}

/// What there are products of here. Of FP16 only where the crate adds up in FP32: on ARM processors with arithmetic of FP16
/// it adds in that, which is another product, and less right.
pub const ELEMENTS: &[Element] = if cfg!(target_arch = "x86_64") {
    &[Element::Fp32, Element::Fp16, Element::Int8]
} else {
    &[Element::Fp32, Element::Int8]
};

/// The word in records for products by the crate.
pub(in crate::cpu) const LIBRARY: &str = "gemm_0.19";

/// FP32 or FP16. The crate chooses the instruction set itself; it multiplies FP16 as FP32, and rounds sums of 512 terms or more
/// to FP16.
///
/// Rows of `x` and `w` are [`pitch`] apart; what lies between them is not read.
///
/// # Panics
/// When an operand has not the size of the shape.
pub fn gemm_float<T: Float>(pool: &mut Pool, shape: GemmDims, x: &[T], w: &[T], y: &mut [T]) {
    let pitch = pitch::<T>(shape.k);
    let y = DisjointRows::of(y);
    pool.run(|worker| disjoint::columns(worker, shape, pitch, (x, w), &y));
}

/// How many elements rows of K are apart: an odd number of cache lines.
pub const fn pitch<T>(k: usize) -> usize {
    let line = LINE / size_of::<T>();
    (k.div_ceil(line) | 1) * line
}

/// Bytes of a cache line.
const LINE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare;
    use crate::cpu::isa::Isa;
    use crate::pack::{Layout, Packed};
    use crate::random::Random;
    use crate::reference;

    const SHAPES: [GemmDims; 7] = [
        GemmDims { m: 1, n: 1, k: 1 },
        GemmDims { m: 127, n: 7, k: 129 },
        GemmDims { m: 5, n: 128, k: 128 },
        GemmDims { m: 129, n: 129, k: 63 },
        GemmDims { m: 2, n: 300, k: 65 },
        GemmDims { m: 1, n: 13, k: 1000 },
        GemmDims { m: 64, n: 64, k: 640 },
    ];

    #[expect(clippy::cast_possible_truncation, reason = "any number will do")]
    fn noise(seed: u64, len: usize) -> Vec<f32> {
        let mut random = Random::new(seed);
        (0..len).map(|_| random.normal() as f32).collect()
    }

    #[test]
    fn fp32_is_right_for_every_shape() {
        let mut pool = Pool::new(Some(2));
        for shape in SHAPES {
            let (x, w) = (noise(1, shape.m * shape.k), noise(2, shape.n * shape.k));
            let mut y = vec![f32::NAN; shape.m * shape.n];
            let apart = |rows: &[f32]| -> Vec<f32> {
                let pitch = pitch::<f32>(shape.k);
                let row = |row: &[f32]| [row, &vec![f32::NAN; pitch - shape.k]].concat();
                rows.chunks(shape.k).flat_map(row).collect()
            };
            gemm_float(&mut pool, shape, &apart(&x), &apart(&w), &mut y);
            let weights = Packed::encode(Layout::Fp32, &w, shape.k).unwrap();
            let x: Vec<f64> = x.into_iter().map(f64::from).collect();
            let reference = reference::gemm(&weights, &x);
            // A sum of its own per product, not sixteen of them, is what a library promises.
            let terms = shape.k * 16;
            let verdict = compare(&y, &reference::ReferenceResult { terms, ..reference });
            assert!(verdict.is_ok(), "{shape:?}: {verdict:?}");
        }
    }

    /// All bytes, so that −128 meets −128, too.
    fn bytes(seed: u64, len: usize) -> Vec<i8> {
        let mut random = Random::new(seed);
        (0..len).map(|_| random.bits().to_le_bytes()[0].cast_signed()).collect()
    }

    #[test]
    fn int8_is_exact_for_every_shape_and_instruction_set() {
        let mut pool = Pool::new(Some(2));
        for isa in Isa::available() {
            for shape in SHAPES {
                let GemmDims { m, n, k } = shape;
                let (x, w) = (bytes(1, m * k), bytes(2, n * k));
                let mut y = vec![i32::MIN; m * n];
                let operands = (IntMatrix::new(m, k, &x), IntMatrix::new(n, k, &w));
                gemm_int8(isa, &mut pool, &operands.0, &operands.1, &mut y);
                for (i, got) in y.iter().enumerate() {
                    let (x, w) = (&x[i / n * k..][..k], &w[i % n * k..][..k]);
                    let expected: i32 =
                        x.iter().zip(w).map(|(x, w)| i32::from(*x) * i32::from(*w)).sum();
                    assert_eq!(*got, expected, "{shape:?} on {} at {i}", isa.level());
                }
            }
        }
    }

    #[test]
    fn int8_does_not_overflow_at_its_ends() {
        let mut pool = Pool::new(Some(1));
        for isa in Isa::available() {
            for (a, b) in [(-128, -128), (-128, 127), (127, 127)] {
                let k = 4096;
                let (x, w) = (IntMatrix::new(1, k, &vec![a; k]), IntMatrix::new(1, k, &vec![b; k]));
                let mut y = [0];
                gemm_int8(isa, &mut pool, &x, &w, &mut y);
                assert_eq!(y[0], i32::from(a) * i32::from(b) * 4096, "{}", isa.level());
            }
        }
    }
}
