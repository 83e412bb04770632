//! `hardware`, `models`, `formats`: a whole catalog, or one row with every value and its source.

use std::fmt::Display;

use calc_core::catalog::{self, devices, formats, models};
use calc_core::hf_config::Unread;
use clap::{Arg, ArgMatches, Command, ValueHint};
use report::input::request::{Library, RequestError};
use report::output::json::catalog as json;
use report::output::summary::{self, Document};
use serde_json::Value;

use super::flags::{self, Kind};
use crate::failure::Failure;
use crate::output;
use crate::output::{Answer, Form, Rows};
use crate::weight_files;

pub(super) fn hardware() -> Command {
    list("hardware", "Devices: peaks, bandwidth, memory, power modes, each with its source", "a device file", Kind::Hardware).after_help(
        "Examples:\n  ridgepoint hardware\n  ridgepoint hardware --filter orin\n  ridgepoint hardware b10\n  \
         ridgepoint hardware my_chip.json -o json",
    )
}

pub(super) fn models() -> Command {
    list(
        "models",
        "Models: geometry and parameters, each with its source",
        "a config.json, or weight files",
        Kind::Model,
    )
    .after_help(
        "Examples:\n  ridgepoint models --filter qwen3\n  ridgepoint models llama-3.1-8b\n  \
         ridgepoint models path/to/config.json -o json\n  ridgepoint models model.gguf",
    )
}

pub(super) fn formats() -> Command {
    list("formats", "Formats: bits per element, layout, where they compute, known loss", "", Kind::Format)
        .after_help("Examples:\n  ridgepoint formats\n  ridgepoint formats int4_g128\n  ridgepoint formats --filter gguf -o csv")
}

fn list(name: &'static str, about: &'static str, file: &str, kind: Kind) -> Command {
    let or_file = if file.is_empty() { String::new() } else { format!(", or {file}") };
    let key = flags::known(Arg::new("key").value_name("KEY"), kind);
    let filter = Arg::new("filter").long("filter").value_name("TEXT").conflicts_with("key");
    Command::new(name)
        .about(about)
        .arg(key.help(format!("Row to show in full: a key{or_file}")))
        .arg(
            filter
                .value_hint(ValueHint::Other)
                .help("List only rows whose key or name contains this text"),
        )
        .arg(output::argument())
}

/// A catalog by name, whole or one row of it, as `-o json` prints it.
///
/// # Errors
/// An unknown key.
pub(super) fn json(name: &str, key: Option<&str>) -> Result<Value, RequestError> {
    let library = Library::CATALOGS;
    Ok(match (name, key) {
        ("hardware", Some(key)) => json::device(&*library.device(key)?),
        ("hardware", None) => devices::all().map(json::device).collect(),
        ("models", Some(key)) => json::model(catalog::model(key)?),
        ("models", None) => models::all().map(json::model).collect(),
        (_, Some(key)) => json::format(catalog::format(key)?),
        (_, None) => formats::FORMATS.iter().copied().map(json::format).collect(),
    })
}

pub(super) fn run_hardware(matches: &ArgMatches) -> Result<(), Failure> {
    if let Some(key) = matches.get_one::<String>("key") {
        let files = weight_files::user_files();
        let device = Library::with_files(&files).device(key)?;
        return one(matches, summary::device(&device), json::device(&device));
    }
    let wanted = Filter::of(matches);
    let found = || {
        devices::all()
            .filter(|device| wanted.admits(&[&device.key, &device.name, &device.aliases.join(" ")]))
    };
    all(matches, summary::devices(found()), found().map(json::device).collect())
}

pub(super) fn run_models(matches: &ArgMatches) -> Result<(), Failure> {
    if let Some(key) = matches.get_one::<String>("key") {
        let files = weight_files::user_files();
        let model = Library::with_files(&files).model(key, Unread::Refuse)?;
        let (document, value) = match models::all().find(|row| row.key == model.key) {
            Some(row) => (summary::model(row), json::model(row)),
            None => (summary::named_model(&model), json::named_model(&model)),
        };
        return one(matches, document, value);
    }
    let wanted = Filter::of(matches);
    let found = || {
        models::all().filter(|model| {
            wanted.admits(&[model.key, model.name, model.hf_id, &model.other_names.join(" ")])
        })
    };
    all(matches, summary::models(found()), found().map(json::model).collect())
}

pub(super) fn run_formats(matches: &ArgMatches) -> Result<(), Failure> {
    if let Some(key) = matches.get_one::<String>("key") {
        let format = catalog::format(key)?;
        return one(matches, summary::format(format), json::format(format));
    }
    let wanted = Filter::of(matches);
    let found = || {
        formats::FORMATS.iter().copied().filter(|format| wanted.admits(&[format.key, format.name]))
    };
    all(matches, summary::formats(found()), found().map(json::format).collect())
}

fn one(matches: &ArgMatches, document: Document, value: Value) -> Result<(), Failure> {
    Answer { document, value, rows: Rows::One }.print(Form::of(matches))
}

fn all(matches: &ArgMatches, document: Document, rows: Vec<Value>) -> Result<(), Failure> {
    if let (true, Some(text)) = (rows.is_empty(), matches.get_one::<String>("filter")) {
        return Err(nothing_has(text));
    }
    Answer { document, value: Value::Array(rows), rows: Rows::List }.print(Form::of(matches))
}

fn nothing_has(text: &impl Display) -> Failure {
    Failure::bad(format!("no key or name contains `{text}`; omit --filter to list all"))
}

/// A filter: text that keys or names must contain, ignoring case.
struct Filter(String);

impl Filter {
    fn of(matches: &ArgMatches) -> Self {
        Self(
            matches.get_one::<String>("filter").map(|text| text.to_lowercase()).unwrap_or_default(),
        )
    }

    fn admits(&self, names: &[&str]) -> bool {
        names.iter().any(|name| name.to_lowercase().contains(&self.0))
    }
}
