//! A step in full: its sums, its operators by name, and what limits it.

use alloc::vec::Vec;

use super::Plan;
use super::totals::StepTotals;
use crate::expected::Expected;
use crate::lowering::{Step, parts_of};
use crate::model_arch::LayerPart;
use crate::op::OpKind;
use crate::roofline::{Bound, ComputePath, Roofline};
use crate::units::{Bytes, Flops, FlopsPerByte, FlopsPerSec, Seconds};

/// Operators of one name, summed over their instances; or the time of a step outside its kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpRow {
    pub kind: OpKind,
    /// Number of instances.
    pub count: u64,
    /// Sums over the instances.
    pub totals: StepTotals,
    /// The peak they run on.
    pub path: ComputePath,
}

/// The operators of a part of all layers that have it.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerRow {
    pub part: LayerPart,
    /// Sums over the operators of this part of all layers.
    pub totals: StepTotals,
    /// Rows by name, in the order of a layer.
    pub operators: Vec<OpRow>,
}

/// The full estimate of one phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseEstimate {
    /// Sums over the operators; `expected` includes the time on links.
    pub totals: StepTotals,
    /// The limiting resource at the roof.
    pub bound: Bound,
    /// The limiting resource at the shares that kernels reach.
    pub expected_bound: Bound,
    /// Expected time of the phase if each operator moved half of its bytes.
    pub half_bytes: Seconds,
    /// Ridge of the layers' matmuls.
    pub ridge: FlopsPerByte,
    /// Model FLOP utilization: share of the device's compute peak used in the expected time. The peak is that of the layers' matmuls,
    /// or of an operator on a faster one.
    pub mfu: f64,
    /// Model bandwidth utilization: share of the device's bandwidth that weights and KV cache use in the expected time.
    pub mbu: f64,
    /// Rows by name, in the order of a layer; the time of a step outside its kernels, and on links, comes last.
    pub operators: Vec<OpRow>,
    /// Sums over the operators of each part of the layers. The first row is the model outside its layers; it includes the time of a
    /// step outside its kernels, and on links.
    pub layers: Vec<LayerRow>,
}

impl PhaseEstimate {
    /// Fraction of the expected time saved by halving the bytes.
    pub fn half_bytes_save(&self) -> f64 {
        1.0 - self.half_bytes / self.totals.expected.time
    }
}

impl Plan<'_> {
    /// The full estimate of a step.
    pub fn phase(&self, step: Step) -> PhaseEstimate {
        let mut operators: Vec<OpRow> = Vec::with_capacity(24);
        let mut layers: Vec<LayerRow> = Vec::with_capacity(8);
        let mut totals = StepTotals::nothing();
        let mut half_bytes = Seconds::ZERO;
        let (mut streamed, mut computed) = (Bytes::ZERO, Flops::ZERO);
        let setting = step.setting();
        self.lowering().step(step, &mut |op| {
            let path = self.path(op.path);
            let parts = parts_of(self.model(), &op);
            let all = row(&mut operators, op.kind, path);
            operators[all].count += op.count;
            let places = parts.map(|(part, count)| {
                (count > 0).then(|| {
                    let layer = layer_row(&mut layers, part);
                    let of = row(&mut layers[layer].operators, op.kind, path);
                    layers[layer].operators[of].count += count;
                    (layer, of, count as f64)
                })
            });
            self.placed(&op, step, &mut |times, count| {
                totals.add(times, count);
                streamed += times.streamed() * count;
                computed += times.computed() * count;
                half_bytes += Expected::with_half_the_bytes(times.time, &times.factors) * count;
                operators[all].totals.add(times, count);
                for (layer, row, of) in places.into_iter().flatten() {
                    let (layer, count) = (&mut layers[layer], count * of / op.count as f64);
                    layer.totals.add(times, count);
                    layer.operators[row].totals.add(times, count);
                }
            });
        });
        let overhead = StepTotals::outside_kernels(self.overhead(setting));
        let links = StepTotals::on_links(self.link_expected(step));
        for (kind, outside) in [(OpKind::Step, overhead), (OpKind::Links, links)] {
            totals = totals.then(&outside);
            half_bytes += outside.expected.time;
            if outside.expected.time > Seconds::ZERO {
                let row = OpRow { kind, count: 1, totals: outside, path: self.paths.carrier };
                let whole = layer_row(&mut layers, LayerPart::WHOLE);
                let whole = &mut layers[whole];
                whole.totals = whole.totals.then(&outside);
                whole.operators.push(row);
                operators.push(row);
            }
        }
        let roofline = Roofline { peak: self.paths.layer.peak, bandwidth: self.roofs.bandwidth };
        let peak = fastest_peak(roofline.peak, &operators);
        PhaseEstimate {
            bound: totals.time.bound(),
            expected_bound: totals.reached.bound(),
            half_bytes,
            ridge: roofline.ridge(),
            mfu: (computed / peak) / totals.expected.time,
            mbu: (streamed / roofline.bandwidth) / totals.expected.time,
            totals,
            operators,
            layers,
        }
    }
}

/// Index of the row of a kind of operator, which is added if there is none.
fn row(rows: &mut Vec<OpRow>, kind: OpKind, path: ComputePath) -> usize {
    let found = rows.iter().position(|row| row.kind == kind);
    found.unwrap_or_else(|| {
        rows.push(OpRow { kind, count: 0, totals: StepTotals::nothing(), path });
        rows.len() - 1
    })
}

/// Index of the row of a part of layers, which is added if there is none. Operators of a part follow each other, so the search
/// begins at the end.
fn layer_row(rows: &mut Vec<LayerRow>, part: LayerPart) -> usize {
    let found = rows.iter().rposition(|row| row.part == part);
    found.unwrap_or_else(|| {
        rows.push(LayerRow { part, totals: StepTotals::nothing(), operators: Vec::new() });
        rows.len() - 1
    })
}

/// The peak of the layers' matmuls, or a higher one that other operators use: experts in a narrower format, attention beside
/// FP32 weights.
fn fastest_peak(layers: FlopsPerSec, operators: &[OpRow]) -> FlopsPerSec {
    let computes = |row: &&OpRow| row.totals.cost.flops > Flops::ZERO;
    operators.iter().filter(computes).fold(layers, |peak, row| peak.max(row.path.peak))
}
