//! Temperature of the processor, and the sensor that reports it.

use super::{Reading, Sensors};

/// A temperature with its sensor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Temperature {
    /// Temperature [°C].
    pub(crate) celsius: f64,
    /// Name of the chip or thermal zone.
    pub(crate) sensor: String,
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

impl Sensors {
    /// The highest reading of the best kind of sensor.
    pub(crate) fn temperature(&self) -> Reading<Temperature> {
        let mut all = self.zones();
        all.extend(self.chips());
        // All readings must come from the best kind, so that two readings come from the same sensor.
        let best = all.iter().map(|found| Rank::of(&found.sensor)).min();
        all.into_iter()
            .filter(|found| Some(Rank::of(&found.sensor)) == best)
            .reduce(|a, b| if b.celsius > a.celsius { b } else { a })
            .ok_or_else(|| "no thermal zone and no hwmon sensor can be read".into())
    }

    fn zones(&self) -> Vec<Temperature> {
        let zones = self.folder("sys/class/thermal").into_iter();
        let zones = zones.filter(|name| name.starts_with("thermal_zone"));
        zones
            .filter_map(|zone| {
                let folder = format!("sys/class/thermal/{zone}");
                let sensor = self.text(&format!("{folder}/type")).unwrap_or(zone);
                self.celsius(sensor, &format!("{folder}/temp"))
            })
            .collect()
    }

    fn chips(&self) -> Vec<Temperature> {
        let mut found = Vec::new();
        for chip in self.folder("sys/class/hwmon") {
            let folder = format!("sys/class/hwmon/{chip}");
            let sensor = self.text(&format!("{folder}/name")).unwrap_or(chip);
            let inputs = self.folder(&folder).into_iter();
            let inputs = inputs.filter(|name| name.starts_with("temp") && name.ends_with("_input"));
            found.extend(
                inputs.filter_map(|name| self.celsius(sensor.clone(), &format!("{folder}/{name}"))),
            );
        }
        found
    }

    /// Linux reports thousandths of °C.
    fn celsius(&self, sensor: String, path: &str) -> Option<Temperature> {
        let thousandths = self.number(path).ok()?;
        Some(Temperature { celsius: thousandths / 1000.0, sensor })
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
            let found = machine.sensors().temperature().unwrap();
            assert_eq!((found.celsius, &*found.sensor), expected, "{name}");
        }
    }
}
