//! Left column of the Model view: all inputs.

use leptos::prelude::*;

use super::ModelContext;
use super::drafter::Drafter;
use super::editor::Editor;
use super::engine::EngineField;
use super::formats::FormatField;
use super::host_fields::HostFields;
use super::image_fields::{ImageFields, LanguageModelOnly};
use super::import::{DropTarget, Import};
use super::link_field::LinkField;
use super::model_field::ModelField;
use super::number::ModelNumber;
use crate::components::chunk::LazyPart;
use crate::components::device_field::DeviceField;
use crate::components::erased::text;
use crate::components::fetched::Folded;
use crate::components::inputs_shell::InputsShell;
use crate::components::power_mode_field::PowerModeField;
use crate::components::startup::{each_in_turn, in_turn};
use crate::state::model::answer::{ModelShown, summary};
use crate::state::model::fields::Field;
use crate::state::model::roles::Role;
use crate::state::model::stages;
use crate::state::session::Session;

/// Input fields; on a small screen they are behind a summary line that opens them.
#[component]
pub fn ModelInputsPanel() -> impl IntoView {
    stages::load();
    let session = expect_context::<Session>();
    let shown = expect_context::<ModelContext>().shown;
    // Invalid values of the address are visible from the start.
    let open = shown.with_untracked(ModelShown::is_stale);
    let summary = text(move || {
        session.inputs.with(|inputs| {
            shown.with(|shown| {
                summary(&inputs.model, &inputs.device, inputs.mode.as_deref(), &shown.answer)
            })
        })
    });
    let numbers = |fields: &[Field]| {
        fields.iter().map(|field| view! { <ModelNumber field=*field/> }).collect_view()
    };
    let [weights, experts, others @ ..] = Role::ALL;
    view! {
        <InputsShell label="Inputs" summary=summary open=open>
            {each_in_turn([
                || view! { <ModelField/><LanguageModelOnly/><Import/><DropTarget/><Editor/> }.into_any(),
                || view! { <DeviceField/><PowerModeField/><HostFields/> }.into_any(),
                || view! { <EngineField/> }.into_any(),
            ])}
            {in_turn(move || view! { <FormatField role=weights/><FormatField role=experts/> }.into_any())}
            <details class="more-fields">
                <summary>"Activations, KV cache, embedding"</summary>
                {in_turn(move || others.map(|role| view! { <FormatField role=role/> }).collect_view().into_any())}
            </details>
            <div class="twin">
                {in_turn(move || {
                    numbers(&[Field::Batch, Field::Prompt, Field::Context, Field::Generate]).into_any()
                })}
            </div>
            <ImageFields/>
            {in_turn(|| {
                view! { <Folded class="more-fields goal" title="Goal of the recommendation" part=LazyPart::Goal open=false/> }
                    .into_any()
            })}
            <details class="more-fields">
                <summary>"Memory, devices, drafts"</summary>
                {in_turn(move || {
                    view! {
                        <div class="twin">
                            {numbers(&[
                                Field::Memory, Field::WeightBits, Field::Tensor, Field::Pipeline, Field::Expert,
                            ])}
                        </div>
                        <LinkField/>
                        <div class="twin">{numbers(&[Field::Draft, Field::Acceptance])}</div>
                        <Drafter/>
                    }
                        .into_any()
                })}
            </details>
        </InputsShell>
    }
}
