//! Products with packed weights against the reference.

use kernels::backend::{GemvShape, StoredFloat};
use kernels::compare::{Mismatch, compare_rounded};
use kernels::cuda::call::products::{
    self as call, GemvVersion, Quantized, carrier, largest_scale, rounding,
};
use kernels::pack::minifloat::E4M3;
use kernels::pack::{Layout, NF4, Packed};
use kernels::random::Random;
use kernels::reference::gemm;

use crate::inputs::{normals, stored};
use crate::processor::{Data, Processor};

/// Layouts with CUDA kernels.
pub(crate) fn layouts() -> impl Iterator<Item = Layout> {
    Layout::ALL.into_iter().filter(|layout| {
        let shape = GemvShape { layout: *layout, m: 1, n: 1, k: 256 };
        call::gemv(GemvVersion::Warp, shape, 1.0, 1.0).is_ok()
    })
}

/// One product with packed weights: the problem, and the error over tolerance of its result.
pub(crate) fn product(
    processor: &mut Processor,
    version: GemvVersion,
    shape: GemvShape,
) -> Result<f64, String> {
    let GemvShape { layout, m, n, k } = shape;
    let (m, n, k) = (m as usize, n as usize, k as usize);
    let mut random = Random::new(7 + (m * n * k) as u64);
    // Scales differ from block to block, so that the next one is a wrong one.
    let weights: Vec<f32> = (0..n * k)
        .map(|at| (random.normal() * 0.02 * (1.0 + (at / 16 % 7) as f64)) as f32)
        .collect();
    let packed = Packed::encode(layout, &weights, k).map_err(|why| format!("{why:?}"))?;
    let (x, inputs) = stored(carrier(layout, version), &normals(&mut random, m * k));
    let scale = match version {
        GemvVersion::TensorCores => largest_scale(&packed),
        GemvVersion::Thread | GemvVersion::Warp => 1.0,
    };
    let call = call::gemv(version, shape, packed.tensor_scale(), scale)
        .map_err(|why| format!("{why:?}"))?;
    let planes = packed.planes();
    let table: Vec<u8> = NF4.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut buffers = [
        Data::of(planes.codes.to_vec()),
        Data::of(planes.scales.to_vec()),
        Data::of(planes.zeros.to_vec()),
        Data::of(table),
        inputs,
        Data::unwritten(4 * m * n),
    ];
    processor.run(&call, &mut buffers)?;
    let reference = gemm(&packed, &x);
    let rounding = rounding(version, layout, scale, &x, k);
    let rounding = |at: usize| rounding(at / n, reference.magnitudes[at]);
    match compare_rounded(&buffers[5].floats(), &reference, &rounding) {
        Ok(worst) => Ok(worst.map_or(0.0, |worst| worst.error / worst.tolerance)),
        Err(Mismatch::Element(worst)) => Err(format!("{}: {worst:?}", call.kernel)),
        Err(other) => Err(format!("{}: {other:?}", call.kernel)),
    }
}

/// All versions and formats on small shapes: rows that fill no tile, inputs that fill no step, tokens between the widths of kernels.
pub(crate) fn products(processor: &mut Processor, all: bool) -> Result<usize, String> {
    let mut count = 0;
    for layout in layouts() {
        let multiple = call::input_multiple(layout);
        for (version, most) in
            [(GemvVersion::Thread, 2), (GemvVersion::Warp, 16), (GemvVersion::TensorCores, 16)]
        {
            let tokens: &[u64] = if all { &[1, 2, 3, 5, 8, 9, 16] } else { &[1, 3, 9] };
            for (at, m) in tokens.iter().copied().filter(|m| *m <= most).enumerate() {
                let shapes = [(5, 3 * multiple), (18, 1024), (16, multiple)];
                let shapes = if all { &shapes[..] } else { &shapes[at..=at] };
                for (n, k) in shapes.iter().copied() {
                    let shape = GemvShape { layout, m, n, k };
                    if version == GemvVersion::TensorCores && layout == Layout::Fp32 {
                        continue;
                    }
                    product(processor, version, shape)?;
                    count += 1;
                }
            }
        }
    }
    Ok(count)
}

pub(crate) fn quantized(processor: &mut Processor) -> Result<(), String> {
    let (m, n, k) = (3_usize, 6_usize, 272_usize);
    let mut random = Random::new(11);
    let (x, inputs) = stored(StoredFloat::Fp16, &normals(&mut random, m * k));
    let weights = normals(&mut random, n * k);
    let packed = Packed::encode(Layout::Int8, &weights, k).map_err(|why| format!("{why:?}"))?;
    for format in [Quantized::Int8, Quantized::Fp8E4m3] {
        let call = call::quantize(format, m as u64, k as u64).map_err(|why| format!("{why:?}"))?;
        let mut buffers = [inputs.clone(), Data::unwritten(m * k), Data::unwritten(4 * m)];
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
        if format == Quantized::Int8 {
            let call =
                call::w8a8(m as u64, n as u64, k as u64).map_err(|why| format!("{why:?}"))?;
            let planes = packed.planes();
            let [of_rows, of_codes] = [planes.scales, planes.codes].map(|it| Data::of(it.to_vec()));
            let mut buffers = [of_codes, of_rows, codes, scales, Data::unwritten(4 * m * n)];
            processor.run(&call, &mut buffers)?;
            compare_rounded(&buffers[4].floats(), &gemm(&packed, &read), &|_| 0.0)
                .map_err(|why| format!("{}: {why:?}", call.kernel))?;
        }
    }
    Ok(())
}

/// A product of each format by one version.
pub(crate) fn products_of(processor: &mut Processor, version: GemvVersion) -> Result<(), String> {
    for layout in layouts().filter(|layout| *layout != Layout::Fp32) {
        let k = 5 * call::input_multiple(layout);
        product(processor, version, GemvShape { layout, m: 2, n: 18, k })?;
    }
    Ok(())
}
