//! The inspector: what was clicked explains itself here; below it what would change the answer, and how to apply it.

use leptos::prelude::*;
use report::output::verdict::explain::Explanation;
use report::output::words::advice;

use super::PlanContext;
use crate::charts::paper;
use crate::components::advice::way;
use crate::components::basis_badge::BasisBadge;
use crate::components::device_facts::DeviceFacts;
use crate::components::erased::{block, flag, memo};
use crate::components::model::care::cautions;
use crate::state::plan::{RATE, refusal, ways_of};
use crate::state::session::Session;

/// Content of the right column of the Plan view.
#[component]
pub fn Inspector() -> impl IntoView {
    let session = expect_context::<Session>();
    paper::begin(session);
    let PlanContext { shown, inspected, .. } = expect_context();
    let cautions = cautions();
    let explanation = memo(move |_| {
        let clicked = inspected.get();
        let name = clicked.unwrap_or("Speed");
        shown.with(|shown| {
            if shown.answer.is_refused && clicked.is_none() {
                return session.inputs.with_untracked(refusal);
            }
            let card = shown.answer.cards.iter().find(|card| card.name == name);
            card.or(shown.answer.cards.first()).map(|card| card.number.explanation.clone())
        })
    });
    let explained = block(move || match explanation.get() {
        None => ().into_any(),
        Some(explanation) => explain(explanation).into_any(),
    });
    // Nobody can click on paper: there every card explains itself.
    let cards = memo(move |_| shown.with(|shown| shown.answer.cards.clone()));
    let on_paper = block(move || {
        let explained = cards.get().into_iter().map(|card| explain(card.number.explanation));
        explained.collect_view().into_any()
    });
    let flips = memo(move |_| {
        shown.with(|shown| shown.answer.flips.iter().map(advice::flip).collect::<Vec<_>>())
    });
    let ways = memo(move |_| {
        shown.with(|shown| session.inputs.with_untracked(|inputs| ways_of(shown, inputs)))
    });
    // The notes are about times.
    let notes = memo(move |_| {
        if shown.with(|shown| shown.answer.no_speed.is_some()) {
            return Vec::new();
        }
        cautions.get()
    });
    let list = |items: Vec<String>| {
        items.into_iter().map(|item| view! { <li>{item}</li> }).collect_view().into_any()
    };
    view! {
            <div class="on-screen" aria-live="polite">{explained}</div>
            <div class="on-paper">{on_paper}</div>
            <div hidden=flag(move || flips.with(Vec::is_empty))>
                <h2>"What would flip it"</h2>
                <ul>{block(move || list(flips.get()))}</ul>
            </div>
            <div hidden=flag(move || ways.with(Vec::is_empty))>
                <h2>"Do it"</h2>
                {block(move || ways.get().into_iter().map(way).collect_view().into_any())}
            </div>
            <div hidden=flag(move || notes.with(Vec::is_empty))>
                <h2>"Read with care"</h2>
                <ul>{block(move || list(notes.get()))}</ul>
            </div>
            <DeviceFacts/>
    }
}

fn explain(explanation: Explanation) -> impl IntoView {
    let Explanation { title, formula, values, provenance, source } = explanation;
    let is_time = title == RATE;
    view! {
        <h2>{title} " " <BasisBadge provenance=provenance is_time=is_time/></h2>
        <p class="formula">{formula}</p>
        <p>{values}</p>
        <p class="source">{source}</p>
    }
}
