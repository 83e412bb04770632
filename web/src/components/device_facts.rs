//! Facts of the chosen device with their provenance.

use leptos::prelude::*;

use super::erased::{block, memo, text};
use super::explained::Explained;
use crate::state::derived::{DeviceFact, facts};
use crate::state::editor::{FACT_ID, fact_badge};
use crate::state::session::Session;

/// List of bandwidth, memory, peaks and power, each with a provenance badge.
#[component]
pub fn DeviceFacts() -> impl IntoView {
    let session = expect_context::<Session>();
    let facts = memo(move |_| session.inputs.with(facts));
    let name = text(move || session.inputs.with(|inputs| inputs.device.name.to_string()));
    let source = text(move || session.inputs.with(|inputs| inputs.device.source.trim().to_owned()));
    let remarks = text(move || session.inputs.with(|inputs| inputs.device.notes.trim().to_owned()));
    let fact = move |(index, fact): (usize, DeviceFact)| {
        let provenance = fact.value.explanation.provenance;
        let (badge, meaning) =
            session.inputs.with_untracked(|inputs| fact_badge(inputs, provenance));
        view! {
            <div>
                <dt>{fact.name}</dt>
                <dd>
                    <Explained id=format!("{FACT_ID}{index}") cell=fact.value/>
                    <span class="badge" title=meaning>{badge}</span>
                </dd>
            </div>
        }
    };
    let list =
        block(move || facts.get().into_iter().enumerate().map(fact).collect_view().into_any());
    view! {
        <details class="fold">
            <summary>{name}</summary>
            <dl class="facts">{list}</dl>
            <details class="sources">
                <summary>"Source and remarks"</summary>
                <p>{source}</p>
                <p>{remarks}</p>
            </details>
        </details>
    }
}
