//! Table of all schemes: ranked ones with their numbers, refused ones with their reason.

use calc_core::catalog::schemes;
use leptos::prelude::*;

use super::PlanContext;
use crate::components::erased::{block, flag, memo, on};
use crate::components::mark_icon::MarkIcon;
use crate::components::stale::Stale;
use crate::state::plan::SchemeRow;
use crate::state::session::{Session, Step};

/// Shows a scheme in the cards; the inspector explains one that is refused.
pub fn pick(session: Session, key: Option<&str>) {
    if let Some(scheme) = key.and_then(schemes::scheme) {
        session.inspected.set(None);
        session.edit(Step::Choice, |inputs| inputs.model.scheme = Some(scheme));
    }
}

/// Every scheme; a click on a name shows it in the cards.
#[component]
pub fn SchemeTable() -> impl IntoView {
    let PlanContext { shown, .. } = expect_context();
    let rows = memo(move |_| shown.with(|shown| shown.answer.rows.clone()));
    let time = memo(move |_| shown.with(|shown| shown.answer.time_column));
    let none = expect_context::<Stale>().is_empty;
    let all = block(move || {
        rows.get()
            .into_iter()
            .map(|row| view! { <SchemeTableRow row=row/> })
            .collect_view()
            .into_any()
    });
    view! {
        <div class="scroll" tabindex="0" role="group" aria-label="All schemes" hidden=none>
            <table class="formats schemes" aria-label="All schemes">
                <thead>
                    <tr>
                        <th scope="col">"Scheme"</th>
                        <th scope="col">{move || time.get()}</th>
                        <th scope="col" class="wide">"First token"</th>
                        <th scope="col" class="wide">"Rate"</th>
                        <th scope="col">"Memory"</th>
                        <th scope="col" title="Published or assumed for 8B models, scaled to this size">"Loss (from 8B models)"</th>
                    </tr>
                </thead>
                <tbody>{all}</tbody>
            </table>
        </div>
    }
}

#[component]
fn SchemeTableRow(
    /// Texts of the row.
    row: SchemeRow,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let PlanContext { shown, pointed, .. } = expect_context();
    let key = row.key;
    let is_chosen = flag(move || shown.with(|shown| shown.answer.chosen == key));
    let is_pointed = flag(move || pointed.with(|pointed| pointed.as_deref() == Some(key)));
    let picks = row.picks.iter().map(|pick| view! { " " <span class="badge">{*pick}</span> });
    // Where the table has no room for their columns.
    let on_phones = row.refused.is_none().then(|| {
        view! { <small class="narrow">{row.rate.clone()} ", first token " {row.first.clone()}</small> }
    });
    let numbers = match row.refused {
        Some(reason) => view! { <td class="refused" colspan="5">{reason}</td> }.into_any(),
        None => view! {
            <td>{row.whole} <small class="interval">{row.interval}</small></td>
            <td class="wide">{row.first}</td>
            <td class="wide">{row.rate}</td>
            <td>{row.memory}</td>
            <td>{row.loss} <span class="wide">" " {row.metric}</span></td>
        }
        .into_any(),
    };
    let name = view! { <MarkIcon mark=row.mark/> {row.name} };
    view! {
        <tr
            class:chosen=is_chosen
            class:pointed=is_pointed
            on:mouseenter=on(move |_| pointed.set(Some(key.to_owned())))
            on:mouseleave=on(move |_| pointed.set(None))
        >
            <th scope="row">
                <button type="button" class="format" on:click=on(move |_| pick(session, Some(key)))>
                    {name}
                </button>
                " " <small>{row.engine}</small> " " {picks.collect_view()} {on_phones}
            </th>
            {numbers}
        </tr>
    }
}
