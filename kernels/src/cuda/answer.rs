//! Questions to the driver, whose bindings panic about a symbol that an old driver lacks.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use cudarc::driver::DriverError;

use super::errors;
use crate::backend::Fault;

thread_local! {
    /// Whether a panic of this thread is an answer, which is told as one and not as a panic.
    static IS_ANSWER: Cell<bool> = const { Cell::new(false) };
}

/// Asks; a panic is caught, and nothing is printed about it.
fn quietly<T>(ask: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            if !IS_ANSWER.get() {
                before(about);
            }
        }));
    });
    let was = IS_ANSWER.replace(true);
    let found = catch_unwind(AssertUnwindSafe(ask));
    IS_ANSWER.set(was);
    found
}

/// The answer of the driver; a panic of its bindings about a symbol that an old driver lacks is an answer, too. `bytes` are those that
/// are asked for.
pub(super) fn answered<T>(
    bytes: u64,
    ask: impl FnOnce() -> Result<T, DriverError>,
) -> Result<T, Fault> {
    match quietly(ask) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => {
            let named = quietly(|| {
                error
                    .error_name()
                    .map_or_else(|_| String::new(), |name| name.to_string_lossy().into_owned())
            });
            let name = named.unwrap_or_default();
            let name = if name.is_empty() { format!("error {}", error.0 as u32) } else { name };
            Err(errors::fault(error.0 as u32, &name, bytes))
        }
        Err(panic) => {
            Err(Fault::Device(format!("its driver is too old for this program: {}", said(&*panic))))
        }
    }
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say why")
}
