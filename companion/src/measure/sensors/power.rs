//! Energy and power meters: RAPL and the battery.

use super::{Reading, Sensors};

const METERS: &str = "sys/class/powercap";
const SUPPLIES: &str = "sys/class/power_supply";

/// Energy meters at one moment, one per processor package.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Energy(pub(crate) Vec<Meter>);

/// One meter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meter {
    /// Folder in sysfs.
    pub(crate) zone: String,
    /// Counter value [J].
    pub(crate) joules: f64,
    /// Range, at which the counter wraps [J].
    pub(crate) range: f64,
}

impl Energy {
    /// Energy of all packages between this reading and a later one [J].
    pub(crate) fn until(&self, later: &Self) -> Reading<f64> {
        let same = |(a, b): (&Meter, &Meter)| a.zone == b.zone;
        if self.0.len() != later.0.len() || !self.0.iter().zip(&later.0).all(same) {
            return Err("RAPL meters appeared or disappeared during the measurement".into());
        }
        self.0.iter().zip(&later.0).map(|(before, after)| before.until(after)).sum()
    }
}

impl Meter {
    /// Energy until a later reading [J]. Each counter wraps on its own, at most once in between.
    fn until(&self, later: &Self) -> Reading<f64> {
        let passed = later.joules - self.joules;
        let joules = if passed < 0.0 { passed + self.range } else { passed };
        // A package always uses energy; a counter that does not move belongs to a host that hides it from its guests.
        if joules > 0.0 {
            Ok(joules)
        } else {
            Err(format!("/{METERS}/{} does not advance", self.zone))
        }
    }
}

impl Sensors {
    /// Energy counters of all processor packages, by RAPL.
    pub(crate) fn package_energy(&self) -> Reading<Energy> {
        let mut meters = Vec::new();
        for zone in self.packages() {
            let folder = format!("{METERS}/{zone}");
            let joules = self.number(&format!("{folder}/energy_uj"))? * 1e-6;
            let range = self.number(&format!("{folder}/max_energy_range_uj"))? * 1e-6;
            meters.push(Meter { zone, joules, range });
        }
        if meters.is_empty() {
            Err("there is no RAPL meter in /sys/class/powercap".into())
        } else {
            Ok(Energy(meters))
        }
    }

    /// Zones of the processor packages.
    fn packages(&self) -> Vec<String> {
        let zones = self.folder(METERS).into_iter().filter(|name| {
            // `intel-rapl:0` is a package, also on AMD; `intel-rapl:0:1` is a part of it.
            name.starts_with("intel-rapl:") && name.matches(':').count() == 1
        });
        // `psys` includes the packages.
        let is_other = |zone: &str| {
            let name = self.text(&format!("{METERS}/{zone}/name"));
            name.is_ok_and(|name| !name.starts_with("package"))
        };
        zones.filter(|zone| !is_other(zone)).collect()
    }

    /// Limit of the mean power of all packages together, over the longer of their windows [W].
    pub(crate) fn power_cap(&self) -> Reading<f64> {
        let mut watts = 0.0;
        for zone in self.packages() {
            let folder = format!("{METERS}/{zone}");
            // The kernel's documentation of powercap names the constraints; only the order of their numbers is open.
            let is_long = |at: &u32| {
                self.text(&format!("{folder}/constraint_{at}_name"))
                    .is_ok_and(|it| it == "long_term")
            };
            let Some(at) = (0..4).find(is_long) else { continue };
            watts += self.number(&format!("{folder}/constraint_{at}_power_limit_uw"))? / 1e6;
        }
        if watts > 0.0 { Ok(watts) } else { Err(format!("there is no RAPL limit in /{METERS}")) }
    }

    /// Discharge power of the batteries [W]: the whole machine including its screen.
    pub(crate) fn battery_power(&self) -> Reading<f64> {
        let mut watts = 0.0;
        let mut missing = "no battery is discharging".to_owned();
        for name in self.folder(SUPPLIES) {
            let folder = format!("{SUPPLIES}/{name}");
            if !self.feeds_the_machine(&folder) {
                continue;
            }
            // A battery that cannot be read does not hide another.
            match self.supply_power(&folder) {
                Ok(more) => watts += more,
                Err(why) => missing = why,
            }
        }
        if watts > 0.0 { Ok(watts) } else { Err(missing) }
    }

    /// Whether this is the machine's own battery, discharging. A mouse's battery has the scope `Device`.
    fn feeds_the_machine(&self, folder: &str) -> bool {
        let is_known = |file: &str, expected: &str| {
            self.text(&format!("{folder}/{file}")).map(|text| text == expected).ok()
        };
        is_known("status", "Discharging") == Some(true)
            && is_known("type", "Battery") != Some(false)
            && is_known("scope", "Device") != Some(true)
    }

    /// Some drivers report discharge as negative.
    fn supply_power(&self, folder: &str) -> Reading<f64> {
        let number = |file: &str| self.number(&format!("{folder}/{file}"));
        let product = || Ok::<f64, String>(number("voltage_now")? * number("current_now")? * 1e-6);
        let watts = number("power_now").or_else(|_| product())?.abs() * 1e-6;
        if watts > 0.0 { Ok(watts) } else { Err(format!("/{folder} discharges and shows 0 W")) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Machine;
    use super::*;

    fn energy(meters: &[(&str, f64)]) -> Energy {
        let meter = |(zone, joules): &(&str, f64)| Meter {
            zone: (*zone).into(),
            joules: *joules,
            range: 262_143.0,
        };
        Energy(meters.iter().map(meter).collect())
    }

    #[test]
    fn package_counters_wrap_independently() {
        let before = energy(&[("intel-rapl:0", 262_100.0), ("intel-rapl:1", 1_000.0)]);
        let after = energy(&[("intel-rapl:0", 7.0), ("intel-rapl:1", 1_050.0)]);
        // 43 J until the counter wraps, 7 J after it, and 50 J of the other package.
        let joules = before.until(&after).unwrap();
        assert!((joules - 100.0).abs() < 1e-6, "{joules}");
    }

    #[test]
    fn meters_that_stop_or_change_are_missing_with_a_reason() {
        let both = energy(&[("intel-rapl:0", 5.0), ("intel-rapl:1", 6.0)]);
        for (later, expected) in [
            (both.clone(), "/sys/class/powercap/intel-rapl:0 does not advance"),
            (
                energy(&[("intel-rapl:0", 9.0), ("intel-rapl:1", 6.0)]),
                "intel-rapl:1 does not advance",
            ),
            (energy(&[("intel-rapl:0", 9.0)]), "appeared or disappeared"),
            (energy(&[("intel-rapl:0", 9.0), ("intel-rapl:2", 9.0)]), "appeared or disappeared"),
        ] {
            let why = both.until(&later).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn packages_are_metered_but_not_their_parts() {
        let machine = Machine::new(
            "packages",
            &[
                ("sys/class/powercap/intel-rapl:0/name", "package-0\n"),
                ("sys/class/powercap/intel-rapl:0/energy_uj", "5000000\n"),
                ("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "9000000\n"),
                ("sys/class/powercap/intel-rapl:0:0/name", "core\n"),
                ("sys/class/powercap/intel-rapl:0:0/energy_uj", "4000000\n"),
                ("sys/class/powercap/intel-rapl:0/constraint_0_name", "long_term\n"),
                ("sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "125000000\n"),
                ("sys/class/powercap/intel-rapl:1/constraint_0_name", "short_term\n"),
                ("sys/class/powercap/intel-rapl:1/constraint_0_power_limit_uw", "253000000\n"),
                ("sys/class/powercap/intel-rapl:1/constraint_1_name", "long_term\n"),
                ("sys/class/powercap/intel-rapl:1/constraint_1_power_limit_uw", "65500000\n"),
                ("sys/class/powercap/intel-rapl:2/constraint_0_name", "long_term\n"),
                ("sys/class/powercap/intel-rapl:2/constraint_0_power_limit_uw", "400000000\n"),
                ("sys/class/powercap/intel-rapl:1/name", "package-1\n"),
                ("sys/class/powercap/intel-rapl:1/energy_uj", "6000000\n"),
                ("sys/class/powercap/intel-rapl:1/max_energy_range_uj", "8000000\n"),
                ("sys/class/powercap/intel-rapl:2/name", "psys\n"),
                ("sys/class/powercap/intel-rapl:2/energy_uj", "7000000\n"),
            ],
        );
        assert_eq!(machine.sensors().power_cap(), Ok(190.5), "of the packages, over a long time");
        let Energy(meters) = machine.sensors().package_energy().unwrap();
        let found: Vec<_> = meters.iter().map(|m| (&*m.zone, m.joules, m.range)).collect();
        assert_eq!(found, [("intel-rapl:0", 5.0, 9.0), ("intel-rapl:1", 6.0, 8.0)]);
    }

    #[test]
    fn power_of_system_batteries_is_summed() {
        let files = |supply: &str, files: &[(&str, &str)]| -> Vec<(String, String)> {
            let path = |file: &str| format!("sys/class/power_supply/{supply}/{file}");
            files.iter().map(|(file, text)| (path(file), (*text).to_owned())).collect()
        };
        let discharging = ("status", "Discharging\n");
        let first = files("BAT0", &[discharging, ("power_now", "8500000\n")]);
        let negative = files("BAT1", &[discharging, ("power_now", "-1500000\n")]);
        let product = &[discharging, ("voltage_now", "10000000\n"), ("current_now", "-300000\n")];
        let product = files("BAT2", product);
        let broken = files("BAT-broken", &[discharging, ("power_now", "?\n")]);
        let zero = files("BAT-zero", &[discharging, ("power_now", "0\n")]);
        let mouse = &[discharging, ("scope", "Device\n"), ("power_now", "90000000\n")];
        let mouse = files("A-mouse", mouse);
        let other = &[discharging, ("type", "UPS\n"), ("power_now", "70000000\n")];
        let other = files("A-ups", other);
        let charging = files("BAT3", &[("status", "Charging\n"), ("power_now", "4000000\n")]);
        for (name, supplies, expected) in [
            ("one", vec![&first], Ok(8.5)),
            ("negative", vec![&negative], Ok(1.5)),
            ("volts-times-amperes", vec![&product], Ok(3.0)),
            ("three", vec![&first, &negative, &product], Ok(13.0)),
            ("not-the-machine", vec![&mouse, &other, &charging, &first], Ok(8.5)),
            ("after-an-error", vec![&broken, &first], Ok(8.5)),
            ("mouse-only", vec![&mouse], Err("no battery is discharging")),
            ("broken-only", vec![&broken], Err("voltage_now does not exist")),
            ("zero-only", vec![&zero], Err("shows 0 W")),
        ] {
            let files: Vec<(&str, &str)> =
                supplies.into_iter().flatten().map(|(path, text)| (&**path, &**text)).collect();
            let machine = Machine::new(name, &files);
            match (machine.sensors().battery_power(), expected) {
                (Ok(watts), Ok(expected)) => {
                    assert!((watts - expected).abs() < 1e-9, "{name}: {watts}");
                }
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{name}: {why}"),
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
    }
}
