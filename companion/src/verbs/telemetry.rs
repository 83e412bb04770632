//! `telemetry`: what the sensors of this machine show, once or until Ctrl-C.

use std::io::{self, IsTerminal};
use std::thread;
use std::time::Duration;

use calc_core::units::{Bytes, Hertz, Watts};
use clap::{ArgMatches, Command};
use report::number_text as n;
use report::output::json::SCHEMA;
use report::output::summary::Document;
use report::output::table::{Align, Table};
use serde_json::{Value, json};

use super::interval::{self, Range};
use super::watch;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::output::{self, Answer, Form, Rows};
use crate::telemetry::{Quantity, SPAN, Sensed, Sensor, SensorReader};

/// Shorter intervals would repeat a rate, which needs [`SPAN`].
const INTERVALS: Range = Range { least: SPAN, most: Duration::from_hours(1) };
/// The usual interval.
const USUAL: Duration = Duration::from_secs(1);
/// Erases a terminal and puts the cursor at its top.
pub(super) const ERASE: &str = "\x1b[H\x1b[2J";

pub(super) fn command() -> Command {
    Command::new("telemetry")
        .about("What the sensors of this machine show: load, memory, clock, temperature, power, each with its source")
        .args([
            watch::argument(),
            interval::argument("Time between two readings, 200ms to 1h; default 1s")
                .requires("watch"),
            output::argument(),
        ])
        .after_help(
            "A sensor that cannot be read is listed with the reason.\n\n\
             Examples:\n  ridgepoint telemetry\n  ridgepoint telemetry --watch --interval 500ms -o jsonl > series.jsonl",
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let form = watch::form(matches)?;
    let interval = interval::of(matches, USUAL, INTERVALS)?;
    let reader = SensorReader::new(Clock::default());
    // Load and power are differences of two readings.
    reader.sensed();
    thread::sleep(SPAN);
    if !watch::is_endless(matches) {
        return answer(&reader.sensed()).print(form);
    }
    let erases = form == Form::Table && io::stdout().is_terminal();
    loop {
        let text = answer(&reader.sensed()).text(form);
        let text = match (form, erases) {
            (Form::Table, true) => format!("{ERASE}{text}"),
            // Tables in a file stand apart.
            (Form::Table, false) => format!("{text}\n"),
            _ => text,
        };
        output::print(&text)?;
        thread::sleep(interval);
    }
}

fn answer(sensed: &Sensed) -> Answer {
    let readings: Vec<Value> = sensed.sensors.iter().map(reading).collect();
    let value = json!({ "schema": SCHEMA, "at_ms": sensed.at_ms, "readings": readings });
    Answer { document: document(sensed), value, rows: Rows::At("/readings") }
}

fn reading(sensor: &Sensor) -> Value {
    json!({
        "name": sensor.name,
        "value": sensor.value.as_ref().ok(),
        "unit": sensor.quantity.unit(),
        "device": sensor.of.device.map(|id| id.to_string()),
        "rail": sensor.of.rail,
        "source": sensor.source,
        "reason": sensor.value.as_ref().err(),
    })
}

fn document(sensed: &Sensed) -> Document {
    let mut out = Document::default();
    let here = sensed.sensors.iter().filter(|sensor| sensor.value.is_ok()).count();
    out.heading(format!("{here} of {} sensors can be read", sensed.sensors.len()));
    let mut table = Table::new(&[
        ("sensor", Align::Left),
        ("value", Align::Right),
        ("source, or why it is missing", Align::Left),
    ]);
    for sensor in &sensed.sensors {
        let (value, said) = match &sensor.value {
            Ok(value) => (shown(*value, sensor.quantity), sensor.source.clone()),
            Err(why) => (n::NO_NUMBER.to_owned(), format!("missing: {why}")),
        };
        table.push(vec![sensor.name.into(), value, said]);
    }
    out.table(table);
    out
}

fn shown(value: f64, quantity: Quantity) -> String {
    match quantity {
        Quantity::Ratio => n::percent(value),
        Quantity::Processes => n::short(value, 3),
        Quantity::Bytes => n::bytes(Bytes::new(value)),
        Quantity::Hertz => n::clock(Hertz::new(value)),
        Quantity::Celsius => format!("{}{}°C", n::short(value, 3), n::SPACE),
        Quantity::Watts => n::power(Watts::new(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::Part;

    fn sensed() -> Sensed {
        let sensor = |name, quantity, value| Sensor {
            name,
            quantity,
            of: Part::MACHINE,
            source: "a file".into(),
            value,
        };
        Sensed {
            at_ms: 7,
            sensors: vec![
                sensor("cpu_utilization_ratio", Quantity::Ratio, Ok(0.25)),
                sensor("memory_total_byte", Quantity::Bytes, Ok(16e9)),
                sensor("cpu_clock_hz", Quantity::Hertz, Ok(2.4e9)),
                sensor("temperature_celsius", Quantity::Celsius, Ok(45.5)),
                sensor("cpu_power_watt", Quantity::Watts, Err("no meter".into())),
            ],
        }
    }

    #[test]
    fn a_table_has_values_with_units_and_reasons() {
        let text = answer(&sensed()).text(Form::Table).replace(n::SPACE, " ");
        for expected in [
            "4 of 5 sensors",
            "25 %",
            "16.0 GB",
            "2 400 MHz",
            "45.5 °C",
            "missing: no meter",
            "a file",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }

    #[test]
    fn a_line_of_json_has_value_unit_source_and_reason() {
        let text = answer(&sensed()).text(Form::Jsonl);
        assert_eq!(text.lines().count(), 1, "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value["readings"][3],
            json!({"name": "temperature_celsius", "value": 45.5, "unit": "°C", "device": null, "rail": null,
                "source": "a file", "reason": null})
        );
        assert_eq!(value["readings"][4]["value"], Value::Null);
        assert_eq!(value["readings"][4]["reason"], "no meter");
    }
}
