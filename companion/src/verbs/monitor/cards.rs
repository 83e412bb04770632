//! Cards around a run: utilization, clock and memory of each, as `telemetry` reads them.

use calc_core::units::{Bytes, Hertz};
use report::number_text as n;
use serde_json::{Map, Value, json};

use super::statistic::Statistic;
use crate::measure::sensors::{Gpu, MeterOf, PatientSensors, PowerMeter, Reading, Shows};
use crate::telemetry::{CardReader, Owner, Sensor};

/// Readings of a card that a run keeps: name in telemetry.
pub(super) const KEPT: [&str; 3] =
    ["gpu_utilization_ratio", "gpu_clock_hz", "gpu_memory_used_byte"];

/// The cards of a run.
#[derive(Debug)]
pub(super) struct Cards {
    gpus: Vec<Gpu>,
    reader: CardReader,
    pub(super) all: Vec<Card>,
}

/// A card over a run.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) name: String,
    pub(super) model: String,
    /// Those of [`KEPT`], in its order, with the source of the last one that was read.
    pub(super) kept: [(Statistic, String); KEPT.len()],
}

impl Cards {
    /// The cards of this machine, or the one that is asked for.
    pub(super) fn find(sensors: &PatientSensors, device: Option<&Owner>) -> Self {
        let found = sensors.ask("the drivers of GPUs", |sensors| Ok(sensors.gpus()));
        // Without an answer there is no card to name.
        let gpus = found.unwrap_or_default().into_iter();
        let is_asked = |gpu: &Gpu| match device {
            None => true,
            Some(Owner::Card(name)) => *name == gpu.name,
            Some(Owner::Kernels(_)) => false,
        };
        let gpus: Vec<Gpu> = gpus.filter(is_asked).collect();
        let card = |gpu: &Gpu| Card {
            name: gpu.name.clone(),
            model: gpu.model.clone(),
            kept: Default::default(),
        };
        Self { all: gpus.iter().map(card).collect(), reader: CardReader::default(), gpus }
    }

    /// The card of NVIDIA whose counter of energy a meter is.
    pub(super) fn counted_by(&self, meter: &PowerMeter) -> Option<&Gpu> {
        let counts = matches!(meter.shows, Ok(Shows::Energy { .. }));
        let is_its =
            |gpu: &&Gpu| gpu.is_nvidia() && meter.of == MeterOf::Address(gpu.address.clone());
        self.gpus.iter().find(is_its).filter(|_| counts)
    }

    /// Reads all cards once for nothing but their counters.
    pub(super) fn warm_up(&mut self, sensors: &PatientSensors) {
        self.reader.read(sensors, &self.gpus);
    }

    /// Reads all cards now: the readings of [`KEPT`], card by card.
    pub(super) fn sample(&mut self, sensors: &PatientSensors) -> Vec<Reading<f64>> {
        let read = self.reader.read(sensors, &self.gpus);
        let mut values = Vec::new();
        for card in &mut self.all {
            for (name, (statistic, source)) in KEPT.iter().zip(&mut card.kept) {
                let (value, of) = largest(&read, &card.name, name);
                statistic.take(&value);
                if value.is_ok() {
                    *source = of;
                }
                values.push(value);
            }
        }
        values
    }

    /// Heads of the columns of a series, in the order of [`Self::sample`].
    pub(super) fn heads(&self) -> Vec<String> {
        let of = |card: &Card| KEPT.map(|name| format!("{name}.{}", card.name));
        self.all.iter().flat_map(of).collect()
    }
}

impl Card {
    /// Rows of the summary: name, figure and source.
    pub(super) fn rows(&self) -> [(String, Reading<String>, &str); KEPT.len()] {
        let [(utilization, busy), (clock, ticks), (memory, held)] = &self.kept;
        let name = &self.name;
        let hertz = |value: f64| n::clock(Hertz::new(value));
        let clocks = || Ok([clock.least()?, clock.mean()?, clock.most()?].map(hertz).join(", "));
        let bytes = |value: f64| n::bytes(Bytes::new(value));
        [
            (format!("in use, mean, {name}"), utilization.mean().map(n::percent), busy),
            (format!("clock: least, mean, largest, {name}"), clocks(), ticks),
            (format!("memory in use, largest, {name}"), memory.most().map(bytes), held),
        ]
    }

    /// The card over the run, for programs.
    pub(super) fn json(&self) -> Value {
        let mut missing = Map::new();
        let mut all = Map::new();
        all.insert("device".into(), json!(self.name));
        all.insert("model".into(), json!(self.model));
        let [utilization, clock, memory] = self.kept.each_ref().map(|(statistic, _)| statistic);
        for (key, statistic, value) in [
            ("utilization_mean", utilization, utilization.mean()),
            ("utilization_max", utilization, utilization.most()),
            ("clock_min_hz", clock, clock.least()),
            ("clock_mean_hz", clock, clock.mean()),
            ("clock_max_hz", clock, clock.most()),
            ("memory_used_max_byte", memory, memory.most()),
        ] {
            if let Err(why) = statistic.mean() {
                missing.insert(key.into(), why.into());
            }
            all.insert(key.into(), json!(value.ok()));
        }
        let sources = KEPT.iter().zip(&self.kept).filter(|(_, (_, source))| !source.is_empty());
        let sources: Map<String, Value> =
            sources.map(|(name, (_, source))| ((*name).into(), json!(source))).collect();
        all.insert("sources".into(), Value::Object(sources));
        all.insert("missing".into(), Value::Object(missing));
        Value::Object(all)
    }
}

/// The largest reading of a name, because a card may have several parts, and its source; else the first reason.
fn largest(read: &[Sensor], card: &str, name: &str) -> (Reading<f64>, String) {
    let is_of = |sensor: &&Sensor| {
        let of = sensor.of.device.as_ref();
        sensor.name == name && matches!(of, Some(Owner::Card(known)) if known == card)
    };
    let mut found: Option<(Reading<f64>, String)> = None;
    for sensor in read.iter().filter(is_of) {
        let is_larger = match (&sensor.value, found.as_ref().map(|(value, _)| value)) {
            (_, None) | (Ok(_), Some(Err(_))) => true,
            (Ok(value), Some(Ok(before))) => value > before,
            (Err(_), Some(_)) => false,
        };
        if is_larger {
            found = Some((sensor.value.clone(), sensor.source.clone()));
        }
    }
    // A card that hangs has one row with the reason.
    let reason = || {
        let of_card = read.iter().find(|sensor| {
            matches!(&sensor.of.device, Some(Owner::Card(known)) if known == card)
                && sensor.value.is_err()
        });
        let why = of_card.and_then(|sensor| sensor.value.clone().err());
        Err(why.unwrap_or_else(|| format!("{card} tells no {name}")))
    };
    found.unwrap_or_else(|| (reason(), String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sensors::fixtures;

    #[test]
    fn each_card_has_its_own_figures_and_reasons() {
        let machine = fixtures::two_amd_cards("run-cards");
        let sensors = machine.patient();
        let mut cards = Cards::find(&sensors, None);
        assert_eq!(cards.heads().len(), 2 * KEPT.len());
        cards.sample(&sensors);
        let file = "sys/devices/pci0000:00/0000:03:00.0/gpu_busy_percent";
        let machine = machine.with_bytes(file, b"37\n");
        let values = cards.sample(&sensors);
        assert_eq!(values[0], Ok(0.37));
        assert_eq!(values[3..5], [Ok(0.0), Ok(1502e6)]);
        let first = cards.all[0].json();
        assert_eq!(first["device"], "amdgpu@0000:03:00.0");
        let mean = first["utilization_mean"].as_f64().unwrap();
        assert!((mean - 0.67).abs() < 1e-9 && first["utilization_max"] == 0.97, "{first}");
        assert_eq!(first["clock_min_hz"], 2304e6);
        assert_eq!(first["memory_used_max_byte"], 8_589_934_592.0);
        let source = first["sources"]["gpu_utilization_ratio"].as_str().unwrap();
        assert!(source.ends_with("gpu_busy_percent"), "{source}");
        // One device alone, and one that is no card.
        let one = Owner::Card("amdgpu@0000:0c:00.0".into());
        assert_eq!(Cards::find(&sensors, Some(&one)).all.len(), 1);
        let cpu = Owner::Kernels(kernels::backend::DeviceId::CPU);
        assert!(Cards::find(&sensors, Some(&cpu)).all.is_empty());
        drop(machine);
        let mut silent = Cards::find(&fixtures::nvidia_card("run-nvidia").patient(), None);
        silent.sample(&fixtures::nvidia_card("run-nvidia").patient());
        let json = silent.all[0].json();
        assert!(json["clock_mean_hz"].is_null());
        assert!(json["missing"]["clock_mean_hz"].as_str().unwrap().contains("NVML"), "{json}");
    }
}
