//! Peak kernels in plain Rust, vectorized by the compiler for the target's baseline. Multiply and add are two
//! steps, because `mul_add` is a library call where the baseline has no FMA.

use std::hint::black_box;

use super::{A, B, ChainShape, DotInput, start};

/// 8 chains of 8 lanes: 16 registers of 128 bits.
pub(super) const FMA: ChainShape = ChainShape { chains: 8, lanes: 8 };
/// INT8: 8 chains of 16 lanes.
pub(super) const DOT: ChainShape = ChainShape { chains: 4, lanes: 16 };

pub(super) fn fma(rounds: u64) -> f64 {
    let (a, b) = (black_box(A), black_box(B));
    let mut chains: [[f32; FMA.lanes]; FMA.chains] = std::array::from_fn(|i| [start(i); FMA.lanes]);
    for _ in 0..rounds {
        for x in chains.as_flattened_mut() {
            *x = *x * a + b;
        }
    }
    chains.as_flattened().iter().map(|x| f64::from(*x)).sum()
}

pub(super) fn dot(input: &DotInput, rounds: u64) -> i64 {
    let mut chains = [[0_i32; DOT.lanes]; DOT.chains];
    for _ in 0..rounds {
        for chain in &mut chains {
            // Hides the value from the compiler, which would otherwise multiply once for all chains.
            let input = black_box(input);
            for (lane, sum) in chain.iter_mut().enumerate() {
                *sum += i32::from(input.unsigned[lane]) * i32::from(input.signed[lane]);
            }
        }
    }
    chains.as_flattened().iter().map(|sum| i64::from(*sum)).sum()
}
