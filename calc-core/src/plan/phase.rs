//! A step in full: its sums, its operators by name, and what limits it.

use alloc::vec::Vec;

use super::Plan;
use super::totals::StepTotals;
use crate::expected::{Expected, reached};
use crate::lowering::Step;
use crate::op::OpKind;
use crate::roofline::{Bound, ComputePath, KernelTime, Roofline};
use crate::units::{Flops, FlopsPerByte, FlopsPerSec, Seconds};

/// Operators of one name, summed over their instances; or what a step takes outside its kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpRow {
    /// Name.
    pub kind: OpKind,
    /// Instances.
    pub count: u64,
    /// Totals over them.
    pub totals: StepTotals,
    /// Peak they run on.
    pub path: ComputePath,
}

/// One phase in full.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseEstimate {
    /// Sums over the operators; `expected` with the time on links.
    pub totals: StepTotals,
    /// What limits.
    pub bound: Bound,
    /// What limits at the shares that kernels reach.
    pub expected_bound: Bound,
    /// Expected time of the phase with half of the bytes in each operator.
    pub half_bytes: Seconds,
    /// Where the roofs of the layers' matmuls meet.
    pub ridge: FlopsPerByte,
    /// Share of the compute peak that the expected time uses: the peak of the layers' matmuls, or of an operator on a faster one.
    pub mfu: f64,
    /// Share of the bandwidth that weights and KV cache use in the expected time.
    pub mbu: f64,
    /// Rows by name, in the order of a layer; what a step takes outside its kernels, and on links, comes last.
    pub operators: Vec<OpRow>,
}

impl PhaseEstimate {
    /// Share of the expected time that half of the bytes would save.
    pub fn half_bytes_save(&self) -> f64 {
        1.0 - self.half_bytes / self.totals.expected.time
    }
}

impl Plan<'_> {
    /// A step in full.
    pub fn phase(&self, step: Step) -> PhaseEstimate {
        let mut operators: Vec<OpRow> = Vec::with_capacity(24);
        let mut totals = StepTotals::nothing();
        let mut kernels = KernelTime::ZERO;
        let mut half_bytes = Seconds::ZERO;
        let setting = step.setting();
        self.lowering().step(step, &mut |op| {
            let (times, count) = (self.times(&op, setting), op.count as f64);
            totals.add(&times, count);
            kernels = kernels.plus(reached(times.time, &times.factors).times(count));
            half_bytes += Expected::with_half_the_bytes(times.time, &times.factors) * count;
            let row = operators.iter_mut().find(|row| row.kind == op.kind);
            if let Some(row) = row {
                row.count += op.count;
                row.totals.add(&times, count);
            } else {
                let mut row = OpRow {
                    kind: op.kind,
                    count: op.count,
                    totals: StepTotals::nothing(),
                    path: self.path(op.path),
                };
                row.totals.add(&times, count);
                operators.push(row);
            }
        });
        let overhead = StepTotals::outside_kernels(self.overhead(setting));
        let links = StepTotals {
            floors: Seconds::ZERO,
            ..StepTotals::outside_kernels(self.link_expected(step))
        };
        for (kind, outside) in [(OpKind::Step, overhead), (OpKind::Links, links)] {
            totals = totals.then(&outside);
            half_bytes += outside.expected.time;
            if outside.expected.time > Seconds::ZERO {
                operators.push(OpRow { kind, count: 1, totals: outside, path: self.paths.carrier });
            }
        }
        let roofline = Roofline { peak: self.paths.layer.peak, bandwidth: self.roofs.bandwidth };
        let peak = fastest_peak(roofline.peak, &operators);
        let streamed = totals.cost.traffic.weights + totals.cost.traffic.kv_cache;
        PhaseEstimate {
            bound: totals.time.bound(),
            expected_bound: kernels.bound(),
            half_bytes,
            ridge: roofline.ridge(),
            mfu: (totals.cost.flops / peak) / totals.expected.time,
            mbu: (streamed / roofline.bandwidth) / totals.expected.time,
            totals,
            operators,
        }
    }
}

/// The peak of the layers' matmuls, or a higher one that other operators run on: experts in a narrower format, attention beside
/// FP32 weights.
fn fastest_peak(layers: FlopsPerSec, operators: &[OpRow]) -> FlopsPerSec {
    let computes = |row: &&OpRow| row.totals.cost.flops > Flops::ZERO;
    operators.iter().filter(computes).fold(layers, |peak, row| peak.max(row.path.peak))
}
