//! `attach`: reads a running llama.cpp server, vLLM or SGLang over HTTP, and compares its rate with the model.

mod asker;
mod energy;
mod http;
mod judge;
mod llama_cpp;
mod machine_state;
mod order;
mod probe;
mod prometheus;
mod reading;
mod sglang;
mod shown;
mod vllm;

use std::io::{self, IsTerminal};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Arg, ArgMatches, Command, ValueHint};
use report::input::request::Library;
use serde_json::{Map, Value};

use super::interval::{self, Range};
use super::telemetry::ERASE;
use super::{flags, watch};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::output::{self, Form};
use crate::weight_files;
use asker::Asker;
use http::ServerUrl;
use judge::Comparison;
use probe::Probe;
use reading::{Live, Server, ServerReading};
use shown::Shown;

pub(crate) use order::{EngineLine, is_allowed, run as run_order};

const INTERVALS: Range = Range { least: Duration::from_millis(200), most: Duration::from_hours(1) };
/// The usual interval.
const USUAL: Duration = Duration::from_secs(2);

/// Fields of `estimate` that the server tells, or that no running server has.
const TOLD: [&str; 10] = [
    "memory_limit_gb",
    "batch",
    "prompt",
    "image",
    "image_tokens",
    "cached_prefix",
    "inner_chunk",
    "context",
    "new_tokens",
    "static_batch",
];

/// Fields of the model and the device.
fn compared() -> Vec<&'static str> {
    flags::ESTIMATE.iter().copied().filter(|key| !TOLD.contains(key)).collect()
}

pub(super) fn command() -> Command {
    let url = Arg::new("url")
        .value_name("URL")
        .value_hint(ValueHint::Url)
        .required(true)
        .help("Address of the server: http:// with host and port");
    let context = Arg::new("context")
        .long("context")
        .value_name("NUMBER")
        .value_hint(ValueHint::Other)
        .allow_negative_numbers(true)
        .help("Cached tokens of each request; default: as the server tells");
    let command = Command::new("attach")
        .about("Read a running llama.cpp server, vLLM or SGLang, and compare its rate with the model")
        .args([
            url,
            watch::argument(),
            interval::argument("Time between two readings, 200ms to 1h; default 2s"),
            context,
        ])
        .after_help(
            "Only GET is sent, to the given host. llama-server needs --metrics, SGLang --enable-metrics. The model is by default the \
             one that the server names, if its file can be read here or the catalog has it.\n\n\
             Examples:\n  ridgepoint attach http://127.0.0.1:8080\n  \
             ridgepoint attach http://127.0.0.1:8000 --hardware h100 --model llama-3.1-8b --watch -o jsonl",
        );
    flags::add(command, &compared()).arg(output::argument())
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let form = watch::form(matches)?;
    let interval = interval::of(matches, USUAL, INTERVALS)?;
    let url = matches.get_one::<String>("url").map(String::as_str).unwrap_or_default();
    let address = ServerUrl::parse(url).map_err(Failure::bad)?;
    let files = weight_files::user_files();
    let library = Library::with_files(&files);
    let session = Session::open(address, given(matches), &library, Asker::CommandLine)?;
    let erases = watch::is_endless(matches) && form == Form::Table && io::stdout().is_terminal();
    let mut before = session.probe.read()?;
    loop {
        thread::sleep(interval);
        let after = session.probe.read()?;
        let live = between(&before, &after);
        let text = session.shown(&live, &library).answer().text(form);
        before = after;
        let text = match (form, erases) {
            (Form::Table, true) => format!("{ERASE}{text}"),
            // Tables in a file stand apart.
            (Form::Table, false) if watch::is_endless(matches) => format!("{text}\n"),
            _ => text,
        };
        output::print(&text)?;
        if !watch::is_endless(matches) {
            return Ok(());
        }
    }
}

/// The rates between two readings.
fn between(
    (before, start): &(ServerReading, Instant),
    (after, end): &(ServerReading, Instant),
) -> Live {
    Live::between(before, after, (*end - *start).as_secs_f64())
}

/// Keys of the engines whose servers can be read.
pub(crate) fn engines() -> Vec<String> {
    Server::ALL.map(|server| server.engine().key().to_owned()).into()
}

/// The fields that the user gave.
fn given(matches: &ArgMatches) -> Map<String, Value> {
    let mut fields = flags::fields(matches, &compared());
    if let Some(context) = matches.get_one::<String>("context") {
        fields.insert("context".into(), Value::String(context.clone()));
    }
    fields
}

/// A server, and the model that it is compared with.
#[derive(Debug)]
struct Session {
    shown: String,
    probe: Probe,
    comparison: Comparison,
}

impl Session {
    fn open(
        address: ServerUrl,
        given: Map<String, Value>,
        library: &Library<'_>,
        asker: Asker,
    ) -> Result<Self, Failure> {
        let shown = address.to_string();
        let probe = Probe::open(address)?;
        let comparison = Comparison::new(given, &probe.identity, library, asker)?;
        Ok(Self { shown, probe, comparison })
    }

    /// The state between two readings.
    fn shown<'a>(&'a self, live: &'a Live, library: &Library<'_>) -> Shown<'a> {
        Shown {
            address: &self.shown,
            at_ms: Clock::default().now(),
            identity: &self.probe.identity,
            live,
            judged: self.comparison.judge(live, library),
            notes: &self.comparison.notes,
        }
    }
}
