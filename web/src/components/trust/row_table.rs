//! Table of the filtered rows, the largest error first.

use leptos::prelude::*;

use super::TrustContext;
use crate::components::erased::{block, flag, on, text};
use crate::components::table_frame::{TableFrame, heads};
use crate::state::trust::answer::more_of;
use crate::state::trust::filter::{device_name, format_name};
use crate::state::trust::rows::{PublishedRow, rows};
use crate::state::trust::words::{measured, place, predicted, signed, work};

/// Number of rows shown at first; each click adds four times as many.
const STEP: usize = 25;

/// Columns of the table.
const COLUMNS: [&str; 6] =
    ["What was timed", "Measured", "Expected", "Error", "Interval", "Source, tier"];

/// Table of the rows, each with a link to its source.
#[component]
pub fn RowTable() -> impl IntoView {
    let TrustContext { answer, pairs, pointed } = expect_context();
    // The raised row limit applies only to the filter for which it was requested.
    let wanted = RwSignal::new((Vec::new(), STEP));
    let limit = move || {
        wanted.with(|(of, limit)| if pairs.with(|pairs| pairs == of) { *limit } else { STEP })
    };
    let body = block(move || {
        answer.with(|answer| {
            let shown = answer.by_error.iter().take(limit());
            let found = shown.filter_map(|at| Some((*at, rows().rows.get(*at)?)));
            found
                .map(|(at, found)| row(at, found, answer.unseen, pointed))
                .collect_view()
                .into_any()
        })
    });
    let left = move || answer.with(|answer| answer.by_error.len().saturating_sub(limit()));
    let on_more = move |_| {
        let next = limit() + 4 * STEP;
        wanted.set((pairs.get_untracked(), next));
    };
    view! {
        <h2>"Rows" <small>"the largest error first"</small></h2>
        <div class="asked">
            <TableFrame label="Rows" class="choices" id="rows" heads=heads(COLUMNS)>
                <tbody>{body}</tbody>
            </TableFrame>
            <p hidden=flag(move || left() == 0)>
                <button type="button" class="tool" on:click=on(on_more)>{text(move || more_of(left(), 4 * STEP))}</button>
            </p>
        </div>
    }
}

fn row(
    at: usize,
    row: &'static PublishedRow,
    unseen: bool,
    pointed: RwSignal<Option<usize>>,
) -> impl IntoView {
    let inside = row.predicted[usize::from(unseen)].inside;
    let about = format!("{}, {}, {}", device_name(row.device), row.engine, format_name(row.format));
    view! {
        <tr
            on:pointerenter=on(move |_| pointed.set(Some(at)))
            on:pointerleave=on(move |_| pointed.set(None))
            on:focusin=on(move |_| pointed.set(Some(at)))
        >
            <th scope="row">{work(row)}<br/><small>{about}</small></th>
            <td>{measured(row)}</td>
            <td>{predicted(row, unseen)}</td>
            <td>{signed(row.error(unseen))}</td>
            <td>{place(inside)}</td>
            <td>
                <a href=row.link() target="_blank" rel="noopener noreferrer" title=row.source>{row.id}</a>
                " "
                <small>{row.tier}</small>
            </td>
        </tr>
    }
}
