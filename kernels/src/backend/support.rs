//! Kernels of a backend with their formats, as data, and the sizes that measurements follow from.

use super::{Cache, Element, GemmShape, Kernel, StoredFloat};

/// Kernels of a backend, and the size of its caches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// Kernels, each once.
    pub kernels: Vec<KernelSupport>,
    /// Last-level cache that cold buffers exceed; an assumed size where the system reports none [B].
    pub cache_bytes: u64,
    /// Array of a stream that does not fit the caches [B].
    pub cold_bytes: u64,
    /// Array of a stream that stays in the caches beside two others [B].
    pub hot_bytes: u64,
    /// M, N and K of a product of matrices that shows a peak; `None` where the kernels of peaks alone show it.
    pub peak_side: Option<u64>,
}

/// A kernel with the formats that it runs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSupport {
    /// Key of the kernel in records.
    pub key: &'static str,
    /// Formats, widest first; none for kernels without a choice.
    pub formats: Vec<FormatSupport>,
}

/// A format in which a kernel runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatSupport {
    /// Key of the layout or element type of the weights.
    pub weights: &'static str,
    /// Key of the format of the input that the kernel reads.
    pub activations: &'static str,
}

impl KernelSupport {
    /// Products of matrices of an element type.
    pub fn of_matrices(element: Element) -> Self {
        let format = FormatSupport { weights: element.key(), activations: element.key() };
        Self { key: element.kernel_key(), formats: vec![format] }
    }

    /// The kernels of a layer beside its products, which all backends have in the same formats.
    pub(crate) fn of_layer() -> [Self; 5] {
        LAYER.map(|(key, stored)| in_formats(key, stored))
    }
}

/// Kernels of a layer beside its products, by key, with the formats of what they read.
const LAYER: [(&str, &[StoredFloat]); 5] = [
    ("attention", &StoredFloat::ALL),
    ("norm", &StoredFloat::CARRIERS),
    ("rope", &StoredFloat::CARRIERS),
    ("gate", &StoredFloat::CARRIERS),
    ("embedding", &StoredFloat::ALL),
];

/// Attention and embedding have FP32 beside what they read; the others read and write one format.
fn in_formats(key: &'static str, stored: &[StoredFloat]) -> KernelSupport {
    let is_carrier = stored.len() == StoredFloat::CARRIERS.len();
    let beside = |float: StoredFloat| if is_carrier { float } else { StoredFloat::Fp32 };
    let format = |float: &StoredFloat| FormatSupport {
        weights: float.key(),
        activations: beside(*float).key(),
    };
    KernelSupport { key, formats: stored.iter().map(format).collect() }
}

impl Support {
    /// The formats of a kernel. `None` if the backend does not have the kernel.
    pub fn formats(&self, kernel: &str) -> Option<&[FormatSupport]> {
        self.kernels.iter().find(|it| it.key == kernel).map(|it| &*it.formats)
    }

    /// The measurements of peaks: kernels in registers, and large products of matrices by a library that uses instructions which no kernel
    /// here has.
    pub fn peaks(&self) -> Vec<(Kernel, Cache)> {
        let kernels = Kernel::PEAKS.map(|kernel| (kernel, Cache::Hot)).into_iter();
        let product = |element| {
            let side = self.peak_side?;
            let shape = GemmShape { element, m: side, n: side, k: side };
            Some((Kernel::Gemm(shape), Cache::Cold))
        };
        let products = Element::ALL.into_iter().filter_map(product);
        kernels.chain(products).filter(|(kernel, _)| self.has(*kernel)).collect()
    }

    /// Whether the backend has the kernel in its format.
    pub fn has(&self, kernel: Kernel) -> bool {
        let Some(formats) = self.formats(kernel.key()) else { return false };
        kernel.stored_format().is_none_or(|key| formats.iter().any(|it| it.weights == key))
    }
}
