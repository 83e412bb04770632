//! The left column: everything that the reader chooses.

use leptos::prelude::*;

use super::device_field::DeviceField;
use super::erased::{flag, on, text};
use super::number_field::NumberField;
use super::open_file::OpenFile;
use super::picker::Picker;
use super::power_mode_field::PowerModeField;
use super::presets::Presets;
use crate::state::derived::{inputs_summary, rule_name};
use crate::state::inputs::Field;
use crate::state::picker::{activation_groups, bits, weight_groups};
use crate::state::session::{Session, Step};

/// The inputs; on a small screen a line that opens them.
#[component]
pub fn InputsPanel() -> impl IntoView {
    let session = expect_context::<Session>();
    let inputs = session.inputs;
    let unfolded = RwSignal::new(false);
    let activations = Signal::derive(move || activation_groups(&inputs.with(rule_name)));
    let on_weights = move |key: String| {
        let format = calc_core::catalog::format(&key);
        session.edit(Step::Choice, |inputs| inputs.weights = format.unwrap_or(inputs.weights));
    };
    let on_activations = move |key: String| {
        let format = calc_core::catalog::format(&key).ok();
        session.edit(Step::Choice, |inputs| inputs.activations = format);
    };
    view! {
        <section class="inputs" class:unfolded=flag(move || unfolded.get()) aria-label="Inputs">
            <button
                type="button"
                class="summary"
                aria-expanded=text(move || unfolded.get().to_string())
                aria-controls="inputs"
                on:click=on(move |_| unfolded.update(|unfolded| *unfolded = !*unfolded))
            >
                {text(move || inputs.with(inputs_summary))}
            </button>
            <div class="fields" id="inputs">
                <DeviceField/>
                <PowerModeField/>
                <div class="shape" role="group" aria-label="Shape of the matrix product">
                    {Field::ALL.into_iter().map(|field| view! { <NumberField field=field/> }).collect_view()}
                </div>
                <Presets/>
                <Picker
                    id="weights"
                    label="Weights"
                    groups=Signal::stored(weight_groups())
                    chosen=text(move || inputs.with(|inputs| inputs.weights.key.to_owned()))
                    detail=text(move || inputs.with(|inputs| bits(inputs.weights)))
                    on_choose=Callback::new(on_weights)
                />
                <Picker
                    id="activations"
                    label="Activations"
                    groups=activations
                    chosen=text(move || inputs.with(|inputs| inputs.activations.map_or("", |format| format.key).to_owned()))
                    detail=text(String::new)
                    on_choose=Callback::new(on_activations)
                />
                <OpenFile/>
            </div>
        </section>
    }
}
