//! The blocks of an attention problem, numbered through all units.

use std::ops::Range;

use super::{BLOCK, TILE_ROWS};
use crate::backend::AttentionSizes;

/// A problem in elements that can be indexed.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::cpu) struct Space {
    pub(in crate::cpu) batch: usize,
    pub(in crate::cpu) heads: usize,
    pub(in crate::cpu) kv_heads: usize,
    pub(in crate::cpu) head_dim: usize,
    pub(in crate::cpu) new: usize,
    pub(in crate::cpu) context: usize,
    /// Tokens before the new ones.
    pub(in crate::cpu) cached: usize,
    /// Query heads per head of keys.
    pub(in crate::cpu) group: usize,
    /// 1/√head_dim.
    pub(super) scale: f32,
    /// New tokens per tile.
    tile: usize,
    /// Number of blocks before each tile of one head, and of all tiles.
    ends: Vec<usize>,
}

/// A key and value head of a sequence with a tile of new tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) index: usize,
    pub(super) sequence: usize,
    pub(super) kv_head: usize,
    /// New tokens, counted from the first one.
    pub(super) tokens: Range<usize>,
    /// Keys that the last of these tokens sees.
    pub(super) keys: usize,
    pub(super) first_block: usize,
    pub(super) blocks: usize,
}

impl Space {
    /// The sizes in elements that can be indexed; `None` beyond the address space, or where there is no such problem.
    pub(in crate::cpu) fn new(sizes: &AttentionSizes) -> Option<Self> {
        let size = |n: u64| usize::try_from(n).ok();
        // All elements of the cache and of the queries can be counted.
        let elements = sizes.cache_bytes().max(sizes.query_elements().saturating_mul(4));
        if !sizes.is_possible() || size(elements)? > isize::MAX.unsigned_abs() {
            return None;
        }
        let (heads, kv_heads) = (size(sizes.heads)?, size(sizes.kv_heads)?);
        let (new, context) = (size(sizes.new)?, size(sizes.context)?);
        let group = heads / kv_heads;
        let tile = (TILE_ROWS / group).clamp(1, new);
        let mut ends = vec![0];
        for first in (0..new).step_by(tile) {
            let keys = context - new + (first + tile).min(new);
            ends.push(ends[ends.len() - 1] + keys.div_ceil(BLOCK));
        }
        let head_dim = size(sizes.head_dim)?;
        Some(Self {
            batch: size(sizes.batch)?,
            heads,
            kv_heads,
            head_dim,
            new,
            context,
            cached: context - new,
            group,
            scale: 1.0 / (head_dim as f32).sqrt(),
            tile,
            ends,
        })
    }

    pub(in crate::cpu) const fn query_elements(&self) -> usize {
        self.batch * self.new * self.heads * self.head_dim
    }

    /// Elements of the keys, and of the values, in a cache with room for so many tokens per head.
    pub(in crate::cpu) const fn cache_elements(&self, room: usize) -> usize {
        self.batch * self.kv_heads * room * self.head_dim
    }

    /// Most rows of a unit.
    pub(super) const fn most_rows(&self) -> usize {
        self.tile * self.group
    }

    fn blocks_per_head(&self) -> usize {
        self.ends[self.ends.len() - 1]
    }

    /// Number of blocks of all units.
    pub(super) fn blocks(&self) -> usize {
        self.batch * self.kv_heads * self.blocks_per_head()
    }

    /// The unit that a block belongs to.
    pub(super) fn unit_of(&self, block: usize) -> Unit {
        let (head, within) = (block / self.blocks_per_head(), block % self.blocks_per_head());
        let tile = self.ends.partition_point(|end| *end <= within) - 1;
        self.unit(head * (self.ends.len() - 1) + tile)
    }

    /// The unit with a number.
    pub(super) fn unit(&self, index: usize) -> Unit {
        let tiles = self.ends.len() - 1;
        let (head, tile) = (index / tiles, index % tiles);
        let tokens = tile * self.tile..((tile + 1) * self.tile).min(self.new);
        Unit {
            index,
            sequence: head / self.kv_heads,
            kv_head: head % self.kv_heads,
            keys: self.cached + tokens.end,
            tokens,
            first_block: head * self.blocks_per_head() + self.ends[tile],
            blocks: self.ends[tile + 1] - self.ends[tile],
        }
    }

    /// Row of the queries and of the output for a new token and a member of the unit's group.
    pub(super) const fn row(&self, unit: &Unit, token: usize, member: usize) -> usize {
        (unit.sequence * self.new + token) * self.heads + unit.kv_head * self.group + member
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::StoredFloat;

    #[test]
    fn every_block_belongs_to_one_unit_and_every_row_to_one() {
        for (batch, heads, kv_heads, new, context) in [
            (1, 1, 1, 1, 1),
            (2, 6, 3, 1, 100),
            (1, 8, 2, 50, 130),
            (3, 71, 1, 2, 33),
            (1, 4, 4, 97, 97),
        ] {
            let sizes = AttentionSizes {
                cache: StoredFloat::Fp16,
                batch,
                heads,
                kv_heads,
                head_dim: 4,
                new,
                context,
            };
            let space = Space::new(&sizes).unwrap();
            let mut seen = vec![0; space.query_elements() / 4];
            let (mut next, mut last) = (0, None);
            for block in 0..space.blocks() {
                let unit = space.unit_of(block);
                assert!((unit.first_block..unit.first_block + unit.blocks).contains(&block));
                if last != Some(unit.index) {
                    assert_eq!((unit.index, unit.first_block), (next, block));
                    (next, last) = (next + 1, Some(unit.index));
                    for token in unit.tokens.clone() {
                        (0..space.group).for_each(|m| seen[space.row(&unit, token, m)] += 1);
                    }
                    assert!(unit.keys <= space.context && unit.blocks == unit.keys.div_ceil(BLOCK));
                    assert!(unit.tokens.len() * space.group <= space.most_rows());
                }
            }
            assert!(seen.iter().all(|times| *times == 1), "{sizes:?}");
        }
    }
}
