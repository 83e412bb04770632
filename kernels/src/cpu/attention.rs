//! Attention over a KV cache with grouped query heads, causal: one new token per sequence is decode, more are prefill.
//!
//! A unit of work is a key and value head of a sequence with all its query heads, and with a tile of new tokens, so that a key is
//! read once for all of them. Its keys are gone through in blocks of [`BLOCK`] tokens: scores, their largest so far, weights
//! exp(score − largest), and sums of weighted values, which are scaled again where the largest rises (online softmax).
//! Workers share the blocks of all units evenly, so that a long context is split where heads are fewer than threads. A worker
//! finishes what it has whole; of a unit that several share, each keeps its part, and the caller joins them.
//!
//! Scores and sums are FP32. The largest error is that of the scores, because the weights multiply it.

mod block;
mod parts;
mod space;

use std::sync::PoisonError;

use block::Rows;
pub use parts::AttentionScratch;
pub(in crate::cpu) use space::Space;

use super::disjoint_rows::DisjointRows;
use super::isa::Isa;
use super::lanes::{self, Lanes, Stored, VectorKernel};
use super::threads::Pool;

/// Tokens per block: keys and values of 128 FP16 numbers stay in a first-level cache of 32 KiB beside the scores.
const BLOCK: usize = 32;
/// Rows of a unit, one per new token and query head, that a tile has at most where a single token has fewer.
const TILE_ROWS: usize = 32;

/// Buffers of one call.
#[derive(Debug)]
pub struct AttentionBuffers<'a, T> {
    /// batch × new × heads × head_dim.
    pub queries: &'a [f32],
    /// batch × kv_heads × room × head_dim, of which the first `context` tokens are read.
    pub keys: &'a [T],
    /// batch × kv_heads × room × head_dim, of which the first `context` tokens are read.
    pub values: &'a [T],
    /// Tokens that a head of the cache has room for; at least the context.
    pub room: usize,
    /// batch × new × heads × head_dim.
    pub output: &'a mut [f32],
    /// Memory that was made for the shape of the problem.
    pub scratch: &'a mut AttentionScratch,
}

/// Computes attention.
///
/// # Panics
/// When a buffer does not have the size of the problem, or the scratch was made for another one.
pub(super) fn attention<T: Stored>(isa: Isa, pool: &mut Pool, buffers: AttentionBuffers<'_, T>) {
    let AttentionBuffers { queries, keys, values, room, output, scratch } = buffers;
    let space = &scratch.space;
    let (wide, stored) = (space.query_elements(), space.cache_elements(room));
    assert!(room >= space.context, "room for the context");
    assert!(queries.len() == wide && output.len() == wide, "queries and output of this shape");
    assert!(keys.len() == stored && values.len() == stored, "a cache of this shape");
    assert_eq!(scratch.parts.len(), pool.len(), "scratch for this number of workers");
    let rows = DisjointRows::of(&mut *output);
    let cache = Cache { queries, keys, values, room };
    pool.run(|worker| {
        // A worker that panicked left nothing that the next call reads.
        let mut part = scratch.parts[worker.index].lock().unwrap_or_else(PoisonError::into_inner);
        let blocks = worker.share(space.blocks(), 1);
        lanes::run(isa, Share { space, cache, blocks, rows: &rows, part: &mut part });
    });
    scratch.join(output);
}

/// Inputs of all workers.
#[derive(Debug)]
struct Cache<'a, T> {
    queries: &'a [f32],
    keys: &'a [T],
    values: &'a [T],
    room: usize,
}

impl<T> Clone for Cache<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Cache<'_, T> {}

/// A worker's blocks.
struct Share<'a, T> {
    space: &'a Space,
    cache: Cache<'a, T>,
    blocks: std::ops::Range<usize>,
    rows: &'a DisjointRows<'a, f32>,
    part: &'a mut parts::WorkerPart,
}

impl<T: Stored> VectorKernel for Share<'_, T> {
    #[expect(clippy::inline_always, reason = "compiled for an instruction set")]
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { space, cache, blocks, rows, part } = self;
        part.begin();
        let mut next = blocks.start;
        while next < blocks.end {
            let unit = space.unit_of(next);
            let end = blocks.end.min(unit.first_block + unit.blocks);
            begin_rows(space, &cache, &unit, &mut part.rows);
            let head =
                (unit.sequence * space.kv_heads + unit.kv_head) * cache.room * space.head_dim;
            let room = cache.room * space.head_dim;
            let (keys, values) = (&cache.keys[head..][..room], &cache.values[head..][..room]);
            for block in next - unit.first_block..end - unit.first_block {
                let first = block * BLOCK;
                let tokens = BLOCK.min(unit.keys - first);
                let place = first * space.head_dim..(first + tokens) * space.head_dim;
                part.rows.block::<L, T>(first, &keys[place.clone()], &values[place]);
            }
            if end - next == unit.blocks {
                finish(space, &unit, &part.rows, rows);
            } else {
                part.keep(unit.index);
            }
            next = end;
        }
    }
}

/// Puts the queries of a unit into the rows, scaled by 1/√head_dim, with the keys that each may see.
fn begin_rows<T>(space: &Space, cache: &Cache<'_, T>, unit: &space::Unit, rows: &mut Rows) {
    rows.begin(unit.tokens.len() * space.group);
    for (t, token) in unit.tokens.clone().enumerate() {
        let visible = space.cached + token + 1;
        for member in 0..space.group {
            let query = space.row(unit, token, member) * space.head_dim;
            let query = &cache.queries[query..][..space.head_dim];
            rows.put_query(t * space.group + member, query, visible, space.scale);
        }
    }
}

/// Writes the results of a unit that one worker computed alone.
#[expect(unsafe_code, reason = "workers write disjoint rows of the output")]
fn finish(space: &Space, unit: &space::Unit, rows: &Rows, output: &DisjointRows<'_, f32>) {
    for (t, token) in unit.tokens.clone().enumerate() {
        for member in 0..space.group {
            let place = space.row(unit, token, member);
            // SAFETY: a row of the output belongs to one unit, and this worker has the whole unit.
            let to = unsafe { output.row(place, space.head_dim) };
            rows.write_result(t * space.group + member, to);
        }
    }
}

#[cfg(test)]
mod tests;
