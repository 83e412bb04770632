//! `bench gemv`, `bench gemm` and `bench sweep`: GEMV and GEMM at one shape or many.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, ValueHint};
use kernels::backend::{Cache, Element, Kernel};
use kernels::pack::Layout;

use super::flags::{self, Settings};
use super::point::{self, say};
use super::point_file::{self, PointFile};
use super::predicted::{self, Predicted};
use crate::failure::Failure;
use crate::measure::products::Products;
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
            arg.help("Both operands: fp32, fp16, int8, on a GPU also tf32, bf16, fp8_e4m3, or several; default: all that the device has")
        })
        .about("GEMM, as in prefill: FP32, FP16 and INT8 on a processor, by cuBLASLt on a GPU")
        .arg(tokens("Tokens, separated by commas; default 512"))
        .arg(output::argument())
        .after_help(
            "A processor multiplies FP16 as FP32, and its weights take half the memory. On a GPU floats accumulate in FP32, the result of FP8 is \
             BF16, and N and K of FP8 and INT8 are multiples of 16.\n\n\
             Example:\n  ridgepoint bench gemm -m 512 -n 4096 -k 4096",
        )
}

pub(super) fn sweep() -> Command {
    shapes(flags::add(Command::new("sweep")))
        .about("GEMV and GEMM for every combination of lists, to a file; points that it already has are skipped")
        .mut_arg("weights", |arg| {
            arg.help("Formats of the weights, separated by commas; default: all that have kernels")
        })
        .arg(tokens("Tokens, separated by commas; default 1. Up to 16 with packed weights (one is a GEMV), more are a GEMM"))
        .arg(point_file::out().required(true))
        .arg(predicted::argument())
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
    let settings = Settings::of(matches)?;
    let own = products(settings)?;
    let usual = own.all_elements().into_iter().map(Element::key).collect();
    let points = lists.points(&own, usual, |m, n, k, format| own.matrices(m, n, k, format))?;
    point::all(settings, matches, |_| points.clone())
}

fn measure(matches: &ArgMatches, lists: &Lists) -> Result<(), Failure> {
    let settings = Settings::of(matches)?;
    let own = products(settings)?;
    let points =
        lists.points(&own, layouts(&own), |m, n, k, format| own.kernel(m, n, k, format))?;
    point::all(settings, matches, |_| points.clone())
}

pub(super) fn run_sweep(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = Settings::of(matches)?;
    let predicted = Predicted::of(matches)?;
    let own = products(settings)?;
    let lists = Lists::of(matches, 1, SIDE)?;
    let mut points =
        lists.points(&own, layouts(&own), |m, n, k, format| own.kernel(m, n, k, format))?;
    let path = matches.get_one::<PathBuf>("out").map_or(Path::new(""), PathBuf::as_path);
    let way = predicted.as_ref().map_or_else(|| point_file::way(&settings), Predicted::way);
    let mut file = PointFile::open(path, &way)?;
    file.skip(&mut points);
    match predicted {
        None => file.measure(matches, settings, &points),
        Some(predicted) => {
            for (kernel, cache) in &points {
                file.write(&predicted.record(*kernel, *cache)?)?;
            }
            file.summarize("predicted", points.len());
            Ok(())
        }
    }
}

/// The products of the device of these settings.
fn products(settings: Settings) -> Result<Products, Failure> {
    Ok(Products(point::found(settings.device)?.support()))
}

/// Keys of the formats with packed weights.
fn layouts(own: &Products) -> Vec<&'static str> {
    own.all_layouts().into_iter().map(Layout::key).collect()
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

    /// Every combination that has a kernel; `usual` are the formats where none is named. A format with kernels for packed weights but no GEMM kernel is left out above 16 tokens,
    /// with a note on stderr.
    fn points(
        &self,
        own: &Products,
        usual: Vec<&'static str>,
        kernel: impl Fn(u64, u64, u64, &str) -> Result<Kernel, String>,
    ) -> Result<Vec<(Kernel, Cache)>, Failure> {
        // A device without products is refused by its name, with what it measures.
        let usual = if usual.is_empty() { Layout::ALL.map(Layout::key).into() } else { usual };
        let all: Vec<String> = usual.into_iter().map(str::to_owned).collect();
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
        let is_known = |format: &String| own.layout(format).is_ok() || own.element(format).is_ok();
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

fn sides(matches: &ArgMatches, name: &str, usual: u64) -> Result<Vec<u64>, Failure> {
    Ok(flags::counts(matches, name, (1, MOST))?.unwrap_or_else(|| vec![usual]))
}
