//! Memory of a measurement: cold calls rotate over several sets of buffers, so that none is in the caches when its call begins.

use crate::backend::{Cache, Kernel};
use crate::distinct::{DISTINCT, DISTINCT_HEADS};

/// Last-level cache that is assumed where the system does not report it [B]: larger than most.
const ASSUMED_CACHE: u64 = 128 << 20;
/// Cold buffers cover this many times the last-level cache.
const COVER: u64 = 4;
/// Size of a page [B]: arrays of streams are whole pages.
pub(crate) const PAGE: u64 = 4096;
/// Smallest array of a cold stream [B].
const MIN_COLD_ARRAY: u64 = 64 << 20;

/// Smallest operand that is measured cold [B]: calls would rotate over millions of smaller ones.
pub(crate) const MIN_COLD: u64 = 1024;

/// The last-level cache that buffers are sized for [B].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastLevelCache(pub u64);

impl LastLevelCache {
    /// The reported size, or the assumed one.
    pub fn or_assumed(reported: Option<calc_core::units::Bytes>) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the size of a cache"
        )]
        Self(reported.map_or(ASSUMED_CACHE, |bytes| bytes.get() as u64))
    }

    /// Bytes of an array that does not fit the caches.
    pub const fn cold_array(self) -> u64 {
        let covering = COVER * self.0;
        if covering > MIN_COLD_ARRAY { covering } else { MIN_COLD_ARRAY }
    }

    /// Bytes of an array that stays in the caches beside two others.
    pub const fn hot_array(self) -> u64 {
        self.0 / 4
    }

    /// Sets of buffers of `bytes` each that calls rotate over; at least `least` of cold ones, so that the end of one call is not the
    /// start of the next.
    pub fn sets(self, cache: Cache, bytes: u64, least: u64) -> u64 {
        match cache {
            Cache::Hot => 1,
            Cache::Cold => (COVER * self.0).div_ceil(bytes.max(1)).max(least),
        }
    }

    /// Bytes that a measurement of this kernel allocates: all sets, and the buffers that are not rotated.
    pub fn needed(self, kernel: &Kernel, cache: Cache, least: u64) -> u64 {
        let rotated = rotated(kernel);
        rotated.saturating_mul(self.sets(cache, rotated, least)).saturating_add(fixed(kernel))
    }
}

/// Bytes of one set of buffers: the arrays of a stream, the weights of a product, a cache, a table.
pub(crate) fn rotated(kernel: &Kernel) -> u64 {
    match kernel {
        Kernel::Read { bytes } => whole_pages(*bytes),
        Kernel::Copy { bytes } => whole_pages(*bytes).saturating_mul(2),
        Kernel::Triad { bytes } => whole_pages(*bytes).saturating_mul(3),
        Kernel::Fma | Kernel::Dot | Kernel::TensorCores(_) => 0,
        Kernel::Gemv(product) => {
            let stored = product.layout.format().stored_bytes(product.n, product.k).get();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let stored = stored as u64;
            stored
        }
        Kernel::Gemm(product) => {
            product.n.saturating_mul(product.k).saturating_mul(product.element.bytes())
        }
        Kernel::Attention(it) => it.cache_bytes(),
        // Residual, branch and output; gate, up and product.
        Kernel::Norm(it) | Kernel::Gate(it) => it.bytes().saturating_mul(3),
        Kernel::Rope(it) => it.bytes(),
        Kernel::Embedding(it) => it.table_bytes(),
    }
}

/// Bytes of an array of a stream, which has whole pages.
fn whole_pages(bytes: u64) -> u64 {
    bytes.max(1).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX)
}

/// Bytes of inputs and outputs, at most 4 per element; of a GEMV also the reference's f64 values and the distinct rows
/// before they are packed.
pub(crate) fn fixed(kernel: &Kernel) -> u64 {
    let sides = |m: u64, n: u64, k: u64| n.saturating_add(k).saturating_mul(m).saturating_mul(4);
    match kernel {
        Kernel::Read { .. }
        | Kernel::Copy { .. }
        | Kernel::Triad { .. }
        | Kernel::Fma
        | Kernel::Dot
        | Kernel::TensorCores(_) => 0,
        Kernel::Gemv(product) => {
            let rows = product.n.min(DISTINCT as u64);
            let outputs = product.n.saturating_mul(product.m).saturating_mul(32);
            let inputs = product.k.saturating_mul(16_u64.saturating_mul(product.m) + 4 * rows);
            outputs.saturating_add(inputs)
        }
        Kernel::Gemm(product) => sides(product.m, product.n, product.k),
        // Queries of each distinct head that a cache begins with, and the output; distinct heads as stored, and one of them in f64.
        Kernel::Attention(it) => {
            let heads = DISTINCT_HEADS as u64;
            let per_element = 2 * heads * it.cache.bytes() + 16;
            let head = it.context.saturating_mul(it.head_dim).saturating_mul(per_element);
            it.query_elements().saturating_mul(4 * (heads + 1)).saturating_add(head)
        }
        Kernel::Norm(it) | Kernel::Gate(it) => few_rows(it.width),
        Kernel::Rope(it) => few_rows(it.width())
            .saturating_add(it.tokens.saturating_mul(it.head_dim).saturating_mul(4)),
        Kernel::Embedding(it) => few_rows(it.width)
            .saturating_add(it.tokens.saturating_mul(it.width).saturating_mul(4))
            .saturating_add(it.vocab.saturating_add(it.tokens).saturating_mul(4)),
    }
}

/// Bytes of the distinct rows of an operator that streams, and of their results: at most 32 per element.
fn few_rows(width: u64) -> u64 {
    width.saturating_mul(DISTINCT as u64).saturating_mul(32)
}
