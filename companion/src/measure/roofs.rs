//! The roofs that records of a device show: its bandwidth and the peak of each compute class.

use calc_core::device::{Roof, RoofSet};
use calc_core::quant_format::ComputeClass;
use kernels::backend::{BackendKind, Element, Kernel};
use kernels::measure::Flag;
use report::output::json::bench::BenchJson;

/// Share of a roof that an undisturbed record of its kernel must reach, assumed: within the error of measurement.
const REACHED: f64 = 0.98;

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

/// The peak of a compute class [FLOP/s]: the largest rate of the kernels that measure it, or of a product of matrices on it that was
/// faster, which means that the peak kernel was disturbed, because a product cannot exceed the peak. `None` where nothing measured it.
pub(crate) fn peak(records: &[BenchJson], class: ComputeClass) -> Option<f64> {
    let on = backend(records);
    let rates = |of: &'static str| {
        let all = records.iter().filter(move |record| record.kernel == of);
        all.filter_map(|record| record.flop_per_s)
    };
    let peak = kernels_of(class, on).into_iter().flat_map(rates).reduce(f64::max)?;
    Some(products_of(class, on).flat_map(rates).fold(peak, f64::max))
}

/// The kind of device of records.
pub(crate) fn backend(records: &[BenchJson]) -> BackendKind {
    let key = records.first().map(|record| &*record.backend);
    key.and_then(BackendKind::by_key).unwrap_or(BackendKind::Cpu)
}

/// The compute classes whose peak was measured, each with its peak [FLOP/s].
pub(crate) fn peaks(records: &[BenchJson]) -> Vec<(ComputeClass, f64)> {
    let classes = ComputeClass::ALL.into_iter();
    classes.filter_map(|class| Some((class, peak(records, class)?))).collect()
}

/// The measured roofs that are disturbed: no undisturbed record of the kernel that measures such a roof reaches it. That holds, too,
/// where another kernel was faster than that one.
pub(crate) fn disturbed(records: &[BenchJson], bandwidth: f64) -> RoofSet {
    let reaches = |key: &str, rate: fn(&BenchJson) -> Option<f64>, roof: f64| {
        let own = records.iter().filter(|record| record.kernel == key && !is_disturbed(record));
        own.filter_map(rate).any(|rate| rate >= REACHED * roof)
    };
    let read = (!reaches("read", |record| record.byte_per_s, bandwidth)).then_some(Roof::Bandwidth);
    let classes = peaks(records).into_iter().filter(|(class, peak)| {
        let own = kernels_of(*class, backend(records));
        !own.into_iter().any(|own| reaches(own, |record| record.flop_per_s, *peak))
    });
    read.into_iter().chain(classes.map(|(class, _)| Roof::Peak(class))).collect()
}

/// Whether something disturbed a point; samples that depend on earlier ones are no disturbance.
pub(crate) fn is_disturbed(record: &BenchJson) -> bool {
    let harmless = [Flag::Autocorrelated.key(), Flag::MetersApart.key()];
    record.flags.iter().any(|flag| !harmless.contains(&flag.as_str()))
}

/// The kernels that measure the peak of a class: of INT8 dot products and tensor cores. Products of a GPU do so, too, because their library
/// uses instructions of tensor cores that no kernel here has.
fn kernels_of(class: ComputeClass, on: BackendKind) -> Vec<&'static str> {
    let peaks = Kernel::PEAKS.into_iter().filter(|kernel| kernel.class(on) == Some(class));
    let products = products_of(class, on).filter(|_| on == BackendKind::Cuda);
    peaks.map(Kernel::key).chain(products).collect()
}

/// The products of matrices that run on a class.
fn products_of(class: ComputeClass, on: BackendKind) -> impl Iterator<Item = &'static str> {
    Element::ALL
        .into_iter()
        .filter(move |element| element.class(on) == class)
        .map(Element::kernel_key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::input::timed_kernel::peak_class;

    #[test]
    fn expected_times_know_the_class_of_every_kernel_that_measures_a_peak() {
        for kernel in Kernel::PEAKS {
            assert_eq!(peak_class(kernel.key()), kernel.class(BackendKind::Cuda), "{kernel:?}");
        }
    }
}
