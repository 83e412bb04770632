//! Where a model lies on card and host, with the options of llama.cpp that put it there; tokens and encoder of images.

use leptos::prelude::*;

use super::ModelContext;
use crate::components::advice::way;
use crate::components::erased::{block, memo};
use crate::state::advice::ApplyCommand;
use crate::state::model::host::{BesideShown, beside_shown};

/// Memory and options for card and host, and tokens and time of images; nothing without either.
#[component]
pub fn Placed() -> impl IntoView {
    let ModelContext { inputs, shown, .. } = expect_context();
    let said = memo(move |_| {
        shown.with(|shown| inputs.with(|inputs| beside_shown(&inputs.model, inputs.place(), shown)))
    });
    let row = |(name, said): (&'static str, String)| view! { <li>{name} ": " {said} "."</li> };
    block(move || match said.get() {
        None => ().into_any(),
        Some(BesideShown { rows, options }) => {
            let command = (!options.is_empty()).then(|| {
                way(ApplyCommand {
                    tool: "llama.cpp, behind llama-server -m FILE".to_owned(),
                    text: options,
                })
            });
            view! {
                <div class="impasse placed">
                    <ul>{rows.into_iter().map(row).collect_view()}</ul>
                    {command}
                </div>
            }
            .into_any()
        }
    })
}
