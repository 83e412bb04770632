//! Frame of a chart: the canvas in a group that takes the focus, and the point in words for screen readers.

use chart::geometry::Spot;
use chart::scene::Scene;
use chart::sheet::NamedMark;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::canvas::{SceneCanvas, Viewport};
use super::shown::{ShownChart, add};
use crate::components::erased::{derived, on};
use crate::state::session::Session;

/// A chart whose points the pointer and the arrow keys reach.
#[component]
pub fn ChartFrame(
    /// `id` of the group.
    id: &'static str,
    /// CSS classes of the group.
    #[prop(default = "chart")]
    class: &'static str,
    /// Title of its export and its print.
    title: &'static str,
    /// How to read its marks and lines, printed below it.
    legend: Signal<String>,
    /// The scenario that it shows, for its export; without it, that of the address.
    #[prop(optional)]
    scenario: Option<Signal<String>>,
    /// The names of its marks, for its export; without them, those of its points.
    #[prop(optional)]
    marks: Option<Signal<Vec<NamedMark>>>,
    /// Name of the group, with its keys.
    #[prop(into)]
    name: String,
    /// Scene, laid out for the size in `view`.
    #[prop(into)]
    scene: Signal<Scene>,
    /// Text alternative of the picture.
    label: Signal<String>,
    /// Set to the displayed size and the pixel ratio.
    view: RwSignal<Viewport>,
    /// Called with the pointer's position in CSS pixels; `None` when it leaves the canvas.
    on_point: Callback<Option<Spot>>,
    /// Called with the position of a click or tap, in CSS pixels.
    on_pick: Callback<Spot>,
    /// Called with each key.
    on_key: Callback<KeyboardEvent>,
    /// Called when the group loses the focus.
    on_leave: Callback<()>,
    /// The selected point in words; `None` where the chart's own component shows it.
    #[prop(optional)]
    said: Option<Signal<String>>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    add(ShownChart { id, title, legend, scenario, marks, scene, view }, session.charts);
    view! {
        <div
            class=class
            id=id
            tabindex="0"
            role="group"
            aria-label=name
            on:keydown=on(move |event| on_key.run(event))
            on:blur=on(move |_| on_leave.run(()))
        >
            <SceneCanvas
                scene=scene
                theme=derived(move || session.colors.theme())
                label=label
                view=view
                on_point=on_point
                on_pick=on_pick
            />
            {said.map(|said| view! { <p class="unseen" role="status">{said}</p> })}
        </div>
        <p class="legend">{legend}</p>
    }
}
