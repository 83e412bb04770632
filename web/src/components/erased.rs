//! One type for all closures of a kind. Each closure has a type of its own, and for each the compiler would make a copy of
//! the machinery behind it, which came to a quarter of the page.

use core::pin::Pin;

use leptos::prelude::*;
use leptos::task::spawn_local;

/// A part of the page that is made again when what it reads changes.
pub type Block = Box<dyn FnMut() -> AnyView + Send>;

/// A part of the page that is made again when what it reads changes.
pub fn block(make: impl FnMut() -> AnyView + Send + 'static) -> Block {
    Box::new(make)
}

/// Something that follows from signals, worked out where it is read.
pub fn derived<T: Send + Sync + 'static>(
    make: impl Fn() -> T + Send + Sync + 'static,
) -> Signal<T> {
    let make: Box<dyn Fn() -> T + Send + Sync> = Box::new(make);
    Signal::derive(make)
}

/// What follows now, from what did before.
type Next<T> = Box<dyn Fn(Option<&T>) -> T + Send + Sync>;

/// Something that follows from signals, and changes only when it is another.
pub fn memo<T: PartialEq + Send + Sync + 'static>(
    make: impl Fn(Option<&T>) -> T + Send + Sync + 'static,
) -> Memo<T> {
    let make: Next<T> = Box::new(make);
    Memo::new(make)
}

/// Something that is done when what it waits for is there.
pub fn later(task: impl Future<Output = ()> + 'static) {
    let task: Pin<Box<dyn Future<Output = ()>>> = Box::pin(task);
    spawn_local(task);
}

/// A text that changes.
pub fn text(make: impl Fn() -> String + Send + Sync + 'static) -> Signal<String> {
    derived(make)
}

/// A text that is sometimes absent, such as an attribute.
pub fn maybe(make: impl Fn() -> Option<String> + Send + Sync + 'static) -> Signal<Option<String>> {
    derived(make)
}

/// Something that is or is not so.
pub fn flag(make: impl Fn() -> bool + Send + Sync + 'static) -> Signal<bool> {
    derived(make)
}

/// What an event does.
pub fn on<E: 'static>(act: impl FnMut(E) + 'static) -> Box<dyn FnMut(E)> {
    Box::new(act)
}
