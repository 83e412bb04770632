//! Constants of expected times on a host, fitted on published runs with weights on the host: the rows with `use` = `fit` of
//! `calc-core/validation/data/two-tiers.csv`. A test of `validation` holds them to the best fit.

use super::HostFactors;
use crate::calibration::Factors;
use crate::provenance::Provenance;
use crate::units::Seconds;

/// llama.cpp, and programs of its kind.
pub const HOST: HostFactors = HostFactors {
    processor: Factors {
        eta_memory: 0.44,
        // Assumed: no row computes a prompt on the processor. Of the peak that vector units have in INT8, products of tiles
        // that were not repacked reach little.
        eta_compute: 0.15,
        // Assumed: threads start and wait for each other once per operator.
        floor: Seconds::new(5e-6),
        low: 0.7,
        high: 1.3,
        provenance: Provenance::Fitted,
    },
    // Assumed: 25 of the 31.5 GB/s of PCIe 4.0 x16, as between devices; no row copies a model without experts.
    link: 0.79,
    experts: 0.75,
    crossing: Seconds::new(30e-6),
};
