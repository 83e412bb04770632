//! The data of a roofline chart, before its layout: roofs, bandwidth, points. And the roofs of a device.

use calc_core::catalog::devices::measured;
use calc_core::device::{Device, PowerMode};
use calc_core::error::Error;
use calc_core::quant_format::ComputeClass;
use calc_core::roofline::Roofs;
use calc_core::units::{BytesPerSec, FlopsPerByte, FlopsPerSec};
use report::number_text;

use crate::mark::Mark;

/// A horizontal roof.
#[derive(Debug, Clone, PartialEq)]
pub struct ComputeRoof {
    /// Which peak; several classes with one peak share a roof and the hue of the first.
    pub class: ComputeClass,
    pub peak: FlopsPerSec,
    /// Text at the line.
    pub label: String,
}

/// A diagonal roof.
#[derive(Debug, Clone, PartialEq)]
pub struct BandwidthRoof {
    pub value: BytesPerSec,
    /// Text at the line.
    pub label: String,
}

/// A measured roof; drawn dashed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sustained {
    Bandwidth(BytesPerSec),
    Compute(ComputeClass, FlopsPerSec),
}

/// A workload in one format.
#[derive(Debug, Clone, PartialEq)]
pub struct PointInput {
    /// Identifies the point in the program.
    pub key: String,
    pub mark: Mark,
    pub label: String,
    /// Work per byte.
    pub intensity: FlopsPerByte,
    /// Rate: the ideal one of a prediction, or the measured one.
    pub attained: FlopsPerSec,
    /// The expected rate of a prediction.
    pub expected: Option<FlopsPerSec>,
    /// Filled for a prediction, hollow for a measurement.
    pub filled: bool,
}

/// A roofline chart as plain data.
#[derive(Debug, Clone, PartialEq)]
pub struct Roofline {
    pub bandwidth: BandwidthRoof,
    /// The diagonal of the L2 cache, where its bandwidth was measured; drawn dashed.
    pub l2: Option<BandwidthRoof>,
    /// The horizontals, in any order.
    pub roofs: Vec<ComputeRoof>,
    pub sustained: Vec<Sustained>,
    pub points: Vec<PointInput>,
    /// The class whose ridge is labeled first.
    pub main: Option<ComputeClass>,
}

impl Roofline {
    /// The roofs of a device for some classes, without points.
    ///
    /// Measurements were taken in the default power mode; for any other they do not apply and are left
    /// out.
    ///
    /// # Errors
    /// A power mode with unknown clocks.
    pub fn of_device(
        device: &Device,
        mode: Option<&PowerMode>,
        classes: &[ComputeClass],
    ) -> Result<Self, Error> {
        let known = Roofs::new(device, mode)?;
        let sustained = measured_roofs(device, mode, classes);
        let l2 = device.measured.l2_bandwidth.filter(|_| mode.is_none());
        Ok(Self {
            bandwidth: BandwidthRoof {
                value: known.bandwidth,
                label: bandwidth_label(known.bandwidth, &sustained),
            },
            l2: l2.map(|fact| BandwidthRoof {
                value: fact.value,
                label: format!("L2 {}", number_text::published_bandwidth(fact.value)),
            }),
            roofs: merged_roofs(&known, classes),
            sustained,
            points: Vec::new(),
            main: None,
        })
    }
}

fn bandwidth_label(value: BytesPerSec, sustained: &[Sustained]) -> String {
    let label = format!("DRAM {}", number_text::published_bandwidth(value));
    let measured = sustained.iter().find_map(|roof| match roof {
        Sustained::Bandwidth(value) => Some(*value),
        Sustained::Compute(..) => None,
    });
    match measured {
        Some(value) => {
            format!("{label} · read measured {}", number_text::short(value.get() / 1e9, 4))
        }
        None => label,
    }
}

/// One roof per peak: classes with equal peaks share it.
fn merged_roofs(known: &Roofs, classes: &[ComputeClass]) -> Vec<ComputeRoof> {
    let mut merged: Vec<(FlopsPerSec, Vec<ComputeClass>)> = Vec::new();
    for class in classes {
        let Some(peak) = known.peak(*class) else { continue };
        match merged.iter_mut().find(|(other, _)| (*other / peak - 1.0).abs() < 1e-3) {
            Some((_, sharing)) => sharing.push(*class),
            None => merged.push((peak, vec![*class])),
        }
    }
    let roof = |(peak, classes): (FlopsPerSec, Vec<ComputeClass>)| {
        let names: Vec<String> = classes.iter().map(|class| class_name(*class)).collect();
        let class = *classes.first()?;
        let label = format!("{} {}", names.join(", "), number_text::published_rate(peak, class));
        Some(ComputeRoof { class, peak, label })
    };
    merged.into_iter().filter_map(roof).collect()
}

/// `FP16`.
pub fn class_name(class: ComputeClass) -> String {
    class.key().to_ascii_uppercase()
}

/// The measured ceilings under the roofs, one for classes that share a rate; `hardware` lists all measurements.
fn measured_roofs(
    device: &Device,
    mode: Option<&PowerMode>,
    classes: &[ComputeClass],
) -> Vec<Sustained> {
    let mut found: Vec<Sustained> =
        measured::bandwidth(device, mode).map(Sustained::Bandwidth).into_iter().collect();
    for class in classes {
        let Some(peak) = measured::peak(device, mode, *class) else { continue };
        let is_drawn =
            |roof: &Sustained| matches!(roof, Sustained::Compute(_, other) if *other == peak);
        if !found.iter().any(is_drawn) {
            found.push(Sustained::Compute(*class, peak));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog;

    fn of(device: &str, classes: &[ComputeClass]) -> Roofline {
        let device = catalog::device(device).expect("catalog key");
        Roofline::of_device(device, None, classes).expect("no mode")
    }

    #[test]
    fn equal_peaks_share_a_roof() {
        use ComputeClass::{Bf16, Fp8, Fp16, Int8};
        let chart = of("h100_sxm", &[Fp16, Bf16, Fp8, Int8]);
        let labels: Vec<&str> = chart.roofs.iter().map(|roof| roof.label.as_str()).collect();
        assert_eq!(chart.roofs.len(), 2, "{labels:?}");
        assert!(labels[0].starts_with("FP16, BF16 ") && labels[1].starts_with("FP8, INT8 "));
    }

    #[test]
    fn unknown_peaks_have_no_roof() {
        assert!(of("t4", &[ComputeClass::Fp8]).roofs.is_empty());
    }

    #[test]
    fn measured_roofs_name_what_they_are_about() {
        let chart = of("jetson_orin_nano_8gb_super", &[ComputeClass::Fp16, ComputeClass::Int8]);
        assert_eq!(
            chart.sustained,
            [
                Sustained::Bandwidth(BytesPerSec::from_gb(99.2)),
                Sustained::Compute(ComputeClass::Fp16, FlopsPerSec::from_tera(11.66)),
            ]
        );
        assert!(chart.bandwidth.label.ends_with("read measured 99.2"), "{}", chart.bandwidth.label);
    }

    #[test]
    fn l2_has_a_roof_where_it_was_measured_and_never_in_a_power_mode() {
        use calc_core::provenance::Fact;
        let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
        let of = |device: &Device, mode| {
            Roofline::of_device(device, mode, &[ComputeClass::Fp16]).expect("known clocks").l2
        };
        assert_eq!(of(device, None), None);
        let mut known = device.clone();
        let value = BytesPerSec::from_gb(333.5);
        known.measured.l2_bandwidth = Some(Fact::assumed(value));
        let label = "L2 333.5\u{202f}GB/s".to_owned();
        assert_eq!(of(&known, None), Some(BandwidthRoof { value, label }));
        assert_eq!(of(&known, Some(known.power_mode("7w").expect("a mode"))), None);
    }

    #[test]
    fn a_measurement_above_its_roof_is_not_drawn_as_one() {
        // Published: 978 TFLOPS on a card whose datasheet says 835.
        assert!(of("h100_nvl", &[ComputeClass::Fp16]).sustained.is_empty());
    }

    #[test]
    fn a_power_mode_has_its_own_roofs_and_nobody_elses_measurements() {
        let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
        let mode = device.power_mode("7w").expect("a mode");
        let chart =
            Roofline::of_device(device, Some(mode), &[ComputeClass::Fp16]).expect("known clocks");
        assert!(chart.sustained.is_empty());
        assert!(chart.roofs[0].peak.get() < 4e12);
    }
}
