//! Going along a row in chunks of a fixed number of elements; the last is filled up with zeros.

use crate::pack::RowRef;

/// A chunk of a row in each plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk<'a, const C: usize, const S: usize, const Z: usize> {
    pub codes: &'a [u8; C],
    pub scales: &'a [u8; S],
    pub zeros: &'a [u8; Z],
}

/// Calls `step` with the chunks of `R` rows and the chunk of the input that belongs to them: a part of the input that is
/// loaded once serves `R` rows, and memory is read in `R` places at a time.
///
/// `C`, `S` and `Z` are the bytes of a chunk in the planes; 0 of a plane that the step does not read.
/// What fills up the last chunk multiplies zeros of the input.
#[expect(
    clippy::inline_always,
    reason = "the step is compiled for an instruction set, and only inside its caller it can be inlined"
)]
#[inline(always)]
pub(super) fn walk<const C: usize, const S: usize, const Z: usize, const R: usize, X>(
    rows: [RowRef<'_>; R],
    input: &[X],
    mut step: impl FnMut([Chunk<'_, C, S, Z>; R], &X),
) {
    let whole = rows[0].codes.len() / C;
    let count = rows[0].codes.len().div_ceil(C);
    let mut last = [([0; C], [0; S], [0; Z]); R];
    // One call of `step`, so that it is inlined whatever its size.
    for (i, x) in input[..count].iter().enumerate() {
        if i == whole {
            last = rows.map(|row| {
                (rest(row.codes, whole), rest(row.scales, whole), rest(row.zeros, whole))
            });
        }
        let mut chunks =
            last.each_ref().map(|(codes, scales, zeros)| Chunk { codes, scales, zeros });
        if i < whole {
            for (chunk, row) in chunks.iter_mut().zip(rows) {
                *chunk = chunk_of(row, i);
            }
        }
        step(chunks, x);
    }
}

#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn chunk_of<const C: usize, const S: usize, const Z: usize>(
    row: RowRef<'_>,
    i: usize,
) -> Chunk<'_, C, S, Z> {
    Chunk { codes: part(row.codes, i), scales: part(row.scales, i), zeros: part(row.zeros, i) }
}

#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn part<const N: usize>(plane: &[u8], i: usize) -> &[u8; N] {
    plane[i * N..].first_chunk().expect("a plane has as many whole chunks as the codes")
}

/// What is left after whole chunks, filled up with zeros.
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
        let other = RowRef { scales: &[1, 2, 3], ..row };
        let mut seen = Vec::new();
        walk::<4, 1, 0, 2, _>([row, other], &['a', 'b', 'c'], |[row, other], x| {
            seen.push((*row.codes, row.scales[0], other.scales[0], *x));
        });
        let expected =
            [([1, 2, 3, 4], 7, 1, 'a'), ([5, 6, 7, 8], 8, 2, 'b'), ([9, 10, 0, 0], 9, 3, 'c')];
        assert_eq!(seen, expected);
    }
}
