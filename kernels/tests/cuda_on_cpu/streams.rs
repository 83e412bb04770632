//! Streams and peaks, whose results are known by hand.

use kernels::backend::StoredFloat;
use kernels::cuda::call::streams::{self as call, Peak, Stream};
use kernels::random::Random;

use crate::inputs::stored;
use crate::processor::{Data, Processor};

pub(crate) fn streams(processor: &mut Processor) -> Result<(), String> {
    // More than one round of the grid, and a rest.
    let count = 4 * (8 * 256 * 9 + 5);
    let mut random = Random::new(1);
    let values: Vec<f32> = (0..3 * count).map(|_| random.normal() as f32).collect();
    let arrays: Vec<Data> =
        values.chunks(count).map(|part| stored(StoredFloat::Fp32, part).1).collect();
    let bytes = 4 * count as u64;
    let read = call::stream(Stream::Read, bytes, 1);
    let mut buffers = [arrays[0].clone(), Data::unwritten(4 * read.grid[0] as usize)];
    processor.run(&read, &mut buffers)?;
    let sum = |data: &Data| {
        let words = data.bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        words.fold(0, u32::wrapping_add)
    };
    let (got, expected) = (sum(&buffers[1]), sum(&arrays[0]));
    if got != expected {
        return Err(format!("read_v1: {got}, not {expected}"));
    }
    let mut buffers = [arrays[0].clone(), Data::unwritten(4 * count)];
    processor.run(&call::stream(Stream::Copy, bytes, 1), &mut buffers)?;
    if buffers[0].bytes != buffers[1].bytes {
        return Err("copy_v1: the arrays differ".into());
    }
    let mut buffers = [Data::unwritten(4 * count), arrays[1].clone(), arrays[2].clone()];
    processor.run(&call::stream(Stream::Triad, bytes, 1), &mut buffers)?;
    let (b, c) = (&values[count..2 * count], &values[2 * count..]);
    let is_right = buffers[0]
        .floats()
        .iter()
        .zip(b.iter().zip(c))
        .all(|(a, (b, c))| a.to_bits() == (3.0 * c + b).to_bits());
    if is_right { Ok(()) } else { Err("triad_v1: a is not b + 3·c".into()) }
}

pub(crate) fn peaks(processor: &mut Processor) -> Result<(), String> {
    for peak in Peak::ALL {
        let call = call::peak(peak, peak.factors(), 5, 1);
        let mut buffers = [Data::unwritten(4 * call.threads as usize)];
        processor.run(&call, &mut buffers)?;
        for (thread, got) in buffers[0].bytes.as_chunks().0.iter().enumerate() {
            let got = if peak.is_integer() {
                f64::from(i32::from_le_bytes(*got))
            } else {
                f64::from(f32::from_le_bytes(*got))
            };
            let expected = peak.expected(thread, 5.0);
            if (got - expected).abs() > 1e-3 {
                return Err(format!("{}: {got}, not {expected}", call.kernel));
            }
        }
    }
    Ok(())
}

pub(crate) fn clock(processor: &mut Processor) -> Result<(), String> {
    let call = call::clock(20_000, 3);
    let mut buffers = [Data::unwritten(3 * 16)];
    processor.run(&call, &mut buffers)?;
    for block in buffers[0].bytes.as_chunks::<16>().0 {
        let [cycles, passed] =
            [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|i| block[at + i])));
        // The emulated clock has 1 GHz.
        if passed < 20_000 || cycles.abs_diff(passed) > 10_000_000 {
            return Err(format!("clock_v1: {cycles} cycles in {passed} ns"));
        }
    }
    Ok(())
}
