//! Roofline chart of the formats, operated by pointer or keyboard.

use chart::geometry::Spot;
use chart::scene::{Scene, Size};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::erased::{memo, text};
use crate::charts::canvas::View;
use crate::charts::frame::ChartFrame;
use crate::state::derived::{chart_summary, focus_key, point_keys, point_text};
use crate::state::roving::turn;
use crate::state::session::{Session, Step};

/// Roofline with a point per format. Arrow keys move from point to point; the table below has the same values as text.
#[component]
pub fn RooflineChart() -> impl IntoView {
    let session = expect_context::<Session>();
    let nothing = View { size: Size { width: 1.0, height: 1.0 }, ratio: 1.0 };
    let view = RwSignal::new(nothing);
    let focus = memo(move |_| {
        session.shown.with(|shown| focus_key(&shown.kernel, session.pointed.get().as_deref()))
    });
    let scene = memo(move |_| {
        session.shown.with(|shown| {
            Scene::build(&shown.kernel.chart, view.get().size, focus.get().as_deref())
        })
    });
    let label = text(move || {
        session
            .shown
            .with(|shown| session.inputs.with(|inputs| chart_summary(inputs, &shown.kernel)))
    });
    let hit = move |spot: Spot| {
        scene.with_untracked(|scene| scene.hit(spot).map(|point| point.key.clone()))
    };
    let on_point = move |spot: Option<Spot>| {
        let key = spot.and_then(hit);
        if session.pointed.with_untracked(|pointed| *pointed != key) {
            session.pointed.set(key);
        }
    };
    let choose = move |key: String| {
        let format = calc_core::catalog::format(&key);
        session.edit(Step::Choice, |inputs| {
            if let Ok(format) = format {
                inputs.set_format(format);
            }
        });
    };
    let on_key = move |event: KeyboardEvent| {
        let keys = session.shown.with_untracked(|shown| point_keys(&shown.kernel));
        let pointed = session.pointed.get_untracked();
        let at = pointed.as_ref().and_then(|key| keys.iter().position(|other| other == key));
        match (event.key().as_str(), pointed) {
            ("Escape", Some(_)) => session.pointed.set(None),
            ("Enter", Some(key)) => choose(key),
            (key, _) => {
                if let Some(next) = turn(at, keys.len(), key) {
                    event.prevent_default();
                    session.pointed.set(keys.get(next).cloned());
                }
            }
        }
    };
    let said = text(move || {
        session.shown.with(|shown| {
            session.pointed.with(|pointed| point_text(&shown.kernel, pointed.as_deref()))
        })
    });
    view! {
        <ChartFrame
            id="chart"
            name="Points of the chart; arrow keys go from one to the next, Enter chooses"
            scene=scene
            label=label
            view=view
            on_point=Callback::new(on_point)
            on_pick=Callback::new(move |spot| { if let Some(key) = hit(spot) { choose(key); } })
            on_key=Callback::new(on_key)
            on_leave=Callback::new(move |()| session.pointed.set(None))
            said=said
        />
    }
}
