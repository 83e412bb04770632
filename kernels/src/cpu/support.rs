//! Kernels of the processor with their formats, as data.

use calc_core::quant_format::QuantFormat;

use super::gemm::ELEMENTS;
use super::gemv::input_format;
use super::rotation::LastLevelCache;
use crate::backend::{
    Element, FormatSupport, GemmShape, GemvShape, Kernel, KernelSupport, Support,
};
use crate::pack::Layout;

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
    kernels.extend(ELEMENTS.iter().copied().map(matrices));
    Support {
        kernels,
        cache_bytes: cache.0,
        cold_bytes: cache.cold_array(),
        hot_bytes: cache.hot_array(),
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
    match kernel {
        Kernel::Gemv(product) => Some(input_format(product.layout)),
        Kernel::Gemm(product) => Some(product.format()),
        Kernel::Read { .. }
        | Kernel::Copy { .. }
        | Kernel::Triad { .. }
        | Kernel::Fma
        | Kernel::Dot => None,
    }
}

fn matrices(element: Element) -> KernelSupport {
    let kernel = Kernel::Gemm(GemmShape { element, m: 1, n: 1, k: 1 });
    let format = FormatSupport { weights: element.key(), activations: element.key() };
    KernelSupport { key: kernel.key(), formats: vec![format] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{Backend, Cache, Work};
    use crate::cpu::backend::Cpu;

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
        assert_eq!(support.formats("conv"), None);
    }
}
