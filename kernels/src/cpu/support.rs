//! Kernels of the processor with their formats, as data.

use calc_core::quant_format::QuantFormat;

use super::gemm::ELEMENTS;
use super::gemv::input_format;
use crate::backend::{FormatSupport, GemvShape, Kernel, KernelSupport, Support};
use crate::pack::Layout;
use crate::rotation::LastLevelCache;

/// Kernels and formats of this processor, whose caches have this size.
pub fn of(cache: LastLevelCache) -> Support {
    let without_formats = [
        Kernel::Read { bytes: 0 },
        Kernel::Copy { bytes: 0 },
        Kernel::Triad { bytes: 0 },
        Kernel::Fma,
        Kernel::Dot,
    ];
    let plain = |kernel: Kernel| KernelSupport { key: kernel.key(), formats: Vec::new() };
    let mut kernels: Vec<KernelSupport> = without_formats.map(plain).into();
    kernels.extend([packed(1), packed(GemvShape::MAX_TOKENS)]);
    kernels.extend(ELEMENTS.iter().copied().map(KernelSupport::of_matrices));
    kernels.extend(KernelSupport::of_layer());
    Support {
        kernels,
        cache_bytes: cache.0,
        cold_bytes: cache.cold_array(),
        hot_bytes: cache.hot_array(),
        peak_side: None,
    }
}

/// Products with packed weights of up to `m` tokens.
fn packed(m: u64) -> KernelSupport {
    let kernel = |layout| Kernel::Gemv(GemvShape { layout, m, n: 1, k: 1 });
    let format = |layout: Layout| FormatSupport {
        weights: layout.key(),
        activations: input_format(layout).key,
    };
    KernelSupport { key: kernel(Layout::Fp32).key(), formats: Layout::ALL.map(format).into() }
}

/// See [`crate::backend::Backend::activations`].
pub fn activations(kernel: Kernel) -> Option<&'static QuantFormat> {
    kernel.activations(input_format)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{
        AttentionSizes, Backend, Cache, EmbeddingSizes, GemmShape, RopeSizes, RowSizes,
        StoredFloat, Work,
    };
    use crate::cpu::backend::Cpu;

    /// A small problem in a format.
    type Small = fn(StoredFloat) -> Kernel;

    /// A small problem of each kernel of a layer, by key.
    fn layer_kernels() -> [(&'static str, Small); 5] {
        [
            ("attention", |cache| {
                let (batch, heads, kv_heads, head_dim, new, context) = (1, 4, 2, 8, 1, 9);
                let sizes =
                    AttentionSizes { cache, batch, heads, kv_heads, head_dim, new, context };
                Kernel::Attention(sizes)
            }),
            ("norm", |carrier| Kernel::Norm(RowSizes { carrier, tokens: 2, width: 5 })),
            ("rope", |carrier| {
                Kernel::Rope(RopeSizes { carrier, tokens: 2, heads: 3, head_dim: 4 })
            }),
            ("gate", |carrier| Kernel::Gate(RowSizes { carrier, tokens: 2, width: 5 })),
            ("embedding", |table| {
                Kernel::Embedding(EmbeddingSizes { table, tokens: 2, width: 5, vocab: 9 })
            }),
        ]
    }

    #[test]
    fn every_kernel_that_is_listed_runs_in_every_format() {
        let mut cpu = Cpu::new(Some(1), None);
        let support = cpu.support();
        let element = |key: &str| ELEMENTS.iter().copied().find(|element| element.key() == key);
        let mut runs = |kernel| {
            let work = Work { kernel, cache: Cache::Hot, seed: 1 };
            assert!(cpu.allocate(&work).is_ok(), "{kernel:?}");
        };
        for (key, m) in [("gemv", 1), ("gemm_packed", 2), ("gemm_packed", 16)] {
            for format in support.formats(key).unwrap() {
                let layout = Layout::by_key(format.weights).unwrap();
                let kernel = Kernel::Gemv(GemvShape { layout, m, n: 2, k: 3 });
                assert_eq!(kernel.key(), key);
                assert_eq!(activations(kernel).unwrap().key, format.activations);
                runs(kernel);
            }
        }
        let is_gemm = |key: &str| key.starts_with("gemm") && key != "gemm_packed";
        for kernel in support.kernels.iter().filter(|it| is_gemm(it.key)) {
            for format in &kernel.formats {
                let element = element(format.weights).unwrap();
                runs(Kernel::Gemm(GemmShape { element, m: 2, n: 2, k: 3 }));
            }
        }
        for (key, kernel) in layer_kernels() {
            for format in support.formats(key).unwrap() {
                let stored = StoredFloat::ALL.into_iter().find(|it| it.key() == format.weights);
                let kernel = kernel(stored.unwrap());
                assert_eq!(kernel.key(), key);
                assert_eq!(activations(kernel).unwrap().key, format.activations);
                runs(kernel);
            }
        }
        assert_eq!(support.formats("conv"), None);
    }
}
