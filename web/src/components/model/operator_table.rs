//! Table of the operators of a phase.

use leptos::html::Div;
use leptos::prelude::*;

use super::ModelContext;
use super::operator_row::{OperatorTableRow, RowHead, numbers};
use crate::charts::canvas::watch_sight;
use crate::components::erased::{block, memo, text};
use crate::components::table_frame::heads;
use crate::state::model::layers::{PhaseTable, table_of};
use crate::state::session::Session;

/// Columns of the table.
const COLUMNS: [&str; 9] =
    ["Operator", "Count", "FLOP", "Weights", "KV cache", "Activations", "FLOP/B", "Time", "Limit"];

/// The operators of each part of the layers, under a row with the sums of the part; the operators are the points of the chart.
#[component]
pub fn OperatorTable(
    /// 0 for prefill, 1 for decode.
    phase: usize,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let ModelContext { inputs, shown, .. } = expect_context();
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
    let table = memo(move |before: Option<&Option<PhaseTable>>| {
        turn.get();
        let table = shown.with_untracked(|shown| {
            inputs.with_untracked(|inputs| table_of(&inputs.model, inputs.place(), shown, phase))
        });
        table.or(before.cloned().flatten())
    });
    // Typing changes cells and keeps the rows.
    let heads_of_rows = memo(move |_| {
        table.with(|table| {
            let parts = table.iter().flat_map(|table| &table.parts);
            parts.map(|part| part.rows.iter().map(RowHead::of).collect()).collect::<Vec<Vec<_>>>()
        })
    });
    let body = block(move || {
        let part = |(part, rows): (usize, Vec<RowHead>)| view! { <PartRows table=table part=part rows=rows/> };
        heads_of_rows.get().into_iter().enumerate().map(part).collect_view().into_any()
    });
    let name = move || table.with(|table| table.as_ref().map(|table| table.name));
    let caption = move || table.with(|table| table.as_ref().map(|table| table.caption.clone()));
    view! {
        <div class="operators" node_ref=place><table class="formats">
            <caption>{name()} " " <small>{text(move || caption().unwrap_or_default())}</small></caption>
            <thead><tr>{heads(COLUMNS)}</tr></thead>
            {body}
        </table></div>
    }
}

/// The sums of a part of the layers, and its operators.
#[component]
fn PartRows(
    /// The table of the phase.
    table: Memo<Option<PhaseTable>>,
    /// Index of the part, from 0.
    part: usize,
    /// Heads of its rows.
    rows: Vec<RowHead>,
) -> impl IntoView {
    let own = memo(move |_| {
        table.with(|table| {
            let own = table.as_ref()?.parts.get(part)?;
            Some((own.name.clone(), own.sum.clone()))
        })
    });
    let name = text(move || {
        own.with(|own| own.as_ref().map_or_else(String::new, |(name, _)| name.clone()))
    });
    let sums =
        block(move || own.with(|own| own.as_ref().map(|(_, sum)| numbers(sum.clone()))).into_any());
    let row =
        |(index, head)| view! { <OperatorTableRow table=table part=part index=index head=head/> };
    view! {
        <tbody>
            <tr class="part">
                <th scope="rowgroup">{name}</th>
                {sums}
            </tr>
            {rows.into_iter().enumerate().map(row).collect_view()}
        </tbody>
    }
}
