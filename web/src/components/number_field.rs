//! Field for a whole number of the operator.

use leptos::prelude::*;

use super::erased::{derived, flag, maybe, memo, on, text};
use super::focus::reveal_message;
use super::slider::Slider;
use crate::state::operator::Field;
use crate::state::session::{Session, Step};
use crate::state::slider::{Stops, beside_kernel, most_in_kernel, slides_in_kernel};

/// Number field of the operator. Invalid text is marked, with a message that gives the allowed range.
#[component]
pub fn NumberField(
    /// Number of the operator to edit; a count without a unit.
    field: Field,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let id = field.id();
    let message_id = format!("{id}-message");
    let typed = text(move || session.inputs.with(|inputs| inputs.typed.text(field).to_owned()));
    let fault = maybe(move || session.inputs.with(|inputs| inputs.typed.fault(inputs.op, field)));
    let is_wrong = flag(move || fault.with(Option::is_some));
    let described_by = {
        let message_id = message_id.clone();
        maybe(move || is_wrong.get().then(|| message_id.clone()))
    };
    let on_input = move |event| {
        let text = event_target_value(&event);
        session.edit(Step::Typing, |inputs| inputs.typed.set(field, text));
        reveal_message(id);
    };
    view! {
        <div class="field number" class:wrong=is_wrong>
            <label for=id>
                {field.name()} " " <span class="meaning">{field.meaning()}</span>
            </label>
            <input
                id=id
                type="text"
                inputmode="numeric"
                autocomplete="off"
                maxlength="40"
                prop:value=typed
                aria-invalid=text(move || is_wrong.get().to_string())
                aria-describedby=described_by
                on:input=on(on_input)
            />
            {slides_in_kernel(field).then(|| view! { <OperatorSlider field=field/> })}
        </div>
        <p class="message" id=message_id role="alert">
            {text(move || fault.get().unwrap_or_default())}
        </p>
    }
}

/// Slider of a number of the operator, up to what the device's memory holds.
#[component]
fn OperatorSlider(
    /// Number of the operator to edit; a count without a unit.
    field: Field,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let beside = memo(move |_| session.inputs.with(|inputs| beside_kernel(inputs, field)));
    let most = memo(move |before: Option<&u64>| {
        beside.with(|inputs| most_in_kernel(inputs, field)).or(before.copied()).unwrap_or_default()
    });
    let stops = move || {
        session.inputs.with(|inputs| Stops::of_numbers(most.get(), inputs.typed.text(field)))
    };
    let on_move =
        move |text: String| session.edit(Step::Drag, |inputs| inputs.typed.set(field, text));
    view! { <Slider id=field.id() label=field.name() stops=derived(stops) on_move=Callback::new(on_move)/> }
}
