//! Readings of cards under the names, units and labels of NVIDIA's DCGM exporter, for dashboards that know those. Names and units are
//! those of its `etc/default-counters.csv`, labels those of its answers; a label whose value is not known is left out.

use super::{Labels, family};
use crate::measure::sensors::Gpu;
use crate::telemetry::{Owner, Sensed, Sensor};

/// Bytes of a mebibyte.
const MIB: f64 = 1_048_576.0;

/// A field of DCGM: its name, its kind, the exporter's words for it, and what it shows of a card.
type Field = (&'static str, &'static str, &'static str, fn(&Card) -> Option<f64>);

const FIELDS: [Field; 9] = [
    ("DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz).", |card| {
        Some(card.first("gpu_clock_hz")? / 1e6)
    }),
    ("DCGM_FI_DEV_MEM_CLOCK", "gauge", "Memory clock frequency (in MHz).", |card| {
        Some(card.first("gpu_memory_clock_hz")? / 1e6)
    }),
    ("DCGM_FI_DEV_MEMORY_TEMP", "gauge", "Memory temperature (in C).", |card| {
        card.temperature(true)
    }),
    ("DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C).", |card| card.temperature(false)),
    ("DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", |card| card.first("gpu_power_watt")),
    (
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "counter",
        "Total energy consumption since boot (in mJ).",
        |card| Some(card.first("gpu_energy_joule")? * 1e3),
    ),
    ("DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %).", |card| {
        Some(card.first("gpu_utilization_ratio")? * 100.0)
    }),
    ("DCGM_FI_DEV_FB_FREE", "gauge", "Framebuffer memory free (in MiB).", |card| {
        Some((card.first("gpu_memory_total_byte")? - card.first("gpu_memory_used_byte")?) / MIB)
    }),
    ("DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB).", |card| {
        Some(card.first("gpu_memory_used_byte")? / MIB)
    }),
];

/// A card with its readings.
struct Card<'a> {
    gpu: &'a Gpu,
    index: usize,
    sensors: Vec<&'a Sensor>,
}

impl Card<'_> {
    /// The first reading with a name, which is of the whole card or of its first part.
    fn first(&self, name: &str) -> Option<f64> {
        self.sensors.iter().find(|sensor| sensor.name == name)?.value.clone().ok()
    }

    /// The first thermometer of the memory, or of the rest.
    fn temperature(&self, of_memory: bool) -> Option<f64> {
        let mut all = self.sensors.iter().filter(|it| it.name == "gpu_temperature_celsius");
        // Labels of amdgpu and xe.
        let is_memory = |sensor: &Sensor| matches!(sensor.of.rail.as_deref(), Some("mem" | "vram"));
        all.find(|sensor| is_memory(sensor) == of_memory)?.value.clone().ok()
    }

    fn labels(&self, host: Option<&str>) -> Labels {
        let gpu = self.gpu;
        [
            ("gpu", Some(self.index.to_string())),
            ("UUID", gpu.uuid.clone()),
            ("pci_bus_id", gpu.bus_id()),
            ("device", gpu.node.clone()),
            ("modelName", Some(gpu.model.clone())),
            ("Hostname", host.map(str::to_owned)),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
    }
}

/// Writes the fields that cards have.
pub(super) fn write(out: &mut String, sensed: &Sensed) {
    let cards: Vec<Card<'_>> = sensed.gpus.iter().enumerate().map(|(index, gpu)| {
        let is_its = |sensor: &&Sensor| matches!(&sensor.of.device, Some(Owner::Card(name)) if *name == gpu.name);
        Card { gpu, index, sensors: sensed.sensors.iter().filter(is_its).collect() }
    }).collect();
    let host = sensed.host.as_deref();
    for (name, kind, help, of) in FIELDS {
        let lines = cards.iter().filter_map(|card| Some((card.labels(host), of(card)?)));
        family(out, name, kind, help, lines.collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::measure::sensors::fixtures;
    use crate::telemetry::SensorReader;

    #[test]
    fn cards_have_the_fields_of_dcgm_in_its_units_and_nothing_else_has() {
        let machine = fixtures::two_amd_cards("dcgm");
        let sensed = SensorReader::of(machine.patient(), Clock::default()).sensed();
        let mut out = String::new();
        write(&mut out, &sensed);
        let lines: String = out
            .lines()
            .filter(|line| !line.starts_with("# HELP"))
            .map(|line| format!("{line}\n"))
            .collect();
        let first = r#"{gpu="0",UUID="9f8a1c2b3d4e5f60",pci_bus_id="00000000:03:00.0",device="card0",modelName="amdgpu 1002:744C",Hostname="bench"}"#;
        let second = r#"{gpu="1",pci_bus_id="00000000:0C:00.0",device="card1",modelName="Instinct MI100",Hostname="bench"}"#;
        let expected = format!(
            "# TYPE DCGM_FI_DEV_SM_CLOCK gauge
DCGM_FI_DEV_SM_CLOCK{first} 2304
DCGM_FI_DEV_SM_CLOCK{second} 1502
# TYPE DCGM_FI_DEV_MEM_CLOCK gauge
DCGM_FI_DEV_MEM_CLOCK{first} 1249
# TYPE DCGM_FI_DEV_MEMORY_TEMP gauge
DCGM_FI_DEV_MEMORY_TEMP{first} 78
# TYPE DCGM_FI_DEV_GPU_TEMP gauge
DCGM_FI_DEV_GPU_TEMP{first} 54
DCGM_FI_DEV_GPU_TEMP{second} 41
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{first} 287
DCGM_FI_DEV_POWER_USAGE{second} 38
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{first} 97
DCGM_FI_DEV_GPU_UTIL{second} 0
# TYPE DCGM_FI_DEV_FB_FREE gauge
DCGM_FI_DEV_FB_FREE{first} 16384
DCGM_FI_DEV_FB_FREE{second} 32752
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{first} 8192
DCGM_FI_DEV_FB_USED{second} 16
"
        );
        assert_eq!(lines, expected);
    }

    #[test]
    fn energy_is_a_counter_in_millijoules() {
        let machine = fixtures::arc_card("dcgm-energy");
        let sensed = SensorReader::of(machine.patient(), Clock::default()).sensed();
        let mut out = String::new();
        write(&mut out, &sensed);
        assert!(out.contains("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter"), "{out}");
        let line = out.lines().find(|line| line.starts_with("DCGM_FI_DEV_TOTAL_ENERGY")).unwrap();
        assert!(line.ends_with("} 1234567"), "{line}");
        assert!(!out.contains("FB_USED"), "xe does not tell it: {out}");
    }

    #[test]
    fn a_machine_without_a_card_has_no_field() {
        let machine = fixtures::no_card("dcgm-none");
        let sensed = SensorReader::of(machine.patient(), Clock::default()).sensed();
        let mut out = String::new();
        write(&mut out, &sensed);
        assert_eq!(out, "");
    }
}
