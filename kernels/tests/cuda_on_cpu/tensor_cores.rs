//! The emulation of tensor cores against plain loops: the kernels of `kernels/cuda/cpu/mma_check.hpp` place the elements of two matrices
//! as the figures of PTX do, and multiply them.

use kernels::cuda::call::{Argument, Call};
use kernels::random::Random;

use crate::processor::{Data, Processor};

/// A product of 16 × K and K × 8 numbers.
#[derive(Debug, Clone, Copy)]
struct Shape {
    kernel: &'static str,
    k: usize,
    bytes: usize,
    /// A small number as its element is stored.
    store: fn(i8) -> u32,
}

/// FP32 of a small integer.
fn wide(value: i8) -> u32 {
    f32::from(value).to_bits()
}

fn int8(value: i8) -> u32 {
    u32::from(value.cast_unsigned())
}

/// E4M3 of an integer from -16 to 16, which it has exactly.
fn e4m3(value: i8) -> u32 {
    u32::from(kernels::pack::minifloat::E4M3.encode(f32::from(value)))
}

const SHAPES: [Shape; 6] = [
    Shape {
        kernel: "mma_half_check",
        k: 16,
        bytes: 2,
        store: |value| u32::from(half::f16::from_f32(f32::from(value)).to_bits()),
    },
    Shape { kernel: "mma_bf16_check", k: 16, bytes: 2, store: |value| wide(value) >> 16 },
    Shape { kernel: "mma_tf32_check", k: 8, bytes: 4, store: wide },
    Shape { kernel: "mma_int8_check", k: 32, bytes: 1, store: int8 },
    Shape { kernel: "mma_int8_by_quarters_check", k: 32, bytes: 1, store: int8 },
    Shape { kernel: "mma_e4m3_check", k: 32, bytes: 1, store: e4m3 },
];

/// Every product of fragments is that of the matrices, plus what was in the sums.
pub(crate) fn fragments(processor: &mut Processor) -> Result<(), String> {
    let mut random = Random::new(17);
    for Shape { kernel, k, bytes, store } in SHAPES {
        let mut integers = |count: usize| -> Vec<i8> {
            (0..count).map(|_| (random.uniform() * 33.0) as i8 - 16).collect()
        };
        // Rows of A, columns of B.
        let (a, b) = (integers(16 * k), integers(8 * k));
        let stored = |values: &[i8]| {
            let each =
                values.iter().flat_map(|value| store(*value).to_le_bytes()[..bytes].to_vec());
            Data::of(each.collect())
        };
        let before: Vec<i32> = (0..16 * 8).map(|at| at - 60).collect();
        let is_integer = kernel.contains("int8");
        let sums = before.iter().flat_map(|sum| {
            if is_integer { sum.to_le_bytes() } else { (*sum as f32).to_le_bytes() }
        });
        let mut buffers = [stored(&a), stored(&b), Data::of(sums.collect())];
        let arguments = (0..3).map(Argument::Buffer).collect();
        let kernel = kernel.to_owned();
        let call = Call { program: "", kernel, grid: [1, 1, 1], threads: 32, shared: 0, arguments };
        processor.run(&call, &mut buffers)?;
        for (at, got) in buffers[2].bytes.as_chunks::<4>().0.iter().enumerate() {
            let got = if is_integer {
                f64::from(i32::from_le_bytes(*got))
            } else {
                f64::from(f32::from_le_bytes(*got))
            };
            let (row, column) = (&a[at / 8 * k..][..k], &b[at % 8 * k..][..k]);
            let dot: i32 = row.iter().zip(column).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            let expected = f64::from(before[at] + dot);
            if (got - expected).abs() > 0.0 {
                return Err(format!("{}: {got} at {at}, not {expected}", call.kernel));
            }
        }
    }
    Ok(())
}

/// Lane 4·g + t gets the numbers 2t and 2t + 1 of row g, or of column g, of each matrix.
pub(crate) fn loads(processor: &mut Processor) -> Result<(), String> {
    let numbers: Vec<u16> = (0..4 * 64).map(|at| at * 3 + 1).collect();
    for is_transposed in [false, true] {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let mut buffers = [Data::of(bytes), Data::unwritten(32 * 4 * 4)];
        let mut arguments: Vec<Argument> = (0..2).map(Argument::Buffer).collect();
        arguments.push(Argument::Int(i32::from(is_transposed)));
        let kernel = "load_matrices_check".to_owned();
        let call = Call { program: "", kernel, grid: [1, 1, 1], threads: 32, shared: 0, arguments };
        processor.run(&call, &mut buffers)?;
        for (at, pair) in buffers[1].bytes.as_chunks::<4>().0.iter().enumerate() {
            let (lane, matrix) = (at / 4, at % 4);
            for (which, got) in pair.as_chunks::<2>().0.iter().enumerate() {
                let (along, across) = (lane / 4, lane % 4 * 2 + which);
                let [row, column] = if is_transposed { [across, along] } else { [along, across] };
                let expected = numbers[matrix * 64 + row * 8 + column];
                if u16::from_le_bytes(*got) != expected {
                    return Err(format!("matrix {matrix} of lane {lane}: {got:?}, not {expected}"));
                }
            }
        }
    }
    Ok(())
}
