//! `recommend`: which scheme to use, why, and what would flip it.

use std::cell::Cell;

use calc_core::recommend::{devices, memory_steps};
use clap::{ArgMatches, Command};
use report::input::request::{Fields, Library, RecommendInputs, RequestError};
use report::output::json::recommend as json;
use report::output::summary;

use super::{flags, requests};
use crate::failure::Failure;
use crate::output::{Answer, Rows};

pub(super) fn command() -> Command {
    let command = Command::new("recommend")
        .about("Which quantization to use: schemes ranked or dropped with reasons, and what would flip the order")
        .after_help(
            "Examples:\n  ridgepoint recommend --hardware jetson_orin_nano_8gb_super --model llama-3.1-8b \\\n    \
             --batch 1 --prompt 512 --context 4096\n  \
             ridgepoint recommend --hardware h100 -m 2048 -n 4096 -k 4096 --phase prefill --objective energy\n  \
             ridgepoint recommend --hardware any --model qwen3-8b --batch 1 --prompt 512 --max-tpot-ms 50\n\n\
             With --hardware any the answer lists the devices of the catalog that meet the bounds, the smallest first.\n\
             Exit code 4: nothing meets all bounds.",
        );
    requests::with_lines(flags::add(command, flags::RECOMMEND))
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    run_ranked(flags::RECOMMEND, matches, answer)
}

/// Answers a request for a ranking; one in which nothing is left ends with exit code 4, once it is printed.
pub(super) fn run_ranked(
    keys: &[&str],
    matches: &ArgMatches,
    answer: fn(Fields, &Library<'_>) -> Result<Answer, RequestError>,
) -> Result<(), Failure> {
    let is_empty = Cell::new(false);
    let whole = |fields: Fields, library: &Library<'_>| {
        let answer = answer(fields, library)?;
        is_empty.set(answer.has_no_rows());
        Ok(answer)
    };
    let line = |fields: Fields, library: &Library<'_>| {
        answer(fields, library).map(|answer| answer.value.to_string().into_bytes())
    };
    requests::run_with(keys, matches, whole, line)?;
    if is_empty.get() {
        return Err(Failure::NotMet("nothing meets all bounds".into()));
    }
    Ok(())
}

/// A recommendation, or the devices for a goal.
pub(super) fn answer(fields: Fields, library: &Library<'_>) -> Result<Answer, RequestError> {
    let inputs = RecommendInputs::parse(fields, library)?;
    let request = inputs.request()?;
    if inputs.any_device {
        let found = devices(&request);
        let value = json::devices(&inputs, &found);
        let rows = Rows::At("/devices");
        return Ok(Answer { document: summary::device_choices(&inputs, &found), value, rows });
    }
    let answer = inputs.recommend()?;
    let steps = memory_steps(&request)?;
    let document = summary::recommendation(&inputs, &request, &answer, &steps);
    let value = json::recommendation(&inputs, &request, &answer)?;
    Ok(Answer { document, value, rows: Rows::At("/ranked") })
}
