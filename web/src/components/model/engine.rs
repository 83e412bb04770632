//! Field for the engine that serves the model.

use calc_core::calibration::Engine;
use calc_core::software::engine_runs;
use leptos::prelude::*;

use super::ModelContext;
use crate::components::erased::{block, flag, memo, on, text};
use crate::state::session::{Session, Step};

/// Selects the engine whose kernels, defaults and factors the expected times take.
#[component]
pub fn EngineField() -> impl IntoView {
    let session = expect_context::<Session>();
    let chosen = memo(move |_| session.inputs.with(|inputs| inputs.model.engine));
    let shown = expect_context::<ModelContext>().shown;
    let usual = text(move || {
        let engine = shown.with(|shown| shown.answer.estimate.basis.engine);
        let named = chosen.get().is_some();
        if named { "the usual one".to_owned() } else { format!("{}, usual here", engine.key()) }
    });
    let on_change = move |event| {
        let engine = Engine::of(&event_target_value(&event));
        session.edit(Step::Choice, |inputs| inputs.model.engine = engine);
    };
    let runs = move |engine| session.inputs.with(|inputs| engine_runs(engine, &inputs.device));
    let option = move |(key, engine): (&'static str, Engine)| {
        let remark = if runs(engine) { "" } else { ", no build for this device" };
        view! { <option value=key prop:selected=chosen.get() == Some(engine)>{key} {remark}</option> }
    };
    let options = block(move || {
        let is_kept = |engine| runs(engine) || chosen.get() == Some(engine);
        let able = Engine::ALL.into_iter().filter(|(_, engine)| is_kept(*engine));
        able.map(option).collect_view().into_any()
    });
    view! {
        <div class="field">
            <label for="engine">"Engine"</label>
            <select id="engine" on:change=on(on_change)>
                <option value="" prop:selected=flag(move || chosen.get().is_none())>{usual}</option>
                {options}
            </select>
        </div>
    }
}
