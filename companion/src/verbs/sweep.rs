//! `sweep`: lists and ranges on any flag, one row per point, in shards, and resumable.

mod figures;
mod grid;
mod resume;
mod row;
mod shard;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};
use report::input::request::{Fields, Library, RequestError};
use serde_json::{Map, Value};

use super::flags;
use super::requests::Verb;
use crate::failure::Failure;
use crate::files;
use crate::output;
use crate::output::Form;
use crate::output::sheet::Sheet;
use crate::weight_files;
use grid::Grid;
use row::SweepRow;
use shard::Shard;

pub(super) fn command() -> Command {
    let keys: Vec<&str> = flags::ESTIMATE.iter().chain(flags::ANALYZE).copied().collect();
    let shard = Arg::new("shard").long("shard").value_name("I/N").value_hint(ValueHint::Other);
    let out = Arg::new("out").long("out").value_name("FILE").value_hint(ValueHint::FilePath);
    flags::add(Command::new("sweep"), &keys)
        .about("Every combination of lists and ranges, one row per point: of a model with --model, else of an operator")
        .arg(shard.help("Only the I-th of N equal parts, I from 1; `ridgepoint merge` joins them"))
        .arg(
            out.value_parser(value_parser!(PathBuf))
                .help("Write JSON lines to this file; an existing file is continued after its last complete line"),
        )
        .arg(output::argument())
        .after_help(
            "A list has commas, a range two dots: 1,2,4  1..8  0..4096+512  1..4096x2 (doubling). Ranges include their \
             end where a step meets it. Points are ordered as the flags are in this help, the last one changing fastest; \
             a point that the model refuses is a row with `error`.\n\n\
             Examples:\n  ridgepoint sweep --hardware h100,b10 -m 1..256x2 -n 4096 -k 4096 --weights fp16,int4_g128\n  \
             ridgepoint sweep --hardware t4 --model llama-3.1-8b --weights int8 --batch 1..64x2 --prompt 512 --out t4.jsonl",
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let files = weight_files::user_files();
    let library = Library::with_files(&files);
    let verb = verb(&|key| matches.contains_id(key))?;
    let fields = flags::fields(matches, &[flags::ESTIMATE, flags::ANALYZE].concat());
    let grid = Grid::new(verb, &fields, &library)?;
    let shard = Shard::parse(matches.get_one::<String>("shard").map(String::as_str))?;
    let range = shard.range(grid.points());
    let sweep = Sweep { grid, library, range };
    match (matches.get_one::<PathBuf>("out"), Form::asked(matches)) {
        (None, form) => sweep.print(form.unwrap_or(Form::Table)),
        (Some(out), None | Some(Form::Jsonl)) => sweep.write(out),
        (Some(_), Some(Form::Table | Form::Json | Form::Csv | Form::Md)) => Err(Failure::bad(
            "--out writes JSON lines; omit --output and convert with `ridgepoint merge --output`",
        )),
    }
}

/// Keys of the figures in a row of a verb's sweep.
pub(super) fn figure_keys(verb: Verb) -> impl Iterator<Item = &'static str> {
    figures::keys_of(verb).into_iter().map(|(key, _shown)| key)
}

/// The rows of a sweep as a JSON list, as `-o json` prints them; values are texts as on the command line.
///
/// # Errors
/// Invalid requests, and requests with more than `most` points.
pub(super) fn json(
    fields: &Map<String, Value>,
    library: &Library<'_>,
    most: u64,
) -> Result<Vec<u8>, Failure> {
    let known = |key: &&String| flags::of(&[key.as_str()]).next().is_none();
    if let Some(key) = fields.keys().find(known) {
        return Err(RequestError::UnknownField { key: key.clone(), nearest: Vec::new() }.into());
    }
    let verb = verb(&|key| fields.contains_key(key))?;
    let grid = Grid::new(verb, fields, library)?;
    if grid.points() > most {
        let points = grid.points();
        return Err(Failure::bad(format!(
            "this sweep has {points} points; a request may have at most {most}; use `ridgepoint sweep`"
        )));
    }
    let mut out = Vec::new();
    let mut sheet = Sheet::new(Form::Json, Vec::new(), &mut out);
    sheet.begin("")?;
    for point in 0..grid.points() {
        let fields = grid.point(point);
        let result = figures::answer(verb, Fields::new(fields.clone()), library);
        let row = SweepRow { grid: &grid, point, fields: &fields, result };
        sheet.row(|| row.json(), Vec::new)?;
    }
    sheet.finish()?;
    Ok(out)
}

/// Returns the subject of the sweep: a model or an operator.
fn verb(given: &dyn Fn(&str) -> bool) -> Result<Verb, Failure> {
    let operator = ["m", "n", "k", "op"].iter().find(|key| given(key));
    match (given("model"), operator) {
        (true, None) => Ok(Verb::Estimate),
        (false, Some(_)) => Ok(Verb::Analyze),
        (true, Some(key)) => Err(Failure::bad(format!(
            "a sweep is over a model or over an operator; --model and --{key} exclude each other"
        ))),
        (false, None) => Err(Failure::bad(
            "name what to sweep: --model for a model, or -m -n -k or --op for an operator",
        )),
    }
}

/// A range of points with its output.
struct Sweep<'a> {
    grid: Grid,
    library: Library<'a>,
    range: Range<u64>,
}

impl Sweep<'_> {
    fn print(&self, form: Form) -> Result<(), Failure> {
        let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        let heads = row::heads(&self.grid, form);
        let mut sheet = Sheet::new(form, heads, out);
        sheet.begin(&row::title(&self.grid))?;
        self.each(|row| sheet.row(|| row.json(), || row.cells(form)))?;
        Ok(sheet.finish()?)
    }

    fn write(mut self, path: &Path) -> Result<(), Failure> {
        let (file, done) = resume::open(path, &self.grid, &self.range)?;
        self.range.start += done;
        let mut out = BufWriter::with_capacity(1 << 16, file);
        let lines = self.each(|row| {
            out.write_all(&row.json())?;
            out.write_all(b"\n")
        });
        lines.and_then(|()| out.flush()).map_err(|error| files::unwritten(path, &error))
    }

    fn each(&self, mut take: impl FnMut(&SweepRow<'_>) -> io::Result<()>) -> io::Result<()> {
        let mut progress = Progress::new(&self.range);
        for point in self.range.clone() {
            let fields = self.grid.point(point);
            let result =
                figures::answer(self.grid.verb(), Fields::new(fields.clone()), &self.library);
            take(&SweepRow { grid: &self.grid, point, fields: &fields, result })?;
            progress.reached(point);
        }
        progress.done();
        Ok(())
    }
}

/// Prints progress on stderr, on a terminal only.
struct Progress {
    shown: Option<Instant>,
    start: u64,
    end: u64,
    any: bool,
}

impl Progress {
    fn new(range: &Range<u64>) -> Self {
        let shown = io::stderr().is_terminal().then(Instant::now);
        Self { shown, start: range.start, end: range.end, any: false }
    }

    fn reached(&mut self, point: u64) {
        // Reading the clock costs more than most points.
        let due = point.is_multiple_of(256)
            && self.shown.is_some_and(|shown| shown.elapsed() > Duration::from_millis(500));
        if due {
            eprint!("\r{} of {} points", point + 1 - self.start, self.end - self.start);
            self.shown = Some(Instant::now());
            self.any = true;
        }
    }

    fn done(&self) {
        if self.any {
            eprintln!("\r{0} of {0} points", self.end - self.start);
        }
    }
}
