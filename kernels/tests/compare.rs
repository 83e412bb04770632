//! The comparison accepts a correct kernel and rejects every mutant, for every layout.

use kernels::activation::effective_input;
use kernels::compare::compare;
use kernels::mutants::{Mutant, TokenMutant};
use kernels::pack::{Layout, Packed};
use kernels::random::Random;
use kernels::reference;

/// Approximately normal values.
#[expect(clippy::cast_possible_truncation, reason = "any number will do")]
fn noise(seed: u64, len: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..len).map(|_| random.normal() as f32).collect()
}

/// Weights whose blocks differ in magnitude, so that a misplaced scale shows.
fn weights(layout: Layout, rows: usize, cols: usize) -> Packed {
    let mut weights = noise(1, rows * cols);
    for (block, values) in weights.chunks_mut(16).enumerate() {
        let size = [1.0, 0.25, 0.5, 0.125, 3.0][block / 8 % 5] * [1.0, 0.7, 0.4][block % 3];
        for value in values {
            *value *= size;
        }
    }
    Packed::encode(layout, &weights, cols).expect("small numbers")
}

/// A correct kernel: FP32 accumulation in sixteen lanes per row.
#[expect(clippy::cast_possible_truncation, reason = "a kernel computes in f32")]
fn plain_gemv(weights: &Packed, x: &[f64]) -> Vec<f32> {
    let mut row = vec![0.0; weights.cols()];
    let mut product = |r| {
        weights.decode_row(r, &mut row);
        let mut lanes = [0.0_f32; 16];
        for (j, (w, x)) in row.iter().zip(x).enumerate() {
            lanes[j % 16] += *w as f32 * *x as f32;
        }
        lanes.iter().sum()
    };
    (0..weights.rows()).map(&mut product).collect()
}

#[test]
fn a_right_kernel_passes_and_every_mistake_is_rejected() {
    for layout in Layout::ALL {
        for size in [129, 600] {
            let weights = weights(layout, size, size);
            let x = effective_input(layout, &noise(2, size));
            let reference = reference::gemv(&weights, &x);
            let right = compare(&plain_gemv(&weights, &x), &reference);
            assert!(right.is_ok(), "{layout:?}, {size}: {right:?}");
            for wrong in Mutant::ALL {
                if wrong.is_possible(layout) {
                    let verdict = compare(&wrong.gemv(&weights, &x), &reference);
                    assert!(verdict.is_err(), "{layout:?}, {size}: {wrong:?} passed: {verdict:?}");
                }
            }
        }
    }
}

#[test]
fn a_product_of_several_tokens_passes_and_every_mistake_among_them_is_rejected() {
    for layout in Layout::ALL {
        let weights = weights(layout, 129, 129);
        for tokens in [2, 4, 16] {
            let inputs: Vec<Vec<f64>> =
                (0..tokens).map(|token| effective_input(layout, &noise(token, 129))).collect();
            let reference = reference::gemm(&weights, &inputs.concat());
            let right: Vec<f32> = inputs.iter().flat_map(|x| plain_gemv(&weights, x)).collect();
            assert!(compare(&right, &reference).is_ok(), "{layout:?}, {tokens}");
            for wrong in TokenMutant::ALL {
                if wrong.is_possible(inputs.len()) {
                    let verdict = compare(&wrong.of(&right, 129), &reference);
                    assert!(verdict.is_err(), "{layout:?}, {tokens}: {wrong:?} passed");
                }
            }
            // A kernel that is wrong for one token only.
            let (before, last) = right.split_at(right.len() - 129);
            for wrong in Mutant::ALL {
                if wrong.is_possible(layout) {
                    let mutant = wrong.gemv(&weights, &inputs[inputs.len() - 1]);
                    assert!(mutant != last || wrong == Mutant::Short, "{wrong:?} changes nothing");
                    let verdict = compare(&[before, &mutant].concat(), &reference);
                    assert!(verdict.is_err(), "{layout:?}, {tokens}: {wrong:?} passed");
                }
            }
        }
    }
}

#[test]
fn a_comparison_of_a_single_row_rejects_what_can_go_wrong_there() {
    for layout in Layout::ALL {
        let weights = weights(layout, 1, 4096);
        let x = effective_input(layout, &noise(6, 4096));
        let reference = reference::gemv(&weights, &x);
        assert!(compare(&plain_gemv(&weights, &x), &reference).is_ok());
        for wrong in [
            Mutant::NextScale,
            Mutant::SwappedNibbles,
            Mutant::SkippedLast,
            Mutant::Zero,
            Mutant::NotANumber,
        ] {
            if wrong.is_possible(layout) {
                let verdict = compare(&wrong.gemv(&weights, &x), &reference);
                assert!(verdict.is_err(), "{layout:?}: {wrong:?} passed: {verdict:?}");
            }
        }
    }
}

#[test]
fn what_is_left_out_of_the_longest_rows_of_a_model_shows() {
    for (layout, cols) in [
        (Layout::Fp16, 16_384),
        (Layout::Int8, 16_384),
        (Layout::Fp16, 53_248),
        (Layout::Int8, 53_248),
        (Layout::GgufQ8_0, 53_248),
    ] {
        let weights = weights(layout, 67, cols);
        let x = effective_input(layout, &noise(7, cols));
        let reference = reference::gemv(&weights, &x);
        assert!(compare(&plain_gemv(&weights, &x), &reference).is_ok(), "{layout:?} {cols}");
        let verdict = compare(&Mutant::SkippedLast.gemv(&weights, &x), &reference);
        assert!(verdict.is_err(), "{layout:?} {cols}: {verdict:?}");
    }
}
