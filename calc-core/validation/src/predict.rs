//! Predicts a row: it is lowered to kernels once and timed under any constants.

use calc_core::analysis::streamed_format;
use calc_core::calibration::Calibration;
use calc_core::calibration::machine::{Kernel, Setting};
use calc_core::expected::Expected;
use calc_core::op::{OpCost, OpKind, Shape};
use calc_core::plan::Plan;
use calc_core::quant_format::QuantFormat;
use calc_core::roofline::{ComputePath, KernelTime};
use calc_core::units::Seconds;
use report::input::request::RequestError;

use crate::row::{OperatorWork, PublishedRow, StepWork, Work};

/// A row with its kernels and their ideal times, ready for any constants.
#[derive(Debug, Clone)]
pub struct Prepared<'a> {
    /// The measurement.
    pub row: &'a PublishedRow,
    /// Sum of the kernels' ideal times.
    pub ideal: Seconds,
    lowered: Lowered,
}

/// The kernels of a row and their setting.
#[derive(Debug, Clone)]
struct Lowered {
    kernels: Vec<Counted>,
    setting: Setting,
    /// Formats of layers and experts, or of the data that an operator streams.
    stored: (&'static QuantFormat, &'static QuantFormat),
}

/// Kernels of one kind.
#[derive(Debug, Clone)]
pub struct Counted {
    pub kind: OpKind,
    /// Instances per step.
    pub count: f64,
    /// Shape of one instance.
    pub shape: Shape,
    /// Format of the data it streams.
    pub format: &'static QuantFormat,
    cost: OpCost,
    path: ComputePath,
    time: KernelTime,
}

/// The ideal times of some kernels of a row, and the model's time of everything else [s].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimedPart {
    /// Ideal memory time.
    pub memory: f64,
    /// Ideal compute time.
    pub compute: f64,
    /// Number of kernels.
    pub count: f64,
    /// Fixed times of these kernels in the model.
    pub floors: f64,
    /// Expected time of the other kernels, and the overhead of the step.
    pub rest: f64,
}

impl<'a> Prepared<'a> {
    /// Lowers a row to kernels.
    ///
    /// # Errors
    /// A message about a request that the model refuses.
    pub fn new(row: &'a PublishedRow) -> Result<Self, String> {
        let lowered = match &row.work {
            Work::Step(step) => step_kernels(step),
            Work::Operator(work) => operator_kernels(work),
        };
        let lowered = lowered.map_err(|error| error.to_string())?;
        let ideal = lowered.kernels.iter().map(|kernel| kernel.time.ideal() * kernel.count).sum();
        Ok(Self { row, ideal, lowered })
    }

    /// All rows that can be lowered; the others are added to `refused` with line and reason, in order.
    pub fn all(rows: &'a [PublishedRow], refused: &mut Vec<(u64, String)>) -> Vec<Self> {
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

    /// Key of the format of the layers, or of the data that an operator streams.
    pub const fn weights(&self) -> &'static str {
        self.lowered.stored.0.key
    }

    /// Separates the kernels selected by `is_about` from the others.
    pub fn part(
        &self,
        calibration: &Calibration,
        is_about: &dyn Fn(&Counted) -> bool,
    ) -> TimedPart {
        let row = self.row;
        let tuned =
            calibration.tuned(&row.device, row.mode.as_ref(), row.engine, self.lowered.stored);
        let mut part = TimedPart { memory: 0.0, compute: 0.0, count: 0.0, floors: 0.0, rest: 0.0 };
        for counted in &self.lowered.kernels {
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
        if let Setting::Step { batch, prefill } = self.lowered.setting {
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
            setting: self.lowered.setting,
        }
    }

    /// The expected time under a calibration.
    pub fn expected(&self, calibration: &Calibration) -> Expected {
        let row = self.row;
        let tuned =
            calibration.tuned(&row.device, row.mode.as_ref(), row.engine, self.lowered.stored);
        let mut sum = Expected::ZERO;
        for counted in &self.lowered.kernels {
            let kernel = self.kernel(counted);
            let factors = tuned.factors(counted.kind, &kernel);
            sum = sum.then(Expected::of(counted.time, &factors).times(counted.count));
        }
        if let Setting::Step { batch, prefill } = self.lowered.setting {
            sum = sum.then(Expected::fixed(&tuned.step(batch, prefill)));
        }
        sum
    }

    /// True if the measurement implies more than the datasheet's roofs allow for the work as counted here.
    pub fn is_above_roof(&self) -> bool {
        self.row.measured < self.ideal
    }
}

fn step_kernels(work: &StepWork) -> Result<Lowered, RequestError> {
    let plan = Plan::new(work.inputs.request()?)?;
    let step = work.step();
    let mut kernels = Vec::new();
    plan.kernels(step, &mut |op, path, time| {
        kernels.push(Counted {
            kind: op.kind,
            count: op.count as f64,
            shape: op.shape,
            cost: op.cost,
            path,
            time,
            format: op.format,
        });
    });
    Ok(Lowered { kernels, setting: step.setting(), stored: plan.precision.stored() })
}

fn operator_kernels(work: &OperatorWork) -> Result<Lowered, RequestError> {
    let (operator, answer) = (work.inputs.operator, work.inputs.analyze()?);
    let format = streamed_format(&operator, &answer.precision);
    let kernel = Counted {
        kind: operator.kind(),
        count: 1.0,
        shape: operator.shape(&answer.precision),
        cost: answer.cost,
        path: answer.path,
        time: answer.time,
        format,
    };
    Ok(Lowered { kernels: vec![kernel], setting: Setting::Alone, stored: (format, format) })
}
