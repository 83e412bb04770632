//! Chart of all points that are left, with the front. A drag over it narrows the table.

use chart::front::{Brush, Front, scene as front_scene};
use chart::geometry::Spot;
use chart::scene::Scene;
use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;

use super::run::Exploration;
use crate::charts::canvas::Viewport;
use crate::charts::frame::ChartFrame;
use crate::components::erased::{flag, memo, on, text};
use crate::state::explore::shown::{ExploreAnswer, kept_rows, spoken};
use crate::state::roving::turn;

const TITLE: &str = "Points";
const LEGEND: &str = "large: on the front · small: the best of their own · color and shape: format · a drag narrows the table";

/// Distance from which a movement of the pressed pointer is a drag [px].
const DRAG: f64 = 6.0;

/// State of a drag.
#[derive(Debug, Clone, Copy)]
struct Drag {
    from: StoredValue<Option<Spot>>,
    /// A drag has just ended, and the click that follows it selects nothing.
    ended: StoredValue<bool>,
}

/// A mark for each point. Arrow keys go through the rows of the table, a drag marks a part, Escape ends both.
#[component]
pub fn ExploreChart() -> impl IntoView {
    let this = expect_context::<Exploration>();
    let Exploration { answer, pointed, chosen, brush, .. } = this;
    let view = RwSignal::new(Viewport::default());
    let drag = Drag { from: StoredValue::new(None), ended: StoredValue::new(false) };
    let front = memo(move |_| answer.with(|answer| answer.as_ref().map(ExploreAnswer::chart)));
    let scene = memo(move |_| {
        let focus = pointed.get().or_else(|| chosen.get());
        let size = view.get().size;
        front.with(|front| match front {
            Some(front) => front_scene(front, size, focus.as_deref(), brush.get().as_ref()),
            None => Scene::empty(size),
        })
    });
    let hit = move |spot: Spot| {
        scene.with_untracked(|scene| scene.hit(spot).map(|point| point.key.clone()))
    };
    let on_point = move |spot: Option<Spot>| {
        let key = spot.filter(|_| drag.from.get_value().is_none()).and_then(hit);
        if pointed.with_untracked(|pointed| *pointed != key) {
            pointed.set(key);
        }
    };
    let on_pick = move |spot: Spot| {
        if !drag.ended.get_value() {
            chosen.set(hit(spot));
        }
    };
    let said = text(move || {
        chosen.with(|chosen| answer.with(|answer| spoken_row(answer.as_ref(), chosen.as_deref())))
    });
    view! {
        <div
            class="front-chart"
            on:pointerdown=on(move |event: PointerEvent| pressed(drag, &event))
            on:pointermove=on(move |event: PointerEvent| {
                if let Some(ends) = dragged(drag, &event) {
                    this.narrow(between(front, view, ends).as_ref());
                }
            })
            on:pointerup=on(move |_| released(this, drag))
            on:pointerleave=on(move |_| released(this, drag))
        >
            <h2>{TITLE}</h2>
            <ChartFrame
                id="front"
                title=TITLE
                legend=text(|| LEGEND.to_owned())
                name="Points on the chart; arrow keys go from one to the next, Escape selects none"
                scene=scene
                label=text(move || front.with(|front| front.as_ref().map_or_else(String::new, label)))
                view=view
                on_point=Callback::new(on_point)
                on_pick=Callback::new(on_pick)
                on_key=Callback::new(move |event| key_pressed(this, &event))
                on_leave=Callback::new(move |()| pointed.set(None))
                said=said
            />
            <Brushed/>
        </div>
    }
}

/// Says that a part of the chart is marked, with the button that goes back to the whole chart.
#[component]
fn Brushed() -> impl IntoView {
    let this = expect_context::<Exploration>();
    let is_whole = flag(move || this.brush.with(Option::is_none));
    view! {
        <p class="brushed" hidden=is_whole>
            "The table has the points of the marked part. "
            <button type="button" class="chip" id="whole-chart" on:click=on(move |_| this.narrow(None))>"Whole chart"</button>
        </p>
    }
}

fn label(front: &Front) -> String {
    let [across, up] = &front.measures;
    format!(
        "{} points by {} and {}. The table below has the numbers.",
        front.points.len(),
        across.name,
        up.name
    )
}

fn spoken_row(answer: Option<&ExploreAnswer>, key: Option<&str>) -> String {
    answer.and_then(|answer| answer.row(key)).map_or_else(String::new, spoken)
}

fn spot(event: &PointerEvent) -> Spot {
    Spot { x: f64::from(event.offset_x()), y: f64::from(event.offset_y()) }
}

fn pressed(drag: Drag, event: &PointerEvent) {
    drag.ended.set_value(false);
    let is_on_canvas = event_target::<web_sys::Element>(event).tag_name() == "CANVAS";
    drag.from.set_value((event.button() == 0 && is_on_canvas).then(|| spot(event)));
}

/// Where a drag began and where it is now; `None` if nothing is dragged.
fn dragged(drag: Drag, event: &PointerEvent) -> Option<(Spot, Spot)> {
    let to = spot(event);
    let from = drag.from.get_value().filter(|from| from.distance(to) >= DRAG)?;
    drag.ended.set_value(true);
    Some((from, to))
}

/// The part of the chart between two of its positions.
fn between(
    front: Memo<Option<Front>>,
    view: RwSignal<Viewport>,
    (from, to): (Spot, Spot),
) -> Option<Brush> {
    let size = view.get_untracked().size;
    front.with_untracked(|front| Some(Brush::between(front.as_ref()?, size, from, to)))
}

/// The marked part becomes an entry of the history.
fn released(this: Exploration, drag: Drag) {
    if drag.from.get_value().is_some() && drag.ended.get_value() {
        this.session.end_burst();
    }
    drag.from.set_value(None);
}

fn key_pressed(this: Exploration, event: &KeyboardEvent) {
    let Exploration { session, answer, chosen, brush, pointed, .. } = this;
    if event.key() == "Escape" {
        chosen.set(None);
        if brush.with_untracked(Option::is_some) {
            this.narrow(None);
        }
        return;
    }
    let keys: Vec<String> = answer.with_untracked(|answer| {
        let Some(answer) = answer else { return Vec::new() };
        let kept = session.inputs.with_untracked(kept_rows);
        let part = brush.get_untracked();
        answer.visible(kept, part.as_ref()).into_iter().map(|place| place.to_string()).collect()
    });
    let at =
        chosen.with_untracked(|chosen| keys.iter().position(|key| Some(key) == chosen.as_ref()));
    if let Some(next) = turn(at, keys.len(), &event.key()) {
        event.prevent_default();
        pointed.set(None);
        chosen.set(keys.get(next).cloned());
    }
}
