//! The GEMM task.

use std::cell::RefCell;
use std::rc::Rc;

use calc_core::units::Bytes;
use half::f16;

use super::floats::{FloatOperands, TOKENS};
use crate::backend::{Check, Cost, Element, Fault, GemmShape, Task, Work};
use crate::cpu::gemm::{ELEMENTS, GemmDims, IntMatrix};
use crate::cpu::isa::Isa;
use crate::cpu::launch::{IntGemmBuffers, Launch};
use crate::cpu::threads::Pool;
use crate::distinct::{DISTINCT, set, start};
use crate::random::Random;

/// Operands, results, and expected results of the distinct tokens and rows.
enum Operands {
    Fp32(FloatOperands<f32>),
    Fp16(FloatOperands<f16>),
    Int8 { weights: Vec<IntMatrix>, x: IntMatrix, y: Vec<i32>, expected: Vec<Vec<i32>> },
}

/// GEMM that rotates over sets of weights.
pub(in crate::cpu) struct GemmTask {
    pool: Rc<RefCell<Pool>>,
    isa: Isa,
    shape: GemmDims,
    operands: Operands,
    copies: u64,
    cost: Cost,
}

impl GemmTask {
    /// # Errors
    /// When a size exceeds the address space, or INT8 sums would overflow 32 bits.
    pub(in crate::cpu) fn new(
        pool: Rc<RefCell<Pool>>,
        isa: Isa,
        work: &Work,
        product: GemmShape,
        copies: u64,
    ) -> Result<Self, Fault> {
        let size = |n: u64| usize::try_from(n).ok().ok_or(Fault::Unsupported);
        let shape = GemmDims { m: size(product.m)?, n: size(product.n)?, k: size(product.k)? };
        if shape.m == 0 || shape.n == 0 || shape.k == 0 {
            return Err(Fault::Unsupported);
        }
        let operands = match product.element {
            Element::Int8 if product.k > GemmShape::MOST_INT8_INPUTS => {
                return Err(Fault::Unsupported);
            }
            other if !ELEMENTS.contains(&other) => return Err(Fault::Unsupported),
            Element::Fp32 => Operands::Fp32(FloatOperands::new(
                &mut pool.borrow_mut(),
                work.seed,
                shape,
                copies,
            )?),
            Element::Fp16 => Operands::Fp16(FloatOperands::new(
                &mut pool.borrow_mut(),
                work.seed,
                shape,
                copies,
            )?),
            Element::Int8 => bytes(work.seed, shape, copies),
            Element::Tf32 | Element::Bf16 | Element::Fp8E4m3 => return Err(Fault::Unsupported),
        };
        Ok(Self { pool, isa, shape, operands, copies, cost: product.cost() })
    }
}

fn bytes(seed: u64, GemmDims { m, n, k }: GemmDims, copies: u64) -> Operands {
    let mut random = Random::new(seed);
    let mut draw = |rows: usize| -> Vec<i8> {
        (0..rows * k).map(|_| random.bits().to_le_bytes()[0].cast_signed()).collect()
    };
    let (rows, tokens) = (draw(n.min(DISTINCT)), draw(m.min(TOKENS)));
    let dot = |token: &[i8], row: &[i8]| -> i32 {
        token.iter().zip(row).map(|(x, w)| i32::from(*x) * i32::from(*w)).sum()
    };
    let of_token = |token| rows.chunks(k).map(|row| dot(token, row)).collect();
    let again = |values: &[i8], start: usize, count: usize| -> Vec<i8> {
        values.iter().copied().cycle().skip(start * k).take(count * k).collect()
    };
    let starts = (0..copies).map(|copy| start(copy, n.min(DISTINCT)));
    Operands::Int8 {
        expected: tokens.chunks(k).map(of_token).collect(),
        weights: starts.map(|start| IntMatrix::new(n, k, &again(&rows, start, n))).collect(),
        x: IntMatrix::new(m, k, &again(&tokens, 0, m)),
        y: vec![i32::MIN; m * n],
    }
}

impl Operands {
    fn launch(&mut self, shape: GemmDims, iteration: u64) -> Launch<'_> {
        match self {
            Self::Fp32(floats) => floats.launch(shape, iteration),
            Self::Fp16(floats) => floats.launch(shape, iteration),
            Self::Int8 { weights, x, y, .. } => {
                let w = &weights[set(iteration, weights.len())];
                Launch::GemmInt8(IntGemmBuffers { x, w, y })
            }
        }
    }

    /// Overwrites the result, so that an unwritten value is detected.
    fn poison(&mut self) {
        match self {
            Self::Fp32(floats) => floats.poison(),
            Self::Fp16(floats) => floats.poison(),
            Self::Int8 { y, .. } => y.fill(i32::MIN),
        }
    }

    /// Largest error over tolerance of this iteration's result; INT8 must be exact.
    fn error(&self, n: usize, iteration: u64) -> f64 {
        match self {
            Self::Fp32(floats) => floats.error(n, iteration),
            Self::Fp16(floats) => floats.error(n, iteration),
            Self::Int8 { y, expected, weights, .. } => {
                let start = start(set(iteration, weights.len()) as u64, expected[0].len());
                let right = y.chunks(n).zip(expected.iter().cycle()).all(|(got, expected)| {
                    got.iter().zip(expected.iter().cycle().skip(start)).all(|(a, b)| a == b)
                });
                if right { 0.0 } else { f64::INFINITY }
            }
        }
    }
}

impl Task for GemmTask {
    fn run(&mut self, iteration: u64) -> Result<(), Fault> {
        let launch = self.operands.launch(self.shape, iteration);
        launch.run(self.isa, &mut self.pool.borrow_mut());
        Ok(())
    }

    fn synchronize(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn check(&mut self) -> Result<Check, Fault> {
        Check::worst_of(1.0, self.copies, |iteration| {
            self.operands.poison();
            self.run(iteration)?;
            Ok(self.operands.error(self.shape.n, iteration))
        })
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn footprint(&self) -> Bytes {
        let GemmDims { m, n, k } = self.shape;
        let size = match self.operands {
            Operands::Fp32(_) => 4.0,
            Operands::Fp16(_) => 2.0,
            Operands::Int8 { .. } => 1.0,
        };
        Bytes::new(size * k as f64 * (n as f64 * self.copies as f64 + m as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Cache, Kernel};

    fn task(element: Element, (m, n, k): (u64, u64, u64)) -> GemmTask {
        let pool = Rc::new(RefCell::new(Pool::new(Some(2))));
        let product = GemmShape { element, m, n, k };
        let work = Work { kernel: Kernel::Gemm(product), cache: Cache::Cold, seed: 3 };
        GemmTask::new(pool, Isa::best(), &work, product, 2).unwrap()
    }

    #[test]
    fn products_of_any_shape_are_right_and_a_wrong_expectation_is_not() {
        for shape in
            [(1, 1, 1), (1, 127, 128), (3, 15, 129), (7, 16, 31), (17, 129, 127), (64, 200, 300)]
        {
            for element in ELEMENTS.iter().copied() {
                let mut task = task(element, shape);
                assert!(task.check().unwrap().passed(), "{element:?} {shape:?}");
                match &mut task.operands {
                    Operands::Fp32(floats) => floats.expect_more(1.0),
                    Operands::Fp16(floats) => floats.expect_more(1.0),
                    Operands::Int8 { expected, .. } => expected[0][0] += 1,
                }
                assert!(!task.check().unwrap().passed(), "{element:?} {shape:?}");
            }
        }
    }

    #[test]
    fn a_value_that_nobody_wrote_does_not_pass() {
        for element in ELEMENTS.iter().copied() {
            let mut task = task(element, (3, 40, 8));
            task.operands.poison();
            assert!(task.operands.error(40, 0).is_infinite(), "{element:?}");
        }
    }

    #[test]
    fn turns_take_one_copy_after_the_other() {
        for element in ELEMENTS.iter().copied() {
            let mut task = task(element, (3, 40, 8));
            for iteration in 0..4 {
                task.run(iteration).unwrap();
                assert!(task.operands.error(40, iteration) <= 1.0, "{element:?} {iteration}");
                assert!(task.operands.error(40, iteration + 1) > 1.0, "{element:?} {iteration}");
            }
        }
    }
}
