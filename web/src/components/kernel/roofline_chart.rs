//! Roofline chart of the formats, operated by pointer or keyboard.

use chart::scene::Scene;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::{KernelContext, choose};
use crate::charts::canvas::Viewport;
use crate::charts::frame::ChartFrame;
use crate::charts::selection::selection;
use crate::components::erased::{memo, text};
use crate::state::derived::{chart_summary, focus_key, point_keys, point_text};
use crate::state::legend::of_predictions;
use crate::state::session::Session;

/// Roofline with a point per format. Arrow keys move from point to point; the table below has the same values as text.
#[component]
pub fn RooflineChart() -> impl IntoView {
    let session = expect_context::<Session>();
    let kernel = expect_context::<KernelContext>();
    let view = RwSignal::new(Viewport::default());
    let focus = memo(move |_| {
        kernel.shown.with(|shown| focus_key(&shown.kernel, kernel.pointed.get().as_deref()))
    });
    let scene = memo(move |_| {
        kernel.shown.with(|shown| {
            Scene::build(&shown.kernel.chart, view.get().size, focus.get().as_deref())
        })
    });
    let label = text(move || {
        kernel
            .shown
            .with(|shown| session.inputs.with(|inputs| chart_summary(inputs, &shown.kernel)))
    });
    let marks = selection(
        kernel.pointed,
        Callback::new(move |spot| {
            scene.with_untracked(|scene| scene.hit(spot).map(|point| point.key.clone()))
        }),
        Callback::new(move |()| kernel.shown.with_untracked(|shown| point_keys(&shown.kernel))),
    );
    let select = move |key: Option<String>| {
        if let Some(key) = key {
            choose(session, &key);
        }
    };
    let on_key = move |event: KeyboardEvent| match event.key().as_str() {
        "Enter" => select(kernel.pointed.get_untracked()),
        _ => marks.on_key.run(event),
    };
    let said = text(move || {
        kernel.shown.with(|shown| {
            kernel.pointed.with(|pointed| point_text(&shown.kernel, pointed.as_deref()))
        })
    });
    view! {
        <ChartFrame
            id="chart"
            title="Formats under the roofline"
            legend=text(move || kernel.shown.with(|shown| of_predictions(&shown.kernel.chart)))
            name="Points of the chart; arrow keys go from one to the next, Enter chooses"
            scene=scene
            label=label
            view=view
            on_point=marks.on_point
            on_pick=Callback::new(move |spot| select(marks.hit.run(spot)))
            on_key=Callback::new(on_key)
            on_leave=marks.on_leave
            said=said
        />
    }
}
