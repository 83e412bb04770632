//! Roofline of the chosen device with the measured points, drawn hollow.

use chart::scene::Scene;
use leptos::prelude::*;

use super::MeasureContext;
use crate::charts::canvas::Viewport;
use crate::charts::frame::ChartFrame;
use crate::charts::selection::selection;
use crate::components::erased::{memo, text};
use crate::state::legend::of_measurements;
use crate::state::measure::answer::MeasuredRow;
use crate::state::measure::chart_points::chart;
use crate::state::session::Session;

/// Roofline with measured points. Arrow keys move from point to point; the table below has the numbers.
#[component]
pub fn ResultChart() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { answer, pointed, precision, .. } = expect_context();
    let view = RwSignal::new(Viewport::default());
    let shown = memo(move |_| {
        let pointed = pointed.get();
        answer.with(|answer| {
            let answer = answer.as_ref()?;
            Some(precision.with(|precision| chart(answer, precision, pointed.as_deref())))
        })
    });
    let scene = memo(move |_| {
        let size = view.get().size;
        shown.with(|shown| match shown {
            Some(shown) => Scene::build(shown, size, pointed.get().as_deref()),
            None => Scene::empty(size),
        })
    });
    let marks = selection(
        pointed,
        Callback::new(move |spot| {
            scene.with_untracked(|scene| scene.hit(spot).map(|point| point.key.clone()))
        }),
        Callback::new(move |()| {
            shown.with_untracked(|shown| {
                let points = shown.iter().flat_map(|shown| &shown.points);
                points.map(|point| point.key.clone()).collect()
            })
        }),
    );
    let said = text(move || {
        let key = pointed.get();
        answer.with(|answer| {
            let mut rows = answer.iter().flat_map(|answer| &answer.rows);
            rows.find(|row| Some(&row.key) == key.as_ref()).map(spoken).unwrap_or_default()
        })
    });
    let label = text(move || {
        let many = shown.with(|shown| shown.as_ref().map_or(0, |shown| shown.points.len()));
        let device = session.inputs.with(|inputs| inputs.device.name.to_string());
        format!(
            "Roofline of {device} with {many} measured points. The table below has the numbers."
        )
    });
    view! {
        <ChartFrame
            id="chart"
            title="Measured points under the roofline"
            legend=text(move || shown.with(|shown| shown.as_ref().map(of_measurements).unwrap_or_default()))
            name="Measured points on the chart; arrow keys go from one to the next"
            scene=scene
            label=label
            view=view
            on_point=marks.on_point
            on_pick=marks.on_pick
            on_key=marks.on_key
            on_leave=marks.on_leave
            said=said
        />
    }
}

fn spoken(row: &MeasuredRow) -> String {
    let grade = row.grade.name();
    let expected = match &row.expected {
        Ok(text) => format!("expected {text}, error {}", row.error),
        Err(why) => format!("nothing is expected: {why}"),
    };
    format!("{}, {}: measured {}, {grade}, {expected}.", row.format, row.work, row.measured)
}
