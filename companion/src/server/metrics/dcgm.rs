//! Readings of cards under the names, units and labels of NVIDIA's DCGM exporter, for dashboards that know those. Names and units are
//! those of its `etc/default-counters.csv`, labels those of its answers; a label whose value is not known is left out,
//! but a card always has a `UUID`.

use super::{Labels, family};
use crate::measure::sensors::{GPU_RAILS, Gpu, is_memory};
use crate::telemetry::{Owner, Sensed, Sensor};

/// Bytes of a mebibyte.
const MIB: f64 = 1_048_576.0;

/// The field of power.
const POWER: &str = "DCGM_FI_DEV_POWER_USAGE";

/// A field of DCGM: its name, its kind, the exporter's words for it, and what it shows of a card.
type Field = (&'static str, &'static str, &'static str, fn(&Card) -> Option<f64>);

const FIELDS: [Field; 10] = [
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
    // The exporter's field is NVML's mean of a second, where a card has both.
    (POWER, "gauge", "Power draw (in W).", |card| {
        card.first("gpu_power_average_watt").or_else(|| card.first("gpu_power_watt"))
    }),
    (
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "counter",
        "Total energy consumption since boot (in mJ).",
        |card| Some(card.first("gpu_energy_joule")? * 1e3),
    ),
    ("DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %).", |card| {
        Some(card.utilization()? * 100.0)
    }),
    ("DCGM_FI_DEV_XID_ERRORS", "gauge", "Value of the last XID error encountered.", |card| {
        card.first("gpu_last_xid")
    }),
    ("DCGM_FI_DEV_FB_FREE", "gauge", "Framebuffer memory free (in MiB).", |card| {
        // Memory that the driver keeps for itself is neither used nor free.
        let reserved = card.first("gpu_memory_reserved_byte").unwrap_or(0.0);
        let taken = card.first("gpu_memory_used_byte")? + reserved;
        Some((card.first("gpu_memory_total_byte")? - taken) / MIB)
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

    /// The utilization of the card; that of some of its processes does not stand for it.
    fn utilization(&self) -> Option<f64> {
        let name = "gpu_utilization_ratio";
        let found = self.sensors.iter().find(|sensor| sensor.name == name)?;
        if found.is_of_visible_processes() { None } else { found.value.clone().ok() }
    }

    /// The first thermometer of the memory, or of the rest.
    fn temperature(&self, of_memory: bool) -> Option<f64> {
        let mut all = self.sensors.iter().filter(|it| it.name == "gpu_temperature_celsius");
        all.find(|sensor| is_memory(sensor.of.rail.as_deref()) == of_memory)?.value.clone().ok()
    }

    fn labels(&self, host: Option<&str>) -> Labels {
        let gpu = self.gpu;
        [
            ("gpu", Some(self.index.to_string())),
            // Load generators refuse all cards of a scrape in which one has none; an address is as lasting.
            ("UUID", Some(gpu.uuid.clone().unwrap_or_else(|| gpu.address.clone()))),
            ("pci_bus_id", gpu.bus_id()),
            ("device", gpu.node.clone()),
            ("modelName", Some(gpu.model.clone())),
            // Later exporters write it in lower case.
            ("Hostname", host.map(str::to_owned)),
            ("hostname", host.map(str::to_owned)),
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
        let lines: Vec<(Labels, f64)> = lines.collect();
        if let ([], POWER, [card]) = (&*lines, name, &*cards)
            && let Some((rail, feeds, watts)) = rail(sensed)
        {
            let mut labels = card.labels(host);
            labels.push(("rail", rail.to_owned()));
            let help = format!("Power draw (in W) of the rail {rail}: {feeds}.");
            family(out, name, kind, &help, vec![(labels, watts)]);
        } else {
            family(out, name, kind, help, lines);
        }
    }
}

/// The best of [`GPU_RAILS`] that is read, what it feeds, and its power [W].
fn rail(sensed: &Sensed) -> Option<(&'static str, &'static str, f64)> {
    GPU_RAILS.into_iter().find_map(|(rail, feeds)| {
        let is_it =
            |sensor: &&Sensor| sensor.is_of_rail() && sensor.of.rail.as_deref() == Some(rail);
        let watts = sensed.sensors.iter().find(is_it)?.value.clone().ok()?;
        Some((rail, feeds, watts))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::measure::sensors::fixtures;
    use crate::measure::sensors::tests::Machine;
    use crate::telemetry::{SPAN, SensorReader};

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
        let first = r#"{gpu="0",UUID="9f8a1c2b3d4e5f60",pci_bus_id="00000000:03:00.0",device="card0",modelName="amdgpu 1002:744C",Hostname="bench",hostname="bench"}"#;
        let second = r#"{gpu="1",UUID="0000:0c:00.0",pci_bus_id="00000000:0C:00.0",device="card1",modelName="Instinct MI100",Hostname="bench",hostname="bench"}"#;
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
    fn the_only_gpu_of_a_board_has_the_power_of_a_rail_with_its_name_and_scope() {
        let written = |machine: &Machine| {
            let sensed = SensorReader::of(machine.patient(), Clock::default()).sensed();
            let mut out = String::new();
            write(&mut out, &sensed);
            let lines = out.lines().filter(|line| line.contains("DCGM_FI_DEV_POWER_USAGE"));
            lines.map(|line| format!("{line}\n")).collect::<String>()
        };
        let expected = "# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W) of the rail VDD_IN: the input of the module, with processor and memory.
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"17000000.gpu\",modelName=\"gk20a 17000000.gpu\",rail=\"VDD_IN\"} 15
";
        let machine = fixtures::jetson("dcgm-rail");
        assert_eq!(written(&machine), expected);
        let label = "sys/class/hwmon/hwmon1/in1_label";
        let machine = machine.with_bytes(label, b"VDD_GPU_SOC\n");
        let lines = written(&machine);
        assert!(lines.contains("VDD_GPU_SOC: GPU and SoC, without memory."), "{lines}");
        let machine = machine.with_bytes(label, b"VIN_SYS_5V0\n");
        let lines = written(&machine);
        assert!(lines.ends_with("rail=\"VDD_CPU_GPU_CV\"} 9\n"), "{lines}");
        // A rail belongs to none of two.
        let machine = machine.with_bytes("sys/class/devfreq/1.gpu/cur_freq", b"1\n");
        assert_eq!(written(&machine), "");
        let machine = fixtures::jetson("dcgm-no-rail").with_bytes(label, b"VIN\n");
        let machine = machine.with_bytes("sys/class/hwmon/hwmon1/in2_label", b"VDD_CV\n");
        assert_eq!(written(&machine), "", "unknown rails are no power of it");
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

    #[test]
    fn the_share_of_visible_processes_is_no_utilization_of_the_card() {
        let text = |ns: u64| format!("drm-client-id:\t1\ndrm-engine-render:\t{ns} ns\n");
        let machine = fixtures::i915_card("dcgm-share")
            .with_process(9_000_001, &[("3", "/dev/dri/renderD128", &text(1))]);
        let mut reader = SensorReader::of(machine.patient(), Clock::default());
        reader.sensed();
        std::thread::sleep(SPAN);
        let machine = machine.with_bytes("proc/9000001/fdinfo/3", text(100_000_001).as_bytes());
        let sensed = reader.sensed();
        let mut rows = sensed.sensors.iter();
        assert!(rows.any(|row| row.name == "gpu_utilization_ratio" && row.value.is_ok()));
        let mut out = String::new();
        write(&mut out, &sensed);
        assert!(out.contains("DCGM_FI_DEV_SM_CLOCK{") && !out.contains("GPU_UTIL"), "{out}");
        drop(machine);
    }
}
