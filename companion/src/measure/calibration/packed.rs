//! Products of 2 to 16 tokens with packed weights: their points, and for each format the share of the peak that they reach.
//!
//! Few tokens are bound by memory, and the points that are tell nothing of the arithmetic. The others make a line through the tokens:
//!
//! ```text
//! t = max(t_mem, 2·N·K · (M + extra) / (eta_compute · peak)) + floor
//! ```
//!
//! A kernel that unpacks weights for four tokens at once makes steps and no line; the interval holds how far they are apart.

use calc_core::calibration::{FactorRow, Tokens};
use calc_core::catalog;
use calc_core::math::{exp, ln};
use calc_core::quant_format::ComputeClass;
use calc_core::roofline::Roofs;
use calc_core::text::Text;
use kernels::backend::{BackendKind, Cache, GemvShape, Kernel};
use kernels::pack::Layout;
use protocol::bench::Shape;
use report::output::json::bench::BenchJson;
use validation::own::{Fit, Point};
use validation::predict::TimedPart;
use validation::waves::ABOVE_MEMORY;

use super::fits::{Fits, FittedRow, ONE, fitted, product, with};
use super::{LAYOUTS, roofs, weights};

/// M, N and K of the held-out point, which each third format has.
pub(super) const HELD_OUT: (u64, u64, u64) = (9, 4096, 4096);
/// Numbers of extra tokens that are tried: none, then from 0.1 on in steps of 10 %.
const EXTRA_TOKENS: [f64; 76] = {
    let mut all = [0.0; 76];
    let (mut at, mut extra) = (1, 0.1);
    while at < all.len() {
        all[at] = extra;
        extra *= 1.1;
        at += 1;
    }
    all
};

/// The points to measure.
pub(super) fn points() -> impl Iterator<Item = (Kernel, Cache)> {
    LAYOUTS.into_iter().enumerate().flat_map(|(index, layout)| {
        let judge = (index % 3 == 0).then_some(HELD_OUT);
        Shape::FITTED_FEW
            .into_iter()
            .chain(judge)
            .map(move |(m, n, k)| (Kernel::Gemv(GemvShape { layout, m, n, k }), Cache::Cold))
    })
}

impl Fits<'_> {
    /// Fits the share of the peak of a format, and writes it for each peak that a prediction may use for it.
    pub(super) fn add_packed(&mut self, layout: Layout) {
        let records = self.records;
        let about =
            self.about(|it| it.kernel == "gemm_packed" && weights(it) == Some(layout.key()));
        let classes = self.classes(layout, &about);
        let Some(peak) = classes.first().and_then(|own| roofs::peak(records, *own)) else { return };
        let (slower, floor) = self.memory_of(layout.format().key);
        let bandwidth = self.read;
        let point = |it: &BenchJson| Point {
            part: TimedPart {
                memory: it.bytes / bandwidth,
                compute: it.flops / peak,
                floors: floor,
                ..ONE
            },
            tokens: it.shape.map(|shape| shape.m as f64),
            measured: it.time_s.median,
        };
        let fit = arithmetic(&fitted(&about, point), slower);
        for class in classes {
            let Some(counted) = roofs::peak(records, class) else { continue };
            let times = counted / peak;
            let fit = Fit { compute: fit.compute.map(|slower| (slower * times).max(1.0)), ..fit };
            // Memory and floor are those of one token, which have their row.
            let row = FactorRow {
                format: Some(Text::Borrowed(layout.format().key)),
                compute: Some(class),
                tokens: Some(Tokens::Few),
                ..product()
            };
            self.rows.push(FittedRow { factors: with(&fit, row), about: about.clone() });
        }
    }

    /// The peaks that predictions count for a format, first the one of the measured products: weights in 4 bits with 16-bit activations are
    /// multiplied in FP32 by the rules of a processor, and a GPU takes activations in FP16 or BF16.
    fn classes(&self, layout: Layout, about: &[&BenchJson]) -> Vec<ComputeClass> {
        if roofs::backend(self.records) != BackendKind::Cuda {
            let of_integers = [ComputeClass::Int8, ComputeClass::Fp32];
            let is_quantized = layout.quantizes_input();
            return of_integers[usize::from(!is_quantized)..].to_vec();
        }
        let activations = about.iter().find_map(|record| record.precision.as_ref());
        let path = activations.and_then(|precision| {
            let input = catalog::format(&precision.activations).ok()?;
            Roofs::new(self.device, None).ok()?.compute_path(layout.format(), input).ok()
        });
        match path.map(|path| path.class) {
            Some(ComputeClass::Fp16) => vec![ComputeClass::Fp16, ComputeClass::Bf16],
            Some(ComputeClass::Bf16) => vec![ComputeClass::Bf16, ComputeClass::Fp16],
            Some(own) => vec![own],
            None => Vec::new(),
        }
    }
}

/// The slowdown of arithmetic and the extra tokens, from the points that memory does not bound; the peak itself where it bounds all.
fn arithmetic(fitted: &[Point], memory: f64) -> Fit {
    let bound: Vec<(f64, f64, f64)> = fitted
        .iter()
        .filter(|it| it.measured > ABOVE_MEMORY * (memory * it.part.memory + it.part.floors))
        .filter_map(|it| Some((it.tokens?, it.part.compute, it.measured - it.part.floors)))
        .collect();
    // One point tells nothing of extra tokens.
    let choices: &[f64] = if bound.len() > 1 { &EXTRA_TOKENS } else { &[0.0] };
    let line = |extra: f64| {
        let slower = |(tokens, compute, time): &(f64, f64, f64)| {
            ln(time / (compute * (1.0 + extra / tokens)))
        };
        let mean = bound.iter().map(slower).sum::<f64>() / bound.len() as f64;
        let spread: f64 = bound.iter().map(|it| (slower(it) - mean) * (slower(it) - mean)).sum();
        (spread, exp(mean), extra)
    };
    let lines = choices.iter().map(|extra| line(*extra)).filter(|_| !bound.is_empty());
    let best = lines.min_by(|a, b| a.0.total_cmp(&b.0));
    let (slower, extra) = best.map_or((1.0, 0.0), |(_, slower, extra)| (slower.max(1.0), extra));
    Fit { memory: None, compute: Some(slower), extra: Some(extra), floor: None }
}
