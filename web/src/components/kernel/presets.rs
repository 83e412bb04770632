//! Preset shapes and scenarios.

use leptos::prelude::*;

use crate::components::erased::{block, on, text};
use crate::state::presets::{Preset, presets};
use crate::state::session::{Session, Step};

/// Buttons that fill in a shape, or a device with a shape.
#[component]
pub fn Presets() -> impl IntoView {
    let session = expect_context::<Session>();
    let button = move |preset: Preset| {
        let (name, meaning) = (preset.name.to_string(), preset.meaning.to_string());
        let preset = StoredValue::new(preset);
        let is_chosen = move || {
            session.inputs.with(|inputs| preset.with_value(|preset| preset.is_chosen(inputs)))
        };
        let on_click = move |_| {
            session.edit(Step::Choice, |inputs| preset.with_value(|preset| preset.apply(inputs)));
        };
        view! {
            <button
                type="button"
                class="chip"
                title=meaning
                aria-pressed=text(move || is_chosen().to_string())
                on:click=on(on_click)
            >
                {name}
            </button>
        }
    };
    let title = text(move || {
        session
            .model
            .with(|model| model.as_ref().map_or(String::new(), |model| model.title.clone()))
    });
    let shapes = block(move || {
        let opened = session.model.with(|model| model.as_ref().map(|model| model.presets.clone()));
        let shapes = opened.unwrap_or_else(presets);
        shapes.into_iter().map(button).collect_view().into_any()
    });
    view! {
        <div class="presets" role="group" aria-label="Shapes and scenarios to begin with">
            {shapes}
        </div>
        <p class="brief">{title}</p>
    }
}
