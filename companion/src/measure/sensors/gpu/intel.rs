//! The files of Intel's drivers i915 and xe beside hwmon: the clock of each graphics part (GT) and why it is slowed down.

use super::super::Sensors;
use super::{DRM, Gpu, GpuQuantity, GpuReading, OF_MILLIONS};

/// Where a driver has the files of a part.
struct GraphicsPart {
    name: String,
    clock: String,
    limit: String,
    /// Folder of the reasons; below it, the name of the file for any reason, and the beginning of those for each.
    reasons: String,
    any: &'static str,
    each: &'static str,
}

impl Gpu {
    /// Readings of i915, as its `Documentation/ABI/testing/sysfs-driver-intel-i915` and `intel_gt_sysfs_pm.c` have them.
    pub(super) fn i915_readings(&self, sensors: &Sensors) -> Vec<GpuReading> {
        let Some(card) = &self.card else { return Vec::new() };
        let parts = sensors.folder(&format!("{card}/gt"));
        let parts = parts.iter().filter(|name| name.starts_with("gt"));
        let mut parts: Vec<GraphicsPart> = parts
            .map(|name| {
                let folder = format!("{card}/gt/{name}");
                GraphicsPart {
                    name: name.clone(),
                    clock: format!("{folder}/rps_act_freq_mhz"),
                    limit: format!("{folder}/rps_max_freq_mhz"),
                    reasons: folder,
                    any: "throttle_reason_status",
                    each: "throttle_reason_",
                }
            })
            .collect();
        if parts.is_empty() {
            // Before Linux 5.18.
            parts.push(GraphicsPart {
                name: "gt0".into(),
                clock: format!("{card}/gt_act_freq_mhz"),
                limit: format!("{card}/gt_max_freq_mhz"),
                reasons: card.clone(),
                any: "throttle_reason_status",
                each: "throttle_reason_",
            });
        }
        part_readings(sensors, &parts)
    }

    /// Readings of xe, as `Documentation/ABI/testing/sysfs-driver-intel-xe*` and `xe_gt_throttle.c` have them.
    pub(super) fn xe_readings(&self, sensors: &Sensors) -> Vec<GpuReading> {
        let device = self.device.clone().unwrap_or_else(|| DRM.to_owned());
        let mut parts = Vec::new();
        for tile in sensors.folder(&device).iter().filter(|name| name.starts_with("tile")) {
            let inner = sensors.folder(&format!("{device}/{tile}"));
            for part in inner.iter().filter(|name| name.starts_with("gt")) {
                let folder = format!("{device}/{tile}/{part}/freq0");
                parts.push(GraphicsPart {
                    name: format!("{tile}/{part}"),
                    clock: format!("{folder}/act_freq"),
                    limit: format!("{folder}/max_freq"),
                    reasons: format!("{folder}/throttle"),
                    any: "status",
                    each: "reason_",
                });
            }
        }
        part_readings(sensors, &parts)
    }
}

fn part_readings(sensors: &Sensors, parts: &[GraphicsPart]) -> Vec<GpuReading> {
    let mut all = Vec::new();
    for part in parts {
        let rail = Some(part.name.clone());
        for (quantity, path) in
            [(GpuQuantity::Clock, &part.clock), (GpuQuantity::ClockLimit, &part.limit)]
        {
            // The drivers tell MHz.
            all.push(GpuReading {
                rail: rail.clone(),
                ..GpuReading::of(sensors, quantity, path, OF_MILLIONS)
            });
        }
        let is = |file: &str| sensors.number(&format!("{}/{file}", part.reasons));
        let files = sensors.folder(&part.reasons);
        // Only these files are read: others of the folder may be large, or wake up the card.
        let named = files.iter().filter(|file| **file != part.any && file.starts_with(part.each));
        let reasons = named.filter(|file| is(file) == Ok(1.0));
        let reasons = reasons.filter_map(|file| file.strip_prefix(part.each));
        let reasons: Vec<String> = reasons.map(str::to_owned).collect();
        let found = is(part.any).map(|any| (any.max(reasons.len() as f64), reasons));
        let files = format!("/{}/{}*", part.reasons, part.each);
        all.push(GpuReading::of_reasons(rail, &files, found));
    }
    all
}
