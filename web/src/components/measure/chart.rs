//! Roofline of the chosen device with the measured points, drawn hollow.

use chart::geometry::Spot;
use chart::scene::Scene;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::MeasureContext;
use crate::charts::canvas::View;
use crate::charts::frame::ChartFrame;
use crate::components::erased::{memo, text};
use crate::state::measure::answer::Row;
use crate::state::measure::crowd::chart;
use crate::state::roving::turn;
use crate::state::session::Session;

const LEGEND: &str = "hollow: measured here, tied to the expected rate · shape and color: format · dashed: measured roof";

/// Roofline with measured points. Arrow keys move from point to point; the table below has the numbers.
#[component]
pub fn ResultChart() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { answer, pointed, precision, .. } = expect_context();
    let view = RwSignal::new(View::default());
    let shown = memo(move |_| {
        let pointed = pointed.get();
        answer.with(|answer| {
            answer.as_ref().map(|it| precision.with(|it_is| chart(it, it_is, pointed.as_deref())))
        })
    });
    let scene = memo(move |_| {
        let size = view.get().size;
        shown.with(|shown| match shown {
            Some(shown) => Scene::build(shown, size, pointed.get().as_deref()),
            None => Scene::empty(size),
        })
    });
    let hit = move |spot: Spot| {
        scene.with_untracked(|scene| scene.hit(spot).map(|point| point.key.clone()))
    };
    let point_at = move |key: Option<String>| {
        if pointed.with_untracked(|pointed| *pointed != key) {
            pointed.set(key);
        }
    };
    let on_key = move |event: KeyboardEvent| {
        let keys: Vec<String> = shown.with_untracked(|shown| {
            let points = shown.as_ref().map(|it| it.points.as_slice()).unwrap_or_default();
            points.iter().map(|point| point.key.clone()).collect()
        });
        let now = pointed.get_untracked();
        let at = now.and_then(|key| keys.iter().position(|other| *other == key));
        let key = event.key();
        if key == "Escape" {
            pointed.set(None);
        } else if let Some(next) = turn(at, keys.len(), &key) {
            event.prevent_default();
            pointed.set(keys.get(next).cloned());
        }
    };
    let said = text(move || {
        let key = pointed.get();
        answer.with(|answer| {
            let rows = answer.as_ref().map(|answer| answer.rows.as_slice()).unwrap_or_default();
            rows.iter().find(|row| Some(&row.key) == key.as_ref()).map(spoken).unwrap_or_default()
        })
    });
    let label = text(move || {
        let many = shown.with(|shown| shown.as_ref().map_or(0, |it| it.points.len()));
        let device = session.inputs.with(|inputs| inputs.device.name.to_string());
        format!(
            "Roofline of {device} with {many} measured points. The table below has the numbers."
        )
    });
    view! {
        <ChartFrame
            id="chart"
            title="Measured points under the roofline"
            legend=text(|| LEGEND.to_owned())
            name="Measured points on the chart; arrow keys go from one to the next"
            scene=scene
            label=label
            view=view
            on_point=Callback::new(move |spot: Option<Spot>| point_at(spot.and_then(hit)))
            on_pick=Callback::new(move |spot| point_at(hit(spot)))
            on_key=Callback::new(on_key)
            on_leave=Callback::new(move |()| pointed.set(None))
            said=said
        />
    }
}

fn spoken(row: &Row) -> String {
    let grade = row.grade.name();
    let expected = match &row.expected {
        Ok(text) => format!("expected {text}, error {}", row.error),
        Err(why) => format!("nothing is expected: {why}"),
    };
    format!("{}, {}: measured {}, {grade}, {expected}.", row.format, row.work, row.measured)
}
