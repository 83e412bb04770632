//! Field for the engine that serves the model.

use calc_core::calibration::{Engine, usual_engine};
use leptos::prelude::*;

use crate::components::erased::{block, memo, on, text};
use crate::state::session::{Session, Step};

/// Selects the engine whose kernels, defaults and factors the expected times take.
#[component]
pub fn EngineField() -> impl IntoView {
    let session = expect_context::<Session>();
    let chosen = memo(move |_| session.inputs.with(|inputs| inputs.model.engine));
    let usual = text(move || {
        session.inputs.with(|inputs| format!("{}, usual here", usual_engine(&inputs.device).key()))
    });
    let on_change = move |event| {
        let engine = Engine::of(&event_target_value(&event));
        session.edit(Step::Choice, |inputs| inputs.model.engine = engine);
    };
    let option = move |(key, engine): (&'static str, Engine)| {
        view! { <option value=key selected=chosen.get() == Some(engine)>{key}</option> }
    };
    let options = block(move || Engine::ALL.map(option).into_iter().collect_view().into_any());
    view! {
        <div class="field">
            <label for="engine">"Engine"</label>
            <select id="engine" on:change=on(on_change)>
                <option value="">{usual}</option>
                {options}
            </select>
        </div>
    }
}
