//! A tool: a question that a program may ask, with its arguments and its answer. The table of all is in `tools`.

use report::input::request::Library;

use super::answers::ToolAnswer;
use crate::failure::Failure;
use crate::verbs::answer_keys::AnswerKey;
use crate::verbs::api::Given;

/// A question that a program may ask.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Advice for the language model: the question that the tool answers.
    pub(super) description: &'static str,
    pub(super) arguments: Arguments,
    /// Arguments without which the tool refuses.
    pub(super) required: &'static [&'static str],
    /// Keys of the answer, beside those of every answer.
    pub(super) data: &'static [&'static [AnswerKey]],
    pub(super) answer: fn(Given, &Library<'_>) -> Result<ToolAnswer, Failure>,
}

/// Arguments of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arguments {
    /// The fields of a verb, and further arguments.
    Verb(&'static str, &'static [Argument]),
    /// These alone.
    Own(&'static [Argument]),
    /// A list of scenarios with the fields of `estimate`, which may stand beside it for all of them.
    Scenarios,
}

/// An argument that is no field of a verb.
#[derive(Debug)]
pub(super) struct Argument {
    pub(super) key: &'static str,
    pub(super) json_types: &'static [&'static str],
    pub(super) help: &'static str,
}
