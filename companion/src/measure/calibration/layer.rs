//! Decode attention over a KV cache and the norm of a layer: the share of the bandwidth and the fixed time of each, so that the expected
//! time of a whole step rests on measurements of this machine.

use calc_core::calibration::FactorRow;
use calc_core::op::OpKind;
use calc_core::text::Text;
use kernels::backend::{AttentionSizes, Cache, Kernel, RowSizes, StoredFloat};
use protocol::sizes;
use report::output::json::bench::BenchJson;
use validation::own::{Fit, Point};
use validation::predict::TimedPart;

use super::{Calibrated, ONE, row, weights};

/// Formats of the KV cache: those that engines have unless another one is asked for.
const CACHES: [StoredFloat; 2] = [StoredFloat::Fp16, StoredFloat::Bf16];
/// Held-out context of attention, and held-out tokens of the norm.
const HELD_OUT_CONTEXT: u64 = 4096;
const HELD_OUT_TOKENS: u64 = 256;

/// The points to measure: heads and width of Llama-3.1-8B.
pub(super) fn points() -> impl Iterator<Item = (Kernel, Cache)> {
    let contexts = sizes::FITTED_CONTEXTS.into_iter().chain([HELD_OUT_CONTEXT]);
    let attention = CACHES.into_iter().flat_map(move |cache| {
        contexts.clone().map(move |context| {
            let (batch, heads, kv_heads, head_dim, new) = (1, 32, 8, 128, 1);
            Kernel::Attention(AttentionSizes {
                cache,
                batch,
                heads,
                kv_heads,
                head_dim,
                new,
                context,
            })
        })
    });
    let tokens = sizes::FITTED_TOKENS.into_iter().chain([HELD_OUT_TOKENS]);
    let carrier = StoredFloat::Fp16;
    let norms = tokens.map(move |tokens| Kernel::Norm(RowSizes { carrier, tokens, width: 4096 }));
    attention.chain(norms).map(|kernel| (kernel, Cache::Cold))
}

impl Calibrated {
    /// Fits attention by format of its cache, and the norm of all formats; what was not measured has no row.
    pub(super) fn add_layer(&mut self, records: &[BenchJson]) {
        for cache in CACHES {
            let format = Some(Text::Borrowed(cache.key()));
            let about = FactorRow { op: Some(OpKind::Attention), format, ..FactorRow::OPEN };
            let is_of = |record: &&BenchJson| {
                record.kernel == "attention" && weights(record) == Some(cache.key())
            };
            let errors = self.fitted(records, is_of, about);
            self.held_out_attention.extend(errors);
        }
        let about = FactorRow { op: Some(OpKind::AddNorm), ..FactorRow::OPEN };
        let errors = self.fitted(records, |record| record.kernel == "norm", about);
        self.held_out_norms.extend(errors);
    }

    /// Adds the row of some records; returns the errors of the held-out ones.
    fn fitted(
        &mut self,
        records: &[BenchJson],
        is_of: impl Fn(&&BenchJson) -> bool,
        about: FactorRow,
    ) -> Vec<f64> {
        let bandwidth = self.read;
        let point = |it: &BenchJson| Point {
            part: TimedPart { memory: it.bytes / bandwidth, ..ONE },
            tokens: None,
            measured: it.time_s.median,
        };
        let (fitted, judged): (Vec<&BenchJson>, Vec<&BenchJson>) =
            records.iter().filter(is_of).partition(|it| sizes::is_fitted(&it.kernel, &it.sizes));
        let (fitted, judged): (Vec<Point>, Vec<Point>) =
            (fitted.into_iter().map(point).collect(), judged.into_iter().map(point).collect());
        let Some(fit) = Fit::with_floor(&fitted, true) else { return Vec::new() };
        let fit = Fit { memory: fit.memory.map(|slower| slower.max(1.0)), ..fit };
        let errors = judged.iter().map(|it| fit.time(it) / it.measured - 1.0).collect();
        self.rows.push(row(&fit, &[fitted, judged].concat(), about));
        errors
    }
}
