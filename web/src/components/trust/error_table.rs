//! Table of the errors per set, which is also the legend of the marks.

use leptos::prelude::*;

use super::TrustContext;
use crate::components::erased::block;
use crate::components::mark_icon::MarkIcon;
use crate::components::table_frame::TableFrame;
use crate::state::trust::answer::COLUMNS;

/// Errors of the filtered rows, in %, one line per set.
#[component]
pub fn ErrorTable() -> impl IntoView {
    let TrustContext { answer, .. } = expect_context();
    let rows = block(move || {
        let errors = answer.with(|answer| answer.errors.clone());
        let row = |(mark, name, cells): (_, &'static str, [String; 8])| {
            view! {
                <tr>
                    <th scope="row"><MarkIcon mark=mark/>{name}</th>
                    {cells.map(|cell| view! { <td>{cell}</td> }).collect_view()}
                </tr>
            }
        };
        errors.into_iter().map(row).collect_view().into_any()
    });
    let heads = COLUMNS.map(|(name, meaning)| {
        let title = (!meaning.is_empty()).then_some(meaning);
        view! { <th scope="col" title=title>{name}</th> }
    });
    view! {
        <h2>"Errors by set" <small>"expected over measured, less 1"</small></h2>
        <TableFrame label="Errors by set" class="formats operators" id="errors" heads=heads.collect_view().into_any()>
            <tbody>{rows}</tbody>
        </TableFrame>
    }
}
