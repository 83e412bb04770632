//! A text field for host, other programs or images. What is typed counts when the field is left.

use leptos::prelude::*;

use crate::components::erased::{on, text};
use crate::state::model::beside::{refusal, text_of, with};
use crate::state::session::{Session, Step};

/// The text of a field; empty without one.
pub fn told(session: Session, field: &str) -> String {
    session.inputs.with(|inputs| text_of(inputs.model.beside.as_deref(), field).to_owned())
}

/// Changes a field.
pub fn edit(session: Session, field: &'static str, typed: &str) {
    session.edit(Step::Choice, |inputs| {
        inputs.model.beside = with(inputs.model.beside.as_deref(), field, typed, &inputs.device);
    });
}

/// Why one of some fields is refused.
#[component]
pub fn Refused(
    /// Id in the document.
    id: &'static str,
    /// The fields.
    of: &'static [&'static str],
) -> impl IntoView {
    let session = expect_context::<Session>();
    let message = text(move || {
        session.inputs.with(|inputs| {
            let question = (&*inputs.device, inputs.model.base.arch());
            refusal(inputs.model.beside.as_deref(), question, of).unwrap_or_default()
        })
    });
    view! { <p class="message" role="alert" id=id>{message}</p> }
}

/// Text field for a value that a request names.
#[component]
pub fn BesideField(
    /// Field of a request; also its id in the document.
    field: &'static str,
    /// Label of the field.
    name: &'static str,
    /// Unit, or a remark in its place.
    unit: &'static str,
    /// Meaning of an empty field.
    empty: &'static str,
    /// Id of the list of suggestions.
    #[prop(optional)]
    list: Option<&'static str>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let typed = text(move || told(session, field));
    let on_change = move |event| edit(session, field, &event_target_value(&event));
    view! {
        <div class="field">
            <label for=field>{name} " " <span class="meaning">{unit}</span></label>
            <input
                id=field
                type="text"
                autocomplete="off"
                maxlength="80"
                placeholder=empty
                list=list
                prop:value=typed
                on:change=on(on_change)
            />
        </div>
    }
}
