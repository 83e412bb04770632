//! What the model says of a row: its kernels once, and their times under any constants.

use calc_core::analysis::{AnalyzeRequest, analyze, streamed_format};
use calc_core::calibration::Calibration;
use calc_core::calibration::machine::{Kernel, Setting};
use calc_core::estimate::{EstimateRequest, WeightSize};
use calc_core::expected::Expected;
use calc_core::footprint::weight_bytes;
use calc_core::lowering::Step;
use calc_core::op::{OpCost, OpKind, Shape};
use calc_core::plan::Plan;
use calc_core::quant_format::QuantFormat;
use calc_core::roofline::{ComputePath, KernelTime};
use calc_core::units::{Bytes, Seconds};
use calc_core::workload::Workload;
use report::words::core_error;

use crate::row::{OperatorWork, Row, StepWork, Work};

/// A row with its kernels at the roof, ready for any constants.
#[derive(Debug, Clone)]
pub struct Prepared<'a> {
    /// The row.
    pub row: &'a Row,
    /// Sum of the ideal times.
    pub ideal: Seconds,
    kernels: Vec<Counted>,
    setting: Setting,
}

/// Kernels of one kind.
#[derive(Debug, Clone)]
pub struct Counted {
    /// Operator.
    pub kind: OpKind,
    /// How often.
    pub count: f64,
    /// What it is made for.
    pub shape: Shape,
    /// Format of what it streams.
    pub format: &'static QuantFormat,
    cost: OpCost,
    path: ComputePath,
    time: KernelTime,
}

/// Some kernels of a row at the roof, and what the model says of everything else [s].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Their memory time at the roof.
    pub memory: f64,
    /// Their compute time at the roof.
    pub compute: f64,
    /// How many they are.
    pub count: f64,
    /// The model's floors of them.
    pub floors: f64,
    /// The other kernels, and what a step costs outside its kernels.
    pub rest: f64,
}

impl<'a> Prepared<'a> {
    /// Lowers a row to kernels.
    ///
    /// # Errors
    /// What the model refuses, in words.
    pub fn new(row: &'a Row) -> Result<Self, String> {
        let (kernels, setting) = match &row.work {
            Work::Step(step) => step_kernels(row, step)?,
            Work::Operator(work) => operator_kernels(row, work)?,
        };
        let ideal = kernels.iter().map(|kernel| kernel.time.ideal() * kernel.count).sum();
        Ok(Self { row, ideal, kernels, setting })
    }

    /// All rows that can be lowered; the others go to the refused ones, line and reason, which are in order then.
    pub fn all(rows: &'a [Row], refused: &mut Vec<(u64, String)>) -> Vec<Self> {
        let mut prepared = Vec::new();
        for row in rows {
            match Self::new(row) {
                Ok(row) => prepared.push(row),
                Err(reason) => refused.push((row.line, reason)),
            }
        }
        refused.sort();
        prepared
    }

    /// Format of what its first kernel streams.
    pub fn first_format(&self) -> Option<&'static str> {
        self.kernels.first().map(|kernel| kernel.format.key)
    }

    /// Its kernels told apart: those that `is_about` picks, and the rest.
    pub fn part(&self, calibration: &Calibration, is_about: &dyn Fn(&Counted) -> bool) -> Part {
        let row = self.row;
        let tuned = calibration.tuned(&row.device, row.mode.as_ref(), row.engine);
        let mut part = Part { memory: 0.0, compute: 0.0, count: 0.0, floors: 0.0, rest: 0.0 };
        for counted in &self.kernels {
            let factors = tuned.factors(counted.kind, &self.kernel(counted));
            if is_about(counted) {
                part.memory += counted.time.memory.get() * counted.count;
                part.compute += counted.time.compute.get() * counted.count;
                part.count += counted.count;
                part.floors += factors.floor.get() * counted.count;
            } else {
                part.rest += Expected::of(counted.time, &factors).time.get() * counted.count;
            }
        }
        if let Setting::Step { batch, prefill } = self.setting {
            part.rest += tuned.step(batch, prefill).floor.get();
        }
        part
    }

    fn kernel<'k>(&'k self, counted: &'k Counted) -> Kernel<'k> {
        Kernel {
            shape: &counted.shape,
            cost: &counted.cost,
            path: &counted.path,
            time: counted.time,
            format: counted.format,
            setting: self.setting,
        }
    }

    /// The expected time under a calibration.
    pub fn expected(&self, calibration: &Calibration) -> Expected {
        let row = self.row;
        let tuned = calibration.tuned(&row.device, row.mode.as_ref(), row.engine);
        let mut sum = Expected::ZERO;
        for counted in &self.kernels {
            let kernel = self.kernel(counted);
            let factors = tuned.factors(counted.kind, &kernel);
            let mut one = Expected::of(counted.time, &factors);
            let least = tuned.least(&kernel);
            if one.time < least {
                one = one.times(least / one.time);
            }
            sum = sum.then(one.times(counted.count));
        }
        if let Setting::Step { batch, prefill } = self.setting {
            sum = sum.then(Expected::fixed(&tuned.step(batch, prefill)));
        }
        sum
    }

    /// The measurement implies more than the datasheet's roofs allow for the work as it is counted here.
    pub fn is_above_roof(&self) -> bool {
        self.row.measured < self.ideal
    }
}

fn step_kernels(row: &Row, work: &StepWork) -> Result<(Vec<Counted>, Setting), String> {
    let workload = Workload {
        context: work.cached,
        ..Workload::new(work.batch, work.new.max(work.cached).max(1))
    };
    let request = |weight_size| EstimateRequest {
        device: &row.device,
        mode: row.mode.as_ref(),
        model: work.arch,
        precision: work.precision,
        workload,
        weight_size,
        draft: None,
        engine: row.engine,
        calibration: &Calibration::FITTED,
    };
    let plan = |size| Plan::new(request(size)).map_err(|error| core_error(&error));
    let step = Step { phase: work.phase, new: work.new, ..Step::decode(work.batch, work.cached) };
    let mut used = plan(work.weight_size)?;
    if let Some(streamed) = work.streamed {
        // What is read of the weights is known better than from uniform routing and whole matrices.
        let mut read = Bytes::ZERO;
        used.kernels(step, &mut |op, _, _| {
            if op.kind != OpKind::Embedding {
                read += op.cost.traffic.weights * op.count as f64;
            }
        });
        let all = weight_bytes(work.arch, &used.precision) * used.weight_scale;
        used = plan(Some(WeightSize::Total(all * (streamed / read))))?;
    }
    let mut kernels = Vec::new();
    used.kernels(step, &mut |op, path, time| {
        if op.kind != OpKind::LmHead || !work.without_head {
            kernels.push(Counted {
                kind: op.kind,
                count: op.count as f64,
                shape: op.shape,
                cost: op.cost,
                path,
                time,
                format: op.format,
            });
        }
    });
    Ok((kernels, step.setting()))
}

fn operator_kernels(row: &Row, work: &OperatorWork) -> Result<(Vec<Counted>, Setting), String> {
    let answer = analyze(&AnalyzeRequest {
        device: &row.device,
        mode: row.mode.as_ref(),
        operator: work.operator,
        precision: work.precision,
        engine: row.engine,
        calibration: &Calibration::FITTED,
    })
    .map_err(|error| core_error(&error))?;
    let kernel = Counted {
        kind: work.operator.kind(),
        count: 1.0,
        shape: work.operator.shape(&answer.precision),
        cost: answer.cost,
        path: answer.path,
        time: answer.time,
        format: streamed_format(&work.operator, &answer.precision),
    };
    Ok((vec![kernel], Setting::Alone { block_scaled: work.block_scaled }))
}
