//! Sentences about the basis of expected times.

use calc_core::calibration::Basis;
use calc_core::device::MemoryKind;
use calc_core::provenance::Provenance;

/// Sources of the factors behind an expected time: measurements, and the devices from which factors were transferred.
pub fn factors_source(provenance: Provenance, basis: &Basis) -> String {
    match provenance {
        Provenance::Measured => "own measurements of this device".to_owned(),
        Provenance::Assumed => {
            format!(
                "transferred from NVIDIA GPUs, the only ones with published measurements{}",
                rest(basis)
            )
        }
        Provenance::Derived => "kernels at the roof, as requested".to_owned(),
        Provenance::Fitted => fitted(basis),
        Provenance::Read | Provenance::Recalled | Provenance::Mixed => {
            format!("own measurements, and for the rest: {}", fitted(basis))
        }
    }
}

fn fitted(basis: &Basis) -> String {
    let kind = match basis.kind {
        MemoryKind::Unified => "unified memory",
        MemoryKind::Gddr => "GDDR",
        MemoryKind::Hbm => "HBM",
    };
    let device = if basis.in_fit {
        "fitted on published measurements of this device and its kind".to_owned()
    } else {
        format!("transferred from published measurements of other devices with {kind}")
    };
    format!("{device}{}", rest(basis))
}

/// Measured ceilings of the device, and the engine whose kernels are expected.
fn rest(basis: &Basis) -> String {
    let known = basis.ceilings;
    let has_peak = [known.half, known.eight, known.four].iter().any(Option::is_some);
    let ceilings = match (known.read.is_some(), has_peak) {
        (true, true) => "; its bandwidth and a peak were measured",
        (true, false) => "; its bandwidth was measured",
        (false, true) => "; a peak of it was measured",
        (false, false) => "",
    };
    let engine = basis.engine.key();
    let named = if basis.is_named { "" } else { ", the usual one here" };
    format!("{ceilings}; engine {engine}{named}")
}
