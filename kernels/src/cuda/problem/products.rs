//! Products with packed weights: rows repeat few distinct ones.

use std::rc::Rc;

use calc_core::cost::gemm::{GemmFormats, GemmShape, gemm};
use calc_core::units::Bytes;

use super::{CallBuffer, Problem, bytes_of, floats};
use crate::backend::{Cost, Fault, GemvShape, StoredFloat};
use crate::compare::{Mismatch, compare_rounded, sampled};
use crate::cuda::call::products::{GemvVersion, carrier, gemv, largest_scale, rounding};
use crate::distinct::{DISTINCT, normal, repeated, start};
use crate::pack::{NF4, Packed};
use crate::random::Random;
use crate::reference::{self, ReferenceResult};

/// The problem of a product by a version of the kernel.
///
/// # Errors
/// When there is no such kernel, or a size exceeds the address space.
pub(crate) fn problem(
    version: GemvVersion,
    product: GemvShape,
    seed: u64,
) -> Result<Problem, Fault> {
    let GemvShape { layout, m, n, k } = product;
    // The sizes are checked before anything is drawn.
    gemv(version, product, 1.0, 1.0)?;
    let (tokens, rows, cols) = (super::size(m)?, super::size(n)?, super::size(k)?);
    let mut random = Random::new(seed);
    let weights = normal(&mut random, rows.min(DISTINCT) * cols, 0.02);
    let packed = Packed::encode(layout, &weights, cols).ok().ok_or(Fault::Unsupported)?;
    let carrier = carrier(layout, version);
    let stored = carrier.store(&normal(&mut random, tokens * cols, 1.0));
    let x: Vec<f64> = carrier.read(&stored).into_iter().map(f64::from).collect();
    let few: Vec<ReferenceResult> =
        x.chunks(cols).map(|token| reference::gemv(&packed, token)).collect();
    let scale = match version {
        GemvVersion::TensorCores => largest_scale(&packed),
        GemvVersion::Thread | GemvVersion::Warp => 1.0,
    };
    let call = gemv(version, product, packed.tensor_scale(), scale)?;
    let distinct = packed.rows();
    let planes = packed.planes();
    let plane = |bytes: &[u8], stride: usize| {
        CallBuffer::rows(n.saturating_mul(stride as u64), bytes.to_vec(), stride, move |set| {
            start(set, distinct)
        })
    };
    let buffers = vec![
        plane(planes.codes, layout.row_code_bytes(cols)),
        plane(planes.scales, layout.row_scale_bytes(cols)),
        plane(planes.zeros, layout.row_zero_bytes(cols)),
        CallBuffer::shared(bytes_of(&NF4)),
        CallBuffer::shared(stored),
        CallBuffer::output(m.saturating_mul(n).saturating_mul(4)),
    ];
    let few = Rc::new(few);
    let judged = Rc::clone(&few);
    let rounding = Rc::new(rounding(version, layout, scale, &x, cols));
    let rounds = Rc::clone(&rounding);
    let error = move |set: u64, written: &[Vec<u8>]| {
        let first = start(set, distinct);
        let tokens = floats(&written[0]);
        let errors = tokens.chunks(rows).zip(&*judged).enumerate().map(|(token, (got, few))| {
            let right = repeated(few, first, rows);
            let rounding = |at: usize| rounds(token, right.magnitudes[at]);
            match compare_rounded(got, &right, &rounding) {
                Ok(None) => 0.0,
                Ok(Some(worst)) | Err(Mismatch::Element(worst)) => worst.error / worst.tolerance,
                Err(Mismatch::Length { .. }) => f64::INFINITY,
            }
        });
        errors.fold(0.0, |worst, error| if error > worst || error.is_nan() { error } else { worst })
    };
    let outputs = move |written: &[Vec<u8>]| {
        let tokens = few.iter().map(|few| repeated(few, start(0, distinct), rows));
        let right = ReferenceResult {
            values: tokens.clone().flat_map(|token| token.values).collect(),
            magnitudes: tokens.flat_map(|token| token.magnitudes).collect(),
            terms: cols,
        };
        let rounding = |at: usize| rounding(at / rows, right.magnitudes[at]);
        sampled(&floats(&written[0]), &right, &rounding)
    };
    let cost = cost(product, carrier);
    Ok(Problem {
        call: call.into(),
        buffers,
        cost,
        error: Box::new(error),
        outputs: Some(Box::new(outputs)),
    })
}

/// Cost by the core's formula, with the bytes of the layout, which may differ from the catalog's.
fn cost(product: GemvShape, inputs: StoredFloat) -> Cost {
    let GemvShape { layout, m, n, k } = product;
    let formats = GemmFormats {
        weights: layout.format(),
        input: inputs.format(),
        output: GemvShape::output_format(),
    };
    let cost = gemm(GemmShape { m, n, k }, formats);
    let [rows, cols] = [n, k].map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    let weights = Bytes::new(layout.bytes(rows, cols) as f64);
    Cost { bytes: weights + cost.traffic.activations, flops: cost.flops }
}
