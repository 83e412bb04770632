//! Right column of the Model view: recommendation, caveats, and the facts behind them.

use leptos::prelude::*;

use super::ModelContext;
use crate::components::advice::{AdvicePanel, advice_of};
use crate::components::chunk::LazyPart;
use crate::components::device_facts::DeviceFacts;
use crate::components::erased::{block, flag, memo, text};
use crate::components::explore::link::ExploreLink;
use crate::components::fetched::Folded;
use crate::components::inspected::InspectedPanel;
use crate::components::inverse::Inverse;
use crate::components::stale::Stale;
use crate::components::startup::{Startup, in_turn};
use crate::state::advice::SchemeFormats;
use crate::state::advice::question::of_model;
use crate::state::check::typed;
use crate::state::claim::AMOUNT;
use crate::state::model::answer::notes;
use crate::state::session::Session;

/// Caveats of the answer; while inputs are invalid, those of the last valid ones.
pub fn cautions() -> Memo<Vec<String>> {
    let ModelContext { inputs, shown, .. } = expect_context();
    memo(move |before| {
        let notes =
            shown.with(|shown| inputs.with(|inputs| notes(&inputs.model, inputs.place(), shown)));
        notes.or(before.cloned()).unwrap_or_default()
    })
}

/// Recommendation, inverse questions, the way to all devices, plausibility check, caveats, and facts of device and model.
#[component]
pub fn Care() -> impl IntoView {
    let session = expect_context::<Session>();
    let stale = expect_context::<Stale>().flag();
    let claimed = session.inputs.with_untracked(|inputs| !typed(inputs, AMOUNT).is_empty());
    let advice = advice_of(session, of_model);
    expect_context::<Startup>().prepare(advice);
    let notes = cautions();
    let list = block(move || {
        notes.get().into_iter().map(|note| view! { <li>{note}</li> }).collect_view().into_any()
    });
    let model = text(move || session.inputs.with(|inputs| inputs.model.name()));
    let source =
        text(move || session.inputs.with(|inputs| inputs.model.base.source().trim().to_owned()));
    view! {
        <aside class="limits" class:stale=stale aria-label="Advice and facts">
            {in_turn(|| view! { <InspectedPanel/> }.into_any())}
            {in_turn(move || view! { <AdvicePanel advice=advice stale=stale take=SchemeFormats::of_model/> }.into_any())}
            {in_turn(|| view! { <Inverse/><ExploreLink/> }.into_any())}
            <Folded class="fold" title="Is this possible?" part=LazyPart::Check open=claimed/>
            <div hidden=flag(move || notes.with(Vec::is_empty))>
                <h2>"Read with care"</h2>
                <ul>{list}</ul>
            </div>
            {in_turn(|| view! { <DeviceFacts/> }.into_any())}
            <details class="sources">
                <summary>"Source of " {model}</summary>
                <p>{source}</p>
            </details>
        </aside>
    }
}
