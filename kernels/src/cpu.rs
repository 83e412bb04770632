//! The processor as a backend: instruction sets, pinned threads, NUMA-local memory, kernels.

mod attention;
pub mod backend;
pub mod buffer;
pub mod clock;
pub mod core_clock;
pub mod device;
mod disjoint_rows;
pub mod gemm;
pub mod gemv;
pub mod isa;
mod lanes;
pub mod launch;
pub mod peak;
mod prefetch;
mod rows;
pub mod stream;
pub mod support;
mod task;
pub mod threads;

/// Memory that can be allocated without swapping [B]. `None` where the system does not report it.
pub(crate) fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
