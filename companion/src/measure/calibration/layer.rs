//! Decode attention over a KV cache and the norm of a layer: the share of the bandwidth and the fixed time of each, so that the expected
//! time of a whole step rests on measurements of this machine.

use calc_core::calibration::FactorRow;
use calc_core::op::OpKind;
use calc_core::text::Text;
use kernels::backend::{Cache, Kernel, StoredFloat};
use protocol::bench::BenchKind;
use protocol::sizes::{self, FITTED, FittedSizes, KernelSize};
use report::output::json::bench::BenchJson;
use validation::own::{Fit, Point};
use validation::predict::TimedPart;

use super::fits::{Fits, FittedRow, ONE, fitted, with};
use super::weights;
use crate::measure::layers;

/// Formats of the KV cache: those that engines have unless another one is asked for.
const CACHES: [StoredFloat; 2] = [StoredFloat::Fp16, StoredFloat::Bf16];
/// Format of the values between operators that the norm reads and writes.
const CARRIER: StoredFloat = StoredFloat::Fp16;

/// The points to measure.
pub(super) fn points() -> impl Iterator<Item = (Kernel, Cache)> {
    FITTED.iter().flat_map(|of| {
        let formats = if of.kind == BenchKind::Attention { &CACHES[..] } else { &[CARRIER] };
        let values = of.fitted.into_iter().chain([of.held_out]);
        formats.iter().flat_map(move |float| {
            values.clone().map(move |value| (kernel(of, value, *float), Cache::Cold))
        })
    })
}

/// The kernel with a value of the size that varies.
///
/// # Panics
/// Never: usual sizes are possible, which a test of the points shows.
fn kernel(of: &FittedSizes, value: u64, float: StoredFloat) -> Kernel {
    let size = |size: &KernelSize| {
        let value = if size.name == of.varied { value } else { size.usual };
        (size.name.to_owned(), value)
    };
    let given = sizes::sizes(of.kind).iter().map(size).collect();
    layers::kernel(of.kind, &given, float).expect("usual sizes are possible")
}

impl Fits<'_> {
    /// Fits attention by format of its cache, and the norm of all formats; what was not measured has no row.
    pub(super) fn add_layer(&mut self) {
        for cache in CACHES {
            let format = Some(Text::Borrowed(cache.key()));
            let row = FactorRow { op: Some(OpKind::Attention), format, ..FactorRow::OPEN };
            self.add(|it| it.kernel == "attention" && weights(it) == Some(cache.key()), row);
        }
        let row = FactorRow { op: Some(OpKind::AddNorm), ..FactorRow::OPEN };
        self.add(|it| it.kernel == "norm", row);
    }

    /// Adds the row of some records.
    fn add(&mut self, is_of: impl Fn(&BenchJson) -> bool, row: FactorRow) {
        let bandwidth = self.read;
        let point = |it: &BenchJson| Point {
            part: TimedPart { memory: it.bytes / bandwidth, ..ONE },
            tokens: None,
            measured: it.time_s.median,
        };
        let about = self.about(is_of);
        if let Some(fit) = Fit::with_floor(&fitted(&about, point), true) {
            let fit = Fit { memory: fit.memory.map(|slower| slower.max(1.0)), ..fit };
            self.rows.push(FittedRow { factors: with(&fit, row), about });
        }
    }
}
