//! A plan of what fits, in a sentence.

use calc_core::recommend::{End, Room};
use serde_json::Value;

use super::{Brief, choice, scheme, subject};
use crate::input::request::{FitChange, FitInputs, FitPlan};
use crate::number_text as n;
use crate::output::words::advice::{self, scheme_name};
use crate::output::words::{self, memory};

/// Rows that are named after the first one.
const NAMED: usize = 4;

/// The plan in sentences: the fit as asked, the first scheme, and the changes to make where none fits.
pub fn plan(inputs: &FitInputs, plan: &FitPlan) -> Brief {
    let devices = inputs.asked.workload.parallel.devices();
    let asked = memory::fit(&plan.asked.memory, devices);
    let mut sentence = format!("{}: {asked}", subject(&inputs.asked, &plan.asked));
    let mut lines: Vec<String> = words::too_long(&inputs.asked).into_iter().collect();
    let usable = plan.asked.memory.usable;
    lines.push(format!(
        "Usable memory: {} = {} (derived).",
        n::bytes(usable.bytes),
        memory::origin(&inputs.asked.device, usable)
    ));
    match plan.ranking.ranked.as_slice() {
        [] => {
            sentence += &format!(" {}", stuck(plan));
            lines.push(advice::drop_counts(&plan.ranking.dropped));
            // The sentence has the first one.
            lines.extend(plan.changes.iter().skip(1).map(change));
            lines.extend(plan.devices.iter().map(|found| format!("Larger: {}.", choice(found))));
        }
        [first, others @ ..] => {
            let schemes = if others.is_empty() {
                "One scheme fits".to_owned()
            } else {
                format!("{} schemes fit", others.len() + 1)
            };
            sentence += &format!(" {schemes}; the first is {}.", scheme(first));
            lines.extend(plan.room.and_then(|room| room_text(&room, first.scheme)));
            let next = others.iter().take(NAMED);
            lines.extend(next.map(|row| format!("Also fits: {}.", scheme(row))));
        }
    }
    lines.extend(super::notes(words::model_request_notes(&inputs.asked)));
    Brief { sentence, lines }
}

/// The sentence where no scheme fits and meets the bounds.
fn stuck(plan: &FitPlan) -> String {
    let least = plan.least.map_or(String::new(), |least| {
        format!(" The smallest scheme needs {} (derived).", n::bytes(least))
    });
    let then = match (plan.changes.first(), plan.devices.first()) {
        (Some(first), _) => format!(" {}", change(first)),
        (None, Some(device)) => {
            format!(
                " No change tried here helps; the smallest device that has room is {}.",
                choice(device)
            )
        }
        (None, None) => " No change tried here and no device of the catalog has room.".to_owned(),
    };
    format!("No scheme fits and meets the bounds.{least}{then}")
}

/// A change and the scheme that is the first after it: `With batch 12: GGUF Q8_0, …`.
fn change(change: &FitChange) -> String {
    let told = change.fields.iter().map(|(key, value)| match value {
        Value::String(text) => format!("{key} {text}"),
        value => format!("{key} {value}"),
    });
    format!("With {}: {}.", told.collect::<Vec<_>>().join(", "), scheme(&change.first))
}

/// The largest batch and context with a scheme; `None` where neither is known.
fn room_text(room: &Room, scheme: &calc_core::scheme::Scheme) -> Option<String> {
    let end = |end: End| match end {
        End::Memory => "memory",
        End::Time => "a bound on time",
        End::Model => "the model",
        End::Range => "the range of the search",
    };
    let batch = room
        .batch
        .map(|most| format!("batch {} (limited by {})", n::count(most.value), end(most.end)));
    let context = room.context.map(|most| {
        format!("{} tokens of context (limited by {})", n::count(most.value), end(most.end))
    });
    let parts: Vec<String> = batch.into_iter().chain(context).collect();
    let name = scheme_name(scheme);
    (!parts.is_empty()).then(|| format!("{name} has room for {} (derived).", parts.join(" or ")))
}
