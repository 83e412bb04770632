//! A file of measurements as claims: each time with the request that describes its work, judged as `check` judges a claim.

use calc_core::catalog::{self, model_names};
use calc_core::check::Check;
use serde_json::{Map, Value};

use super::{CheckInputs, Done, Fields, Library, RequestError};
use crate::input::measurements::{
    BenchTool, Comparable, Hindrance, MeasuredFile, MeasuredRun, MeasuredTime, MeasuredWork,
    RunRemark, ToldByFile,
};

/// Fields that give the weights of a model another form than that of the file.
const WEIGHTS: [&str; 6] =
    ["weights", "embedding", "experts", "weight_gb", "weight_bits", "streamed_gb"];
/// Largest number of kernels that a refusal names.
const NAMED: usize = 4;

/// The judged times of a file.
#[derive(Debug, Clone)]
pub struct MeasuredInputs {
    pub tool: BenchTool,
    pub rows: Vec<MeasuredRow>,
    /// Fields that the file told, the same for several rows once.
    pub taken: Vec<ToldByFile>,
    /// Fields of the request that say something else than the file.
    pub replaced: Vec<ReplacedField>,
}

/// A measured time beside the model's values for the same work.
#[derive(Debug, Clone)]
pub struct MeasuredRow {
    /// Name of the run.
    pub label: String,
    pub measured: MeasuredTime,
    pub inputs: CheckInputs,
    pub answer: Check,
    /// The part of the comparison that run and device allow.
    pub judged: Comparable,
    pub remarks: Vec<RunRemark>,
}

/// A field of which request and file say different things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedField {
    pub key: &'static str,
    pub asked: String,
    pub in_file: String,
    /// True where the request counts, false for a size that the measured work has.
    pub flag_wins: bool,
}

impl MeasuredInputs {
    /// Describes and judges the times of a file; fields of the request go before those of the file. Of kernels only those
    /// count whose name contains `kernel`.
    ///
    /// # Errors
    /// The first refusal, with the run's name; a model that no catalog has; several kernels where one product is asked for.
    pub fn judge(
        fields: &Map<String, Value>,
        file: &MeasuredFile,
        kernel: Option<&str>,
        library: &Library<'_>,
    ) -> Result<Self, RequestError> {
        let mut found =
            Self { tool: file.tool, rows: Vec::new(), taken: Vec::new(), replaced: Vec::new() };
        for run in chosen(file, kernel)? {
            let is_run = file.tool != BenchTool::NsightCompute;
            let has_model =
                fields.contains_key("model") || run.told.iter().any(|told| told.key == "model");
            if is_run && !has_model {
                return Err(RequestError::NotInFile { key: "model", tool: file.tool.name() });
            }
            if let Some(key) = run.needs.iter().find(|key| !fields.contains_key(**key)) {
                return Err(RequestError::NotInFile { key, tool: file.tool.name() });
            }
            for time in &run.times {
                let request = found.request(fields, run, time)?;
                let row = row(request, run, time, library).map_err(|error| match error {
                    RequestError::Missing { .. } | RequestError::UnknownField { .. } => error,
                    error => {
                        RequestError::InRun { label: run.label.clone(), error: Box::new(error) }
                    }
                })?;
                found.rows.push(row);
            }
        }
        Ok(found)
    }

    /// The fields of the claim about one time.
    fn request(
        &mut self,
        fields: &Map<String, Value>,
        run: &MeasuredRun,
        time: &MeasuredTime,
    ) -> Result<Map<String, Value>, RequestError> {
        let mut request = fields.clone();
        for told in run.told.iter().chain(&time.told) {
            match fields.get(told.key) {
                Some(asked) => self.note(told.key, asked, &told.value, true),
                None if is_left_out(told.key, fields) => {}
                None => {
                    let value = if told.key == "model" { model(told)? } else { told.value.clone() };
                    request.insert(told.key.into(), Value::String(value.clone()));
                    let told = ToldByFile { value, ..told.clone() };
                    if !self.taken.contains(&told) {
                        self.taken.push(told);
                    }
                }
            }
        }
        if is_part_of_prompt(time.work) {
            request.remove("context");
        }
        for (key, value) in &time.fixed {
            if let Some(asked) = fields.get(*key).filter(|_| *key != "new_tokens") {
                self.note(key, asked, &value.to_string(), false);
            }
            request.insert((*key).into(), (*value).into());
        }
        let seconds = time.time.get();
        match time.work {
            MeasuredWork::Prompt | MeasuredWork::Answer => {
                request.insert("static_batch".into(), true.into());
                request.insert("seconds".into(), seconds.into());
            }
            MeasuredWork::FirstToken => {
                request.insert("seconds".into(), seconds.into());
            }
            MeasuredWork::Token | MeasuredWork::AllTokens | MeasuredWork::Kernel => {
                request.insert("time_us".into(), (seconds * 1e6).into());
            }
        }
        Ok(request)
    }

    fn note(&mut self, key: &'static str, asked: &Value, in_file: &str, flag_wins: bool) {
        let asked = asked.as_str().map_or_else(|| asked.to_string(), str::to_owned);
        let replaced = ReplacedField { key, asked, in_file: in_file.into(), flag_wins };
        if !is_same(key, &replaced.asked, in_file) && !self.replaced.contains(&replaced) {
            self.replaced.push(replaced);
        }
    }
}

/// The runs that are compared: all of a benchmark, one kernel of a profiler.
fn chosen<'a>(
    file: &'a MeasuredFile,
    kernel: Option<&str>,
) -> Result<Vec<&'a MeasuredRun>, RequestError> {
    if file.tool != BenchTool::NsightCompute {
        return match kernel {
            None => Ok(file.runs.iter().collect()),
            Some(_) => Err(RequestError::NotInFile { key: "kernel", tool: file.tool.name() }),
        };
    }
    let is_meant = |run: &&MeasuredRun| kernel.is_none_or(|part| run.label.contains(part));
    let found: Vec<&MeasuredRun> = file.runs.iter().filter(is_meant).collect();
    if let [one] = found[..] {
        return Ok(vec![one]);
    }
    let named = if found.is_empty() { file.runs.iter().collect() } else { found.clone() };
    let names = named.iter().take(NAMED).map(|run| run.label.chars().take(80).collect()).collect();
    Err(RequestError::OneKernel { found: found.len(), names })
}

fn row(
    request: Map<String, Value>,
    run: &MeasuredRun,
    time: &MeasuredTime,
    library: &Library<'_>,
) -> Result<MeasuredRow, RequestError> {
    let has_drafts = request.contains_key("draft_tokens");
    let inputs = CheckInputs::parse(Fields::new(request), library)?;
    let answer = inputs.check()?;
    let judged = match time.judged {
        Comparable::Nothing(Hindrance::Drafts) if has_drafts => {
            Comparable::Roof(Hindrance::WholeRun)
        }
        judged if is_split(&inputs, run) => match judged {
            Comparable::Nothing(_) => judged,
            Comparable::Interval | Comparable::Roof(_) => {
                Comparable::Nothing(Hindrance::PartlyOnHost)
            }
        },
        judged => judged,
    };
    Ok(MeasuredRow {
        label: run.label.clone(),
        measured: time.clone(),
        inputs,
        answer,
        judged,
        remarks: run.remarks.clone(),
    })
}

/// True for a run with layers outside of the device whose host the request does not name.
fn is_split(inputs: &CheckInputs, run: &MeasuredRun) -> bool {
    let (Done::Token(model) | Done::Answer(model)) = &inputs.done else { return false };
    let layers = model.model.arch.n_layers;
    model.host.is_none() && run.device_layers.is_some_and(|on_device| on_device < layers)
}

const fn is_part_of_prompt(work: MeasuredWork) -> bool {
    matches!(work, MeasuredWork::Prompt | MeasuredWork::FirstToken | MeasuredWork::Answer)
}

/// True for weights of the file where the request has other ones.
fn is_left_out(key: &str, fields: &Map<String, Value>) -> bool {
    let text = fields.get("model").and_then(Value::as_str);
    let has_own_file = text.is_some_and(|name| model_names::find(name).is_none());
    matches!(key, "weights" | "weight_gb")
        && (has_own_file || WEIGHTS.iter().any(|key| fields.contains_key(*key)))
}

/// The catalog's name of a model that a file names.
fn model(told: &ToldByFile) -> Result<String, RequestError> {
    let name = told.value.as_str();
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    let known = [name, last].into_iter().find(|name| model_names::find(name).is_some());
    known.map(str::to_owned).ok_or_else(|| RequestError::ModelOfFile {
        name: name.chars().take(100).collect(),
        of: told.of,
    })
}

/// Whether two texts of a field mean the same.
fn is_same(key: &str, a: &str, b: &str) -> bool {
    let device = |name| catalog::device(name).ok().map(|device| &device.key);
    let format = |name| catalog::format(name).ok().map(|format| format.key);
    let model = |name| model_names::find(name).map(|found| found.model.key);
    let number = |name: &str| name.parse::<f64>().ok();
    a.eq_ignore_ascii_case(b)
        || match key {
            "hardware" => device(a).is_some() && device(a) == device(b),
            "weights" | "kv" => format(a).is_some() && format(a) == format(b),
            "model" => model(a).is_some() && model(a) == model(b),
            _ => number(a).is_some() && number(a) == number(b),
        }
}
