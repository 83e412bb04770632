//! View functions, signals, memos and handlers as boxed closures, one type per kind. Every closure has a type of its own, and the
//! compiler copies the framework's code for each type. With these copies every visitor fetches 4.2 kB more after gzip, and the
//! program with its chunks has 38 kB more (1,177 instead of 1,139). So components use these functions and not the framework's.

use core::pin::Pin;

use leptos::prelude::*;
use leptos::task::spawn_local;

/// View function that runs again when a signal it reads changes.
pub type Block = Box<dyn FnMut() -> AnyView + Send>;

/// Boxes a view function; see [`Block`].
pub fn block(make: impl FnMut() -> AnyView + Send + 'static) -> Block {
    Box::new(make)
}

/// Derived signal, computed on each read.
pub fn derived<T: Send + Sync + 'static>(
    make: impl Fn() -> T + Send + Sync + 'static,
) -> Signal<T> {
    let make: Box<dyn Fn() -> T + Send + Sync> = Box::new(make);
    Signal::derive(make)
}

/// Computes the next value of a memo from the previous one, which is `None` on the first run.
type Next<T> = Box<dyn Fn(Option<&T>) -> T + Send + Sync>;

/// Memo, which notifies its readers only when the new value differs from the previous one.
pub fn memo<T: PartialEq + Send + Sync + 'static>(
    make: impl Fn(Option<&T>) -> T + Send + Sync + 'static,
) -> Memo<T> {
    let make: Next<T> = Box::new(make);
    Memo::new(make)
}

/// Spawns a future on the browser's event loop.
pub fn later(task: impl Future<Output = ()> + 'static) {
    let task: Pin<Box<dyn Future<Output = ()>>> = Box::pin(task);
    spawn_local(task);
}

/// Derived signal of a text.
pub fn text(make: impl Fn() -> String + Send + Sync + 'static) -> Signal<String> {
    derived(make)
}

/// Derived signal of a text that may be absent, such as an optional attribute.
pub fn maybe(make: impl Fn() -> Option<String> + Send + Sync + 'static) -> Signal<Option<String>> {
    derived(make)
}

/// Derived signal of a boolean.
pub fn flag(make: impl Fn() -> bool + Send + Sync + 'static) -> Signal<bool> {
    derived(make)
}

/// Boxes an event handler.
pub fn on<E: 'static>(act: impl FnMut(E) + 'static) -> Box<dyn FnMut(E)> {
    Box::new(act)
}
