//! Scatter chart of expected against measured times, one mark per row.

use chart::geometry::Spot;
use chart::scatter::scene as scatter_scene;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::TrustContext;
use crate::charts::canvas::Viewport;
use crate::charts::frame::ChartFrame;
use crate::components::erased::{derived, memo, text};
use crate::state::roving::turn;
use crate::state::trust::answer::TrustAnswer;
use crate::state::trust::rows::rows;
use crate::state::trust::words::spoken;

const TITLE: &str = "Expected against measured";

/// Scatter chart, and a text about the row at the pointer or the keyboard focus. The tables below have the numbers.
#[component]
pub fn ScatterChart() -> impl IntoView {
    let trust = expect_context::<TrustContext>();
    let TrustContext { answer, pointed, .. } = trust;
    let view = RwSignal::new(Viewport::default());
    let scene = memo(move |_| {
        answer.with(|answer| scatter_scene(&answer.scatter, view.get().size, pointed.get()))
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
    let on_pick = move |spot: Spot| {
        let place = hit(spot);
        pointed.set(place);
        open_source(place);
    };
    let said = text(move || match pointed.get().and_then(|place| rows().rows.get(place)) {
        Some(row) => answer.with(|answer| spoken(row, answer.unseen)),
        None => {
            "Point at a mark or use the arrow keys; a click or Enter opens its source.".to_owned()
        }
    });
    let label = text(move || answer.with(label_of));
    let legend = text(move || answer.with(legend_of));
    let marks = derived(move || answer.with(TrustAnswer::marks));
    let filters = text(move || answer.with(|answer| answer.filter_line.clone()));
    view! {
        <h2>{TITLE}</h2>
        <ChartFrame
            id="chart"
            title=TITLE
            legend=legend
            scenario=filters
            marks=marks
            name="Rows on the chart; arrow keys go from one to the next, Enter opens its source"
            scene=scene
            label=label
            view=view
            on_point=Callback::new(on_point)
            on_pick=Callback::new(on_pick)
            on_key=Callback::new(move |event| on_key(&event, trust))
            on_leave=Callback::new(move |()| pointed.set(None))
        />
        <p class="brief on-screen" role="status">{said}</p>
    }
}

/// The chart in words.
fn label_of(answer: &TrustAnswer) -> String {
    format!(
        "Expected against measured times, both logarithmic; on the diagonal they are equal. {} {} The tables below have the numbers.",
        answer.sentence, answer.line
    )
}

fn legend_of(answer: &TrustAnswer) -> String {
    format!("shape and color: set of rows · hollow: outside of its interval · {}", answer.region)
}

/// Arrow keys go from row to row by time, Enter opens the source, Escape leaves the rows.
fn on_key(event: &KeyboardEvent, TrustContext { answer, pointed, .. }: TrustContext) {
    let key = event.key();
    let now = pointed.get_untracked();
    let next = answer.with_untracked(|answer| {
        let at = answer.by_time.iter().position(|place| Some(*place) == now);
        turn(at, answer.by_time.len(), &key).map(|next| answer.by_time[next])
    });
    if key == "Escape" {
        pointed.set(None);
    } else if key == "Enter" {
        open_source(now);
    } else if next.is_some() {
        event.prevent_default();
        pointed.set(next);
    }
}

/// Opens the source of a row in a new tab, without opener and referrer.
fn open_source(place: Option<usize>) {
    let Some(row) = place.and_then(|place| rows().rows.get(place)) else { return };
    let opened =
        window().open_with_url_and_target_and_features(row.link(), "_blank", "noopener,noreferrer");
    drop(opened); // a browser that blocks the tab tells the user itself
}
