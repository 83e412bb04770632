//! The kernels of a layer beside its products, against their references.

use kernels::backend::{AttentionSizes, EmbeddingSizes, RopeSizes, RowSizes, StoredFloat};
use kernels::cuda::call::Call;
use kernels::cuda::call::layer::{self as call, AttentionVersion};
use kernels::random::Random;
use kernels::reference::layer::{Bounded, added, attended_with, gated, normalized, rotated};

use crate::inputs::{normals, stored};
use crate::processor::{Data, Processor};

pub(crate) fn right(call: &Call, bounded: &Bounded, got: &[f32]) -> Result<(), String> {
    let error = bounded.error(got.iter().copied());
    if error <= 1.0 { Ok(()) } else { Err(format!("{}: {error} tolerances", call.kernel)) }
}

/// Joins the bounds of several tokens.
pub(crate) fn joined(parts: impl IntoIterator<Item = Bounded>) -> Bounded {
    let mut all = Bounded::default();
    for part in parts {
        all.values.extend(part.values);
        all.tolerances.extend(part.tolerances);
    }
    all
}

pub(crate) fn layer(processor: &mut Processor) -> Result<(), String> {
    let mut random = Random::new(3);
    let no_call = |why| format!("{why:?}");
    for carrier in StoredFloat::CARRIERS {
        let (tokens, width) = (3_usize, 70_usize);
        let rounded = |bounded: Bounded| match carrier {
            StoredFloat::Fp16 => bounded.rounded_to_half(),
            _ => bounded,
        };
        let sizes = RowSizes { carrier, tokens: tokens as u64, width: width as u64 };
        let (residual, of_residual) = stored(carrier, &normals(&mut random, tokens * width));
        let (branch, of_branch) = stored(carrier, &normals(&mut random, tokens * width));
        let (weights, of_weights) = stored(StoredFloat::Fp32, &normals(&mut random, width));
        let call = call::norm(sizes, 1e-5).map_err(no_call)?;
        let y = Data::unwritten(of_residual.bytes.len());
        let mut buffers = [of_residual, of_branch, of_weights, y.clone()];
        processor.run(&call, &mut buffers)?;
        let sums = buffers[0].numbers(carrier);
        right(&call, &rounded(added(&residual, &branch)), &sums)?;
        let sums: Vec<f64> = sums.iter().copied().map(f64::from).collect();
        let expected = sums.chunks(width).map(|sum| normalized(sum, &weights, 1e-5));
        right(&call, &rounded(joined(expected)), &buffers[3].numbers(carrier))?;

        let (gates, of_gates) = stored(carrier, &normals(&mut random, tokens * width));
        let call = call::gate(sizes).map_err(no_call)?;
        let mut buffers = [of_gates, buffers[1].clone(), y];
        processor.run(&call, &mut buffers)?;
        right(&call, &rounded(gated(&gates, &branch)), &buffers[2].numbers(carrier))?;

        let (heads, head_dim) = (3_usize, 10_usize);
        let sizes = RopeSizes { carrier, tokens: tokens as u64, heads: 3, head_dim: 10 };
        let (x, of_x) = stored(carrier, &normals(&mut random, tokens * heads * head_dim));
        let angles = normals(&mut random, tokens * head_dim / 2);
        let of_angles = |of: fn(f32) -> f32| {
            stored(StoredFloat::Fp32, &angles.iter().copied().map(of).collect::<Vec<f32>>())
        };
        let ((cosines, of_cosines), (sines, of_sines)) = (of_angles(f32::cos), of_angles(f32::sin));
        let call = call::rope(sizes).map_err(no_call)?;
        let mut buffers = [of_x, of_cosines, of_sines];
        processor.run(&call, &mut buffers)?;
        let expected = x.chunks(head_dim).enumerate().map(|(at, head)| {
            let first = at / heads * head_dim / 2;
            let of_token = first..first + head_dim / 2;
            rotated(head, &cosines[of_token.clone()], &sines[of_token])
        });
        right(&call, &rounded(joined(expected)), &buffers[0].numbers(carrier))?;
    }
    for table in StoredFloat::ALL {
        let (width, vocab) = (37_usize, 9_usize);
        let (rows, of_rows) = stored(table, &normals(&mut random, vocab * width));
        let sizes = EmbeddingSizes { table, tokens: 3, width: 37, vocab: 9 };
        let call = call::embedding(sizes).map_err(no_call)?;
        let tokens = [8_u32, 0, 9];
        let of_tokens = Data::of(tokens.iter().flat_map(|token| token.to_le_bytes()).collect());
        let mut buffers = [of_rows, of_tokens, Data::unwritten(4 * 3 * width)];
        processor.run(&call, &mut buffers)?;
        let row = |token: u32| {
            let first = token as usize * width;
            rows.get(first..first + width).map_or(vec![0.0; width], <[f64]>::to_vec)
        };
        let expected: Vec<f64> = tokens.iter().flat_map(|token| row(*token)).collect();
        let got: Vec<f64> = buffers[2].floats().into_iter().map(f64::from).collect();
        if got != expected {
            return Err(format!("{}: {got:?}", call.kernel));
        }
    }
    Ok(())
}

pub(crate) fn attention(processor: &mut Processor, all: bool) -> Result<(), String> {
    let mut random = Random::new(5);
    for cache in StoredFloat::ALL {
        for version in [AttentionVersion::Warp, AttentionVersion::Group] {
            for head_dim in call::HEAD_DIMS {
                if !all && head_dim == 96 {
                    continue;
                }
                // A group of 5 heads fills no block of 4; 3 keys are fewer than the warps of a block.
                for (batch, heads, kv_heads, new, context) in [(2, 5, 1, 1, 3), (1, 4, 2, 3, 21)] {
                    let sizes =
                        AttentionSizes { cache, batch, heads, kv_heads, head_dim, new, context };
                    attend(processor, &mut random, version, sizes)?;
                }
            }
        }
    }
    Ok(())
}

/// Several new tokens on tensor cores: queries and keys that fill no tile, groups of 3 and of 1, a second tile of queries, keys before the
/// new tokens and none.
pub(crate) fn prefill(processor: &mut Processor) -> Result<(), String> {
    let mut random = Random::new(19);
    for cache in [StoredFloat::Fp16, StoredFloat::Bf16] {
        for head_dim in [64, 128] {
            for (batch, heads, kv_heads, new, context) in [(2, 3, 1, 5, 131), (1, 2, 2, 70, 70)] {
                let sizes =
                    AttentionSizes { cache, batch, heads, kv_heads, head_dim, new, context };
                attend(processor, &mut random, AttentionVersion::TensorCores, sizes)?;
            }
        }
    }
    Ok(())
}

pub(crate) fn attend(
    processor: &mut Processor,
    random: &mut Random,
    version: AttentionVersion,
    sizes: AttentionSizes,
) -> Result<(), String> {
    let call = call::attention(version, sizes).map_err(|why| format!("{why:?}"))?;
    let AttentionSizes { cache, head_dim, heads, kv_heads, new, context, .. } = sizes;
    let [d, heads, kv_heads, new, context] =
        [head_dim, heads, kv_heads, new, context].map(|size| size as usize);
    let elements = sizes.query_elements() as usize;
    let (queries, of_queries) = stored(StoredFloat::Fp32, &normals(random, elements));
    let in_cache = sizes.batch as usize * kv_heads * context * d;
    let (keys, of_keys) = stored(cache, &normals(random, in_cache));
    let (values, of_values) = stored(cache, &normals(random, in_cache));
    let mut buffers = [of_queries, of_keys, of_values, Data::unwritten(4 * elements)];
    processor.run(&call, &mut buffers)?;
    let expected = queries.chunks(d).enumerate().map(|(at, query)| {
        let (head, token, sequence) = (at % heads, at / heads % new, at / heads / new);
        let first = (sequence * kv_heads + head / (heads / kv_heads)) * context * d;
        let seen = first..first + (context - new + token + 1) * d;
        let query: Vec<f64> =
            query.iter().map(|q| f64::from(version.query(cache, *q as f32))).collect();
        attended_with(version.rounding(cache), &query, &keys[seen.clone()], &values[seen])
    });
    right(&call, &joined(expected), &buffers[3].floats())
}
