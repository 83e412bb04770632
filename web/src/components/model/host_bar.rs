//! Memory of the host as a bar under that of the card.

use leptos::prelude::*;

use super::ModelContext;
use crate::components::erased::{block, memo, on};
use crate::state::model::host::{HostBar, HostPart, enough, give_memory, host_bar, memory_text};
use crate::state::session::{Session, Step};

/// Weights and cache on the host, and what it reads from its SSD; nothing without a host.
#[component]
pub fn HostMemoryBar() -> impl IntoView {
    let shown = expect_context::<ModelContext>().shown;
    let bar =
        memo(move |_| shown.with(|shown| shown.answer.estimate.memory.host.as_ref().map(host_bar)));
    let piece = |part: &HostPart| {
        view! { <span class=format!("piece {}", part.key) style:width=format!("{}%", part.percent)></span> }
    };
    let entry = |part: &HostPart| {
        let HostPart { key, name, size, .. } = part.clone();
        view! { <li><span class=format!("piece {key}") aria-hidden="true"></span>{name} " " {size}</li> }
    };
    block(move || {
        let Some(HostBar { sentence, parts, capacity, capacity_text, fits }) = bar.get() else {
            return ().into_any();
        };
        view! {
            <section class="memory" aria-label="Memory of the host">
                <h2>"Host" <small>{sentence}</small></h2>
                <div class="memory-bar" class:over=!fits aria-hidden="true">
                    {parts.iter().map(piece).collect_view()}
                    <span class="capacity" style:left=format!("{capacity}%")></span>
                </div>
                <ul class="parts">
                    {parts.iter().map(entry).collect_view()}
                    <li><span class="line" aria-hidden="true"></span>{capacity_text}</li>
                </ul>
            </section>
        }
        .into_any()
    })
}

/// The amount of host memory with which a model that does not fit does, as a button.
#[component]
pub fn MoreHostMemory() -> impl IntoView {
    let session = expect_context::<Session>();
    let ModelContext { inputs, shown, .. } = expect_context();
    let memory = memo(move |_| {
        // In Plan the ways out above have it.
        let offers =
            shown.with(|shown| !shown.is_stale() && !shown.answer.memory.changes.is_empty());
        inputs.with(|inputs| if offers { enough(&inputs.model, inputs.place()) } else { None })
    });
    block(move || match memory.get() {
        None => ().into_any(),
        Some(memory) => {
            let on_click = move |_| {
                session.edit(Step::Choice, |inputs| {
                    let device = inputs.device.clone();
                    let place = crate::state::place::Place::of(&device);
                    give_memory(&mut inputs.model, memory, place);
                });
            };
            view! { <button type="button" class="chip" on:click=on(on_click)>{memory_text(memory)}</button> }
                .into_any()
        }
    })
}
