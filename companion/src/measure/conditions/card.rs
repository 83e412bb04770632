//! Conditions of a card, or of the GPU of a board, that computes: of NVIDIA's driver while samples are taken, of others when sampling begins and when it ends.

use std::sync::Arc;

use kernels::measure::{Flag, Stage};

use super::super::sensors::{
    Gpu, GpuQuantity, GpuReading, PatientSensors, RailPower, Reading, Sensors, is_fault, is_memory,
};
use super::meters::{self, CardRun, Difference, Follower};
use super::{NOT_SAMPLED, Place, Power, Settings, ends};

/// The reason why a condition of the processor is not given for a card.
pub(super) const NOT_ITS_OWN: &str = "of the processor, not of this device";

/// A card whose sensors are read.
#[derive(Debug)]
pub(super) struct WatchedCard {
    gpu: Reading<Gpu>,
    /// The thread that reads it while samples are taken.
    follower: Reading<Arc<Follower>>,
    /// Readings of that thread.
    run: Option<CardRun>,
    /// Difference of its two meters when sampling ended.
    difference: Reading<Difference>,
    begin: Option<Reading<Vec<GpuReading>>>,
    end: Option<Reading<Vec<GpuReading>>>,
    /// The rail of the board whose GPU it is; `None` for a card, which has a meter of its own.
    rail: Option<WatchedRail>,
}

/// Power of the rail of a board when sampling began and when it ended.
#[derive(Debug, Default)]
struct WatchedRail {
    begin: Option<Reading<RailPower>>,
    end: Option<Reading<RailPower>>,
}

/// A reading when sampling began, and the same one when it ended.
type Both<'a> = (&'a GpuReading, &'a GpuReading);

impl WatchedCard {
    /// The card at a place on its bus, or the only GPU of a board; `None` for the processor.
    pub(super) fn at(sensors: &PatientSensors, place: Place<'_>) -> Option<Self> {
        let address = match place {
            Place::Processor => return None,
            Place::Bus(address) => Some(address.to_owned()),
            Place::Board => None,
        };
        let rail = address.is_none().then(WatchedRail::default);
        let gpu = sensors.ask("the drivers of GPUs", move |sensors| match &address {
            Some(address) => Gpu::at(&sensors.gpus(), address).cloned(),
            None => Gpu::of_board(&sensors.gpus()).cloned(),
        });
        sensors.open_libraries();
        let none = || NOT_SAMPLED.to_owned();
        let (follower, difference) = (Err(none()), Err(none()));
        Some(Self { gpu, follower, run: None, difference, begin: None, end: None, rail })
    }

    /// Reads the card at a stage.
    pub(super) fn note(&mut self, stage: Stage, sensors: &PatientSensors) {
        match stage {
            Stage::Begin => {
                if let Some(rail) = &mut self.rail {
                    rail.begin = Some(sensors.ask("the rails of the board", Sensors::gpu_rail));
                }
                self.begin = Some(self.read(sensors));
                // A card that slept is awake by now, because it has warmed up.
                let gpu = self.gpu.as_ref().map_err(Clone::clone);
                self.follower = gpu.and_then(|gpu| meters::follow(sensors, gpu));
                // The card rests while all of it is read, and what it tells of then is not of the samples.
                if let Ok(follower) = &self.follower {
                    follower.begin();
                }
            }
            Stage::End => {
                if let Some(rail) = &mut self.rail {
                    rail.end = Some(sensors.ask("the rails of the board", Sensors::gpu_rail));
                }
                let follower = self.follower.as_ref().map_err(Clone::clone);
                self.run = follower.as_ref().ok().and_then(|follower| follower.end());
                self.difference = follower.and_then(|follower| follower.difference());
                self.end = Some(self.read(sensors));
            }
            Stage::Choosing(_) | Stage::WarmUp(_) | Stage::Sampling { .. } => {}
        }
    }

    fn read(&self, sensors: &PatientSensors) -> Reading<Vec<GpuReading>> {
        let gpu = self.gpu.clone()?;
        sensors.ask(&gpu.name.clone(), move |sensors| Ok(gpu.readings(sensors)))
    }

    /// All readings of a quantity that are there at begin and end, with values or reasons.
    fn both(&self, quantity: GpuQuantity) -> Reading<Vec<Both<'_>>> {
        let gpu = self.gpu.as_ref().map_err(Clone::clone)?;
        let (begin, end) = ends(self.begin.as_ref(), self.end.as_ref())?;
        let (begin, end) = (begin.as_ref(), end.as_ref());
        let (begin, end) = (begin.map_err(Clone::clone)?, end.map_err(Clone::clone)?);
        let again = |one: &GpuReading| {
            end.iter().find(|it| it.quantity == one.quantity && it.rail == one.rail)
        };
        let all = begin.iter().filter(|it| it.quantity == quantity);
        let all: Vec<_> = all.filter_map(|one| Some((one, again(one)?))).collect();
        if all.is_empty() { Err(format!("{} tells none", gpu.name)) } else { Ok(all) }
    }

    /// The reading that stands for the whole card: the first one.
    fn first(&self, quantity: GpuQuantity) -> Reading<Both<'_>> {
        self.both(quantity).map(|all| all[0])
    }

    /// The source of a quantity.
    fn source(&self, quantity: GpuQuantity) -> Reading<String> {
        self.first(quantity).map(|(begin, _)| begin.source.clone())
    }

    /// Mean power while samples were taken: by the card's counter of energy, else by its power of then.
    fn power_of(&self, run: &CardRun) -> Reading<Power> {
        if let Ok((counter, _)) = self.first(GpuQuantity::Energy)
            && counter.value.is_ok()
        {
            let found = run.power()?;
            let source = counter.source.clone();
            return Ok(Power { watts: found.watts, error: Some(found.error), source });
        }
        let (watts, number) = run.mean_of_powers()?;
        let source = self.source(GpuQuantity::Power)?;
        let source = format!("{source}; mean of {number} readings while sampling");
        Ok(Power { watts, error: None, source })
    }

    /// Whether it is the GPU of a board.
    pub(super) const fn is_of_board(&self) -> bool {
        self.rail.is_some()
    }

    /// Mean power while sampling: by the card's counter of energy, else of its power; of a board by the rail that feeds its GPU.
    pub(super) fn power(&self) -> Reading<Power> {
        if let Some(rail) = &self.rail {
            self.gpu.as_ref().map_err(Clone::clone)?;
            return rail.power();
        }
        if let Some(run) = &self.run {
            return self.power_of(run);
        }
        if let Ok((begin, end)) = self.first(GpuQuantity::Energy)
            && let (Ok(before), Ok(after)) = (&begin.value, &end.value)
        {
            let joules = after - before;
            let seconds = end.at.saturating_duration_since(begin.at).as_secs_f64();
            // A counter that falls has begun anew, and nothing runs without energy.
            return if joules > 0.0 && seconds > 0.0 {
                Ok(Power { watts: joules / seconds, error: None, source: begin.source.clone() })
            } else {
                Err(format!("{} does not advance", begin.source))
            };
        }
        let (begin, end) = self.first(GpuQuantity::Power)?;
        let watts = f64::midpoint(begin.value.clone()?, end.value.clone()?);
        let source = format!("{}; mean of readings before and after the samples", begin.source);
        if watts > 0.0 {
            Ok(Power { watts, error: None, source })
        } else {
            Err(format!("{} shows 0 W", begin.source))
        }
    }

    /// Its settings: the limit of its power when sampling ended, and the mode of the whole machine.
    pub(super) fn settings(&self, sensors: &PatientSensors) -> Settings {
        let cap = self.first(GpuQuantity::PowerCap);
        Settings {
            governor: Err(NOT_ITS_OWN.into()),
            clock_driver: Err(NOT_ITS_OWN.into()),
            power_mode: sensors.ask("the power mode", |sensors| {
                sensors.board_mode().or_else(|_| sensors.platform_profile())
            }),
            power_cap: cap.and_then(|(_, end)| end.value.clone()),
        }
    }

    /// Version of its driver.
    pub(super) fn driver(&self, sensors: &PatientSensors) -> Reading<String> {
        let gpu = self.gpu.clone()?;
        sensors.ask(&gpu.name.clone(), move |sensors| gpu.driver_version(sensors))
    }

    /// Clocks of the whole card or of its first part.
    pub(super) fn clocks(&self) -> Reading<(f64, f64)> {
        let (begin, end) = self.first(GpuQuantity::Clock)?;
        Ok((begin.value.clone()?, end.value.clone()?))
    }

    /// Name and readings of the thermometer that was warmest at the begin, without those of memory.
    pub(super) fn temperature(&self) -> Reading<(String, f64, Reading<f64>)> {
        let all = self.both(GpuQuantity::Temperature)?;
        let mut missing = None;
        let mut warmest: Option<(f64, Both<'_>)> = None;
        for both in all.into_iter().filter(|(begin, _)| !is_memory(begin.rail.as_deref())) {
            match &both.0.value {
                Ok(celsius) if warmest.is_none_or(|(most, _)| *celsius > most) => {
                    warmest = Some((*celsius, both));
                }
                Ok(_) => {}
                Err(why) => missing = Some(why.clone()),
            }
        }
        let gpu = self.gpu.as_ref().map_err(Clone::clone)?;
        let (celsius, (begin, end)) = warmest.ok_or_else(|| {
            missing.unwrap_or_else(|| format!("{} has no thermometer but of its memory", gpu.name))
        })?;
        let part = begin.rail.as_ref().map_or_else(String::new, |rail| format!(" {rail}"));
        Ok((format!("{}{part}", gpu.name), celsius, end.value.clone()))
    }

    /// Difference of its meters over the measurements that ended with these samples, as a share of the counted energy.
    pub(super) fn difference(&self) -> Reading<f64> {
        self.difference.clone().map(|difference| difference.share)
    }

    /// Lowest and highest clock while samples were taken [Hz], and the number of readings; `None` for a driver that is not read then.
    pub(super) fn range_of_clocks(&self) -> Option<Reading<(f64, f64)>> {
        self.run.as_ref().map(CardRun::clocks)
    }

    /// Number of readings while samples were taken.
    pub(super) fn readings(&self) -> Option<usize> {
        self.run.as_ref().map(CardRun::readings)
    }

    /// Flags of the result: heat or a brake slowed it down, or its meters disagree.
    pub(super) fn flags(&self) -> Vec<Flag> {
        let is_slowed = if let Some(run) = &self.run {
            run.reasons().is_ok_and(|(all, _)| all.into_keys().any(is_fault))
        } else {
            let all = self.both(GpuQuantity::ThrottleReasons).unwrap_or_default().into_iter();
            let mut all = all.flat_map(|(begin, end)| begin.reasons.iter().chain(&end.reasons));
            all.any(|reason| is_fault(reason))
        };
        let is_apart = self.difference.as_ref().is_ok_and(|it| it.is_apart());
        let throttled = is_slowed.then_some(Flag::Throttled);
        throttled.into_iter().chain(is_apart.then_some(Flag::MetersApart)).collect()
    }

    /// Reasons for which it was slowed down, each with the number of readings that had it, or of a driver that is read at both ends
    /// alone of all parts; "none" if there was no reason.
    pub(super) fn throttle_reasons(&self) -> Reading<String> {
        if let Some(run) = &self.run {
            let (all, number) = run.reasons()?;
            let said =
                all.iter().map(|(reason, of)| format!("{reason} ({of} of {number} readings)"));
            let said: Vec<String> = said.collect();
            return Ok(if said.is_empty() { "none".to_owned() } else { said.join(", ") });
        }
        let mut found: Vec<&str> = Vec::new();
        for (begin, end) in self.both(GpuQuantity::ThrottleReasons)? {
            for reading in [begin, end] {
                let number = reading.value.clone()?;
                found.extend(reading.reasons.iter().map(String::as_str));
                if number > 0.0 && reading.reasons.is_empty() {
                    found.push("not named");
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(if found.is_empty() { "none".to_owned() } else { found.join(", ") })
    }
}

impl WatchedRail {
    /// Mean power of the rail.
    fn power(&self) -> Reading<Power> {
        let (begin, end) = ends(self.begin.as_ref(), self.end.as_ref())?;
        let (begin, end) = (begin.clone()?, end.clone()?);
        if begin.source != end.source {
            return Err(format!("{} was not read when sampling ended", begin.source));
        }
        let source = format!("{}; mean of readings before and after the samples", begin.source);
        Ok(Power { watts: f64::midpoint(begin.watts, end.watts), error: None, source })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::sensors::{fixtures, tests::Machine};
    use super::super::tests::description;
    use super::super::{ConditionsJson, Place, Stage, Watch};
    use super::Flag;

    const AMD: &str = "sys/devices/pci0000:00/0000:03:00.0";

    /// Conditions on the card at an address, where some files change while sampling.
    fn conditions(machine: Machine, address: &str, changes: &[(&str, &str)]) -> ConditionsJson {
        conditions_at(machine, Place::Bus(address), changes)
    }

    fn conditions_at(
        machine: Machine,
        place: Place<'_>,
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
            .with_bytes(
                "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
                b"power\n",
            )
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
        let found = conditions_at(board, Place::Board, &[(current, "3400\n")]);
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
        let two =
            fixtures::jetson("board-two").with_bytes("sys/class/devfreq/1.gpu/cur_freq", b"1\n");
        for (machine, words) in [
            (unknown, "no rail that is known to feed its GPU (VDD_IN, "),
            (two, "2 GPUs that are on no bus"),
            (fixtures::two_amd_cards("board-none"), "no GPU that is on no bus"),
        ] {
            let found = conditions_at(with_processor(machine), Place::Board, &[]);
            assert_eq!((found.power_w, &found.governor), (None, &None), "{words}");
            assert!(why(&found, "power_w").contains(words), "{}", why(&found, "power_w"));
        }
    }

    #[test]
    fn the_load_of_the_processor_disturbs_the_gpu_of_a_board_and_no_card() {
        let ticks = |busy: u64| format!("cpu  {busy} 0 0 {} 0 0 0 0\n", 1000 - busy);
        let own = b"1 (r) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 1 1\n";
        for (machine, place, expected) in [
            (fixtures::two_amd_cards("load-card"), Place::Bus("0000:03:00.0"), false),
            (fixtures::jetson("load-board"), Place::Board, true),
            (fixtures::no_card("load-processor"), Place::Processor, true),
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
        let mut watch = Watch::new(machine.patient(), Place::Bus("0000:03:00.0"));
        watch.note(Stage::Begin, 0.0);
        watch.note(Stage::End, 1.0);
        let measured = Some((Hertz::new(1e9), Hertz::new(2e9)));
        let found = watch.conditions(&description(), measured);
        let clocks = (found.clock_before_hz, found.clock_after_hz);
        assert_eq!(clocks, (Some(1e9), Some(2e9)));
    }
}
