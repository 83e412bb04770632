//! Number field of the Model view.

use leptos::prelude::*;

use super::ModelContext;
use crate::components::erased::{derived, flag, maybe, memo, on, text};
use crate::components::focus::reveal_message;
use crate::components::slider::Slider;
use crate::state::model::fields::{Field, Spec};
use crate::state::model::geometry::value;
use crate::state::session::{Session, Step};
use crate::state::slider::{Stops, beside_model, most_in_model, slides_in_model, typed_of};

/// Number field. Invalid text is marked, with a message that gives the allowed range; an empty field shows its default.
#[component]
pub fn ModelNumber(
    /// Number to edit; its unit is `field.spec().unit`.
    field: Field,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let shown = expect_context::<ModelContext>().shown;
    let spec = field.spec();
    let id = spec.id;
    let message_id = format!("{id}-message");
    let typed = text(move || session.inputs.with(|inputs| inputs.model.text(field).to_owned()));
    let own = text(move || {
        let own = session.inputs.with(|inputs| value(inputs.model.base.arch(), field));
        own.map_or_else(|| spec.empty.to_owned(), |own| own.to_string())
    });
    let fault = memo(move |_| shown.with(|shown| shown.fault_of(field)));
    let is_wrong = flag(move || fault.with(Option::is_some));
    let described_by = {
        let message_id = message_id.clone();
        maybe(move || is_wrong.get().then(|| message_id.clone()))
    };
    let place = NodeRef::<leptos::html::Div>::new();
    Effect::new(move || {
        if is_wrong.get() {
            unfold_around(place);
        }
    });
    let on_input = move |event| {
        let text = event_target_value(&event);
        session.edit(Step::Typing, |inputs| inputs.model.set_text(field, text));
        reveal_message(id);
    };
    view! {
        <div class="field number" class:wrong=is_wrong node_ref=place>
            <label for=id>
                {spec.name} " " <span class="meaning">{spec.unit}</span>
            </label>
            <input
                id=id
                type="text"
                inputmode=if spec.real { "decimal" } else { "numeric" }
                autocomplete="off"
                maxlength="40"
                placeholder=own
                prop:value=typed
                aria-invalid=text(move || is_wrong.get().to_string())
                aria-describedby=described_by
                on:input=on(on_input)
            />
            <p class="message" id=message_id role="alert">{text(move || fault.get().unwrap_or_default())}</p>
            {slides_in_model(field).then(|| view! { <ModelSlider field=field/> })}
        </div>
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
        session.inputs.with(|inputs| Stops::of_numbers(most.get(), typed_of(inputs, field)))
    };
    let on_move =
        move |text: String| session.edit(Step::Drag, |inputs| inputs.model.set_text(field, text));
    let Spec { id, name, .. } = *field.spec();
    view! { <Slider id=id label=name stops=derived(stops) on_move=Callback::new(on_move)/> }
}

/// Opens the section of a field, where a message would be hidden: an address can set any field to an invalid value.
fn unfold_around(place: NodeRef<leptos::html::Div>) {
    let Some(place) = place.get_untracked() else { return };
    let section = place.closest("details").ok().flatten();
    if let Some(section) = section {
        drop(section.set_attribute("open", "")); // fails only for an invalid attribute name
    }
}
