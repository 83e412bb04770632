//! Roofline with the operators of prefill and decode.

use chart::scene::Scene;
use leptos::prelude::*;

use super::ModelContext;
use crate::charts::canvas::Viewport;
use crate::charts::frame::ChartFrame;
use crate::charts::selection::selection;
use crate::components::erased::{derived, memo, text};
use crate::state::model::operators::spoken;

const TITLE: &str = "Operators on the roofline";
const LEGEND: &str = "mark: expected · stub: ideal · area: share of the phase · color: format";

/// A panel for each phase with a point for each operator, its area the share of the time. Arrow keys move from point to point; the tables below have the same values as text.
#[component]
pub fn OperatorChart() -> impl IntoView {
    let ModelContext { shown, pointed, .. } = expect_context();
    let view = RwSignal::new(Viewport::default());
    let chart = memo(move |_| shown.with(|shown| shown.answer.chart.clone()));
    let scene = memo(move |_| {
        chart.with(|chart| {
            chart.as_ref().map(|panels| {
                Scene::of_operators(panels, view.get().size, pointed.get().as_deref())
            })
        })
    });
    let empty = move || Scene::empty(view.get_untracked().size);
    let drawn = derived(move || scene.get().unwrap_or_else(empty));
    let marks = selection(
        pointed,
        Callback::new(move |spot| {
            scene.with_untracked(|scene| scene.as_ref()?.hit(spot).map(|point| point.key.clone()))
        }),
        Callback::new(move |()| {
            chart.with_untracked(|chart| {
                let points = chart.iter().flatten().flat_map(|panel| &panel.chart.points);
                points.map(|point| point.key.clone()).collect()
            })
        }),
    );
    let said = text(move || {
        shown.with(|shown| {
            pointed.with(|pointed| spoken(&shown.answer.estimate, pointed.as_deref()))
        })
    });
    let label = text(move || {
        shown.with(|shown| {
            format!("Roofline with the operators of prefill and decode. {} {} The tables below have the numbers.", shown.answer.sentence, shown.answer.line)
        })
    });
    view! {
        <h2>{TITLE}</h2>
        <ChartFrame
            id="chart"
            title=TITLE
            legend=text(|| LEGEND.to_owned())
            name="Operators on the chart; arrow keys go from one to the next"
            scene=drawn
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
