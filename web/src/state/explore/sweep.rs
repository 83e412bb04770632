//! All points of an exploration, in a worker. It is called once per device or model, so that it can be stopped, and
//! returns texts.

use std::borrow::Cow;
use std::cell::RefCell;

use calc_core::catalog::{devices, models};
use calc_core::device::Device;
use calc_core::explore::{ExploreRequest, Explored, ExploredPoint, Modes, explore, front};
use calc_core::units::Seconds;
use report::number_text as text;
use report::output::table::csv_cell;
use report::output::words::{advice, core_error};
use serde_json::{Value, json};

use super::asked::{ExploreQuestion, Subject};
use super::row::ExploreRow;
use crate::state::advice::question::with_model;
use crate::state::fragment::{Fragment, parse};
use crate::state::goal::Bound;
use crate::state::inputs::Inputs;
use crate::state::model::fields::Field;
use crate::state::model::inputs::ModelSource;
use crate::state::model::question::ModelQuestion;
use crate::state::scenario::brief;
use crate::state::url;

/// A device or a model to try.
#[derive(Debug, Clone)]
enum Candidate {
    Device(&'static Device),
    Model(ModelSource),
    /// The device or the model of the inputs, which is in no catalog.
    Own,
}

/// An exploration in progress.
#[derive(Debug)]
pub struct Sweep {
    inputs: Inputs,
    asked: ExploreQuestion,
    candidates: Vec<Candidate>,
    done: usize,
    points: u64,
    begun_ms: f64,
    now_ms: f64,
    rows: Vec<ExploreRow>,
}

thread_local! {
    static SWEEP: RefCell<Option<Sweep>> = const { RefCell::new(None) };
}

/// Calls a function of the one exploration of the worker by name; see [`answer`].
///
/// # Errors
/// Returns the reason as a sentence if there is no answer.
pub fn call(function: &str, text: &str, now_ms: f64) -> Result<String, String> {
    SWEEP.with_borrow_mut(|sweep| answer(sweep, function, text, now_ms))
}

/// Calls a function by name. `now_ms` is the time of any monotonic clock [ms].
///
/// # Errors
/// Returns the reason as a sentence if there is no answer.
pub fn answer(
    sweep: &mut Option<Sweep>,
    function: &str,
    text: &str,
    now_ms: f64,
) -> Result<String, String> {
    if function == "begin" {
        *sweep = None;
        return Ok(sweep.insert(Sweep::begin(text, now_ms)?).progress());
    }
    let Some(sweep) = sweep else { return Err("No exploration was begun.".to_owned()) };
    match function {
        "next" => sweep.next(now_ms),
        "rows" => Ok(sweep.answer()),
        "csv" => Ok(sweep.csv()),
        "json" => Ok(sweep.json()),
        _ => Err(format!("The exploration has no {function}.")),
    }
}

impl Sweep {
    /// Starts an exploration. `address` is a line with the query, then the text of the fragment.
    ///
    /// # Errors
    /// Returns all that cannot be read, as sentences.
    pub fn begin(address: &str, now_ms: f64) -> Result<Self, String> {
        let (query, fragment) = address.split_once('\n').unwrap_or((address, ""));
        let fragment = if fragment.is_empty() { Fragment::Empty } else { parse(fragment) };
        let inputs = url::read_beside(query, &fragment).0;
        let asked = ExploreQuestion::read(&inputs)?;
        if let Err(faults) = ModelQuestion::read(&inputs.model, inputs.place()) {
            let texts: Vec<String> =
                faults.into_iter().map(|fault| advice::capital(&fault.text)).collect();
            return Err(texts.join(" "));
        }
        if let Some(fault) = Bound::ALL.into_iter().find_map(|bound| inputs.goal.value(bound).err())
        {
            return Err(fault);
        }
        let candidates = candidates(&inputs, asked.subject);
        Ok(Self {
            inputs,
            asked,
            candidates,
            done: 0,
            points: 0,
            begun_ms: now_ms,
            now_ms,
            rows: Vec::new(),
        })
    }

    /// Compares all points of the next device or model.
    fn next(&mut self, now_ms: f64) -> Result<String, String> {
        let Some(candidate) = self.candidates.get(self.done) else { return Ok(self.progress()) };
        let asked = &self.asked;
        let inputs = of_candidate(&self.inputs, asked.subject, candidate);
        let found = with_model(&inputs, |recommended| {
            let request = ExploreRequest {
                task: recommended.task,
                modes: match asked.subject {
                    Subject::Devices => Modes::All,
                    Subject::Models => Modes::OfTask,
                },
                bounds: recommended.bounds,
                power_cap: asked.power_cap,
                criteria: asked.criteria,
                batches: &asked.batches,
                prompts: &asked.prompts,
            };
            let Explored { front, points } = explore(&request, recommended.task.device())?;
            let rows = front.iter().map(|found| row(&inputs, asked.subject, found));
            Ok((rows.collect::<Vec<ExploreRow>>(), points))
        });
        let found = found.ok_or("Something above cannot be read.")?;
        let (rows, points) = found.map_err(|error| core_error(&error))?;
        self.rows.extend(rows);
        self.points += points;
        self.done += 1;
        self.now_ms = now_ms;
        Ok(self.progress())
    }

    fn elapsed(&self) -> Seconds {
        Seconds::new((self.now_ms - self.begun_ms) * 1e-3)
    }

    /// Number done, number of all, and a sentence with both, the points and the remaining time.
    fn progress(&self) -> String {
        let (done, all) = (self.done, self.candidates.len());
        let left = if done == 0 {
            String::new()
        } else {
            let left = self.elapsed().get() * (all - done) as f64 / done as f64;
            format!(", {} left", text::time(Seconds::new(left)))
        };
        let (many, points) = (self.asked.subject.many(), text::count(self.points));
        format!("{done}\t{all}\t{done} of {all} {many}, {points} points{left}")
    }

    /// A sentence and a line for each row.
    fn answer(&mut self) -> String {
        self.mark_front();
        let mut said = self.sentence();
        for row in &self.rows {
            said.push('\n');
            said += &row.line();
        }
        said
    }

    fn mark_front(&mut self) {
        let costs: Vec<_> = self.rows.iter().map(|row| row.costs).collect();
        for row in &mut self.rows {
            row.is_on_front = false;
        }
        for index in front(&costs) {
            self.rows[index].is_on_front = true;
        }
    }

    fn sentence(&self) -> String {
        let subject = self.asked.subject;
        let (one, many) = (subject.one(), subject.many());
        let stopped = match self.candidates.len() - self.done {
            0 => String::new(),
            left => format!("Stopped with {left} {} to go. ", if left == 1 { one } else { many }),
        };
        let mut runs = 0;
        let mut last = None;
        for row in &self.rows {
            let this = Some((&row.subject, &row.name));
            runs += usize::from(this != last);
            last = this;
        }
        let fixed = match subject {
            Subject::Devices => format!("run {}", self.inputs.model.name()),
            Subject::Models => format!("run on {}", brief(&self.inputs.device.name)),
        };
        let on_front = self.rows.iter().filter(|row| row.is_on_front).count();
        let front = match on_front {
            1 => "1 point is on the front".to_owned(),
            _ => format!("{on_front} points are on the front"),
        };
        format!(
            "{stopped}{runs} of {} {many} {fixed} within the limits; {front}. {} points in {}.",
            self.done,
            text::count(self.points),
            text::time(self.elapsed())
        )
    }

    /// All rows in base units, under the keys of `ridgepoint sweep`.
    fn records(&mut self) -> Vec<Record> {
        self.mark_front();
        self.rows.iter().map(|row| record(row, &self.inputs, self.asked.subject)).collect()
    }

    fn csv(&mut self) -> String {
        let records = self.records();
        let keys = records.first().map(|record| record.each_ref().map(|(key, _)| *key).join(","));
        let mut csv = keys.unwrap_or_default() + "\n";
        for record in records {
            let cells = record.map(|(_, value)| match value {
                Value::Null => String::new(),
                Value::String(text) => csv_cell(&text),
                other => other.to_string(),
            });
            csv += &cells.join(",");
            csv.push('\n');
        }
        csv
    }

    fn json(&mut self) -> String {
        let object = |record: Record| -> Value {
            record.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
        };
        let records: Vec<Value> = self.records().into_iter().map(object).collect();
        format!("{:#}\n", Value::Array(records))
    }
}

/// A row of a file: keys and values.
type Record = [(&'static str, Value); 18];

fn candidates(inputs: &Inputs, subject: Subject) -> Vec<Candidate> {
    match subject {
        Subject::Devices => {
            let own = inputs.has_own_device().then_some(Candidate::Own);
            devices::all().map(Candidate::Device).chain(own).collect()
        }
        Subject::Models => {
            let own = matches!(inputs.model.base, ModelSource::File(_)).then_some(Candidate::Own);
            let all = models::all().map(|model| Candidate::Model(ModelSource::Catalog(model)));
            all.chain(own).collect()
        }
    }
}

/// The inputs with a device or a model in the place of their own. A power mode, measurements, drafts and changes of the
/// geometry belong to what they were chosen for.
fn of_candidate(inputs: &Inputs, subject: Subject, candidate: &Candidate) -> Inputs {
    let mut inputs = inputs.clone();
    match candidate {
        Candidate::Device(device) => inputs.set_device(Cow::Borrowed(device)),
        Candidate::Model(base) => inputs.model.set_base(base.clone()),
        Candidate::Own => {}
    }
    match subject {
        Subject::Devices => inputs.mode = None,
        Subject::Models => without_drafts(&mut inputs),
    }
    inputs
}

/// Drops the draft model, which belongs to one model.
pub(super) fn without_drafts(inputs: &mut Inputs) {
    inputs.model.drafter = None;
    inputs.model.set_text(Field::Draft, String::new());
}

fn row(inputs: &Inputs, subject: Subject, found: &ExploredPoint<'_>) -> ExploreRow {
    let (token, whole) = (found.outcome.token.expected, found.outcome.whole);
    let (key, name) = match subject {
        Subject::Devices => (inputs.device.key.to_string(), inputs.device.name.to_string()),
        Subject::Models => (inputs.model.base.key().to_owned(), inputs.model.name()),
    };
    let energy = found.outcome.token.energy.map(|energy| energy.per_token.get());
    ExploreRow {
        subject: key,
        name,
        mode: found.mode.map_or_else(String::new, |mode| mode.name.to_string()),
        scheme: found.scheme,
        loss: advice::quality(&found.quality),
        batch: found.batch,
        prompt: found.prompt,
        costs: found.costs,
        token: [token.time, token.low, token.high].map(Seconds::get),
        whole: [whole.time, whole.low, whole.high].map(Seconds::get),
        first: found.outcome.ttft.time.get(),
        energy: energy.unwrap_or(f64::NAN),
        memory: [found.outcome.memory.get(), inputs.device.memory.value.get()],
        loss_high: found.quality.high,
        is_on_front: false,
    }
}

fn record(row: &ExploreRow, inputs: &Inputs, subject: Subject) -> Record {
    let (hardware, model) = match subject {
        Subject::Devices => (row.subject.as_str(), inputs.model.base.key()),
        Subject::Models => (&*inputs.device.key, row.subject.as_str()),
    };
    let mode = (!row.mode.is_empty()).then_some(&row.mode);
    [
        ("hardware", json!(hardware)),
        ("power_mode", json!(mode)),
        ("model", json!(model)),
        ("scheme", json!(row.scheme.key)),
        ("batch", json!(row.batch)),
        ("prompt", json!(row.prompt)),
        ("ttft_s", json!(row.first)),
        ("mean_tpot_s", json!(row.token[0])),
        ("mean_tpot_low_s", json!(row.token[1])),
        ("mean_tpot_high_s", json!(row.token[2])),
        ("mean_throughput_token_per_s", json!(row.throughput())),
        ("end_to_end_s", json!(row.whole[0])),
        ("end_to_end_low_s", json!(row.whole[1])),
        ("end_to_end_high_s", json!(row.whole[2])),
        ("mean_joule_per_token", json!(row.energy)),
        ("memory_total_bytes", json!(row.memory[0])),
        ("quality_loss_percent", json!(row.loss_high)),
        ("front", json!(row.is_on_front)),
    ]
}

#[cfg(test)]
mod tests;
