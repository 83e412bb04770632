//! `bench gemv`, `bench gemm` and `bench sweep`: GEMV and GEMM at one shape or many.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};
use kernels::backend::{Cache, DeviceId, GemmShape, GemvShape, Kernel};
use kernels::cpu::threads::Cores;
use kernels::measure::StopRule;
use kernels::pack::Layout;
use serde_json::{Value, json};

use super::flags::{self, Settings};
use super::point;
use super::predicted::{self, Predicted};
use crate::failure::Failure;
use crate::files;
use crate::files::Output;
use crate::measure::products::{kernel, layout, matrices};
use crate::output;

/// Default side of the matrix.
const SIDE: u64 = 8192;
const MOST: u64 = 1_000_000_000;

pub(super) fn gemv() -> Command {
    shapes(flags::add(Command::new("gemv")))
        .about("GEMV: a matrix of packed weights times a vector, per format, as in decoding one sequence")
        .arg(output::argument())
        .after_help(
            "Weights are dequantized on the fly. Without --weights every layout is measured.\n\n\
             Example:\n  ridgepoint bench gemv -n 14336 -k 4096 --weights fp16,int8,int4_g128",
        )
}

pub(super) fn gemm() -> Command {
    shapes(flags::add(Command::new("gemm")))
        .mut_arg("weights", |arg| {
            arg.help("Both operands: fp32, fp16, int8, or several; default: all")
        })
        .about("GEMM in FP32, FP16 and INT8, as in prefill")
        .arg(tokens("Tokens, separated by commas; default 512"))
        .arg(output::argument())
        .after_help(
            "FP16 is multiplied as FP32, and its weights take half the memory.\n\n\
             Example:\n  ridgepoint bench gemm -m 512 -n 4096 -k 4096",
        )
}

pub(super) fn sweep() -> Command {
    let out = Arg::new("out").long("out").value_name("FILE").value_hint(ValueHint::FilePath);
    shapes(flags::add(Command::new("sweep")))
        .about("GEMV and GEMM for every combination of lists, to a file; points that it already has are skipped")
        .mut_arg("weights", |arg| {
            arg.help("Formats of the weights, separated by commas; default: all that have kernels")
        })
        .arg(tokens("Tokens, separated by commas; default 1. Up to 16 with packed weights (one is a GEMV), more are a GEMM"))
        .arg(
            out.value_parser(value_parser!(PathBuf))
                .required(true)
                .help("Output file: JSON lines, one record per point; an interrupted sweep is continued"),
        )
        .args(predicted::arguments())
        .after_help(
            "Examples:\n  ridgepoint bench sweep -m 1,16,512 -n 4096,14336 -k 4096 --weights fp16,int8 --out here.jsonl\n  \
             ridgepoint bench sweep -m 1,16 -n 4096 -k 4096 --no-measure --hardware orin_nano --out orin.jsonl",
        )
}

fn tokens(help: &'static str) -> Arg {
    let m = Arg::new("m").long("m").short('m').value_name("LIST").value_hint(ValueHint::Other);
    m.allow_negative_numbers(true).help(help)
}

fn shapes(command: Command) -> Command {
    let list = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("LIST")
            .value_hint(ValueHint::Other)
            .allow_negative_numbers(true)
            .help(help)
    };
    command.args([
        list("n", "Outputs, separated by commas; default 8192, for gemm 4096").short('n'),
        list("k", "Inputs, separated by commas; default 8192, for gemm 4096").short('k'),
        list("weights", "Layouts of the weights, separated by commas; default: all"),
        flags::cache(),
    ])
}

pub(super) fn run_gemv(matches: &ArgMatches) -> Result<(), Failure> {
    measure(matches, &Lists { m: vec![1], ..Lists::of(matches, 1, SIDE)? })
}

pub(super) fn run_gemm(matches: &ArgMatches) -> Result<(), Failure> {
    let lists = Lists::of(matches, 512, 4096)?;
    // With one token GEMM is still measured as GEMM.
    let points = lists.points(matrices)?;
    let settings = Settings::of(matches)?;
    point::all(settings, matches, |_| points.clone())
}

fn measure(matches: &ArgMatches, lists: &Lists) -> Result<(), Failure> {
    let settings = Settings::of(matches)?;
    let points = lists.points(kernel)?;
    point::all(settings, matches, |_| points.clone())
}

pub(super) fn run_sweep(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = Settings::of(matches)?;
    let predicted = Predicted::of(matches)?;
    let mut points = Lists::of(matches, 1, SIDE)?.points(kernel)?;
    let path = matches.get_one::<PathBuf>("out").map_or(Path::new(""), PathBuf::as_path);
    let way = predicted.as_ref().map_or_else(|| way(&settings), Predicted::way);
    let (mut file, done) = open(path, &way)?;
    let all = points.len();
    points.retain(|(kernel, cache)| !done.contains(&name(*kernel, *cache)));
    if points.len() < all {
        say(&format!("{} of {all} points are in {} already", all - points.len(), path.display()));
    }
    let mut write = |record: &Value| {
        // A line is written at once, so that an interruption leaves whole lines.
        let line = format!("{record}\n");
        let written = file.write_all(line.as_bytes()).and_then(|()| match file.sync_data() {
            // A device such as /dev/null cannot be synced.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        });
        written.map_err(|error| files::unwritten(path, &error))
    };
    match predicted {
        None => point::each(settings, &points, |record| write(&json!(record))),
        Some(predicted) => {
            points.iter().try_for_each(|(kernel, cache)| write(&predicted.record(*kernel, *cache)?))
        }
    }
}

/// The values of the flags; the points are all their combinations.
struct Lists {
    m: Vec<u64>,
    n: Vec<u64>,
    k: Vec<u64>,
    /// Formats to measure; by default all that have a kernel.
    weights: Option<Vec<String>>,
    cache: Cache,
}

impl Lists {
    /// Reads the flags; `tokens` and `side` are the defaults.
    fn of(matches: &ArgMatches, tokens: u64, side: u64) -> Result<Self, Failure> {
        Ok(Self {
            m: sides(matches, "m", tokens)?,
            n: sides(matches, "n", side)?,
            k: sides(matches, "k", side)?,
            weights: flags::words(matches, "weights")?,
            cache: flags::cache_of(matches),
        })
    }

    /// Every combination that has a kernel. A format with kernels for packed weights but no GEMM kernel is left out above 16 tokens,
    /// with a note on stderr.
    fn points(
        &self,
        kernel: impl Fn(u64, u64, u64, &str) -> Result<Kernel, String>,
    ) -> Result<Vec<(Kernel, Cache)>, Failure> {
        let all = Layout::ALL.map(Layout::key).map(str::to_owned).to_vec();
        let weights = self.weights.as_ref().unwrap_or(&all);
        let mut points = Vec::new();
        let mut without = Vec::new();
        for (m, n, k) in self.shapes() {
            for format in weights {
                match kernel(m, n, k, format) {
                    Ok(kernel) => points.push((kernel, self.cache)),
                    Err(why) if without.contains(&why) => {}
                    Err(why) => without.push(why),
                }
            }
        }
        let is_known = |format: &String| layout(format).is_ok();
        match without.first() {
            Some(why) if points.is_empty() || !weights.iter().all(is_known) => {
                Err(Failure::bad(why.clone()))
            }
            _ if self.weights.is_some() => {
                for why in &without {
                    say(&format!("skipped: {why}"));
                }
                Ok(points)
            }
            _ => Ok(points),
        }
    }

    fn shapes(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let sides = self.n.iter().flat_map(|n| self.k.iter().map(move |k| (*n, *k)));
        let sides: Vec<(u64, u64)> = sides.collect();
        self.m.iter().flat_map(move |m| sides.clone().into_iter().map(move |(n, k)| (*m, n, k)))
    }
}

/// Prints a note on stderr, which may be closed.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", output::one_line(line));
}

fn sides(matches: &ArgMatches, name: &str, usual: u64) -> Result<Vec<u64>, Failure> {
    Ok(flags::counts(matches, name, (1, MOST))?.unwrap_or_else(|| vec![usual]))
}

/// The output file, and the keys of the points that it already has.
fn open(path: &Path, way: &str) -> Result<(File, HashSet<String>), Failure> {
    let refused = |why: &str| Failure::bad(format!("{}: {why}", path.display()));
    let kind = files::output(path).map_err(|why| refused(&why))?;
    let text = if kind == Output::File && path.exists() {
        files::read_text(path).map_err(|why| refused(&why))?
    } else {
        String::new()
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() && !text[whole..].starts_with('{') {
        return Err(refused("it is not a sweep file; choose another name"));
    }
    let mut done = HashSet::new();
    for (index, line) in text[..whole].lines().enumerate() {
        let value = serde_json::from_str::<Value>(line).ok();
        let name = value.as_ref().and_then(name_of_record);
        // Points measured with other settings would be taken for answers to this request.
        if let Some(other) = value.as_ref().and_then(way_of_record).filter(|other| other != way) {
            return Err(refused(&format!(
                "line {} was made with {other}, but this request has {way}; choose another name",
                index + 1
            )));
        }
        done.insert(name.ok_or_else(|| {
            refused(&format!("line {} is not a record of bench; choose another name", index + 1))
        })?);
    }
    let file = OpenOptions::new().create(true).append(true).open(path);
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => refused("there is no such folder"),
        _ => refused(&files::said(&error)),
    })?;
    // An interruption left an incomplete last line.
    if kind == Output::File {
        file.set_len(whole as u64).map_err(|error| refused(&files::said(&error)))?;
    }
    Ok((file, done))
}

/// The settings that change a result, apart from the point itself.
fn way(settings: &Settings) -> String {
    let threads = settings.threads.unwrap_or_else(|| Cores::of_this_process().usual());
    let samples = match settings.plan.rule {
        StopRule::Iterations(n) => Some(n as u64),
        StopRule::Certain { .. } => None,
    };
    in_words(&settings.device.to_string(), threads as u64, samples)
}

fn way_of_record(record: &Value) -> Option<String> {
    if let Some(way) = predicted::way_of_record(record) {
        return Some(way);
    }
    let threads = record["conditions"]["threads"].as_u64()?;
    // Records of earlier versions have no index; it was 0.
    let (backend, index) = (record["backend"].as_str()?, record["index"].as_u64().unwrap_or(0));
    Some(in_words(&format!("{backend}:{index}"), threads, record["stop_rule"]["n"].as_u64()))
}

fn in_words(device: &str, threads: u64, samples: Option<u64>) -> String {
    let by = if device == DeviceId::CPU.to_string() {
        format!("--threads {threads}")
    } else {
        format!("--device {device}")
    };
    match samples {
        Some(n) => format!("{by} and {n} samples"),
        None => format!("{by} until the median is certain"),
    }
}

fn name(kernel: Kernel, cache: Cache) -> String {
    let (m, n, k, weights) = match kernel {
        Kernel::Gemv(GemvShape { layout, m, n, k }) => (m, n, k, layout.key()),
        Kernel::Gemm(GemmShape { element, m, n, k }) => (m, n, k, element.key()),
        _ => return format!("{} {}", kernel.key(), cache.key()),
    };
    format!("{} {weights} {m} {n} {k} {}", kernel.key(), cache.key())
}

fn name_of_record(record: &Value) -> Option<String> {
    let (kernel, cache) = (record["kernel"].as_str()?, record["cache"].as_str()?);
    let shape = &record["shape"];
    let side = |key: &str| shape[key].as_u64();
    match (record["precision"]["weights"].as_str(), side("m"), side("n"), side("k")) {
        (Some(weights), Some(m), Some(n), Some(k)) => {
            Some(format!("{kernel} {weights} {m} {n} {k} {cache}"))
        }
        _ => Some(format!("{kernel} {cache}")),
    }
}
