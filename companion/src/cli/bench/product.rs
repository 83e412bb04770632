//! `bench gemv`, `bench gemm` and `bench sweep`: products, one shape or many.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};
use kernels::backend::{Cache, Element, Kernel, MatrixProduct, Product};
use kernels::pack::Layout;
use serde_json::{Value, json};

use super::flags::{self, Settings};
use super::point;
use crate::cli::output;
use crate::cli::{Failure, files};

/// Side of the matrix when nobody says.
const SIDE: u64 = 8192;
/// Largest side.
const MOST: u64 = 1_000_000_000;

pub(super) fn gemv() -> Command {
    shapes(flags::add(Command::new("gemv")))
        .about("A matrix of packed weights times a vector, per format: the work of decoding one sequence")
        .arg(output::argument())
        .after_help(
            "Weights are dequantized on the way. Without --weights every layout is measured.\n\n\
             Example:\n  ridgepoint bench gemv -n 14336 -k 4096 --weights fp16,int8,int4_g128",
        )
}

pub(super) fn gemm() -> Command {
    let m = Arg::new("m").long("m").short('m').value_name("LIST").value_hint(ValueHint::Other);
    shapes(flags::add(Command::new("gemm")))
        .mut_arg("weights", |arg| arg.help("Both operands: fp32, int8 or both (default)"))
        .about("A product of matrices in FP32 and in INT8: the work of reading a prompt")
        .arg(m.allow_negative_numbers(true).help("Tokens, separated by commas; default 512"))
        .arg(output::argument())
        .after_help("Example:\n  ridgepoint bench gemm -m 512 -n 4096 -k 4096")
}

pub(super) fn run_gemm(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = Settings::of(matches)?;
    let elements = elements(matches)?;
    let cache = flags::cache_of(matches);
    let mut points = Vec::new();
    for m in sides(matches, "m", 512)? {
        for n in sides(matches, "n", 4096)? {
            for k in sides(matches, "k", 4096)? {
                for element in &elements {
                    let element = *element;
                    points.push((Kernel::Gemm(MatrixProduct { element, m, n, k }), cache));
                }
            }
        }
    }
    point::all(settings, matches, |_| points.clone())
}

fn elements(matches: &ArgMatches) -> Result<Vec<Element>, Failure> {
    let list = matches.get_one::<String>("weights").map_or("fp32,int8", String::as_str);
    let element = |word: &str| match word.trim() {
        "fp32" => Ok(Element::Fp32),
        "int8" => Ok(Element::Int8),
        other => Err(Failure::bad(format!(
            "products of matrices are in fp32 or int8 so far; got {other}"
        ))),
    };
    list.split(',').map(element).collect()
}

pub(super) fn sweep() -> Command {
    let out = Arg::new("out").long("out").value_name("FILE").value_hint(ValueHint::FilePath);
    shapes(flags::add(Command::new("sweep")))
        .about("The same for every combination of lists, to a file; points that it has already are left out")
        .arg(
            out.value_parser(value_parser!(PathBuf))
                .required(true)
                .help("JSON lines, one record per point; an interrupted sweep goes on"),
        )
        .after_help(
            "Example:\n  ridgepoint bench sweep -n 4096,14336 -k 4096 --weights fp16,int4_g128 --out here.jsonl",
        )
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
        list("n", "Outputs, separated by commas; default 8192, of gemm 4096").short('n'),
        list("k", "Inputs, separated by commas; default 8192, of gemm 4096").short('k'),
        list("weights", "Layouts of the weights, separated by commas; default: all"),
        flags::cache(),
    ])
}

pub(super) fn run_gemv(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = Settings::of(matches)?;
    let points = points(matches)?;
    point::all(settings, matches, |_| points.clone())
}

pub(super) fn run_sweep(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = Settings::of(matches)?;
    let mut points = points(matches)?;
    let path = matches.get_one::<PathBuf>("out").map_or(Path::new(""), PathBuf::as_path);
    let (mut file, done) = open(path)?;
    points.retain(|(kernel, cache)| !done.contains(&name(*kernel, *cache)));
    point::each(settings, &points, |record| {
        // A line is written at once, so that an interruption leaves whole lines.
        let line = format!("{}\n", json!(record));
        file.write_all(line.as_bytes()).and_then(|()| file.sync_data()).map_err(|error| {
            Failure::Failed(format!("cannot write {}: {}", path.display(), files::said(&error)))
        })
    })
}

fn points(matches: &ArgMatches) -> Result<Vec<(Kernel, Cache)>, Failure> {
    let cache = flags::cache_of(matches);
    let (n, k) = (sides(matches, "n", SIDE)?, sides(matches, "k", SIDE)?);
    let mut points = Vec::new();
    for n in n {
        for k in &k {
            for layout in layouts(matches)? {
                points.push((Kernel::Gemv(Product { layout, n, k: *k }), cache));
            }
        }
    }
    Ok(points)
}

fn sides(matches: &ArgMatches, name: &str, usual: u64) -> Result<Vec<u64>, Failure> {
    let Some(list) = matches.get_one::<String>(name) else { return Ok(vec![usual]) };
    let side = |word: &str| {
        let side = word.trim().parse::<u64>().ok().filter(|side| (1..=MOST).contains(side));
        side.ok_or_else(|| {
            Failure::bad(format!("{name} must be a whole number from 1 to {MOST}; got {word}"))
        })
    };
    list.split(',').map(side).collect()
}

fn layouts(matches: &ArgMatches) -> Result<Vec<Layout>, Failure> {
    let Some(list) = matches.get_one::<String>("weights") else { return Ok(Layout::ALL.to_vec()) };
    let known = || Layout::ALL.map(Layout::key).join(", ");
    let layout = |word: &str| {
        let key = calc_core::catalog::format(word.trim()).map_or(word.trim(), |format| format.key);
        Layout::by_key(key).ok_or_else(|| {
            Failure::bad(format!(
                "there are no kernels for `{word}`; there are some for {}",
                known()
            ))
        })
    };
    list.split(',').map(layout).collect()
}

/// The file and the names of the points that it has.
fn open(path: &Path) -> Result<(File, HashSet<String>), Failure> {
    let refused = |why: &str| Failure::bad(format!("{}: {why}", path.display()));
    let text = if path.exists() {
        files::read_text(path).map_err(|why| refused(&why))?
    } else {
        String::new()
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() && !text[whole..].starts_with('{') {
        return Err(refused("it is not a file of a sweep; choose another name"));
    }
    let mut done = HashSet::new();
    for (index, line) in text[..whole].lines().enumerate() {
        let value = serde_json::from_str::<Value>(line).ok();
        let name = value.as_ref().and_then(name_of_record);
        done.insert(name.ok_or_else(|| {
            refused(&format!("line {} is no record of bench; choose another name", index + 1))
        })?);
    }
    let file = OpenOptions::new().create(true).append(true).open(path);
    let file = file.map_err(|error| refused(&files::said(&error)))?;
    // Half a line is what an interruption left.
    file.set_len(whole as u64).map_err(|error| refused(&files::said(&error)))?;
    Ok((file, done))
}

fn name(kernel: Kernel, cache: Cache) -> String {
    match kernel {
        Kernel::Gemv(Product { layout, n, k }) => {
            format!("gemv {} {n} {k} {}", layout.key(), cache.key())
        }
        Kernel::Gemm(_)
        | Kernel::Read { .. }
        | Kernel::Copy { .. }
        | Kernel::Triad { .. }
        | Kernel::Fma
        | Kernel::Dot => format!("{} {}", kernel.key(), cache.key()),
    }
}

fn name_of_record(record: &Value) -> Option<String> {
    let (kernel, cache) = (record["kernel"].as_str()?, record["cache"].as_str()?);
    let shape = &record["shape"];
    match (record["precision"]["weights"].as_str(), shape["n"].as_u64(), shape["k"].as_u64()) {
        (Some(weights), Some(n), Some(k)) => Some(format!("{kernel} {weights} {n} {k} {cache}")),
        _ => Some(format!("{kernel} {cache}")),
    }
}
