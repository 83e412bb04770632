//! Picture of the order of a model's layers.

use leptos::prelude::*;

use super::ModelContext;
use crate::components::erased::{block, memo};
use crate::state::model::layers::{DrawnPart, LayerPicture, picture_of};

/// Bars of all layers side by side, and what each kind of bar is.
#[component]
pub fn LayerOrder() -> impl IntoView {
    let inputs = expect_context::<ModelContext>().inputs;
    let picture = memo(move |before: Option<&Option<LayerPicture>>| {
        inputs.with(|inputs| picture_of(&inputs.model)).or(before.cloned().flatten())
    });
    block(move || picture.get().map(|picture| section(picture).into_any()).into_any())
}

fn section(picture: LayerPicture) -> impl IntoView {
    let LayerPicture { sentence, width, parts } = picture;
    let outlines = parts.iter().map(|DrawnPart { class, outline, .. }| {
        view! { <path class=class.clone() d=outline.clone()/> }
    });
    let drawing = (width > 0).then(|| {
        view! {
            <svg class="layer-order" viewBox=format!("0 0 {width} 2") preserveAspectRatio="none" aria-hidden="true">
                {outlines.collect_view()}
            </svg>
        }
    });
    let names = parts.iter().map(|DrawnPart { class, name, .. }| {
        view! {
            <li>
                <svg class="piece" viewBox="0 0 1 1" aria-hidden="true"><path class=class.clone() d="M0 0h1v1h-1z"/></svg>
                {name.clone()}
            </li>
        }
    });
    view! {
        <section class="layers" aria-label="Layers">
            <h2>"Layers" <small>{sentence}</small></h2>
            {drawing}
            <ul class="parts">{names.collect_view()}</ul>
        </section>
    }
}
