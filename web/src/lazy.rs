//! What most visitors never need. With the feature `lazy` each of these functions is fetched when it is first called.
#![cfg_attr(
    feature = "lazy",
    expect(clippy::unnecessary_wraps, reason = "what fetches a chunk adds the error")
)]

#[cfg(feature = "lazy")]
use leptos::wasm_split::{SplitLoaderError, wasm_split};

use leptos::prelude::*;

use crate::components::check::CheckPanel;
use crate::components::device_editor::DeviceEditor;
use crate::components::export_items::ExportItems;
use crate::components::goal_fields::GoalFields;
use crate::components::key_dialog::KeyDialog;
use crate::components::limits::LimitsBody;
use crate::components::measure::view::MeasureView;
use crate::components::model::view::ModelView;
use crate::components::own_points::OwnPoints;
use crate::components::trust::view::TrustView;
use crate::state::files;
use crate::state::take_over::Ready;
use crate::state::{export, fragment};

/// A sentence that says why something could not be done.
#[derive(Debug)]
pub struct Refusal(pub String);

#[cfg(feature = "lazy")]
impl From<SplitLoaderError> for Refusal {
    fn from(_: SplitLoaderError) -> Self {
        Self("a part of the page could not be fetched; try again when you are online".to_owned())
    }
}

/// Opens a file by its name and text. The JSON parser and the import of models come with it.
///
/// # Errors
/// What is wrong with the file, or that this part of the page could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(reader, wasm_split_path = leptos::wasm_split, fallible)]
pub fn open_file(name: &str, text: &str) -> Result<Ready, Refusal> {
    opened(name, text)
}

/// Opens a file by its name and text.
///
/// # Errors
/// What is wrong with the file.
#[cfg(not(feature = "lazy"))]
pub fn open_file(name: &str, text: &str) -> impl Future<Output = Result<Ready, Refusal>> {
    std::future::ready(opened(name, text))
}

fn opened(name: &str, text: &str) -> Result<Ready, Refusal> {
    let opened = files::read(name, text).and_then(|reply| files::understand(&reply));
    opened.map(Ready::new).map_err(Refusal)
}

/// Writes files: a function of [`answer`] with its texts.
///
/// # Errors
/// What is wrong with them, or that this part of the page could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(reader, wasm_split_path = leptos::wasm_split, fallible)]
pub fn ask(function: &str, texts: &[&str]) -> Result<String, Refusal> {
    answer(function, texts)
}

/// Writes files: a function of [`answer`] with its texts.
///
/// # Errors
/// What is wrong with them.
#[cfg(not(feature = "lazy"))]
pub fn ask(function: &str, texts: &[&str]) -> impl Future<Output = Result<String, Refusal>> {
    std::future::ready(answer(function, texts))
}

/// What is written: what is saved of an answer, the formulas behind it, a device file.
fn answer(function: &str, texts: &[&str]) -> Result<String, Refusal> {
    match (function, texts) {
        ("export_answer", [kind, query, carried, colors]) => {
            Ok(export::export(kind, query, carried, *colors == "dark"))
        }
        ("show_work", [query, carried]) => Ok(export::show_work(query, carried)),
        ("tiles", [query, carried]) => Ok(export::tiles(query, carried)),
        ("device_file", [lines]) => Ok(report::input::device_file::lines::to_json(lines)),
        _ => Err(Refusal(format!("the page has no {function}"))),
    }
}

/// Makes a part of the page; the caller makes it, so that it belongs to what shows it.
pub type MakeView = fn() -> AnyView;

/// How the form for a device of the reader's own is made.
///
/// # Errors
/// That this part of the page could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(editor, wasm_split_path = leptos::wasm_split, fallible)]
pub fn device_editor() -> Result<MakeView, Refusal> {
    Ok(make_device_editor)
}

/// How the form for a device of the reader's own is made.
///
/// # Errors
/// None: it is here.
#[cfg(not(feature = "lazy"))]
pub fn device_editor() -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(make_device_editor as MakeView))
}

fn make_device_editor() -> AnyView {
    view! { <DeviceEditor/> }.into_any()
}

/// How the Model view is made.
///
/// # Errors
/// That this part of the page could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(model, wasm_split_path = leptos::wasm_split, fallible)]
pub fn model_view() -> Result<MakeView, Refusal> {
    Ok(make_model_view)
}

/// How the Model view is made.
///
/// # Errors
/// None: it is here.
#[cfg(not(feature = "lazy"))]
pub fn model_view() -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(make_model_view as MakeView))
}

fn make_model_view() -> AnyView {
    view! { <ModelView/> }.into_any()
}

/// How the Trust view is made.
///
/// # Errors
/// That this part of the page could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(trust, wasm_split_path = leptos::wasm_split, fallible)]
pub fn trust_view() -> Result<MakeView, Refusal> {
    Ok(make_trust_view)
}

/// How the Trust view is made.
///
/// # Errors
/// None: it is here.
#[cfg(not(feature = "lazy"))]
pub fn trust_view() -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(make_trust_view as MakeView))
}

fn make_trust_view() -> AnyView {
    view! { <TrustView/> }.into_any()
}

/// How the Measure view is made.
///
/// # Errors
/// That this part of the page could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(measure, wasm_split_path = leptos::wasm_split, fallible)]
pub fn measure_view() -> Result<MakeView, Refusal> {
    Ok(make_measure_view)
}

/// How the Measure view is made.
///
/// # Errors
/// None: it is here.
#[cfg(not(feature = "lazy"))]
pub fn measure_view() -> impl Future<Output = Result<MakeView, Refusal>> {
    std::future::ready(Ok(make_measure_view as MakeView))
}

fn make_measure_view() -> AnyView {
    view! { <MeasureView/> }.into_any()
}

/// What nobody sees before a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The reader's own points, and the form for them.
    OwnPoints,
    /// The goal of the recommendation.
    Goal,
    /// Whether a claim is possible.
    Check,
    /// What the menu of exports has.
    ExportItems,
    /// The list of keys.
    KeyDialog,
    /// What limits the chosen format.
    Limits,
}

/// How a part is made that nobody sees before a click.
///
/// # Errors
/// That it could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(more, wasm_split_path = leptos::wasm_split, fallible)]
pub fn more(part: Part) -> Result<MakeView, Refusal> {
    Ok(maker(part))
}

/// How a part is made that nobody sees before a click.
///
/// # Errors
/// None: it is here.
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
        Part::KeyDialog => || view! { <KeyDialog/> }.into_any(),
    }
}

/// Brings what reads and writes devices of the reader's own in an address.
///
/// # Errors
/// That it could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(device, wasm_split_path = leptos::wasm_split, fallible)]
pub fn own_devices() -> Result<(), Refusal> {
    fragment::arrive();
    Ok(())
}

/// Brings what reads and writes devices of the reader's own in an address.
///
/// # Errors
/// None: it is here.
#[cfg(not(feature = "lazy"))]
pub fn own_devices() -> impl Future<Output = Result<(), Refusal>> {
    fragment::arrive();
    std::future::ready(Ok(()))
}
