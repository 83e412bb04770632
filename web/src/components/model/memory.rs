//! Memory bar of the Model view.

use calc_core::units::Bytes;
use leptos::prelude::*;

use super::ModelContext;
use super::host_bar::{HostMemoryBar, MoreHostMemory};
use super::tensors::Tensors;
use crate::components::erased::{block, derived, flag, memo, on, text};
use crate::components::explained::Explained;
use crate::state::model::fit::FitChange;
use crate::state::model::memory::MemoryPart;
use crate::state::session::{Session, Step};

/// Memory use by part, the capacity, and changes that would make the model fit.
#[component]
pub fn Memory() -> impl IntoView {
    let session = expect_context::<Session>();
    let shown = expect_context::<ModelContext>().shown;
    let bar = memo(move |_| shown.with(|shown| shown.answer.memory.clone()));
    let parts = bar.with_untracked(|bar| bar.parts.clone());
    let width = move |place: usize| {
        text(move || {
            let percent = bar.with(|bar| bar.parts.get(place).map_or(0.0, |part| part.percent));
            format!("{percent}%")
        })
    };
    let piece = |(place, part): (usize, &MemoryPart)| {
        view! { <span class=format!("piece {}", part.key) style:width=width(place)></span> }
    };
    let entry = move |(place, part): (usize, MemoryPart)| {
        let MemoryPart { key, name, size, .. } = part;
        let cell = derived(move || {
            bar.with(|bar| {
                bar.parts.get(place).map_or_else(|| size.clone(), |part| part.size.clone())
            })
        });
        // Most models have no towers.
        let absent = flag(move || {
            let bytes = bar.with(|bar| bar.parts.get(place).map(|part| part.bytes));
            key == "towers" && bytes.is_none_or(|bytes| bytes <= Bytes::ZERO)
        });
        view! {
            <li hidden=absent>
                <span class=format!("piece {key}") aria-hidden="true"></span>
                {name} " " <Explained id=format!("memory-{key}") cell=cell/>
            </li>
        }
    };
    let chip = move |change: FitChange| {
        let on_click = move |_| {
            let workload = bar.with_untracked(|bar| bar.workload);
            session.edit(Step::Choice, |inputs| change.apply(&mut inputs.model, &workload));
        };
        view! { <button type="button" class="chip" on:click=on(on_click)>{change.text()}</button> }
    };
    let changes = memo(move |_| bar.with(|bar| bar.changes.clone()));
    let chips = block(move || changes.get().into_iter().map(chip).collect_view().into_any());
    view! {
        <section class="memory" aria-label="Memory">
            <h2>"Memory" <small>{text(move || bar.with(|bar| bar.sentence.clone()))}</small></h2>
            <div class="memory-bar" class:over=flag(move || bar.with(|bar| !bar.fits)) aria-hidden="true">
                {parts.iter().enumerate().map(piece).collect_view()}
                <span class="capacity" style:left=text(move || format!("{}%", bar.with(|bar| bar.capacity)))></span>
            </div>
            <ul class="parts">
                {parts.into_iter().enumerate().map(entry).collect_view()}
                <li>
                    <span class="line" aria-hidden="true"></span>
                    {text(move || bar.with(|bar| bar.capacity_text.clone()))}
                </li>
            </ul>
            <p class="room">{text(move || bar.with(|bar| bar.room.clone()))} " " {chips} " " <MoreHostMemory/></p>
        </section>
        <HostMemoryBar/>
        <Tensors/>
    }
}
