//! Converts an outcome of `kernels` to the published record.

use kernels::backend::{Backend, Fault, GemmShape, GemvShape, Kernel, Work};
use kernels::job::{self, Outcome};
use kernels::measure::{Clock, Plan, Stage, StopRule, Stopped};
use report::output::json::bench::{
    BenchCheckJson, BenchJson, BenchPrecisionJson, BenchTimeJson, ConditionsJson,
    DeviceWindowsJson, ProductShapeJson, StopRuleJson,
};
use report::output::words;
use std::ops::ControlFlow;

use super::conditions::{MeterPlace, SENSOR_WAIT, Watch};
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
    let mut watch =
        Watch::new(PatientSensors::here(SENSOR_WAIT), MeterPlace::of(&backend.describe()));
    let outcome = job::run(clock, backend, work, plan, &mut |stage| {
        watch.note(stage, clock.now_ns() as f64 * 1e-9);
        go_on(stage)
    })?;
    Ok(record(outcome, backend, &watch))
}

fn record(mut outcome: Outcome, backend: &dyn Backend, watch: &Watch) -> BenchJson {
    for flag in watch.flags() {
        outcome.measurement.flag(flag);
    }
    let description = backend.describe();
    let mut conditions = watch.conditions(&description, outcome.core_clocks);
    let measured = &outcome.measurement;
    let summary = measured.summary;
    conditions.warm_up_s = measured.warm_up;
    conditions.seed = outcome.work.seed;
    let energy_j = energy(summary.median, &mut conditions);
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
        catalog_key: machine::catalog_key(
            description.id,
            description.catalog_key,
            &description.device,
            description.memory,
        ),
        device: description.device,
        shape: shape(kernel),
        sizes: sizes.collect(),
        precision: precision(kernel, backend),
        cache: outcome.work.cache.key().into(),
        bytes,
        flops,
        accounting: accounting(kernel),
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
        energy_j,
        expected: None,
        check: BenchCheckJson {
            worst_error: outcome.check.worst_error,
            tolerance: outcome.check.tolerance,
            passed: outcome.check.passed(),
        },
        flags: measured.flags.iter().map(|flag| flag.key().into()).collect(),
        stop_rule: stop_rule(measured.rule),
        calls_per_window: measured.calls_per_window,
        samples_s: measured.samples.clone(),
        device_windows: measured.device.as_ref().map(|windows| DeviceWindowsJson {
            empty_s: windows.empty,
            host_s: windows.host.clone(),
            clock_hz: windows.cores_hz.clone(),
        }),
        conditions,
    }
}

/// Energy of one call of so many seconds by the power of the device that computed, else the reason why that is not known.
fn energy(seconds: f64, conditions: &mut ConditionsJson) -> Option<f64> {
    if let Some(watts) = conditions.power_w {
        return Some(watts * seconds);
    }
    let why = conditions.missing.get("power_w").cloned().unwrap_or_default();
    conditions.missing.insert("energy_j".into(), why);
    None
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

/// Accounting of bytes and operations, with the padding of a row that its blocks do not divide.
fn accounting(kernel: Kernel) -> String {
    let Kernel::Gemv(product) = kernel else { return kernel.accounting().into() };
    let padded = words::padded(product.layout.key(), product.k);
    let padded = padded.map_or_else(String::new, |padded| format!("; {padded}"));
    format!("{}{padded}", kernel.accounting())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_follows_from_the_power_of_the_device_that_computed() {
        for (power_w, expected, why) in
            [(Some(50.0), Some(100.0), None), (None, None, Some("no meter"))]
        {
            let mut conditions = ConditionsJson { power_w, ..ConditionsJson::default() };
            if power_w.is_none() {
                conditions.missing.insert("power_w".into(), "no meter".into());
            }
            assert_eq!(energy(2.0, &mut conditions), expected);
            assert_eq!(conditions.missing.get("energy_j").and_then(|it| it.as_str()), why);
        }
    }
}
