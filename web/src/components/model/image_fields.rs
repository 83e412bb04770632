//! Fields for the images of a prompt, and the switch that leaves the towers out.

use leptos::prelude::*;
use report::input::request::beside::OF_IMAGES;

use super::beside_field::{BesideField, Refused, edit, told};
use crate::components::erased::{block, flag, memo, on};
use crate::state::session::Session;

/// Images of a model with a tower for them; nothing for other models.
#[component]
pub fn ImageFields() -> impl IntoView {
    let session = expect_context::<Session>();
    let sees = memo(move |_| {
        session.inputs.with(|inputs| inputs.model.base.arch().vision_tower().is_some())
    });
    block(move || {
        if !sees.get() {
            return ().into_any();
        }
        view! {
            <BesideField field="image" name="Images" unit="pixels" empty="none, or 2x1024x768"/>
            {tokens()}
            <Refused id="image-message" of=&OF_IMAGES/>
        }
        .into_any()
    })
}

/// The number of tokens of an image, once there are images.
fn tokens() -> impl IntoView {
    let session = expect_context::<Session>();
    let has_images = memo(move |_| !told(session, "image").is_empty());
    block(move || {
        if has_images.get() {
            view! { <BesideField field="image_tokens" name="Tokens per image" unit="" empty="by the model"/> }.into_any()
        } else {
            ().into_any()
        }
    })
}

/// Switch that leaves the towers for images and sound out; nothing for a model without any.
#[component]
pub fn LanguageModelOnly() -> impl IntoView {
    let session = expect_context::<Session>();
    let has_towers =
        memo(move |_| session.inputs.with(|inputs| !inputs.model.base.arch().towers.is_empty()));
    let is_on = flag(move || !told(session, "language_model_only").is_empty());
    let on_change = move |event| {
        let value = if event_target_checked(&event) { "true" } else { "" };
        edit(session, "language_model_only", value);
    };
    block(move || {
        if !has_towers.get() {
            return ().into_any();
        }
        view! {
            <label class="switch">
                <input type="checkbox" id="language_model_only" prop:checked=is_on on:change=on(on_change)/>
                "Language model only, without the towers for images and sound"
            </label>
        }
        .into_any()
    })
}
