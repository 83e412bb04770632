//! Files of benchmarks and profilers: whole runs, and kernels of a profile.

use clap::ArgMatches;
use report::input::measurements;
use report::input::request::{Library, MeasuredInputs};
use report::output::json::measured::MeasuredJson;
use report::output::summary;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Answer, Rows};
use crate::verbs::flags;
use crate::weight_files;

/// The answer to a file of a known tool; `None` for other content.
pub(super) fn answer(
    file: &str,
    text: &str,
    matches: &ArgMatches,
) -> Result<Option<Answer>, Failure> {
    let found = measurements::read(text);
    let found = found.map_err(|reason| Failure::bad(format!("{file}: {reason}")))?;
    let Some(found) = found else { return Ok(None) };
    let read = weight_files::user_files();
    let fields = flags::fields(matches, &flags::compare());
    let kernel = matches.get_one::<String>("kernel").map(String::as_str);
    let judged = MeasuredInputs::judge(&fields, &found, kernel, &Library::with_files(&read))
        .map_err(|error| super::of_file(file, error.into()))?;
    Ok(Some(Answer {
        document: summary::measured(&judged),
        value: json!(MeasuredJson::new(&judged)),
        rows: Rows::At("/rows"),
    }))
}

/// Refuses flags that only the runs of a benchmark take.
pub(super) fn refuse_flags_of_runs(matches: &ArgMatches) -> Result<(), Failure> {
    let product = flags::EXPECTED_PRODUCT;
    let fields = flags::fields(matches, &flags::compare());
    let mut others = fields.keys().filter(|key| !product.contains(&key.as_str()));
    let kernel = matches.get_one::<String>("kernel").map(|_| "kernel");
    match others.next().map(String::as_str).or(kernel) {
        None => Ok(()),
        Some(key) => Err(Failure::bad(format!(
            "--{} is for files of llama-bench, vLLM, SGLang, aiperf or Nsight Compute; products take --hardware, -m, -n, -k, --weights, --activations, --power-mode and --calibration",
            key.replace('_', "-")
        ))),
    }
}
