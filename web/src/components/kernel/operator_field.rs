//! Fields for the operator, its phase and its numbers.

use leptos::prelude::*;

use super::operator_number::OperatorNumber;
use crate::components::erased::{block, memo, on};
use crate::components::switch_field::SwitchField;
use crate::state::derived::operator_form::{OperatorForm, choose_operator, choose_phase, form};
use crate::state::session::{Session, Step};

/// Selects operator and phase, with a field for each number of the operator.
#[component]
pub fn OperatorField() -> impl IntoView {
    let session = expect_context::<Session>();
    let form = memo(move |_| session.inputs.with(form));
    let on_operator = move |event| {
        let key = event_target_value(&event);
        session.edit(Step::Choice, |inputs| choose_operator(inputs, &key));
    };
    let on_phase = move |event| {
        let name = event_target_value(&event);
        session.edit(Step::Choice, |inputs| choose_phase(inputs, &name));
    };
    let options = |list: Vec<(&'static str, &'static str, bool)>| {
        let option =
            |(value, name, chosen)| view! { <option value=value selected=chosen>{name}</option> };
        list.into_iter().map(option).collect_view().into_any()
    };
    let fields = memo(move |_| form.with(|OperatorForm { fields, .. }| *fields));
    let switches = memo(move |_| form.with(|OperatorForm { switch, .. }| *switch));
    let numbers = block(move || {
        let field = |field: &'static _| view! { <OperatorNumber field=*field/> };
        fields.get().iter().map(field).collect_view().into_any()
    });
    let switch = block(move || match switches.get() {
        Some(switch) => view! { <SwitchField switch=switch/> }.into_any(),
        None => ().into_any(),
    });
    view! {
        <div class="pair">
            <div class="field">
                <label for="operator">"Operator"</label>
                <select id="operator" on:change=on(on_operator)>
                    {block(move || options(form.with(|form| form.operators.clone())))}
                </select>
            </div>
            <div class="field">
                <label for="phase">"Phase"</label>
                <select id="phase" on:change=on(on_phase)>
                    {block(move || options(form.with(|form| form.phases.clone())))}
                </select>
            </div>
        </div>
        <div class="shape" role="group" aria-label="Numbers of the operator">
            {numbers}
            {switch}
        </div>
    }
}
