//! Admission: the checks that a job has to pass before it is queued.

use calc_core::catalog;
use kernels::devices::Device;
use protocol::bench::{BenchKind, BenchSpec};
use protocol::fault::Fault;
use protocol::job::JobSpec;
use protocol::limits::LIMITS;
use report::input::request::RequestError;

use super::{memory, predicted};
use crate::hooks::Hooks;
use crate::measure::{abilities, layers, machine};
use crate::reason::Reason;

const POINTS: usize = LIMITS.points as usize;
const ITERATIONS: u32 = 4096;
/// Largest number of elements of one operand: 16 GiB with 4 bytes each.
const ELEMENTS: u128 = 1 << 32;
const LONGEST_NAME: usize = 64;

/// Refuses a job that has more points on its device than a job may have or has time for, and one that needs more memory than is available.
/// `held` is the memory of the running job, in bytes.
pub(crate) fn has_room(
    spec: &JobSpec,
    device: &Device,
    hooks: &Hooks,
    held: u64,
) -> Result<(), Fault> {
    if let JobSpec::Bench(bench) = spec {
        has_few_points(bench, device)?;
    }
    let needed = memory::needed(spec, device);
    if let Some(own) = device.memory {
        return memory::has_room_of_its_own(needed, own);
    }
    memory::has_room(needed, hooks.memory().or_else(memory::available), held)
}

/// The device of a job.
///
/// # Errors
/// An unknown device, and a kernel that the device lacks.
pub(crate) fn device<'a>(spec: &JobSpec, devices: &'a [Device]) -> Result<&'a Device, Fault> {
    let found = machine::find(devices, spec.device());
    let device = found.map_err(|why| Reason::DeviceUnknown.with(&[&why]))?;
    let needed: &[BenchKind] = match spec {
        JobSpec::Bench(bench) => &[bench.what],
        JobSpec::Calibrate(_) => &[BenchKind::Roofs, BenchKind::Gemv],
    };
    let able = abilities::device(device);
    let known: Vec<&str> = able.kernels.iter().map(|known| &*known.kernel).collect();
    match needed.iter().find(|kind| !known.contains(&kind.key())) {
        Some(kind) => {
            Err(Reason::KernelUnknown.with(&[&kind.key(), &device.id, &known.join(", ")]))
        }
        None => Ok(device),
    }
}

/// Refuses an order that no worker could run.
pub(crate) fn is_possible(spec: &JobSpec) -> Result<(), Fault> {
    match spec {
        JobSpec::Bench(bench) => {
            named("backend", bench.backend.as_deref())?;
            measurable(bench)
        }
        JobSpec::Calibrate(calibrate) => named("backend", calibrate.backend.as_deref()),
    }
}

fn measurable(bench: &BenchSpec) -> Result<(), Fault> {
    // Before they are made one by one below, with the formats that stand for none.
    if bench.points() > POINTS {
        return Err(Reason::PointsFull.with(&[&bench.points(), &POINTS]));
    }
    let has_shapes = bench.what.has_shapes();
    if has_shapes == bench.shapes.is_empty() {
        let rule = if has_shapes { Reason::ShapeNeeded } else { Reason::ShapeUnneeded };
        return Err(rule.with(&[&bench.what.key()]));
    }
    sizes_are_possible(bench)?;
    for shape in &bench.shapes {
        for (name, value) in [("m", shape.m), ("n", shape.n), ("k", shape.k)] {
            within(name, value, 1, LIMITS.dimension)?;
        }
        let largest = [(shape.m, shape.k), (shape.k, shape.n), (shape.m, shape.n)]
            .map(|(rows, columns)| u128::from(rows) * u128::from(columns));
        if largest.iter().any(|elements| *elements > ELEMENTS) {
            return Err(Reason::OperandTooLarge.with(&[&ELEMENTS]));
        }
    }
    for key in &bench.formats {
        catalog::format(key)
            .map_err(|error| Reason::FormatUnknown.with(&[&RequestError::from(error)]))?;
    }
    if let Some(iterations) = bench.iterations {
        within("iterations", u64::from(iterations), 1, u64::from(ITERATIONS))?;
    }
    Ok(())
}

/// Refuses more points than a job may have or has time for, in the formats of its device where it names none.
fn has_few_points(bench: &BenchSpec, device: &Device) -> Result<(), Fault> {
    let points = memory::points(bench, &device.support()).len();
    if points > POINTS {
        return Err(Reason::PointsFull.with(&[&points, &POINTS]));
    }
    predicted::has_time(bench, points)
}

/// Refuses sizes that no kernel has, and an order that lacks them.
fn sizes_are_possible(bench: &BenchSpec) -> Result<(), Fault> {
    let has_sizes = bench.what.has_sizes();
    if has_sizes == bench.sizes.is_empty() {
        let rule = if has_sizes { Reason::SizesNeeded } else { Reason::SizesUnneeded };
        return Err(rule.with(&[&bench.what.key()]));
    }
    for sizes in &bench.sizes {
        let kernels = layers::kernels(bench.what, sizes, &bench.formats);
        kernels.map_err(|why| Reason::SizesImpossible.with(&[&why]))?;
    }
    Ok(())
}

fn named(key: &str, name: Option<&str>) -> Result<(), Fault> {
    let plain = |name: &str| {
        name.len() <= LONGEST_NAME
            && !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-:".contains(&byte))
    };
    match name {
        Some(name) if !plain(name) => Err(Reason::NoName.with(&[&key])),
        _ => Ok(()),
    }
}

fn within(name: &str, value: u64, low: u64, high: u64) -> Result<(), Fault> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Reason::OutOfRange.with(&[&name, &value, &low, &high]))
}

#[cfg(test)]
mod tests {
    use protocol::bench::Shape;

    use super::*;

    fn gemv() -> BenchSpec {
        BenchSpec {
            what: BenchKind::Gemv,
            shapes: vec![Shape { m: 1, n: 4096, k: 4096 }],
            formats: vec!["int8".into()],
            sizes: Vec::new(),
            backend: None,
            iterations: None,
        }
    }

    #[test]
    fn a_device_that_is_not_there_or_lacks_the_kernel_is_refused_by_name() {
        let here = kernels::devices::all(Some(kernels::backend::fake::Script::GOOD));
        let found = |backend: Option<&str>, what| {
            let backend = backend.map(str::to_owned);
            let spec = JobSpec::Bench(BenchSpec { backend, what, ..gemv() });
            device(&spec, &here).map(|device| device.id.to_string()).map_err(|fault| fault.message)
        };
        assert_eq!(found(None, BenchKind::Gemv).as_deref(), Ok("cpu:0"));
        assert_eq!(found(Some("cpu"), BenchKind::Gemv).as_deref(), Ok("cpu:0"));
        assert_eq!(found(Some("fake:0"), BenchKind::Roofs).as_deref(), Ok("fake:0"));
        for (backend, what, expected) in [
            ("fake:1", BenchKind::Roofs, "no device `fake:1` here; it finds cpu:0 ("),
            ("cuda:0", BenchKind::Gemv, "no device `cuda:0` here; it finds cpu:0 ("),
            ("gpu", BenchKind::Gemv, "`gpu` is no device"),
            ("fake:0", BenchKind::Gemv, "gemv is not measured on fake:0; it measures bandwidth"),
        ] {
            let why = found(Some(backend), what).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn sizes_by_name_are_checked_before_they_are_measured() {
        let sizes = |context: u64| {
            let all = [("batch", 1), ("heads", 8), ("kv_heads", 2), ("head_dim", 64), ("new", 1)];
            let all = all.into_iter().chain([("context", context)]);
            all.map(|(name, size)| (name.to_owned(), size)).collect()
        };
        let attention = BenchSpec {
            what: BenchKind::Attention,
            shapes: vec![],
            sizes: vec![sizes(100)],
            formats: vec!["fp16".into()],
            ..gemv()
        };
        assert_eq!(is_possible(&JobSpec::Bench(attention.clone())), Ok(()));
        for (expected, spec) in [
            ("attention needs sizes", BenchSpec { sizes: vec![], ..attention.clone() }),
            ("gate has no size `batch`", BenchSpec { what: BenchKind::Gate, ..attention.clone() }),
            ("context must be", BenchSpec { sizes: vec![sizes(0)], ..attention.clone() }),
            ("got `int8`", BenchSpec { formats: vec!["int8".into()], ..attention.clone() }),
            ("gemv has no sizes", BenchSpec { sizes: vec![sizes(1)], ..gemv() }),
            (
                "attention has no shape",
                BenchSpec { shapes: vec![Shape { m: 1, n: 1, k: 1 }], ..attention.clone() },
            ),
            ("4097 points", BenchSpec { sizes: vec![sizes(9); POINTS + 1], ..attention }),
        ] {
            let fault = is_possible(&JobSpec::Bench(spec)).unwrap_err();
            assert!(fault.message.contains(expected), "{expected}: {}", fault.message);
        }
    }

    /// A GPU by its architecture.
    fn gpu(capability: (u32, u32)) -> Device {
        kernels::devices::gpu(kernels::cuda::facts::Facts {
            index: 0,
            name: "GPU".into(),
            capability,
            processors: 80,
            clock: 1_500_000_000,
            cache: 6 << 20,
            memory: 16 << 30,
            address: None,
            is_integrated: false,
            cuda: 12_090,
            has_products: true,
        })
    }

    #[test]
    fn points_are_counted_in_the_formats_of_the_device() {
        let shape = Shape { m: 32, n: 64, k: 64 };
        let order = |shapes: usize| BenchSpec {
            what: BenchKind::Gemm,
            shapes: vec![shape; shapes],
            formats: vec![],
            ..gemv()
        };
        // FP32 and FP16 on architecture 7.0, and six element types on 9.0.
        assert_eq!(has_few_points(&order(POINTS / 2), &gpu((7, 0))), Ok(()));
        for (shapes, device, points) in
            [(POINTS / 2 + 1, gpu((7, 0)), POINTS + 2), (POINTS / 2, gpu((9, 0)), 3 * POINTS)]
        {
            let fault = has_few_points(&order(shapes), &device).unwrap_err();
            assert!(fault.message.contains(&format!("{points} points")), "{}", fault.message);
        }
        let all_formats = BenchSpec { shapes: vec![shape; POINTS / 8], formats: vec![], ..gemv() };
        let long = BenchSpec { shapes: vec![shape; 209], iterations: Some(ITERATIONS), ..gemv() };
        let here = kernels::devices::all(None).remove(0);
        for (expected, spec) in
            [("points; a job has at most 4096", all_formats), ("at most 208 points fit", long)]
        {
            // A point that is counted is also refused, before memory is.
            let spec = JobSpec::Bench(spec);
            let fault = has_room(&spec, &here, &Hooks::default(), u64::MAX / 2).unwrap_err();
            assert!(fault.message.contains(expected), "{expected}: {}", fault.message);
        }
    }

    #[test]
    fn orders_that_cannot_be_measured_are_refused_with_a_reason() {
        assert_eq!(is_possible(&JobSpec::Bench(gemv())), Ok(()));
        let shape = Shape { m: 1, n: 1, k: 1 };
        let cases: [(&str, BenchSpec); 9] = [
            ("m is 0", BenchSpec { shapes: vec![Shape { m: 0, ..shape }], ..gemv() }),
            (
                "n is 2147483648",
                BenchSpec { shapes: vec![Shape { n: 1 << 31, ..shape }], ..gemv() },
            ),
            (
                "k is 18446744073709551615",
                BenchSpec { shapes: vec![Shape { k: u64::MAX, ..shape }], ..gemv() },
            ),
            ("at least one shape", BenchSpec { shapes: vec![], ..gemv() }),
            ("has no shape", BenchSpec { what: BenchKind::Flops, ..gemv() }),
            ("4097 points", BenchSpec { shapes: vec![shape; POINTS + 1], ..gemv() }),
            ("unknown format", BenchSpec { formats: vec!["int9".into()], ..gemv() }),
            ("iterations is 0", BenchSpec { iterations: Some(0), ..gemv() }),
            ("backend is not a valid name", BenchSpec { backend: Some("../x".into()), ..gemv() }),
        ];
        for (expected, spec) in cases {
            let fault = is_possible(&JobSpec::Bench(spec)).unwrap_err();
            assert!(fault.message.contains(expected), "{expected}: {}", fault.message);
        }
    }
}
