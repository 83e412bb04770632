//! Iteration over a row in chunks of a fixed number of elements; the last chunk is padded with zeros.

use std::slice::ChunksExact;

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
    let (codes, scales, zeros) =
        (chunks::<C>(row, row.codes), chunks::<S>(row, row.scales), chunks::<Z>(row, row.zeros));
    assert!(
        scales.len() >= whole && zeros.len() >= whole,
        "all planes have the chunks of the codes"
    );
    for (i, ((codes, scales), zeros)) in (0..whole).zip(codes.zip(scales).zip(zeros)) {
        let (codes, scales, zeros) = (sized(codes), sized(scales), sized(zeros));
        prefetch::ahead(codes);
        step(Chunk { codes, scales, zeros }, heads.map(|input| &input[i]));
    }
    if row.codes.len() > whole * C {
        let codes = filled(&row.codes[whole * C..]);
        let (scales, zeros) = (filled(&row.scales[whole * S..]), filled(&row.zeros[whole * Z..]));
        let last = inputs.map(|input| &input[whole]);
        step(Chunk { codes: &codes, scales: &scales, zeros: &zeros }, last);
    }
}

/// Whole chunks of a plane; for a plane that is not read, as many as the codes have bytes.
///
/// The chunks of all planes are counted once before the loop: comparing an index with each plane cost a twentieth of the time of
/// four-bit weights in the caches.
#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn chunks<'a, const N: usize>(row: &RowRef<'a>, plane: &'a [u8]) -> ChunksExact<'a, u8> {
    if N == 0 { row.codes.chunks_exact(1) } else { plane.chunks_exact(N) }
}

#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn sized<const N: usize>(chunk: &[u8]) -> &[u8; N] {
    chunk.first_chunk().expect("a chunk has the bytes of its plane")
}

/// The rest of a plane, padded with zeros.
fn filled<const N: usize>(rest: &[u8]) -> [u8; N] {
    let mut chunk = [0; N];
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
