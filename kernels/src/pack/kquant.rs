//! GGUF's Q4_K and Q6_K: blocks of 256 with scales of 6 or 8 bits for parts of 32 or 16, under scales in FP16.
//!
//! As in ggml, the scale of a part (and its minimum) is searched: of several candidates the one with the least weighted square error.
//!
//! ```text
//! Q4_K   w = d·s·q - dmin·m     q 4 bits; s, m 6 bits per 32; d, dmin FP16 per 256
//! Q6_K   w = d·s·(q - 32)       q 6 bits; s 8 bits with sign per 16; d FP16 per 256
//! ```

use half::f16;

use super::rounding::{byte, half_to_even};

/// Elements of a block.
pub(crate) const BLOCK: usize = 256;
/// Bytes of a block of Q4_K: d, dmin, 12 bytes of scales and minima, 128 bytes of codes.
pub(crate) const Q4_K_BYTES: usize = 144;
/// Bytes of a block of Q6_K: 128 bytes of the lower 4 bits, 64 of the upper 2, 16 scales, d.
pub(crate) const Q6_K_BYTES: usize = 210;
/// Place of the codes in a block of Q4_K.
pub(crate) const Q4_K_CODES: usize = 16;
/// Places of the upper 2 bits, of the scales and of d in a block of Q6_K.
pub(crate) const Q6_K_UPPER: usize = 128;
pub(crate) const Q6_K_SCALES: usize = 192;
pub(crate) const Q6_K_D: usize = 208;

/// Elements that share a scale and a minimum in Q4_K.
const PART: usize = 32;
/// Elements that share a scale in Q6_K.
const SMALL_PART: usize = 16;
/// Largest code of Q4_K.
const MOST_4: i16 = 15;
/// Largest scale and minimum of Q4_K.
const MOST_6: f32 = 63.0;
/// A part whose largest magnitude is less becomes zeros.
const VANISHING: f32 = 1e-15;

/// One block of the row, padded with zeros.
fn padded(values: &[f32]) -> [f32; BLOCK] {
    let mut block = [0.0; BLOCK];
    block[..values.len()].copy_from_slice(values);
    block
}

/// Code q of w = scale·q - below.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Affine {
    scale: f32,
    below: f32,
}

/// Candidates for the step of a part: (15 - 1 + i/10) steps span it, for i from 0.
const STEPS: u8 = 20;

/// The scale and the minimum of a part in Q4_K with the least Σ weight·error², among those that the candidates lead to by least squares.
///
/// Returns their codes, too.
fn searched(x: &[f32; PART]) -> (Affine, [i16; PART]) {
    let mean_square = x.iter().fold(0.0, |sum, x| sum + x * x) / PART as f32;
    let usual = mean_square.sqrt();
    let weights = x.map(|x| usual + x.abs());
    let least = x.iter().copied().fold(x[0], f32::min).min(0.0);
    let most = x.iter().copied().fold(x[0], f32::max);
    if most <= least {
        return (Affine { scale: 0.0, below: -least }, [0; PART]);
    }
    let (mut sum_w, mut sum_x) = (0.0, 0.0);
    for (w, x) in weights.iter().zip(x) {
        sum_w += w;
        sum_x += w * x;
    }
    let codes =
        |inverse: f32, least: f32| x.map(|x| half_to_even(inverse * (x - least), 0, MOST_4));
    let error = |found: Affine, codes: &[i16; PART]| {
        let each = weights.iter().zip(x).zip(codes);
        each.fold(0.0, |sum, ((w, x), code)| {
            let off = found.scale * f32::from(*code) - found.below - x;
            sum + w * (off * off)
        })
    };
    let inverse = f32::from(MOST_4) / (most - least);
    let mut best = (Affine { scale: 1.0 / inverse, below: -least }, codes(inverse, least));
    let mut least_error = error(best.0, &best.1);
    for step in 0..=STEPS {
        // As in ggml, a candidate begins at the best minimum so far.
        let least = -best.0.below;
        let inverse = (-1.0 + 0.1 * f32::from(step) + f32::from(MOST_4)) / (most - least);
        let codes = codes(inverse, least);
        let (mut sum_l, mut sum_l2, mut sum_xl) = (0.0, 0.0, 0.0);
        for ((w, x), code) in weights.iter().zip(x).zip(codes) {
            let code = f32::from(code);
            sum_l += w * code;
            sum_l2 += w * code * code;
            sum_xl += w * code * x;
        }
        let determinant = sum_w * sum_l2 - sum_l * sum_l;
        if determinant <= 0.0 {
            continue;
        }
        let scale = (sum_w * sum_xl - sum_x * sum_l) / determinant;
        let minimum = (sum_l2 * sum_x - sum_l * sum_xl) / determinant;
        let found = if minimum > 0.0 {
            Affine { scale: sum_xl / sum_l2, below: 0.0 }
        } else {
            Affine { scale, below: -minimum }
        };
        let error = error(found, &codes);
        if error < least_error {
            (best, least_error) = ((found, codes), error);
        }
    }
    best
}

/// Encodes Q4_K.
pub(super) fn encode_q4_k(row: &[f32], codes: &mut [u8]) {
    for (values, stored) in row.chunks(BLOCK).zip(codes.as_chunks_mut::<Q4_K_BYTES>().0) {
        let block = padded(values);
        let parts = block.as_chunks::<PART>().0;
        let found: Vec<(Affine, [i16; PART])> = parts.iter().map(searched).collect();
        let largest = |of: fn(&Affine) -> f32| found.iter().map(|it| of(&it.0)).fold(0.0, f32::max);
        let (scale, below) = (largest(|it| it.scale), largest(|it| it.below));
        let inverse = |most: f32| if most > 0.0 { MOST_6 / most } else { 0.0 };
        let six = |value: f32| byte(half_to_even(value, 0, 63));
        let scales = core::array::from_fn(|j| six(inverse(scale) * found[j].0.scale));
        let minima = core::array::from_fn(|j| six(inverse(below) * found[j].0.below));
        let (d, dmin) = (f16::from_f32(scale / MOST_6), f16::from_f32(below / MOST_6));
        stored[..2].copy_from_slice(&d.to_le_bytes());
        stored[2..4].copy_from_slice(&dmin.to_le_bytes());
        stored[4..Q4_K_CODES].copy_from_slice(&joined(scales, minima));
        let quanta = |j: usize| {
            let scale = d.to_f32() * f32::from(scales[j]);
            let below = dmin.to_f32() * f32::from(minima[j]);
            if scale > 0.0 {
                parts[j].map(|x| byte(half_to_even((x + below) / scale, 0, MOST_4)))
            } else {
                // Every code stands for the minimum; ggml leaves those of the search.
                found[j].1.map(byte)
            }
        };
        for (j, pair) in stored[Q4_K_CODES..].as_chunks_mut::<PART>().0.iter_mut().enumerate() {
            let (low, high) = (quanta(2 * j), quanta(2 * j + 1));
            for ((code, low), high) in pair.iter_mut().zip(low).zip(high) {
                *code = low | high << 4;
            }
        }
    }
}

/// Packs eight scales and eight minima of 6 bits each: the first four of both in the lower bits of a byte each, the lower four bits of
/// the others in a byte per pair, and their upper two in the upper bits of the first eight bytes.
pub(crate) fn joined(scales: [u8; 8], minima: [u8; 8]) -> [u8; 12] {
    core::array::from_fn(|i| match i {
        0..4 => scales[i] | scales[i + 4] >> 4 << 6,
        4..8 => minima[i - 4] | minima[i] >> 4 << 6,
        _ => scales[i - 4] & 15 | minima[i - 4] << 4,
    })
}

/// The scales and the minima of a block of Q4_K.
pub(crate) const fn split(stored: &[u8; Q4_K_BYTES]) -> ([u8; 8], [u8; 8]) {
    let (mut scales, mut minima) = ([0; 8], [0; 8]);
    let mut j = 0;
    while j < 4 {
        let (scale, minimum, both) = (stored[4 + j], stored[8 + j], stored[12 + j]);
        scales[j] = scale & 63;
        minima[j] = minimum & 63;
        scales[j + 4] = both & 15 | scale >> 6 << 4;
        minima[j + 4] = both >> 4 | minimum >> 6 << 4;
        j += 1;
    }
    (scales, minima)
}

/// An FP16 number in a block.
pub(crate) const fn half_at(stored: &[u8], place: usize) -> f16 {
    f16::from_le_bytes([stored[place], stored[place + 1]])
}

/// Decodes Q4_K.
pub(super) fn decode_q4_k(codes: &[u8], row: &mut [f64]) {
    for (stored, values) in codes.as_chunks::<Q4_K_BYTES>().0.iter().zip(row.chunks_mut(BLOCK)) {
        let (scales, minima) = split(stored);
        let (d, dmin) = (half_at(stored, 0).to_f64(), half_at(stored, 2).to_f64());
        for (i, value) in values.iter_mut().enumerate() {
            let part = i / PART;
            let code = stored[Q4_K_CODES + part / 2 * PART + i % PART] >> (part % 2 * 4) & 15;
            let scale = d * f64::from(scales[part]);
            *value = scale * f64::from(code) - dmin * f64::from(minima[part]);
        }
    }
}

/// The scale of a part in Q6_K with the least Σ x²·error² among those that 19 candidates lead to by least squares, and its codes.
fn searched_symmetric(x: &[f32; SMALL_PART]) -> (f32, [i16; SMALL_PART]) {
    let extreme = x.iter().fold(0.0_f32, |most, x| if x.abs() > most.abs() { *x } else { most });
    if extreme.abs() < VANISHING {
        return (0.0, [-32; SMALL_PART]);
    }
    let codes = |inverse: f32| x.map(|x| half_to_even(inverse * x, -32, 31));
    let sums = |inverse: f32| {
        let (mut sum_xl, mut sum_l2) = (0.0, 0.0);
        for (x, code) in x.iter().zip(codes(inverse)) {
            let (code, weight) = (f32::from(code), x * x);
            sum_xl += weight * x * code;
            sum_l2 += weight * code * code;
        }
        (sum_xl, sum_l2)
    };
    let mut chosen = -32.0 / extreme;
    let (sum_xl, sum_l2) = sums(chosen);
    let mut scale = if sum_l2 > 0.0 { sum_xl / sum_l2 } else { 0.0 };
    let mut best = scale * sum_xl;
    for step in (-9..=9_i8).filter(|step| *step != 0) {
        let inverse = -(32.0 + 0.1 * f32::from(step)) / extreme;
        let (sum_xl, sum_l2) = sums(inverse);
        if sum_l2 > 0.0 && sum_xl * sum_xl > best * sum_l2 {
            (chosen, scale) = (inverse, sum_xl / sum_l2);
            best = scale * sum_xl;
        }
    }
    (scale, codes(chosen))
}

/// Encodes Q6_K.
pub(super) fn encode_q6_k(row: &[f32], codes: &mut [u8]) {
    for (values, stored) in row.chunks(BLOCK).zip(codes.as_chunks_mut::<Q6_K_BYTES>().0) {
        stored.fill(0);
        let block = padded(values);
        let parts = block.as_chunks::<SMALL_PART>().0;
        let found: Vec<(f32, [i16; SMALL_PART])> = parts.iter().map(searched_symmetric).collect();
        let extreme = found
            .iter()
            .fold(0.0_f32, |most, (scale, _)| if scale.abs() > most.abs() { *scale } else { most });
        if extreme.abs() < VANISHING {
            continue;
        }
        let inverse = -128.0 / extreme;
        let d = f16::from_f32(1.0 / inverse);
        stored[Q6_K_D..].copy_from_slice(&d.to_le_bytes());
        for (j, part) in parts.iter().enumerate() {
            let scale = half_to_even(inverse * found[j].0, -128, 127);
            stored[Q6_K_SCALES + j] = byte(scale);
            let scale = d.to_f32() * f32::from(scale);
            for (i, x) in part.iter().enumerate() {
                let searched = found[j].1[i];
                let code = if scale == 0.0 { searched } else { half_to_even(x / scale, -32, 31) };
                let (code, at) = (byte(code + 32), j * SMALL_PART + i);
                let (low, high) = places(at);
                stored[low.0] |= (code & 15) << low.1;
                stored[high.0] |= code >> 4 << high.1;
            }
        }
    }
}

/// Bytes and shifts of the lower 4 bits and the upper 2 bits of an element of Q6_K. Of each 128 elements the first and the third 32 share
/// bytes, and so do the second and the fourth.
const fn places(at: usize) -> ((usize, usize), (usize, usize)) {
    let (half, quarter, i) = (at / 128, at % 128 / 32, at % 32);
    let low = half * 64 + quarter % 2 * 32 + i;
    ((low, quarter / 2 * 4), (Q6_K_UPPER + half * 32 + i, quarter * 2))
}

/// The code of an element of a block of Q6_K.
pub(crate) const fn q6_k_code(stored: &[u8; Q6_K_BYTES], at: usize) -> u8 {
    let (low, high) = places(at);
    stored[low.0] >> low.1 & 15 | (stored[high.0] >> high.1 & 3) << 4
}

/// Decodes Q6_K.
pub(super) fn decode_q6_k(codes: &[u8], row: &mut [f64]) {
    for (stored, values) in codes.as_chunks::<Q6_K_BYTES>().0.iter().zip(row.chunks_mut(BLOCK)) {
        let d = half_at(stored, Q6_K_D).to_f64();
        for (i, value) in values.iter_mut().enumerate() {
            let code = q6_k_code(stored, i);
            let scale = d * f64::from(stored[Q6_K_SCALES + i / SMALL_PART].cast_signed());
            *value = scale * (f64::from(code) - 32.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_and_minima_of_six_bits_come_back() {
        for shift in 0..64_u8 {
            let scales = [0, 1, 2, 3, 4, 5, 6, 7].map(|j| (shift + 9 * j) % 64);
            let minima = scales.map(|scale| 63 - scale / 2);
            let mut stored = [0; Q4_K_BYTES];
            stored[4..Q4_K_CODES].copy_from_slice(&joined(scales, minima));
            assert_eq!(split(&stored), (scales, minima));
        }
    }

    #[test]
    fn every_element_of_a_block_of_six_bits_has_its_own_bits() {
        let mut seen = [[0_u8; 8]; Q6_K_SCALES];
        for at in 0..BLOCK {
            let (low, high) = places(at);
            for ((place, shift), bits) in [(low, 4), (high, 2)] {
                seen[place][shift..shift + bits].iter_mut().for_each(|count| *count += 1);
            }
        }
        assert_eq!(seen, [[1; 8]; Q6_K_SCALES]);
    }
}
