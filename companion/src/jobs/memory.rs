//! The memory that a job needs for the largest of its points, against the memory that is available without
//! swapping. A job that does not fit is refused before it is queued.

use std::fs;
use std::path::Path;

use calc_core::units::Bytes;
use kernels::backend::{Cache, GemmShape, GemvShape, Kernel, Support, Work};
use kernels::devices::Device;
use protocol::bench::{BenchKind, BenchSpec};
use protocol::fault::Fault;
use protocol::job::{JobSpec, JobState};
use report::number_text;

use crate::hooks::Hooks;
use crate::measure::products::Products;
use crate::measure::{calibration, layers};
use crate::reason::Reason;

/// Memory that stays free for other programs, in bytes; a tenth of the available memory if that is more.
const RESERVE: u64 = 1 << 30;

/// Refuses a job that needs more memory [B] than is available. `held` is the memory that the running job will release; an unknown
/// `available` refuses nothing.
pub(super) fn has_room(needed: u64, available: Option<u64>, held: u64) -> Result<(), Fault> {
    let Some(available) = available else { return Ok(()) };
    let available = available.saturating_sub(RESERVE.max(available / 10)).saturating_add(held);
    if needed <= available {
        return Ok(());
    }
    Err(Reason::MemoryShort.with(&[&shown(needed), &shown(available)]))
}

/// Refuses a job that needs more than nine tenths of a device's own memory. How much of it others use is known when the job allocates.
pub(super) fn has_room_of_its_own(needed: u64, memory: Bytes) -> Result<(), Fault> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a memory")]
    let most = (memory.get() * 0.9) as u64;
    if needed <= most {
        return Ok(());
    }
    Err(Reason::MemoryShort.with(&[&shown(needed), &shown(most)]))
}

/// Memory that has to be left while a job runs, in bytes. A job that is admitted leaves four times as much.
const LEFT: u64 = 256 << 20;

/// The end of a running job where so little memory is left that the machine would swap; an unknown memory ends nothing.
pub(super) fn runs_out(hooks: &Hooks) -> Option<(JobState, Option<Fault>)> {
    let left = hooks.memory().or_else(available).filter(|left| *left < LEFT)?;
    Some((JobState::Failed, Some(Reason::MemoryOut.with(&[&shown(left)]))))
}

fn shown(bytes: u64) -> String {
    number_text::bytes(Bytes::new(bytes as f64))
}

/// Memory that the system reports as available, or a container of this process still has, in bytes; `None` where nobody tells it, as on
/// macOS.
pub(super) fn available() -> Option<u64> {
    let machine = available_in(&fs::read_to_string("/proc/meminfo").ok()?);
    let group = fs::read_to_string("/proc/self/cgroup").ok();
    let left = group.and_then(|group| left_in_groups(Path::new("/sys/fs/cgroup"), &group));
    machine.into_iter().chain(left).min()
}

/// The least memory that is left to the control group of a process and to those around it (version 2), in bytes; `None` without limits.
/// Pages of files that were not used lately are given back when memory is needed.
fn left_in_groups(root: &Path, of_process: &str) -> Option<u64> {
    let own = of_process.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let left = |group: &Path| {
        let number = |file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse().ok();
        let most: u64 = number("memory.max")?;
        let used: u64 = number("memory.current")?;
        let pages = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let idle = pages.lines().find_map(|line| line.strip_prefix("inactive_file ")?.parse().ok());
        Some(most.saturating_sub(used.saturating_sub(idle.unwrap_or(0))))
    };
    let groups = root.join(own);
    groups.ancestors().take_while(|group| group.starts_with(root)).filter_map(left).min()
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Memory of the largest point on a device, in bytes. Points are measured one after another.
pub(super) fn needed(spec: &JobSpec, device: &Device) -> u64 {
    let support = device.support();
    let kernels = match spec {
        // A device that cannot be calibrated is refused before its memory is counted.
        JobSpec::Calibrate(_) => calibration::points(&support).unwrap_or_default(),
        JobSpec::Bench(bench) => {
            points(bench, &support).into_iter().map(|kernel| (kernel, Cache::Cold)).collect()
        }
    };
    let bytes = |(kernel, cache)| device.needed(&Work { kernel, cache, seed: 0 });
    kernels.into_iter().map(bytes).max().unwrap_or(0)
}

/// The kernels of the points, one each; of kinds without shapes and sizes the one that needs the most memory.
pub(super) fn points(bench: &BenchSpec, support: &Support) -> Vec<Kernel> {
    let (own, cold) = (Products(support.clone()), support.cold_bytes);
    let peaks = support.peaks().into_iter().map(|(kernel, _)| kernel);
    match bench.what {
        BenchKind::Bandwidth => vec![Kernel::Triad { bytes: cold }],
        BenchKind::Roofs => [Kernel::Read { bytes: cold }].into_iter().chain(peaks).collect(),
        BenchKind::Flops => peaks.collect(),
        BenchKind::Gemm => {
            let elements = own.elements(&bench.formats).unwrap_or_default();
            let of = |shape: &protocol::bench::Shape| {
                let (m, n, k) = (shape.m, shape.n, shape.k);
                let product = move |element| Kernel::Gemm(GemmShape { element, m, n, k });
                elements.iter().copied().map(product)
            };
            bench.shapes.iter().flat_map(of).collect()
        }
        BenchKind::Gemv => {
            let layouts = own.layouts(&bench.formats).unwrap_or_default();
            let of = |shape: &protocol::bench::Shape| {
                let (m, n, k) = (shape.m, shape.n, shape.k);
                let product = move |layout| Kernel::Gemv(GemvShape { layout, m, n, k });
                layouts.iter().copied().map(product)
            };
            bench.shapes.iter().flat_map(of).collect()
        }
        BenchKind::Attention
        | BenchKind::Norm
        | BenchKind::Rope
        | BenchKind::Gate
        | BenchKind::Embedding => {
            let of = |sizes| layers::kernels(bench.what, sizes, &bench.formats).unwrap_or_default();
            bench.sizes.iter().flat_map(of).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;
    /// The least size of a cold array.
    const LEAST_ARRAY: u64 = 64 << 20;

    fn needed(spec: &JobSpec) -> u64 {
        super::needed(spec, &kernels::devices::all(None)[0])
    }

    fn job(text: &str) -> JobSpec {
        serde_json::from_str(text).unwrap()
    }

    fn gemv(format: &str) -> JobSpec {
        let shapes = r#"[{"m":1,"n":64,"k":64},{"m":1,"n":65536,"k":65536}]"#;
        job(&format!(
            r#"{{"kind":"bench","what":"gemv","shapes":{shapes},"formats":["{format}"]}}"#
        ))
    }

    #[test]
    fn a_container_has_what_its_group_and_those_around_it_leave() {
        let root = std::env::temp_dir().join(format!("ridgepoint-groups-{}", std::process::id()));
        let inner = root.join("outer/inner");
        fs::create_dir_all(&inner).expect("a folder");
        let left = || left_in_groups(&root, "1:name=systemd:/x\n0::/outer/inner\n");
        assert_eq!(left(), None, "no limits");
        fs::write(inner.join("memory.max"), "max\n").expect("a file");
        fs::write(inner.join("memory.current"), "5000\n").expect("a file");
        assert_eq!(left(), None);
        fs::write(inner.join("memory.max"), "9000\n").expect("a file");
        assert_eq!(left(), Some(4000));
        fs::write(inner.join("memory.stat"), "file 1500\ninactive_file 1000\n").expect("a file");
        assert_eq!(left(), Some(5000));
        fs::write(root.join("outer/memory.max"), "7000\n").expect("a file");
        fs::write(root.join("outer/memory.current"), "6500\n").expect("a file");
        assert_eq!(left(), Some(500), "the group around it has less");
        assert_eq!(left_in_groups(&root, "5:memory:/docker\n"), None, "version 1");
        fs::remove_dir_all(&root).expect("removed");
    }

    #[test]
    fn the_largest_point_counts_with_its_copies() {
        // 65536² elements of 4 bytes are 16 GiB, and two sets of them rotate.
        let needed_by = needed(&gemv("fp32"));
        assert!((32 * GIB..33 * GIB).contains(&needed_by), "{needed_by}");
        assert!(needed(&gemv("int8")) < needed_by / 3);
        let gemm = r#"{"kind":"bench","what":"gemm","shapes":[{"m":65536,"n":1,"k":65536}]}"#;
        assert!(needed(&job(gemm)) > 16 * GIB, "inputs count, too");
        assert!(needed(&job(r#"{"kind":"bench","what":"bandwidth"}"#)) >= 6 * LEAST_ARRAY);
        assert_eq!(needed(&job(r#"{"kind":"bench","what":"flops"}"#)), 0);
        let sizes =
            r#"{"batch":1,"heads":32,"kv_heads":8,"head_dim":128,"new":1,"context":1048576}"#;
        let attention = format!(
            r#"{{"kind":"bench","what":"attention","sizes":[{sizes}],"formats":["fp8_e4m3","fp16"]}}"#
        );
        // 8 heads of 2 · 128 numbers of 2 bytes for 2²⁰ tokens are 4 GiB, twice, and the reference is computed from a few heads.
        let attention = needed(&job(&attention));
        assert!((8 * GIB..32 * GIB).contains(&attention), "{attention}");
        assert!(needed(&job(r#"{"kind":"calibrate"}"#)) > LEAST_ARRAY);
    }

    #[test]
    fn each_device_needs_its_own_memory() {
        let devices = kernels::devices::all(Some(kernels::backend::fake::Script::GOOD));
        let [cpu, fake] = &devices[..] else { panic!("{devices:?}") };
        let of = |device, order| super::needed(&job(order), device);
        let bandwidth = r#"{"kind":"bench","what":"bandwidth"}"#;
        assert!(0 < of(fake, bandwidth) && of(fake, bandwidth) < of(cpu, bandwidth));
        assert_eq!(of(fake, r#"{"kind":"calibrate"}"#), 0, "it is refused");
    }

    #[test]
    fn jobs_without_enough_memory_are_refused_with_both_numbers() {
        let large = needed(&gemv("fp32"));
        assert_eq!(has_room(large, Some(40 * GIB), 0), Ok(()));
        let fault = has_room(large, Some(20 * GIB), 0).unwrap_err();
        let said = fault.message.replace('\u{202f}', " ");
        assert!(said.contains("34.4 GB of memory") && said.contains("19.3 GB is"), "{said}");
        assert_eq!(has_room(large, Some(20 * GIB), 16 * GIB), Ok(()), "a job gives it back");
        assert_eq!(has_room(large, None, 0), Ok(()), "where nothing is known");
        // At least 1 GiB stays free on a small machine.
        assert!(has_room(needed(&job(r#"{"kind":"calibrate"}"#)), Some(GIB), 0).is_err());
    }

    #[test]
    fn meminfo_is_parsed() {
        assert_eq!(available_in("MemTotal: 9 kB\nMemAvailable:    500 kB\n"), Some(512_000));
        for strange in ["", "MemAvailable: many kB", "MemAvailable: 5", "MemFree: 5 kB"] {
            assert_eq!(available_in(strange), None, "{strange}");
        }
    }
}
