//! `bench attention`, `norm`, `rope`, `gate`, `embedding`: the kernels of a layer beside its products, at one size or many.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, ValueHint};
use kernels::backend::{Cache, Kernel};
use protocol::bench::BenchKind;
use protocol::sizes::{KernelSize, sizes};

use super::flags::{self, Settings};
use super::point;
use super::point_file::{self, PointFile};
use crate::failure::Failure;
use crate::measure::layers;
use crate::output;

/// A verb with its texts.
struct Verb {
    kind: BenchKind,
    about: &'static str,
    /// Operands that have one of the formats.
    formatted: &'static str,
    after: &'static str,
}

const VERBS: [Verb; 5] = [
    Verb {
        kind: BenchKind::Attention,
        about: "Attention over a KV cache, causal, with grouped query heads: decode, or prefill with --new",
        formatted: "the KV cache",
        after: "Queries and output are FP32. Bytes are keys, values, queries and output, each once. A context is split over threads \
            where heads are fewer.\n\n\
            Examples:\n  ridgepoint bench attention --context 1024,8192,65536 --format fp16\n  \
            ridgepoint bench attention --heads 28 --kv-heads 4 --new 512 --context 512",
    },
    Verb {
        kind: BenchKind::Norm,
        about: "Add the residual and normalize (RMSNorm)",
        formatted: "residual, branch and norm alike",
        after: "A token is computed by one thread.\n\n\
            Example:\n  ridgepoint bench norm --tokens 1,512 --width 4096 --format fp16",
    },
    Verb {
        kind: BenchKind::Rope,
        about: "Rotary positions of the heads of queries and keys, in place",
        formatted: "the heads",
        after: "Halves of a head are rotated, as in Llama; sines and cosines are tables.\n\n\
            Example:\n  ridgepoint bench rope --tokens 512 --heads 40 --head-dim 128",
    },
    Verb {
        kind: BenchKind::Gate,
        about: "Gated activation of an MLP: SiLU(gate) times up",
        formatted: "gate, up and product alike",
        after: "Example:\n  ridgepoint bench gate --tokens 1,512 --width 14336 --format fp16",
    },
    Verb {
        kind: BenchKind::Embedding,
        about: "Look-up of the rows of tokens in a table of embeddings",
        formatted: "the table",
        after: "Every call looks up other rows; the output is FP32.\n\n\
            Example:\n  ridgepoint bench embedding --tokens 1,512 --vocab 128256 --width 4096 --format fp16",
    },
];

pub(super) fn commands() -> impl Iterator<Item = Command> {
    VERBS.iter().map(command)
}

fn command(verb: &Verb) -> Command {
    let list = |name: String, help: String| {
        Arg::new(name.clone())
            .long(name)
            .value_name("LIST")
            .value_hint(ValueHint::Other)
            .allow_negative_numbers(true)
            .help(help)
    };
    let sizes = sizes(verb.kind).iter();
    let sizes =
        sizes.map(|size| list(flag(size), format!("{}; default {}", size.meaning, size.usual)));
    let all: Vec<&str> = layers::formats(verb.kind).iter().map(|float| float.key()).collect();
    let formats = format!("Formats of {}: {}; default: all", verb.formatted, all.join(", "));
    flags::add(Command::new(verb.kind.key()))
        .about(verb.about)
        .args(sizes)
        .arg(list("format".to_owned(), formats))
        .arg(flags::cache())
        .arg(point_file::out())
        .arg(output::argument())
        .after_help(format!(
            "Sizes and formats may be lists with commas; every combination is measured.\n{}",
            verb.after
        ))
}

/// The kernel of a verb.
pub(super) fn kind(verb: &str) -> Option<BenchKind> {
    VERBS.iter().map(|verb| verb.kind).find(|kind| kind.key() == verb)
}

pub(super) fn run(verb: &str, matches: &ArgMatches) -> Result<(), Failure> {
    let kind = kind(verb).expect("the caller asked for it before");
    let settings = Settings::of(matches)?;
    let mut points = points(kind, matches)?;
    let Some(path) = matches.get_one::<PathBuf>("out") else {
        return point::all(settings, matches, |_| points.clone());
    };
    let mut file = PointFile::open(path, &point_file::way(&settings))?;
    file.skip(&mut points);
    file.measure(matches, settings, &points)
}

/// Every combination of the lists.
fn points(kind: BenchKind, matches: &ArgMatches) -> Result<Vec<(Kernel, Cache)>, Failure> {
    let formats = flags::words(matches, "format")?.unwrap_or_default();
    let mut all = vec![BTreeMap::new()];
    for size in sizes(kind) {
        let values = flags::counts(matches, &flag(size), (1, size.most))?;
        let values = values.unwrap_or_else(|| vec![size.usual]);
        let with = |sizes: &BTreeMap<String, u64>| {
            let with = |value: &u64| {
                let mut sizes = sizes.clone();
                sizes.insert(size.name.to_owned(), *value);
                sizes
            };
            values.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
        if all.len() > MOST_POINTS {
            return Err(Failure::bad(format!(
                "these lists have more than {MOST_POINTS} combinations; measure fewer at a time"
            )));
        }
    }
    let cache = flags::cache_of(matches);
    let mut points = Vec::new();
    for sizes in all {
        let kernels = layers::kernels(kind, &sizes, &formats).map_err(Failure::bad)?;
        points.extend(kernels.into_iter().map(|kernel| (kernel, cache)));
    }
    Ok(points)
}

/// Most combinations of sizes, each of which takes seconds.
const MOST_POINTS: usize = 4096;

/// The flag of a size, `--kv-heads`.
fn flag(size: &KernelSize) -> String {
    size.name.replace('_', "-")
}
