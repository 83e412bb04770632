//! The roofs that records of a device show: its bandwidth and the peak of each compute class.

use calc_core::quant_format::ComputeClass;
use kernels::backend::{Element, GemmShape, Kernel};
use report::output::json::bench::BenchJson;

/// The largest read bandwidth [B/s], and the record that shows it.
///
/// # Errors
/// A wrong result, and records without reading.
pub(crate) fn bandwidth(records: &[BenchJson]) -> Result<(&BenchJson, f64), String> {
    if let Some(wrong) = records.iter().find(|record| !record.check.passed) {
        let weights = wrong.precision.as_ref().map(|precision| &precision.weights);
        let of = weights.map_or(String::new(), |of| format!(" of {of}"));
        return Err(format!(
            "the result of {}{of} is wrong, so its time says nothing",
            wrong.kernel
        ));
    }
    let reads = records.iter().filter(|record| record.kernel == "read");
    reads
        .filter_map(|record| record.byte_per_s.map(|rate| (record, rate)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .ok_or_else(|| "the bandwidth could not be measured".to_owned())
}

/// The peak of a compute class [FLOP/s]: the largest rate of its peak kernel, or of a product of matrices on it that was faster,
/// which means that the peak kernel was disturbed, because a product cannot exceed the peak. `None` without a peak kernel.
pub(crate) fn peak(records: &[BenchJson], class: ComputeClass) -> Option<f64> {
    let own = Kernel::PEAKS.into_iter().find(|kernel| kernel.class() == Some(class))?;
    let rates = |of: Kernel| {
        let all = records.iter().filter(move |record| record.kernel == of.key());
        all.filter_map(|record| record.flop_per_s)
    };
    let peak = rates(own).reduce(f64::max)?;
    let products =
        Element::ALL.map(|element| Kernel::Gemm(GemmShape { element, m: 1, n: 1, k: 1 }));
    let products = products.into_iter().filter(|product| product.class() == Some(class));
    Some(products.flat_map(rates).fold(peak, f64::max))
}

/// The compute classes whose peak was measured, each with its peak [FLOP/s].
pub(crate) fn peaks(records: &[BenchJson]) -> Vec<(ComputeClass, f64)> {
    let classes = Kernel::PEAKS.into_iter().filter_map(Kernel::class);
    classes.filter_map(|class| Some((class, peak(records, class)?))).collect()
}
