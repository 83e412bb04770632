//! Kernels of a GPU with their formats, and the memory of a measurement, as data.

use calc_core::math::{exp, ln};
use calc_core::quant_format::QuantFormat;
use calc_core::units::Bytes;

use super::call::layer::AttentionVersion;
use super::call::products::{GemvVersion, LAYOUTS, carrier};
use super::call::streams::Peak;
use super::facts::Facts;
use crate::backend::{
    Cache, Element, EmbeddingSizes, Fault, FormatSupport, GemvShape, Kernel, KernelSupport,
    StoredFloat, Support, TensorElement, Work,
};
use crate::pack::Layout;
use crate::rotation::{LastLevelCache, PAGE, fixed, rotated};

/// Clock that is assumed where the driver does not say it [Hz].
pub(super) const ASSUMED_CLOCK: u64 = 1_500_000_000;
/// Fewest sets of cold buffers.
const LEAST_SETS: u64 = 8;
/// Memory that an algorithm of cuBLASLt may use beside its operands [B], as NVIDIA advises for its larger GPUs.
pub(super) const WORKSPACE: u64 = 32 << 20;
/// Most sets: a graph of a window has a call for each.
const MOST_SETS: u64 = 16_384;
/// The version of the product with packed weights that runs: tensor cores where the GPU and the format have them.
pub(super) fn version(layout: Layout, (major, _): (u32, u32)) -> GemvVersion {
    if major >= 8 && layout != Layout::Fp32 { GemvVersion::TensorCores } else { GemvVersion::Warp }
}

/// The kernel that reaches a peak of tensor cores.
pub(super) const fn peak(element: TensorElement) -> Peak {
    match element {
        TensorElement::Tf32 => Peak::TensorTf32,
        TensorElement::Fp16 => Peak::TensorFp16,
        TensorElement::Bf16 => Peak::TensorBf16,
        TensorElement::Fp8 => Peak::TensorFp8E4m3,
        TensorElement::Int8 => Peak::TensorInt8,
    }
}

/// Whether an architecture multiplies an element on tensor cores by `mma`.
const fn has(element: TensorElement, (major, minor): (u32, u32)) -> bool {
    match element {
        // On 9.0 and 10.0 this instruction becomes conversions to FP16; their own ones for FP8 are not used here.
        TensorElement::Fp8 => matches!((major, minor), (8, 9) | (12.., _)),
        _ => major >= 8,
    }
}

/// Whether the library multiplies matrices of an element on an architecture, on tensor cores but for FP32.
pub(super) fn multiplies(element: Element, facts: &Facts) -> bool {
    let least = match element {
        Element::Fp32 => (0, 0),
        Element::Fp16 => (7, 0),
        Element::Int8 => (7, 2),
        Element::Tf32 | Element::Bf16 => (8, 0),
        Element::Fp8E4m3 => (8, 9),
    };
    facts.has_products && facts.capability >= least
}

/// Kernels and formats of a GPU.
pub fn of(facts: &Facts) -> Support {
    let plain = |kernel: Kernel| KernelSupport { key: kernel.key(), formats: Vec::new() };
    let streams =
        [Kernel::Read { bytes: 0 }, Kernel::Copy { bytes: 0 }, Kernel::Triad { bytes: 0 }];
    let tensor = TensorElement::ALL.into_iter().filter(|it| has(*it, facts.capability));
    let peaks = [Kernel::Fma, Kernel::Dot].into_iter().chain(tensor.map(Kernel::TensorCores));
    let mut kernels: Vec<KernelSupport> = streams.into_iter().chain(peaks).map(plain).collect();
    kernels.extend([1, GemvShape::MAX_TOKENS].map(|m| packed(m, facts)));
    let elements = Element::ALL.into_iter().filter(|element| multiplies(*element, facts));
    kernels.extend(elements.map(KernelSupport::of_matrices));
    kernels.extend(KernelSupport::of_layer());
    let cache = cache(facts);
    Support {
        kernels,
        cache_bytes: cache.0,
        cold_bytes: cold_array(facts),
        hot_bytes: near_cache(facts).hot_array(),
        peak_side: facts.has_products.then(|| peak_side(facts)),
    }
}

/// FLOP per cycle of a multiprocessor of 9.0 in FP16, from which the size of a product that shows a peak follows.
const FLOPS_PER_CYCLE: f64 = 4096.0;

/// M, N and K of a product of matrices that takes a millisecond at least, so that its first and last tiles are little beside it.
fn peak_side(facts: &Facts) -> u64 {
    let clock = if facts.clock > 0 { facts.clock } else { ASSUMED_CLOCK };
    let flops = f64::from(facts.processors) * clock as f64 * 1e-3 * FLOPS_PER_CYCLE;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
    let side = exp(ln(flops / 2.0) / 3.0) as u64;
    side.clamp(1, 16_384).next_multiple_of(128)
}

/// Bytes of an array of a cold stream: starting a call and its last blocks are little beside it, in a GPU with much bandwidth.
fn cold_array(facts: &Facts) -> u64 {
    let large = (facts.memory / 32).min(1 << 30) / PAGE * PAGE;
    cache(facts).cold_array().max(large)
}

/// The cache that data of a hot call fit into. Large caches of data-center GPUs have two parts, and each multiprocessor keeps what is in
/// the far one in the near one, too.
fn near_cache(facts: &Facts) -> LastLevelCache {
    let whole = cache(facts);
    let has_parts = matches!(facts.capability, (8, 0) | (9.., _)) && facts.capability.0 < 12;
    if has_parts && whole.0 >= 32 << 20 { LastLevelCache(whole.0 / 2) } else { whole }
}

fn packed(m: u64, facts: &Facts) -> KernelSupport {
    let format = |layout: Layout| FormatSupport {
        weights: layout.key(),
        activations: inputs(layout, facts).key(),
    };
    let kernel = Kernel::Gemv(GemvShape { layout: Layout::Fp32, m, n: 1, k: 1 });
    KernelSupport { key: kernel.key(), formats: LAYOUTS.map(format).into() }
}

fn inputs(layout: Layout, facts: &Facts) -> StoredFloat {
    carrier(layout, version(layout, facts.capability))
}

/// See [`crate::backend::Backend::activations`].
pub fn activations(kernel: Kernel, facts: &Facts) -> Option<&'static QuantFormat> {
    kernel.activations(|layout| inputs(layout, facts).format())
}

/// The program of a kernel, and the version that runs.
pub(super) fn program(kernel: Kernel, capability: (u32, u32)) -> (&'static str, &'static str) {
    match kernel {
        Kernel::Read { .. } | Kernel::Copy { .. } | Kernel::Triad { .. } => ("stream.cu", "v1"),
        Kernel::Fma | Kernel::Dot | Kernel::TensorCores(_) => ("peak.cu", "v1"),
        Kernel::Gemv(product) => match version(product.layout, capability) {
            GemvVersion::Thread => ("gemv.cu", "v1"),
            GemvVersion::Warp => ("gemv.cu", "v2"),
            GemvVersion::TensorCores => ("gemv_mma.cu", "v3 on tensor cores"),
        },
        Kernel::Gemm(_) => ("", "cuBLASLt"),
        Kernel::Attention(sizes) => match AttentionVersion::of(&sizes, capability) {
            AttentionVersion::Warp => ("attention.cu", "v1"),
            AttentionVersion::Group => ("attention.cu", "v2"),
            AttentionVersion::TensorCores => ("attention_mma.cu", "v3 on tensor cores"),
        },
        Kernel::Norm(_) | Kernel::Rope(_) | Kernel::Gate(_) | Kernel::Embedding(_) => {
            ("layer.cu", "v1")
        }
    }
}

/// Sets of buffers for a work. A window has a call for each of them.
pub(super) fn sets(facts: &Facts, work: &Work) -> Result<u64, Fault> {
    let (bytes, cache) = (rotated_bytes(&work.kernel), cache(facts));
    match work.cache {
        Cache::Hot if bytes > near_cache(facts).0 => {
            Err(Fault::NoCache { bytes, cache: near_cache(facts).0 })
        }
        Cache::Hot => Ok(1),
        // Peaks have no buffers to rotate over.
        Cache::Cold if bytes == 0 => Ok(1),
        Cache::Cold => {
            let is_large = matches!(
                work.kernel,
                Kernel::Read { .. } | Kernel::Copy { .. } | Kernel::Triad { .. } | Kernel::Gemm(_)
            );
            // An array or a matrix that covers the cache needs no others beside it.
            let least = if is_large && bytes >= 4 * cache.0 { 2 } else { LEAST_SETS };
            let sets = cache.sets(Cache::Cold, bytes, least);
            if sets > MOST_SETS {
                let least = (4 * cache.0).div_ceil(MOST_SETS);
                return Err(Fault::TooSmall { bytes, least });
            }
            Ok(sets)
        }
    }
}

/// Bytes that a call reads and another does not: of embeddings the rows that are looked up.
fn rotated_bytes(kernel: &Kernel) -> u64 {
    match kernel {
        Kernel::Embedding(EmbeddingSizes { table, tokens, width, .. }) => {
            tokens.saturating_mul(*width).saturating_mul(table.bytes())
        }
        other => rotated(other),
    }
}

/// The cache that buffers are sized for.
pub fn cache(facts: &Facts) -> LastLevelCache {
    let reported = (facts.cache > 0).then(|| Bytes::new(facts.cache as f64));
    LastLevelCache::or_assumed(reported)
}

/// Bytes that a measurement of this work allocates.
pub fn needed(facts: &Facts, work: &Work) -> u64 {
    let sets = sets(facts, work).unwrap_or(LEAST_SETS);
    let of_sets = match work.kernel {
        Kernel::Embedding(sizes) => sizes.table_bytes(),
        // Each set has queries of its own.
        Kernel::Attention(it) => {
            let queries = it.query_elements().saturating_mul(4);
            it.cache_bytes().saturating_add(queries).saturating_mul(sets)
        }
        other => rotated(&other).saturating_mul(sets),
    };
    // A result of each thread of a peak; those of a stream are fewer.
    let results = u64::from(facts.processors) * 2 * 256 * 4;
    let workspace = if matches!(work.kernel, Kernel::Gemm(_)) { WORKSPACE } else { 0 };
    of_sets.saturating_add(fixed(&work.kernel)).saturating_add(results).saturating_add(workspace)
}
