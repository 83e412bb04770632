//! Problems as a GPU measures them: a call, the contents of its buffers, and the error of what it wrote. They are plain data, so that
//! neither a GPU nor a library of CUDA is needed to make one.

pub(crate) mod layer;
pub(crate) mod matrices;
pub(crate) mod peaks;
pub(crate) mod products;
pub(crate) mod streams;

use std::ops::Range;

use super::call::{Call, NoCall};
use crate::backend::{Cost, Fault, GemmShape};
use crate::compare::SampledOutput;

/// A problem with its data.
pub(crate) struct Problem {
    /// The call; its buffers are those of `buffers`, by number.
    pub(crate) call: Called,
    /// Buffers in order.
    pub(crate) buffers: Vec<CallBuffer>,
    /// Bytes and FLOP of one call.
    pub(crate) cost: Cost,
    /// The error over its tolerance of the results of a set: what is in its written buffers, in order.
    pub(crate) error: Box<ErrorOf>,
    /// Outputs beside their reference, of a problem that shows them.
    pub(crate) outputs: Option<Box<OutputsOf>>,
}

impl Problem {
    /// A problem whose outputs are not shown.
    pub(crate) fn new(
        call: Called,
        buffers: Vec<CallBuffer>,
        cost: Cost,
        error: impl Fn(u64, &[Vec<u8>]) -> f64 + 'static,
    ) -> Self {
        Self { call, buffers, cost, error: Box::new(error), outputs: None }
    }
}

/// A kernel of our own or a library call that computes a problem.
#[derive(Debug)]
pub(crate) enum Called {
    /// A kernel of our own.
    Kernel(Call),
    /// A product of matrices, by a library.
    Product(GemmShape),
}

impl From<Call> for Called {
    fn from(call: Call) -> Self {
        Self::Kernel(call)
    }
}

/// Takes a set and the bytes of its written buffers; the error is in units of the tolerance.
pub(crate) type ErrorOf = dyn Fn(u64, &[Vec<u8>]) -> f64;

/// Takes the bytes of the written buffers of the first set.
pub(crate) type OutputsOf = dyn Fn(&[Vec<u8>]) -> Vec<SampledOutput>;

/// The contents of a buffer.
pub(crate) struct CallBuffer {
    /// Size [B].
    pub(crate) bytes: u64,
    /// Whether each set has one of its own; otherwise all share it.
    pub(crate) of_set: bool,
    /// Whether calls write it. Before a checked call it is filled again.
    pub(crate) is_written: bool,
    /// Parts that are compared with the reference, of a buffer that calls write; `None` is all of it.
    pub(crate) parts: Option<Vec<Range<u64>>>,
    /// Its content before a call.
    pub(crate) content: Content,
}

/// Content of a buffer before a call.
pub(crate) enum Content {
    /// NaN as any float.
    Unwritten,
    /// These bytes again and again, by set.
    Repeats(Box<dyn Fn(u64) -> Vec<u8>>),
}

impl CallBuffer {
    /// A buffer of inputs that all sets share.
    pub(crate) fn shared(bytes: Vec<u8>) -> Self {
        let size = bytes.len() as u64;
        Self::repeated(size, bytes)
    }

    /// A buffer that repeats these bytes and that all sets share.
    pub(crate) fn repeated(bytes: u64, period: Vec<u8>) -> Self {
        let content = Content::Repeats(Box::new(move |_| period.clone()));
        Self { bytes, of_set: false, is_written: false, parts: None, content }
    }

    /// A buffer of results that all sets share.
    pub(crate) const fn output(bytes: u64) -> Self {
        Self { bytes, of_set: false, is_written: true, parts: None, content: Content::Unwritten }
    }

    /// A buffer of results of each set.
    pub(crate) fn output_of_set(bytes: u64) -> Self {
        Self { of_set: true, ..Self::output(bytes) }
    }

    /// A buffer of each set that repeats these rows, beginning with the row that `start` says of a set.
    pub(crate) fn rows(
        bytes: u64,
        rows: Vec<u8>,
        row_bytes: usize,
        start: impl Fn(u64) -> usize + 'static,
    ) -> Self {
        let period = move |set| {
            let mut period = rows.clone();
            period.rotate_left(start(set) * row_bytes);
            period
        };
        let content = Content::Repeats(Box::new(period));
        Self { bytes, of_set: true, is_written: false, parts: None, content }
    }

    /// As it is, but written by calls.
    #[must_use]
    pub(crate) fn written(self) -> Self {
        Self { is_written: true, ..self }
    }

    /// Its content before a call of a set: bytes that repeat; never empty unless the buffer is.
    pub(crate) fn period(&self, set: u64) -> Vec<u8> {
        match &self.content {
            Content::Unwritten => vec![0xff; 4096],
            Content::Repeats(of) => of(set),
        }
    }
}

impl Problem {
    /// Bytes that the buffers of so many sets take.
    pub(crate) fn needed(&self, sets: u64) -> u64 {
        let of =
            |buffer: &CallBuffer| buffer.bytes.saturating_mul(if buffer.of_set { sets } else { 1 });
        self.buffers.iter().map(of).fold(0, u64::saturating_add)
    }
}

impl From<NoCall> for Fault {
    fn from(why: NoCall) -> Self {
        match why {
            NoCall::Inputs { multiple } => {
                Self::Refused(format!("its kernel needs inputs (K) in multiples of {multiple}"))
            }
            NoCall::Outputs { multiple } => {
                Self::Refused(format!("its kernel needs outputs (N) in multiples of {multiple}"))
            }
            NoCall::HeadDim => {
                let widths = super::call::layer::HEAD_DIMS.map(|width| width.to_string());
                Self::Refused(format!("its kernel has heads of {}", widths.join(", ")))
            }
            NoCall::TooLarge => Self::Refused("a size exceeds what its kernel counts".to_owned()),
            NoCall::Format | NoCall::Tokens => Self::Unsupported,
        }
    }
}

/// The size of a problem as an index.
fn size(n: u64) -> Result<usize, Fault> {
    usize::try_from(n).ok().ok_or(Fault::Unsupported)
}

/// Numbers in FP32.
fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// The bytes of numbers in FP32.
fn bytes_of(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}
