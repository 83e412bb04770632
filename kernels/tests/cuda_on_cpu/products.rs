//! Products with packed weights against the reference.

use kernels::backend::GemvShape;
use kernels::compare::{Mismatch, compare_rounded};
use kernels::cuda::call::products::{self as call, GemvVersion, carrier, largest_scale, rounding};
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

/// A product of each format by one version.
pub(crate) fn products_of(processor: &mut Processor, version: GemvVersion) -> Result<(), String> {
    for layout in layouts().filter(|layout| *layout != Layout::Fp32) {
        let k = 5 * call::input_multiple(layout);
        product(processor, version, GemvShape { layout, m: 2, n: 18, k })?;
    }
    Ok(())
}
