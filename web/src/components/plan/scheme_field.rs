//! Field for the scheme in the cards.

use calc_core::catalog::schemes;
use leptos::prelude::*;

use crate::components::erased::text;
use crate::components::picker::Picker;
use crate::state::picker::{PickerCatalog, scheme_groups};
use crate::state::session::{Session, Step};

/// Selects a scheme for the cards; the first option is the recommended one.
#[component]
pub fn SchemeField() -> impl IntoView {
    let session = expect_context::<Session>();
    let chosen =
        move || session.inputs.with(|inputs| inputs.model.scheme.map_or("", |scheme| scheme.key));
    let on_choose = move |key: String| {
        session.edit(Step::Choice, |inputs| inputs.model.scheme = schemes::scheme(&key));
    };
    view! {
        <Picker
            id="scheme"
            label="Scheme"
            groups=Signal::stored(scheme_groups())
            names=PickerCatalog::Schemes
            chosen=text(move || chosen().to_owned())
            detail=text(String::new)
            on_choose=Callback::new(on_choose)
        />
    }
}
