//! Expected time of a record: for products and kernels of a layer from the core with the place's calibration, for streams and peaks
//! from the roof that bounds them.

use calc_core::analysis::{Analysis, AnalyzeRequest, Operator, StreamRequest, analyze, stream};
use calc_core::catalog;
use calc_core::cost::attention::AttentionShape;
use calc_core::cost::elementwise::{embedding, rotary};
use calc_core::cost::gemm::GemmShape;
use calc_core::error::Error;
use calc_core::expected::Expected;
use calc_core::model_arch::Reach;
use calc_core::op::{OpCost, OpKind};
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Provenance;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::roofline::Roofs;
use calc_core::units::{Flops, FlopsPerSec, Seconds};
use chart::roofline::class_name;
use protocol::bench::{BenchKind, BenchRecord, Precision};
use report::output::verdict::{badge, badge_meaning};

use crate::state::derived::refusal;
use crate::state::place::Place;

/// Expected time of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedTime {
    pub time: Seconds,
    /// Interval of the time; `None` for a roof.
    pub range: Option<(Seconds, Seconds)>,
    /// Time at the roof.
    pub ideal: Seconds,
    /// Work of the kernel.
    pub flops: Flops,
    /// Source of the calibration factors; `None` for a roof.
    pub factors: Option<Provenance>,
}

impl ExpectedTime {
    const fn of(ideal: Seconds, expected: &Expected, flops: Flops) -> Self {
        let &Expected { time, low, high, provenance } = expected;
        Self { time, range: Some((low, high)), ideal, flops, factors: Some(provenance) }
    }

    /// The expected rate.
    pub fn rate(&self) -> FlopsPerSec {
        self.flops / self.time
    }

    /// Relative error; above 0 where the expectation is too slow.
    pub fn error(&self, record: &BenchRecord) -> f64 {
        self.time.get() / record.time_s.median - 1.0
    }

    /// Basis of the expectation, as a badge with its explanation.
    pub fn badge(&self) -> (&'static str, &'static str) {
        match self.factors {
            Some(sure) => (badge(sure), badge_meaning(sure)),
            None => ("roof", "the roof of the chosen device, without any factor"),
        }
    }
}

/// Expected time of a record at a place.
///
/// # Errors
/// Returns the reason as a sentence if there is no expectation.
pub fn expected(record: &BenchRecord, place: Place<'_>) -> Result<ExpectedTime, String> {
    match (&record.shape, &record.precision) {
        (Some(shape), Some(precision)) => {
            let shape = GemmShape { m: shape.m, n: shape.n, k: shape.k };
            operator(Operator::Gemm(shape), chosen(precision)?, place)
        }
        (None, Some(precision)) if !record.sizes.is_empty() => layer(record, precision, place),
        (Some(_), None) => Err("it has no formats".to_owned()),
        (None, _) => roof(record, place),
    }
}

/// Expected time of a product with the published calibration, if the place has its own.
pub fn before(record: &BenchRecord, place: Place<'_>) -> Option<ExpectedTime> {
    place.own.filter(|_| record.shape.is_some())?;
    expected(record, Place { own: None, ..place }).ok()
}

fn format(key: &str) -> Result<&'static QuantFormat, String> {
    catalog::format(key).map_err(|error: Error| refusal(&error))
}

/// The formats of a product.
fn chosen(precision: &Precision) -> Result<PrecisionChoice, String> {
    let activations = Some(format(&precision.activations)?);
    Ok(PrecisionChoice { activations, ..PrecisionChoice::weights(format(&precision.weights)?) })
}

fn operator(
    operator: Operator,
    precision: PrecisionChoice,
    place: Place<'_>,
) -> Result<ExpectedTime, String> {
    let found = analyze(&AnalyzeRequest {
        device: place.device,
        mode: place.mode,
        operator,
        precision,
        engine: None,
        calibration: place.calibration(),
    });
    let of = |found: Analysis| ExpectedTime::of(found.ideal, &found.expected, found.cost.flops);
    found.map(of).map_err(|error| refusal(&error))
}

/// A kernel of a layer beside its products, by its sizes.
fn layer(
    record: &BenchRecord,
    precision: &Precision,
    place: Place<'_>,
) -> Result<ExpectedTime, String> {
    let size = |name: &str| {
        record.sizes.get(name).copied().ok_or_else(|| format!("it has no size {name}"))
    };
    let (stored, carrier) = (format(&precision.weights)?, format(&precision.activations)?);
    let carried =
        PrecisionChoice { activations: Some(carrier), ..PrecisionChoice::weights(carrier) };
    let streamed = |kind, cost: OpCost| streamed(kind, cost, (stored, carrier), place);
    match BenchKind::ALL.into_iter().find(|kind| kind.key() == record.kernel) {
        Some(BenchKind::Attention) => {
            let (new, head_dim) = (size("new")?, size("head_dim")?);
            let shape = AttentionShape {
                batch: size("batch")?,
                heads: size("heads")?,
                kv_heads: size("kv_heads")?,
                qk_dim: head_dim,
                v_dim: head_dim,
                new,
                cached: size("context")?.saturating_sub(new),
                reach: Reach::All,
            };
            let attention = Operator::Attention { shape, fused: true };
            operator(attention, PrecisionChoice { kv_cache: Some(stored), ..carried }, place)
        }
        Some(BenchKind::Norm) => {
            let norm = Operator::AddNorm { tokens: size("tokens")?, hidden: size("width")? };
            operator(norm, carried, place)
        }
        Some(BenchKind::Gate) => {
            let (tokens, width) = (size("tokens")?, size("width")?);
            operator(Operator::Activation { tokens, width, gated: true }, carried, place)
        }
        Some(BenchKind::Rope) => {
            let width = size("heads")?.saturating_mul(size("head_dim")?);
            streamed(OpKind::Rotary, rotary(size("tokens")?, width, carrier))
        }
        Some(BenchKind::Embedding) => {
            let cost = embedding(size("tokens")?, size("width")?, stored, carrier);
            streamed(OpKind::Embedding, cost)
        }
        _ => Err("this page has no formula for it".to_owned()),
    }
}

fn streamed(
    kind: OpKind,
    cost: OpCost,
    (format, carrier): (&'static QuantFormat, &'static QuantFormat),
    place: Place<'_>,
) -> Result<ExpectedTime, String> {
    let (device, mode, calibration) = (place.device, place.mode, place.calibration());
    let found = stream(&StreamRequest { device, mode, kind, cost, format, carrier, calibration });
    let of = |(ideal, expected)| ExpectedTime::of(ideal, &expected, cost.flops);
    found.map(of).map_err(|error| refusal(&error))
}

/// Time at the roof of the device: bytes over bandwidth, or FLOP over the peak of the kernel's arithmetic.
fn roof(record: &BenchRecord, place: Place<'_>) -> Result<ExpectedTime, String> {
    let class = match record.kernel.as_str() {
        "read" | "copy" | "triad" => None,
        "fma_fp32" => Some(ComputeClass::Fp32),
        "dot_int8" => Some(ComputeClass::Int8),
        _ => return Err("it has no shape".to_owned()),
    };
    let roofs = Roofs::new(place.device, place.mode).map_err(|error| refusal(&error))?;
    let seconds = match class {
        None => record.bytes / roofs.bandwidth.get(),
        Some(class) => {
            let peak = roofs.peak(class);
            let missing = || format!("no {} peak of this device is known", class_name(class));
            record.flops / peak.ok_or_else(missing)?.get()
        }
    };
    let time = Seconds::new(seconds);
    Ok(ExpectedTime {
        time,
        range: None,
        ideal: time,
        flops: Flops::new(record.flops),
        factors: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::measure::answer::tests::{bare, layer_record, record};

    fn place() -> Place<'static> {
        Place::of(catalog::device("epyc_9654").expect("catalog key"))
    }

    #[test]
    fn kernels_without_a_shape_stand_beside_their_roof() {
        let device = place().device;
        let bandwidth = device.bandwidth.value.get();
        let peak = |class| device.peaks.get(class).map(|fact| fact.value.get());
        for (kernel, bytes, flops, seconds) in [
            ("read", 1e9, 0.0, Some(1e9 / bandwidth)),
            ("triad", 3e9, 1e9, Some(3e9 / bandwidth)),
            ("fma_fp32", 0.0, 1e9, peak(ComputeClass::Fp32).map(|peak| 1e9 / peak)),
            ("dot_int8", 0.0, 1e9, peak(ComputeClass::Int8).map(|peak| 1e9 / peak)),
            ("sort", 1.0, 1.0, None),
        ] {
            let record = bare(kernel, bytes, flops, 0.5);
            let found = expected(&record, place());
            assert_eq!(found.as_ref().ok().map(|it| it.time.get()), seconds, "{kernel}: {found:?}");
            if let (Ok(found), Some(seconds)) = (found, seconds) {
                assert!((found.error(&record) - (seconds / 0.5 - 1.0)).abs() < 1e-12);
                assert_eq!((found.range, found.badge().0), (None, "roof"));
            }
        }
    }

    #[test]
    fn kernels_of_a_layer_stand_beside_their_formula() {
        let bandwidth = place().device.bandwidth.value.get();
        // Bytes as the record counts them: each array once.
        for (kernel, sizes, formats, bytes) in [
            (
                "attention",
                &[
                    ("batch", 2),
                    ("heads", 8),
                    ("kv_heads", 2),
                    ("head_dim", 64),
                    ("new", 1),
                    ("context", 100),
                ][..],
                ("fp16", "fp32"),
                102_400.0 + 8192.0,
            ),
            ("norm", &[("tokens", 3), ("width", 10)], ("fp16", "fp16"), 240.0),
            ("gate", &[("tokens", 3), ("width", 10)], ("fp16", "fp16"), 180.0),
            ("rope", &[("tokens", 3), ("heads", 5), ("head_dim", 4)], ("fp32", "fp32"), 480.0),
            ("embedding", &[("tokens", 3), ("width", 10), ("vocab", 100)], ("bf16", "fp32"), 180.0),
        ] {
            let mut record = layer_record(kernel, sizes, formats);
            let found = expected(&record, place()).expect(kernel);
            let ideal = bytes / bandwidth;
            assert!((found.ideal.get() / ideal - 1.0).abs() < 1e-9, "{kernel}: {found:?}");
            let (low, high) = found.range.expect("an interval");
            assert!(found.ideal <= low && low <= found.time && found.time <= high, "{kernel}");
            record.sizes.remove(sizes[0].0);
            let why = expected(&record, place()).expect_err("a size is missing");
            assert!(why.contains(sizes[0].0), "{why}");
        }
        let later = layer_record("sort", &[("rows", 1)], ("fp32", "fp32"));
        assert!(expected(&later, place()).expect_err("unknown").contains("no formula"));
    }

    #[test]
    fn a_peak_that_nobody_knows_is_no_roof() {
        let device = catalog::device("t4").expect("catalog key");
        let without =
            calc_core::device::Device { peaks: calc_core::device::Peaks::NONE, ..device.clone() };
        let found = expected(&bare("dot_int8", 0.0, 1.0, 1.0), Place::of(&without));
        assert!(found.is_err_and(|why| why.contains("no INT8 peak")));
    }

    #[test]
    fn before_a_calibration_there_is_no_before() {
        assert_eq!(before(&record("int8", 0.001), place()), None);
        let without = BenchRecord { precision: None, ..record("int8", 0.001) };
        assert!(expected(&without, place()).is_err());
    }
}
