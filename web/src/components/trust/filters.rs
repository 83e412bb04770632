//! Left column of the Trust view: filters of the rows.

use leptos::prelude::*;

use super::TrustContext;
use crate::components::erased::{block, on, text};
use crate::components::inputs_shell::InputsShell;
use crate::state::session::{Session, Step};
use crate::state::trust::filter::{FilterField, choose, chosen};

/// One select per filter; on a small screen they are behind a summary line that opens them.
#[component]
pub fn Filters() -> impl IntoView {
    let TrustContext { answer, .. } = expect_context();
    let summary = text(move || answer.with(|answer| answer.filter_line.clone()));
    view! {
        <InputsShell label="Filter" summary=summary>
            {FilterField::ALL.map(|part| view! { <Choice part=part/> }).collect_view()}
            <p class="brief">
                "Every row is a published measurement. It was predicted by a fit that had neither the row nor its group, which is one board, model and engine."
            </p>
        </InputsShell>
    }
}

/// Select with the values of one filter.
#[component]
fn Choice(
    /// Filter to set.
    part: FilterField,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let TrustContext { pairs, .. } = expect_context();
    let choices = StoredValue::new(part.choices());
    let options = block(move || {
        let now = pairs.with(|pairs| chosen(pairs, part).to_owned());
        let option = |(value, name): &(&'static str, String)| {
            view! { <option value=*value selected=*value == now>{name.clone()}</option> }
        };
        choices.with_value(|choices| choices.iter().map(option).collect_view()).into_any()
    });
    let on_change = move |event| {
        let value = event_target_value(&event);
        session.edit(Step::Choice, |inputs| choose(inputs, part, &value));
    };
    view! {
        <div class="field">
            <label for=part.key()>{part.name()}</label>
            <select id=part.key() on:change=on(on_change)>{options}</select>
        </div>
    }
}
