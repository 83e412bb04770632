//! The header of one weight file, its limits, and the checks that hold for both formats.

use std::collections::BTreeMap;

use crate::error::{HeaderError, clipped};
use crate::metadata::Value;
use crate::tensor::Tensor;

/// Longest header that is read [byte]. Headers of published GGUF files have at most some ten million, nearly all of it the
/// vocabulary; the library safetensors has a limit of 100 million of its own.
pub const MAX_HEADER: u64 = 256_000_000;
/// Most tensors of a file; the largest models have some hundred thousand.
pub const MAX_TENSORS: u64 = 1_000_000;

/// Tensors and metadata of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    pub container: Container,
    /// In the order of the file.
    pub tensors: Vec<Tensor>,
    /// Keys and values of GGUF; empty for safetensors.
    pub metadata: BTreeMap<String, Value>,
    /// Size of the header [byte]; the data begin here.
    pub bytes: u64,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the formats")]
pub enum Container {
    Gguf { version: u32, big_endian: bool },
    Safetensors,
}

/// Why a parser stops.
pub(crate) enum Stop {
    Needs(u64),
    Wrong(HeaderError),
}

impl From<HeaderError> for Stop {
    fn from(error: HeaderError) -> Self {
        Self::Wrong(error)
    }
}

pub(crate) fn not_weights(start: &[u8]) -> HeaderError {
    HeaderError::NotWeights { start: start.iter().take(8).copied().collect() }
}

/// Refuses tensors that stand twice, overlap, or end after the file.
pub(crate) fn check(tensors: &[Tensor], file_bytes: u64) -> Result<(), HeaderError> {
    let mut by_name: Vec<&Tensor> = tensors.iter().collect();
    by_name.sort_by(|a, b| a.name.cmp(&b.name));
    for (one, next) in by_name.iter().zip(by_name.iter().skip(1)) {
        if one.name == next.name {
            return Err(HeaderError::DuplicateTensor { tensor: clipped(&one.name) });
        }
    }
    let mut by_place: Vec<&Tensor> = tensors.iter().filter(|tensor| tensor.bytes > 0).collect();
    by_place.sort_by_key(|tensor| tensor.offset);
    for (one, next) in by_place.iter().zip(by_place.iter().skip(1)) {
        if one.end() > next.offset {
            let (first, second) = (clipped(&one.name), clipped(&next.name));
            return Err(HeaderError::Overlap { first, second });
        }
    }
    match by_place.last().filter(|tensor| tensor.end() > file_bytes) {
        Some(last) => Err(HeaderError::OutOfRange {
            tensor: clipped(&last.name),
            end: last.end(),
            file: file_bytes,
        }),
        None => Ok(()),
    }
}
