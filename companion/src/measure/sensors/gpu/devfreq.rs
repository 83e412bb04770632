//! Graphics processors of boards, by devfreq: Mali, Adreno and those of Jetson.

use super::super::{Reading, Sensors};
use super::{AS_IT_IS, Gpu, GpuDriver, GpuQuantity, GpuReading, OF_PERCENT, OF_THOUSANDTHS};

const DEVICES: &str = "sys/class/devfreq";
const ZONES: &str = "sys/class/thermal";
/// Ends of the names of graphics processors in device trees: `gpu` of most, `mali` of older boards, the chips of Jetson, and Qualcomm's.
const ENDS: [&str; 8] =
    ["gpu", "mali", "gm20b", "gp10b", "gv11b", "ga10b", "gb10b", "qcom,kgsl-3d0"];
/// Node of Adreno with Qualcomm's own driver.
const KGSL: &str = "kgsl-3d0";

impl Sensors {
    /// Address and folder of each graphics processor in devfreq; memory controllers and buses stand there, too.
    pub(super) fn devfreq_gpus(&self) -> Vec<(String, String)> {
        let names = self.folder(DEVICES).into_iter();
        let is_gpu = |name: &String| {
            let end = name.rsplit_once('.').map_or("", |(_, end)| end);
            ENDS.contains(&end)
        };
        names.filter(is_gpu).map(|name| (name.clone(), format!("{DEVICES}/{name}"))).collect()
    }

    pub(super) fn devfreq_gpu(&self, address: String, folder: String) -> Gpu {
        let told = self.text(&format!("{folder}/device/uevent")).unwrap_or_default();
        let driver = told.lines().find_map(|line| line.strip_prefix("DRIVER="));
        let driver = driver.unwrap_or("devfreq").to_owned();
        Gpu {
            name: format!("{driver}@{address}"),
            model: format!("{driver} {address}"),
            nodes: if address.ends_with(KGSL) { vec![format!("/dev/{KGSL}")] } else { Vec::new() },
            address,
            node: None,
            uuid: None,
            driver: GpuDriver::Other(driver),
            card: None,
            device: Some(format!("{folder}/device")),
            chip: None,
            frequencies: Some(folder),
        }
    }
}

/// Clock, its limit, load and temperature; not what is known already.
pub(super) fn readings(sensors: &Sensors, folder: &str, known: &[GpuReading]) -> Vec<GpuReading> {
    let lacks = |quantity| known.iter().all(|reading| reading.quantity != quantity);
    let mut all = Vec::new();
    if lacks(GpuQuantity::Clock) {
        // devfreq tells Hz.
        all.push(GpuReading::of(
            sensors,
            GpuQuantity::Clock,
            &format!("{folder}/cur_freq"),
            AS_IT_IS,
        ));
        let limit = format!("{folder}/max_freq");
        all.push(GpuReading::of(sensors, GpuQuantity::ClockLimit, &limit, AS_IT_IS));
    }
    // nvgpu of Jetson tells thousandths, kernels of Rockchip percent and a clock.
    let (jetson, board) = (format!("{folder}/device/load"), format!("{folder}/load"));
    if let Ok(thousandths) = sensors.number(&jetson) {
        let value = Ok(OF_THOUSANDTHS(thousandths));
        all.push(GpuReading::new(GpuQuantity::Utilization, None, format!("/{jetson}"), value));
    } else if let Ok(text) = sensors.text(&board) {
        let value = load(&text).ok_or_else(|| format!("/{board} holds `{text}`"));
        all.push(GpuReading::new(GpuQuantity::Utilization, None, format!("/{board}"), value));
    } else if let Ok(text) = sensors.text(&format!("{folder}/device/kgsl/{KGSL}/gpubusy")) {
        let file = format!("/{folder}/device/kgsl/{KGSL}/gpubusy");
        let value = share(&text).ok_or_else(|| format!("{file} holds `{text}`"));
        all.push(GpuReading::new(GpuQuantity::Utilization, None, file, value));
    }
    if lacks(GpuQuantity::Temperature) {
        all.extend(temperatures(sensors));
    }
    all
}

/// The utilization, 0 to 1, from a text such as `37@1000000000Hz` or `37`, whose first number is in percent.
fn load(text: &str) -> Option<f64> {
    let percent = text.split_once('@').map_or(text, |(percent, _)| percent);
    let percent: f64 = percent.trim_end_matches('%').parse().ok()?;
    (0.0..=100.0).contains(&percent).then(|| OF_PERCENT(percent))
}

/// The utilization, 0 to 1, from the busy and the whole time of a window; both are zero if it rested.
fn share(text: &str) -> Option<f64> {
    let (busy, all) = text.split_once(char::is_whitespace)?;
    let (busy, all): (f64, f64) = (busy.parse().ok()?, all.trim().parse().ok()?);
    let is_share = 0.0 <= busy && busy <= all && all.is_finite();
    is_share.then(|| if all > 0.0 { busy / all } else { 0.0 })
}

/// Thermal zones that are named after the graphics processor.
fn temperatures(sensors: &Sensors) -> Vec<GpuReading> {
    let zones = sensors.folder(ZONES).into_iter().filter(|name| name.starts_with("thermal_zone"));
    let of = |zone: String| {
        let name: Reading<String> = sensors.text(&format!("{ZONES}/{zone}/type"));
        let name = name.ok().filter(|name| name.to_ascii_lowercase().starts_with("gpu"))?;
        let path = format!("{ZONES}/{zone}/temp");
        let reading = GpuReading::of(sensors, GpuQuantity::Temperature, &path, OF_THOUSANDTHS);
        Some(GpuReading { rail: Some(name), ..reading })
    };
    zones.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_of_boards_are_shares() {
        for (text, expected) in [
            ("37@1000000000Hz", Some(0.37)),
            ("0", Some(0.0)),
            ("100%", Some(1.0)),
            ("x@1Hz", None),
            ("370", None),
            ("", None),
        ] {
            assert_eq!(load(text), expected, "{text}");
        }
    }

    #[test]
    fn busy_and_whole_time_of_adreno_are_a_share() {
        for (text, expected) in [
            ("250   1000", Some(0.25)),
            ("0 0", Some(0.0)),
            ("7 3", None),
            ("7", None),
            ("x 3", None),
            ("1 inf", None),
        ] {
            assert_eq!(share(text), expected, "{text}");
        }
    }
}
