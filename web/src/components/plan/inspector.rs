//! The inspector: what was clicked explains itself here; below it what would change the answer, and how to apply it.

use leptos::prelude::*;
use report::output::words::advice;

use super::PlanContext;
use crate::charts::paper;
use crate::components::advice::way;
use crate::components::device_facts::DeviceFacts;
use crate::components::erased::{block, derived, flag, memo};
use crate::components::inspected::{InspectedPanel, explain};
use crate::components::model::care::cautions;
use crate::components::model::import::DropTarget;
use crate::components::startup::soon;
use crate::state::plan::{RATE, flips as flips_of, refusal, ways_of};
use crate::state::session::Session;

/// Content of the right column of the Plan view.
#[component]
pub fn Inspector() -> impl IntoView {
    let session = expect_context::<Session>();
    paper::begin(session);
    let shown = expect_context::<PlanContext>().shown;
    let cautions = cautions();
    // Without a click: why a picked scheme is refused, or the speed.
    let otherwise = derived(move || {
        shown.with(|shown| {
            if shown.answer.is_refused {
                return session.inputs.with_untracked(refusal);
            }
            let cards = &shown.answer.cards;
            let speed = cards.iter().find(|card| card.number.explanation.title == RATE);
            speed.or(cards.first()).map(|card| card.number.explanation.clone())
        })
    });
    // Nobody can click on paper: there every card explains itself.
    let cards = memo(move |_| shown.with(|shown| shown.answer.cards.clone()));
    let on_paper = soon(move || {
        let explained =
            cards.get().into_iter().map(|card| explain(session, "", card.number.explanation));
        explained.collect_view().into_any()
    });
    let flips = memo(move |_| {
        shown.track();
        session.inputs.with_untracked(flips_of).iter().map(advice::flip).collect::<Vec<_>>()
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
            <DropTarget/>
            {soon(move || view! { <InspectedPanel otherwise=otherwise/> }.into_any())}
            <div class="on-paper">{on_paper}</div>
            {soon(move || view! {
                <div hidden=flag(move || flips.with(Vec::is_empty))>
                    <h2>"What would flip it"</h2>
                    <ul>{block(move || list(flips.get()))}</ul>
                </div>
            }.into_any())}
            <div hidden=flag(move || ways.with(Vec::is_empty))>
                <h2>"Do it"</h2>
                {block(move || ways.get().into_iter().map(way).collect_view().into_any())}
            </div>
            <div hidden=flag(move || notes.with(Vec::is_empty))>
                <h2>"Read with care"</h2>
                <ul>{block(move || list(notes.get()))}</ul>
            </div>
            {soon(|| view! { <DeviceFacts/> }.into_any())}
    }
}
