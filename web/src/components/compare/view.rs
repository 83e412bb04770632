//! Root component of the Compare view.

use leptos::prelude::*;

use super::CompareContext;
use super::chart::CompareChart;
use super::choices::Choices;
use super::table::CompareTable;
use crate::charts::paper;
use crate::components::erased::{block, derived, flag, memo, on, text};
use crate::components::notes::Notes;
use crate::components::startup::{Startup, in_turn};
use crate::state::compare::pinning::add;
use crate::state::compare::{self, CompareShown, SchemeChange, schemes};
use crate::state::inputs::{Inputs, Pins};
use crate::state::model::answer::next as next_model;
use crate::state::session::{Session, Step};

/// Two to four scenarios side by side: the verdict, one chart, and the rows that differ.
#[component]
pub fn CompareView() -> impl IntoView {
    let session = expect_context::<Session>();
    paper::begin(session);
    let shown = memo(move |before| {
        session.settled.track();
        session.inputs.with_untracked(|inputs| compare::next(before, inputs))
    });
    provide_context(CompareContext { shown, pointed: RwSignal::new(None) });
    let startup: Startup = expect_context();
    // The browser compiles a function when it is first called: here those of an estimate, before those of a recommendation.
    startup.warm_up(move || {
        let estimate = |inputs: &Inputs| drop(next_model(None, &inputs.model, inputs.place()));
        session.inputs.with_untracked(estimate);
    });
    startup.prepare(shown);
    let title = text(move || {
        shown.with(|shown| match shown.sentence.as_str() {
            "" => "Compare scenarios".to_owned(),
            sentence => sentence.to_owned(),
        })
    });
    in_turn(move || {
        let listed = move |list: fn(&CompareShown) -> &Vec<String>| {
            block(move || {
                let texts = shown.with(|shown| list(shown).clone());
                let line = |text| view! { <p class="message">{text}</p> };
                texts.into_iter().map(line).collect_view().into_any()
            })
        };
        let (faults, warnings) = (listed(|shown| &shown.faults), listed(|shown| &shown.warnings));
        view! {
                <main class="compare">
                    <Notes/>
                    <p class="common">{text(move || shown.with(|shown| shown.common.clone()))}</p>
                    <div class="verdict" aria-live="polite">
                        <h1>{title}</h1>
                        <p>{text(move || shown.with(|shown| shown.line.clone()))}</p>
                    </div>
                    <div class="warnings">{warnings}</div>
                    <div role="alert">{faults}</div>
                    <HoldScheme/>
                    {in_turn(|| view! { <Add/> }.into_any())}
                    {in_turn(|| view! { <CompareChart/> }.into_any())}
                    {in_turn(|| view! { <CompareTable/> }.into_any())}
                </main>
        }
        .into_any()
    })
}

/// A button that gives all columns one scheme, or each the one that is best for it; hidden where neither changes anything.
#[component]
fn HoldScheme() -> impl IntoView {
    let session = expect_context::<Session>();
    let CompareContext { shown, .. } = expect_context();
    let hold = memo(move |_| shown.with(|shown| shown.hold.clone()));
    let button = block(move || match hold.get() {
        None => ().into_any(),
        Some(SchemeChange { label, scheme }) => {
            let change = move |_| session.edit(Step::Choice, |inputs| schemes::set(inputs, scheme));
            view! {
                <p class="hold">
                    <button type="button" class="chip strong" id="hold-scheme" on:click=on(change)>{label}</button>
                </p>
            }
            .into_any()
        }
    });
    view! { <div class="hold-scheme">{button}</div> }
}

/// Choices for another column, which differ from the first one; hidden while there is no room for one.
#[component]
fn Add() -> impl IntoView {
    let session = expect_context::<Session>();
    let CompareContext { shown, .. } = expect_context();
    let is_full = flag(move || shown.with(|shown| shown.columns.len() >= Pins::MOST));
    let scenario = derived(move || {
        let pins = session.inputs.with(|inputs| inputs.pins.clone());
        let first = shown.with(|shown| shown.first().cloned()).unwrap_or_default();
        Inputs { pins, ..first }
    });
    let on_add = move |pin: String| {
        // There is room: the choices are hidden otherwise.
        session.edit(Step::Choice, |inputs| drop(add(inputs, pin)));
    };
    view! {
        <div class="compare-bar" role="group" aria-label="Add a column" hidden=is_full>
            <Choices scenario=scenario title="Add a column:" on_choose=Callback::new(on_add)/>
        </div>
    }
}
