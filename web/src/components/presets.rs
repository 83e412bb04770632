//! Shapes to begin with.

use leptos::prelude::*;

use super::erased::{on, text};
use crate::state::inputs::{Preset, presets};
use crate::state::session::{Session, Step};

/// Buttons that fill in a shape.
#[component]
pub fn Presets() -> impl IntoView {
    let session = expect_context::<Session>();
    let button = move |preset: Preset| {
        let is_chosen = move || {
            session.inputs.with(|inputs| inputs.shape().is_ok_and(|shape| shape == preset.shape))
        };
        let on_click = move |_| session.edit(Step::Choice, |inputs| inputs.apply(&preset));
        view! {
            <button
                type="button"
                class="chip"
                title=preset.meaning
                aria-pressed=text(move || is_chosen().to_string())
                on:click=on(on_click)
            >
                {preset.name}
            </button>
        }
    };
    view! {
        <div class="presets" role="group" aria-label="Shapes to begin with">
            {presets().into_iter().map(button).collect_view()}
        </div>
    }
}
