//! The protocol over standard input and output: one message per line. A thread calculates, so that the client can cancel a question
//! that waits and is answered to `ping` meanwhile.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::{Map, Value};

use super::message::{INTERNAL, INVALID_REQUEST, Incoming, RpcError, parse};
use super::respond::{Context, respond};
use crate::failure::Failure;
use crate::verbs::lines::{InputLine, MAX_LINE, next_line};

/// Most questions that wait; a client that asks more waits itself.
const WAITING: usize = 64;

/// A question on its way to the thread that calculates.
struct Question {
    id: Value,
    method: String,
    params: Map<String, Value>,
}

/// The questions that are not answered yet, by their ids as JSON; true for those that the client has canceled.
#[derive(Default)]
struct Open(Mutex<BTreeMap<String, bool>>);

impl Open {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, bool>> {
        // A thread that panicked has left complete entries.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a question; false if its id is in use.
    fn add(&self, id: &Value) -> bool {
        let mut all = self.all();
        let is_new = !all.contains_key(&id.to_string());
        if is_new {
            all.insert(id.to_string(), false);
        }
        is_new
    }

    fn cancel(&self, id: &Value) {
        if let Some(canceled) = self.all().get_mut(&id.to_string()) {
            *canceled = true;
        }
    }

    fn is_canceled(&self, id: &Value) -> bool {
        self.all().get(&id.to_string()).copied().unwrap_or(true)
    }

    /// Removes a question; true if it is to be answered.
    fn close(&self, id: &Value) -> bool {
        self.all().remove(&id.to_string()) == Some(false)
    }
}

/// Answers the messages of `input` until its end, and every question that still waits then.
///
/// # Errors
/// A failure of input or output.
pub(crate) fn serve(
    input: impl Read,
    output: impl Write + Send,
    context: &Context,
) -> Result<(), Failure> {
    serve_with(input, output, |question: &Question| {
        respond(&question.id, &question.method, &question.params, context).message
    })
}

fn serve_with(
    input: impl Read,
    output: impl Write + Send,
    answer: impl Fn(&Question) -> Value + Sync,
) -> Result<(), Failure> {
    let output = Mutex::new(output);
    let open = Open::default();
    let (sender, receiver) = sync_channel(WAITING);
    thread::scope(|scope| {
        let calculating = scope.spawn(|| calculate(receiver, &open, &output, &answer));
        let read = read_all(input, &sender, &open, &output, &answer);
        drop(sender);
        let calculated = calculating.join().unwrap_or(Ok(()));
        Ok(read.and(calculated)?)
    })
}

/// Answers the questions in their order.
fn calculate(
    questions: Receiver<Question>,
    open: &Open,
    output: &Mutex<impl Write>,
    answer: &impl Fn(&Question) -> Value,
) -> io::Result<()> {
    for question in questions {
        let answered = (!open.is_canceled(&question.id)).then(|| contained(&question, answer));
        if open.close(&question.id)
            && let Some(message) = answered
        {
            write_line(output, &message)?;
        }
    }
    Ok(())
}

/// The answer; a panic ends this question only.
fn contained(question: &Question, answer: &impl Fn(&Question) -> Value) -> Value {
    catch_unwind(AssertUnwindSafe(|| answer(question))).unwrap_or_else(|_panicked| {
        let message = "a defect of this program; see its messages";
        RpcError::new(INTERNAL, message).answer(Some(&question.id))
    })
}

fn read_all(
    input: impl Read,
    questions: &SyncSender<Question>,
    open: &Open,
    output: &Mutex<impl Write>,
    answer: &impl Fn(&Question) -> Value,
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    while let Some(line) = next_line(&mut input)? {
        let InputLine::Text(bytes) = line else {
            let message = format!("a message has at most {MAX_LINE} bytes");
            write_line(output, &RpcError::new(INVALID_REQUEST, message).answer(None))?;
            continue;
        };
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        match parse(&bytes) {
            Err(refusal) => write_line(output, &refusal)?,
            Ok(Incoming::Response) => {}
            Ok(Incoming::Notification { method, params }) => {
                if let ("notifications/cancelled", Some(id)) = (&*method, params.get("requestId")) {
                    open.cancel(id);
                }
            }
            Ok(Incoming::Request { id, method, params }) => {
                let question = Question { id, method, params };
                if question.method != "tools/call" {
                    write_line(output, &contained(&question, answer))?;
                } else if !open.add(&question.id) {
                    let refusal =
                        RpcError::new(INVALID_REQUEST, "a question with this id still waits");
                    write_line(output, &refusal.answer(Some(&question.id)))?;
                } else if questions.send(question).is_err() {
                    // The other thread has ended, because nobody reads its answers.
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

fn write_line(output: &Mutex<impl Write>, message: &Value) -> io::Result<()> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.write_all(format!("{message}\n").as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests;
