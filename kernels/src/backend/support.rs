//! Kernels of a backend with their formats, as data, and the sizes that measurements follow from.

use super::Kernel;

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

impl Support {
    /// The formats of a kernel. `None` if the backend does not have the kernel.
    pub fn formats(&self, kernel: &str) -> Option<&[FormatSupport]> {
        self.kernels.iter().find(|it| it.key == kernel).map(|it| &*it.formats)
    }

    /// Whether the backend has the kernel in its format.
    pub fn has(&self, kernel: Kernel) -> bool {
        let Some(formats) = self.formats(kernel.key()) else { return false };
        kernel.stored_format().is_none_or(|key| formats.iter().any(|it| it.weights == key))
    }
}
