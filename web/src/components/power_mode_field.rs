//! Field for the power mode of a board.

use leptos::prelude::*;

use super::erased::{block, derived, flag, memo, on};
use super::slider::Slider;
use crate::state::derived::{ModeChoice, mode_choices};
use crate::state::session::{Session, Step};
use crate::state::slider::SliderStops;

/// Selects the power mode from a list or by a slider; hidden for devices without power modes.
#[component]
pub fn PowerModeField() -> impl IntoView {
    let session = expect_context::<Session>();
    let choices = memo(move |_| session.inputs.with(mode_choices));
    let set = move |step: Step, name: String| {
        let mode = (!name.is_empty()).then(|| name.into());
        session.edit(step, |inputs| inputs.mode = mode);
    };
    let on_change = move |event| set(Step::Choice, event_target_value(&event));
    let option = |ModeChoice { name, text, unknown, chosen }: ModeChoice| {
        view! { <option value=name disabled=unknown selected=chosen>{text}</option> }
    };
    let options = block(move || choices.get().into_iter().map(option).collect_view().into_any());
    view! {
        <div class="field" hidden=flag(move || choices.with(|choices| choices.len() < 2))>
            <label for="mode">"Power mode"</label>
            <select id="mode" on:change=on(on_change)>{options}</select>
            <Slider
                id="mode"
                label="Power mode"
                stops=derived(move || session.inputs.with(SliderStops::of_modes))
                on_move=Callback::new(move |name| set(Step::Drag, name))
            />
        </div>
    }
}
