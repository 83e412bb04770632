//! Products of matrices by a library: rows and tokens repeat few distinct ones.

use half::f16;

use super::{CallBuffer, Called, Problem, floats};
use crate::backend::{Element, Fault, GemmShape, StoredFloat};
use crate::compare::{Mismatch, compare_rounded};
use crate::cuda::call::NoCall;
use crate::distinct::{DISTINCT, normal, repeated, start};
use crate::random::Random;
use crate::reference::ReferenceResult;

/// The number of which N and K are a multiple in FP8 and INT8: rows of 16 bytes.
const NARROW_MULTIPLE: u64 = 16;
/// About as many tokens are compared with the reference, among them the first and the last one: whole results may have gigabytes.
const COMPARED: u64 = 256;

/// The problem of a product of matrices whose algorithm may use a workspace [B]. Buffers: W, X, Y, workspace.
///
/// # Errors
/// When the library has no such product, or a size exceeds the address space.
pub(crate) fn problem(product: GemmShape, seed: u64, workspace: u64) -> Result<Problem, Fault> {
    let GemmShape { element, m, n, k } = product;
    is_possible(product)?;
    let (tokens, rows, cols) = (super::size(m)?, super::size(n)?, super::size(k)?);
    let mut random = Random::new(seed);
    let weights = Operand::new(&mut random, element, rows.min(DISTINCT) * cols, true);
    let inputs = Operand::new(&mut random, element, tokens.min(DISTINCT) * cols, false);
    let few: Vec<ReferenceResult> =
        inputs.values.chunks(cols).map(|token| reference(&weights.values, token)).collect();
    let (distinct, row_bytes) = (rows.min(DISTINCT), cols * size_of_element(element));
    let of_rows = |rows: u64| rows.saturating_mul(row_bytes as u64);
    let result_bytes = n.saturating_mul(element.result_bytes());
    let compared = compared(m);
    let result = CallBuffer::output(m.saturating_mul(result_bytes));
    let parts = compared.iter().map(|token| token * result_bytes..(token + 1) * result_bytes);
    let result = CallBuffer { parts: Some(parts.collect()), ..result };
    let buffers = vec![
        CallBuffer::rows(of_rows(n), weights.stored, row_bytes, move |set| start(set, distinct)),
        CallBuffer::repeated(of_rows(m), inputs.stored),
        result,
        CallBuffer::repeated(workspace, vec![0]),
    ];
    let error = move |set: u64, written: &[Vec<u8>]| {
        let first = start(set, distinct);
        let expected: Vec<ReferenceResult> =
            few.iter().map(|token| repeated(token, first, rows)).collect();
        let got = written[0].chunks(usize::try_from(result_bytes).unwrap_or(usize::MAX));
        let errors = got
            .zip(&compared)
            .map(|(got, token)| error_of(element, got, &expected[set_of(*token, expected.len())]));
        errors.fold(0.0, f64::max)
    };
    Ok(Problem::new(Called::Product(product), buffers, product.cost(), error))
}

/// Refuses sizes that no algorithm takes.
fn is_possible(GemmShape { element, m, n, k }: GemmShape) -> Result<(), Fault> {
    if m == 0 || n == 0 || k == 0 {
        return Err(Fault::Unsupported);
    }
    let multiple = NARROW_MULTIPLE;
    let is_narrow = matches!(element, Element::Fp8E4m3 | Element::Int8);
    if is_narrow && !k.is_multiple_of(multiple) {
        return Err(NoCall::Inputs { multiple }.into());
    }
    if is_narrow && !n.is_multiple_of(multiple) {
        return Err(NoCall::Outputs { multiple }.into());
    }
    if element == Element::Int8 && k > GemmShape::MOST_INT8_INPUTS {
        return Err(NoCall::TooLarge.into());
    }
    Ok(())
}

fn size_of_element(element: Element) -> usize {
    usize::try_from(element.bytes()).expect("a few bytes")
}

/// Tokens that are compared: a step that is no multiple of the distinct ones, and the last one.
fn compared(tokens: u64) -> Vec<u64> {
    let step = (tokens / COMPARED).max(1);
    let step = if step.is_multiple_of(DISTINCT as u64) { step + 1 } else { step };
    let last = tokens - 1;
    let others = (0..last).step_by(usize::try_from(step).unwrap_or(usize::MAX));
    others.chain([last]).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "below the number of tokens")]
const fn set_of(token: u64, distinct: usize) -> usize {
    (token % distinct as u64) as usize
}

/// Distinct rows of an operand.
struct Operand {
    /// Elements in the bytes that cuBLASLt reads.
    stored: Vec<u8>,
    /// Elements as FP64, for the reference.
    values: Vec<f64>,
}

impl Operand {
    fn new(random: &mut Random, element: Element, len: usize, are_weights: bool) -> Self {
        if element == Element::Int8 {
            let stored: Vec<u8> = (0..len).map(|_| random.bits().to_le_bytes()[0]).collect();
            let values = stored.iter().map(|code| f64::from(code.cast_signed())).collect();
            return Self { stored, values };
        }
        // Weights in FP8 have a scale in a model, which brings them near 1.
        let is_small = are_weights && element != Element::Fp8E4m3;
        let mut values = normal(random, len, if is_small { 0.02 } else { 1.0 });
        if element == Element::Tf32 {
            for value in &mut values {
                *value = tf32(*value);
            }
        }
        let format = match element {
            Element::Fp32 | Element::Tf32 | Element::Int8 => StoredFloat::Fp32,
            Element::Fp16 => StoredFloat::Fp16,
            Element::Bf16 => StoredFloat::Bf16,
            Element::Fp8E4m3 => StoredFloat::Fp8E4m3,
        };
        let stored = format.store(&values);
        let values = format.read(&stored).into_iter().map(f64::from).collect();
        Self { stored, values }
    }
}

/// The nearest number with the 11 significant bits of TF32, so that tensor cores take it as it is.
const fn tf32(value: f32) -> f32 {
    let bits = value.to_bits();
    // Ties go to the even one; 13 bits are dropped.
    let half_less = 0x0fff + ((bits >> 13) & 1);
    f32::from_bits((bits + half_less) & !0x1fff)
}

/// A token times all distinct rows.
fn reference(rows: &[f64], token: &[f64]) -> ReferenceResult {
    let products = |of: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
        let sum = |row: &[f64]| row.iter().zip(token).map(|(w, x)| of(*w, *x)).sum();
        rows.chunks(token.len()).map(sum).collect()
    };
    ReferenceResult {
        values: products(&|w, x| w * x),
        magnitudes: products(&|w, x| (w * x).abs()),
        // A library guarantees one accumulator, not sixteen.
        terms: 16 * token.len(),
    }
}

/// Error of a sum of FP8 products by tensor cores that keep 13 bits below the largest number as they add, as those of 9.0 are said to do,
/// as a share of the sum of magnitudes.
///
/// ```text
/// 2⁻¹² · max(1, √K / 32)
/// ```
///
/// They add 32 products and the sum so far at once, so the sum is truncated K / 32 times, each time by at most 2⁻¹³ of it. Operands here are
/// normal: a sum of K products is about √K of their root mean square, which is π / 2 of the mean magnitude. All truncations have one
/// direction, so their sum is at most K / 32 · 2⁻¹³ · √K · π / (2 K) of the sum of magnitudes, which the formula rounds up. The minimum is for the
/// products of one step. A sum in FP32 is far below it; published errors of 2 % at K = 4096 are half of it.
fn few_bits(k: usize) -> f64 {
    (calc_core::math::sqrt(k as f64) / 32.0).max(1.0) / 4096.0
}

/// Error over tolerance of a token's result; INT8 must be exact.
fn error_of(element: Element, got: &[u8], expected: &ReferenceResult) -> f64 {
    if element == Element::Int8 {
        let got = got.as_chunks().0.iter().map(|it| f64::from(i32::from_le_bytes(*it)));
        let is_right = got.eq(expected.values.iter().copied());
        return if is_right { 0.0 } else { f64::INFINITY };
    }
    let got: Vec<f32> = match element {
        Element::Fp32 | Element::Tf32 | Element::Int8 => floats(got),
        Element::Fp16 => StoredFloat::Fp16.read(got),
        Element::Bf16 | Element::Fp8E4m3 => StoredFloat::Bf16.read(got),
    };
    let rounding = |at: usize| {
        let (value, magnitude) = (expected.values[at].abs(), expected.magnitudes[at]);
        match element {
            Element::Fp32 | Element::Tf32 | Element::Int8 => 0.0,
            Element::Fp16 => value / 2048.0 + f64::from(f16::MIN_POSITIVE_SUBNORMAL),
            Element::Bf16 => value / 256.0,
            Element::Fp8E4m3 => value / 256.0 + magnitude * few_bits(expected.terms / 16),
        }
    };
    match compare_rounded(&got, expected, &rounding) {
        Ok(None) => 0.0,
        Ok(Some(worst)) => worst.error / worst.tolerance,
        // `f64::max` drops NaN, so NaN is reported as infinity.
        Err(Mismatch::Element(worst)) if worst.error.is_finite() => worst.error / worst.tolerance,
        Err(_) => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tf32_has_eleven_significant_bits() {
        for (value, expected) in [
            (1.0, 1.0),
            (1.0 + 1.0 / 1024.0, 1.0 + 1.0 / 1024.0),
            // Halfway: to the even one, down and up.
            (1.0 + 1.0 / 2048.0, 1.0),
            (1.0 + 3.0 / 2048.0, 1.0 + 2.0 / 1024.0),
            (-0.3, -0.300_048_83),
        ] {
            assert_eq!(tf32(value).to_bits(), f32::to_bits(expected), "{value}");
        }
    }

    #[test]
    fn compared_tokens_have_the_ends_and_every_distinct_one() {
        for tokens in [1, 2, 5, 255, 256, 1280, 256 * 67, 1 << 20] {
            let all = compared(tokens);
            assert!(all.len() as u64 <= 2 * COMPARED + 1, "{tokens}: {}", all.len());
            assert_eq!((all[0], all.last().copied()), (0, Some(tokens - 1)), "{tokens}");
            let few = tokens.min(DISTINCT as u64);
            assert!((0..few).all(|it| all.iter().any(|token| token % few == it)), "{tokens}");
        }
    }

    /// Sums by a tensor core that keeps 13 bits: it adds 32 products at once and truncates.
    fn sums_of_few_bits(rows: &[f64], token: &[f64], bits: u32) -> Vec<f64> {
        // The fraction of an f64 has 52 bits.
        let truncated = |sum: f64| f64::from_bits(sum.to_bits() >> (52 - bits) << (52 - bits));
        let sum = |row: &[f64]| {
            let steps = row.chunks(32).zip(token.chunks(32));
            let add = |sum: f64, (w, x): (&[f64], &[f64])| {
                truncated(sum + w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>())
            };
            steps.fold(0.0, add)
        };
        rows.chunks(token.len()).map(sum).collect()
    }

    #[test]
    fn fp8_may_be_added_with_13_bits_and_with_no_fewer_at_every_length() {
        for k in [1024, 8192, 16_384, 65_536] {
            let mut random = Random::new(5);
            let weights = Operand::new(&mut random, Element::Fp8E4m3, DISTINCT * k, true);
            let inputs = Operand::new(&mut random, Element::Fp8E4m3, k, false);
            let right = reference(&weights.values, &inputs.values);
            let error = |sums: &[f64]| {
                #[expect(clippy::cast_possible_truncation, reason = "results of FP32")]
                let sums: Vec<f32> = sums.iter().map(|sum| *sum as f32).collect();
                error_of(Element::Fp8E4m3, &StoredFloat::Bf16.store(&sums), &right)
            };
            let with = |bits| error(&sums_of_few_bits(&weights.values, &inputs.values, bits));
            assert!(with(13) <= 1.0, "{k}: {}", with(13));
            assert!(with(8) > 1.0, "{k}: {}", with(8));
            // A 64th of the products is left out.
            let mut left = inputs.values.clone();
            left[..k / 64].fill(0.0);
            let without = reference(&weights.values, &left).values;
            assert!(error(&without) > 1.0, "{k}: {}", error(&without));
        }
    }

    /// TF32 in place of FP32 is an error that a comparison of FP32 must find, for every K that is measured.
    #[test]
    fn a_product_in_fp32_that_ran_in_tf32_does_not_pass() {
        for k in [64, 2048, 4096] {
            let mut random = Random::new(1);
            let weights = Operand::new(&mut random, Element::Fp32, DISTINCT * k, true);
            let inputs = Operand::new(&mut random, Element::Fp32, k, false);
            let right = reference(&weights.values, &inputs.values);
            #[expect(clippy::cast_possible_truncation, reason = "they were FP32")]
            let rounded = |values: &[f64]| -> Vec<f64> {
                values.iter().map(|value| f64::from(tf32(*value as f32))).collect()
            };
            let wrong = reference(&rounded(&weights.values), &rounded(&inputs.values));
            #[expect(clippy::cast_possible_truncation, reason = "results of FP32")]
            let stored = |of: &ReferenceResult| -> Vec<u8> {
                of.values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect()
            };
            assert!(error_of(Element::Fp32, &stored(&right), &right) <= 1.0);
            assert!(error_of(Element::Fp32, &stored(&wrong), &right) > 1.0, "{k}");
        }
    }
}
