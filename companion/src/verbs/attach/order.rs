//! `attach` for a page: the hidden verb that the daemon starts. It reads one order from stdin, writes a line per reading to stdout, and
//! ends when stdin closes. It opens no file but the one that the server itself reads, and connects to this machine alone.

use std::io::{self, BufRead, Read, Write};
use std::thread;

use calc_core::catalog::models;
use protocol::engine::{EngineReport, WatchEngine};
use report::input::request::{Files, Library};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::asker::Asker;
use super::http::ServerUrl;
use super::{Session, USUAL, between, compared};
use crate::failure::Failure;
use crate::weight_files;

/// Most bytes of an order: those of a message.
const MOST: u64 = protocol::limits::LIMITS.message_bytes as u64;

/// A line for the daemon.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EngineLine {
    Report(Box<EngineReport>),
    /// The last line: the reason.
    Ended(String),
}

/// Checks what a page may ask: a server of this machine, fields of `attach`, and no file of this machine.
///
/// # Errors
/// A sentence about the first mistake.
pub(crate) fn is_allowed(order: &WatchEngine) -> Result<(), String> {
    let address = ServerUrl::parse(&order.url)?;
    if !address.is_here() {
        return Err(format!(
            "the daemon reads servers of its own machine alone, such as http://127.0.0.1:8080; `ridgepoint attach {address}` reads this one"
        ));
    }
    let known = compared();
    for (key, value) in &order.fields {
        if !known.contains(&key.as_str()) && key != "context" {
            return Err(format!("{key} is no field of a comparison with a server"));
        }
        let is_model = matches!(key.as_str(), "model" | "draft_model");
        if is_model && !models::all().any(|model| model.key == value) {
            return Err(format!("the catalog has no model {value}; the command line reads files"));
        }
    }
    Ok(())
}

/// Reads the server of the order on stdin until nobody listens.
///
/// # Errors
/// An order that cannot be read.
pub(crate) fn run() -> Result<(), Failure> {
    let mut line = String::new();
    let read = io::stdin().lock().take(MOST).read_line(&mut line);
    read.map_err(|error| Failure::Failed(format!("no order: {error}")))?;
    let order: WatchEngine = serde_json::from_str(&line)
        .map_err(|error| Failure::BadInput(format!("the order cannot be read: {error}")))?;
    thread::spawn(|| {
        // The daemon sends nothing after the order.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(0);
    });
    let why = watch(&order, |report| say(&EngineLine::Report(Box::new(report))))
        .map_or_else(|failure| failure.to_string(), |()| "nobody listens".to_owned());
    say(&EngineLine::Ended(why));
    Ok(())
}

fn watch(order: &WatchEngine, mut take: impl FnMut(EngineReport) -> bool) -> Result<(), Failure> {
    is_allowed(order).map_err(Failure::BadInput)?;
    let address = ServerUrl::parse(&order.url).map_err(Failure::bad)?;
    let read = |name: &str| match order.files.get(name) {
        Some(text) => Ok(text.clone()),
        None => Err("the page sent no such file".to_owned()),
    };
    // Only the file that the server names is opened, which it reads itself.
    let weights = |name: &str, unread| {
        let is_of_page = order.fields.values().any(|value| value == name);
        if is_of_page { Ok(None) } else { weight_files::model(name, unread) }
    };
    let files = Files::new(&read).with_weights(&weights);
    let library = Library::with_files(&files);
    let given: Map<String, Value> =
        order.fields.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
    let session = Session::open(address, given, &library, Asker::Page)?;
    let mut before = session.probe.read()?;
    loop {
        thread::sleep(USUAL);
        let after = session.probe.read()?;
        let live = between(&before, &after);
        if !take(session.shown(&live, &library).report()) {
            return Ok(());
        }
        before = after;
    }
}

/// Writes a line; false if nobody reads it.
fn say(line: &EngineLine) -> bool {
    let mut text = serde_json::to_vec(line).expect("lines have text keys");
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text).and_then(|()| out.flush()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_a_server_of_this_machine_and_no_file() {
        let order = |url: &str, fields: &[(&str, &str)]| WatchEngine {
            url: url.into(),
            fields: fields.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
            files: [("device.json".into(), "{}".into())].into(),
        };
        let here = "http://127.0.0.1:8080";
        for (url, fields, refused) in [
            (here, &[("hardware", "device.json"), ("model", "llama-3.1-8b")][..], None),
            ("http://localhost:8080", &[("weights", "int4_g128")], None),
            ("http://[::1]:8080", &[], None),
            ("http://10.0.0.1:8080", &[], Some("of its own machine alone")),
            ("http://169.254.169.254", &[], Some("of its own machine alone")),
            ("http://localhost.evil.example:80", &[], Some("of its own machine alone")),
            ("https://127.0.0.1:1", &[], Some("https is not spoken")),
            ("file:///etc/passwd", &[], Some("the address of a server is http://")),
            (here, &[("model", "/etc/passwd")], Some("the catalog has no model /etc/passwd")),
            (here, &[("draft_model", "x.gguf")], Some("the catalog has no model x.gguf")),
            (here, &[("draft_model", "tmp/llama-3.1-8b.gguf")], Some("has no model tmp/llama")),
            (here, &[("model", "models/llama-3.1-8b")], Some("has no model models/llama")),
            (here, &[("language_model_only", "true")], None),
            (here, &[("prompt", "1")], Some("prompt is no field")),
            (here, &[("output", "x")], Some("output is no field")),
        ] {
            match (is_allowed(&order(url, fields)), refused) {
                (Ok(()), None) => {}
                (Err(why), Some(part)) => assert!(why.contains(part), "{why}"),
                (found, _) => panic!("{url} {fields:?}: {found:?}"),
            }
        }
        // A field that names a file gets the text that was sent, and nothing else.
        let failed = watch(&order(here, &[("hardware", "/etc/hostname")]), |_| true);
        assert!(failed.is_err());
    }
}
