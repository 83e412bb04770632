//! `bench sweep --no-measure`: the points of a sweep as `analyze` predicts them for a device, in the lines of `analyze --jsonl` with kernel
//! and cache of the point.

use clap::{Arg, ArgAction, ArgMatches};
use kernels::backend::{Cache, GemmShape, GemvShape, Kernel};
use report::input::request::{AnalyzeInputs, Fields, Library, RequestError};
use report::output::json::analyze::AnalyzeJson;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::weight_files;

/// The flag of predictions.
pub(super) fn argument() -> Arg {
    Arg::new("no-measure")
        .long("no-measure")
        .action(ArgAction::SetTrue)
        .requires("hardware")
        .conflicts_with_all(["iterations", "time-limit", "warm-up", "threads", "isa", "seed"])
        .help("Predict the points for --hardware and measure nothing")
}

/// The device of the predictions.
pub(super) struct Predicted {
    hardware: String,
    /// Its key in the catalog, or the name of its file.
    key: String,
}

impl Predicted {
    /// Reads the flags; `None` without `--no-measure`.
    ///
    /// # Errors
    /// A device that is unknown.
    pub(super) fn of(matches: &ArgMatches) -> Result<Option<Self>, Failure> {
        let hardware =
            matches.get_one::<String>("hardware").filter(|_| matches.get_flag("no-measure"));
        let Some(hardware) = hardware else { return Ok(None) };
        let files = weight_files::user_files();
        let key = Library::with_files(&files).device(hardware)?.key.to_string();
        Ok(Some(Self { hardware: hardware.clone(), key }))
    }

    /// The way in which the points come about.
    pub(super) fn way(&self) -> String {
        way(&self.key)
    }

    /// The line of a point.
    ///
    /// # Errors
    /// Formats that the device has no peak for.
    pub(super) fn record(&self, kernel: Kernel, cache: Cache) -> Result<Value, RequestError> {
        let (sides, weights, activations) = match kernel {
            Kernel::Gemv(GemvShape { layout, m, n, k }) => ([m, n, k], layout.key(), None),
            Kernel::Gemm(GemmShape { element, m, n, k }) => {
                ([m, n, k], element.key(), Some(element.key()))
            }
            _ => unreachable!("a sweep has products alone"),
        };
        let sides = sides.map(|side| side.to_string());
        let [m, n, k] = [&*sides[0], &*sides[1], &*sides[2]];
        let own =
            [("hardware", &*self.hardware), ("m", m), ("n", n), ("k", k), ("weights", weights)];
        let inputs = activations.map(|format| ("activations", format));
        let fields = Fields::from_texts(own.into_iter().chain(inputs));
        let files = weight_files::user_files();
        let inputs = AnalyzeInputs::parse(fields, &Library::with_files(&files))?;
        let mut record = json!(AnalyzeJson::new(&inputs, &inputs.analyze()?));
        record["kernel"] = kernel.key().into();
        record["cache"] = cache.key().into();
        record["measured"] = false.into();
        Ok(record)
    }
}

fn way(key: &str) -> String {
    format!("predictions for {key}")
}

/// The way of a line that is a prediction.
pub(super) fn way_of_record(record: &Value) -> Option<String> {
    let is_prediction = record["measured"] == false;
    record["hardware"]["key"].as_str().filter(|_| is_prediction).map(way)
}
