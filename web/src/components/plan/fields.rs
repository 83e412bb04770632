//! The fields of the open part of the scenario. Loaded with the first click on a part.

use leptos::prelude::*;

use super::PlanContext;
use super::scheme_field::SchemeField;
use crate::components::device_field::DeviceField;
use crate::components::erased::block;
use crate::components::focus::{enter_first, focus_first};
use crate::components::goal_fields::GoalFields;
use crate::components::model::drafter::Drafter;
use crate::components::model::editor::Editor;
use crate::components::model::engine::EngineField;
use crate::components::model::formats::FormatField;
use crate::components::model::host_fields::HostFields;
use crate::components::model::image_fields::{ImageFields, LanguageModelOnly};
use crate::components::model::import::Import;
use crate::components::model::link_field::LinkField;
use crate::components::model::model_field::ModelField;
use crate::components::model::number::ModelNumber;
use crate::components::power_mode_field::PowerModeField;
use crate::state::model::fields::Field;
use crate::state::model::roles::Role;
use crate::state::model::stages;
use crate::state::scenario::ScenarioPart;

const FIRST: &str = "#part-fields :is(input, select)";

/// The fields of the open part, the first of which gets the focus.
#[component]
pub fn PartFields() -> impl IntoView {
    stages::load();
    let open = expect_context::<PlanContext>().open;
    block(move || {
        let Some(part) = open.get() else { return ().into_any() };
        request_animation_frame(match part {
            ScenarioPart::Device => || enter_first(FIRST),
            // A list would cover fields that are asked for as often, such as a model of one's own.
            _ => || focus_first(FIRST),
        });
        fields(part)
    })
}

/// The fields of a part.
fn fields(part: ScenarioPart) -> AnyView {
    let number = |field: Field| view! { <ModelNumber field=field/> };
    match part {
        ScenarioPart::Model => view! { <ModelField/> <LanguageModelOnly/> <Import/> <Editor/> }.into_any(),
        ScenarioPart::Device => view! {
            <DeviceField/>
            {[Field::Tensor, Field::Pipeline, Field::Expert, Field::Memory].map(number).collect_view()}
            <LinkField/>
            <HostFields/>
        }
        .into_any(),
        ScenarioPart::Mode => view! { <PowerModeField/> }.into_any(),
        ScenarioPart::Engine => view! { <EngineField/> }.into_any(),
        ScenarioPart::Users => number(Field::Batch).into_any(),
        ScenarioPart::In => view! {
            {[Field::Prompt, Field::Context].map(number).collect_view()}
            <ImageFields/>
        }
        .into_any(),
        ScenarioPart::Out => view! {
            {[Field::Generate, Field::Draft, Field::Acceptance].map(number).collect_view()}
            <Drafter/>
        }
        .into_any(),
        ScenarioPart::Scheme => view! {
            <SchemeField/>
            <FormatField role=Role::KvCache/>
            <FormatField role=Role::Embedding/>
        }
        .into_any(),
        ScenarioPart::Goal => view! { <GoalFields/> }.into_any(),
    }
}
