//! Parts of the page that most visits never need. With the feature `lazy`, each is in a chunk that is fetched when it is first
//! asked for. Chunks that draw nothing are in `state::chunks`.
#![cfg_attr(
    feature = "lazy",
    expect(clippy::unnecessary_wraps, reason = "what fetches a chunk adds the error")
)]

use leptos::prelude::*;

use crate::components::check::CheckPanel;
use crate::components::chunk::{Arriving, Chunk, LazyPart, MakeView, MeasuredPart};
use crate::components::compare::bar::CompareBar;
use crate::components::compare::choices::OtherDevicePicker;
use crate::components::compare::view::CompareView;
use crate::components::device_editor::DeviceEditor;
use crate::components::explanation::ExplanationPopover;
use crate::components::explore::view::ExploreView;
use crate::components::export_items::ExportItems;
use crate::components::goal_fields::GoalFields;
use crate::components::kernel::limits::LimitsBody;
use crate::components::kernel::operator_advice::OperatorAdvice;
use crate::components::kernel::own_points::OwnPoints;
use crate::components::kernel::view::KernelView;
use crate::components::key_dialog::KeyDialog;
use crate::components::measure::engine::EngineCard;
use crate::components::measure::history::History;
use crate::components::measure::running::Running;
use crate::components::measure::sensors::Sensors;
use crate::components::measure::sweep::Sweep;
use crate::components::measure::table::MeasuredTable;
use crate::components::measure::view::MeasureView;
use crate::components::model::memory::Memory;
use crate::components::model::view::ModelView;
use crate::components::plan::fields::PartFields;
use crate::components::plan::impasse::UnderVerdict;
use crate::components::plan::inspector::Inspector;
use crate::components::plan::scheme_table::SchemeTable;
use crate::components::plan::tabs::{Operators, Questions, Scale};
use crate::components::trust::view::TrustView;
use crate::components::why_stale::WhyStale;
use crate::state::chunks::{Refusal, in_chunk};

/// Fetches the chunk of a part of the page.
pub fn fetch(chunk: Chunk) -> Arriving {
    match chunk {
        Chunk::Model => Box::pin(model_view()),
        Chunk::Explore => Box::pin(explore_view()),
        Chunk::Kernel => Box::pin(kernel_view()),
        Chunk::Measure => Box::pin(measure_view()),
        Chunk::Measured(part) => Box::pin(measured(part)),
        Chunk::Trust => Box::pin(trust_view()),
        Chunk::DeviceEditor => Box::pin(device_editor()),
        Chunk::OperatorAdvice => Box::pin(operator_advice()),
        Chunk::More(part) => Box::pin(more(part)),
    }
}

in_chunk! {
    model,
    /// Returns the builder of the Model view.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn model_view() -> Result<MakeView, Refusal> {
        Ok(|| view! { <ModelView/> }.into_any())
    }
}

in_chunk! {
    explore,
    /// Returns the builder of the Explore view.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn explore_view() -> Result<MakeView, Refusal> {
        Ok(|| view! { <ExploreView/> }.into_any())
    }
}

in_chunk! {
    kernel,
    /// Returns the builder of the Kernel view.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn kernel_view() -> Result<MakeView, Refusal> {
        Ok(|| view! { <KernelView/> }.into_any())
    }
}

in_chunk! {
    measure,
    /// Returns the builder of the Measure view.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn measure_view() -> Result<MakeView, Refusal> {
        Ok(|| view! { <MeasureView/> }.into_any())
    }
}

in_chunk! {
    measured,
    /// Returns the builder of a part of the Measure view that is empty before a daemon is connected.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn measured(part: MeasuredPart) -> Result<MakeView, Refusal> {
        Ok(match part {
            MeasuredPart::Running => || view! { <Running/> }.into_any(),
            MeasuredPart::Engine => || view! { <EngineCard/> }.into_any(),
            MeasuredPart::History => || view! { <History/> }.into_any(),
            MeasuredPart::Sensors => || view! { <Sensors/> }.into_any(),
            MeasuredPart::Sweep => || view! { <Sweep/> }.into_any(),
            MeasuredPart::Table => || view! { <MeasuredTable/> }.into_any(),
        })
    }
}

in_chunk! {
    trust,
    /// Returns the builder of the Trust view.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn trust_view() -> Result<MakeView, Refusal> {
        Ok(|| view! { <TrustView/> }.into_any())
    }
}

in_chunk! {
    editor,
    /// Returns the builder of the form for custom devices.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn device_editor() -> Result<MakeView, Refusal> {
        Ok(|| view! { <DeviceEditor/> }.into_any())
    }
}

in_chunk! {
    kernel,
    /// Returns the builder of the recommendation for an operator, in the chunk of the Kernel view.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn operator_advice() -> Result<MakeView, Refusal> {
        Ok(|| view! { <OperatorAdvice/> }.into_any())
    }
}

in_chunk! {
    more,
    /// Returns the builder of a part that is hidden until the user clicks; all parts share one chunk.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn more(part: LazyPart) -> Result<MakeView, Refusal> {
        Ok(maker(part))
    }
}

fn maker(part: LazyPart) -> MakeView {
    match part {
        LazyPart::OwnPoints => || view! { <OwnPoints/> }.into_any(),
        LazyPart::Goal => || view! { <GoalFields/> }.into_any(),
        LazyPart::Check => || view! { <CheckPanel/> }.into_any(),
        LazyPart::ExportItems => || view! { <ExportItems/> }.into_any(),
        LazyPart::Limits => || view! { <LimitsBody/> }.into_any(),
        LazyPart::WhyStale => || view! { <WhyStale/> }.into_any(),
        LazyPart::UnderVerdict => || view! { <UnderVerdict/> }.into_any(),
        LazyPart::SchemeTable => || view! { <SchemeTable/> }.into_any(),
        LazyPart::Inspector => || view! { <Inspector/> }.into_any(),
        LazyPart::Explanation => || view! { <ExplanationPopover/> }.into_any(),
        LazyPart::Fields => || view! { <PartFields/> }.into_any(),
        LazyPart::Operators => || view! { <Operators/> }.into_any(),
        LazyPart::Memory => || view! { <Memory/> }.into_any(),
        LazyPart::Scale => || view! { <Scale/> }.into_any(),
        LazyPart::Questions => || view! { <Questions/> }.into_any(),
        LazyPart::Compare => || view! { <CompareView/> }.into_any(),
        LazyPart::CompareBar => || view! { <CompareBar/> }.into_any(),
        LazyPart::OtherDevice => || view! { <OtherDevicePicker/> }.into_any(),
        LazyPart::KeyDialog => || view! { <KeyDialog/> }.into_any(),
    }
}
