//! Other processes that compute on a card. Those that only draw, as a desktop does, are not counted.

use std::collections::BTreeMap;
use std::path::Path;

use calc_core::units::Bytes;
use nvml_wrapper::Device;
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::struct_wrappers::device::ProcessInfo;
use report::number_text as n;

use super::super::super::Reading;
use super::super::{COMPUTING, Computing, Gpu};
use super::card;
use super::faults::said;
use super::library::opened;

const ASKED: &str = "nvmlDeviceGetComputeRunningProcesses";
/// Most processes that the source names.
const MOST_NAMED: usize = 8;

/// The use of a card by processes that are not our own.
pub(in super::super) fn used(gpu: &Gpu, is_own: impl Fn(u32) -> bool) -> Reading<Computing> {
    let found = running(&card(&*opened()?, gpu)?).map_err(|error| said(ASKED, &error))?;
    // In a container the driver may tell the numbers of the host, among which our own is another one's.
    if found.iter().any(|it| !Path::new(&format!("/proc/{}", it.pid)).exists()) {
        return Err("NVML tells numbers of processes that are not of this container".into());
    }
    // A process with several parts of a divided card is there several times.
    let mut processes: BTreeMap<u32, Option<f64>> = BTreeMap::new();
    for process in found.into_iter().filter(|process| !is_own(process.pid)) {
        let bytes = match process.used_gpu_memory {
            UsedGpuMemory::Used(bytes) => Some(bytes as f64),
            UsedGpuMemory::Unavailable => None,
        };
        let known = processes.entry(process.pid).or_insert(Some(0.0));
        *known = known.zip(bytes).map(|(known, more)| known + more);
    }
    let memory: Option<f64> = processes.values().copied().sum();
    Ok(Computing {
        processes: processes.len(),
        memory: memory.ok_or_else(|| "NVML tells the memory of no process on this GPU".into()),
        source: format!("{COMPUTING}: {}", named(&processes)),
    })
}

/// The second form of the question. Some drivers 535 answer the third one with larger entries than its header states.
fn running(card: &Device<'_>) -> Result<Vec<ProcessInfo>, NvmlError> {
    match card.running_compute_processes_v2() {
        Err(NvmlError::FailedToLoadSymbol(_)) => card.running_compute_processes(),
        found => found,
    }
}

/// The first processes with their memory.
fn named(processes: &BTreeMap<u32, Option<f64>>) -> String {
    let one = |(id, bytes): (&u32, &Option<f64>)| match bytes {
        Some(bytes) => format!("process {id} ({})", n::bytes(Bytes::new(*bytes))),
        None => format!("process {id}"),
    };
    let named: Vec<String> = processes.iter().take(MOST_NAMED).map(one).collect();
    let more = processes.len().saturating_sub(MOST_NAMED);
    match (named.is_empty(), more) {
        (true, _) => "none".into(),
        (false, 0) => named.join(", "),
        (false, more) => format!("{}, and {more} more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_processes_are_named_with_their_memory() {
        let of = |processes: &[(u32, Option<f64>)]| named(&processes.iter().copied().collect());
        assert_eq!(of(&[]), "none");
        let two = of(&[(7, None), (9, Some(2e9))]).replace(n::SPACE, " ");
        assert_eq!(two, "process 7, process 9 (2.00 GB)");
        let many: Vec<_> = (1..=10).map(|id| (id, None)).collect();
        assert!(of(&many).ends_with("process 8, and 2 more"), "{}", of(&many));
    }
}
