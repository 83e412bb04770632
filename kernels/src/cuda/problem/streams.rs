//! Streams over random bits.

use calc_core::units::{Bytes, Flops};

use super::{CallBuffer, Problem, floats};
use crate::backend::{Cost, Fault, Kernel};
use crate::cuda::call::streams::{Stream, stream};
use crate::random::Random;
use crate::rotation::PAGE;

/// Pages of random bits that an array repeats. A prime, so that a page that is off by a power of two is detected.
const PAGES: u64 = 257;
/// Bytes of a page, as an index.
#[expect(clippy::cast_possible_truncation, reason = "a page has fewer bytes than 32 bits count")]
const PAGE_BYTES: usize = PAGE as usize;

/// The problem of a stream on a device of so many multiprocessors.
///
/// # Errors
/// A kernel that is no stream.
pub(crate) fn problem(kernel: Kernel, processors: u32, seed: u64) -> Result<Problem, Fault> {
    let (which, bytes, arrays, flops) = match kernel {
        Kernel::Read { bytes } => (Stream::Read, bytes, 1.0, 0.0),
        Kernel::Copy { bytes } => (Stream::Copy, bytes, 2.0, 0.0),
        Kernel::Triad { bytes } => (Stream::Triad, bytes, 3.0, 2.0),
        _ => return Err(Fault::Unsupported),
    };
    let bytes = bytes.max(1).checked_next_multiple_of(PAGE).ok_or(Fault::Unsupported)?;
    super::size(bytes)?;
    let call = stream(which, bytes, processors);
    let array = |which: u64| numbers(seed.wrapping_add(which), which != 0 || arrays > 2.0);
    let of_set = |array: &[u8]| CallBuffer::rows(bytes, array.to_vec(), PAGE_BYTES, start);
    let (a, b) = (array(0), array(1));
    let buffers = match which {
        Stream::Read => vec![of_set(&a), CallBuffer::output(4 * u64::from(call.grid[0]))],
        Stream::Copy => vec![of_set(&a), CallBuffer::output_of_set(bytes)],
        Stream::Triad => vec![CallBuffer::output_of_set(bytes), of_set(&a), of_set(&b)],
    };
    let error = move |set: u64, written: &[Vec<u8>]| {
        let wrong = |is_right: bool| if is_right { 0.0 } else { f64::INFINITY };
        match which {
            Stream::Read => wrong(sum(&written[0]) == repeated_sum(&a, start(set), bytes)),
            Stream::Copy => wrong(repeats(&written[0], &a, start(set))),
            Stream::Triad => triad_error(&written[0], [&a, &b], start(set)),
        }
    };
    let all = arrays * bytes as f64;
    let cost = Cost { bytes: Bytes::new(all), flops: Flops::new(flops * bytes as f64 / 4.0) };
    Ok(Problem::new(call.into(), buffers, cost, error))
}

/// First page of a set.
const fn start(set: u64) -> usize {
    (set * 31 % PAGES) as usize
}

/// Random bits, or numbers between −1 and 1 in FP32 where they are multiplied.
#[expect(clippy::cast_possible_truncation, reason = "any number near it will do")]
fn numbers(seed: u64, are_numbers: bool) -> Vec<u8> {
    let mut random = Random::new(seed);
    let count = PAGES * PAGE / 8;
    if are_numbers {
        let value = move |_| (2.0 * random.uniform() - 1.0) as f32;
        return super::bytes_of(&(0..2 * count).map(value).collect::<Vec<f32>>());
    }
    (0..count).flat_map(|_| random.bits().to_le_bytes()).collect()
}

/// Sum of 32-bit words modulo 2³².
fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    words.fold(0, u32::wrapping_add)
}

/// The sum of the first `bytes` of an array that repeats a period, beginning with a page of it.
#[expect(clippy::cast_possible_truncation, reason = "modulo 2³², and below the period")]
fn repeated_sum(period: &[u8], start: usize, bytes: u64) -> u32 {
    let mut turned = period.to_vec();
    turned.rotate_left(start * PAGE_BYTES);
    let (whole, rest) = (bytes / period.len() as u64, (bytes % period.len() as u64) as usize);
    sum(period).wrapping_mul(whole as u32).wrapping_add(sum(&turned[..rest]))
}

/// Whether an array repeats a period, beginning with a page of it.
fn repeats(array: &[u8], period: &[u8], start: usize) -> bool {
    let mut turned = period.to_vec();
    turned.rotate_left(start * PAGE_BYTES);
    array.chunks(turned.len()).all(|part| part == &turned[..part.len()])
}

/// Largest error of a = b + 3·c over its tolerance: a fused multiply-add rounds once, a plain one twice.
fn triad_error(a: &[u8], sources: [&[u8]; 2], start: usize) -> f64 {
    let [b, c] = sources.map(|period| {
        let mut turned = period.to_vec();
        turned.rotate_left(start * PAGE_BYTES);
        floats(&turned)
    });
    let right = b.iter().zip(&c).map(|(b, c)| (f64::from(*b), 3.0 * f64::from(*c))).cycle();
    let errors = floats(a).into_iter().zip(right).map(|(a, (b, c))| {
        let tolerance = 2.0 * f64::from(f32::EPSILON) * (b.abs() + c.abs()) + 1e-38;
        let share = (f64::from(a) - (b + c)).abs() / tolerance;
        if share.is_nan() { f64::INFINITY } else { share }
    });
    errors.fold(0.0, f64::max)
}
