//! Iteration over a row in chunks of a fixed number of elements; the last chunk is padded with zeros.

use crate::cpu::prefetch;
use crate::pack::RowRef;

/// The bytes of one chunk in each plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk<'a, const C: usize, const S: usize, const Z: usize> {
    pub codes: &'a [u8; C],
    pub scales: &'a [u8; S],
    pub zeros: &'a [u8; Z],
}

/// Calls `step` with each chunk of a row and the matching chunks of M inputs.
///
/// `C`, `S` and `Z` are the bytes per chunk in the planes; 0 for a plane that `step` does not read.
/// Padding of the last chunk meets zeros of the inputs.
#[expect(
    clippy::inline_always,
    reason = "the step is compiled for an instruction set, and only inside its caller it can be inlined"
)]
#[inline(always)]
pub(super) fn walk<const C: usize, const S: usize, const Z: usize, X, const M: usize>(
    row: &RowRef<'_>,
    inputs: [&[X]; M],
    mut step: impl FnMut(Chunk<'_, C, S, Z>, [&X; M]),
) {
    let whole = row.codes.len() / C;
    let heads = inputs.map(|input| &input[..whole]);
    for i in 0..whole {
        let (codes, scales, zeros) = (part(row.codes, i), part(row.scales, i), part(row.zeros, i));
        prefetch::ahead(codes);
        step(Chunk { codes, scales, zeros }, heads.map(|input| &input[i]));
    }
    if row.codes.len() > whole * C {
        let (codes, scales) = (rest(row.codes, whole), rest(row.scales, whole));
        let zeros = rest(row.zeros, whole);
        let last = inputs.map(|input| &input[whole]);
        step(Chunk { codes: &codes, scales: &scales, zeros: &zeros }, last);
    }
}

#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn part<const N: usize>(plane: &[u8], i: usize) -> &[u8; N] {
    plane[i * N..].first_chunk().expect("a plane has as many whole chunks as the codes")
}

/// The rest after whole chunks, padded with zeros.
fn rest<const N: usize>(plane: &[u8], whole: usize) -> [u8; N] {
    let mut chunk = [0; N];
    let rest = &plane[whole * N..];
    let len = rest.len().min(N);
    chunk[..len].copy_from_slice(&rest[..len]);
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_seen_once_and_the_last_chunk_is_filled_up() {
        let codes: Vec<u8> = (1..=10).collect();
        let row = RowRef { codes: &codes, scales: &[7, 8, 9], zeros: &[] };
        let mut seen = Vec::new();
        walk::<4, 1, 0, _, _>(&row, [&['a', 'b', 'c'], &['x', 'y', 'z']], |chunk, [a, b]| {
            seen.push((*chunk.codes, chunk.scales[0], *a, *b));
        });
        let expected = [
            ([1, 2, 3, 4], 7, 'a', 'x'),
            ([5, 6, 7, 8], 8, 'b', 'y'),
            ([9, 10, 0, 0], 9, 'c', 'z'),
        ];
        assert_eq!(seen, expected);
    }
}
