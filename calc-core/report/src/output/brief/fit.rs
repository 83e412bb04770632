//! A plan of what fits, in a sentence.

use calc_core::recommend::{End, Largest, Ranked, Room};

use super::{Brief, choice, limit, scheme, subject};
use crate::input::request::{FitChange, FitInputs, FitPlan};
use crate::number_text as n;
use crate::output::words::advice::{self, scheme_name};
use crate::output::words::remedies::{self, Asked};
use crate::output::words::{self, memory};

/// Rows that are named after the first one.
const NAMED: usize = 4;

/// The plan in sentences: the fit as asked, the first scheme, and the changes to make where none fits.
pub fn plan(inputs: &FitInputs, plan: &FitPlan) -> Brief {
    let devices = inputs.asked.workload.parallel.devices();
    let asked = memory::fit(&plan.asked.memory, devices);
    let usable = plan.asked.memory.usable;
    let limit = limit(&inputs.asked);
    let mut sentence = format!("{}: {limit}{asked}", subject(&inputs.asked, &plan.asked));
    let beside = plan.asked.memory.host.map_or(String::new(), |host| {
        format!(" on the card, and {} on the host", n::bytes(host.usable))
    });
    let mut lines = vec![format!(
        "Usable memory: {} = {}{beside} (derived).",
        n::bytes(usable.bytes),
        memory::origin(&inputs.asked.device, usable)
    )];
    match plan.ranking.ranked.as_slice() {
        [] => {
            sentence += &format!(" {}", stuck(plan));
            lines.push(advice::drop_counts(&plan.ranking.dropped));
            // The sentence has the first one.
            lines.extend(plan.changes.iter().skip(1).map(change));
            lines.extend(plan.devices.iter().map(|found| format!("Larger: {}.", choice(found))));
        }
        [first, others @ ..] => {
            let schemes = match (others.len() + 1, usable.is_known) {
                (1, true) => "One scheme fits".to_owned(),
                (1, false) => "One scheme may fit".to_owned(),
                (count, true) => format!("{count} schemes fit"),
                (count, false) => format!("{count} schemes may fit"),
            };
            let also = if usable.is_known { "Also fits" } else { "May fit, too" };
            sentence += &format!(" {schemes}; the first is {}.", scheme(first));
            lines.extend(plan.room.and_then(|room| room_text(&room, first)));
            let next = named(others, inputs);
            lines.extend(next.map(|row| format!("{also}: {}.", scheme(row))));
        }
    }
    lines.extend(super::notes(words::model_request_notes(&inputs.asked)));
    Brief { sentence, lines }
}

/// The next rows, with that of the format that the request names.
fn named<'a>(others: &'a [Ranked], inputs: &FitInputs) -> impl Iterator<Item = &'a Ranked> {
    let format = inputs.recommend.asked_weights.as_ref().map(|_| inputs.asked.precision.weights);
    let asked = move |row: &&Ranked| Some(row.outcome.precision.weights) == format;
    let later = others.iter().skip(NAMED).filter(asked);
    others.iter().take(NAMED).chain(later)
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
                " No change tried here helps; the smallest device on which a scheme does is {}.",
                choice(device)
            )
        }
        (None, None) => {
            " No change tried here helps, and on no device of the catalog a scheme does.".to_owned()
        }
    };
    format!("No scheme fits and meets the bounds.{least}{then}")
}

/// A change and the scheme that is the first after it: `With batch 12: GGUF Q8_0, …`.
fn change(change: &FitChange) -> String {
    let told = remedies::fields(&change.fields, Asked::Fields);
    let without = if change.lacks_link { ", without the link, which nobody published" } else { "" };
    format!("With {told}: {}{without}.", scheme(&change.first))
}

/// The largest batch and context with a scheme; `None` where neither is known, as where an unknown memory limits both.
fn room_text(room: &Room, first: &Ranked) -> Option<String> {
    let is_known = |most: &Largest| first.outcome.usable.is_known || most.end != End::Memory;
    let end = |end: End| match end {
        End::Memory => "memory",
        End::Time => "a bound on time",
        End::Model => "the model",
        End::Range => "the range of the search",
    };
    let batch = room
        .batch
        .filter(is_known)
        .map(|most| format!("batch {} (limited by {})", n::count(most.value), end(most.end)));
    let context = room.context.filter(is_known).map(|most| {
        format!("{} tokens of context (limited by {})", n::count(most.value), end(most.end))
    });
    let parts: Vec<String> = batch.into_iter().chain(context).collect();
    let name = scheme_name(first.scheme);
    (!parts.is_empty()).then(|| format!("{name} has room for {} (derived).", parts.join(" or ")))
}
