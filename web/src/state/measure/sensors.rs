//! Sensor readings of the device as texts.

use calc_core::units::{Bytes, Hertz, Watts};
use protocol::telemetry::{Reading, Telemetry};
use report::number_text;

/// A line of the sensor card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SensorLine {
    pub name: String,
    /// Value with unit; empty for a missing sensor.
    pub value: String,
    /// Reason why it is missing.
    pub reason: String,
}

const NAMES: [(&str, &str); 11] = [
    ("cpu_utilization_ratio", "CPU in use"),
    ("load_1m", "Load, 1 min"),
    ("memory_total_byte", "Memory"),
    ("memory_available_byte", "Memory free"),
    ("cpu_clock_hz", "CPU clock"),
    ("temperature_celsius", "Temperature"),
    ("cpu_power_watt", "CPU power"),
    ("battery_power_watt", "Battery power"),
    ("gpu_utilization_ratio", "GPU in use"),
    ("gpu_memory_used_byte", "GPU memory in use"),
    ("gpu_power_watt", "GPU power"),
];

/// The lines of the card, those with a value first.
pub fn lines(telemetry: &Telemetry) -> Vec<SensorLine> {
    let all = || telemetry.readings.iter();
    let there = all().filter(|reading| reading.value.is_some());
    let missing = all().filter(|reading| reading.value.is_none());
    there.chain(missing).map(line).collect()
}

fn line(reading: &Reading) -> SensorLine {
    SensorLine {
        name: name(&reading.name),
        value: reading.value.map(|value| with_unit(&reading.name, value)).unwrap_or_default(),
        reason: match (&reading.reason, reading.value) {
            (_, Some(_)) => String::new(),
            (Some(reason), None) => reason.clone(),
            (None, None) => "no reason given".to_owned(),
        },
    }
}

/// Name of a sensor in words.
pub fn name(key: &str) -> String {
    let known = NAMES.iter().find(|(known, _)| *known == key);
    known.map_or_else(|| key.replace('_', " "), |(_, name)| (*name).to_owned())
}

/// Value of a sensor with its unit, which the name ends with.
pub fn with_unit(name: &str, value: f64) -> String {
    match name.rsplit('_').next().unwrap_or_default() {
        "ratio" => number_text::percent(value),
        "byte" => number_text::bytes(Bytes::new(value)),
        "hz" => number_text::clock(Hertz::new(value)),
        "watt" => number_text::power(Watts::new(value)),
        "celsius" => format!("{}{}°C", number_text::short(value, 3), number_text::SPACE),
        _ => number_text::short(value, 3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_units_and_missing_sensors_reasons() {
        let reading = |name: &str, value, reason: Option<&str>| Reading {
            name: name.into(),
            value,
            reason: reason.map(Into::into),
            device: None,
            rail: None,
            source: None,
        };
        let telemetry = Telemetry {
            at_ms: 0,
            readings: vec![
                reading("gpu_power_watt", None, Some("no GPU driver")),
                reading("memory_available_byte", Some(8.0e9), None),
                reading("cpu_clock_hz", Some(3.2e9), None),
                reading("temperature_celsius", Some(0.0), None),
                reading("fan_speed", Some(2.0), None),
                reading("cpu_power_watt", None, None),
            ],
        };
        let found: Vec<String> = lines(&telemetry)
            .into_iter()
            .map(|line| format!("{}={}{}", line.name, line.value, line.reason))
            .map(|text| text.replace('\u{202f}', " "))
            .collect();
        assert_eq!(
            found,
            [
                "Memory free=8.00 GB",
                "CPU clock=3 200 MHz",
                "Temperature=0 °C",
                "fan speed=2",
                "GPU power=no GPU driver",
                "CPU power=no reason given",
            ]
        );
    }
}
