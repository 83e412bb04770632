//! Field for the draft model of speculative decoding.

use leptos::prelude::*;

use crate::components::erased::{derived, flag, text};
use crate::components::picker::Picker;
use crate::state::model::fields::Field;
use crate::state::picker::{PickerCatalog, drafter_groups};
use crate::state::session::{Session, Step};

/// Selects the draft model; hidden while the number of drafted tokens is empty or 0.
#[component]
pub fn Drafter() -> impl IntoView {
    let session = expect_context::<Session>();
    let drafts = move || {
        session.inputs.with(|inputs| !matches!(inputs.model.text(Field::Draft).trim(), "" | "0"))
    };
    let on_choose = move |key: String| {
        let model = calc_core::catalog::model(&key).ok();
        session.edit(Step::Choice, |inputs| inputs.model.drafter = model);
    };
    view! {
        <div hidden=flag(move || !drafts())>
            <Picker
                id="dm"
                label="Draft model"
                groups=derived(drafter_groups)
                names=PickerCatalog::Drafters
                chosen=text(move || {
                    session.inputs.with(|inputs| inputs.model.drafter.map_or("", |model| model.key).to_owned())
                })
                detail=text(String::new)
                on_choose=Callback::new(on_choose)
            />
        </div>
    }
}
