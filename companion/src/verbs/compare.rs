//! `compare`: theory against measurements of a file or of this machine, per precision.

mod csv;
mod here;
mod measured;
mod read;
mod runs;

use std::path::Path;

use calc_core::analysis::Operator;
use calc_core::cost::gemm::GemmShape;
use clap::{Arg, ArgMatches, Command, ValueHint};
use report::input::request::{AnalyzeInputs, Fields, Library, RequestError};
use report::output::json::compare::{CompareJson, Point};
use report::output::summary;
use serde_json::{Map, Value, json};

use super::{flags, unknown_file};
use crate::failure::Failure;
use crate::files;
use crate::output;
use crate::output::{Answer, Form, Rows};
use crate::weight_files;
use measured::Measured;

/// The files of measurements that are read.
const EXPECTED: &str = "records of `bench` as JSON or JSON lines, CSV with the header weights,time_s, or a file of llama-bench, vLLM, SGLang, aiperf or ncu";

pub(super) fn command() -> Command {
    let measured = Arg::new("measured")
        .long("measured")
        .value_name("FILE")
        .value_hint(ValueHint::FilePath)
        .help(
            "Measurements: records of `bench` as JSON or JSON lines, CSV with the header \
         weights[,activations],time_s|time_ms|time_us[,m,n,k], or what llama-bench, vLLM, SGLang, aiperf or ncu wrote",
        );
    let backend = Arg::new("backend")
        .long("backend")
        .value_name("NAME")
        .help("Measure here instead: auto, cpu or cuda:0, in the formats of --weights; more tokens than weights are packed for: the element types of `bench gemm`");
    let kernel = Arg::new("kernel")
        .long("kernel")
        .value_name("TEXT")
        .help("Part of a kernel's name: which one of a profile of Nsight Compute is the product");
    let command = Command::new("compare")
        .about("Compare theory with measurement: error, bound, distance from the ridge and speedups per precision")
        .after_help(
            "Without --weights the rows of the file choose the precisions, without -m -n -k the shape.\n\
             A file of a benchmark is compared as a whole run, with the flags of `estimate`, which replace what the file tells.\n\n\
             Examples:\n  ridgepoint compare --hardware t4 -m 1 -n 4096 -k 4096 --weights fp16,int4_g128 --measured t4.csv\n  \
             ridgepoint compare --hardware here.json -m 1 -n 8192 -k 8192 --weights fp16,int4_g128 --backend cpu\n  \
             ridgepoint compare --hardware rtx_4080 --measured llama-bench.json\n  \
             ridgepoint compare --hardware h100 -m 16 -n 4096 -k 4096 --weights fp16 --measured ncu.csv --kernel gemm",
        );
    flags::add(command, &flags::compare())
        .mut_arg("weights", |arg| arg.help("Formats of the weights, separated by commas"))
        .args([measured, backend, kernel, super::cuda_libs(), output::argument()])
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let name = |key: &str| matches.get_one::<String>(key).map(String::as_str);
    let text = name("measured").filter(|_| name("backend").is_none()).map(read_text).transpose()?;
    if let Some((file, text)) = name("measured").zip(text.as_deref())
        && let Some(answer) = runs::answer(file, text, matches)?
    {
        return answer.print(Form::of(matches));
    }
    runs::refuse_flags_of_runs(matches)?;
    let fields = flags::fields(matches, flags::EXPECTED_PRODUCT);
    let mut other = None;
    let (file, rows) = match (name("measured"), name("backend")) {
        (Some(file), None) => (file, from_text(file, text.as_deref().unwrap_or_default())?),
        (None, Some(backend)) => {
            let (rows, of_other) = here::measure(backend, &fields)?;
            other = of_other;
            ("this machine", rows)
        }
        (Some(_), Some(_)) => {
            return Err(Failure::bad(
                "--measured and --backend exclude each other: measurements come from a file or are taken now",
            ));
        }
        (None, None) => {
            return Err(Failure::bad(
                "measured is missing; name a file of measurements with --measured, or measure here with --backend cpu",
            ));
        }
    };
    let request = Request { file, rows: &rows, fields };
    let points = request.points().map_err(|error| of_file(file, error))?;
    answer(&points, other).print(Form::of(matches))
}

/// Adds the name of the compared file to a failure that does not name it.
fn of_file(file: &str, failure: Failure) -> Failure {
    match failure {
        Failure::BadInput(why) if !why.contains(file) => {
            Failure::BadInput(format!("{why}; the times are of {file}"))
        }
        other => other,
    }
}

fn read_text(file: &str) -> Result<String, Failure> {
    let text = files::read_text(Path::new(file));
    Ok(text.map_err(|reason| RequestError::Unreadable { path: file.into(), reason })?)
}

fn from_text(file: &str, text: &str) -> Result<Vec<Measured>, Failure> {
    read::parse(text)
        .map_err(|reason| Failure::bad(unknown_file::sentence(file, &reason, text, EXPECTED)))
}

/// `other` says that the measured machine is not the device of the theory.
fn answer(points: &[Point], other: Option<String>) -> Answer {
    let compared = CompareJson::new(points);
    let whose = if other.is_some() { ", of another machine" } else { "" };
    let mut document = summary::compare(&format!("{}{whose}", title(points)), &compared);
    let mut value = json!(compared);
    if let Some(other) = other {
        value["notes"] = json!([&other]);
        document.notes(vec![other]);
    }
    Answer { document, value, rows: Rows::At("/rows") }
}

fn title(points: &[Point]) -> String {
    let Some(inputs) = points.first().map(|point| &point.inputs) else {
        return "Nothing to compare".into();
    };
    let mode = inputs.power_mode.as_ref().map_or(String::new(), |mode| format!(" in mode {mode}"));
    let shape = match inputs.operator {
        Operator::Gemm(GemmShape { m, n, k }) => format!("GEMM {m} × {n} × {k}"),
        _ => unreachable!("without --op the operator is a product"),
    };
    format!("{shape} on {}{mode}: theory against measurement", inputs.device.name)
}

/// The predictions and the measurements to compare them with.
struct Request<'a> {
    file: &'a str,
    rows: &'a [Measured],
    fields: Map<String, Value>,
}

impl Request<'_> {
    fn points(mut self) -> Result<Vec<Point>, Failure> {
        self.take_shape_from_file()?;
        let weights: Vec<String> = match self.fields.get("weights").and_then(Value::as_str) {
            Some(list) => list.split(',').map(|key| key.trim().to_owned()).collect(),
            None => self
                .rows
                .iter()
                .filter(|row| self.is_about(row))
                .map(|row| row.weights.clone())
                .collect(),
        };
        if weights.is_empty() {
            return Err(Failure::bad(format!(
                "{}: no row is about this shape and these activations",
                self.file
            )));
        }
        let read = weight_files::user_files();
        weights.iter().map(|key| self.point(key, &Library::with_files(&read))).collect()
    }

    /// The shape of the first row that has one is the default for missing flags.
    fn take_shape_from_file(&mut self) -> Result<(), Failure> {
        let Some((m, n, k)) = self.rows.iter().find_map(|row| row.shape) else { return Ok(()) };
        if ["m", "n", "k"].iter().any(|key| self.fields.contains_key(*key)) {
            return Ok(());
        }
        if self.rows.iter().any(|row| row.shape.is_some_and(|shape| shape != (m, n, k))) {
            return Err(Failure::bad(format!(
                "{} has several shapes; choose one with -m -n -k",
                self.file
            )));
        }
        for (key, value) in [("m", m), ("n", n), ("k", k)] {
            self.fields.insert(key.into(), json!(value));
        }
        Ok(())
    }

    fn point(&self, weights: &str, library: &Library<'_>) -> Result<Point, Failure> {
        let mut fields = self.fields.clone();
        fields.insert("weights".into(), json!(weights));
        let asked = AnalyzeInputs::parse(Fields::new(fields.clone()), library)?;
        let key = asked.precision.weights.key;
        let mut found = self.rows.iter().filter(|row| row.is_of(key) && self.is_about(row));
        let row = match (found.next(), found.next()) {
            (Some(row), None) => row,
            (None, _) => {
                return Err(Failure::bad(format!(
                    "{} has no row for {key} that fits this request",
                    self.file
                )));
            }
            (Some(_), Some(_)) => {
                return Err(Failure::bad(format!(
                    "{} has more than one row for {key}; keep one of them",
                    self.file
                )));
            }
        };
        if let Some(activations) = &row.activations {
            fields.insert("activations".into(), json!(activations));
        }
        let inputs = AnalyzeInputs::parse(Fields::new(fields), library)?;
        let answer = inputs.analyze()?;
        Ok(Point { inputs, answer, measured: row.time })
    }

    /// Filters by the requested shape and activations, where both sides state them.
    fn is_about(&self, row: &Measured) -> bool {
        let asked = |key: &str| {
            self.fields
                .get(key)
                .map(|value| value.as_str().map_or(value.to_string(), str::to_owned))
        };
        let same = |key: &str, has: u64| asked(key).is_none_or(|asked| asked == has.to_string());
        let shape = row.shape.is_none_or(|(m, n, k)| same("m", m) && same("n", n) && same("k", k));
        let activations = asked("activations").zip(row.activations.as_deref());
        shape && activations.is_none_or(|(asked, has)| measured::same_format(&asked, has))
    }
}
