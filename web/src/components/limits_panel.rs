//! The right column: what to use, and what limits the chosen format.

use leptos::prelude::*;

use super::advice::{AdvicePanel, advice_of};
use super::erased::{block, flag, memo, text};
use super::explained::Explained;
use crate::state::advice::Taken;
use crate::state::advice::question::of_operator;
use crate::state::derived::{Bar, Limits};
use crate::state::inputs::Inputs;
use crate::state::operator::Op;
use crate::state::session::Session;
use report::number_text::typed;

/// What to use; and what limits the chosen format and would change it, folded where there is advice.
#[component]
pub fn LimitsPanel() -> impl IntoView {
    let session = expect_context::<Session>();
    let limits = memo(move |_| session.shown.with(|shown| shown.kernel.limits.clone()));
    let stale = move || session.shown.with(crate::state::derived::Shown::is_stale);
    let advice = advice_of(session, of_operator);
    let advised = memo(move |_| session.inputs.with(|inputs: &Inputs| inputs.op == Op::Gemm));
    let name = text(move || {
        limits.with(|limits| limits.as_ref().map_or_else(String::new, |limits| limits.name.clone()))
    });
    let bar = |(index, bar): (usize, Bar)| {
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
    let body = move |limits: Limits| {
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
    view! {
        <div class:stale=flag(stale)>
            {block(move || advised.get().then(|| view! { <AdvicePanel advice=advice stale=flag(stale) take=Taken::of_operator/> }).into_any())}
            <details class="fold" hidden=flag(move || limits.with(Option::is_none)) prop:open=flag(move || !advised.get())>
                <summary>"What limits " {name}</summary>
                {block(move || limits.get().map(body).into_any())}
            </details>
        </div>
    }
}
