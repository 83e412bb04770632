//! What most visitors never need. With the feature `lazy` each of these functions is fetched when it is first called.
#![cfg_attr(
    feature = "lazy",
    expect(clippy::unnecessary_wraps, reason = "what fetches a chunk adds the error")
)]

#[cfg(feature = "lazy")]
use leptos::wasm_split::{SplitLoaderError, wasm_split};

use leptos::prelude::*;

use crate::components::device_editor::DeviceEditor;
use crate::components::model::view::ModelView;
use crate::state::{export, files};

/// A sentence that says why something could not be done.
#[derive(Debug)]
pub struct Refusal(pub String);

#[cfg(feature = "lazy")]
impl From<SplitLoaderError> for Refusal {
    fn from(_: SplitLoaderError) -> Self {
        Self("a part of the page could not be fetched; try again when you are online".to_owned())
    }
}

/// Reads a file as [`files::read`] does. The JSON parser and the import of models come with it.
///
/// # Errors
/// What is wrong with the file, or that this part of the page could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(reader, wasm_split_path = leptos::wasm_split, fallible)]
pub fn read_file(name: &str, text: &str) -> Result<String, Refusal> {
    files::read(name, text).map_err(Refusal)
}

/// Reads a file as [`files::read`] does.
///
/// # Errors
/// What is wrong with the file.
#[cfg(not(feature = "lazy"))]
pub fn read_file(name: &str, text: &str) -> impl Future<Output = Result<String, Refusal>> {
    std::future::ready(files::read(name, text).map_err(Refusal))
}

/// What is saved of an answer, as [`export::export`] makes it.
///
/// # Errors
/// That this part of the page could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(writer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn export_answer(
    kind: &str,
    query: &str,
    carried: &str,
    dark: bool,
) -> Result<String, Refusal> {
    Ok(export::export(kind, query, carried, dark))
}

/// What is saved of an answer, as [`export::export`] makes it.
///
/// # Errors
/// None: it is here.
#[cfg(not(feature = "lazy"))]
pub fn export_answer(
    kind: &str,
    query: &str,
    carried: &str,
    dark: bool,
) -> impl Future<Output = Result<String, Refusal>> {
    std::future::ready(Ok(export::export(kind, query, carried, dark)))
}

/// The formulas behind an answer, as [`export::show_work`] writes them.
///
/// # Errors
/// That this part of the page could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(writer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn show_work(query: &str, carried: &str) -> Result<String, Refusal> {
    Ok(export::show_work(query, carried))
}

/// The formulas behind an answer, as [`export::show_work`] writes them.
///
/// # Errors
/// None: it is here.
#[cfg(not(feature = "lazy"))]
pub fn show_work(query: &str, carried: &str) -> impl Future<Output = Result<String, Refusal>> {
    std::future::ready(Ok(export::show_work(query, carried)))
}

/// The device file of a device in lines.
///
/// # Errors
/// That this part of the page could not be fetched.
#[cfg(feature = "lazy")]
#[wasm_split(writer, wasm_split_path = leptos::wasm_split, fallible)]
pub fn device_file(lines: &str) -> Result<String, Refusal> {
    Ok(report::device_file::lines::to_json(lines))
}

/// The device file of a device in lines.
///
/// # Errors
/// None: it is here.
#[cfg(not(feature = "lazy"))]
pub fn device_file(lines: &str) -> impl Future<Output = Result<String, Refusal>> {
    std::future::ready(Ok(report::device_file::lines::to_json(lines)))
}

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

/// Makes a part of the page.
pub type MakeView = fn() -> AnyView;

/// How the Model view is made; the caller makes it, so that it belongs to what shows it.
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
