//! The operators that stream on every available instruction set, against f64.

use half::{bf16, f16};

use super::*;
use crate::pack::minifloat::Fp8;
use crate::random::Random;
use crate::reference::layer::{Bounded, added, gated, normalized, rotated};

/// Tokens and elements per token: one element, vectors with a rest, several pages, more workers than tokens.
const SHAPES: [(usize, usize); 9] =
    [(1, 1), (1, 7), (3, 16), (2, 33), (5, 100), (1, 4096), (7, 1023), (2, 3000), (40, 64)];

#[expect(clippy::cast_possible_truncation, reason = "any number will do")]
fn noise<T: Stored>(seed: u64, len: usize) -> Vec<T> {
    let mut random = Random::new(seed);
    (0..len).map(|_| T::nearest((3.0 * random.normal()) as f32)).collect()
}

fn wide<T: Stored>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| f64::from(value.wide())).collect()
}

/// Error over tolerance of results that were rounded to `T`.
fn error<T: Stored>(right: Bounded, got: &[T]) -> f64 {
    let right = if T::FLOAT.bytes() == 2 { right.rounded_to_half() } else { right };
    right.error(got.iter().map(|value| value.wide()))
}

fn every_case(check: impl Fn(Isa, &mut Pool, usize, usize)) {
    for isa in Isa::available() {
        for workers in [1, 3] {
            let mut pool = Pool::new(Some(workers));
            for (tokens, width) in SHAPES {
                check(isa, &mut pool, tokens, width);
            }
        }
    }
}

fn norms<T: Carried>() {
    every_case(|isa, pool, tokens, width| {
        let (before, branch) = (noise::<T>(1, tokens * width), noise::<T>(2, tokens * width));
        let weights = noise::<f32>(3, width);
        let (mut x, mut y) = (before.clone(), vec![T::NAN; tokens * width]);
        let buffers = NormBuffers {
            residual: &mut x,
            branch: &branch,
            weights: &weights,
            epsilon: 1e-5,
            output: &mut y,
        };
        add_norm(isa, pool, buffers);
        for token in 0..tokens {
            let row = token * width..(token + 1) * width;
            let place = format!("{:?} {tokens} x {width} on {}", T::FLOAT, isa.level());
            let sums = added(&wide(&before[row.clone()]), &wide(&branch[row.clone()]));
            assert!(error(sums, &x[row.clone()]) <= 1.0, "sum of {place}");
            let right = normalized(&wide(&x[row.clone()]), &wide(&weights), 1e-5);
            let error = error(right, &y[row]);
            assert!(error <= 1.0, "norm of {place}: {error}");
        }
    });
}

#[test]
fn norms_are_right() {
    norms::<f32>();
    norms::<f16>();
}

fn rotations<T: Carried>() {
    every_case(|isa, pool, tokens, heads| {
        for half in [1, 5, 16, 64] {
            let (heads, width) = (heads % 13 + 1, 2 * half);
            let before = noise::<T>(1, tokens * heads * width);
            let angles = noise::<f32>(2, tokens * half);
            let cosines: Vec<f32> = angles.iter().map(|angle| angle.cos()).collect();
            let sines: Vec<f32> = angles.iter().map(|angle| angle.sin()).collect();
            let mut got = before.clone();
            let buffers = RopeBuffers {
                heads: &mut got,
                cosines: &cosines,
                sines: &sines,
                tokens,
                head_dim: width,
            };
            rotate(isa, pool, buffers);
            for (index, head) in before.chunks(width).enumerate() {
                let token = index / heads * half..(index / heads + 1) * half;
                let right =
                    rotated(&wide(head), &wide(&cosines[token.clone()]), &wide(&sines[token]));
                let error = error(right, &got[index * width..][..width]);
                let level = isa.level();
                assert!(error <= 1.0, "{:?} {tokens} {heads} {half} {level}: {error}", T::FLOAT);
            }
        }
    });
}

#[test]
fn rotations_are_right() {
    rotations::<f32>();
    rotations::<f16>();
}

fn gates<T: Carried>() {
    every_case(|isa, pool, tokens, width| {
        let (mut g, u) = (noise::<T>(1, tokens * width), noise::<T>(2, tokens * width));
        // Ends of the range: the result goes to zero, or to the product.
        g[0] = T::nearest(-400.0);
        g[tokens * width / 2] = T::nearest(300.0);
        let mut y = vec![T::NAN; tokens * width];
        activate(isa, pool, GateBuffers { gate: &g, up: &u, output: &mut y });
        let error = error(gated(&wide(&g), &wide(&u)), &y);
        assert!(error <= 1.0, "{:?} {tokens} x {width} on {}: {error}", T::FLOAT, isa.level());
    });
}

#[test]
fn gates_are_right() {
    gates::<f32>();
    gates::<f16>();
}

fn embeddings<T: Stored>() {
    every_case(|isa, pool, tokens, width| {
        let table = noise::<T>(1, 50 * width);
        let mut random = Random::new(2);
        let tokens: Vec<u32> =
            (0..tokens).map(|_| u32::try_from(random.bits() % 50).unwrap()).collect();
        let mut y = vec![f32::NAN; tokens.len() * width];
        let buffers = EmbeddingBuffers { table: &table, width, tokens: &tokens, output: &mut y };
        embed(isa, pool, buffers);
        for (token, got) in tokens.iter().zip(y.chunks(width)) {
            let row = &table[*token as usize * width..][..width];
            assert!(
                row.iter().zip(got).all(|(x, y)| x.wide().to_bits() == y.to_bits()),
                "{:?} row {token} on {}",
                T::FLOAT,
                isa.level()
            );
        }
    });
}

#[test]
fn embeddings_are_exact() {
    embeddings::<f32>();
    embeddings::<f16>();
    embeddings::<bf16>();
    embeddings::<Fp8>();
}

#[test]
#[should_panic(expected = "rows of one size")]
fn rows_of_another_size_are_refused() {
    let mut pool = Pool::new(Some(1));
    let (mut x, mut y) = (vec![0.0_f32; 8], vec![0.0_f32; 4]);
    let buffers = NormBuffers {
        residual: &mut x,
        branch: &[0.0; 8],
        weights: &[1.0; 4],
        epsilon: 0.0,
        output: &mut y,
    };
    add_norm(Isa::PORTABLE, &mut pool, buffers);
}
