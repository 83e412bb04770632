//! One type for all closures of a kind. Each closure has a type of its own, and for each the compiler would make a copy of
//! the machinery behind it, which came to a quarter of the page.

use leptos::prelude::*;

/// A part of the page that is made again when what it reads changes.
pub type Block = Box<dyn FnMut() -> AnyView + Send>;

/// A part of the page that is made again when what it reads changes.
pub fn block(make: impl FnMut() -> AnyView + Send + 'static) -> Block {
    Box::new(make)
}

/// A text that changes.
pub fn text(make: impl Fn() -> String + Send + Sync + 'static) -> Signal<String> {
    Signal::derive(make)
}

/// A text that is sometimes absent, such as an attribute.
pub fn maybe(make: impl Fn() -> Option<String> + Send + Sync + 'static) -> Signal<Option<String>> {
    Signal::derive(make)
}

/// Something that is or is not so.
pub fn flag(make: impl Fn() -> bool + Send + Sync + 'static) -> Signal<bool> {
    Signal::derive(make)
}

/// What an event does.
pub fn on<E: 'static>(act: impl FnMut(E) + 'static) -> Box<dyn FnMut(E)> {
    Box::new(act)
}
