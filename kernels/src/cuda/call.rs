//! Calls: which kernel runs for a problem, with how many blocks, and in which order its arguments are.

pub mod eight_bits;
pub mod layer;
pub mod products;
pub mod streams;

/// Threads of a block of most kernels.
const THREADS: u32 = 128;
/// Threads of a block of streams and of the kernels of a layer.
const WIDE: u32 = 256;
/// Lanes of a warp.
const WARP: u32 = 32;

/// An argument of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument {
    /// A buffer, by its number in the order that the function which makes the call states.
    Buffer(usize),
    /// No buffer: a plane that the format does not have.
    Absent,
    /// 32 bits.
    Int(i32),
    /// 64 bits.
    Long(u64),
    /// FP32.
    Float(f32),
}

/// One call of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The program that has the kernel, as in [`super::sources::PROGRAMS`].
    pub program: &'static str,
    /// Name in the program.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
    /// Dynamic shared memory of a block [B].
    pub shared: u32,
    /// Arguments in order.
    pub arguments: Vec<Argument>,
}

/// Why there is no kernel for a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoCall {
    /// The format has no kernel of this version.
    Format,
    /// K is no multiple of this number of elements.
    Inputs {
        /// Elements that a thread loads at once or that share a scale, whichever is more.
        multiple: u64,
    },
    /// N is no multiple of this number of elements.
    Outputs {
        /// Elements in 16 bytes.
        multiple: u64,
    },
    /// More than [`GemvShape::MAX_TOKENS`] tokens, or none.
    Tokens,
    /// A number of the problem exceeds the range of the kernel's arguments.
    TooLarge,
    /// The width of a head has no kernel.
    HeadDim,
}

/// A number as an argument or a size of a grid.
///
/// # Errors
/// More than 31 bits.
fn int(number: u64) -> Result<i32, NoCall> {
    i32::try_from(number).ok().ok_or(NoCall::TooLarge)
}

/// As [`int`], without a sign.
fn count(number: u64) -> Result<u32, NoCall> {
    int(number).map(i32::unsigned_abs)
}

/// The first `N` buffers as arguments.
fn buffers<const N: usize>() -> Vec<Argument> {
    (0..N).map(Argument::Buffer).collect()
}
