//! Chart of all schemes by time and loss.

use chart::schemes::scene as schemes_scene;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::PlanContext;
use super::scheme_table::pick;
use crate::charts::canvas::Viewport;
use crate::charts::frame::ChartFrame;
use crate::charts::selection::selection;
use crate::components::erased::{memo, text};
use crate::state::session::Session;

const TITLE: &str = "Schemes by time and loss";
const LEGEND: &str = "mark: expected · line: interval · gray: refused · shape and color: format";

/// A mark per scheme; refused ones are gray. Arrow keys go from mark to mark, Enter shows the scheme in the cards; the table
/// below has the numbers.
#[component]
pub fn SchemeChart() -> impl IntoView {
    let session = expect_context::<Session>();
    let PlanContext { shown, pointed, .. } = expect_context();
    let view = RwSignal::new(Viewport::default());
    let chart = memo(move |_| shown.with(|shown| shown.answer.chart.clone()));
    let chosen = memo(move |_| shown.with(|shown| shown.answer.chosen.clone()));
    let scene = memo(move |_| {
        let focus = pointed.get().unwrap_or_else(|| chosen.get());
        chart.with(|chart| schemes_scene(chart, view.get().size, Some(&focus)))
    });
    let marks = selection(
        pointed,
        Callback::new(move |spot| {
            scene.with_untracked(|scene| scene.hit(spot).map(|point| point.key.clone()))
        }),
        Callback::new(move |()| {
            chart.with_untracked(|chart| chart.drawn().map(|point| point.key.clone()).collect())
        }),
    );
    let on_key = move |event: KeyboardEvent| match event.key().as_str() {
        "Enter" => pick(session, pointed.get_untracked().as_deref()),
        _ => marks.on_key.run(event),
    };
    let said = text(move || {
        let key = pointed.get();
        shown.with(|shown| {
            let row = shown.answer.rows.iter().find(|row| Some(row.key) == key.as_deref());
            row.map_or_else(String::new, |row| match &row.refused {
                Some(reason) => format!("{}: {reason}", row.name),
                None => format!("{}: {}, {}, {}", row.name, row.whole, row.memory, row.loss),
            })
        })
    });
    let label = text(move || {
        shown.with(|shown| {
            format!(
                "Schemes by expected time and loss of quality. {} The table below has the numbers.",
                shown.answer.sentence
            )
        })
    });
    view! {
        <div class="scheme-chart">
            <h2>{TITLE}</h2>
            <ChartFrame
                id="schemes"
                title=TITLE
                legend=text(|| LEGEND.to_owned())
                name="Schemes on the chart; arrow keys go from one to the next, Enter shows it"
                scene=scene
                label=label
                view=view
                on_point=marks.on_point
                on_pick=Callback::new(move |spot| pick(session, marks.hit.run(spot).as_deref()))
                on_key=Callback::new(on_key)
                on_leave=marks.on_leave
                said=said
            />
        </div>
    }
}
