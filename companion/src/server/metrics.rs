//! Counters and sensors in the text format of Prometheus, without labels of single clients.

mod dcgm;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;
use axum::response::Response;
use protocol::telemetry::Reading;

use super::daemon::Daemon;
use super::reply::text;
use crate::telemetry::Quantity;

/// Writes all metrics.
pub(super) async fn answer(daemon: &Daemon) -> Response {
    let mut out = String::new();
    head(&mut out, "ridgepoint_build_info", "gauge", "The version of the program.");
    line(
        &mut out,
        &format!("ridgepoint_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION")),
        1.0,
    );
    head(&mut out, "ridgepoint_sessions", "gauge", "Open sessions.");
    line(&mut out, "ridgepoint_sessions", daemon.places.sessions() as f64);
    let (counters, lost) = (&daemon.counters, AtomicU64::new(daemon.notes.lost()));
    for (name, help, counter) in [
        ("auth_failures", "Failed proofs and tokens.", &counters.auth_failures),
        (
            "sessions_closed_slow",
            "Sessions closed because the client read too slowly.",
            &counters.closed_slow,
        ),
        (
            "sessions_closed_rate",
            "Sessions closed because the client sent too many messages.",
            &counters.closed_rate,
        ),
        ("connections_evicted", "Connections closed to make room for others.", &counters.evicted),
        ("audit_lines_lost", "Lines of the audit log that could not be written.", &lost),
        ("panics", "Panics caught within one request.", &counters.panics),
    ] {
        let name = format!("ridgepoint_{name}_total");
        head(&mut out, &name, "counter", help);
        line(&mut out, &name, counter.load(Ordering::Relaxed) as f64);
    }
    head(&mut out, "ridgepoint_refused_total", "counter", "Refused requests, by reason.");
    for (reason, count) in counters.refusals() {
        line(&mut out, &format!("ridgepoint_refused_total{{reason=\"{reason}\"}}"), count as f64);
    }
    if let Ok(counts) = daemon.jobs.store().counts().await {
        head(&mut out, "ridgepoint_jobs", "gauge", "Jobs, by state.");
        for (state, count) in counts {
            line(&mut out, &format!("ridgepoint_jobs{{state=\"{}\"}}", state.key()), count as f64);
        }
    }
    let sensed = daemon.sensors.latest().await;
    let counters = sensed.sensors.iter().filter(|it| is_counter(it.quantity)).map(|it| it.name);
    sensors(&mut out, &sensed.told().readings, &counters.collect());
    dcgm::write(&mut out, &sensed);
    text(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", out)
}

/// Whether a sensor only grows, until its device starts anew.
const fn is_counter(quantity: Quantity) -> bool {
    match quantity {
        Quantity::Joules => true,
        Quantity::Ratio
        | Quantity::Processes
        | Quantity::Bytes
        | Quantity::Hertz
        | Quantity::Celsius
        | Quantity::Watts
        | Quantity::Reasons
        | Quantity::Error => false,
    }
}

/// Writes the sensors with their device and rail, and says which are counters. A missing one has no value, and `ridgepoint_sensor_success` 0.
fn sensors(out: &mut String, readings: &[Reading], counters: &BTreeSet<&str>) {
    let part = |reading: &Reading| {
        [("device", reading.device.clone()), ("rail", reading.rail.clone())]
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
            .collect::<Vec<_>>()
    };
    head(out, "ridgepoint_sensor_success", "gauge", "Whether a sensor could be read.");
    for reading in readings {
        let sensor = [("sensor", reading.name.clone())].into_iter().chain(part(reading));
        let there = f64::from(u8::from(reading.value.is_some()));
        line(out, &labeled("ridgepoint_sensor_success", sensor), there);
    }
    // The format wants all lines of a name together.
    for name in readings.iter().map(|reading| &reading.name).collect::<BTreeSet<_>>() {
        let lines = readings.iter().filter(|reading| reading.name == *name);
        let lines = lines.filter_map(|reading| Some((part(reading), reading.value?)));
        let help = "A sensor of this machine; the unit is in the name.";
        let kind = if counters.contains(&**name) { "counter" } else { "gauge" };
        family(out, &format!("ridgepoint_{name}"), kind, help, lines.collect());
    }
}

/// Writes the lines of a name, if there are any.
fn family(out: &mut String, name: &str, kind: &str, help: &str, lines: Vec<(Labels, f64)>) {
    if !lines.is_empty() {
        head(out, name, kind, help);
    }
    for (labels, value) in lines {
        line(out, &labeled(name, labels), value);
    }
}

type Labels = Vec<(&'static str, String)>;

/// A name with its labels, such as `power{device="cpu:0"}`.
fn labeled(name: &str, labels: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let plain = |value: &str| value.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
    let labels = labels.into_iter().map(|(key, value)| format!("{key}=\"{}\"", plain(&value)));
    let labels = labels.collect::<Vec<_>>().join(",");
    if labels.is_empty() { name.to_owned() } else { format!("{name}{{{labels}}}") }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("a string takes it");
}

fn line(out: &mut String, name: &str, value: f64) {
    writeln!(out, "{name} {value}").expect("a string takes it");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(name: &str, part: [&str; 2], value: Option<f64>) -> Reading {
        let [device, rail] = part.map(|text| (!text.is_empty()).then(|| text.to_owned()));
        Reading { name: name.into(), value, reason: None, device, rail, source: None }
    }

    fn written(readings: &[Reading]) -> String {
        let mut out = String::new();
        sensors(&mut out, readings, &BTreeSet::from(["gpu_energy_joule"]));
        let lines = out.lines().filter(|line| !line.starts_with("# HELP"));
        lines.map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn readings_have_their_device_and_rail_as_labels() {
        let text = written(&[
            reading("cpu_power_watt", ["cpu:0", "package-0"], Some(65.5)),
            reading("load_1m", ["", ""], Some(0.5)),
            reading("cpu_power_watt", ["cpu:0", "a \"b\" \\"], Some(4.0)),
            reading("gpu_power_watt", ["", ""], None),
            reading("gpu_energy_joule", ["cuda:0", ""], Some(7.0)),
        ]);
        let expected = r#"# TYPE ridgepoint_sensor_success gauge
ridgepoint_sensor_success{sensor="cpu_power_watt",device="cpu:0",rail="package-0"} 1
ridgepoint_sensor_success{sensor="load_1m"} 1
ridgepoint_sensor_success{sensor="cpu_power_watt",device="cpu:0",rail="a \"b\" \\"} 1
ridgepoint_sensor_success{sensor="gpu_power_watt"} 0
ridgepoint_sensor_success{sensor="gpu_energy_joule",device="cuda:0"} 1
# TYPE ridgepoint_cpu_power_watt gauge
ridgepoint_cpu_power_watt{device="cpu:0",rail="package-0"} 65.5
ridgepoint_cpu_power_watt{device="cpu:0",rail="a \"b\" \\"} 4
# TYPE ridgepoint_gpu_energy_joule counter
ridgepoint_gpu_energy_joule{device="cuda:0"} 7
# TYPE ridgepoint_load_1m gauge
ridgepoint_load_1m 0.5
"#;
        assert_eq!(text, expected);
    }
}
