//! GEMM, Y = X·Wᵀ, for compute peaks: FP32 and FP16 by the crate `gemm`, INT8 by our own kernel. INT8 distributes rows of Y
//! over workers; the library distributes columns, because it packs the weights first, and each worker only its own.
//!
//! Both operands are contiguous along K, as weights are stored, and their rows start at different cache sets: with a power of
//! two between rows, packing them took most of the time.

mod int8;
mod library;

pub(in crate::cpu) use int8::level as int8_level;
pub use int8::{IntMatrix, gemm_int8};
pub use library::Float;

use super::disjoint_rows::DisjointRows;
use super::threads::Pool;
use crate::backend::Element;

/// GEMM problem size in elements that can be indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GemmDims {
    /// Rows of X and Y.
    pub m: usize,
    /// Rows of W, columns of Y.
    pub n: usize,
    /// Columns of X and W.
    pub k: usize,
}

/// Element types with a GEMM kernel here. FP16 only where the crate accumulates in FP32: on ARM processors with FP16 arithmetic
/// it accumulates in FP16, which is less exact and not what the cost model counts.
pub const ELEMENTS: &[Element] = if cfg!(target_arch = "x86_64") {
    &[Element::Fp32, Element::Fp16, Element::Int8]
} else {
    &[Element::Fp32, Element::Int8]
};

/// Route of the library in records.
pub(in crate::cpu) const LIBRARY: &str = "gemm_0.19";

/// GEMM in FP32 or FP16. The crate selects the instruction set; it multiplies FP16 as FP32 and rounds sums of 512 terms or more
/// to FP16.
///
/// Rows of `x` and `w` are [`pitch`] apart; the padding is not read.
///
/// # Panics
/// When an operand does not have the size of the problem.
pub fn gemm_float<T: Float>(pool: &mut Pool, shape: GemmDims, x: &[T], w: &[T], y: &mut [T]) {
    let pitch = pitch::<T>(shape.k);
    let y = DisjointRows::of(y);
    pool.run(|worker| library::columns(worker, shape, pitch, (x, w), &y));
}

/// Distance of rows in elements: an odd number of cache lines.
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
            // A library guarantees one accumulator, not sixteen.
            let terms = shape.k * 16;
            let verdict = compare(&y, &reference::ReferenceResult { terms, ..reference });
            assert!(verdict.is_ok(), "{shape:?}: {verdict:?}");
        }
    }

    /// All byte values, so that −128 meets −128.
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
