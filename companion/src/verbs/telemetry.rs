//! `telemetry`: what the sensors of this machine show, once or until Ctrl-C.

use std::io::{self, IsTerminal};
use std::thread;
use std::time::Duration;

use calc_core::units::{Bytes, Hertz, Joules, Watts};
use clap::{ArgMatches, Command};
use report::number_text as n;
use report::output::json::SCHEMA;
use report::output::summary::Document;
use report::output::table::{Align, Table};
use serde_json::{Value, json};

use super::interval::{self, Range};
use super::{sensor_device, watch};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::output::{self, Answer, Form, Rows};
use crate::telemetry::{Owner, Quantity, SPAN, Sensed, Sensor, SensorReader};

/// Shorter intervals would repeat a rate, which needs [`SPAN`].
pub(super) const INTERVALS: Range = Range { least: SPAN, most: Duration::from_hours(1) };
/// The usual interval.
pub(super) const USUAL: Duration = Duration::from_secs(1);
/// Erases a terminal and puts the cursor at its top.
pub(super) const ERASE: &str = "\x1b[H\x1b[2J";

pub(super) fn command() -> Command {
    Command::new("telemetry")
        .about("What the sensors of this machine show: load, memory, clock, temperature, power, each with its source")
        .args([
            watch::argument(),
            interval::argument("Time between two readings, 200ms to 1h; default 1s")
                .requires("watch"),
            sensor_device::argument(
                "Only the sensors of this device: cpu, a GPU that runs kernels such as cuda:0, or a card as a reading names it, such as amdgpu@0000:03:00.0",
            ),
            output::argument(),
        ])
        .after_help(
            "A sensor that cannot be read is listed with the reason, also one that does not answer within 0.3 s.\n\n\
             Examples:\n  ridgepoint telemetry\n  ridgepoint telemetry --watch --interval 500ms -o jsonl > series.jsonl",
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let form = watch::form(matches)?;
    let interval = interval::of(matches, USUAL, INTERVALS)?;
    let device = sensor_device::asked(matches)?;
    let device = device.as_ref();
    let mut reader = SensorReader::prepared(Clock::default());
    // Load and power are differences of two readings.
    reader.sensed();
    thread::sleep(SPAN);
    if !watch::is_endless(matches) {
        return answer(&reader.sensed(), device).print(form);
    }
    loop {
        print_again(&answer(&reader.sensed(), device), form)?;
        thread::sleep(interval);
    }
}

/// Prints one of several readings: in the place of the last one on a terminal.
pub(super) fn print_again(answer: &Answer, form: Form) -> Result<(), Failure> {
    let text = answer.text(form);
    output::print(&match form {
        Form::Table if io::stdout().is_terminal() => format!("{ERASE}{text}"),
        // Tables in a file stand apart.
        Form::Table => format!("{text}\n"),
        _ => text,
    })
}

/// The readings of a device, or all.
struct Kept<'a> {
    sensors: Vec<&'a Sensor>,
    asked: &'a Asked<'a>,
    /// Number of the others.
    left_out: usize,
}

fn answer(sensed: &Sensed, device: Option<&Owner>) -> Answer {
    let of_device =
        |sensor: &Sensor| device.is_none_or(|device| sensor.of.device.as_ref() == Some(device));
    chosen(sensed, &Asked { device, others: "of the machine and of other devices" }, of_device)
}

/// The device that is asked for, and words for the sensors that are left out.
pub(super) struct Asked<'a> {
    pub(super) device: Option<&'a Owner>,
    pub(super) others: &'static str,
}

/// The readings that are asked for, of a device if one is named; the others are counted.
pub(super) fn chosen(
    sensed: &Sensed,
    asked: &Asked<'_>,
    is_asked: impl Fn(&Sensor) -> bool,
) -> Answer {
    let sensors: Vec<&Sensor> = sensed.sensors.iter().filter(|it| is_asked(it)).collect();
    let kept = Kept { asked, left_out: sensed.sensors.len() - sensors.len(), sensors };
    let readings: Vec<Value> = kept.sensors.iter().map(|sensor| reading(sensor)).collect();
    let value = json!({
        "schema": SCHEMA,
        "at_ms": sensed.at_ms,
        "readings": readings,
        "left_out": kept.left_out,
    });
    Answer { document: document(&kept), value, rows: Rows::At("/readings") }
}

fn reading(sensor: &Sensor) -> Value {
    json!({
        "name": sensor.name,
        "value": sensor.value.as_ref().ok(),
        "unit": sensor.quantity.unit(),
        "device": sensor.of.device.as_ref().map(ToString::to_string),
        "rail": sensor.of.rail,
        "source": sensor.source,
        "reason": sensor.value.as_ref().err(),
    })
}

fn document(kept: &Kept<'_>) -> Document {
    let mut out = Document::default();
    let here = kept.sensors.iter().filter(|sensor| sensor.value.is_ok()).count();
    let of = kept.asked.device.map_or_else(String::new, |device| format!(" of {device}"));
    out.heading(format!(
        "{here} of {}{of} can be read",
        n::counted(kept.sensors.len() as u64, "sensor", "sensors")
    ));
    let mut table = Table::new(&[
        ("sensor", Align::Left),
        ("device, part", Align::Left),
        ("value", Align::Right),
        ("source, or why it is missing", Align::Left),
    ]);
    for sensor in &kept.sensors {
        let (value, said) = match &sensor.value {
            Ok(value) => (shown(*value, sensor.quantity), sensor.source.clone()),
            Err(why) => (n::NO_NUMBER.to_owned(), format!("missing: {why}")),
        };
        let device = sensor.of.device.as_ref().map(ToString::to_string);
        let rail = sensor.of.rail.as_ref().map(ToString::to_string);
        let part: Vec<String> = [device, rail].into_iter().flatten().collect();
        table.push(vec![sensor.name.into(), part.join(", "), value, said]);
    }
    out.table(table);
    if kept.left_out > 0 {
        let left_out = n::counted(kept.left_out as u64, "sensor", "sensors");
        out.notes(vec![format!("left out: {left_out} {}", kept.asked.others)]);
    }
    out
}

fn shown(value: f64, quantity: Quantity) -> String {
    match quantity {
        Quantity::Ratio => n::percent(value),
        Quantity::Processes | Quantity::Reasons | Quantity::Error => n::short(value, 3),
        Quantity::Bytes => n::bytes(Bytes::new(value)),
        Quantity::Hertz => n::clock(Hertz::new(value)),
        Quantity::Celsius => format!("{}{}°C", n::short(value, 3), n::SPACE),
        Quantity::Watts => n::power(Watts::new(value)),
        Quantity::Joules => n::energy(Joules::new(value)),
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
            gpus: Vec::new(),
            host: None,
            kernels: Vec::new(),
        }
    }

    /// The readings with two of a card.
    fn with_card() -> Sensed {
        let mut sensed = sensed();
        for (name, quantity, value) in [
            ("gpu_power_watt", Quantity::Watts, Ok(287.0)),
            ("gpu_memory_used_byte", Quantity::Bytes, Err("not told".into())),
        ] {
            let device = Some(Owner::Card("amdgpu@0000:03:00.0".into()));
            let of = Part { device, rail: Some("PPT".into()) };
            sensed.sensors.push(Sensor { name, quantity, of, source: "hwmon".into(), value });
        }
        sensed
    }

    #[test]
    fn the_readings_of_a_device_stand_alone_and_the_rest_is_counted() {
        let card = Owner::Card("amdgpu@0000:03:00.0".into());
        let of_card = answer(&with_card(), Some(&card));
        let text = of_card.text(Form::Table).replace(n::SPACE, " ");
        for expected in [
            "1 of 2 sensors of amdgpu@0000:03:00.0 can be read",
            "amdgpu@0000:03:00.0, PPT",
            "287 W",
            "left out: 5 sensors of the machine and of other devices",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        assert!(!text.contains("cpu_"), "{text}");
        let value: Value = serde_json::from_str(&of_card.text(Form::Jsonl)).unwrap();
        assert_eq!(
            (&value["left_out"], value["readings"].as_array().unwrap().len()),
            (&5.into(), 2)
        );
        let all: Value =
            serde_json::from_str(&answer(&with_card(), None).text(Form::Jsonl)).unwrap();
        assert_eq!((&all["left_out"], all["readings"].as_array().unwrap().len()), (&0.into(), 7));
    }

    #[test]
    fn a_table_has_values_with_units_and_reasons() {
        let text = answer(&sensed(), None).text(Form::Table).replace(n::SPACE, " ");
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
        let text = answer(&sensed(), None).text(Form::Jsonl);
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
