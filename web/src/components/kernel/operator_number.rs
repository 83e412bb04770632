//! Field for a whole number of the operator.

use leptos::prelude::*;

use crate::components::erased::{derived, maybe, memo, text};
use crate::components::number_field::NumberField;
use crate::components::slider::Slider;
use crate::state::operator::Field;
use crate::state::session::{Session, Step};
use crate::state::slider::{SliderStops, beside_kernel, most_in_kernel, slides_in_kernel};

/// Number field of the operator.
#[component]
pub fn OperatorNumber(
    /// Number of the operator to edit; a count without a unit.
    field: Field,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let typed = text(move || session.inputs.with(|inputs| inputs.typed.text(field).to_owned()));
    let fault = maybe(move || session.inputs.with(|inputs| inputs.typed.fault(inputs.op, field)));
    let on_type =
        move |text: String| session.edit(Step::Typing, |inputs| inputs.typed.set(field, text));
    view! {
        <NumberField
            id=field.id()
            name=field.name()
            unit=field.meaning()
            keyboard="numeric"
            typed=typed
            fault=fault
            on_type=Callback::new(on_type)
            apart=true
        >
            {slides_in_kernel(field).then(|| view! { <OperatorSlider field=field/> })}
        </NumberField>
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
        session.inputs.with(|inputs| SliderStops::of_numbers(most.get(), inputs.typed.text(field)))
    };
    let on_move =
        move |text: String| session.edit(Step::Drag, |inputs| inputs.typed.set(field, text));
    view! { <Slider id=field.id() label=field.name() stops=derived(stops) on_move=Callback::new(on_move)/> }
}
