//! The memory bar.

use leptos::prelude::*;

use super::view::ModelContext;
use crate::components::erased::{block, on};
use crate::components::explained::Explained;
use crate::state::model::fit::Change;
use crate::state::model::memory::{MemoryBar, Part};
use crate::state::session::{Session, Step};

/// What fills the memory, where it ends, and what would make it fit.
#[component]
pub fn Memory() -> impl IntoView {
    let session = expect_context::<Session>();
    let shown = expect_context::<ModelContext>().shown;
    let bar = Memo::new(move |_| shown.with(|shown| shown.answer.memory.clone()));
    let piece = |part: &Part| {
        view! { <span class=format!("piece {}", part.key) style:width=format!("{}%", part.percent)></span> }
    };
    let entry = |part: Part| {
        let id = format!("memory-{}", part.key);
        view! {
            <li><span class=format!("piece {}", part.key) aria-hidden="true"></span>{part.name} " " <Explained id=id cell=part.size/></li>
        }
    };
    let body = move |bar: MemoryBar| {
        let workload = bar.workload;
        let chip = move |change: Change| {
            let on_click = move |_| {
                session.edit(Step::Choice, |inputs| change.apply(&mut inputs.model, &workload));
            };
            view! { <button type="button" class="chip" on:click=on(on_click)>{change.text()}</button> }
        };
        view! {
            <h2>"Memory" <small>{bar.sentence}</small></h2>
            <div class="memory-bar" class:over=!bar.fits aria-hidden="true">
                {bar.parts.iter().map(piece).collect_view()}
                <span class="capacity" style:left=format!("{}%", bar.capacity)></span>
            </div>
            <ul class="parts">
                {bar.parts.into_iter().map(entry).collect_view()}
                <li class="capacity-text"><span class="line" aria-hidden="true"></span>{bar.capacity_text}</li>
            </ul>
            <p class="room">{bar.room} " " {bar.changes.into_iter().map(chip).collect_view()}</p>
        }
    };
    view! {
        <section class="memory" aria-label="Memory">{block(move || body(bar.get()).into_any())}</section>
    }
}
