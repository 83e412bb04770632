//! Row of the table of formats.

use calc_core::provenance::Provenance;
use leptos::prelude::*;
use report::output::verdict::badge;

use super::{KernelContext, choose};
use crate::components::erased::{Block, block, flag, memo, on, text};
use crate::components::explained::Explained;
use crate::components::focus::{focus, tab_index};
use crate::components::mark_icon::MarkIcon;
use crate::state::derived::{Cell, KernelRow, RowState};
use crate::state::roving;
use crate::state::session::Session;

/// One format: its numbers, or the reason why it has none. A click on its name selects it for the compared role.
#[component]
pub fn FormatRow(
    /// Key of the format in the catalog.
    key: String,
    /// Index of the row, from 0.
    index: usize,
    /// Row and column of the cell in the tab order.
    active: RwSignal<(usize, usize)>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let kernel = expect_context::<KernelContext>();
    let key = StoredValue::new(key);
    let row = memo(move |_| {
        kernel.shown.with(|shown| key.with_value(|key| shown.kernel.row(key).cloned()))
    });
    let is_chosen = flag(move || row.with(|row| row.as_ref().is_some_and(|row| row.chosen)));
    let is_pointed = flag(move || {
        kernel.pointed.with(|pointed| key.with_value(|key| pointed.as_ref() == Some(key)))
    });
    let on_choose = move |_| {
        active.set((index, 0));
        key.with_value(|key| choose(session, key));
        request_animation_frame(move || focus_cell(active.get_untracked())); // the row may have been rebuilt
    };
    let on_enter = move |_| kernel.pointed.set(Some(key.get_value()));
    let numbers = numbers(row, index, active);
    let name = block(move || {
        let Some(row) = row.get() else { return ().into_any() };
        let computes_as = row.computes_as().map(|class| format!(" as {class}"));
        view! { <MarkIcon mark=row.mark/> {row.name} <small>{computes_as}</small> }.into_any()
    });
    let more = block(move || match row.get().and_then(|row| row.rest()) {
        Some(rest) => view! { <tr class="more"><td colspan="4">{rest}</td></tr> }.into_any(),
        None => ().into_any(),
    });
    view! {
        <tr
            class:chosen=is_chosen
            class:pointed=is_pointed
            aria-selected=text(move || is_chosen.get().to_string())
            on:pointerenter=on(on_enter)
            on:pointerleave=on(move |_| kernel.pointed.set(None))
        >
            <th scope="row">
                <button
                    type="button"
                    class="format"
                    id=cell_id((index, 0))
                    tabindex=tab_index(move || active.get() == (index, 0))
                    on:click=on(on_choose)
                    on:focus=on(move |_| active.set((index, 0)))
                >
                    {name}
                </button>
            </th>
            {numbers}
        </tr>
        {more}
    }
}

/// The numbers of a row, or the reason why it has none.
fn numbers(
    row: Memo<Option<KernelRow>>,
    index: usize,
    active: RwSignal<roving::CellPosition>,
) -> Block {
    let number = move |column: usize, cell: Cell| {
        let at = (index, column);
        view! {
            <Explained
                id=cell_id(at)
                cell=cell
                tab_index=tab_index(move || active.get() == at)
                on_focus=Callback::new(move |()| active.set(at))
            />
        }
    };
    block(move || match row.get().map(|row| row.state) {
        Some(RowState::Runs { cells, interval, .. }) => {
            let [bytes, intensity, ideal, expected, speedup] = *cells;
            let sure = expected.explanation.provenance;
            let origin = (sure == Provenance::Measured).then(|| badge(sure));
            view! {
                <td class="wide">{number(1, bytes)}</td>
                <td class="wide">{number(2, intensity)}</td>
                <td>{number(3, ideal)}</td>
                <td>{number(4, expected)} <small class="interval">{interval}</small> <span class="badge own">{origin}</span></td>
                <td>{number(5, speedup)}</td>
            }
            .into_any()
        }
        Some(RowState::Refused { reason }) => {
            view! { <td class="refused" colspan="5">{reason}</td> }.into_any()
        }
        None => ().into_any(),
    })
}

/// `id` of the button in a cell.
pub fn cell_id((row, column): roving::CellPosition) -> String {
    format!("cell-{row}-{column}")
}

/// Moves the focus to a cell.
pub fn focus_cell(cell: roving::CellPosition) {
    focus(&cell_id(cell));
}
