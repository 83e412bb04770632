//! Compares all devices for one model, in a separate program. It is called once per device, so that it can be stopped, and
//! returns texts, so that the page only displays them.

use std::borrow::Cow;
use std::cmp::Ordering;

use calc_core::catalog::devices;
use calc_core::device::Device;
use calc_core::explore::{ExploreRequest, explore};
use calc_core::scheme::Scheme;
use calc_core::text::Text;
use calc_core::units::{Bytes, Seconds, TokensPerSec};
use report::number_text as text;
use report::output::table::csv_cell;
use report::output::words::{advice, core_error};

use super::advice::question::with_model;
use super::fragment::{Carried, understand};
use super::inputs::Inputs;
use super::model::question::Question;
use super::url;

/// Columns of the table.
pub const COLUMNS: [&str; 7] =
    ["device", "token/s", "per user", "batch", "scheme", "mode", "memory"];

/// Separator of the cells in a row.
pub const CELL: char = '\t';

/// Sort orders of the table: key and label.
pub const ORDERS: [(&str, &str); 2] = [("fast", "tokens per second"), ("small", "size of device")];

/// Largest batch that is tried.
const MOST_SEQUENCES: u64 = 4096;
/// Contexts form two series, half an octave apart, that start here [tokens].
const FIRST_CONTEXTS: [u64; 2] = [256, 362];
/// Octaves up to a context of 1 Mi tokens.
const OCTAVES: u64 = 12;

/// The best scheme and batch of a device, in a power mode, at a context.
#[derive(Debug, Clone, PartialEq)]
struct Best {
    /// Index into the devices.
    device: usize,
    mode: Option<Text>,
    context: u64,
    scheme: &'static Scheme,
    batch: u64,
    tpot: Seconds,
    memory: Bytes,
}

impl Best {
    /// Tokens per second over the batch.
    fn throughput(&self) -> TokensPerSec {
        TokensPerSec::new(self.batch as f64 / self.tpot.get())
    }
}

/// A comparison in progress.
#[derive(Debug)]
pub struct Sweep {
    inputs: Inputs,
    devices: Vec<Cow<'static, Device>>,
    batches: Vec<u64>,
    contexts: Vec<u64>,
    /// Context of the table [tokens].
    asked: u64,
    done: usize,
    points: u64,
    begun_ms: f64,
    now_ms: f64,
    best: Vec<Best>,
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
        return Ok(sweep.insert(Sweep::begin(text, now_ms)?).progress());
    }
    let Some(sweep) = sweep else { return Err("No comparison was begun.".to_owned()) };
    match function {
        "next" => sweep.next(now_ms),
        "table" => Ok(sweep.table(text)),
        "csv" => Ok(sweep.csv()),
        _ => Err(format!("The comparison has no {function}.")),
    }
}

impl Sweep {
    /// Starts a comparison. `address` is a line with the query, then the text of the fragment.
    fn begin(address: &str, now_ms: f64) -> Result<Self, String> {
        let (query, carried) = address.split_once('\n').unwrap_or((address, ""));
        let carried = if carried.is_empty() { Carried::Nothing } else { understand(carried) };
        let inputs = url::read_beside(query, &carried).0;
        let unread = || "Something above cannot be read.".to_owned();
        let question = Question::read(&inputs.model, inputs.place());
        let workload = question.map_err(|_faults| unread())?.workload;
        with_model(&inputs, |_| ()).ok_or_else(unread)?;
        let asked = workload.longest().max(workload.context);
        let mut devices: Vec<_> = devices::all().map(Cow::Borrowed).collect();
        if inputs.has_own_device() {
            devices.push(inputs.device.clone());
        }
        Ok(Self {
            inputs,
            devices,
            batches: batches(),
            contexts: contexts(asked),
            asked,
            done: 0,
            points: 0,
            begun_ms: now_ms,
            now_ms,
            best: Vec::new(),
        })
    }

    /// Tries all modes, contexts, schemes and batches on the next device.
    fn next(&mut self, now_ms: f64) -> Result<String, String> {
        let Some(device) = self.devices.get(self.done) else { return Ok(self.progress()) };
        let found = with_model(&self.inputs, |asked| {
            let (task, bounds) = (asked.task, asked.bounds);
            let (batches, contexts) = (&*self.batches, &*self.contexts);
            explore(&ExploreRequest { task, bounds, batches, contexts }, device)
        });
        let found = found.ok_or("Something above cannot be read.")?;
        let found = found.map_err(|error| core_error(&error))?;
        self.best.extend(found.best.iter().map(|best| Best {
            device: self.done,
            mode: best.mode.map(|mode| mode.name.clone()),
            context: best.context,
            scheme: best.scheme,
            batch: best.batch,
            tpot: best.tpot,
            memory: best.memory,
        }));
        self.points += found.points;
        self.done += 1;
        self.now_ms = now_ms;
        Ok(self.progress())
    }

    fn elapsed(&self) -> Seconds {
        Seconds::new((self.now_ms - self.begun_ms) * 1e-3)
    }

    /// Devices done, devices in total, and a sentence with both, the points and the remaining time.
    fn progress(&self) -> String {
        let (done, all) = (self.done, self.devices.len());
        let left = if done == 0 {
            String::new()
        } else {
            let left = self.elapsed().get() * (all - done) as f64 / done as f64;
            format!(", {} left", text::time(Seconds::new(left)))
        };
        let points = text::count(self.points);
        format!("{done}{CELL}{all}{CELL}{done} of {all} devices, {points} points{left}")
    }

    /// A summary sentence, then a row for each device that runs the model at the user's context.
    fn table(&self, order: &str) -> String {
        let mut rows: Vec<&Best> = Vec::new();
        for best in self.best.iter().filter(|best| best.context == self.asked) {
            match rows.iter_mut().find(|row| row.device == best.device) {
                Some(row) if row.throughput() < best.throughput() => *row = best,
                Some(_) => {}
                None => rows.push(best),
            }
        }
        let faster = |a: &Best, b: &Best| b.throughput().get().total_cmp(&a.throughput().get());
        let memory = |best: &Best| self.devices[best.device].memory.value.get();
        let smaller = |a: &Best, b: &Best| memory(a).total_cmp(&memory(b));
        rows.sort_by(|a, b| match order {
            "small" => smaller(a, b).then(faster(a, b)),
            _ => faster(a, b).then(Ordering::Equal),
        });
        let mut said = self.sentence(rows.len());
        for row in rows {
            said.push('\n');
            said += &self.cells(row).join(&CELL.to_string());
        }
        said
    }

    fn sentence(&self, runs: usize) -> String {
        let stopped = match self.devices.len() - self.done {
            0 => String::new(),
            left => format!("Stopped with {left} devices to go. "),
        };
        format!(
            "{stopped}{runs} of {} devices run it at {} tokens: the batch, scheme and power mode with most tokens per second on each. {} points in {}.",
            self.done,
            text::count(self.asked),
            text::count(self.points),
            text::time(self.elapsed())
        )
    }

    fn cells(&self, best: &Best) -> [String; COLUMNS.len()] {
        let per_user = TokensPerSec::new(1.0 / best.tpot.get());
        let rate = |value: TokensPerSec| text::short(value.get(), 3);
        [
            self.devices[best.device].name.to_string(),
            rate(best.throughput()),
            rate(per_user),
            text::count(best.batch),
            advice::scheme_name(best.scheme),
            best.mode.as_ref().map_or_else(|| "own peaks".to_owned(), ToString::to_string),
            text::bytes(best.memory),
        ]
    }

    /// The best result of every device, mode and context as CSV, in base units.
    fn csv(&self) -> String {
        let mut csv = String::from(
            "device,power_mode,context,scheme,batch,token_per_s,token_per_s_per_user,tpot_s,memory_bytes\n",
        );
        for best in &self.best {
            let tpot = best.tpot.get();
            csv += &format!(
                "{},{},{},{},{},{},{},{tpot},{}\n",
                csv_cell(&self.devices[best.device].key),
                csv_cell(best.mode.as_deref().unwrap_or_default()),
                best.context,
                best.scheme.key,
                best.batch,
                best.throughput().get(),
                1.0 / tpot,
                best.memory.get()
            );
        }
        csv
    }
}

/// Batches from 1 to [`MOST_SEQUENCES`], each about 1.3 times the one before.
fn batches() -> Vec<u64> {
    let next = |batch: &u64| Some((batch + 1).max(batch * 13 / 10));
    let steps = std::iter::successors(Some(1), next);
    steps.take_while(|batch| *batch < MOST_SEQUENCES).chain([MOST_SEQUENCES]).collect()
}

/// Contexts from 256 to 1 Mi in half octaves, and the user's own.
fn contexts(asked: u64) -> Vec<u64> {
    let octaves = (0..OCTAVES).flat_map(|octave| FIRST_CONTEXTS.map(|first| first << octave));
    let mut all: Vec<u64> = octaves.chain([FIRST_CONTEXTS[0] << OCTAVES, asked]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "?view=model&prompt=4096&v=1";

    /// The whole comparison of an address; the simulated clock advances by 1 ms per device.
    fn compared(address: &str) -> Sweep {
        let mut sweep = Sweep::begin(address, 0.0).expect("a readable address");
        while sweep.done < sweep.devices.len() {
            sweep.next((sweep.done + 1) as f64).expect("explored");
        }
        sweep
    }

    fn rows(table: &str) -> Vec<Vec<&str>> {
        table.lines().skip(1).map(|line| line.split(CELL).collect()).collect()
    }

    #[test]
    fn what_is_tried_is_about_a_million_points_or_two() {
        assert_eq!(batches()[..6], [1, 2, 3, 4, 5, 6]);
        assert_eq!(batches().last(), Some(&MOST_SEQUENCES));
        assert_eq!(contexts(4096).len(), 25);
        assert_eq!(contexts(5000).len(), 26);
        assert_eq!(contexts(4096).last(), Some(&1_048_576));
        let sweep = compared(QUERY);
        assert!((900_000..3_000_000).contains(&sweep.points), "{}", sweep.points);
    }

    #[test]
    fn the_table_has_a_row_for_each_device_that_runs_it_in_the_order_asked_for() {
        let sweep = compared(QUERY);
        let (fast, small) = (sweep.table("fast"), sweep.table("small"));
        // The test's clock counts a millisecond per device.
        let took = format!("points in {}.0\u{202f}ms.", devices::all().count());
        assert!(fast.contains(&took), "{fast}");
        let (fast, small) = (rows(&fast), rows(&small));
        assert!(fast.len() > 40 && fast.len() == small.len());
        assert!(fast.iter().all(|row| row.len() == COLUMNS.len()));
        assert_ne!(fast[0], small[0]);
        let orin = fast.iter().find(|row| row[0].contains("Orin Nano 8GB Super"));
        let orin = orin.expect("Llama-3.1-8B runs on it");
        assert_eq!((orin[3], orin[4]), ("4", "GGUF Q4_K_M"), "{orin:?}");
        let mut names: Vec<&str> = fast.iter().map(|row| row[0]).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), fast.len(), "once each");
    }

    #[test]
    fn everything_can_be_saved_and_goes_on_where_it_was() {
        let mut sweep = None;
        let mut ask = |function: &str, text: &str, now| answer(&mut sweep, function, text, now);
        let all = calc_core::catalog::devices::all().count();
        assert!(ask("next", "", 0.0).is_err() && ask("table", "fast", 0.0).is_err());
        assert!(
            ask("begin", QUERY, 5.0)
                .expect("begun")
                .starts_with(&format!("0\t{all}\t0 of {all} devices"))
        );
        let said = (6..26).map(|now| ask("next", "", f64::from(now)).expect("explored")).last();
        let said = said.expect("twenty devices");
        let left = format!("{}.0\u{202f}ms left", all - 20);
        assert!(
            said.starts_with(&format!("20\t{all}\t20 of {all}")) && said.ends_with(&left),
            "{said}"
        );
        let table = ask("table", "fast", 9.0).expect("a table");
        assert!(
            table.starts_with(&format!("Stopped with {} devices to go. ", all - 20)),
            "{table}"
        );
        let csv = ask("csv", "", 9.0).expect("a file");
        let columns = |line: &str| line.split(',').count();
        assert!(csv.lines().all(|line| columns(line) == 9) && csv.lines().count() > 1, "{csv}");
        assert!(ask("fly", "", 9.0).is_err());
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for query in ["?batch=many", "?loss=x", "?layers=0"] {
            assert!(Sweep::begin(query, 0.0).is_err(), "{query}");
        }
    }
}
