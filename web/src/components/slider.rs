//! Slider below a field.

use leptos::prelude::*;

use super::erased::{flag, on, text};
use crate::state::session::Session;
use crate::state::slider::SliderStops;

/// Slider over the stops of a field: the answer follows while it moves, and a whole drag is one entry of the history.
#[component]
pub fn Slider(
    /// `id` of the field; that of the slider has `-slider` behind it.
    id: &'static str,
    /// Label of the field.
    label: &'static str,
    /// Positions, and the present one. A single position shows no slider.
    stops: Signal<SliderStops>,
    /// Called with the value of the chosen stop.
    on_move: Callback<String>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let on_input = move |event| {
        let stop = event_target_value(&event).parse().ok();
        let value = stop.and_then(|at: usize| {
            stops.with_untracked(|stops| stops.all.get(at).map(|stop| stop.value.clone()))
        });
        if let Some(value) = value {
            on_move.run(value);
        }
    };
    view! {
        <div class="slider" hidden=flag(move || stops.with(SliderStops::is_single))>
            <input
                id=format!("{id}-slider")
                type="range"
                min="0"
                step="1"
                autocomplete="off"
                aria-label=format!("{label}, slider")
                aria-valuetext=text(move || stops.with(|stops| stops.name(stops.at)))
                prop:max=text(move || stops.with(SliderStops::last).to_string())
                prop:value=text(move || stops.with(|stops| stops.at).to_string())
                on:pointerdown=on(move |_| session.end_burst())
                on:input=on(on_input)
            />
            <small aria-hidden="true">
                <span>{text(move || stops.with(|stops| stops.name(0)))}</span>
                <span>{text(move || stops.with(|stops| stops.name(stops.last())))}</span>
            </small>
        </div>
    }
}
