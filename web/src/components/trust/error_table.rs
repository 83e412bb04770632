//! Table of the errors per set, which is also the legend of the marks.

use leptos::prelude::*;

use super::TrustContext;
use crate::components::erased::block;
use crate::components::mark_icon::MarkIcon;
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
    let head = COLUMNS.map(|(name, meaning)| {
        let title = (!meaning.is_empty()).then_some(meaning);
        view! { <th scope="col" title=title>{name}</th> }
    });
    view! {
        <h2>"Errors by set" <small>"expected over measured, less 1"</small></h2>
        <div class="scroll" tabindex="0" role="group" aria-label="Errors by set">
            <table class="formats operators" id="errors">
                <thead><tr>{head.collect_view()}</tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}
