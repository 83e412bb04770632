//! Sensor readings of the device as texts.

use calc_core::units::{Bytes, Hertz, Joules, Watts};
use protocol::telemetry::{Reading, Telemetry};
use report::number_text;

use crate::link::session::DaemonSession;

/// A line of the sensor card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SensorLine {
    pub name: String,
    /// Value with unit; empty for a missing sensor.
    pub value: String,
    /// Reason why it is missing.
    pub reason: String,
}

const NAMES: &[(&str, &str)] = &[
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
    ("gpu_memory_total_byte", "GPU memory"),
    ("gpu_power_watt", "GPU power"),
    ("gpu_power_average_watt", "GPU power, average"),
    ("gpu_power_cap_watt", "GPU power cap"),
    ("gpu_energy_joule", "GPU energy"),
    ("gpu_temperature_celsius", "GPU temperature"),
    ("gpu_clock_hz", "GPU clock"),
    ("gpu_clock_limit_hz", "GPU clock limit"),
    ("gpu_memory_clock_hz", "GPU memory clock"),
    ("gpu_throttle_reasons", "Reasons to throttle now"),
    ("gpu_last_xid", "Last Xid error"),
    ("rail_power_watt", "Power"),
];

/// The sensors of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SensorGroup {
    /// Name of the device, or of the whole machine; empty where the machine has one device.
    pub title: String,
    pub lines: Vec<SensorLine>,
}

/// The readings by device, the machine's own first; in a group those with a value come first.
pub fn groups(telemetry: &Telemetry, session: Option<&DaemonSession>) -> Vec<SensorGroup> {
    let mut devices: Vec<Option<&str>> = vec![None];
    for reading in &telemetry.readings {
        let device = reading.device.as_deref();
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    if devices.len() <= 2 {
        return vec![SensorGroup {
            title: String::new(),
            lines: lines(&telemetry.readings.iter()),
        }];
    }
    let group = |device: Option<&str>| SensorGroup {
        title: match (device, session) {
            (None, _) => "The whole machine".to_owned(),
            (Some(id), Some(session)) => session.device_name(id).to_owned(),
            (Some(id), None) => id.to_owned(),
        },
        lines: lines(&telemetry.readings.iter().filter(|it| it.device.as_deref() == device)),
    };
    let groups = devices.into_iter().map(group);
    groups.filter(|group| !group.lines.is_empty()).collect()
}

/// Lines for readings, those with a value first. Rails are named where several readings have one name.
fn lines<'a>(readings: &(impl Iterator<Item = &'a Reading> + Clone)) -> Vec<SensorLine> {
    let there = readings.clone().filter(|reading| reading.value.is_some());
    let missing = readings.clone().filter(|reading| reading.value.is_none());
    let is_alone =
        |it: &Reading| readings.clone().filter(|other| other.name == it.name).count() == 1;
    there.chain(missing).map(|reading| line(reading, is_alone(reading))).collect()
}

fn line(reading: &Reading, is_alone: bool) -> SensorLine {
    let rail = reading.rail.as_ref().filter(|_| !is_alone);
    let rail = rail.map_or(String::new(), |rail| format!(", {rail}"));
    SensorLine {
        name: name(&reading.name) + &rail,
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
        "joule" => number_text::energy(Joules::new(value)),
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
        let found: Vec<String> = groups(&telemetry, None)
            .remove(0)
            .lines
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

    #[test]
    fn readings_of_several_devices_stand_under_their_names() {
        let reading = |name: &str, device: Option<&str>, rail: Option<&str>, value| Reading {
            name: name.into(),
            value: Some(value),
            reason: None,
            device: device.map(Into::into),
            rail: rail.map(Into::into),
            source: None,
        };
        let processor = reading("cpu_clock_hz", Some("cpu:0"), None, 3e9);
        let rail = |name| reading("gpu_power_watt", Some("cuda:0"), Some(name), 5.0);
        let machine = reading("load_1m", None, None, 1.0);
        let one = Telemetry { at_ms: 0, readings: vec![processor.clone(), machine.clone()] };
        let titles = |groups: &[SensorGroup]| -> Vec<String> {
            groups.iter().map(|group| group.title.clone()).collect()
        };
        assert_eq!(titles(&groups(&one, None)), [""], "one device needs no title");
        let readings = vec![processor, rail("core"), rail("memory"), machine];
        let two = Telemetry { at_ms: 0, readings };
        let mut session = DaemonSession::simulated(Vec::new(), "", "");
        session.devices = vec![protocol::device::DeviceName {
            backend: "cuda".into(),
            index: 0,
            name: "A card".into(),
            catalog_key: None,
        }];
        let found = groups(&two, Some(&session));
        assert_eq!(titles(&found), ["The whole machine", "cpu:0", "A card"]);
        let names: Vec<&str> = found[2].lines.iter().map(|line| &*line.name).collect();
        assert_eq!(names, ["GPU power, core", "GPU power, memory"]);
    }
}
