//! The chip of a graphics processor in hwmon: temperatures, power, its cap, energy and clocks, as the kernel's documentation of hwmon
//! names the files.

use super::super::Sensors;
use super::{AS_IT_IS, GpuDriver, GpuQuantity, GpuReading, OF_MILLIONTHS, OF_THOUSANDTHS};

/// All that a chip shows.
pub(super) fn readings(sensors: &Sensors, folder: &str, driver: &GpuDriver) -> Vec<GpuReading> {
    let files = sensors.folder(folder);
    let mut found = Vec::new();
    for file in &files {
        let Some((channel, kind)) = file.split_once('_') else { continue };
        let label = sensors.text(&format!("{folder}/{channel}_label")).ok();
        let has = |kind: &str| files.contains(&format!("{channel}_{kind}"));
        let quantity = channel.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let (shows, scale) = match (quantity, kind) {
            ("temp", "input") => (GpuQuantity::Temperature, OF_THOUSANDTHS),
            ("power", "average") => (GpuQuantity::Power, OF_MILLIONTHS),
            // A driver that has both shows the same power, averaged and now.
            ("power", "input") if !has("average") => (GpuQuantity::Power, OF_MILLIONTHS),
            ("power", "cap") => (GpuQuantity::PowerCap, OF_MILLIONTHS),
            // Intel's drivers have the limit under this name.
            ("power", "max") if !has("cap") => (GpuQuantity::PowerCap, OF_MILLIONTHS),
            ("energy", "input") => (GpuQuantity::Energy, OF_MILLIONTHS),
            ("freq", "input") => match label.as_deref() {
                Some("sclk") => (GpuQuantity::Clock, AS_IT_IS),
                Some("mclk") => (GpuQuantity::MemoryClock, AS_IT_IS),
                _ => continue,
            },
            _ => continue,
        };
        let mut reading = GpuReading::of(sensors, shows, &format!("{folder}/{file}"), scale);
        reading.source = format!("hwmon, {}{}", reading.source, scope(shows, driver));
        reading.rail = match shows {
            GpuQuantity::Clock | GpuQuantity::MemoryClock => None,
            GpuQuantity::Temperature => Some(label.unwrap_or_else(|| channel.to_owned())),
            _ => label,
        };
        found.push(reading);
    }
    found
}

/// The part that a meter covers, where the kernel's documentation says it.
const fn scope(quantity: GpuQuantity, driver: &GpuDriver) -> &'static str {
    match (quantity, driver) {
        (GpuQuantity::Power, GpuDriver::Amd) => ": the chip, of an APU with its cores",
        (GpuQuantity::Energy, GpuDriver::I915) => ": the whole device",
        _ => "",
    }
}
