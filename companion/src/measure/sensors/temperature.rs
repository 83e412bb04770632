//! Temperature of the processor, and the sensor that reports it. A thermometer that hangs hides no other one, and one whose device sleeps
//! is not read. Each one that hangs keeps a thread of its own, and none of those that read healthy sensors.

use super::{CHIPS, PatientSensors, Reading, SLEEPS, Sensors};

const ZONES: &str = "sys/class/thermal";

/// A temperature with its sensor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Temperature {
    /// Temperature [°C].
    pub(crate) celsius: f64,
    /// The chip or thermal zone, for [`PatientSensors::temperature_again`].
    pub(crate) thermometer: Thermometer,
}

/// Sensors of a processor's temperature, best first. Any other may be a drive or a wireless card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Chip,
    /// The package's thermal zone.
    Package,
    /// A zone with the processor in its name.
    Zone,
    Other,
}

impl Rank {
    fn of(sensor: &str) -> Self {
        let name = sensor.to_ascii_lowercase().replace('-', "_");
        match name.as_str() {
            "coretemp" | "k10temp" | "zenpower" | "cpu_thermal" => Self::Chip,
            "x86_pkg_temp" => Self::Package,
            _ if name.starts_with("cpu") || name.starts_with("soc") => Self::Zone,
            _ => Self::Other,
        }
    }
}

/// A chip of hwmon or a thermal zone that tells temperatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thermometer {
    rank: Rank,
    /// Name of the chip or thermal zone.
    pub(crate) sensor: String,
    folder: String,
    /// Files with a temperature.
    files: Vec<String>,
}

/// The answer of a thermometer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Told {
    /// The highest of its temperatures [°C].
    Celsius(f64),
    /// It was not read, because its device sleeps.
    Sleeps,
    Unreadable,
}

impl PatientSensors {
    /// The highest reading of the best kind of thermometer that answers. Each one is waited for alone, those of the processor first.
    pub(crate) fn temperature(&self) -> Reading<Temperature> {
        self.temperature_of(&self.thermometers()?)
    }

    /// The thermometers of this machine, best first.
    pub(crate) fn thermometers(&self) -> Reading<Vec<Thermometer>> {
        self.ask("the list of thermometers", |sensors| Ok(sensors.thermometers()))
    }

    /// A later reading of one thermometer, for which no other one stands.
    pub(crate) fn temperature_again(&self, one: &Thermometer) -> Reading<Temperature> {
        let asked = one.clone();
        // Another chip may have got its folder.
        let told = self.ask(&format!("/{}", one.folder), move |sensors| {
            let is_there = sensors.name_of(&asked.folder) == asked.sensor;
            Ok(if is_there { sensors.told(&asked) } else { Told::Unreadable })
        });
        match told {
            Ok(Told::Celsius(celsius)) => Ok(Temperature { celsius, thermometer: one.clone() }),
            Ok(Told::Sleeps) => Err(format!("{}: {SLEEPS}", one.sensor)),
            Ok(Told::Unreadable) => Err(format!("{} does not answer any more", one.sensor)),
            Err(why) => Err(format!("{}: {why}", one.sensor)),
        }
    }

    /// The temperature that the best kind of these thermometers shows, the highest of several.
    pub(crate) fn temperature_of(&self, all: &[Thermometer]) -> Reading<Temperature> {
        let mut missing: Option<String> = None;
        let mut is_silent = false;
        // A worse kind counts only where the best one has no reading.
        for kind in all.chunk_by(|a, b| a.rank == b.rank) {
            // The temperature of a drive does not stand for that of a processor that does not answer now.
            if is_silent && kind.iter().all(|one| one.rank == Rank::Other) {
                break;
            }
            let mut best: Option<Temperature> = None;
            for one in kind {
                let asked = one.clone();
                let told =
                    self.ask(&format!("/{}", one.folder), move |sensors| Ok(sensors.told(&asked)));
                match told {
                    Ok(Told::Celsius(celsius)) => {
                        if best.as_ref().is_none_or(|best| celsius > best.celsius) {
                            best = Some(Temperature { celsius, thermometer: one.clone() });
                        }
                    }
                    Ok(Told::Sleeps) => {
                        missing.get_or_insert_with(|| format!("{}: {SLEEPS}", one.sensor));
                    }
                    Ok(Told::Unreadable) => {}
                    Err(why) => {
                        is_silent = true;
                        missing.get_or_insert_with(|| format!("{}: {why}", one.sensor));
                    }
                }
            }
            if let Some(best) = best {
                return Ok(best);
            }
        }
        Err(missing.unwrap_or_else(|| "no thermal zone and no hwmon sensor can be read".into()))
    }
}

impl Sensors {
    fn thermometers(&self) -> Vec<Thermometer> {
        let zones = self.folder(ZONES).into_iter().filter(|name| name.starts_with("thermal_zone"));
        let zones = zones.map(|zone| {
            let folder = format!("{ZONES}/{zone}");
            let sensor = self.name_of(&folder);
            Thermometer { rank: Rank::of(&sensor), sensor, folder, files: vec!["temp".into()] }
        });
        let chips = self.folder(CHIPS).into_iter().map(|chip| {
            let folder = format!("{CHIPS}/{chip}");
            let sensor = self.name_of(&folder);
            let files = self.folder(&folder).into_iter();
            let files = files.filter(|name| name.starts_with("temp") && name.ends_with("_input"));
            Thermometer { rank: Rank::of(&sensor), sensor, folder, files: files.collect() }
        });
        let mut all: Vec<Thermometer> =
            zones.chain(chips.filter(|chip| !chip.files.is_empty())).collect();
        all.sort_by_key(|one| one.rank);
        all
    }

    /// The name of the chip or thermal zone in a folder, else that of the folder.
    fn name_of(&self, folder: &str) -> String {
        let file = if folder.starts_with(ZONES) { "type" } else { "name" };
        let last = || folder.rsplit('/').next().unwrap_or(folder).to_owned();
        self.text(&format!("{folder}/{file}")).unwrap_or_else(|_| last())
    }

    fn told(&self, one: &Thermometer) -> Told {
        if self.sleeps(&format!("{}/device", one.folder)) {
            return Told::Sleeps;
        }
        // Linux reports thousandths of °C.
        let read = |file: &String| self.number(&format!("{}/{file}", one.folder)).ok();
        let most = one.files.iter().filter_map(read).reduce(f64::max);
        most.map_or(Told::Unreadable, |thousandths| Told::Celsius(thousandths / 1000.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Machine;

    #[test]
    fn processor_sensors_take_precedence() {
        let nvme = [
            ("sys/class/hwmon/hwmon0/name", "nvme\n"),
            ("sys/class/hwmon/hwmon0/temp1_input", "71000\n"),
        ];
        let k10temp = [
            ("sys/class/hwmon/hwmon1/name", "k10temp\n"),
            ("sys/class/hwmon/hwmon1/temp1_input", "45000\n"),
            ("sys/class/hwmon/hwmon1/temp3_input", "44000\n"),
            ("sys/class/hwmon/hwmon1/in0_input", "900000\n"),
        ];
        let second = [
            ("sys/class/hwmon/hwmon2/name", "k10temp\n"),
            ("sys/class/hwmon/hwmon2/temp1_input", "48500\n"),
        ];
        let package = [
            ("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n"),
            ("sys/class/thermal/thermal_zone1/temp", "52000\n"),
        ];
        let board = [
            ("sys/class/thermal/thermal_zone0/type", "CPU-therm\n"),
            ("sys/class/thermal/thermal_zone0/temp", "41000\n"),
        ];
        let unnamed = [("sys/class/thermal/thermal_zone2/temp", "60000\n")];
        for (name, files, expected) in [
            ("amd", [&nvme[..], &k10temp].concat(), (45.0, "k10temp")),
            ("two-packages", [&k10temp[..], &second, &nvme].concat(), (48.5, "k10temp")),
            ("chip-and-zone", [&package[..], &k10temp].concat(), (45.0, "k10temp")),
            ("intel-zone", [&board[..], &package, &nvme].concat(), (52.0, "x86_pkg_temp")),
            ("board", [&nvme[..], &board].concat(), (41.0, "CPU-therm")),
            ("drive-only", nvme.to_vec(), (71.0, "nvme")),
            ("unnamed", unnamed.to_vec(), (60.0, "thermal_zone2")),
        ] {
            let machine = Machine::new(name, &files);
            let found = machine.patient().temperature().unwrap();
            assert_eq!((found.celsius, &*found.thermometer.sensor), expected, "{name}");
        }
    }

    /// A card that sleeps, and the processor beside it.
    const SLEEPING: [(&str, &str); 4] = [
        ("sys/class/hwmon/hwmon0/name", "amdgpu\n"),
        ("sys/class/hwmon/hwmon0/temp1_input", "31000\n"),
        ("sys/class/hwmon/hwmon0/device/power/runtime_status", "suspended\n"),
        ("sys/class/thermal/thermal_zone0/type", "acpitz\n"),
    ];

    #[test]
    fn a_thermometer_of_a_device_that_sleeps_is_not_read() {
        let machine = Machine::new("asleep", &SLEEPING);
        let why = machine.patient().temperature().unwrap_err();
        assert_eq!(why, "amdgpu: it sleeps, and reading would wake it up");
        let machine =
            machine.with_bytes("sys/class/hwmon/hwmon0/device/power/runtime_status", b"active\n");
        assert_eq!(machine.patient().temperature().unwrap().thermometer.sensor, "amdgpu");
        // A card that sleeps hides no other thermometer of its kind.
        let machine = machine
            .with_bytes("sys/class/hwmon/hwmon0/device/power/runtime_status", b"suspended\n")
            .with_bytes("sys/class/thermal/thermal_zone0/temp", b"38000\n");
        assert_eq!(machine.patient().temperature().unwrap().thermometer.sensor, "acpitz");
    }

    /// A machine with thermometers of which some hang: name of the chip or zone, and whether it answers.
    fn partly_hanging(name: &str, all: &[(&str, bool)]) -> Machine {
        let mut machine = Machine::new(name, &[("proc/loadavg", "0\n")]);
        for (at, (sensor, answers)) in all.iter().enumerate() {
            let folder = format!("sys/class/hwmon/hwmon{at}");
            machine = machine.with_bytes(&format!("{folder}/name"), sensor.as_bytes());
            let file = format!("{folder}/temp1_input");
            machine = if *answers {
                machine.with_bytes(&file, format!("{}000\n", 40 + at).as_bytes())
            } else {
                machine.with_pipe(&file)
            };
        }
        machine
    }

    #[test]
    fn a_thermometer_that_hangs_hides_no_other_and_no_drive_stands_for_the_processor() {
        for (name, all, expected) in [
            ("card", &[("amdgpu", false), ("k10temp", true)][..], Ok((41.0, "k10temp"))),
            ("package", &[("k10temp", false), ("x86_pkg_temp", true)], Ok((41.0, "x86_pkg_temp"))),
            ("second", &[("k10temp", false), ("k10temp", true)], Ok((41.0, "k10temp"))),
            ("drives", &[("amdgpu", false), ("nvme", true)], Ok((41.0, "nvme"))),
            (
                "drive",
                &[("nvme", true), ("k10temp", false)],
                Err("k10temp: no answer from /sys/class/hwmon/hwmon1 for "),
            ),
        ] {
            let machine = partly_hanging(&format!("hangs-{name}"), all);
            let found = machine.impatient().temperature();
            match (&found, expected) {
                (Ok(found), Ok(expected)) => {
                    assert_eq!((found.celsius, &*found.thermometer.sensor), expected);
                }
                (Err(why), Err(words)) => assert!(why.starts_with(words), "{name}: {why}"),
                _ => panic!("{name}: {found:?}"),
            }
        }
    }

    #[test]
    fn hanging_thermometers_of_a_worse_kind_are_not_asked() {
        let mut all = vec![("nvme", false); 20];
        all.push(("k10temp", true));
        let machine = partly_hanging("worse", &all);
        let found = machine.impatient().temperature().unwrap();
        assert_eq!(found.thermometer.sensor, "k10temp");
    }

    #[test]
    fn hanging_thermometers_of_the_best_kind_do_not_hide_the_processor() {
        for hanging in [15, 16, 40] {
            let mut all = vec![("k10temp", false); hanging];
            all.push(("x86_pkg_temp", true));
            let machine = partly_hanging(&format!("many-{hanging}"), &all);
            let found = machine.impatient().temperature().unwrap();
            assert_eq!(found.thermometer.sensor, "x86_pkg_temp", "{hanging} hang");
        }
    }

    #[test]
    fn a_later_reading_is_of_the_same_thermometer_or_missing() {
        let zones = |first: &str, second: &str| {
            Machine::new("again", &[])
                .with_bytes("sys/class/thermal/thermal_zone0/type", b"cpu0-thermal\n")
                .with_bytes("sys/class/thermal/thermal_zone0/temp", first.as_bytes())
                .with_bytes("sys/class/thermal/thermal_zone1/type", b"cpu1-thermal\n")
                .with_bytes("sys/class/thermal/thermal_zone1/temp", second.as_bytes())
        };
        let machine = zones("50000", "49000");
        let first = machine.patient().temperature().unwrap();
        assert_eq!((first.celsius, &*first.thermometer.sensor), (50.0, "cpu0-thermal"));
        let machine = machine
            .with_bytes("sys/class/thermal/thermal_zone0/temp", b"47000")
            .with_bytes("sys/class/thermal/thermal_zone1/temp", b"52000");
        let later = machine.patient().temperature_again(&first.thermometer).unwrap();
        assert_eq!((later.celsius, later.thermometer), (47.0, first.thermometer.clone()));
        let machine = machine.with_bytes("sys/class/thermal/thermal_zone0/type", b"gpu-thermal\n");
        let why = machine.patient().temperature_again(&first.thermometer).unwrap_err();
        assert_eq!(why, "cpu0-thermal does not answer any more");
    }
}
