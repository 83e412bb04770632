//! Checkbox for a yes-or-no property of an operator.

use leptos::prelude::*;

use super::erased::{flag, on};
use crate::state::operator::Switch;
use crate::state::session::{Session, Step};

/// Labeled checkbox for one property.
#[component]
pub fn SwitchField(
    /// Property that the checkbox sets.
    switch: Switch,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let is_on = flag(move || session.inputs.with(|inputs| inputs.typed.is_on(switch)));
    let on_change = move |event| {
        let checked = event_target_checked(&event);
        session.edit(Step::Choice, |inputs| inputs.typed.turn(switch, checked));
    };
    view! {
        <label class="switch">
            <input type="checkbox" id=switch.id() prop:checked=is_on on:change=on(on_change)/>
            {switch.name()}
        </label>
    }
}
