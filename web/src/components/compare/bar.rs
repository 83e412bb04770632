//! Pins beside the scenario line of the Plan view.

use core::time::Duration;

use leptos::prelude::*;

use super::choices::Choices;
use crate::components::chunk::LazyPart;
use crate::components::erased::{block, derived, memo, on};
use crate::components::fetched::Fetched;
use crate::state::compare::offers::mode_pair;
use crate::state::compare::pinning::{against, between, pin};
use crate::state::inputs::{Inputs, Pins};
use crate::state::session::{Session, Step};
use crate::state::url::Note;

/// Time after which the choices are fetched, so that the answer is drawn first.
const FETCH_AFTER: Duration = Duration::from_millis(500);

/// The choices beside the scenario line, a moment after the line itself.
#[component]
pub fn CompareLater() -> impl IntoView {
    let bar = Fetched::new(LazyPart::CompareBar);
    let fetching = set_timeout_with_handle(move || bar.ask(), FETCH_AFTER);
    on_cleanup(move || drop(fetching.map(|timer| timer.clear())));
    view! { <div class="compare-later">{block(move || bar.show())}</div> }
}

/// A button that pins the scenario, and one for each scenario that is a click away.
#[component]
pub fn CompareBar() -> impl IntoView {
    let session = expect_context::<Session>();
    let count = memo(move |_| session.inputs.with(|inputs| inputs.pins.list.len()));
    let label = block(move || match count.get() {
        0 => "Compare".into_any(),
        count => format!("Add to the comparison of {count}").into_any(),
    });
    let on_pin = move |_| {
        // The inputs stay as they are if the scenario cannot be added.
        let mut refused = None;
        session.edit(Step::Choice, |inputs| refused = pin(inputs).err());
        if let Some(text) = refused {
            session.notes.update(|notes| notes.push(Note { text }));
        }
    };
    let scenario = derived(move || Inputs { pins: Pins::default(), ..session.inputs.get() });
    let compare = move |other: String| session.edit(Step::Choice, |inputs| against(inputs, &other));
    let pair = memo(move |_| scenario.with(mode_pair));
    let modes = block(move || match pair.get() {
        None => ().into_any(),
        Some((label, pins)) => {
            let compare =
                move |_| session.edit(Step::Choice, |inputs| between(inputs, pins.clone()));
            view! { <button type="button" class="chip" id="compare-modes" on:click=on(compare)>{label}</button> }
                .into_any()
        }
    });
    view! {
        <div class="compare-bar" role="group" aria-label="Compare">
            <button type="button" class="chip strong" id="compare-pin" on:click=on(on_pin)>{label}</button>
            {modes}
            <Choices scenario=scenario title="against" on_choose=Callback::new(compare)/>
        </div>
    }
}
