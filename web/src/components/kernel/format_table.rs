//! Table of formats: the numbers behind the chart.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::KernelContext;
use super::format_row::{FormatRow, focus_cell};
use crate::components::erased::{block, memo, on, text};
use crate::state::derived::COLUMNS;
use crate::state::roving::step;

/// One row per format. The table is one tab stop; arrow keys move from cell to cell.
#[component]
pub fn FormatTable() -> impl IntoView {
    let kernel = expect_context::<KernelContext>();
    let keys = memo(move |_| {
        kernel
            .shown
            .with(|shown| shown.kernel.rows.iter().map(|row| row.key.clone()).collect::<Vec<_>>())
    });
    let active = RwSignal::new((0, 0));
    let baseline = text(move || kernel.shown.with(|shown| format!("vs {}", shown.kernel.baseline)));
    let on_key = move |event: KeyboardEvent| {
        let size = (keys.with_untracked(Vec::len), COLUMNS + 1);
        if let Some(next) = step(active.get_untracked(), size, &event.key()) {
            event.prevent_default();
            active.set(next);
            focus_cell(next);
        }
    };
    let row = move |(index, key): (usize, String)| view! { <FormatRow key=key index=index active=active/> };
    let rows = block(move || {
        active.update_untracked(|active| {
            active.0 = active.0.min(keys.with(Vec::len).saturating_sub(1));
        });
        keys.get().into_iter().enumerate().map(row).collect_view().into_any()
    });
    view! {
        <div class="scroll">
        <table class="formats" role="grid" aria-label="Formats compared" on:keydown=on(on_key)>
            <thead>
                <tr>
                    <th scope="col">"Format"</th>
                    <th scope="col" class="wide">"Bytes"</th>
                    <th scope="col" class="wide">"FLOP/B"</th>
                    <th scope="col">"Ideal"</th>
                    <th scope="col">"Expected"</th>
                    <th scope="col">{baseline}</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
        </div>
    }
}
