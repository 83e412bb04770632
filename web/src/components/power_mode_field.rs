//! Field for the power mode of a board.

use leptos::prelude::*;

use super::erased::{block, flag, memo, on};
use crate::state::derived::{ModeChoice, mode_choices};
use crate::state::session::{Session, Step};

/// Selects the power mode; hidden for devices without power modes.
#[component]
pub fn PowerModeField() -> impl IntoView {
    let session = expect_context::<Session>();
    let choices = memo(move |_| session.inputs.with(mode_choices));
    let on_change = move |event| {
        let name = event_target_value(&event);
        let mode = (!name.is_empty()).then(|| name.into());
        session.edit(Step::Choice, |inputs| inputs.mode = mode);
    };
    let option = |ModeChoice { name, text, unknown, chosen }: ModeChoice| {
        view! { <option value=name disabled=unknown selected=chosen>{text}</option> }
    };
    let options = block(move || choices.get().into_iter().map(option).collect_view().into_any());
    view! {
        <div class="field" hidden=flag(move || choices.with(|choices| choices.len() < 2))>
            <label for="mode">"Power mode"</label>
            <select id="mode" on:change=on(on_change)>{options}</select>
        </div>
    }
}
