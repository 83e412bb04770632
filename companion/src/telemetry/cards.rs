//! Readings of graphics processors, and of the rails of boards.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use report::number_text::counted;

use super::rate::Rate;
use super::{LOOK_AGAIN, Part, Quantity, Sensor, SensorReader, sensor};
use crate::measure::sensors::{
    COMPUTING, EngineTimes, Gpu, GpuFiles, GpuQuantity, GpuReading, PatientSensors, PowerMeter,
    RAILS, Reading as Found, Shows,
};

/// Name of the power of a board's rail.
const RAIL_POWER: &str = "rail_power_watt";
/// Pause between two looks for programs that use cards, in times that the last look took: half a percent of a core.
const PAUSE: u32 = 200;
/// The files that tell who uses a card.
const FDINFO: &str = "/proc/*/fdinfo";
/// Begin of the source of a share that is that of visible processes, not of the card.
const ENGINE_SHARE: &str =
    "/proc/*/fdinfo: the busiest engine, the share of the processes that can be seen";
/// The processes that they tell of.
const VISIBLE: &str = "other processes that this user may look into";

impl Sensor {
    /// Whether it shows the processes that this user may look into, not the whole card.
    pub(crate) fn is_of_visible_processes(&self) -> bool {
        self.source == ENGINE_SHARE
    }

    /// Whether it shows a rail of a board.
    pub(crate) fn is_of_rail(&self) -> bool {
        self.name == RAIL_POWER
    }

    /// Whether it shows the limit of a card's power.
    pub(crate) fn is_power_cap(&self) -> bool {
        self.name == Quantity::of_card(GpuQuantity::PowerCap).0
    }

    /// Whether it counts processes that compute, and none that only draw.
    pub(super) fn is_of_computing_processes(&self) -> bool {
        self.source.starts_with(COMPUTING)
    }
}

impl SensorReader {
    /// Power of each rail that a chip of a board meters.
    pub(super) fn of_rails(&self, folder: &str) -> Vec<Sensor> {
        let name = RAIL_POWER;
        let chip = folder.to_owned();
        let found = self.sensors.ask(&format!("/{folder}"), move |sensors| Ok(sensors.chip(&chip)));
        let meters = match found {
            Ok(meters) => meters,
            Err(why) => {
                let source = format!("/{folder}");
                return vec![sensor(name, Quantity::Watts, Part::MACHINE, &source, Err(why))];
            }
        };
        let of = |meter: PowerMeter| {
            let rail = meter.name.strip_prefix(RAILS).unwrap_or(&meter.name).trim().to_owned();
            let of = Part { device: None, rail: Some(Cow::Owned(rail)) };
            let watts = meter.shows.and_then(|shows| match shows {
                Shows::Power(watts) => Ok(watts),
                Shows::Energy { .. } => Err("it shows energy".into()),
            });
            sensor(name, Quantity::Watts, of, &meter.source, watts)
        };
        meters.into_iter().map(of).collect()
    }
}

/// Reads cards again and again, and keeps the counters that become rates.
#[derive(Debug, Default)]
pub(crate) struct CardReader {
    /// Energy of each meter.
    energy: BTreeMap<(String, Option<String>), Rate<f64>>,
    engines: BTreeMap<String, Rate<EngineTimes>>,
    /// Open nodes of the cards in other processes, when they were looked for, and how long that took.
    files: Option<(Instant, Duration, Found<GpuFiles>)>,
}

impl CardReader {
    /// All readings of some cards.
    pub(crate) fn read(&mut self, sensors: &PatientSensors, gpus: &[Gpu]) -> Vec<Sensor> {
        if gpus.is_empty() {
            return Vec::new();
        }
        let files = self.files(sensors, gpus);
        gpus.iter().flat_map(|gpu| self.of_card(sensors, gpu, &files)).collect()
    }

    /// Looks for programs that use cards, less often the longer it takes.
    fn files(&mut self, sensors: &PatientSensors, gpus: &[Gpu]) -> Found<GpuFiles> {
        if let Some((at, took, found)) = &self.files
            && at.elapsed() < LOOK_AGAIN.max(*took * PAUSE)
        {
            return found.clone();
        }
        let (begin, all) = (Instant::now(), gpus.to_vec());
        let found = sensors.ask("/proc/*/fd", move |sensors| Ok(sensors.gpu_files(&all)));
        self.files = Some((Instant::now(), begin.elapsed(), found.clone()));
        found
    }

    fn of_card(
        &mut self,
        sensors: &PatientSensors,
        gpu: &Gpu,
        files: &Found<GpuFiles>,
    ) -> Vec<Sensor> {
        let asked = gpu.clone();
        let found = sensors.ask(&gpu.name, move |sensors| Ok(asked.readings(sensors)));
        let readings = match found {
            Ok(readings) => readings,
            Err(why) => {
                let (name, quantity) = Quantity::of_card(GpuQuantity::Utilization);
                let of = Part::of_card(gpu, None);
                return vec![sensor(name, quantity, of, &gpu.name, Err(why))];
            }
        };
        let (share, users) = self.users(sensors, gpu, files);
        let has_power = readings.iter().any(|it| it.quantity == GpuQuantity::Power);
        let mut all = Vec::new();
        for mut reading in readings {
            if reading.quantity == GpuQuantity::Energy && !has_power {
                all.push(self.power_of(gpu, &reading));
            }
            if reading.quantity == GpuQuantity::Utilization
                && reading.value.is_err()
                && let Some(share) = &share
            {
                reading.value.clone_from(share);
                reading.source = ENGINE_SHARE.into();
            }
            let (name, quantity) = Quantity::of_card(reading.quantity);
            let of = Part::of_card(gpu, reading.rail);
            all.push(sensor(name, quantity, of, &reading.source, reading.value));
        }
        all.extend(users);
        all
    }

    /// The utilization by other processes where the driver tells engines, then their number and their memory.
    fn users(
        &mut self,
        sensors: &PatientSensors,
        gpu: &Gpu,
        files: &Found<GpuFiles>,
    ) -> (Option<Found<f64>>, [Sensor; 2]) {
        let asked = gpu.clone();
        let used = files.clone().and_then(|files| {
            let source = format!("the users of {}", gpu.name);
            sensors.ask(&source, move |sensors| asked.used(sensors, &files))
        });
        let engines = used.as_ref().ok().map(|used| used.engines.clone());
        let share = engines.filter(|engines| !engines.is_empty()).map(|engines| {
            let rate = self.engines.entry(gpu.name.clone()).or_default();
            rate.next(Instant::now(), engines, EngineTimes::busiest)
        });
        let unseen = files.as_ref().map_or(0, |files| files.unseen);
        let told = used.as_ref().ok().and_then(|used| used.source.clone());
        let source = match (told, unseen) {
            (Some(told), _) => told,
            (None, 0) => format!("{FDINFO}: {VISIBLE}"),
            (None, unseen) => format!(
                "{FDINFO}: {VISIBLE}; {} cannot be read",
                counted(unseen as u64, "process", "processes")
            ),
        };
        let processes = used.as_ref().map(|used| used.processes as f64).map_err(Clone::clone);
        let memory = used.and_then(|used| used.memory);
        let row = |name, quantity, found| {
            sensor(name, quantity, Part::of_card(gpu, None), &source, found)
        };
        let rows = [
            row("gpu_other_processes", Quantity::Processes, processes),
            row("gpu_other_processes_memory_byte", Quantity::Bytes, memory),
        ];
        (share, rows)
    }

    /// Power of a card from its counter of energy.
    fn power_of(&mut self, gpu: &Gpu, energy: &GpuReading) -> Sensor {
        let rate = self.energy.entry((gpu.name.clone(), energy.rail.clone())).or_default();
        let value = energy.value.clone().and_then(|joules| {
            rate.next(energy.at, joules, |before, now, seconds| {
                // A counter that falls has wrapped or begun anew. Nothing runs without energy: one that rests is hidden or asleep.
                let passed = now - before;
                match passed {
                    0.0 => Err("the counter does not advance".into()),
                    fallen if fallen < 0.0 => Err("the counter fell".into()),
                    joules => Ok(joules / seconds),
                }
            })
        });
        let of = Part::of_card(gpu, energy.rail.clone());
        let source = format!("{}, per time", energy.source);
        sensor("gpu_power_watt", Quantity::Watts, of, &source, value)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::thread;

    use kernels::cuda::facts::Facts;
    use kernels::devices::{self, Device};

    use super::super::{SPAN, Sensed};
    use super::*;
    use crate::clock::Clock;
    use crate::measure::sensors::fixtures;

    /// Readings of one name: device, part and value.
    fn of<'a>(sensed: &'a Sensed, name: &str) -> Vec<(String, String, &'a Result<f64, String>)> {
        let found = sensed.sensors.iter().filter(|sensor| sensor.name == name);
        let row = |it: &'a Sensor| {
            let device = it.of.device.as_ref().map(ToString::to_string).unwrap_or_default();
            (device, it.of.rail.clone().unwrap_or_default().into_owned(), &it.value)
        };
        found.map(row).collect()
    }

    #[test]
    fn energy_of_a_card_becomes_power_of_each_of_its_meters() {
        let machine = fixtures::arc_card("energy-power");
        let mut reader = SensorReader::of(machine.patient(), Clock::default());
        let first = reader.sensed();
        let power = of(&first, "gpu_power_watt");
        assert!(power.len() == 2 && power.iter().all(|row| row.2.is_err()), "{power:?}");
        thread::sleep(SPAN);
        let file = "sys/devices/pci0000:00/0000:0a:00.0/hwmon/hwmon2/energy1_input";
        let machine = machine.with_bytes(file, b"1334567000\n");
        let second = reader.sensed();
        let power = of(&second, "gpu_power_watt");
        let [card, package] = &power[..] else { panic!("{power:?}") };
        assert_eq!((&*card.0, &*card.1), ("xe@0000:0a:00.0", "card"));
        let watts = card.2.as_ref().unwrap();
        // 100 J in SPAN or somewhat longer.
        assert!(*watts > 1.0 && *watts <= 500.0, "{watts}");
        // A sleeping or hidden counter is no power of zero.
        let why = package.2.as_ref().unwrap_err();
        assert!(why.contains("does not advance"), "{why}");
        drop(machine);
    }

    #[test]
    fn a_card_that_runs_kernels_has_the_name_that_orders_have() {
        let machine = fixtures::nvidia_card("named-as-in-orders");
        let facts = |index, address: &str| Facts {
            index,
            name: "a card".to_owned(),
            capability: (9, 0),
            processors: 1,
            clock: 0,
            cache: 0,
            memory: 1,
            address: Some(address.to_owned()),
            is_integrated: false,
            cuda: 12_080,
            has_products: false,
        };
        let devices = [facts(1, "0000:01:00.0"), facts(0, "0000:99:00.0")].map(devices::gpu);
        let named = |devices: &[Device]| {
            let mut reader = SensorReader::of(machine.patient(), Clock::default()).naming(devices);
            let told = reader.sensed().told();
            let rows = told.readings.into_iter().filter(|row| row.name.starts_with("gpu_"));
            rows.map(|row| row.device.unwrap_or_default()).collect::<BTreeSet<_>>()
        };
        assert_eq!(named(&devices), BTreeSet::from(["cuda:1".to_owned()]));
        assert_eq!(named(&[]), BTreeSet::from(["nvidia@0000:01:00.0".to_owned()]));
    }

    #[test]
    fn rails_of_a_board_stand_alone_and_belong_to_no_device() {
        let machine = fixtures::jetson("rail-rows");
        let sensed = SensorReader::of(machine.patient(), Clock::default()).sensed();
        let rails = of(&sensed, "rail_power_watt");
        let expected = [("VDD_IN", 15.0), ("VDD_CPU_GPU_CV", 9.0)];
        assert_eq!(rails.len(), expected.len(), "{rails:?}");
        for ((device, rail, value), (name, watts)) in rails.into_iter().zip(expected) {
            assert_eq!((&*device, &*rail, value), ("", name, &Ok(watts)));
        }
        let power = of(&sensed, "gpu_power_watt");
        assert!(power.len() == 1 && power[0].2.is_err(), "no rail is the card's: {power:?}");
    }

    #[test]
    fn a_machine_without_a_card_has_one_row_that_says_where_it_was_looked_for() {
        let machine = fixtures::no_card("one-row");
        let sensed = SensorReader::of(machine.patient(), Clock::default()).sensed();
        let rows = sensed.sensors.iter().filter(|sensor| sensor.name.starts_with("gpu_"));
        let rows: Vec<&Sensor> = rows.collect();
        let [row] = &rows[..] else { panic!("{rows:?}") };
        let why = "no GPU is found under /sys/class/drm and /sys/class/devfreq";
        assert_eq!((&row.of, &row.value), (&Part::MACHINE, &Err(why.to_owned())));
    }

    #[test]
    fn other_users_of_a_card_are_a_number_and_their_memory() {
        let machine = fixtures::amd_card_in_use("user-rows");
        let sensed = SensorReader::of(machine.patient(), Clock::default()).sensed();
        let numbers = of(&sensed, "gpu_other_processes");
        let first = ("amdgpu@0000:03:00.0".to_owned(), String::new(), &Ok(2.0));
        assert_eq!((numbers.len(), &numbers[0]), (2, &first));
        assert_eq!(numbers[1].2, &Ok(0.0));
        let memory = of(&sensed, "gpu_other_processes_memory_byte");
        assert_eq!(memory[0].2, &Ok(6.5 * 1024.0 * 1024.0 * 1024.0));
        let row = sensed.sensors.iter().find(|row| row.name == "gpu_other_processes").unwrap();
        assert!(row.source.ends_with("; 1 process cannot be read"), "{}", row.source);
    }

    #[test]
    fn without_a_file_of_its_driver_the_busiest_engine_is_the_utilization() {
        let text = |ns: u64| {
            format!(
                "drm-pdev:\t0000:00:02.0\ndrm-client-id:\t1\ndrm-total-system0:\t64 KiB\ndrm-engine-render:\t{ns} ns\n"
            )
        };
        let machine = fixtures::i915_card("engine-share")
            .with_process(9_000_001, &[("3", "/dev/dri/renderD128", &text(1))]);
        let mut reader = SensorReader::of(machine.patient(), Clock::default());
        let first = reader.sensed();
        assert!(of(&first, "gpu_utilization_ratio")[0].2.is_err());
        thread::sleep(SPAN);
        let machine = machine.with_bytes("proc/9000001/fdinfo/3", text(100_000_001).as_bytes());
        let second = reader.sensed();
        let row = second.sensors.iter().find(|row| row.name == "gpu_utilization_ratio").unwrap();
        assert!(row.source.ends_with("the share of the processes that can be seen"));
        let share = of(&second, "gpu_utilization_ratio")[0].2.clone().unwrap();
        // 0.1 s in SPAN or somewhat longer.
        assert!(share > 0.01 && share <= 0.5, "{share}");
        drop(machine);
    }
}
