//! Other processes that use the card of a record, among its conditions. The daemon adds them, because a worker may not look into other
//! processes.

use std::collections::BTreeMap;

use kernels::measure::Flag;
use protocol::bench::{BenchRecord, Condition};
use report::output::json::bench::ConditionsJson;

use super::{Owner, Sensed, Sensor};
use crate::measure::sensors::{Gpu, Reading as Found};

/// Keys of the conditions, each with the sensor that shows it.
const PROCESSES: (&str, &str) = ("device_other_processes", "gpu_other_processes");
const MEMORY: (&str, &str) = ("device_other_memory_byte", "gpu_other_processes_memory_byte");

/// The use of a card by other processes when a record was made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CardUsers {
    processes: Found<f64>,
    /// Memory of all of them [B].
    memory: Found<f64>,
    /// Whether it is known that they compute, and do not only draw.
    compute: bool,
}

impl Sensed {
    /// The users of the card at a place on its bus.
    pub(crate) fn users_of(&self, address: &str) -> CardUsers {
        let gpu = Gpu::at(&self.gpus, address);
        let of = |name: &str| {
            let gpu = gpu.clone()?;
            let is_its = |owner: &Owner| matches!(owner, Owner::Card(name) if *name == gpu.name);
            let mut all = self.sensors.iter().filter(|sensor| sensor.name == name);
            let found = all.find(|sensor| sensor.of.device.as_ref().is_some_and(is_its));
            found.ok_or_else(|| format!("{} does not answer", gpu.name))
        };
        let value = |name: &str| of(name)?.value.clone();
        let compute = of(PROCESSES.1).is_ok_and(Sensor::is_of_computing_processes);
        CardUsers { processes: value(PROCESSES.1), memory: value(MEMORY.1), compute }
    }
}

impl CardUsers {
    fn conditions(self) -> [(&'static str, Found<f64>); 2] {
        [(PROCESSES.0, self.processes), (MEMORY.0, self.memory)]
    }

    /// The flag of a record whose card others computed on.
    fn flag(&self) -> Option<&'static str> {
        let others = self.processes.as_ref().is_ok_and(|number| *number > 0.0);
        (self.compute && others).then_some(Flag::Contended.key())
    }

    /// Adds them to the record of a worker.
    pub(crate) fn add_to(self, record: &mut BenchRecord) {
        add_flag(&mut record.flags, self.flag());
        for (key, found) in self.conditions() {
            let value = match found {
                Ok(value) => Condition::Number(value),
                Err(why) => {
                    let missing = record.conditions.entry("missing".into());
                    let none = || Condition::Reasons(BTreeMap::new());
                    if let Condition::Reasons(reasons) = missing.or_insert_with(none) {
                        reasons.insert(key.into(), why);
                    }
                    Condition::Missing(())
                }
            };
            record.conditions.insert(key.into(), value);
        }
    }

    /// Adds them to a record that this process measured.
    pub(crate) fn add_to_own(self, flags: &mut Vec<String>, conditions: &mut ConditionsJson) {
        add_flag(flags, self.flag());
        for (key, found) in self.conditions() {
            if let Err(why) = &found {
                conditions.missing.insert(key.into(), why.clone().into());
            }
            let place = if key == PROCESSES.0 {
                &mut conditions.device_other_processes
            } else {
                &mut conditions.device_other_memory_byte
            };
            *place = found.ok();
        }
    }
}

fn add_flag(flags: &mut Vec<String>, flag: Option<&str>) {
    if let Some(flag) = flag
        && !flags.iter().any(|known| known == flag)
    {
        flags.push(flag.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::super::SensorReader;
    use super::*;
    use crate::clock::Clock;
    use crate::measure::sensors::fixtures;

    #[test]
    fn a_record_names_the_users_of_its_own_card() {
        let machine = fixtures::amd_card_in_use("users-of");
        let sensed = SensorReader::of(machine.patient(), Clock::default()).sensed();
        for (address, processes, memory) in [
            ("0000:03:00.0", Some(2.0), Some(6.5 * 1024.0 * 1024.0 * 1024.0)),
            ("0000:0c:00.0", Some(0.0), Some(0.0)),
            ("0000:99:00.0", None, None),
        ] {
            let (mut flags, mut conditions) = (Vec::new(), ConditionsJson::default());
            sensed.users_of(address).add_to_own(&mut flags, &mut conditions);
            assert_eq!(flags, [""; 0], "some of them may only draw");
            let found = (conditions.device_other_processes, conditions.device_other_memory_byte);
            assert_eq!(found, (processes, memory), "{address}");
            assert_eq!(conditions.missing.len(), if processes.is_none() { 2 } else { 0 });
        }
    }
}
