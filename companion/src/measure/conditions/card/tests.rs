//! Conditions of records of cards.

use super::super::super::sensors::{fixtures, tests::Machine};
use super::super::tests::description;
use super::super::{ConditionsJson, MeterPlace, Stage, Watch};
use super::Flag;

const AMD: &str = "sys/devices/pci0000:00/0000:03:00.0";

/// Conditions on the card at an address, where some files change while sampling.
fn conditions(machine: Machine, address: &str, changes: &[(&str, &str)]) -> ConditionsJson {
    conditions_at(machine, MeterPlace::Bus(address), changes)
}

fn conditions_at(
    machine: Machine,
    place: MeterPlace<'_>,
    changes: &[(&str, &str)],
) -> ConditionsJson {
    let mut watch = Watch::new(machine.patient(), place);
    watch.note(Stage::Begin, 0.0);
    std::thread::sleep(std::time::Duration::from_millis(50));
    let machine = changes
        .iter()
        .fold(machine, |machine, (file, text)| machine.with_bytes(file, text.as_bytes()));
    watch.note(Stage::End, 0.05);
    let found = watch.conditions(&description(), None);
    drop(machine);
    found
}

fn why<'a>(found: &'a ConditionsJson, key: &str) -> &'a str {
    found.missing.get(key).and_then(|why| why.as_str()).unwrap_or_default()
}

#[test]
fn conditions_of_a_card_are_its_own() {
    let chip = format!("{AMD}/hwmon/hwmon4");
    let machine = fixtures::two_amd_cards("card-conditions")
        .with_bytes("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", b"powersave\n")
        .with_bytes("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", b"amd-pstate\n")
        .with_bytes("sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference", b"power\n")
        .with_bytes("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", b"3\n")
        .with_bytes("sys/class/powercap/intel-rapl:0/energy_uj", b"5000000\n")
        .with_bytes("sys/class/powercap/intel-rapl:0/max_energy_range_uj", b"9000000\n");
    let found = conditions(
        machine,
        "0000:03:00.0",
        &[
            (&format!("{chip}/power1_average"), "293000000\n"),
            (&format!("{chip}/temp2_input"), "75000\n"),
            (&format!("{chip}/freq1_input"), "2200000000\n"),
            ("sys/class/powercap/intel-rapl:0/energy_uj", "8000000\n"),
        ],
    );
    assert_eq!((found.power_w, found.power_cap_w), (Some(290.0), Some(303.0)));
    let source = found.power_source.as_deref().unwrap_or_default();
    assert!(source.contains("hwmon4/power1_average: the chip"), "{source}");
    let degrees = (found.temperature_before_c, found.temperature_after_c);
    assert_eq!(degrees, (Some(71.0), Some(75.0)));
    assert_eq!(found.temperature_source.as_deref(), Some("amdgpu@0000:03:00.0 junction"));
    let clocks = (found.clock_before_hz, found.clock_after_hz);
    assert_eq!(clocks, (Some(2304e6), Some(2200e6)));
    assert_eq!(found.device_throttle_reasons.as_deref(), Some("power, temperature"));
    assert_eq!((&found.governor, &found.clock_driver), (&None, &None));
    assert_eq!(found.throttle_events, None);
    for key in ["governor", "clock_driver", "throttle_events"] {
        assert_eq!(why(&found, key), super::NOT_ITS_OWN, "{key}");
    }
    assert!(found.power_mode.is_none() && why(&found, "power_mode").contains("profile"));
}

#[test]
fn the_gpu_of_a_board_has_the_power_of_a_rail_and_no_settings_of_the_processor() {
    let core = "sys/devices/system/cpu/cpu0";
    let with_processor = |machine: Machine| {
        machine
            .with_bytes(&format!("{core}/cpufreq/scaling_governor"), b"schedutil\n")
            .with_bytes(&format!("{core}/cpufreq/scaling_driver"), b"tegra194\n")
            .with_bytes(&format!("{core}/thermal_throttle/core_throttle_count"), b"3\n")
            .with_bytes("sys/class/thermal/thermal_zone0/type", b"cpu-thermal\n")
            .with_bytes("sys/class/thermal/thermal_zone0/temp", b"48000\n")
    };
    let current = "sys/class/hwmon/hwmon1/curr1_input";
    let board = with_processor(fixtures::jetson("board-conditions"));
    let found = conditions_at(board, MeterPlace::Board, &[(current, "3400\n")]);
    // 15 W before and 17 W after.
    assert_eq!(found.power_w, Some(16.0));
    let source = found.power_source.as_deref().unwrap_or_default();
    for part in ["hwmon1/in1_input", "rail VDD_IN", "with processor and memory", "mean of"] {
        assert!(source.contains(part), "{source}");
    }
    assert_eq!(found.temperature_source.as_deref(), Some("gk20a@17000000.gpu gpu-thermal"));
    assert_eq!(found.temperature_before_c, Some(51.5));
    assert_eq!((found.clock_before_hz, found.clock_after_hz), (Some(918e6), Some(918e6)));
    assert_eq!(found.power_mode.as_deref(), Some("15W"));
    assert_eq!((&found.governor, &found.clock_driver), (&None, &None));
    assert_eq!(found.throttle_events, None);
    for key in ["governor", "clock_driver", "throttle_events"] {
        assert_eq!(why(&found, key), super::NOT_ITS_OWN, "{key}");
    }
    // A rail that is not known, two GPUs, and none.
    let label = |channel: u32| format!("sys/class/hwmon/hwmon1/in{channel}_label");
    let unknown = fixtures::jetson("board-unknown")
        .with_bytes(&label(1), b"VIN\n")
        .with_bytes(&label(2), b"VDD_CV\n");
    let two = fixtures::jetson("board-two").with_bytes("sys/class/devfreq/1.gpu/cur_freq", b"1\n");
    for (machine, words) in [
        (unknown, "no rail that is known to feed its GPU (VDD_IN, "),
        (two, "2 GPUs that are on no bus"),
        (fixtures::two_amd_cards("board-none"), "no GPU that is on no bus"),
    ] {
        let found = conditions_at(with_processor(machine), MeterPlace::Board, &[]);
        assert_eq!((found.power_w, &found.governor), (None, &None), "{words}");
        assert!(why(&found, "power_w").contains(words), "{}", why(&found, "power_w"));
    }
}

#[test]
fn the_load_of_the_processor_disturbs_the_gpu_of_a_board_and_no_card() {
    let ticks = |busy: u64| format!("cpu  {busy} 0 0 {} 0 0 0 0\n", 1000 - busy);
    let own = b"1 (r) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 1 1\n";
    for (machine, place, expected) in [
        (fixtures::two_amd_cards("load-card"), MeterPlace::Bus("0000:03:00.0"), false),
        (fixtures::jetson("load-board"), MeterPlace::Board, true),
        (fixtures::no_card("load-processor"), MeterPlace::Processor, true),
    ] {
        let machine = machine
            .with_bytes("proc/self/stat", own)
            .with_bytes("proc/stat", b"cpu  0 0 0 0 0 0 0 0\n");
        let mut watch = Watch::new(machine.patient(), place);
        watch.note(Stage::Begin, 0.0);
        let machine = machine.with_bytes("proc/stat", ticks(600).as_bytes());
        watch.note(Stage::End, 1.0);
        assert_eq!(watch.flags().contains(&Flag::Contended), expected, "{place:?}");
        let found = watch.conditions(&description(), None);
        assert_eq!(found.others_share, Some(0.6), "{place:?}");
        drop(machine);
    }
}

#[test]
fn the_counter_of_energy_gives_the_power_of_a_card() {
    let file = "sys/devices/pci0000:00/0000:0a:00.0/hwmon/hwmon2/energy1_input";
    let arc = fixtures::arc_card("card-energy");
    let found = conditions(arc, "0000:0a:00.0", &[(file, "1244567000\n")]);
    // 10 J in 50 ms or somewhat longer.
    let watts = found.power_w.expect("a meter");
    assert!(watts > 1.0 && watts <= 200.0, "{watts}");
    let source = found.power_source.as_deref().unwrap_or_default();
    assert!(source.ends_with("energy1_input"), "{source}");
    assert_eq!(found.temperature_source.as_deref(), Some("xe@0000:0a:00.0 pkg"));
    assert_eq!(found.device_throttle_reasons.as_deref(), Some("pl1, thermal"));
    let resting = conditions(fixtures::arc_card("card-rests"), "0000:0a:00.0", &[]);
    assert_eq!(resting.power_w, None);
    assert!(why(&resting, "power_w").ends_with("energy1_input does not advance"));
}

#[test]
fn a_card_that_does_not_tell_has_reasons_and_no_values_of_the_processor() {
    let rapl = |machine: Machine| {
        machine
            .with_bytes("sys/class/powercap/intel-rapl:0/energy_uj", b"5000000\n")
            .with_bytes("sys/class/powercap/intel-rapl:0/max_energy_range_uj", b"9000000\n")
    };
    let later = [("sys/class/powercap/intel-rapl:0/energy_uj", "8000000\n")];
    let asleep = fixtures::two_amd_cards("card-asleep")
        .with_bytes(&format!("{AMD}/power/runtime_status"), b"suspended\n");
    for (machine, address, words) in [
        (fixtures::nvidia_card("card-nvidia"), "0000:01:00.0", "NVML"),
        (fixtures::no_card("card-none"), "0000:03:00.0", "no driver of a card at 0000:03:00.0"),
        (asleep, "0000:03:00.0", "it sleeps"),
    ] {
        let found = conditions(rapl(machine), address, &later);
        let values = [found.power_w, found.temperature_before_c, found.temperature_after_c];
        assert_eq!(values, [None; 3], "{words}");
        assert_eq!([found.clock_before_hz, found.clock_after_hz, found.power_cap_w], [None; 3]);
        assert_eq!((found.device_throttle_reasons.clone(), &found.power_source), (None, &None));
        for key in ["power_w", "temperature_before_c", "temperature_source", "clock_after_hz"] {
            assert!(why(&found, key).contains(words), "{key}: {}", why(&found, key));
        }
        for key in ["power_cap_w", "device_throttle_reasons", "temperature_after_c"] {
            assert!(!why(&found, key).is_empty(), "{key}");
        }
    }
}

#[test]
fn the_clock_that_the_device_measured_counts_before_that_of_its_driver() {
    use calc_core::units::Hertz;
    let machine = fixtures::two_amd_cards("card-clock");
    let mut watch = Watch::new(machine.patient(), MeterPlace::Bus("0000:03:00.0"));
    watch.note(Stage::Begin, 0.0);
    watch.note(Stage::End, 1.0);
    let measured = Some((Hertz::new(1e9), Hertz::new(2e9)));
    let found = watch.conditions(&description(), measured);
    let clocks = (found.clock_before_hz, found.clock_after_hz);
    assert_eq!(clocks, (Some(1e9), Some(2e9)));
}
