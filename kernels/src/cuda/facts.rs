//! GPUs of this machine, and why there is none.

use calc_core::units::Bytes;

/// Facts of a GPU that are known without opening it: by its driver, and by the libraries that were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Index in the driver's order.
    pub index: u32,
    /// Name that the driver reports.
    pub name: String,
    /// Compute capability: major and minor version of the architecture.
    pub capability: (u32, u32),
    /// Multiprocessors.
    pub processors: u32,
    /// Highest clock of the multiprocessors [Hz]; 0 where the driver does not say it.
    pub clock: u64,
    /// Second-level cache [B].
    pub cache: u64,
    /// Memory [B].
    pub memory: u64,
    /// Address on the PCI bus, such as `0000:03:00.0`; `None` where the driver tells none.
    pub address: Option<String>,
    /// Whether it shares the memory of the system.
    pub is_integrated: bool,
    /// Version of CUDA that the driver has: 1000 times the major one, and 10 times the minor one.
    pub cuda: u32,
    /// Whether the library for products of matrices, cuBLASLt, was found.
    pub has_products: bool,
}

impl Facts {
    /// The driver by its version of CUDA.
    pub fn driver(&self) -> String {
        format!("CUDA {}.{}", self.cuda / 1000, self.cuda % 1000 / 10)
    }

    /// Memory of the GPU; `None` where it is that of the system.
    pub fn own_memory(&self) -> Option<Bytes> {
        (!self.is_integrated).then(|| Bytes::new(self.memory as f64))
    }
}

/// Reasons why there is no GPU to run kernels on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absent {
    /// This program was built for a system for which it has no kernels for GPUs.
    NotBuilt,
    /// The driver's library was not found.
    NoDriver,
    /// The driver's library was found, and it finds no GPU.
    NoDevice,
    /// The driver does not work, with the reason.
    Failed(String),
}
