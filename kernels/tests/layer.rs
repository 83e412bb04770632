//! The references of attention and of the operators that stream accept a kernel in FP32 and reject every mutant.

use kernels::mutants::layer::{AttentionMutant, RowMutant};
use kernels::random::Random;
use kernels::reference::layer::{attended, gated, normalized, rotated};

fn noise(seed: u64, len: usize, size: f64) -> Vec<f64> {
    let mut random = Random::new(seed);
    // Numbers that FP32 holds.
    (0..len).map(|_| f64::from(narrow(size * random.normal()))).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "a kernel computes in f32")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// Attention in FP32, key by key, with online softmax.
fn plain_attention(query: &[f64], keys: &[f64], values: &[f64]) -> Vec<f32> {
    let d = query.len();
    let scale = 1.0 / (d as f32).sqrt();
    let (mut largest, mut total, mut sums) = (f32::NEG_INFINITY, 0.0_f32, vec![0.0_f32; d]);
    for (key, value) in keys.chunks(d).zip(values.chunks(d)) {
        let products = query.iter().zip(key).map(|(q, k)| narrow(*q) * narrow(*k));
        let score = products.sum::<f32>() * scale;
        let most = largest.max(score);
        let (fading, weight) = ((largest - most).exp(), (score - most).exp());
        total = total * fading + weight;
        for (sum, v) in sums.iter_mut().zip(value) {
            *sum = *sum * fading + weight * narrow(*v);
        }
        largest = most;
    }
    sums.iter().map(|sum| sum / total).collect()
}

#[test]
fn attention_in_fp32_passes_and_every_mistake_is_rejected() {
    for (d, seen) in [(8, 3), (64, 40), (128, 1000), (80, 333)] {
        // Sharper weights would leave the key that a mutant skips with none.
        for sharpness in [0.5, 1.0] {
            let query = noise(1, d, sharpness);
            let (keys, values) = (noise(2, (seen + 1) * d, 1.0), noise(3, (seen + 1) * d, 1.0));
            let right = attended(&query, &keys[..seen * d], &values[..seen * d]);
            let plain = plain_attention(&query, &keys[..seen * d], &values[..seen * d]);
            let error = right.error(plain.into_iter());
            assert!(error <= 1.0, "{d} {seen} {sharpness}: {error}");
            for wrong in AttentionMutant::ALL {
                let error = right.error(wrong.attend(&query, &keys, &values, seen).into_iter());
                assert!(error > 1.0, "{d} {seen} {sharpness}: {wrong:?} passed with {error}");
            }
        }
    }
}

#[test]
fn operators_in_fp32_pass_and_every_mistake_is_rejected() {
    for width in [16, 100, 4096] {
        let (x, b) = (noise(1, width, 0.1), noise(2, width, 0.1));
        let weights = noise(3, width, 1.0);
        let sum: Vec<f64> = x.iter().zip(&b).map(|(x, b)| x + b).collect();
        let right = normalized(&sum, &weights, 1e-5);
        let squares: f32 = sum.iter().map(|x| narrow(*x) * narrow(*x)).sum();
        let factor = 1.0 / (squares / width as f32 + 1e-5).sqrt();
        let plain = sum.iter().zip(&weights).map(|(x, w)| narrow(*x) * factor * narrow(*w));
        let error = right.error(plain.collect::<Vec<f32>>().into_iter());
        assert!(error <= 1.0, "norm of {width}: {error}");
        for wrong in RowMutant::NORM {
            let error = right.error(wrong.norm((&x, &b), &weights, 1e-5).into_iter());
            assert!(error > 1.0, "norm of {width}: {wrong:?} passed with {error}");
        }

        let half = width / 2;
        let angles = noise(4, half, 2.0);
        let of = |f: fn(f64) -> f64| -> Vec<f64> { angles.iter().map(|x| f(*x)).collect() };
        let (cos, sin) = (of(f64::cos), of(f64::sin));
        let right = rotated(&x, &cos, &sin);
        let at = |i: usize| {
            let (a, b) = (narrow(x[i % half]), narrow(x[i % half + half]));
            let (cos, sin) = (narrow(cos[i % half]), narrow(sin[i % half]));
            if i < half { a * cos - b * sin } else { b * cos + a * sin }
        };
        let error = right.error((0..width).map(at));
        assert!(error <= 1.0, "rotation of {width}: {error}");
        for wrong in RowMutant::ROPE {
            let error = right.error(wrong.rope(&x, &cos, &sin).into_iter());
            assert!(error > 1.0, "rotation of {width}: {wrong:?} passed with {error}");
        }

        let (gate, up) = (noise(5, width, 3.0), noise(6, width, 1.0));
        let right = gated(&gate, &up);
        let plain = gate.iter().zip(&up).map(|(g, u)| {
            let g = narrow(*g);
            g / (1.0 + (-g).exp()) * narrow(*u)
        });
        let error = right.error(plain.collect::<Vec<f32>>().into_iter());
        assert!(error <= 1.0, "gate of {width}: {error}");
        for wrong in RowMutant::GATE {
            let error = right.error(wrong.gate(&gate, &up).into_iter());
            assert!(error > 1.0, "gate of {width}: {wrong:?} passed with {error}");
        }
    }
}
