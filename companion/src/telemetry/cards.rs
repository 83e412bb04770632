//! Readings of graphics processors, and of the rails of boards.

use std::borrow::Cow;

use super::{Part, Quantity, Sensor, SensorReader, sensor};
use crate::measure::sensors::{Gpu, GpuQuantity, GpuReading, PowerMeter, RAILS, Shows};

impl SensorReader {
    /// Power of each rail that a chip of a board meters.
    pub(super) fn of_rails(&self, folder: &str) -> Vec<Sensor> {
        let name = "rail_power_watt";
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

    pub(super) fn of_card(&mut self, gpu: &Gpu) -> Vec<Sensor> {
        let asked = gpu.clone();
        let found = self.sensors.ask(&gpu.name, move |sensors| Ok(asked.readings(sensors)));
        let readings = match found {
            Ok(readings) => readings,
            Err(why) => {
                let (name, quantity) = Quantity::of_card(GpuQuantity::Utilization);
                let of = Part::of_card(gpu, None);
                return vec![sensor(name, quantity, of, &gpu.name, Err(why))];
            }
        };
        let has_power = readings.iter().any(|it| it.quantity == GpuQuantity::Power);
        let mut all = Vec::new();
        for reading in readings {
            if reading.quantity == GpuQuantity::Energy && !has_power {
                all.push(self.power_of(gpu, &reading));
            }
            let (name, quantity) = Quantity::of_card(reading.quantity);
            let of = Part::of_card(gpu, reading.rail);
            all.push(sensor(name, quantity, of, &reading.source, reading.value));
        }
        all
    }

    /// Power of a card from its counter of energy.
    fn power_of(&mut self, gpu: &Gpu, energy: &GpuReading) -> Sensor {
        let rate = self.cards.entry((gpu.name.clone(), energy.rail.clone())).or_default();
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
    use std::thread;

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
}
