//! Published runs with a part of the model on the host: their prediction, and its errors.

use calc_core::lowering::Step;
use calc_core::plan::{Plan, Span};
use calc_core::tiers::{HostFactors, Placement};
use calc_core::units::Seconds;
use report::input::request::{EstimateInputs, Fields, Library};

/// The published runs.
pub const ROWS: &str = include_str!("../data/two-tiers.csv");

/// Purpose of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// The constants are fitted on it.
    Fit,
    /// It is only predicted.
    Predict,
}

/// A published run.
#[derive(Debug)]
pub struct SplitRun {
    pub id: String,
    pub usage: Use,
    /// Tokens per second that the source states.
    pub measured: f64,
    inputs: EstimateInputs,
    placement: Placement,
    step: Step,
}

/// Reads the runs.
///
/// # Errors
/// The row that is not understood, with the reason.
pub fn read(text: &str) -> Result<Vec<SplitRun>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let rows = reader.records().map(|record| {
        let record = record.map_err(|error| error.to_string())?;
        let cell = |name: &str| {
            let place = header.iter().position(|column| column == name);
            place.and_then(|place| record.get(place)).unwrap_or_default().to_owned()
        };
        row(&cell).map_err(|reason| format!("{}: {reason}", cell("id")))
    });
    rows.collect()
}

fn row(cell: &dyn Fn(&str) -> String) -> Result<SplitRun, String> {
    const FIELDS: [(&str, &str); 6] = [
        ("hardware", "device_key"),
        ("host", "host"),
        ("host_memory_gb", "host_memory_gb"),
        ("host_link", "host_link"),
        ("model", "model_key"),
        ("weights", "weight_format"),
    ];
    let cells: Vec<(&str, String)> =
        FIELDS.iter().map(|(key, column)| (*key, cell(column))).collect();
    let given = cells.iter().filter(|(_, text)| !text.is_empty());
    let fields = Fields::from_texts(given.map(|(key, text)| (*key, text.as_str())));
    let inputs =
        EstimateInputs::parse(fields, &Library::CATALOGS).map_err(|error| error.to_string())?;
    let count = |name: &str| -> Result<u64, String> {
        cell(name).parse().map_err(|error| format!("{name}: {error}"))
    };
    let step = match cell("phase").as_str() {
        "decode" => Step::decode(1, count("context_len")?),
        "prefill" => Step::prefill(1, count("prompt_len")?),
        other => return Err(format!("phase is {other}")),
    };
    let usage = match cell("use").as_str() {
        "fit" => Use::Fit,
        "predict" => Use::Predict,
        other => return Err(format!("use is {other}")),
    };
    let placement = match count("feed_forward_on_host")? {
        0 => Placement::of_layers(count("layers_on_host")?, &inputs.model.arch),
        feed_forward => Placement::of_feed_forward(feed_forward),
    };
    let measured = cell("token_per_s").parse().map_err(|error| format!("token_per_s: {error}"))?;
    Ok(SplitRun { id: cell("id"), usage, measured, inputs, placement, step })
}

impl SplitRun {
    /// The predicted rate [token/s]; with other constants than the committed ones where some are given.
    ///
    /// # Errors
    /// A request that the model refuses.
    pub fn predicted(&self, factors: Option<HostFactors>) -> Result<f64, String> {
        Ok(self.step.tokens() as f64 / self.span(factors)?.expected.time.get())
    }

    /// The predicted times of the step.
    ///
    /// # Errors
    /// A request that the model refuses.
    pub fn span(&self, factors: Option<HostFactors>) -> Result<Span, String> {
        let request = self.inputs.request().map_err(|error| error.to_string())?;
        let mut plan = Plan::new(request).map_err(|error| format!("{error:?}"))?;
        plan.set_placement(self.placement);
        if let Some(factors) = factors {
            plan.set_host_factors(factors);
        }
        Ok(plan.timed_step(self.step).span())
    }

    /// The time of the step that the source states.
    pub fn measured_time(&self) -> Seconds {
        Seconds::new(self.step.tokens() as f64 / self.measured)
    }
}

/// Relative errors of the predicted times, of the rows for one use.
///
/// # Errors
/// A row that the model refuses.
pub fn errors(
    rows: &[SplitRun],
    usage: Use,
    factors: Option<HostFactors>,
) -> Result<Vec<f64>, String> {
    let rows = rows.iter().filter(|row| row.usage == usage);
    rows.map(|row| Ok((row.measured / row.predicted(factors)? - 1.0).abs())).collect()
}

/// Median of some errors.
pub fn median(mut errors: Vec<f64>) -> f64 {
    errors.sort_by(f64::total_cmp);
    let middle = errors.len() / 2;
    let at = |place: usize| errors.get(place).copied().unwrap_or(f64::NAN);
    if errors.len().is_multiple_of(2) {
        f64::midpoint(at(middle - 1), at(middle))
    } else {
        at(middle)
    }
}
