//! Model picker with the number of parameters.

use leptos::prelude::*;

use crate::components::erased::{block, derived, memo, text};
use crate::components::focus::focus_unfolded;
use crate::components::picker::Picker;
use crate::state::model::answer::parameters;
use crate::state::model::geometry::changed;
use crate::state::model::inputs::ModelSource;
use crate::state::picker::{
    OPEN, OptionGroup, PASTE, PickerCatalog, model_groups, split_format, take_format,
};
use crate::state::session::{Session, Step};
use crate::state::url::Note;

/// Selects the model, and shows its number of parameters and its provenance.
#[component]
pub fn ModelField() -> impl IntoView {
    let session = expect_context::<Session>();
    let base = memo(move |_| session.inputs.with(|inputs| inputs.model.base.clone()));
    let groups = derived(move || -> Vec<OptionGroup> { base.with(model_groups) });
    let on_choose = move |key: String| {
        if key == PASTE || key == OPEN {
            focus_unfolded(key.trim_start_matches('#'));
            return;
        }
        let (key, named) = split_format(&key);
        if let Ok(model) = calc_core::catalog::model(key) {
            let mut note = None;
            session.edit(Step::Choice, |inputs| {
                inputs.model.set_base(ModelSource::Catalog(model));
                note = named.and_then(|named| take_format(inputs, named));
            });
            session.notes.update(|notes| notes.extend(note.map(|text| Note { text })));
        }
    };
    let brief = block(move || {
        let (name, (badge, meaning)) = session.inputs.with(|inputs| {
            let size =
                changed(&inputs.model).map_or_else(|_| String::new(), |arch| parameters(&arch));
            let changed = if inputs.model.is_custom() { " · changed" } else { "" };
            (format!("{size} parameters{changed} "), inputs.model.base.badge())
        });
        view! { {name} <span class="badge" title=meaning>{badge}</span> }.into_any()
    });
    view! {
        <Picker
            id="model"
            label="Model"
            groups=groups
            names=PickerCatalog::Models
            chosen=text(move || base.with(|base| base.key().to_owned()))
            detail=text(String::new)
            on_choose=Callback::new(on_choose)
        />
        <p class="brief">{brief}</p>
    }
}
