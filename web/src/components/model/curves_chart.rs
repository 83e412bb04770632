//! Chart of throughput and latency against batch or context.

use chart::curves::scene as curves_scene;
use chart::geometry::Spot;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::ModelContext;
use crate::charts::canvas::Viewport;
use crate::charts::frame::ChartFrame;
use crate::components::erased::{block, memo, on, text};
use crate::state::model::curves::{CurveAxis, CurveSweep, SweepRow, next};
use crate::state::roving::turn;
use crate::state::session::Session;

const LEGEND: &str = "mark: expected · dashed line: ideal · ring: the present value";

/// Chart with a panel for throughput and one for time per token, and below it a collapsed table of the values.
#[component]
pub fn CurvesChart(
    /// Variable of the horizontal axis: batch or context.
    against: CurveAxis,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let inputs = expect_context::<ModelContext>().inputs;
    // Updated one frame after the inputs, so that the answer above is drawn first.
    let sweep = memo(move |before| {
        session.settled.track();
        let inputs = inputs.get_untracked();
        next(before, &inputs.model, inputs.place(), against)
    });
    let view = RwSignal::new(Viewport::default());
    let pointed = RwSignal::new(None::<usize>);
    let unfolded = RwSignal::new(false);
    let scene = memo(move |_| {
        sweep.with(|sweep| curves_scene(&sweep.curves, view.get().size, pointed.get()))
    });
    let hit = move |spot: Spot| {
        scene.with_untracked(|scene| scene.hit(spot).and_then(|point| point.key.parse().ok()))
    };
    let on_point = move |spot: Option<Spot>| {
        let place = spot.and_then(hit);
        if pointed.get_untracked() != place {
            pointed.set(place);
        }
    };
    let said = text(move || sweep.with(|sweep| sweep.spoken(pointed.get())));
    let words = text(move || sweep.with(|sweep| sweep.words.clone()));
    let label = text(move || label_of(against, &words.get()));
    let numbers = block(move || {
        if unfolded.get() { sweep.with(|sweep| table(against, sweep)) } else { ().into_any() }
    });
    view! {
        <h2>{against.title()} <small>{words}</small></h2>
        <ChartFrame
            id=against.id()
            class="chart curves"
            title=against.title()
            legend=text(|| LEGEND.to_owned())
            name=format!("Values {}; arrow keys go from one to the next", against.title().to_ascii_lowercase())
            scene=scene
            label=label
            view=view
            on_point=Callback::new(on_point)
            on_pick=Callback::new(move |spot| pointed.set(hit(spot)))
            on_key=Callback::new(move |event| on_key(&event, sweep, pointed))
            on_leave=Callback::new(move |()| pointed.set(None))
            said=said
        />
        <details class="numbers" on:toggle=on(move |_| unfolded.update(|unfolded| *unfolded = !*unfolded))>
            <summary>"The same in numbers"</summary>
            <div class="scroll" tabindex="0" role="group" aria-label=against.title()>{numbers}</div>
        </details>
    }
}

/// The chart in words.
fn label_of(against: CurveAxis, words: &str) -> String {
    format!(
        "Throughput and time per token {}. {words} The table below has the numbers.",
        against.title().to_ascii_lowercase()
    )
}

/// Arrow keys go from value to value, Escape leaves them.
fn on_key(event: &KeyboardEvent, sweep: Memo<CurveSweep>, pointed: RwSignal<Option<usize>>) {
    let count = sweep.with_untracked(|sweep| sweep.rows.len());
    if event.key() == "Escape" {
        pointed.set(None);
    } else if let Some(next) = turn(pointed.get_untracked(), count, &event.key()) {
        event.prevent_default();
        pointed.set(Some(next));
    }
}

/// The values of the chart as a table.
fn table(against: CurveAxis, sweep: &CurveSweep) -> AnyView {
    let row = |row: &SweepRow| {
        let [at, cells @ ..] = row.cells();
        view! { <tr><th scope="row">{at}</th>{cells.map(|cell| view! { <td>{cell}</td> }).collect_view()}</tr> }
    };
    view! {
        <table class="formats sweep" aria-label=against.title()>
            <thead>
                <tr>{against.columns().map(|name| view! { <th scope="col">{name}</th> }).collect_view()}</tr>
            </thead>
            <tbody>{sweep.rows.iter().map(row).collect_view()}</tbody>
        </table>
    }
    .into_any()
}
