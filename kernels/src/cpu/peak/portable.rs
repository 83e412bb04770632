//! Chains in plain Rust, which a compiler turns into vectors of the target's baseline. Multiplication and addition are two
//! steps, because the fused one is a call of a function where the baseline lacks it.

use std::hint::black_box;

use super::{A, B, ChainShape, DotInput, start};

/// 8 chains of 8 lanes: 16 registers of 128 bits.
pub(super) const FMA: ChainShape = ChainShape { chains: 8, lanes: 8 };
/// The same for bytes.
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
            // New to the compiler for every chain, which else would multiply once for all of them.
            let input = black_box(input);
            for (lane, sum) in chain.iter_mut().enumerate() {
                *sum += i32::from(input.unsigned[lane]) * i32::from(input.signed[lane]);
            }
        }
    }
    chains.as_flattened().iter().map(|sum| i64::from(*sum)).sum()
}
