//! Shapes to begin with.

use leptos::prelude::*;

use super::erased::{block, on, text};
use crate::state::inputs::{Preset, presets};
use crate::state::session::{Session, Step};

/// Buttons that fill in a shape.
#[component]
pub fn Presets() -> impl IntoView {
    let session = expect_context::<Session>();
    let button = move |preset: Preset| {
        let shape = preset.shape;
        let is_chosen = move || {
            session.inputs.with(|inputs| inputs.shape().is_ok_and(|chosen| chosen == shape))
        };
        let (name, meaning) = (preset.name.to_string(), preset.meaning.to_string());
        let on_click = move |_| session.edit(Step::Choice, |inputs| inputs.apply(&preset));
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
        let shapes = opened.unwrap_or_else(|| presets().to_vec());
        shapes.into_iter().map(button).collect_view().into_any()
    });
    view! {
        <div class="presets" role="group" aria-label="Shapes to begin with">
            {shapes}
        </div>
        <p class="brief">{title}</p>
    }
}
