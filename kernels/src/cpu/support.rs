//! Kernels of the processor with their formats, as data.

use super::gemm::ELEMENTS;
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
    kernels.push(packed());
    kernels.extend(ELEMENTS.iter().copied().map(matrices));
    Support {
        kernels,
        cache_bytes: cache.0,
        cold_bytes: cache.cold_array(),
        hot_bytes: cache.hot_array(),
    }
}

fn packed() -> KernelSupport {
    let format = |layout: Layout| {
        let product = GemvShape { layout, n: 1, k: 1 };
        FormatSupport { weights: layout.key(), activations: product.input_format().key }
    };
    KernelSupport { key: "gemv", formats: Layout::ALL.map(format).into() }
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
        for format in support.formats("gemv").unwrap() {
            let layout = Layout::by_key(format.weights).unwrap();
            runs(Kernel::Gemv(GemvShape { layout, n: 2, k: 3 }));
        }
        for kernel in support.kernels.iter().filter(|it| it.key.starts_with("gemm")) {
            for format in &kernel.formats {
                let element = element(format.weights).unwrap();
                runs(Kernel::Gemm(GemmShape { element, m: 2, n: 2, k: 3 }));
            }
        }
        assert_eq!(support.formats("conv"), None);
    }
}
