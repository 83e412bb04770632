//! Chart of the comparison: one mark for each column on one axis of time.

use chart::spans::scene as spans_scene;
use leptos::prelude::*;

use super::CompareContext;
use crate::charts::canvas::Viewport;
use crate::charts::frame::ChartFrame;
use crate::charts::selection::selection;
use crate::components::erased::{memo, text};

const LEGEND: &str = "mark: expected · line: interval · stub: ideal · shape and color: format";

/// Whole answers of all columns. Arrow keys go from one to the next; the table below has the numbers.
#[component]
pub fn CompareChart() -> impl IntoView {
    let CompareContext { shown, pointed, .. } = expect_context();
    let view = RwSignal::new(Viewport::default());
    let chart = memo(move |_| shown.with(|shown| shown.chart.clone()));
    let scene = memo(move |_| {
        let focus = pointed.get();
        chart.with(|chart| spans_scene(chart, view.get().size, focus.as_deref()))
    });
    let marks = selection(
        pointed,
        Callback::new(move |spot| {
            scene.with_untracked(|scene| scene.hit(spot).map(|point| point.key.clone()))
        }),
        Callback::new(move |()| {
            chart.with_untracked(|chart| chart.rows.iter().map(|row| row.key.clone()).collect())
        }),
    );
    let common = text(move || shown.with(|shown| shown.common.clone()));
    let class =
        text(move || format!("compare-chart columns-{}", chart.with(|chart| chart.rows.len())));
    let said = text(move || shown.with(|shown| shown.spoken(pointed.get().as_deref())));
    let label = text(move || {
        shown.with(|shown| {
            let name = &shown.chart.time_name;
            format!("{name}. {} The table below has the numbers.", shown.sentence)
        })
    });
    view! {
        <div class=class>
            <h2>"Times"</h2>
            <ChartFrame
                id="spans"
                title="Times"
                legend=text(|| LEGEND.to_owned())
                scenario=common
                name="Times on the chart; arrow keys go from one scenario to the next"
                scene=scene
                label=label
                view=view
                on_point=marks.on_point
                on_pick=marks.on_pick
                on_key=marks.on_key
                on_leave=marks.on_leave
                said=said
            />
        </div>
    }
}
