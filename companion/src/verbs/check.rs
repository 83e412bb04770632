//! `check`: is a measured or claimed time possible?

use clap::{ArgMatches, Command};
use report::input::request::{CheckInputs, Fields, Library, RequestError};
use report::output::json::check::CheckJson;
use report::output::summary;
use serde_json::json;

use super::{flags, requests};
use crate::failure::Failure;
use crate::output::{Answer, Rows};

pub(super) fn command() -> Command {
    let command = Command::new("check")
        .about("Is this possible? A measured or claimed time against the roofs, and what could explain it")
        .after_help(
            "The flags of `estimate` or of `analyze`, and one claim; the batch is 1 unless it is named.\n\n\
             Examples:\n  ridgepoint check --hardware h100 --model llama-3.1-8b --weights bf16 --prompt 512 --tokens-per-s 500\n  \
             ridgepoint check --hardware b10 --model llama-3.1-8b --weights fp8_e4m3 --prompt 2048 --new-tokens 256 --seconds 9\n  \
             ridgepoint check --hardware jetson_orin_nano_8gb_super -m 1 -n 4096 -k 4096 --weights int4_g128 --time-us 60",
        );
    requests::with_lines(flags::add(command, &flags::check()))
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let line = |fields: Fields, library: &Library<'_>| {
        answer(fields, library).map(|answer| answer.value.to_string().into_bytes())
    };
    requests::run_with(&flags::check(), matches, answer, line)
}

fn answer(fields: Fields, library: &Library<'_>) -> Result<Answer, RequestError> {
    let inputs = CheckInputs::parse(fields, library)?;
    let answer = inputs.check()?;
    let value = json!(CheckJson::new(&inputs, &answer));
    Ok(Answer { document: summary::check(&inputs, &answer), value, rows: Rows::One })
}
