//! `schedule`: searches power mode, scheme and batch for a goal.

use clap::{ArgMatches, Command};
use report::input::request::{Fields, Library, RequestError, ScheduleInputs};
use report::output::json::schedule as json;
use report::output::summary;

use super::{flags, recommend, requests};
use crate::failure::Failure;
use crate::output::{Answer, Rows};

pub(super) fn command() -> Command {
    let command = Command::new("schedule")
        .about("Power mode, quantization and batch for a goal: latency, throughput, energy, quality, or under a power cap")
        .after_help(
            "Examples:\n  ridgepoint schedule --hardware jetson_orin_nano_8gb_super --model llama-3.2-3b --prompt 512 --power-cap-w 7\n  \
             ridgepoint schedule --hardware gb10 --model llama-3.1-8b --prompt 1024 --objective throughput --max-tpot-ms 50\n\n\
             Exit code 4: nothing meets all bounds.",
        );
    requests::with_lines(flags::add(command, &flags::schedule()))
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    recommend::run_ranked(&flags::schedule(), matches, answer)
}

fn answer(fields: Fields, library: &Library<'_>) -> Result<Answer, RequestError> {
    let inputs = ScheduleInputs::parse(fields, library)?;
    let answer = inputs.schedule()?;
    let value = json::schedule(&inputs, &answer);
    let document = summary::schedule(&inputs, &answer);
    Ok(Answer { document, value, rows: Rows::At("/ranked") })
}
