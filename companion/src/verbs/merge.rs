//! `merge`: joins the shards of a sweep. Everything is checked before anything is written.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::files;
use crate::output;
use crate::output::Form;
use crate::output::sheet::{Head, Sheet, cell};

/// The position of a row.
#[derive(Debug, Deserialize)]
pub(super) struct RowPosition<'a> {
    /// Fingerprint of the sweep.
    #[serde(borrow)]
    pub(super) sweep: Cow<'a, str>,
    /// Index of the point.
    pub(super) point: u64,
    /// Number of points of the sweep.
    pub(super) points: u64,
}

/// Longest row, in bytes: fields and figures have hundreds of bytes, a file name some more.
pub(super) const MAX_ROW: u64 = 1_000_000;

pub(super) fn command() -> Command {
    Command::new("merge")
        .about("Join the shards of a sweep in order; gaps, repeats and rows of other sweeps are refused")
        .arg(
            Arg::new("files")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .action(ArgAction::Append)
                .num_args(1..)
                .required(true)
                .help("Files that `ridgepoint sweep` wrote with --out or --output jsonl, in any order"),
        )
        .arg(output::argument().help("Form of the rows; default: JSON lines, exactly as the whole sweep would write them"))
        .after_help("Examples:\n  ridgepoint merge part1.jsonl part2.jsonl > all.jsonl\n  ridgepoint merge part*.jsonl -o csv > all.csv")
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let form = Form::asked(matches).unwrap_or(Form::Jsonl);
    let mut columns = Columns::new(form);
    let paths = matches.get_many::<PathBuf>("files").into_iter().flatten();
    let checked =
        paths.map(|path| Shard::check(path, &mut columns)).collect::<Result<Vec<_>, _>>()?;
    let mut shards: Vec<Shard<'_>> = checked.into_iter().flatten().collect();
    shards.sort_by_key(|shard| shard.first);
    check_together(&shards)?;
    let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut sheet = Sheet::new(form, columns.heads.clone(), out);
    sheet.begin("")?;
    for shard in &shards {
        each_line(shard.path, |line, _| Ok(sheet.row(|| line.to_vec(), || columns.cells(line))?))?;
    }
    Ok(sheet.finish()?)
}

/// The content of a file: consecutive rows of one sweep.
#[derive(Debug)]
struct Shard<'a> {
    path: &'a Path,
    sweep: String,
    points: u64,
    first: u64,
    end: u64,
}

impl<'a> Shard<'a> {
    /// Reads a file once. A file without rows is skipped: with more shards than points, some shards are empty.
    fn check(path: &'a Path, columns: &mut Columns) -> Result<Option<Self>, Failure> {
        let mut found: Option<Self> = None;
        each_line(path, |line, number| {
            let at = |why: &str| Failure::bad(format!("{} line {number}: {why}", path.display()));
            let place: RowPosition<'_> = serde_json::from_slice(line)
                .map_err(|error| at(&format!("not a row of a sweep: {error}")))?;
            columns.note(line);
            let shard = found.get_or_insert_with(|| Shard {
                path,
                sweep: place.sweep.clone().into_owned(),
                points: place.points,
                first: place.point,
                end: place.point,
            });
            if *shard.sweep != *place.sweep || shard.points != place.points {
                return Err(at("a row of another sweep than the first"));
            }
            if place.point != shard.end || place.point >= place.points {
                return Err(at(&format!("point {} instead of {}", place.point, shard.end)));
            }
            shard.end += 1;
            Ok(())
        })?;
        Ok(found)
    }
}

/// Checks that the shards together are all points of one sweep, each once.
fn check_together(shards: &[Shard<'_>]) -> Result<(), Failure> {
    let Some(first) = shards.first() else {
        return Err(Failure::bad("these files have no rows"));
    };
    let mut end = 0;
    for shard in shards {
        let name = shard.path.display();
        if shard.sweep != first.sweep || shard.points != first.points {
            return Err(Failure::bad(format!(
                "{name} belongs to another sweep than {}",
                first.path.display()
            )));
        }
        if shard.first < end {
            return Err(Failure::bad(format!("{name} repeats point {}", shard.first)));
        }
        if shard.first > end {
            return Err(Failure::bad(format!("points {end} to {} are missing", shard.first - 1)));
        }
        end = shard.end;
    }
    if end < first.points {
        return Err(Failure::bad(format!("points {end} to {} are missing", first.points - 1)));
    }
    Ok(())
}

/// Calls a function for each line of a file, with its number and without its line end.
fn each_line(
    path: &Path,
    mut take: impl FnMut(&[u8], u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let refused = |why: String| Failure::bad(format!("{}: {why}", path.display()));
    let file = files::open(path).map_err(refused)?;
    let mut lines = BufReader::with_capacity(1 << 16, file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = lines
            .by_ref()
            .take(MAX_ROW)
            .read_until(b'\n', &mut line)
            .map_err(|error| refused(files::said(&error)))?;
        if read == 0 {
            break;
        }
        if line.pop() != Some(b'\n') {
            return Err(refused(format!(
                "line {number} is cut off; let the sweep finish with the same --out"
            )));
        }
        take(&line, number)?;
    }
    Ok(())
}

/// The columns of all rows, collected during the check, for forms with columns.
#[derive(Debug)]
struct Columns {
    wanted: bool,
    heads: Vec<Head>,
}

impl Columns {
    fn new(form: Form) -> Self {
        Self { wanted: matches!(form, Form::Table | Form::Csv | Form::Md), heads: Vec::new() }
    }

    fn note(&mut self, line: &[u8]) {
        if !self.wanted {
            return;
        }
        for (key, value) in
            fields(line).iter().filter(|(key, _)| !matches!(key.as_str(), "sweep" | "points"))
        {
            let width = cell(value).chars().count();
            match self.heads.iter_mut().find(|head| head.name == *key) {
                Some(head) => head.width = head.width.max(width),
                None => self.heads.push(Head {
                    name: key.clone(),
                    width: width.max(key.len()),
                    right: value.is_number(),
                }),
            }
        }
    }

    fn cells(&self, line: &[u8]) -> Vec<String> {
        let row = fields(line);
        self.heads.iter().map(|head| row.get(&head.name).map(cell).unwrap_or_default()).collect()
    }
}

fn fields(line: &[u8]) -> Map<String, Value> {
    serde_json::from_slice(line).unwrap_or_default()
}
