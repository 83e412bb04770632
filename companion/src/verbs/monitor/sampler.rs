//! Reads the sensors at intervals, and keeps what the summary needs of them. One that hangs is missing and holds up no other.

use std::path::Path;
use std::process;
use std::time::{Duration, Instant};

use kernels::backend::DeviceId;

use super::cards::Cards;
use super::energy::Metered;
use super::statistic::Statistic;
use crate::measure::conditions;
use crate::measure::process_tree::{self, TreeMemory};
use crate::measure::sensors::{
    CoreTime, MeterOf, PatientSensors, PowerMeter, Reading, Sensors, Thermometer,
};
use crate::telemetry::Owner;

/// Longest wait for a sensor.
const LIMIT: Duration = Duration::from_secs(1);

/// One reading of all sensors.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// Time since the program was started [s].
    pub(super) t: f64,
    /// Share of the machine's cores that is in use.
    pub(super) utilization: Reading<f64>,
    pub(super) tree: TreeMemory,
    /// [B]
    pub(super) memory_available: Reading<f64>,
    /// [Hz]
    pub(super) clock: Reading<f64>,
    /// [°C]
    pub(super) temperature: Reading<f64>,
    /// Power of each meter, in the order of the sampler's meters [W].
    pub(super) power: Vec<Reading<f64>>,
    /// Readings of the cards, in the order of their heads.
    pub(super) cards: Vec<Reading<f64>>,
}

/// Counters at the begin and at the end.
#[derive(Debug, Clone)]
pub(super) struct RunCounters {
    pub(super) cores: Reading<CoreTime>,
    /// CPU time of ended processes of this one [ticks].
    pub(super) waited: Reading<u64>,
    pub(super) throttled: Reading<f64>,
}

/// The sensors during a run.
#[derive(Debug)]
pub(super) struct Sampler {
    sensors: PatientSensors,
    started: Instant,
    last_cores: Reading<CoreTime>,
    pub(super) begin: RunCounters,
    pub(super) meters: Vec<Metered>,
    pub(super) cards: Cards,
    /// Device whose meters these are; `None` for all meters.
    pub(super) device: Option<Owner>,
    /// Number of meters of other devices and of the machine.
    pub(super) meters_left_out: usize,
    pub(super) utilization: Statistic,
    pub(super) memory_available: Statistic,
    pub(super) temperature: Statistic,
    /// Sensor of the temperature: the one that answered first.
    pub(super) thermometer: Option<Thermometer>,
    /// Clock in every sample [Hz].
    pub(super) clocks: Vec<f64>,
    pub(super) no_clock: Option<String>,
    pub(super) samples: u64,
    /// Samples in which the program had memory.
    pub(super) with_memory: u64,
    /// Largest memory of the tree [B], and number of its processes.
    pub(super) peak_rss: u64,
    pub(super) most_processes: u64,
    last_t: f64,
    /// Longest time between two samples [s].
    pub(super) longest_gap: f64,
}

impl Sampler {
    /// Reads the sensors before the program runs.
    pub(super) fn begin(device: Option<Owner>) -> Self {
        Self::of(PatientSensors::here(LIMIT), device)
    }

    fn of(sensors: PatientSensors, device: Option<Owner>) -> Self {
        let begin = counters(&sensors);
        sensors.open_libraries();
        let all = sensors.meters();
        let number = all.len();
        let found: Vec<PowerMeter> = all
            .into_iter()
            .filter(|meter| device.as_ref().is_none_or(|device| is_of(&meter.of, device)))
            .collect();
        let meters_left_out = number - found.len();
        let mut meters: Vec<Metered> = found.iter().map(Metered::new).collect();
        for (metered, meter) in meters.iter_mut().zip(&found) {
            // The first reading of a counter has no power yet.
            let _ = metered.take(0.0, &meter.shows);
        }
        let mut cards = Cards::find(&sensors, device.as_ref());
        // The first reading looks for programs that use them, which takes longest.
        cards.warm_up(&sensors);
        for (meter, found) in meters.iter_mut().zip(&found) {
            if let Some(gpu) = cards.counted_by(found)
                && let Ok(follower) = conditions::follow(&sensors, gpu)
            {
                meter.count_steps(follower);
            }
        }
        Self {
            cards,
            started: Instant::now(),
            last_cores: begin.cores.clone(),
            begin,
            meters,
            device,
            meters_left_out,
            utilization: Statistic::default(),
            memory_available: Statistic::default(),
            temperature: Statistic::default(),
            thermometer: sensors.temperature().ok().map(|found| found.thermometer),
            clocks: Vec::new(),
            no_clock: None,
            samples: 0,
            with_memory: 0,
            peak_rss: 0,
            most_processes: 0,
            last_t: 0.0,
            longest_gap: 0.0,
            sensors,
        }
    }

    /// Reads all sensors now.
    pub(super) fn sample(&mut self) -> Sample {
        let t = self.started.elapsed().as_secs_f64();
        let meters = self.sensors.meters();
        // The memory of the program is read next, because it may end soon.
        let tree = process_tree::below(Path::new("/"), process::id());
        let sample = Sample {
            t,
            utilization: self.busy(),
            tree,
            memory_available: self.sensors.ask("/proc/meminfo", Sensors::memory_available),
            clock: self.sensors.ask("cpufreq", Sensors::core_clock),
            temperature: self.celsius(),
            power: self.power(t, &meters),
            cards: self.cards.sample(&self.sensors),
        };
        self.keep(&sample);
        sample
    }

    fn keep(&mut self, sample: &Sample) {
        self.samples += 1;
        self.longest_gap = self.longest_gap.max(sample.t - self.last_t);
        self.last_t = sample.t;
        self.utilization.take(&sample.utilization);
        self.memory_available.take(&sample.memory_available);
        self.temperature.take(&sample.temperature);
        match &sample.clock {
            Ok(clock) => self.clocks.push(*clock),
            Err(why) => self.no_clock = Some(why.clone()),
        }
        self.with_memory += u64::from(sample.tree.rss > 0);
        // The largest amount of one process is also known between samples.
        self.peak_rss = self.peak_rss.max(sample.tree.rss).max(sample.tree.most_of_one);
        self.most_processes = self.most_processes.max(sample.tree.processes);
    }

    fn power(&mut self, t: f64, found: &[PowerMeter]) -> Vec<Reading<f64>> {
        let gone = Err("the meter disappeared".to_owned());
        let of = |metered: &mut Metered| {
            let now = found.iter().find(|it| it.source == metered.source);
            // A chip that hangs has one reason for all its meters.
            let now = now.or_else(|| found.iter().find(|it| is_within(&metered.source, it)));
            metered.take(t, now.map_or(&gone, |now| &now.shows))
        };
        self.meters.iter_mut().map(of).collect()
    }

    /// The temperature of the sensor that answered first.
    fn celsius(&mut self) -> Reading<f64> {
        let found = match &self.thermometer {
            Some(one) => self.sensors.temperature_again(one),
            None => self.sensors.temperature(),
        }?;
        self.thermometer.get_or_insert(found.thermometer);
        Ok(found.celsius)
    }

    /// Utilization since the last sample.
    fn busy(&mut self) -> Reading<f64> {
        let now = self.sensors.ask("/proc/stat", Sensors::core_time);
        let before = std::mem::replace(&mut self.last_cores, now.clone())?;
        let now = now?;
        let all = now.all.saturating_sub(before.all);
        if all == 0 {
            return Err("the window is too short for the system's ticks".into());
        }
        Ok(now.busy.saturating_sub(before.busy) as f64 / all as f64)
    }

    /// The program has ended: no step of a counter belongs to it any more.
    pub(super) fn program_ended(&mut self) {
        self.meters.iter_mut().for_each(Metered::end);
    }

    /// Reads the counters again.
    pub(super) fn end(&self) -> RunCounters {
        counters(&self.sensors)
    }
}

fn counters(sensors: &PatientSensors) -> RunCounters {
    RunCounters {
        cores: sensors.ask("/proc/stat", Sensors::core_time),
        waited: sensors.ask("/proc/self/stat", Sensors::waited_time),
        throttled: sensors.ask("the cores' counters", Sensors::throttle_count),
    }
}

/// Whether a meter is silent as part of a chip or of all RAPL.
fn is_within(source: &str, whole: &PowerMeter) -> bool {
    let rest = source.strip_prefix(&*whole.source);
    whole.shows.is_err() && rest.is_some_and(|rest| rest.starts_with(['/', ',']))
}

fn is_of(meter: &MeterOf, device: &Owner) -> bool {
    match (meter, device) {
        (MeterOf::Processor, Owner::Kernels(id)) => *id == DeviceId::CPU,
        (MeterOf::Address(address), Owner::Card(name)) => {
            name.split_once('@').is_some_and(|(_, at)| at == address)
        }
        (MeterOf::Machine | MeterOf::Address(_), Owner::Kernels(_))
        | (MeterOf::Machine | MeterOf::Processor, Owner::Card(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sensors::tests::Machine;

    fn meter(source: &str, shows: Reading<crate::measure::sensors::Shows>) -> PowerMeter {
        PowerMeter { name: "m".into(), source: source.into(), of: MeterOf::Machine, shows }
    }

    #[test]
    fn a_chip_that_hangs_has_one_reason_for_its_own_meters_alone() {
        let silent = meter("hwmon, /sys/class/hwmon/hwmon1", Err("no answer".into()));
        assert!(is_within("hwmon, /sys/class/hwmon/hwmon1/power1_input", &silent));
        assert!(!is_within("hwmon, /sys/class/hwmon/hwmon12/power1_input", &silent));
        let answers =
            meter("hwmon, /sys/class/hwmon/hwmon1", Ok(crate::measure::sensors::Shows::Power(1.0)));
        assert!(!is_within("hwmon, /sys/class/hwmon/hwmon1/power1_input", &answers));
    }

    #[test]
    fn meters_belong_to_the_device_at_their_address() {
        let card = Owner::Card("amdgpu@0000:03:00.0".into());
        let cpu = Owner::Kernels(DeviceId::CPU);
        let at = |address: &str| MeterOf::Address(address.into());
        for (of, device, expected) in [
            (at("0000:03:00.0"), &card, true),
            (at("0000:0c:00.0"), &card, false),
            (MeterOf::Machine, &card, false),
            (MeterOf::Processor, &card, false),
            (MeterOf::Processor, &cpu, true),
            (MeterOf::Machine, &cpu, false),
            (at("0000:03:00.0"), &cpu, false),
        ] {
            assert_eq!(is_of(&of, device), expected, "{of:?} {device:?}");
        }
    }

    #[test]
    fn all_temperatures_of_a_run_are_of_the_sensor_that_answered_first() {
        let zone = |at: u32, file: &str| format!("sys/class/thermal/thermal_zone{at}/{file}");
        let machine = Machine::new("sampler-swap", &[])
            .with_bytes(&zone(0, "type"), b"cpu0-thermal\n")
            .with_bytes(&zone(0, "temp"), b"50000")
            .with_bytes(&zone(1, "type"), b"cpu1-thermal\n")
            .with_bytes(&zone(1, "temp"), b"49000");
        let mut sampler = Sampler::of(machine.patient(), None);
        let machine =
            machine.with_bytes(&zone(0, "temp"), b"48000").with_bytes(&zone(1, "temp"), b"53000");
        assert_eq!(sampler.sample().temperature, Ok(48.0));
        drop(machine);
    }
}
