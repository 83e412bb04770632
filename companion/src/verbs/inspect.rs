//! `inspect`: the tensors of weight files by role, and what header and config.json state.

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use report::input::named_model::NamedModel;
use report::output::json::inspect::{Inspected, inspect as json};
use report::output::summary;

use crate::failure::Failure;
use crate::output::{self, Answer, Form, Rows};
use crate::weight_files;
use calc_core::hf_config::Unread;

pub(super) fn command() -> Command {
    Command::new("inspect")
        .about("Weight files by their headers: tensors by role with bytes and types, and what disagrees")
        .after_help(
            "Only headers are read, whatever the size.\n\nExamples:\n  ridgepoint inspect model.gguf\n  \
             ridgepoint inspect path/to/downloaded-model/\n  ridgepoint inspect model-00001-of-00003.gguf --tensors\n  \
             ridgepoint inspect model.safetensors -o json",
        )
        .arg(
            Arg::new("path")
                .value_name("PATH")
                .required(true)
                .value_hint(ValueHint::AnyPath)
                .help("A .gguf or .safetensors file, any part of a split, or a folder with weight files"),
        )
        .arg(
            Arg::new("tensors")
                .long("tensors")
                .action(ArgAction::SetTrue)
                .help("List every tensor: role, shape, type, bytes, place in its file"),
        )
        .arg(output::argument())
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let path = matches.get_one::<String>("path").map_or("", String::as_str);
    let found = weight_files::find(path).map_err(|why| why.of_file(path))?;
    let Some(weights) = found else {
        let why = "no weight files; give a .gguf or .safetensors file, or a folder that has some";
        return Err(Failure::bad(format!("{path}: {why}")));
    };
    let model =
        NamedModel::of_weights(path, &weights, Unread::Refuse).map_err(|why| why.to_string());
    let inspected = Inspected {
        path,
        weights: &weights,
        model: model.as_ref().map_err(String::as_str),
        with_tensors: matches.get_flag("tensors"),
    };
    let (document, value) = (summary::inspect(&inspected), json(&inspected));
    Answer { document, value, rows: Rows::One }.print(Form::of(matches))
}
