//! Products of packed weights with inputs of 16 bits.

use half::bf16;

use super::{Argument, Call, NoCall, THREADS, WARP, count, int};
use crate::backend::{GemvShape, StoredFloat};
use crate::pack::minifloat::e8m0;
use crate::pack::{Layout, Packed};

/// Versions of the product with packed weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GemvVersion {
    /// A thread per row.
    Thread,
    /// A warp per row, FP32 arithmetic.
    Warp,
    /// Tensor cores, from architecture 8.0.
    TensorCores,
}

/// Layouts with kernels; tensor cores have all of them but FP32.
pub const LAYOUTS: [Layout; 16] = [
    Layout::Fp32,
    Layout::Fp16,
    Layout::Bf16,
    Layout::Fp8E4m3,
    Layout::Int8,
    Layout::Int4G32,
    Layout::Int4G32Sym,
    Layout::Int4G128,
    Layout::Int4G128Sym,
    Layout::Nf4,
    Layout::Mxfp4,
    Layout::Nvfp4,
    Layout::GgufQ8_0,
    Layout::GgufQ6K,
    Layout::GgufQ4K,
    Layout::GgufQ4_0,
];

/// Elements that a thread loads at once: 16 bytes of codes, a block of GGUF, or a part of a large one.
const fn piece(layout: Layout) -> usize {
    match layout {
        Layout::GgufQ6K => 16,
        Layout::GgufQ4K => 64,
        Layout::GgufQ8_0 | Layout::GgufQ4_0 => layout.block(),
        _ => 16 * layout.block() / layout.block_code_bytes(),
    }
}

/// The number of which K is a multiple: whole pieces and whole blocks of scales.
pub fn input_multiple(layout: Layout) -> u64 {
    piece(layout).max(layout.block()) as u64
}

/// How tensor cores round the weights that they multiply, relative to each, and relative to the largest scale of the matrix. A scale that
/// multiplies weights in FP16 is rounded itself, and may be subnormal; codes of Q6_K times their scale are integers of up to 13 bits.
const fn weight_rounding(layout: Layout) -> (f64, f64) {
    match layout {
        Layout::Int4G32
        | Layout::Int4G32Sym
        | Layout::Nf4
        | Layout::GgufQ8_0
        | Layout::GgufQ4_0 => {
            // A weight is at most 16 times its scale.
            (1.0 / 1024.0, 16.0 / 33_554_432.0)
        }
        Layout::GgufQ6K => (1.0 / 2048.0, 0.0),
        _ => (0.0, 0.0),
    }
}

/// The format of the inputs of a product on tensor cores: that of the weights for BF16, FP16 for all others.
pub const fn carrier(layout: Layout, version: GemvVersion) -> StoredFloat {
    match (layout, version) {
        (Layout::Bf16, GemvVersion::TensorCores) => StoredFloat::Bf16,
        _ => StoredFloat::Fp16,
    }
}

/// The largest scale of a matrix whose kernel on tensor cores divides by it: scales are at most 1 then, and none overflows FP16.
/// 1 for all others.
pub fn largest_scale(weights: &Packed) -> f32 {
    let scales = weights.planes().scales;
    let largest = |all: &mut dyn Iterator<Item = f32>| all.fold(0.0_f32, |a, b| a.max(b.abs()));
    let found = match weights.layout() {
        Layout::Int4G32 | Layout::Int4G32Sym => {
            largest(&mut scales.as_chunks().0.iter().map(|it| bf16::from_le_bytes(*it).to_f32()))
        }
        Layout::Nf4 => largest(&mut scales.as_chunks().0.iter().map(|it| f32::from_le_bytes(*it))),
        Layout::Mxfp4 => scales.iter().max().map_or(0.0, |code| e8m0(*code)),
        _ => 1.0,
    };
    if found >= f32::MIN_POSITIVE { found } else { 1.0 }
}

/// Tolerance that rounding inside a kernel adds to that of an output, by token and by the sum of its magnitudes Σ|w|·|x|; `scale` is that
/// of [`largest_scale`], `x` has the inputs of `cols` columns per token.
pub fn rounding(
    version: GemvVersion,
    layout: Layout,
    scale: f32,
    x: &[f64],
    cols: usize,
) -> impl Fn(usize, f64) -> f64 + 'static {
    let sums: Vec<f64> = x.chunks(cols).map(|x| x.iter().map(|x| x.abs()).sum()).collect();
    let (relative, smallest) = match version {
        GemvVersion::TensorCores => weight_rounding(layout),
        GemvVersion::Thread | GemvVersion::Warp => (0.0, 0.0),
    };
    let smallest = smallest * f64::from(scale);
    move |token, magnitude| magnitude * relative + smallest * sums[token]
}

/// Product with packed weights. Buffers: codes, scales, zero points, the table of NF4, inputs, outputs; `scale` is that of
/// [`largest_scale`].
///
/// # Errors
/// See [`NoCall`].
pub fn gemv(
    version: GemvVersion,
    shape: GemvShape,
    tensor_scale: f32,
    scale: f32,
) -> Result<Call, NoCall> {
    let GemvShape { layout, m, n, k } = shape;
    let on_tensor_cores = version == GemvVersion::TensorCores;
    if !LAYOUTS.contains(&layout) || on_tensor_cores && layout == Layout::Fp32 {
        return Err(NoCall::Format);
    }
    let multiple = input_multiple(layout);
    if k == 0 || !k.is_multiple_of(multiple) {
        return Err(NoCall::Inputs { multiple });
    }
    if !(1..=GemvShape::MAX_TOKENS).contains(&m) {
        return Err(NoCall::Tokens);
    }
    let (rows, columns, tokens) = (int(n)?, int(k)?, int(m)?);
    let cols = usize::try_from(k).ok().ok_or(NoCall::TooLarge)?;
    let key = layout.key();
    let blocks_of_rows = count(n)?;
    let (kernel, rows_of_block, groups, shared) = match version {
        GemvVersion::Thread => (format!("gemv_v1_{key}"), THREADS, 1, 0),
        GemvVersion::Warp => {
            let width = if m == 1 { 1 } else { 4 };
            let groups = count(m.div_ceil(width))?;
            (format!("gemv_v2_{key}_m{width}"), THREADS / WARP, groups, 0)
        }
        GemvVersion::TensorCores => {
            let tiles = count(m.div_ceil(8))?;
            // The pairs of NF4, and the parts of each warp.
            let shared = 4 * 256 + 4 * (THREADS / WARP) * tiles * 4 * WARP;
            (format!("gemv_v3_{key}_m{}", 8 * tiles), 16, 1, shared)
        }
    };
    let plane = |number: usize, stride: usize| {
        let buffer = if stride == 0 { Argument::Absent } else { Argument::Buffer(number) };
        (buffer, Argument::Long(stride as u64))
    };
    let (codes, code_stride) = plane(0, layout.row_code_bytes(cols));
    let (scales, scale_stride) = plane(1, layout.row_scale_bytes(cols));
    let (zeros, zero_stride) = plane(2, layout.row_zero_bytes(cols));
    let table = if layout == Layout::Nf4 { Argument::Buffer(3) } else { Argument::Absent };
    let mut arguments = vec![codes, scales, zeros, table, code_stride, scale_stride, zero_stride];
    arguments.extend([Argument::Buffer(4), Argument::Buffer(5)]);
    if on_tensor_cores {
        // A format has a scale of the tensor or scales that are divided by their largest one; the other is 1.
        arguments.extend([Argument::Float(tensor_scale * scale), Argument::Float(1.0 / scale)]);
    } else {
        arguments.push(Argument::Float(tensor_scale));
    }
    arguments.extend([Argument::Int(rows), Argument::Int(columns), Argument::Int(tokens)]);
    let grid = [blocks_of_rows.div_ceil(rows_of_block), groups, 1];
    let program = if on_tensor_cores { "gemv_mma.cu" } else { "gemv.cu" };
    Ok(Call { program, kernel, grid, threads: THREADS, shared, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::CodeKind;

    #[test]
    fn a_piece_is_16_bytes_or_a_block_of_gguf() {
        for layout in LAYOUTS {
            let piece = piece(layout);
            let bytes = layout.row_code_bytes(piece);
            match layout {
                Layout::GgufQ8_0 | Layout::GgufQ4_0 => assert_eq!(bytes % 16, 2, "{layout:?}"),
                Layout::GgufQ6K | Layout::GgufQ4K => assert_eq!(layout.block() % piece, 0),
                // Beside its own piece a row may have the rest of a block of 128.
                _ => assert!(bytes.is_multiple_of(16), "{layout:?} {bytes}"),
            }
            assert!(input_multiple(layout).is_multiple_of(piece as u64), "{layout:?}");
            let is_nibbles = layout.code_kind() == CodeKind::Nibbles || layout == Layout::Nf4;
            assert_eq!(piece == 32, is_nibbles || layout == Layout::GgufQ8_0, "{layout:?}");
            assert_eq!(input_multiple(layout) % layout.block() as u64, 0, "{layout:?}");
        }
    }

    #[test]
    fn problems_without_a_kernel_are_refused_with_the_rule() {
        let shape = |layout, m, k| GemvShape { layout, m, n: 8, k };
        let call = |shape| gemv(GemvVersion::TensorCores, shape, 1.0, 1.0);
        assert_eq!(call(shape(Layout::Fp32, 1, 64)), Err(NoCall::Format));
        assert_eq!(call(shape(Layout::Fp8E5m2, 1, 64)), Err(NoCall::Format));
        assert_eq!(call(shape(Layout::Int4G128, 1, 192)), Err(NoCall::Inputs { multiple: 128 }));
        assert_eq!(call(shape(Layout::Nf4, 1, 96)), Err(NoCall::Inputs { multiple: 64 }));
        assert_eq!(call(shape(Layout::Fp16, 17, 64)), Err(NoCall::Tokens));
        assert_eq!(call(shape(Layout::Fp16, 1, 1 << 31)), Err(NoCall::TooLarge));
        let found = call(shape(Layout::Fp16, 9, 64)).unwrap();
        assert_eq!((found.kernel.as_str(), found.grid), ("gemv_v3_fp16_m16", [1, 1, 1]));
    }
}
