//! `analyze` and `estimate`: fields of a request in, answer out; from flags, or line by line from stdin.

use std::io;

use clap::{Arg, ArgAction, ArgMatches, Command};
use report::input::request::{AnalyzeInputs, EstimateInputs, Fields, Library, RequestError};
use report::output::json::analyze::AnalyzeJson;
use report::output::json::estimate::EstimateJson;
use report::output::summary;
use serde_json::json;

use super::{flags, lines};
use crate::failure::Failure;
use crate::output;
use crate::output::{Answer, Form, Rows};
use crate::weight_files;

/// The subject of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Analyze,
    Estimate,
}

impl Verb {
    pub(super) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Analyze => flags::ANALYZE,
            Self::Estimate => flags::ESTIMATE,
        }
    }

    fn answer(self, fields: Fields, library: &Library<'_>) -> Result<Answer, RequestError> {
        let (document, value) = match self {
            Self::Analyze => {
                let inputs = AnalyzeInputs::parse(fields, library)?;
                let answer = inputs.analyze()?;
                (summary::analyze(&inputs, &answer), json!(AnalyzeJson::new(&inputs, &answer)))
            }
            Self::Estimate => {
                let inputs = EstimateInputs::parse(fields, library)?;
                let answer = inputs.estimate()?;
                (summary::estimate(&inputs, &answer), json!(EstimateJson::new(&inputs, &answer)))
            }
        };
        Ok(Answer { document, value, rows: Rows::One })
    }

    /// The answer as one line of JSON, serialized straight from its types because batch use needs 10,000 requests per second.
    pub(super) fn json(
        self,
        fields: Fields,
        library: &Library<'_>,
    ) -> Result<Vec<u8>, RequestError> {
        let written = match self {
            Self::Analyze => {
                let inputs = AnalyzeInputs::parse(fields, library)?;
                let answer = inputs.analyze()?;
                serde_json::to_vec(&AnalyzeJson::new(&inputs, &answer))
            }
            Self::Estimate => {
                let inputs = EstimateInputs::parse(fields, library)?;
                let answer = inputs.estimate()?;
                serde_json::to_vec(&EstimateJson::new(&inputs, &answer))
            }
        };
        Ok(written.expect("answers have text keys and go to memory, so writing them cannot fail"))
    }
}

/// Adds the flags that `analyze` and `estimate` share.
pub(super) fn with_lines(command: Command) -> Command {
    let lines = Arg::new("jsonl").long("jsonl").action(ArgAction::SetTrue).help(
        "Read requests from stdin, one JSON object per line with the flag names as keys; flags given here are the \
         defaults of every line",
    );
    command.arg(lines).arg(output::argument())
}

pub(super) fn run(verb: Verb, matches: &ArgMatches) -> Result<(), Failure> {
    run_with(
        verb.keys(),
        matches,
        |fields, library| verb.answer(fields, library),
        |fields, library| verb.json(fields, library),
    )
}

/// Answers the flags, or each line of stdin with `--jsonl`; `json` writes the same answer as one line.
pub(super) fn run_with(
    keys: &[&str],
    matches: &ArgMatches,
    answer: impl Fn(Fields, &Library<'_>) -> Result<Answer, RequestError>,
    json: impl Fn(Fields, &Library<'_>) -> Result<Vec<u8>, RequestError>,
) -> Result<(), Failure> {
    let files = weight_files::user_files();
    let library = Library::with_files(&files);
    let given = flags::fields(matches, keys);
    if !matches.get_flag("jsonl") {
        return answer(Fields::new(given), &library)?.print(Form::of(matches));
    }
    match Form::asked(matches) {
        None | Some(Form::Jsonl) => {
            lines::answer(io::stdin().lock(), io::stdout().lock(), |fields| {
                let mut all = given.clone();
                all.extend(fields);
                json(Fields::new(all), &library)
            })
        }
        Some(Form::Table | Form::Json | Form::Csv | Form::Md) => {
            Err(Failure::bad("--jsonl always answers in JSON lines; omit --output"))
        }
    }
}
