//! The files of the driver amdgpu beside hwmon: utilization, memory, clocks of its steps, and the reasons why it is slowed down. They
//! are those of the kernel's "GPU Power/Thermal Controls and Monitoring" and "Misc AMDGPU driver information".

use super::super::{Reading, Sensors};
use super::{AS_IT_IS, Gpu, GpuQuantity, GpuReading, OF_PERCENT, Scale};

/// Largest table of metrics that is read [B]; those with a known layout have fewer than 200.
const MOST_METRICS: u64 = 4096;
/// Reasons by the 16 bits that each group has, from the lowest: `SMU_THROTTLER_*_BIT` of the driver's `amdgpu_smu.h`.
const REASONS: [&str; 4] = ["power", "current", "temperature", "other"];

impl Gpu {
    /// Whether it has its own memory: cards have tables of metrics of version 1, and processors with graphics those of 2 and 3. Without a
    /// table, cards sleep, have a cap of power or tell the name of a product.
    pub(super) fn amd_is_card(&self, sensors: &Sensors) -> bool {
        let Some(device) = &self.device else { return false };
        if sensors.sleeps(device) {
            return true;
        }
        let metrics = sensors.bytes(&format!("{device}/gpu_metrics"), MOST_METRICS);
        if let Ok([_, _, format, ..]) = metrics.as_deref() {
            return *format == 1;
        }
        let cap = self.chip.as_ref().map(|chip| format!("{chip}/power1_cap"));
        let product = sensors.text(&format!("{device}/product_name"));
        cap.is_some_and(|cap| sensors.number(&cap).is_ok())
            || product.is_ok_and(|name| !name.is_empty())
    }

    /// Readings of amdgpu; clocks only if hwmon has none.
    pub(super) fn amd_readings(&self, sensors: &Sensors, known: &[GpuReading]) -> Vec<GpuReading> {
        let Some(device) = &self.device else { return Vec::new() };
        let of = |quantity, file: &str, scale: Scale| {
            GpuReading::of(sensors, quantity, &format!("{device}/{file}"), scale)
        };
        let vram = |quantity, file| {
            let reading = of(quantity, file, AS_IT_IS);
            GpuReading {
                source: format!("{}: VRAM, of an APU what is set apart", reading.source),
                ..reading
            }
        };
        let mut all = vec![
            of(GpuQuantity::Utilization, "gpu_busy_percent", OF_PERCENT),
            vram(GpuQuantity::MemoryUsed, "mem_info_vram_used"),
            vram(GpuQuantity::MemoryTotal, "mem_info_vram_total"),
        ];
        let steps =
            |file: &str| (sensors.text(&format!("{device}/{file}")), format!("/{device}/{file}"));
        let (core, source) = steps("pp_dpm_sclk");
        let lacks = |quantity| known.iter().all(|reading| reading.quantity != quantity);
        if lacks(GpuQuantity::Clock) {
            let now = core.clone().and_then(|text| chosen(&text, &source));
            all.push(GpuReading::new(GpuQuantity::Clock, None, source.clone(), now));
        }
        if let Some(most) =
            core.ok().and_then(|text| text.lines().filter_map(hertz).reduce(f64::max))
        {
            all.push(GpuReading::new(GpuQuantity::ClockLimit, None, source, Ok(most)));
        }
        if lacks(GpuQuantity::MemoryClock)
            && let (Ok(text), source) = steps("pp_dpm_mclk")
        {
            let now = chosen(&text, &source);
            all.push(GpuReading::new(GpuQuantity::MemoryClock, None, source, now));
        }
        let path = format!("{device}/gpu_metrics");
        let found = sensors.bytes(&path, MOST_METRICS).and_then(|bytes| throttled(&bytes));
        let found = found.map(|reasons| {
            (reasons.len() as f64, reasons.into_iter().map(str::to_owned).collect())
        });
        all.push(GpuReading::of_reasons(None, &format!("/{path}"), found));
        all
    }
}

/// The step that is marked with a star, of lines such as `1: 2500Mhz *` [Hz].
fn chosen(text: &str, source: &str) -> Reading<f64> {
    let line = text.lines().find(|line| line.trim_end().ends_with('*'));
    line.and_then(hertz).ok_or_else(|| format!("{source} marks no step"))
}

fn hertz(line: &str) -> Option<f64> {
    let (_, step) = line.split_once(':')?;
    let number = step.trim().trim_end_matches('*').trim().to_ascii_lowercase();
    Some(number.strip_suffix("mhz")?.parse::<f64>().ok()? * 1e6)
}

/// Groups of reasons in a table of metrics, whose layouts are `struct gpu_metrics_v1_3` and `gpu_metrics_v2_2` of the driver's
/// `kgd_pp_interface.h`; versions 2.3 and 2.4 are longer.
fn throttled(metrics: &[u8]) -> Reading<Vec<&'static str>> {
    let [low, high, format, content, ..] = *metrics else {
        return Err("the table of metrics is empty".into());
    };
    let size = usize::from(u16::from_le_bytes([low, high]));
    let at = match (format, content) {
        (1, 3) => 112,
        (2, 2..=4) => 120,
        _ => return Err(format!("reasons of metrics version {format}.{content} are not known")),
    };
    let bits = metrics.get(at..at + 8).filter(|_| size >= at + 8 && metrics.len() >= size);
    let bits = bits.and_then(|bits| bits.try_into().ok()).map(u64::from_le_bytes);
    let bits = bits.ok_or_else(|| format!("the table of metrics has {} bytes", metrics.len()))?;
    // The driver fills what a chip does not tell with ones.
    if bits == u64::MAX {
        return Err("this chip does not tell the reasons".into());
    }
    let groups = REASONS.into_iter().enumerate();
    Ok(groups.filter(|(at, _)| bits >> (16 * at) & 0xffff != 0).map(|(_, name)| name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(version: [u8; 2], size: usize, at: usize, bits: u64) -> Vec<u8> {
        let mut bytes = vec![0; size];
        bytes[..2].copy_from_slice(&u16::try_from(size).unwrap().to_le_bytes());
        bytes[2..4].copy_from_slice(&version);
        bytes[at..at + 8].copy_from_slice(&bits.to_le_bytes());
        bytes
    }

    #[test]
    fn reasons_are_read_of_known_layouts_alone() {
        // Bit 0 is PPT0, bit 16 TDC of the core, bit 36 the hot spot, bit 56 of the rest.
        let all = metrics([1, 3], 120, 112, 1 | 1 << 16 | 1 << 36 | 1 << 56);
        assert_eq!(throttled(&all), Ok(REASONS.to_vec()));
        let hot = metrics([2, 4], 168, 120, 1 << 36);
        assert_eq!(throttled(&hot), Ok(vec!["temperature"]));
        assert_eq!(throttled(&metrics([1, 3], 120, 112, 0)), Ok(Vec::new()));
        for (bytes, expected) in [
            (Vec::new(), "empty"),
            (metrics([1, 4], 300, 112, 1), "version 1.4"),
            (metrics([1, 3], 120, 112, u64::MAX), "does not tell"),
            (metrics([1, 3], 120, 112, 1)[..118].to_vec(), "has 118 bytes"),
            (metrics([2, 2], 120, 112, 1), "has 120 bytes"),
        ] {
            let why = throttled(&bytes).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn the_clock_of_the_marked_step_counts() {
        let steps = "0: 500Mhz \n1: 1875Mhz *\n2: 2500Mhz \n";
        assert_eq!(chosen(steps, "s"), Ok(1875e6));
        assert_eq!(steps.lines().filter_map(hertz).reduce(f64::max), Some(2500e6));
        for broken in ["", "0: 500Mhz", "1: fast *", "*"] {
            assert!(chosen(broken, "s").is_err(), "{broken}");
        }
    }
}
