//! Right column of the Trust view: cases where expected times are known to be wrong.

use leptos::prelude::*;

use super::TrustContext;
use crate::components::erased::{block, on};
use crate::state::session::{Session, Step};
use crate::state::trust::answer::Wrong as Group;
use crate::state::trust::filter::{FilterField, choose};
use crate::state::trust::rows::rows;
use crate::state::trust::words::{above_roof, work};

/// Lists of the groups with the largest errors and of the rows above the roof.
#[component]
pub fn Wrong() -> impl IntoView {
    let session = expect_context::<Session>();
    let TrustContext { answer, .. } = expect_context();
    let group = move |Group { name, words, chosen }: Group| {
        let on_click = move |_| {
            session.edit(Step::Choice, |inputs| {
                FilterField::ALL
                    .into_iter()
                    .zip(chosen)
                    .for_each(|(part, value)| choose(inputs, part, value));
            });
        };
        view! {
            <li>
                <button type="button" class="format" on:click=on(on_click)>{name}</button>
                <br/>
                <small>{words}</small>
            </li>
        }
    };
    let groups = block(move || {
        answer.with(|answer| answer.wrong.clone()).into_iter().map(group).collect_view().into_any()
    });
    let above = block(move || {
        let places = answer.with(|answer| answer.above_roof.clone());
        if places.is_empty() {
            return view! { <p class="formats-line">"None of these rows."</p> }.into_any();
        }
        let row = |row: &'static crate::state::trust::rows::PublishedRow| {
            view! {
                <li>
                    <a href=row.link() target="_blank" rel="noopener noreferrer">{row.id}</a>
                    " "
                    {work(row)}
                    <br/>
                    <small>{above_roof(row)}</small>
                </li>
            }
        };
        let found = places.into_iter().filter_map(|place| rows().rows.get(place));
        view! { <ul>{found.map(row).collect_view()}</ul> }.into_any()
    });
    view! {
        <aside class="limits" aria-label="Where it is known to be wrong">
            <div>
                <h2>"Where it is known to be wrong"</h2>
                <p class="formats-line">"Groups of device, engine and set with the largest errors. A click shows the rows."</p>
                <ul>{groups}</ul>
                <h2>"Above the roof"</h2>
                <p class="formats-line">"Rows that imply more than the datasheet allows. They count like the others."</p>
                {above}
            </div>
        </aside>
    }
}
