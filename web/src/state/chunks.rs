//! Functions in chunks: the first call fetches the code. Here are those that draw nothing; `crate::chunks` has the views.
#![cfg_attr(
    feature = "lazy",
    expect(clippy::unnecessary_wraps, reason = "what fetches a chunk adds the error")
)]

use super::explore;
use super::export;
use super::export_kinds::Document;
use super::fragment;
use super::inputs::Inputs;
use super::url;
use crate::link::from_wire::{self, ReadMessage};

/// The reason why an action failed, as a sentence for the user.
#[derive(Debug)]
pub struct Refusal(pub String);

#[cfg(feature = "lazy")]
impl From<leptos::wasm_split::SplitLoaderError> for Refusal {
    fn from(_: leptos::wasm_split::SplitLoaderError) -> Self {
        Self("a part of the page could not be fetched; try again when you are online".to_owned())
    }
}

/// Defines a function in the named chunk. Calling it returns a future of a result: the chunk may be unreachable. Without the
/// feature `lazy` there are no chunks, and it is an ordinary function.
macro_rules! in_chunk {
    (
        $chunk:ident,
        $(#[$doc:meta])*
        pub fn $name:ident($($argument:ident: $type:ty),*) -> Result<$value:ty, $error:ty> $body:block
    ) => {
        $(#[$doc])*
        #[cfg(feature = "lazy")]
        #[leptos::wasm_split::wasm_split($chunk, wasm_split_path = leptos::wasm_split, fallible)]
        pub fn $name($($argument: $type),*) -> Result<$value, $error> $body

        $(#[$doc])*
        #[cfg(not(feature = "lazy"))]
        pub fn $name($($argument: $type),*) -> impl Future<Output = Result<$value, $error>> {
            std::future::ready($body)
        }
    };
}

#[cfg(all(target_arch = "wasm32", feature = "page"))]
pub(crate) use in_chunk;

in_chunk! {
    reader,
    /// Generates a document.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn generate(document: Document, inputs: &Inputs) -> Result<String, Refusal> {
        Ok(export::document(document, inputs))
    }
}

in_chunk! {
    device,
    /// Loads the code that reads and writes custom devices in the address.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn own_devices() -> Result<(), Refusal> {
        fragment::load_device_codec();
        Ok(())
    }
}

in_chunk! {
    wire,
    /// Returns what reads the messages of a daemon. Whoever has none does without it: it is most of the connection's code.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn reader_of_messages() -> Result<ReadMessage, Refusal> {
        Ok(from_wire::message as ReadMessage)
    }
}

in_chunk! {
    address,
    /// Loads the code that reads an address, with the catalogs of devices and models that it names.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn reader_of_addresses() -> Result<(), Refusal> {
        url::arrive();
        Ok(())
    }
}

in_chunk! {
    sweep,
    /// Calls a function of the exploration, in the worker; its error is a sentence.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn sweep(function: String, text: String, now_ms: f64) -> Result<Result<String, String>, Refusal> {
        fragment::load_device_codec();
        Ok(explore::sweep::call(&function, &text, now_ms))
    }
}
