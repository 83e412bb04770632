//! Counters and sensors in the text format of Prometheus, without labels of single clients.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;
use axum::response::Response;

use super::daemon::Daemon;
use super::reply::text;

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
    sensors(&mut out, daemon);
    text(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", out)
}

/// Writes the sensors. A missing sensor has no value, and `ridgepoint_sensor_success` 0.
fn sensors(out: &mut String, daemon: &Daemon) {
    let telemetry = daemon.sensors.read();
    head(out, "ridgepoint_sensor_success", "gauge", "Whether a sensor could be read.");
    for reading in &telemetry.readings {
        let there = f64::from(u8::from(reading.value.is_some()));
        line(out, &format!("ridgepoint_sensor_success{{sensor=\"{}\"}}", reading.name), there);
    }
    for reading in &telemetry.readings {
        if let Some(value) = reading.value {
            let name = format!("ridgepoint_{}", reading.name);
            head(out, &name, "gauge", "A sensor of this machine; the unit is in the name.");
            line(out, &name, value);
        }
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("a string takes it");
}

fn line(out: &mut String, name: &str, value: f64) {
    writeln!(out, "{name} {value}").expect("a string takes it");
}
