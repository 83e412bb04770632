//! Roofline chart of the formats, operated by pointer or keyboard.

use chart::geometry::Spot;
use chart::scene::Scene;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::{KernelContext, choose};
use crate::charts::canvas::Viewport;
use crate::charts::frame::ChartFrame;
use crate::components::erased::{memo, text};
use crate::state::derived::{chart_summary, focus_key, point_keys, point_text};
use crate::state::roving::turn;
use crate::state::session::Session;

const LEGEND: &str = "mark: expected · stub above: ideal · hollow: your own · shape and color: format · dashed: measured";

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
    let hit = move |spot: Spot| {
        scene.with_untracked(|scene| scene.hit(spot).map(|point| point.key.clone()))
    };
    let on_point = move |spot: Option<Spot>| {
        let key = spot.and_then(hit);
        if kernel.pointed.with_untracked(|pointed| *pointed != key) {
            kernel.pointed.set(key);
        }
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
            legend=text(|| LEGEND.to_owned())
            name="Points of the chart; arrow keys go from one to the next, Enter chooses"
            scene=scene
            label=label
            view=view
            on_point=Callback::new(on_point)
            on_pick=Callback::new(move |spot| { if let Some(key) = hit(spot) { choose(session, &key); } })
            on_key=Callback::new(move |event| on_key(&event, session, kernel))
            on_leave=Callback::new(move |()| kernel.pointed.set(None))
            said=said
        />
    }
}

/// Arrow keys go from point to point, Enter selects the format, Escape leaves the points.
fn on_key(event: &KeyboardEvent, session: Session, kernel: KernelContext) {
    let keys = kernel.shown.with_untracked(|shown| point_keys(&shown.kernel));
    let pointed = kernel.pointed.get_untracked();
    let at = pointed.as_ref().and_then(|key| keys.iter().position(|other| other == key));
    match (event.key().as_str(), pointed) {
        ("Escape", Some(_)) => kernel.pointed.set(None),
        ("Enter", Some(key)) => choose(session, &key),
        (key, _) => {
            if let Some(next) = turn(at, keys.len(), key) {
                event.prevent_default();
                kernel.pointed.set(keys.get(next).cloned());
            }
        }
    }
}
