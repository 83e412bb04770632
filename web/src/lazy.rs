//! Parts of the page that most visits never need. With the feature `lazy`, the first call of a function fetches its chunk.
#![cfg_attr(
    feature = "lazy",
    expect(clippy::unnecessary_wraps, reason = "what fetches a chunk adds the error")
)]

#[cfg(feature = "lazy")]
use leptos::wasm_split::{SplitLoaderError, wasm_split};

use leptos::prelude::*;

use crate::components::check::CheckPanel;
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
use crate::components::measure::view::MeasureView;
use crate::components::model::memory::Memory;
use crate::components::model::view::ModelView;
use crate::components::plan::fields::PartFields;
use crate::components::plan::inspector::Inspector;
use crate::components::plan::tabs::{Operators, Questions, Scale};
use crate::components::trust::view::TrustView;
use crate::state::files;
use crate::state::take_over::Ready;
use crate::state::{export, fragment, url};

/// The reason why an action failed, as a sentence for the user.
#[derive(Debug)]
pub struct Refusal(pub String);

#[cfg(feature = "lazy")]
impl From<SplitLoaderError> for Refusal {
    fn from(_: SplitLoaderError) -> Self {
        Self("a part of the page could not be fetched; try again when you are online".to_owned())
    }
}

/// Opens a file, given its name and text. The chunk holds the JSON parser and the model import.
///
/// # Errors
/// Returns the reason if the file is invalid or the chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(reader, wasm_split_path = leptos::wasm_split, fallible)]
pub fn open_file(name: &str, text: &str) -> Result<Ready, Refusal> {
    opened(name, text)
}

/// Opens a file, given its name and text.
///
/// # Errors
/// Returns the reason if the file is invalid.
#[cfg(not(feature = "lazy"))]
pub fn open_file(name: &str, text: &str) -> impl Future<Output = Result<Ready, Refusal>> {
    std::future::ready(opened(name, text))
}

fn opened(name: &str, text: &str) -> Result<Ready, Refusal> {
    let opened = files::read(name, text).and_then(|reply| files::understand(&reply));
    opened.map(Ready::new).map_err(Refusal)
}

/// Generates the text of a file to save: calls the named function of [`answer`] with its arguments.
///
/// # Errors
/// Returns the reason if the function fails or the chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(reader, wasm_split_path = leptos::wasm_split, fallible)]
pub fn ask(function: &str, texts: &[&str]) -> Result<String, Refusal> {
    answer(function, texts)
}

/// Generates the text of a file to save: calls the named function of [`answer`] with its arguments.
///
/// # Errors
/// Returns the reason if the function fails.
#[cfg(not(feature = "lazy"))]
pub fn ask(function: &str, texts: &[&str]) -> impl Future<Output = Result<String, Refusal>> {
    std::future::ready(answer(function, texts))
}

/// Generates an export of an answer, the formulas behind it, the table of tiles or a device file.
fn answer(function: &str, texts: &[&str]) -> Result<String, Refusal> {
    match (function, texts) {
        ("export_answer", [kind, query, carried]) => Ok(export::export(kind, query, carried)),
        ("show_work", [query, carried]) => Ok(export::show_work(query, carried)),
        ("tiles", [query, carried]) => Ok(export::tiles(query, carried)),
        ("device_file", [lines]) => Ok(report::input::device_file::lines::to_json(lines)),
        _ => Err(Refusal(format!("the page has no {function}"))),
    }
}

/// Builds a view. The caller runs it, so that the view is owned by the component that shows it.
pub type MakeView = fn() -> AnyView;

/// Returns the builder of the form for custom devices.
///
/// # Errors
/// The chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(editor, wasm_split_path = leptos::wasm_split, fallible)]
pub fn device_editor() -> Result<MakeView, Refusal> {
    Ok(make_device_editor)
}

/// Returns the builder of the form for custom devices.
///
/// # Errors
/// Never fails: the code is already loaded.
#[cfg(not(feature = "lazy"))]
pub fn device_editor() -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(make_device_editor as MakeView))
}

fn make_device_editor() -> AnyView {
    view! { <DeviceEditor/> }.into_any()
}

/// Returns the builder of the Model view.
///
/// # Errors
/// The chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(model, wasm_split_path = leptos::wasm_split, fallible)]
pub fn model_view() -> Result<MakeView, Refusal> {
    Ok(make_model_view)
}

/// Returns the builder of the Model view.
///
/// # Errors
/// Never fails: the code is already loaded.
#[cfg(not(feature = "lazy"))]
pub fn model_view() -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(make_model_view as MakeView))
}

fn make_model_view() -> AnyView {
    view! { <ModelView/> }.into_any()
}

/// Returns the builder of the Explore view.
///
/// # Errors
/// The chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(explore, wasm_split_path = leptos::wasm_split, fallible)]
pub fn explore_view() -> Result<MakeView, Refusal> {
    Ok(make_explore_view)
}

/// Returns the builder of the Explore view.
///
/// # Errors
/// Never fails: the code is already loaded.
#[cfg(not(feature = "lazy"))]
pub fn explore_view() -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(make_explore_view as MakeView))
}

fn make_explore_view() -> AnyView {
    view! { <ExploreView/> }.into_any()
}

/// Returns the builder of the Kernel view.
///
/// # Errors
/// The chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(kernel, wasm_split_path = leptos::wasm_split, fallible)]
pub fn kernel_view() -> Result<MakeView, Refusal> {
    Ok(make_kernel_view)
}

/// Returns the builder of the Kernel view.
///
/// # Errors
/// Never fails: the code is already loaded.
#[cfg(not(feature = "lazy"))]
pub fn kernel_view() -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(make_kernel_view as MakeView))
}

fn make_kernel_view() -> AnyView {
    view! { <KernelView/> }.into_any()
}

/// Returns the builder of the Trust view.
///
/// # Errors
/// The chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(trust, wasm_split_path = leptos::wasm_split, fallible)]
pub fn trust_view() -> Result<MakeView, Refusal> {
    Ok(make_trust_view)
}

/// Returns the builder of the Trust view.
///
/// # Errors
/// Never fails: the code is already loaded.
#[cfg(not(feature = "lazy"))]
pub fn trust_view() -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(make_trust_view as MakeView))
}

fn make_trust_view() -> AnyView {
    view! { <TrustView/> }.into_any()
}

/// Returns the builder of the Measure view.
///
/// # Errors
/// The chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(measure, wasm_split_path = leptos::wasm_split, fallible)]
pub fn measure_view() -> Result<MakeView, Refusal> {
    Ok(make_measure_view)
}

/// Returns the builder of the Measure view.
///
/// # Errors
/// Never fails: the code is already loaded.
#[cfg(not(feature = "lazy"))]
pub fn measure_view() -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(make_measure_view as MakeView))
}

fn make_measure_view() -> AnyView {
    view! { <MeasureView/> }.into_any()
}

/// Returns the builder of the recommendation for an operator, in the chunk of the Kernel view.
///
/// # Errors
/// The chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(kernel, wasm_split_path = leptos::wasm_split, fallible)]
pub fn operator_advice() -> Result<MakeView, Refusal> {
    Ok(make_operator_advice)
}

/// Returns the builder of the recommendation for an operator.
///
/// # Errors
/// Never fails: the code is already loaded.
#[cfg(not(feature = "lazy"))]
pub fn operator_advice() -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(make_operator_advice as MakeView))
}

fn make_operator_advice() -> AnyView {
    view! { <OperatorAdvice/> }.into_any()
}

/// A part of the page that is hidden until the user clicks; all parts share one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The user's own points on the roofline, and the form that adds them.
    OwnPoints,
    /// The goal and bounds of the recommendation.
    Goal,
    /// The check whether a claimed speed is possible.
    Check,
    /// The items of the export menu.
    ExportItems,
    /// The list of keyboard shortcuts.
    KeyDialog,
    /// The limits of the chosen format, as bars.
    Limits,
    /// The right column of the Plan view.
    Inspector,
    /// The popover that explains a number of its tabs.
    Explanation,
    /// The fields of a part of the scenario.
    Fields,
    /// The tabs of the Plan view other than the schemes.
    Operators,
    Memory,
    Scale,
    Questions,
    /// The Compare view, the choices that open it, and its picker of another device.
    Compare,
    CompareBar,
    OtherDevice,
}

/// Returns the builder of a hidden part.
///
/// # Errors
/// The chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(more, wasm_split_path = leptos::wasm_split, fallible)]
pub fn more(part: Part) -> Result<MakeView, Refusal> {
    Ok(maker(part))
}

/// Returns the builder of a hidden part.
///
/// # Errors
/// Never fails: the code is already loaded.
#[cfg(not(feature = "lazy"))]
pub fn more(part: Part) -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(maker(part)))
}

fn maker(part: Part) -> MakeView {
    match part {
        Part::OwnPoints => || view! { <OwnPoints/> }.into_any(),
        Part::Goal => || view! { <GoalFields/> }.into_any(),
        Part::Check => || view! { <CheckPanel/> }.into_any(),
        Part::ExportItems => || view! { <ExportItems/> }.into_any(),
        Part::Limits => || view! { <LimitsBody/> }.into_any(),
        Part::Inspector => || view! { <Inspector/> }.into_any(),
        Part::Explanation => || view! { <ExplanationPopover/> }.into_any(),
        Part::Fields => || view! { <PartFields/> }.into_any(),
        Part::Operators => || view! { <Operators/> }.into_any(),
        Part::Memory => || view! { <Memory/> }.into_any(),
        Part::Scale => || view! { <Scale/> }.into_any(),
        Part::Questions => || view! { <Questions/> }.into_any(),
        Part::Compare => || view! { <CompareView/> }.into_any(),
        Part::CompareBar => || view! { <CompareBar/> }.into_any(),
        Part::OtherDevice => || view! { <OtherDevicePicker/> }.into_any(),
        Part::KeyDialog => || view! { <KeyDialog/> }.into_any(),
    }
}

/// Loads the code that reads and writes custom devices in the address.
///
/// # Errors
/// The chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(device, wasm_split_path = leptos::wasm_split, fallible)]
pub fn own_devices() -> Result<(), Refusal> {
    fragment::arrive();
    Ok(())
}

/// Loads the code that reads and writes custom devices in the address.
///
/// # Errors
/// Never fails: the code is already loaded.
#[cfg(not(feature = "lazy"))]
pub fn own_devices() -> impl Future<Output = Result<(), Refusal>> {
    fragment::arrive();
    std::future::ready(Ok(()))
}

/// Loads the code that reads an address, with the catalogs of devices and models that it names.
///
/// # Errors
/// The chunk could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(address, wasm_split_path = leptos::wasm_split, fallible)]
pub fn reader_of_addresses() -> Result<(), Refusal> {
    url::arrive();
    Ok(())
}

/// Loads the code that reads an address.
///
/// # Errors
/// Never fails: the code is already loaded.
#[cfg(not(feature = "lazy"))]
pub fn reader_of_addresses() -> impl Future<Output = Result<(), Refusal>> {
    url::arrive();
    std::future::ready(Ok(()))
}
