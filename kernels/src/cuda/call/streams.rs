//! Streams over memory, and peaks of arithmetic in registers.

use super::{Argument, Call, WARP, WIDE, buffers};

/// Blocks that keep a GPU busy with a stream over an array.
const BLOCKS_PER_PROCESSOR: u32 = 8;

/// Streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Buffers: array, a sum of its words per block, modulo 2³².
    Read,
    /// Buffers: from, to.
    Copy,
    /// Buffers: a, b, c.
    Triad,
}

/// A stream over arrays of `bytes`, a multiple of 16, on a device of so many multiprocessors.
pub fn stream(stream: Stream, bytes: u64, processors: u32) -> Call {
    let (kernel, arguments) = match stream {
        Stream::Read => {
            ("read_v1", vec![Argument::Buffer(0), Argument::Long(bytes / 16), Argument::Buffer(1)])
        }
        Stream::Copy => {
            ("copy_v1", vec![Argument::Buffer(0), Argument::Buffer(1), Argument::Long(bytes / 16)])
        }
        Stream::Triad => {
            let mut arguments = buffers::<3>();
            arguments.push(Argument::Long(bytes / 16));
            ("triad_v1", arguments)
        }
    };
    Call {
        program: "stream.cu",
        kernel: kernel.to_owned(),
        grid: [processors * BLOCKS_PER_PROCESSOR, 1, 1],
        threads: WIDE,
        shared: 4 * WIDE / WARP,
        arguments,
    }
}

/// Kernels of [`peak`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peak {
    /// Multiply-adds of FP32 units.
    Fp32,
    /// Dot products of four bytes.
    DotInt8,
    /// Tensor cores in FP16.
    TensorFp16,
    /// Tensor cores in BF16.
    TensorBf16,
    /// Tensor cores in TF32.
    TensorTf32,
    /// Tensor cores in INT8.
    TensorInt8,
    /// Tensor cores in E4M3, from architecture 8.9.
    TensorFp8E4m3,
}

/// Independent chains of a thread or a warp.
const CHAINS: u64 = 8;

impl Peak {
    /// All peaks.
    pub const ALL: [Self; 7] = [
        Self::Fp32,
        Self::DotInt8,
        Self::TensorFp16,
        Self::TensorBf16,
        Self::TensorTf32,
        Self::TensorInt8,
        Self::TensorFp8E4m3,
    ];

    /// Name of the kernel.
    pub const fn kernel(self) -> &'static str {
        match self {
            Self::Fp32 => "fma_fp32_v1",
            Self::DotInt8 => "dot_int8_v1",
            Self::TensorFp16 => "mma_fp16_v1",
            Self::TensorBf16 => "mma_bf16_v1",
            Self::TensorTf32 => "mma_tf32_v1",
            Self::TensorInt8 => "mma_int8_v1",
            Self::TensorFp8E4m3 => "mma_fp8_e4m3_v1",
        }
    }

    /// Two factors: FP32 bits for [`Peak::Fp32`], bits of a register for the others; each element is 1, and 2 or 1/2.
    pub const fn factors(self) -> (u32, u32) {
        match self {
            Self::Fp32 | Self::TensorTf32 => (1.0_f32.to_bits(), 0.5_f32.to_bits()),
            Self::DotInt8 | Self::TensorInt8 => (0x0101_0101, 0x0202_0202),
            Self::TensorFp16 => (0x3c00_3c00, 0x3800_3800),
            Self::TensorBf16 => (0x3f80_3f80, 0x3f00_3f00),
            Self::TensorFp8E4m3 => (0x3838_3838, 0x3030_3030),
        }
    }

    /// Whether it sums integers.
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::DotInt8 | Self::TensorInt8)
    }

    /// The result of a thread of a block with [`Peak::factors`].
    pub fn expected(self, thread: usize, rounds: f64) -> f64 {
        // The gain of a chain per round; two of the four results of a lane of tensor cores are summed.
        let (chains, gain) = match self {
            Self::Fp32 => (1.0, 0.5),
            Self::DotInt8 => (1.0, 8.0),
            Self::TensorFp16 | Self::TensorBf16 => (2.0, 8.0),
            Self::TensorTf32 => (2.0, 4.0),
            Self::TensorInt8 => (2.0, 64.0),
            Self::TensorFp8E4m3 => (2.0, 16.0),
        };
        let start: u64 = match self {
            Self::Fp32 | Self::DotInt8 => (0..CHAINS).map(|chain| thread as u64 + chain).sum(),
            _ => 0,
        };
        start as f64 + chains * CHAINS as f64 * rounds * gain
    }

    /// FLOP of a thread per round; those of a warp are shared by its lanes.
    pub const fn flops(self) -> u64 {
        // Tensor cores: 2 · 16 · 8 · K of a warp of 32 lanes, K by the element.
        let of_chain = match self {
            Self::Fp32 => 2,
            Self::DotInt8 => 8,
            Self::TensorTf32 => 8 * 8,
            Self::TensorFp16 | Self::TensorBf16 => 8 * 16,
            Self::TensorInt8 | Self::TensorFp8E4m3 => 8 * 32,
        };
        CHAINS * of_chain
    }
}

/// Arithmetic in registers. Buffer: a result per thread. `a` and `b` are factors as FP32 for [`Peak::Fp32`], bits for the others.
pub fn peak(peak: Peak, (a, b): (u32, u32), rounds: u32, blocks: u32) -> Call {
    let factor = |bits: u32| Argument::Int(bits.cast_signed());
    Call {
        program: "peak.cu",
        kernel: peak.kernel().to_owned(),
        grid: [blocks, 1, 1],
        threads: WIDE,
        shared: 0,
        arguments: vec![Argument::Buffer(0), factor(a), factor(b), factor(rounds)],
    }
}

/// Multiprocessor clock: every block waits that long. Buffer: per block the cycles and the nanoseconds that passed, 64 bits each.
pub fn clock(nanoseconds: u64, processors: u32) -> Call {
    Call {
        program: "clock.cu",
        kernel: "clock_v1".to_owned(),
        grid: [processors, 1, 1],
        threads: WARP,
        shared: 0,
        arguments: vec![Argument::Buffer(0), Argument::Long(nanoseconds)],
    }
}
