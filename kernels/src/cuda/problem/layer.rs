//! The kernels of a layer beside its products: attention, norm, rotary positions, gate, embedding. Rows and heads repeat few distinct
//! ones.

use std::borrow::Cow;

use calc_core::math::pow;

use super::{CallBuffer, Problem, bytes_of, floats, size};
use crate::backend::{
    AttentionSizes, EmbeddingSizes, Fault, Kernel, RopeSizes, RowSizes, StoredFloat,
};
use crate::cuda::call::layer::{self as call, AttentionVersion};
use crate::distinct::{DISTINCT, DISTINCT_HEADS, EPSILON, Heads, Numbers, ROPE, look_ups, start};
use crate::random::Random;
use crate::reference::layer::{Bounded, added, gated, normalized, rotated};

/// The problem of a kernel of a layer on an architecture; `sets` are those that it will have.
///
/// # Errors
/// When there is no such kernel, or a size exceeds the address space.
pub(crate) fn problem(
    kernel: Kernel,
    capability: (u32, u32),
    seed: u64,
    sets: u64,
) -> Result<Problem, Fault> {
    match kernel {
        Kernel::Attention(sizes) if sizes.is_possible() => {
            attention(AttentionVersion::of(&sizes, capability), sizes, seed)
        }
        Kernel::Norm(sizes) if sizes.is_possible() => norm(sizes, seed),
        Kernel::Rope(sizes) if sizes.is_possible() => rope(sizes, seed),
        Kernel::Gate(sizes) if sizes.is_possible() => gate(sizes, seed),
        Kernel::Embedding(sizes) if sizes.is_possible() => embedding(sizes, seed, sets),
        _ => Err(Fault::Unsupported),
    }
}

fn attention(
    version: AttentionVersion,
    sizes: AttentionSizes,
    seed: u64,
) -> Result<Problem, Fault> {
    let call = call::attention(version, sizes)?;
    let numbers = Numbers {
        nearest: &|value| sizes.cache.nearest(value),
        query: &|value| version.query(sizes.cache, value),
        weights: version.rounding(sizes.cache),
    };
    let heads = Heads::new(&sizes, seed, &numbers).ok_or(Fault::Unsupported)?;
    let head = size(sizes.context * sizes.head_dim * sizes.cache.bytes())?;
    let first = |set| start(set, DISTINCT_HEADS);
    let cache = |of: fn(&crate::distinct::Head) -> &[f32]| {
        let bytes = heads.distinct.iter().flat_map(|it| sizes.cache.store(of(it))).collect();
        CallBuffer::rows(sizes.cache_bytes() / 2, bytes, head, first)
    };
    let (keys, values) = (cache(|it| &it.keys), cache(|it| &it.values));
    let output = 4 * sizes.query_elements();
    // Caches begin with the distinct heads in turn, and so do the queries, which differ by set and are few.
    let queries: Vec<Vec<u8>> =
        (0..DISTINCT_HEADS as u64).map(|set| bytes_of(&heads.queries(first(set)))).collect();
    let of_set = move |set: u64| queries[size(set % DISTINCT_HEADS as u64).unwrap_or(0)].clone();
    let queries = CallBuffer {
        bytes: output,
        of_set: true,
        is_written: false,
        parts: None,
        content: super::Content::Repeats(Box::new(of_set)),
    };
    let error = move |set: u64, written: &[Vec<u8>]| heads.error(first(set), &floats(&written[0]));
    let buffers = vec![queries, keys, values, CallBuffer::output(output)];
    Ok(Problem::new(call.into(), buffers, sizes.cost().into(), error))
}

/// Distinct rows of random numbers as they are stored, and as they are read.
struct Rows {
    bytes: Vec<u8>,
    values: Vec<f64>,
    width: usize,
    row_bytes: usize,
}

impl Rows {
    #[expect(clippy::cast_possible_truncation, reason = "any number near it will do")]
    fn new(random: &mut Random, format: StoredFloat, width: usize, largest: f64) -> Self {
        let mut one = || (largest * (2.0 * random.uniform() - 1.0)) as f32;
        let drawn: Vec<f32> = (0..DISTINCT * width).map(|_| one()).collect();
        let bytes = format.store(&drawn);
        let values = format.read(&bytes).into_iter().map(f64::from).collect();
        Self { row_bytes: bytes.len() / DISTINCT, bytes, values, width }
    }

    fn row(&self, which: usize) -> &[f64] {
        &self.values[which * self.width..][..self.width]
    }

    /// A buffer of each set with so many rows.
    fn buffer(&self, rows: u64) -> CallBuffer {
        let bytes = rows.saturating_mul(self.row_bytes as u64);
        CallBuffer::rows(bytes, self.bytes.clone(), self.row_bytes, first)
    }
}

/// First distinct row of a set.
const fn first(set: u64) -> usize {
    start(set, DISTINCT)
}

/// Expected values, where the kernel rounds to a format.
fn rounded(right: Bounded, carrier: StoredFloat) -> Bounded {
    if carrier == StoredFloat::Fp16 { right.rounded_to_half() } else { right }
}

/// Largest error of rows in a format, each against what is expected of its distinct row.
fn worst<'a>(
    bytes: &[u8],
    carrier: StoredFloat,
    width: usize,
    mut right: impl FnMut(usize) -> Cow<'a, Bounded>,
) -> f64 {
    let got = carrier.read(bytes);
    let rows = got.chunks(width).enumerate();
    rows.map(|(row, got)| right(row).error(got.iter().copied())).fold(0.0, f64::max)
}

#[expect(clippy::cast_possible_truncation, reason = "any number near it will do")]
fn norm(sizes: RowSizes, seed: u64) -> Result<Problem, Fault> {
    let call = call::norm(sizes, EPSILON)?;
    let (carrier, width) = (sizes.carrier, size(sizes.width)?);
    let mut random = Random::new(seed);
    let [residual, branch] = [(); 2].map(|()| Rows::new(&mut random, carrier, width, 2.0));
    let weights: Vec<f32> = (0..width).map(|_| (0.5 + random.uniform()) as f32).collect();
    let wide: Vec<f64> = weights.iter().copied().map(f64::from).collect();
    let few: Vec<[Bounded; 2]> = (0..DISTINCT)
        .map(|which| {
            let sum = added(residual.row(which), branch.row(which));
            // The kernel normalizes the sum as it is stored.
            let stored = sum.values.iter().map(|x| f64::from(carrier.nearest(*x as f32)));
            let norm = normalized(&stored.collect::<Vec<f64>>(), &wide, f64::from(EPSILON));
            [rounded(sum, carrier), rounded(norm, carrier)]
        })
        .collect();
    let buffers = vec![
        residual.buffer(sizes.tokens).written(),
        branch.buffer(sizes.tokens),
        CallBuffer::shared(bytes_of(&weights)),
        CallBuffer::output_of_set(sizes.bytes()),
    ];
    let error = move |set: u64, written: &[Vec<u8>]| {
        let of = |part: usize| {
            let right = |row: usize| Cow::Borrowed(&few[(row + first(set)) % DISTINCT][part]);
            worst(&written[part], carrier, width, right)
        };
        of(0).max(of(1))
    };
    let cost = sizes.norm_cost().into();
    Ok(Problem::new(call.into(), buffers, cost, error))
}

fn gate(sizes: RowSizes, seed: u64) -> Result<Problem, Fault> {
    let call = call::gate(sizes)?;
    let (carrier, width) = (sizes.carrier, size(sizes.width)?);
    let mut random = Random::new(seed);
    let [gates, ups] = [(); 2].map(|()| Rows::new(&mut random, carrier, width, 2.0));
    let right = |which| rounded(gated(gates.row(which), ups.row(which)), carrier);
    let few: Vec<Bounded> = (0..DISTINCT).map(right).collect();
    let buffers = vec![
        gates.buffer(sizes.tokens),
        ups.buffer(sizes.tokens),
        CallBuffer::output_of_set(sizes.bytes()),
    ];
    let error = move |set: u64, written: &[Vec<u8>]| {
        let right = |row: usize| Cow::Borrowed(&few[(row + first(set)) % DISTINCT]);
        worst(&written[0], carrier, width, right)
    };
    let cost = sizes.gate_cost().into();
    Ok(Problem::new(call.into(), buffers, cost, error))
}

#[expect(clippy::cast_possible_truncation, reason = "between −1 and 1")]
fn rope(sizes: RopeSizes, seed: u64) -> Result<Problem, Fault> {
    let call = call::rope(sizes)?;
    let (carrier, width) = (sizes.carrier, size(sizes.head_dim)?);
    let (tokens, heads) = (size(sizes.tokens)?, size(sizes.heads)?);
    let rows = Rows::new(&mut Random::new(seed), carrier, width, 2.0);
    let (half, (base, begin)) = (width / 2, ROPE);
    let angle = |at: usize| {
        let (token, i) = (at / half, at % half);
        (begin + token as f64) * pow(base, -2.0 * i as f64 / width as f64)
    };
    let angles: Vec<f64> = (0..tokens * half).map(angle).collect();
    let cosines: Vec<f32> = angles.iter().map(|angle| angle.cos() as f32).collect();
    let sines: Vec<f32> = angles.iter().map(|angle| angle.sin() as f32).collect();
    let all = sizes.tokens.saturating_mul(sizes.heads);
    let buffers = vec![
        rows.buffer(all).written(),
        CallBuffer::shared(bytes_of(&cosines)),
        CallBuffer::shared(bytes_of(&sines)),
    ];
    let error = move |set: u64, written: &[Vec<u8>]| {
        let wide = |angles: &[f32]| angles.iter().copied().map(f64::from).collect::<Vec<f64>>();
        worst(&written[0], carrier, width, |row| {
            let of_token = row / heads * half;
            let (cosines, sines) =
                (wide(&cosines[of_token..][..half]), wide(&sines[of_token..][..half]));
            let head = rows.row((row + first(set)) % DISTINCT);
            Cow::Owned(rounded(rotated(head, &cosines, &sines), carrier))
        })
    };
    let cost = sizes.cost().into();
    Ok(Problem::new(call.into(), buffers, cost, error))
}

/// One table; each set looks up other rows of it.
fn embedding(sizes: EmbeddingSizes, seed: u64, sets: u64) -> Result<Problem, Fault> {
    let call = call::embedding(sizes)?;
    let (table, width, tokens) = (sizes.table, size(sizes.width)?, size(sizes.tokens)?);
    let rows = Rows::new(&mut Random::new(seed), table, width, 1.0);
    let order = look_ups(sizes.vocab, tokens);
    let vocab = size(sizes.vocab)?;
    let of_set = move |set: u64| {
        let from = size(set).unwrap_or(0).wrapping_mul(tokens) % vocab;
        order[from..from + tokens].to_vec()
    };
    let again = of_set.clone();
    let tokens_of =
        move |set| -> Vec<u8> { again(set).iter().flat_map(|token| token.to_le_bytes()).collect() };
    let tokens_of = CallBuffer {
        bytes: 4 * sizes.tokens,
        of_set: sets > 1,
        is_written: false,
        parts: None,
        content: super::Content::Repeats(Box::new(tokens_of)),
    };
    let mut all = rows.buffer(sizes.vocab);
    all.of_set = false;
    let buffers = vec![all, tokens_of, CallBuffer::output(sizes.tokens * sizes.width * 4)];
    let error = move |set: u64, written: &[Vec<u8>]| {
        let got = floats(&written[0]);
        let is_right = of_set(set).iter().zip(got.chunks(width)).all(|(token, got)| {
            let row = rows.row(*token as usize % DISTINCT);
            row.iter().zip(got).all(|(value, got)| value.to_bits() == f64::from(*got).to_bits())
        });
        if is_right { 0.0 } else { f64::INFINITY }
    };
    let cost = sizes.cost().into();
    Ok(Problem::new(call.into(), buffers, cost, error))
}
