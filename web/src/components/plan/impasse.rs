//! Part under the verdict: what is doubtful about measured roofs, ways out where no scheme meets the bounds, as buttons, and where a model
//! lies beside a host.

use leptos::prelude::*;

use super::PlanContext;
use crate::components::erased::{block, memo, on, text};
use crate::components::explore::link::ExploreLink;
use crate::components::measured_roofs::MeasuredRoofs;
use crate::components::model::placed::Placed;
use crate::state::plan::impasse::{Remedy, counts, remedies};
use crate::state::session::{Session, Step};

/// Part under the verdict: what is doubtful about measured roofs, where the model lies beside a host, and ways out where no scheme meets
/// the bounds.
#[component]
pub fn UnderVerdict() -> impl IntoView {
    let session = expect_context::<Session>();
    let is_measured = memo(move |_| session.inputs.with(|inputs| inputs.place().is_measured()));
    let roofs = block(move || {
        if is_measured.get() { view! { <MeasuredRoofs/> }.into_any() } else { ().into_any() }
    });
    let shown = expect_context::<PlanContext>().shown;
    let stuck = memo(move |_| shown.with(|shown| shown.answer.is_stuck()));
    let ways = block(move || {
        if stuck.get() { view! { <Impasse/> }.into_any() } else { view! { <Placed/> }.into_any() }
    });
    view! {
        {roofs}
        {ways}
    }
}

/// Changes after which a scheme meets the bounds; a click makes one.
#[component]
fn Impasse() -> impl IntoView {
    let session = expect_context::<Session>();
    let shown = expect_context::<PlanContext>().shown;
    let found = memo(move |_| {
        shown.with(|shown| session.inputs.with_untracked(|inputs| remedies(shown, inputs)))
    });
    let counts = text(move || {
        shown.track();
        session.inputs.with_untracked(counts)
    });
    let chip = move |remedy: Remedy| {
        let text = remedy.text.clone();
        let on_click = move |_| session.edit(Step::Choice, |inputs| remedy.apply(inputs));
        view! { <li><button type="button" class="chip" on:click=on(on_click)>{text}</button></li> }
    };
    let ways = block(move || {
        let found = found.get();
        if found.is_empty() {
            return view! {
                <p>"No single bound, shorter work or split over up to 16 devices is enough."</p>
                <ExploreLink/>
            }
            .into_any();
        }
        view! {
            <p>{if found.len() == 1 { "This is enough:" } else { "Each of these is enough:" }}</p>
            <ul>{found.into_iter().map(chip).collect_view()}</ul>
        }
        .into_any()
    });
    view! {
        <p>{counts}</p>
        {ways}
    }
}
