//! Readings of graphics processors whose files are laid out as public documentation has them.

use super::super::fixtures;
use super::super::tests::Machine;
use super::*;

/// Readings of each graphics processor: name, quantity, part, and value or reason.
fn shown(machine: &Machine) -> Vec<(String, GpuQuantity, String, Result<f64, String>)> {
    let sensors = machine.sensors();
    let gpus = sensors.gpus().into_iter();
    let of = |gpu: Gpu| {
        let readings = gpu.readings(&sensors).into_iter();
        let row =
            |it: GpuReading| (gpu.name.clone(), it.quantity, it.rail.unwrap_or_default(), it.value);
        readings.map(row).collect::<Vec<_>>()
    };
    gpus.flat_map(of).collect()
}

/// Fails unless the readings are these, with reasons that contain the given words.
fn compare(machine: &Machine, expected: &[(&str, GpuQuantity, &str, Result<f64, &str>)]) {
    let found = shown(machine);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, (name, quantity, rail, value)) in found.iter().zip(expected) {
        assert_eq!((&*found.0, found.1, &*found.2), (*name, *quantity, *rail), "{found:?}");
        match (&found.3, value) {
            (Ok(found), Ok(value)) => assert!((found - value).abs() <= 1e-9 * value, "{found}"),
            (Err(why), Err(words)) => assert!(why.contains(words), "{why}"),
            _ => panic!("{found:?}"),
        }
    }
}

#[test]
fn each_card_of_amdgpu_has_its_own_rows() {
    use GpuQuantity::{
        Clock, ClockLimit, MemoryClock, MemoryTotal, MemoryUsed, Power, PowerCap, Temperature,
        ThrottleReasons, Utilization,
    };
    let (first, second) = ("amdgpu@0000:03:00.0", "amdgpu@0000:0c:00.0");
    let expected = [
        (first, Utilization, "", Ok(0.97)),
        (first, MemoryUsed, "", Ok(8_589_934_592.0)),
        (first, MemoryTotal, "", Ok(25_769_803_776.0)),
        (first, Power, "PPT", Ok(287.0)),
        (first, PowerCap, "PPT", Ok(303.0)),
        (first, Temperature, "edge", Ok(54.0)),
        (first, Temperature, "junction", Ok(71.0)),
        (first, Temperature, "mem", Ok(78.0)),
        (first, Clock, "", Ok(2304e6)),
        (first, ClockLimit, "", Ok(2526e6)),
        (first, MemoryClock, "", Ok(1249e6)),
        (first, ThrottleReasons, "", Ok(2.0)),
        (second, Utilization, "", Ok(0.0)),
        (second, MemoryUsed, "", Ok(16_777_216.0)),
        (second, MemoryTotal, "", Ok(34_359_738_368.0)),
        (second, Power, "", Ok(38.0)),
        (second, Temperature, "edge", Ok(41.0)),
        (second, Clock, "", Ok(1502e6)),
        (second, ClockLimit, "", Ok(1502e6)),
        (second, ThrottleReasons, "", Err("gpu_metrics")),
    ];
    let machine = fixtures::two_amd_cards("amd");
    compare(&machine, &expected);
    let gpus = machine.sensors().gpus();
    let reasons = gpus[0].readings(&machine.sensors());
    let reasons = reasons.iter().find(|it| it.quantity == ThrottleReasons).unwrap();
    assert!(reasons.source.ends_with("gpu_metrics: power, temperature"), "{reasons:?}");
    let power = gpus[0].readings(&machine.sensors());
    let power = power.iter().find(|it| it.quantity == Power).unwrap();
    assert!(power.source.contains("hwmon4/power1_average: the chip"), "{power:?}");
}

#[test]
fn drivers_of_intel_tell_clocks_energy_and_reasons() {
    use GpuQuantity::{
        Clock, ClockLimit, Energy, MemoryUsed, Power, PowerCap, Temperature, ThrottleReasons,
        Utilization,
    };
    let arc = "xe@0000:0a:00.0";
    let machine = fixtures::arc_card("arc");
    compare(
        &machine,
        &[
            (arc, Utilization, "", Err("driver xe tells no utilization of it in sysfs")),
            (arc, MemoryUsed, "", Err("driver xe tells no memory")),
            (arc, PowerCap, "card", Ok(190.0)),
            (arc, Energy, "card", Ok(1234.567)),
            (arc, Energy, "pkg", Ok(987.654)),
            (arc, Temperature, "pkg", Ok(48.0)),
            (arc, Temperature, "vram", Ok(52.0)),
            (arc, Clock, "tile0/gt0", Ok(2850e6)),
            (arc, ClockLimit, "tile0/gt0", Ok(2900e6)),
            (arc, ThrottleReasons, "tile0/gt0", Ok(2.0)),
        ],
    );
    let readings = machine.sensors().gpus()[0].readings(&machine.sensors());
    let source = &readings.last().unwrap().source;
    assert!(source.ends_with("throttle/reason_*: pl1, thermal"), "{source}");
    let iris = "i915@0000:00:02.0";
    compare(
        &fixtures::i915_card("i915"),
        &[
            (iris, Utilization, "", Err("driver i915 tells no utilization")),
            (iris, MemoryUsed, "", Err("no memory")),
            (iris, Power, "", Err("no power")),
            (iris, Temperature, "", Err("no temperature")),
            (iris, Clock, "gt0", Ok(1100e6)),
            (iris, ClockLimit, "gt0", Ok(1400e6)),
            (iris, ThrottleReasons, "gt0", Ok(0.0)),
        ],
    );
}

#[test]
fn graphics_processors_of_boards_are_in_devfreq() {
    use GpuQuantity::{Clock, ClockLimit, MemoryUsed, Power, Temperature, Utilization};
    let orin = "gk20a@17000000.gpu";
    compare(
        &fixtures::jetson("jetson"),
        &[
            (orin, Utilization, "", Ok(0.412)),
            (orin, MemoryUsed, "", Err("no memory")),
            (orin, Power, "", Err("driver gk20a tells no power")),
            (orin, Temperature, "gpu-thermal", Ok(51.5)),
            (orin, Clock, "", Ok(918e6)),
            (orin, ClockLimit, "", Ok(1020e6)),
        ],
    );
    let mali = "panthor@fb000000.gpu";
    compare(
        &fixtures::mali_board("mali"),
        &[
            (mali, Utilization, "", Ok(0.37)),
            (mali, MemoryUsed, "", Err("no memory")),
            (mali, Power, "", Err("no power")),
            (mali, Temperature, "", Err("no temperature")),
            (mali, Clock, "", Ok(300e6)),
            (mali, ClockLimit, "", Ok(1e9)),
        ],
    );
}

#[test]
fn adreno_with_the_driver_of_qualcomm_tells_its_busy_time() {
    use GpuQuantity::{Clock, ClockLimit, MemoryUsed, Power, Temperature, Utilization};
    let adreno = "kgsl-3d@3d00000.qcom,kgsl-3d0";
    let machine = fixtures::adreno_board("adreno");
    compare(
        &machine,
        &[
            (adreno, Utilization, "", Ok(0.25)),
            (adreno, MemoryUsed, "", Err("no memory")),
            (adreno, Power, "", Err("no power")),
            (adreno, Temperature, "", Err("no temperature")),
            (adreno, Clock, "", Ok(443e6)),
            (adreno, ClockLimit, "", Ok(680e6)),
        ],
    );
}

#[test]
fn without_its_library_a_card_of_nvidia_has_a_name_and_reasons() {
    let machine = fixtures::nvidia_card("nvidia");
    let gpus = machine.sensors().gpus();
    let [gpu] = &gpus[..] else { panic!("{gpus:?}") };
    assert_eq!(gpu.name, "nvidia@0000:01:00.0");
    assert_eq!((gpu.node.as_deref(), gpu.uuid.as_deref()), (Some("nvidia0"), None));
    assert_eq!(gpu.bus_id().as_deref(), Some("00000000:01:00.0"));
    let readings = gpu.readings(&machine.sensors());
    assert_eq!(readings.len(), ROWS.len());
    for reading in readings {
        let why = reading.value.unwrap_err();
        assert!(why.starts_with("NVML is not opened"), "{why}");
    }
}

#[test]
fn displays_and_memory_controllers_are_no_cards() {
    assert_eq!(fixtures::no_card("no-card").sensors().gpus(), []);
    let gpus = fixtures::i915_card("display").sensors().gpus();
    assert!(gpus.iter().all(|gpu| !gpu.name.contains("ast")), "{gpus:?}");
}

#[test]
fn a_card_that_sleeps_is_not_woken() {
    let machine = fixtures::two_amd_cards("sleep");
    let status = "sys/devices/pci0000:00/0000:03:00.0/power/runtime_status";
    let machine = machine.with_bytes(status, b"suspended\n");
    let found = shown(&machine);
    let sleeping: Vec<_> = found.iter().filter(|row| row.0.contains(":03:")).collect();
    assert_eq!(sleeping.len(), ROWS.len());
    assert!(sleeping.iter().all(|row| row.3.as_ref().is_err_and(|why| why.contains("sleeps"))));
    assert!(found.iter().any(|row| row.0.contains(":0c:") && row.3.is_ok()));
}

#[test]
fn no_name_of_a_card_is_one_of_a_device_that_runs_kernels() {
    for machine in [fixtures::two_amd_cards("names"), fixtures::jetson("names-jetson")] {
        for gpu in machine.sensors().gpus() {
            assert_eq!(kernels::backend::DeviceId::parse(&gpu.name), None, "{}", gpu.name);
        }
    }
}
