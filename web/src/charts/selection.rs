//! Selection of a chart's mark, by pointer and by arrow keys.

use chart::geometry::Spot;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::state::roving::turn;

/// Handlers that [`ChartFrame`](super::frame::ChartFrame) takes.
#[derive(Debug, Clone, Copy)]
pub struct Selection {
    /// Key of the mark at a position.
    pub hit: Callback<Spot, Option<String>>,
    /// Selects the mark under the pointer.
    pub on_point: Callback<Option<Spot>>,
    /// Selects the mark that was clicked or tapped.
    pub on_pick: Callback<Spot>,
    /// Arrow keys go round all marks; Escape selects no mark.
    pub on_key: Callback<KeyboardEvent>,
    /// Selects no mark.
    pub on_leave: Callback<()>,
}

/// Selection in `pointed`, among marks with `keys` in their order.
pub fn selection(
    pointed: RwSignal<Option<String>>,
    hit: Callback<Spot, Option<String>>,
    keys: Callback<(), Vec<String>>,
) -> Selection {
    let select = move |key: Option<String>| {
        if pointed.with_untracked(|pointed| *pointed != key) {
            pointed.set(key);
        }
    };
    let on_key = move |event: KeyboardEvent| {
        if event.key() == "Escape" {
            return select(None);
        }
        let keys = keys.run(());
        let at = pointed
            .with_untracked(|pointed| keys.iter().position(|key| Some(key) == pointed.as_ref()));
        if let Some(next) = turn(at, keys.len(), &event.key()) {
            event.prevent_default();
            select(keys.get(next).cloned());
        }
    };
    Selection {
        hit,
        on_point: Callback::new(move |spot: Option<Spot>| {
            select(spot.and_then(|spot| hit.run(spot)));
        }),
        on_pick: Callback::new(move |spot| select(hit.run(spot))),
        on_key: Callback::new(on_key),
        on_leave: Callback::new(move |()| select(None)),
    }
}
