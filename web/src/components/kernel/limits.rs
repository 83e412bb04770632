//! Limits of the chosen format, and changes that would shift them.

use leptos::prelude::*;
use report::number_text::typed;

use crate::components::erased::{block, memo};
use crate::components::explained::Explained;
use crate::state::derived::{LimitBar, LimitsAnswer, limits};
use crate::state::session::Session;

/// Bars of the times, changes that would shift them, and caveats; while a field is invalid, the last valid ones.
#[component]
pub fn LimitsBody() -> impl IntoView {
    let session = expect_context::<Session>();
    let shown = memo(move |before: Option<&Option<LimitsAnswer>>| {
        session.inputs.with(limits).or_else(|| before.cloned().flatten())
    });
    let bar = |(index, bar): (usize, LimitBar)| {
        view! {
            <div class="bar" class:limits=bar.limits>
                <span class="name">{bar.name}</span>
                <Explained id=format!("bar-{index}") cell=bar.time/>
                <span class="track" aria-hidden="true">
                    <span class="length" style:width=format!("{}%", typed(bar.share * 100.0))></span>
                </span>
            </div>
        }
    };
    let body = move |limits: LimitsAnswer| {
        let list = |items: Vec<String>| {
            items.into_iter().map(|item| view! { <li>{item}</li> }).collect_view()
        };
        let no_notes = limits.notes.is_empty();
        view! {
            <p class="formats-line">{limits.formats}</p>
            <div class="bars">{limits.bars.into_iter().enumerate().map(bar).collect_view()}</div>
            <h2>"What would change it"</h2>
            <ul>{list(limits.changes)}</ul>
            <div hidden=no_notes>
                <h2>"Read with care"</h2>
                <ul>{list(limits.notes)}</ul>
            </div>
        }
    };
    block(move || shown.get().map(body).into_any())
}
