//! Table of the operators of a phase.

use leptos::html::Div;
use leptos::prelude::*;

use super::ModelContext;
use super::operator_row::OperatorTableRow;
use crate::charts::canvas::watch_sight;
use crate::components::erased::{block, memo, text};
use crate::components::table_frame::heads;
use crate::state::session::Session;

/// Columns of the table.
const COLUMNS: [&str; 9] =
    ["Operator", "Count", "FLOP", "Weights", "KV cache", "Activations", "FLOP/B", "Time", "Limit"];

/// One row per operator name; the rows are the points of the chart.
#[component]
pub fn OperatorTable(
    /// 0 for prefill, 1 for decode.
    phase: usize,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let shown = expect_context::<ModelContext>().shown;
    let place = NodeRef::<Div>::new();
    let in_sight = RwSignal::new(true);
    Effect::new(move |_| {
        if let Some(place) = place.get() {
            watch_sight(&place, in_sight);
        }
    });
    // Outside the window, the table is updated after the frame is drawn.
    let turn = memo(move |before: Option<&u32>| {
        if in_sight.get() {
            shown.with(|_| ());
        } else {
            session.settled.track();
        }
        before.map_or(0, |before| before + 1)
    });
    let keys = memo(move |_| {
        turn.get();
        shown.with_untracked(|shown| {
            let rows = shown.answer.tables[phase].rows.iter();
            rows.map(|row| (row.key.clone(), row.name, row.hue)).collect::<Vec<_>>()
        })
    });
    let caption = text(move || {
        turn.get();
        shown.with_untracked(|shown| shown.answer.tables[phase].caption.clone())
    });
    let name = shown.with_untracked(|shown| shown.answer.tables[phase].name);
    let row = move |(index, (key, name, hue))| view! { <OperatorTableRow turn=turn phase=phase index=index key=key name=name hue=hue/> };
    let rows = block(move || keys.get().into_iter().enumerate().map(row).collect_view().into_any());
    view! {
        <div class="operators" node_ref=place><table class="formats">
            <caption>{name} " " <small>{caption}</small></caption>
            <thead><tr>{heads(COLUMNS)}</tr></thead>
            <tbody>{rows}</tbody>
        </table></div>
    }
}
