//! Inputs quantized to 8 bits, and their products with weights of the same format.

use kernels::backend::StoredFloat;
use kernels::compare::compare_rounded;
use kernels::cuda::call::eight_bits::{self as call, EightBitShape, Quantized};
use kernels::cuda::call::products::GemvVersion;
use kernels::pack::minifloat::E4M3;
use kernels::pack::{Layout, Packed};
use kernels::random::Random;
use kernels::reference::gemm;

use crate::inputs::{normals, stored};
use crate::processor::{Data, Processor};

/// Inputs of so many tokens in 8 bits: codes, scales of tokens, and the numbers that they mean.
struct Inputs {
    codes: Data,
    scales: Data,
    read: Vec<f64>,
}

/// Quantizes random inputs, and checks each code against the rule.
fn quantize(processor: &mut Processor, shape: EightBitShape) -> Result<Inputs, String> {
    let EightBitShape { format, m, k, .. } = shape;
    let (m, k) = (m as usize, k as usize);
    let mut random = Random::new(11 + (m * k) as u64);
    let (x, inputs) = stored(StoredFloat::Fp16, &normals(&mut random, m * k));
    let call = call::quantize(format, m as u64, k as u64).map_err(|why| format!("{why:?}"))?;
    let mut buffers = [inputs, Data::unwritten(m * k), Data::unwritten(4 * m)];
    processor.run(&call, &mut buffers)?;
    let [_, codes, scales] = buffers;
    let most = if format == Quantized::Int8 { 127.0 } else { 448.0 };
    let mut read = vec![0.0; m * k];
    for token in 0..m {
        let of_token = &x[token * k..(token + 1) * k];
        let largest = of_token.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let scale = f64::from(scales.floats()[token]);
        if (scale / (largest / most) - 1.0).abs() > 1e-6 {
            return Err(format!("{}: scale {scale} of {largest}", call.kernel));
        }
        for (i, value) in of_token.iter().enumerate() {
            let code = codes.bytes[token * k + i];
            let decoded = match format {
                Quantized::Int8 => f64::from(code.cast_signed()),
                Quantized::Fp8E4m3 => f64::from(E4M3.decode(code)),
            };
            // Half a step: of INT8 one code, of E4M3 a sixteenth of the value, or 2^-10.
            let step = match format {
                Quantized::Int8 => 0.5,
                Quantized::Fp8E4m3 => (decoded.abs() / 16.0).max(1.0 / 1024.0),
            };
            read[token * k + i] = decoded * scale;
            if (decoded - value / scale).abs() > step * 1.001 {
                return Err(format!("{}: {decoded} of {}", call.kernel, value / scale));
            }
        }
    }
    Ok(Inputs { codes, scales, read })
}

/// A product by one version, against the reference.
fn product(
    processor: &mut Processor,
    version: GemvVersion,
    shape: EightBitShape,
) -> Result<(), String> {
    let EightBitShape { m, n, k, .. } = shape;
    let (m, n, k) = (m as usize, n as usize, k as usize);
    let Inputs { codes, scales, read } = quantize(processor, shape)?;
    let weights = normals(&mut Random::new(13), n * k);
    let layout = match shape.format {
        Quantized::Int8 => Layout::Int8,
        Quantized::Fp8E4m3 => Layout::Fp8E4m3,
    };
    let packed = Packed::encode(layout, &weights, k).map_err(|why| format!("{why:?}"))?;
    let call =
        call::product(version, shape, packed.tensor_scale()).map_err(|why| format!("{why:?}"))?;
    let planes = packed.planes();
    let [of_rows, of_codes] = [planes.scales, planes.codes].map(|it| Data::of(it.to_vec()));
    let mut buffers = [of_codes, of_rows, codes, scales, Data::unwritten(4 * m * n)];
    processor.run(&call, &mut buffers)?;
    let right = gemm(&packed, &read);
    let rounding = |at: usize| call::rounding(shape.format, right.magnitudes[at]);
    compare_rounded(&buffers[4].floats(), &right, &rounding)
        .map_err(|why| format!("{}: {why:?}", call.kernel))?;
    Ok(())
}

/// All versions: rows that fill no tile, inputs that fill no step, and more steps than the warps of a block take at once.
pub(crate) fn eight_bits(processor: &mut Processor) -> Result<(), String> {
    let shape = EightBitShape { format: Quantized::Int8, m: 3, n: 6, k: 272 };
    product(processor, GemvVersion::Warp, shape)?;
    on_tensor_cores(processor)
}

/// Those of tensor cores.
pub(crate) fn on_tensor_cores(processor: &mut Processor) -> Result<(), String> {
    for (m, n, k) in [(2, 37, 1360), (8, 32, 64), (9, 5, 16), (16, 33, 2080)] {
        for format in [Quantized::Int8, Quantized::Fp8E4m3] {
            product(processor, GemvVersion::TensorCores, EightBitShape { format, m, n, k })?;
        }
    }
    Ok(())
}
