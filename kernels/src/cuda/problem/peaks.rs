//! Peaks of arithmetic in registers. All operands are the same number, so a GPU that draws less power for such operands may clock higher
//! than with a model's weights.

use calc_core::units::{Bytes, Flops};

use super::{CallBuffer, Problem, floats};
use crate::backend::Cost;
use crate::cuda::call::streams::{Peak, peak};
use crate::cuda::facts::Facts;
use crate::cuda::support::ASSUMED_CLOCK;

/// Cycles of a multiprocessor for a round: of `mma` in FP16, 16 warps with 8 chains each.
const CYCLES_PER_ROUND: u64 = 128;
/// Time of a call at the highest clock: about a millisecond [s].
const CALLS_PER_SECOND: u64 = 1000;
/// Blocks of 256 threads on a multiprocessor: their chains hide the latency of every unit, and all of them run at once, so that none
/// waits for a place.
const BLOCKS_PER_PROCESSOR: u32 = 2;

/// Rounds of a call on a device.
fn rounds(facts: &Facts) -> u32 {
    let clock = if facts.clock > 0 { facts.clock } else { ASSUMED_CLOCK };
    u32::try_from(clock / CALLS_PER_SECOND / CYCLES_PER_ROUND).unwrap_or(u32::MAX).clamp(4, 65_536)
}

/// The problem of a peak on a device.
pub(crate) fn problem(which: Peak, facts: &Facts) -> Problem {
    let rounds = rounds(facts);
    let call = peak(which, which.factors(), rounds, facts.processors * BLOCKS_PER_PROCESSOR);
    let threads = u64::from(call.grid[0]) * u64::from(call.threads);
    let (block, rounds) = (call.threads as usize, f64::from(rounds));
    let error = move |_: u64, written: &[Vec<u8>]| {
        let integers =
            || written[0].as_chunks().0.iter().map(|it| f64::from(i32::from_le_bytes(*it)));
        let got: Vec<f64> = if which.is_integer() {
            integers().collect()
        } else {
            floats(&written[0]).into_iter().map(f64::from).collect()
        };
        let errors = got.into_iter().enumerate().map(|(at, got)| {
            let expected = which.expected(at % block, rounds);
            // Sums of floats are rounded; those of integers are exact.
            let tolerance = if which.is_integer() { 0.5 } else { 1e-3 * expected };
            let share = (got - expected).abs() / tolerance;
            if share.is_nan() { f64::INFINITY } else { share }
        });
        errors.fold(0.0, f64::max)
    };
    let flops = threads as f64 * which.flops() as f64 * rounds;
    let buffers = vec![CallBuffer::output(4 * threads)];
    let cost = Cost { bytes: Bytes::ZERO, flops: Flops::new(flops) };
    Problem::new(call.into(), buffers, cost, error)
}
