//! Roofs that something disturbed while they were measured, and points above a roof.

use calc_core::device::{Device, Roof};

use crate::number_text as n;
use crate::output::verdict::class_name;

/// Name of a roof in a sentence: `bandwidth`, `FP16`.
fn name(roof: Roof) -> String {
    match roof {
        Roof::Bandwidth => "bandwidth".to_owned(),
        Roof::Peak(class) => class_name(class),
    }
}

/// Note on a device some of whose roofs were disturbed while they were measured; `None` for all others.
///
/// `3 of 8 roofs (bandwidth, FP32, INT8) were measured while other programs ran or the clock changed: …`
pub fn disturbed(device: &Device) -> Option<String> {
    let found = device.disturbed_roofs();
    let names: Vec<String> = Roof::all().filter(|roof| found.has(*roof)).map(name).collect();
    let (were, they) = if found.len() == 1 { ("was", "it") } else { ("were", "they") };
    let them = if found.len() == 1 { "it" } else { "them" };
    (!found.is_empty()).then(|| {
        format!(
            "{} of {} ({}) {were} measured while other programs ran or the clock changed: {they} may be too low, so measure {them} again on an idle machine",
            found.len(),
            n::counted(device.measured_roofs().len().into(), "measured roof", "measured roofs"),
            names.join(", ")
        )
    })
}

/// Comment on a point that is faster than a roof which was disturbed while it was measured.
pub fn above_disturbed(times: f64, roof: Roof) -> String {
    let what = match roof {
        Roof::Bandwidth => "the bandwidth".to_owned(),
        Roof::Peak(class) => format!("the {} peak", class_name(class)),
    };
    format!(
        "{} the roof, but {what} was measured while other programs ran or the clock changed: that roof is too low. Measure the roofs again on an idle machine.",
        n::ratio(times)
    )
}

/// Note on points of `bench` that are up to `times` as fast as a roof of a device.
pub fn bench_above(points: &str, times: f64, hardware: &str, disturbed: bool) -> String {
    let times = n::ratio(times);
    if disturbed {
        return format!(
            "{points}: up to {times} the roof of {hardware}, which was measured while other programs ran or the clock changed: the roof is too low; measure the roofs again on an idle machine"
        );
    }
    format!(
        "{points}: up to {times} the roof of {hardware}, which no kernel can be: either the roof is wrong (of another part, power mode or clock, or measured on a busy machine), or the point is (read from a cache)"
    )
}

#[cfg(test)]
mod tests {
    use calc_core::catalog;
    use calc_core::provenance::{Fact, Provenance};
    use calc_core::quant_format::ComputeClass;

    use super::*;

    /// A device whose bandwidth and FP32 peak were measured.
    fn measured() -> Device {
        let mut device = catalog::device("epyc_9654").expect("catalog key").clone();
        device.bandwidth.provenance = Provenance::Measured;
        let peak = device.peaks.get(ComputeClass::Fp32).expect("a peak");
        let peak = Fact { provenance: Provenance::Measured, ..peak };
        device.peaks = device.peaks.with(ComputeClass::Fp32, peak);
        device
    }

    #[test]
    fn the_sentence_counts_the_roofs_that_are_still_measured() {
        let (bandwidth, fp32) = (Roof::Bandwidth, Roof::Peak(ComputeClass::Fp32));
        for (roofs, expected) in [
            (&[][..], None),
            (&[Roof::Peak(ComputeClass::Int8)], None),
            (&[fp32, Roof::Peak(ComputeClass::Int8)], Some("1 of 2 measured roofs (FP32) was ")),
            (&[fp32, bandwidth], Some("2 of 2 measured roofs (bandwidth, FP32) were ")),
        ] {
            let mut device = measured();
            device.measured.disturbed = roofs.iter().copied().collect();
            let said = disturbed(&device);
            assert_eq!(said.is_some(), expected.is_some(), "{said:?}");
            assert!(
                said.unwrap_or_default().starts_with(expected.unwrap_or_default()),
                "{roofs:?}"
            );
        }
    }
}
