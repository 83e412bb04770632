//! Why an answer is not of what the reader entered.

use leptos::prelude::*;

use super::erased::{block, on, text};
use super::model_context::ModelContext;
use super::stale::Stale;
use crate::state::session::{Session, Step};
use crate::state::stale::why_stale;

/// The reason, and after a refused file the way to keep the model.
#[component]
pub fn WhyStale() -> impl IntoView {
    let session = expect_context::<Session>();
    let ModelContext { inputs: answered, shown, .. } = expect_context();
    let is_empty = expect_context::<Stale>().is_empty;
    let why = text(move || {
        let answered = (!is_empty.get()).then(|| answered.get());
        shown.with(|shown| {
            session.inputs.with(|inputs| why_stale(inputs, &shown.faults, answered.as_ref()))
        })
    });
    let keep = block(move || {
        if session.inputs.with(|inputs| inputs.model.refused.is_none()) {
            return ().into_any();
        }
        let name = session.inputs.with(|inputs| inputs.model.name());
        let on_keep = move |_| session.edit(Step::Choice, |inputs| inputs.model.refused = None);
        view! { <button type="button" class="chip" on:click=on(on_keep)>"Keep " {name}</button> }
            .into_any()
    });
    view! { <p class="why-stale">{why} " " {keep}</p> }
}
