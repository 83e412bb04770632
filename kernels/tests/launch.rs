//! A decode step of one attention layer and its MLP's activation on buffers of the caller, as a runner of models would launch it, against
//! f64.

use half::f16;
use kernels::backend::{AttentionSizes, StoredFloat};
use kernels::cpu::gemv::{Input, Matrix, Output};
use kernels::cpu::isa::Isa;
use kernels::cpu::launch::{
    AttentionBuffers, AttentionScratch, ByCarrier, ByStored, EmbeddingBuffers, GateBuffers, Launch,
    NormBuffers, PackedBuffers, RopeBuffers,
};
use kernels::cpu::threads::Pool;
use kernels::pack::{Layout, Packed};
use kernels::random::Random;
use kernels::reference::layer::{attended, gated, normalized, rotated};

const HIDDEN: usize = 96;
const HEADS: usize = 4;
const HEAD_DIM: usize = 24;
const CONTEXT: usize = 50;
const TOKEN: u32 = 7;

#[expect(clippy::cast_possible_truncation, reason = "any number will do")]
fn noise(seed: u64, len: usize, size: f64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..len).map(|_| (size * random.normal()) as f32).collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|value| f64::from(*value)).collect()
}

/// Fails unless all values are near.
fn near(what: &str, got: &[f32], expected: &[f64]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    for (got, expected) in got.iter().zip(expected) {
        let is_near = (f64::from(*got) - expected).abs() <= 1e-5 * (1.0 + expected.abs());
        assert!(is_near, "{what}: {got} instead of {expected}");
    }
}

#[test]
fn a_decode_step_on_own_buffers_is_right() {
    for (isa, workers) in Isa::available().flat_map(|isa| [(isa, 1), (isa, 3)]) {
        step(isa, &mut Pool::new(Some(workers)));
    }
}

fn step(isa: Isa, pool: &mut Pool) {
    // The token's row of the table.
    let table = noise(1, 10 * HIDDEN, 1.0);
    let mut x = vec![f32::NAN; HIDDEN];
    let (width, tokens) = (HIDDEN, &[TOKEN][..]);
    let buffers = EmbeddingBuffers { table: &table, width, tokens, output: &mut x };
    Launch::Embedding(ByStored::Fp32(buffers)).run(isa, pool);
    assert_eq!(x, table[TOKEN as usize * HIDDEN..][..HIDDEN]);

    let (branch, weights) = (noise(2, HIDDEN, 1.0), noise(3, HIDDEN, 1.0));
    let mut normed = vec![f32::NAN; HIDDEN];
    Launch::Norm(ByCarrier::Fp32(NormBuffers {
        residual: &mut x,
        branch: &branch,
        weights: &weights,
        epsilon: 1e-5,
        output: &mut normed,
    }))
    .run(isa, pool);
    let right = normalized(&wide(&x), &wide(&weights), 1e-5);
    near("norm", &normed, &right.values);

    let packed = Packed::encode(Layout::Fp32, &noise(4, HIDDEN * HIDDEN, 0.1), HIDDEN)
        .expect("small numbers");
    let (matrix, y) = (Matrix::new(pool, &packed), Output::new(HIDDEN, 1));
    let inputs = [Input::new(Layout::Fp32, &normed)];
    Launch::Packed(PackedBuffers { weights: &matrix, x: &inputs, y: &y }).run(isa, pool);
    let mut queries = y.to_vec();
    near("queries", &queries, &kernels::reference::gemv(&packed, &wide(&normed)).values);

    let angles = noise(5, HEAD_DIM / 2, 2.0);
    let cosines: Vec<f32> = angles.iter().map(|angle| angle.cos()).collect();
    let sines: Vec<f32> = angles.iter().map(|angle| angle.sin()).collect();
    let turned: Vec<f64> = queries
        .chunks(HEAD_DIM)
        .flat_map(|head| rotated(&wide(head), &wide(&cosines), &wide(&sines)).values)
        .collect();
    Launch::Rope(ByCarrier::Fp32(RopeBuffers {
        heads: &mut queries,
        cosines: &cosines,
        sines: &sines,
        tokens: 1,
        head_dim: HEAD_DIM,
    }))
    .run(isa, pool);
    near("rotated queries", &queries, &turned);

    // A cache with room for more tokens than there are.
    let (room, kv_heads) = (64, 2);
    let cache = |seed| -> Vec<f16> {
        noise(seed, kv_heads * room * HEAD_DIM, 1.0).into_iter().map(f16::from_f32).collect()
    };
    let (keys, values) = (cache(6), cache(7));
    let sizes = AttentionSizes {
        cache: StoredFloat::Fp16,
        batch: 1,
        heads: HEADS as u64,
        kv_heads: kv_heads as u64,
        head_dim: HEAD_DIM as u64,
        new: 1,
        context: CONTEXT as u64,
    };
    let mut scratch = AttentionScratch::new(&sizes, pool.len()).expect("such a problem");
    let mut attention = vec![f32::NAN; HIDDEN];
    Launch::Attention(ByStored::Fp16(AttentionBuffers {
        queries: &queries,
        keys: &keys,
        values: &values,
        room,
        output: &mut attention,
        scratch: &mut scratch,
    }))
    .run(isa, pool);
    for (head, (got, query)) in attention.chunks(HEAD_DIM).zip(queries.chunks(HEAD_DIM)).enumerate()
    {
        let of = |stored: &[f16]| -> Vec<f64> {
            let first = head / (HEADS / kv_heads) * room * HEAD_DIM;
            stored[first..][..CONTEXT * HEAD_DIM].iter().map(|x| x.to_f64()).collect()
        };
        let right = attended(&wide(query), &of(&keys), &of(&values));
        near("attention", got, &right.values);
    }

    let up = noise(8, HIDDEN, 1.0);
    let mut activated = vec![f32::NAN; HIDDEN];
    let buffers = GateBuffers { gate: &attention, up: &up, output: &mut activated };
    Launch::Gate(ByCarrier::Fp32(buffers)).run(isa, pool);
    near("gate", &activated, &gated(&wide(&attention), &wide(&up)).values);
}
