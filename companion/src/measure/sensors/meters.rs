//! All meters of energy and power one by one, also those that contain each other: RAPL domains, rails of hwmon chips, the battery.
//! They are never added up.

use super::{Reading, Sensors};

const DOMAINS: &str = "sys/class/powercap";
const CHIPS: &str = "sys/class/hwmon";
/// Chip with three rails, on Jetson boards: the driver shows volts and amperes, not their product.
const RAILS: &str = "ina3221";

/// A meter with what it shows now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PowerMeter {
    /// Name as the driver has it, such as `package-0`, `amdgpu PPT` or `ina3221 VDD_IN`.
    pub(crate) name: String,
    /// Driver and file.
    pub(crate) source: String,
    pub(crate) shows: Reading<Shows>,
}

/// The quantity that a meter shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shows {
    /// A counter [J], and the range at which it wraps, if it is known.
    Energy { joules: f64, range: Option<f64> },
    /// Power now [W].
    Power(f64),
}

impl Sensors {
    /// All meters of this machine, in a fixed order.
    pub(crate) fn meters(&self) -> Vec<PowerMeter> {
        let mut all = self.domains();
        if all.is_empty() {
            all.push(PowerMeter {
                name: "package".into(),
                source: format!("RAPL, /{DOMAINS}"),
                shows: Err(format!("there is no RAPL meter in /{DOMAINS}")),
            });
        }
        for chip in self.folder(CHIPS) {
            all.extend(self.chip(&format!("{CHIPS}/{chip}")));
        }
        let battery = self.battery_power();
        all.push(PowerMeter {
            name: "battery".into(),
            source: "/sys/class/power_supply: discharge, the whole machine".into(),
            shows: battery.map(Shows::Power),
        });
        all
    }

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
                shows: joules.map(|micro| Shows::Energy {
                    joules: micro * 1e-6,
                    range: range.map(|micro| micro * 1e-6),
                }),
            }
        };
        domains.map(meter).collect()
    }

    fn chip(&self, folder: &str) -> Vec<PowerMeter> {
        let chip = self.text(&format!("{folder}/name")).unwrap_or_else(|_| "hwmon".into());
        let files = self.folder(folder);
        let mut meters = Vec::new();
        for file in &files {
            let Some((channel, kind)) = file.split_once('_') else { continue };
            let at = |path: &str| self.number(&format!("{folder}/{path}"));
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
                shows,
            });
        }
        meters
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Machine;
    use super::*;

    #[test]
    fn a_machine_without_meters_says_which_it_lacks() {
        let machine = Machine::new("no-meters", &[("proc/loadavg", "0\n")]);
        let found = machine.sensors().meters();
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
        let found = machine.sensors().meters();
        let shown: Vec<_> = found.iter().map(|meter| (&*meter.name, meter.shows.clone())).collect();
        assert_eq!(shown[0], ("package-0", Ok(Shows::Energy { joules: 5.0, range: Some(9.0) })));
        assert!(shown[1].0 == "dram" && shown[1].1.as_ref().unwrap_err().contains("not a number"));
        assert_eq!(shown[2], ("amdgpu PPT", Ok(Shows::Power(31.0))));
        assert_eq!(shown[3], ("ina3221 VDD_IN", Ok(Shows::Power(6.0))));
        assert!(shown.len() == 5 && shown[4].1.is_err(), "{shown:?}");
    }
}
