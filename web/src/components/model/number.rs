//! Number field of the Model view.

use leptos::prelude::*;

use super::ModelContext;
use crate::components::erased::{derived, memo, text};
use crate::components::focus::unfold_around;
use crate::components::number_field::NumberField;
use crate::components::slider::Slider;
use crate::state::model::fields::{Field, Spec};
use crate::state::model::geometry::value;
use crate::state::session::{Session, Step};
use crate::state::slider::{SliderStops, beside_model, most_in_model, slides_in_model, typed_of};

/// Number field. An empty one shows its default.
#[component]
pub fn ModelNumber(
    /// Number to edit; its unit is `field.spec().unit`.
    field: Field,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let shown = expect_context::<ModelContext>().shown;
    let spec = field.spec();
    let typed = text(move || session.inputs.with(|inputs| inputs.model.text(field).to_owned()));
    let own = text(move || {
        let own = session.inputs.with(|inputs| value(inputs.model.base.arch(), field));
        own.map_or_else(|| spec.empty.to_owned(), |own| own.to_string())
    });
    let fault = memo(move |_| shown.with(|shown| shown.fault_of(field)));
    Effect::new(move || {
        // A folded section would hide the message: an address can set any field to an invalid value.
        if fault.with(Option::is_some) {
            unfold_around(spec.id);
        }
    });
    let on_type =
        move |text: String| session.edit(Step::Typing, |inputs| inputs.model.set_text(field, text));
    view! {
        <NumberField
            id=spec.id
            name=spec.name
            unit=spec.unit
            keyboard=if spec.real { "decimal" } else { "numeric" }
            empty=own
            typed=typed
            fault=fault
            on_type=Callback::new(on_type)
        >
            {slides_in_model(field).then(|| view! { <ModelSlider field=field/> })}
        </NumberField>
    }
}

/// Slider of a number of the workload, up to what fits.
#[component]
fn ModelSlider(
    /// Number to edit; its unit is `field.spec().unit`.
    field: Field,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let beside = memo(move |_| {
        session.settled.track();
        session.inputs.with_untracked(|inputs| beside_model(inputs, field))
    });
    let most = memo(move |before: Option<&u64>| {
        beside.with(|inputs| most_in_model(inputs, field)).or(before.copied()).unwrap_or_default()
    });
    let stops = move || {
        session.inputs.with(|inputs| SliderStops::of_numbers(most.get(), typed_of(inputs, field)))
    };
    let on_move =
        move |text: String| session.edit(Step::Drag, |inputs| inputs.model.set_text(field, text));
    let Spec { id, name, .. } = *field.spec();
    view! { <Slider id=id label=name stops=derived(stops) on_move=Callback::new(on_move)/> }
}
