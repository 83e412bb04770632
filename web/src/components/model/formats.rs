//! Field for the format of a role.

use leptos::prelude::*;

use super::ModelContext;
use crate::components::erased::{derived, flag, memo, text};
use crate::components::picker::Picker;
use crate::state::model::answer::rule as rule_of;
use crate::state::model::roles::Role;
use crate::state::picker::{PickerCatalog, role_groups};
use crate::state::session::{Session, Step};

/// Selects the format of a role; the first option keeps the model's stored format, or applies the default rule.
#[component]
pub fn FormatField(
    /// Role to set: weights, experts, activations, KV cache or embedding.
    role: Role,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let inputs = expect_context::<ModelContext>().inputs;
    let rule = memo(move |before: Option<&String>| {
        let rule = inputs.with(|inputs| rule_of(&inputs.model, inputs.place(), role));
        rule.or(before.cloned()).unwrap_or_default()
    });
    let hidden = move || {
        role == Role::Experts
            && session.inputs.with(|inputs| !inputs.model.base.arch().has_experts())
    };
    let on_choose = move |key: String| {
        let format = calc_core::catalog::format(&key).ok();
        session.edit(Step::Choice, |inputs| inputs.model.set_format(role, format));
    };
    view! {
        <div hidden=flag(hidden)>
            <Picker
                id=role.id()
                label=role.name()
                groups=derived(move || role_groups(role, &rule.get()))
                names=PickerCatalog::Formats
                chosen=text(move || {
                    session.inputs.with(|inputs| inputs.model.formats.get(role).map_or("", |format| format.key).to_owned())
                })
                detail=text(String::new)
                on_choose=Callback::new(on_choose)
            />
        </div>
    }
}
