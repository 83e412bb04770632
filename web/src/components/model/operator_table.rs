//! The table of a phase's operators.

use leptos::prelude::*;

use super::operator_row::OperatorTableRow;
use super::view::ModelContext;
use crate::components::erased::{block, memo, text};

/// One row per operator name; the rows are the points of the chart.
#[component]
pub fn OperatorTable(
    /// 0 for prefill, 1 for decode.
    phase: usize,
) -> impl IntoView {
    let shown = expect_context::<ModelContext>().shown;
    let keys = memo(move |_| {
        shown.with(|shown| {
            let rows = shown.answer.tables[phase].rows.iter();
            rows.map(|row| (row.key.clone(), row.name, row.hue)).collect::<Vec<_>>()
        })
    });
    let caption = text(move || shown.with(|shown| shown.answer.tables[phase].caption.clone()));
    let name = shown.with_untracked(|shown| shown.answer.tables[phase].name);
    let row = move |(index, (key, name, hue))| view! { <OperatorTableRow phase=phase index=index key=key name=name hue=hue/> };
    let rows = block(move || keys.get().into_iter().enumerate().map(row).collect_view().into_any());
    view! {
        <div class="operators"><table class="formats">
            <caption>{name} " " <small>{caption}</small></caption>
            <thead>
                <tr>
                    <th scope="col">"Operator"</th>
                    <th scope="col" class="wide">"Count"</th>
                    <th scope="col" class="wide">"FLOP"</th>
                    <th scope="col">"Weights"</th>
                    <th scope="col" class="wide">"KV cache"</th>
                    <th scope="col" class="wide">"Activations"</th>
                    <th scope="col" class="wide">"FLOP/B"</th>
                    <th scope="col">"Time"</th>
                    <th scope="col">"Limit"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table></div>
    }
}
