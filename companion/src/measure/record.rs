//! Converts an outcome of `kernels` to the published record.

use kernels::backend::{Backend, Fault, GemmShape, GemvShape, Kernel, Work};
use kernels::job::{self, Outcome};
use kernels::measure::{Clock, Flag, Plan, Stage, StopRule, Stopped};
use report::output::json::bench::{
    BenchCheckJson, BenchJson, BenchPrecisionJson, BenchTimeJson, ProductShapeJson, StopRuleJson,
};
use std::ops::ControlFlow;

use super::conditions::{SENSOR_WAIT, Watch};
use super::machine;
use super::sensors::PatientSensors;

/// Measures one point and returns its record.
///
/// # Errors
/// See [`job::run`].
pub(crate) fn measure(
    clock: &dyn Clock,
    backend: &mut dyn Backend,
    work: &Work,
    plan: &Plan,
    progress: &mut dyn FnMut(Stage),
) -> Result<BenchJson, Stopped<Fault>> {
    measure_while(clock, backend, work, plan, &mut |stage| {
        progress(stage);
        ControlFlow::Continue(())
    })
}

/// Measures like [`measure`]; `go_on` can cancel.
///
/// # Errors
/// See [`job::run`].
pub(crate) fn measure_while(
    clock: &dyn Clock,
    backend: &mut dyn Backend,
    work: &Work,
    plan: &Plan,
    go_on: &mut dyn FnMut(Stage) -> ControlFlow<()>,
) -> Result<BenchJson, Stopped<Fault>> {
    let mut watch = Watch::new(PatientSensors::here(SENSOR_WAIT));
    let outcome = job::run(clock, backend, work, plan, &mut |stage| {
        watch.note(stage, clock.now_ns() as f64 * 1e-9);
        go_on(stage)
    })?;
    Ok(record(outcome, backend, &watch))
}

fn record(mut outcome: Outcome, backend: &dyn Backend, watch: &Watch) -> BenchJson {
    if watch.is_contended() {
        outcome.measurement.flag(Flag::Contended);
    }
    let description = backend.describe();
    let mut conditions = watch.conditions(&description);
    let measured = &outcome.measurement;
    let summary = measured.summary;
    conditions.clock_before_hz = outcome.core_clocks.map(|(before, _)| before.get());
    conditions.clock_after_hz = outcome.core_clocks.map(|(_, after)| after.get());
    if outcome.core_clocks.is_none() {
        let why = "there is no way to measure the clock of this device";
        conditions.missing.insert("clock_before_hz".into(), why.into());
        conditions.missing.insert("clock_after_hz".into(), why.into());
    }
    conditions.warm_up_s = measured.warm_up;
    conditions.seed = outcome.work.seed;
    let per_second = |amount: f64| (amount > 0.0).then(|| amount / summary.median);
    let (bytes, flops) = (outcome.cost.bytes.get(), outcome.cost.flops.get());
    let kernel = outcome.work.kernel;
    let sizes = kernel.sizes().into_iter().map(|(name, size)| (name.to_owned(), size));
    BenchJson {
        schema: BenchJson::SCHEMA,
        kernel: kernel.key().into(),
        route: backend.route(kernel),
        backend: description.id.backend.key().into(),
        index: description.id.index,
        catalog_key: machine::catalog_key(description.catalog_key, &description.device),
        device: description.device,
        shape: shape(kernel),
        sizes: sizes.collect(),
        precision: precision(kernel, backend),
        cache: outcome.work.cache.key().into(),
        bytes,
        flops,
        accounting: kernel.accounting().into(),
        footprint_bytes: outcome.footprint.get(),
        time_s: BenchTimeJson {
            median: summary.median,
            low: summary.interval.low,
            high: summary.interval.high,
            n: summary.n,
            mad: summary.mad,
            p5: summary.p5,
            p95: summary.p95,
            min: summary.min,
        },
        byte_per_s: per_second(bytes),
        flop_per_s: per_second(flops),
        energy_j: conditions.power_w.map(|watts| watts * summary.median),
        check: BenchCheckJson {
            worst_error: outcome.check.worst_error,
            tolerance: outcome.check.tolerance,
            passed: outcome.check.passed(),
        },
        flags: measured.flags.iter().map(|flag| flag.key().into()).collect(),
        stop_rule: stop_rule(measured.rule),
        calls_per_window: measured.calls_per_window,
        samples_s: measured.samples.clone(),
        conditions,
    }
}

/// Shape of a GEMV or GEMM.
const fn shape(kernel: Kernel) -> Option<ProductShapeJson> {
    match kernel {
        Kernel::Gemv(GemvShape { m, n, k, .. }) | Kernel::Gemm(GemmShape { m, n, k, .. }) => {
            Some(ProductShapeJson { m, n, k })
        }
        _ => None,
    }
}

/// Formats of a kernel that has a choice.
fn precision(kernel: Kernel, backend: &dyn Backend) -> Option<BenchPrecisionJson> {
    let weights = kernel.stored_format()?.into();
    let activations = backend.activations(kernel)?.key.into();
    Some(BenchPrecisionJson { weights, activations })
}

fn stop_rule(rule: StopRule) -> StopRuleJson {
    match rule {
        StopRule::Certain { half_width, limit, .. } => {
            StopRuleJson::Certain { half_width, limit_s: limit.as_secs_f64() }
        }
        StopRule::Iterations(n) => StopRuleJson::Iterations { n },
    }
}
