//! All meters of energy and power one by one, also those that contain each other: RAPL domains, rails of hwmon chips, the battery.
//! They are never added up. Here are also those that a card has by the library of its driver.

use super::{PatientSensors, Reading, SLEEPS, Sensors};

const DOMAINS: &str = "sys/class/powercap";
/// Folder of the chips of hwmon.
pub(crate) const CHIPS: &str = "sys/class/hwmon";
/// Chip with three rails, on Jetson boards: the driver shows volts and amperes, not their product.
pub(crate) const RAILS: &str = "ina3221";

/// A meter with what it shows now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PowerMeter {
    /// Name as the driver has it, such as `package-0`, `amdgpu PPT` or `ina3221 VDD_IN`.
    pub(crate) name: String,
    /// Driver and file.
    pub(crate) source: String,
    pub(crate) of: MeterOf,
    pub(crate) shows: Reading<Shows>,
}

/// The part of the machine that a meter belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MeterOf {
    Processor,
    /// The whole machine.
    Machine,
    /// The device with this address on its bus.
    Address(String),
}

/// The quantity that a meter shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shows {
    /// A counter [J], and the range at which it wraps, if it is known.
    Energy { joules: f64, range: Option<f64> },
    /// Power now [W].
    Power(f64),
}

impl PatientSensors {
    /// All meters of this machine, in a fixed order. One that hangs has a reason, and the others their values.
    pub(crate) fn meters(&self) -> Vec<PowerMeter> {
        let silent = |name: &str, source: String, of, why| PowerMeter {
            name: name.into(),
            source,
            of,
            shows: Err(why),
        };
        let domains = self.ask(&format!("/{DOMAINS}"), |sensors| {
            let found = sensors.domains();
            let none = || format!("there is no RAPL meter in /{DOMAINS}");
            if found.is_empty() { Err(none()) } else { Ok(found) }
        });
        let source = format!("RAPL, /{DOMAINS}");
        let mut all =
            domains.unwrap_or_else(|why| vec![silent("package", source, MeterOf::Processor, why)]);
        let chips = self.ask(&format!("/{CHIPS}"), |sensors| Ok(sensors.folder(CHIPS)));
        match chips {
            Ok(chips) => {
                for name in chips {
                    let folder = format!("{CHIPS}/{name}");
                    let source = format!("hwmon, /{folder}");
                    let found =
                        self.ask(&format!("/{folder}"), move |sensors| Ok(sensors.chip(&folder)));
                    all.extend(
                        found.unwrap_or_else(|why| {
                            vec![silent(&name, source, MeterOf::Machine, why)]
                        }),
                    );
                }
            }
            Err(why) => {
                all.push(silent("hwmon", format!("hwmon, /{CHIPS}"), MeterOf::Machine, why));
            }
        }
        let gpus = self.ask("the drivers of GPUs", |sensors| Ok(sensors.gpus()));
        // Without an answer there is no card to name, and its chip in hwmon has its own row.
        for gpu in gpus.unwrap_or_default() {
            let (name, of) = (gpu.name.clone(), MeterOf::Address(gpu.address.clone()));
            let found = self.ask(&name, move |sensors| gpu.meters(sensors));
            let source = format!("NVML of {name}");
            all.extend(found.unwrap_or_else(|why| vec![silent(&name, source, of, why)]));
        }
        let battery = self.ask("/sys/class/power_supply", Sensors::battery_power);
        all.push(PowerMeter {
            name: "battery".into(),
            source: "/sys/class/power_supply: discharge, the whole machine".into(),
            of: MeterOf::Machine,
            shows: battery.map(Shows::Power),
        });
        all
    }
}

impl Sensors {
    fn domains(&self) -> Vec<PowerMeter> {
        let domains = self.folder(DOMAINS).into_iter();
        let domains = domains.filter(|name| name.starts_with("intel-rapl:"));
        let meter = |zone: String| {
            let folder = format!("{DOMAINS}/{zone}");
            let name = self.text(&format!("{folder}/name")).unwrap_or(zone);
            let joules = self.number(&format!("{folder}/energy_uj"));
            let range = self.number(&format!("{folder}/max_energy_range_uj")).ok();
            PowerMeter {
                name,
                source: format!("RAPL, /{folder}"),
                of: MeterOf::Processor,
                shows: joules.map(|micro| Shows::Energy {
                    joules: micro * 1e-6,
                    range: range.map(|micro| micro * 1e-6),
                }),
            }
        };
        domains.map(meter).collect()
    }

    /// Folders of the chips that meter rails of a board.
    pub(crate) fn rail_chips(&self) -> Vec<String> {
        let folders = self.folder(CHIPS).into_iter().map(|chip| format!("{CHIPS}/{chip}"));
        let is_rails =
            |folder: &String| self.text(&format!("{folder}/name")).is_ok_and(|name| name == RAILS);
        folders.filter(is_rails).collect()
    }

    /// The meters of a chip.
    pub(crate) fn chip(&self, folder: &str) -> Vec<PowerMeter> {
        let chip = self.text(&format!("{folder}/name")).unwrap_or_else(|_| "hwmon".into());
        let files = self.folder(folder);
        let of = match self.target(&format!("{folder}/device")) {
            // The rails of a board belong to no device alone.
            Some(address) if chip != RAILS => MeterOf::Address(address),
            _ => MeterOf::Machine,
        };
        let mut meters = Vec::new();
        let sleeps = self.sleeps(&format!("{folder}/device"));
        for file in &files {
            let Some((channel, kind)) = file.split_once('_') else { continue };
            let at = |path: &str| {
                if sleeps { Err(SLEEPS.into()) } else { self.number(&format!("{folder}/{path}")) }
            };
            let is = |quantity: &str| {
                let number = channel.strip_prefix(quantity);
                number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
            };
            let shows = match kind {
                "input" if is("energy") => {
                    at(file).map(|micro| Shows::Energy { joules: micro * 1e-6, range: None })
                }
                // A driver that has both shows the same power, averaged and now.
                "average" if is("power") => at(file).map(|micro| Shows::Power(micro * 1e-6)),
                "input" if is("power") && !files.contains(&format!("{channel}_average")) => {
                    at(file).map(|micro| Shows::Power(micro * 1e-6))
                }
                "input" if is("in") && chip == RAILS => {
                    let current = file.replacen("in", "curr", 1);
                    if !files.contains(&current) {
                        continue;
                    }
                    // Thousandths of volt and of ampere.
                    at(file).and_then(|volt| Ok(Shows::Power(volt * at(&current)? * 1e-6)))
                }
                _ => continue,
            };
            let label = self.text(&format!("{folder}/{channel}_label"));
            let label = label.unwrap_or_else(|_| channel.to_owned());
            meters.push(PowerMeter {
                name: format!("{chip} {label}"),
                source: format!("hwmon, /{folder}/{file}"),
                of: of.clone(),
                shows,
            });
        }
        meters
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures;
    use super::super::tests::Machine;
    use super::*;

    #[test]
    fn a_machine_without_meters_says_which_it_lacks() {
        let machine = Machine::new("no-meters", &[("proc/loadavg", "0\n")]);
        let found = machine.patient().meters();
        let names: Vec<&str> = found.iter().map(|meter| &*meter.name).collect();
        assert_eq!(names, ["package", "battery"]);
        assert!(found.iter().all(|meter| meter.shows.is_err()), "{found:?}");
    }

    #[test]
    fn every_meter_stands_alone() {
        let machine = Machine::new(
            "meters",
            &[
                ("sys/class/powercap/intel-rapl:0/name", "package-0\n"),
                ("sys/class/powercap/intel-rapl:0/energy_uj", "5000000\n"),
                ("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "9000000\n"),
                ("sys/class/powercap/intel-rapl:0:1/name", "dram\n"),
                ("sys/class/powercap/intel-rapl:0:1/energy_uj", "?\n"),
                ("sys/class/hwmon/hwmon1/name", "amdgpu\n"),
                ("sys/class/hwmon/hwmon1/power1_average", "31000000\n"),
                ("sys/class/hwmon/hwmon1/power1_input", "99000000\n"),
                ("sys/class/hwmon/hwmon1/power1_cap", "200000000\n"),
                ("sys/class/hwmon/hwmon1/power1_label", "PPT\n"),
                ("sys/class/hwmon/hwmon1/in0_input", "900\n"),
                ("sys/class/hwmon/hwmon2/name", "ina3221\n"),
                ("sys/class/hwmon/hwmon2/in1_input", "5000\n"),
                ("sys/class/hwmon/hwmon2/in1_label", "VDD_IN\n"),
                ("sys/class/hwmon/hwmon2/curr1_input", "1200\n"),
                ("sys/class/hwmon/hwmon2/in7_input", "5000\n"),
            ],
        );
        let found = machine.patient().meters();
        let shown: Vec<_> = found.iter().map(|meter| (&*meter.name, meter.shows.clone())).collect();
        assert_eq!(shown[0], ("package-0", Ok(Shows::Energy { joules: 5.0, range: Some(9.0) })));
        assert!(shown[1].0 == "dram" && shown[1].1.as_ref().unwrap_err().contains("not a number"));
        assert_eq!(shown[2], ("amdgpu PPT", Ok(Shows::Power(31.0))));
        assert_eq!(shown[3], ("ina3221 VDD_IN", Ok(Shows::Power(6.0))));
        assert!(shown.len() == 5 && shown[4].1.is_err(), "{shown:?}");
    }

    #[test]
    fn meters_of_cards_have_their_address_and_rails_of_boards_none() {
        let found = fixtures::two_amd_cards("meters-of").patient().meters();
        let of: Vec<_> = found.iter().map(|meter| (&*meter.name, meter.of.clone())).collect();
        let at = |address: &str| MeterOf::Address(address.into());
        assert_eq!(
            of,
            [
                ("package", MeterOf::Processor),
                ("amdgpu PPT", at("0000:03:00.0")),
                ("amdgpu power1", at("0000:0c:00.0")),
                ("battery", MeterOf::Machine),
            ]
        );
        let rails = fixtures::jetson("rails").patient().meters();
        let rails: Vec<_> = rails.iter().filter(|meter| meter.name.starts_with(RAILS)).collect();
        let [input, part] = &rails[..] else { panic!("{rails:?}") };
        assert_eq!((&*input.name, &input.shows), ("ina3221 VDD_IN", &Ok(Shows::Power(15.0))));
        assert_eq!((&*part.name, &part.shows), ("ina3221 VDD_CPU_GPU_CV", &Ok(Shows::Power(9.0))));
        assert!(rails.iter().all(|meter| meter.of == MeterOf::Machine));
    }

    #[test]
    fn a_meter_of_a_card_that_sleeps_is_named_and_not_read() {
        let machine = fixtures::two_amd_cards("meters-asleep")
            .with_bytes("sys/devices/pci0000:00/0000:03:00.0/power/runtime_status", b"suspended\n");
        let found = machine.patient().meters();
        let of = |name: &str| found.iter().find(|meter| meter.name == name).unwrap();
        assert_eq!(of("amdgpu PPT").shows, Err(SLEEPS.to_owned()));
        assert_eq!(of("amdgpu power1").shows, Ok(Shows::Power(38.0)));
    }
}
