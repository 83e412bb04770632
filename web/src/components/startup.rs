//! The first drawing of the page in several tasks, between which the browser can react to the reader. Until it is complete, the
//! text of index.html is shown.

use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::chunk::{Arriving, MakeView};
use super::erased::{Block, block, later};
use crate::charts::paper::all;
use crate::state::chunks::Refusal;
use crate::state::first_answer;
use crate::state::program;

/// Attribute of the body while the page is not drawn completely; the style sheet hides what there is of it.
const STARTING: &str = "data-starting";

/// Attribute of the part of the scenario that the reader pressed in the text of index.html; the boot script sets it.
const PRESSED: &str = "data-pressed";

/// Work for a task of its own.
type Work = Box<dyn FnOnce() + Send + Sync>;

#[derive(Default)]
struct Progress {
    waiting: VecDeque<Work>,
    is_running: bool,
    /// Number of views that are being fetched.
    held: usize,
    is_over: bool,
}

/// The parts of the page that are not drawn yet. Only `app` provides it.
#[derive(Debug, Clone, Copy)]
pub struct Startup(StoredValue<Progress>);

impl Startup {
    /// Hides the page until everything that is waiting has been drawn.
    pub fn begin() -> Self {
        if let Some(body) = document().body() {
            drop(body.set_attribute(STARTING, ""));
        }
        Self(StoredValue::new(Progress::default()))
    }

    /// Computes an answer in a task of its own, before the parts that read it. After the start the first reader computes it.
    pub fn prepare<T: Send + Sync + 'static>(self, answer: Memo<T>) {
        self.warm_up(move || {
            answer.try_with_untracked(|_| ()); // the reader may have left the view, which disposes the memo
        });
    }

    /// Does work in a task of its own only so that the browser has compiled its functions.
    pub fn warm_up(self, work: impl FnOnce() + Send + Sync + 'static) {
        if !self.is_over() {
            self.queue(Box::new(work));
        }
    }

    /// Waits until a chunk is there. While the page starts, or if the chunk is not there yet, what follows is a task of its own.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub async fn arrival(self, mut chunk: Arriving) -> Result<MakeView, Refusal> {
        if self.is_over() {
            let at_once = chunk.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if let Poll::Ready(found) = at_once {
                return found;
            }
        } else {
            program::next_task().await;
        }
        let found = chunk.await;
        program::next_task().await;
        found
    }

    fn queue(self, work: Work) {
        self.0.update_value(|progress| progress.waiting.push_back(work));
        self.run();
    }

    /// Whether the page has been drawn completely.
    pub fn is_over(self) -> bool {
        self.0.with_value(|progress| progress.is_over)
    }

    /// Keeps the start from ending while a view is being fetched: until the first call of the returned function.
    pub fn hold(self) -> impl Fn() + Clone + Send + Sync {
        self.0.update_value(|progress| progress.held += 1);
        let is_held = Arc::new(AtomicBool::new(true));
        move || {
            if is_held.swap(false, Ordering::Relaxed) {
                self.0.update_value(|progress| progress.held -= 1);
                self.run();
            }
        }
    }

    fn run(self) {
        if self.0.with_value(|progress| progress.is_running) {
            return;
        }
        self.0.update_value(|progress| progress.is_running = true);
        later(async move {
            loop {
                program::next_task().await;
                let next = self.0.try_update_value(|progress| progress.waiting.pop_front());
                match next.flatten() {
                    Some(work) => work(),
                    None => break,
                }
            }
            let was_over = self.is_over();
            self.0.update_value(|progress| {
                progress.is_running = false;
                progress.is_over |= progress.held == 0;
            });
            if self.is_over() && !was_over {
                show();
            }
        });
    }
}

/// Puts the page in the place of the text of index.html. A reader who has gone to one of its links is at the same link of the page,
/// and a part of the scenario that was pressed in the text opens.
pub fn show() {
    if let Some(body) = document().body() {
        drop(body.remove_attribute(STARTING));
    }
    if let Some(text) = document().get_element_by_id(first_answer::ID) {
        // The header has the same links in the text and in the page.
        let here = document().active_element();
        let links = all(&format!("#{} .top a", first_answer::ID));
        let place = links.into_iter().position(|link| Some(link) == here);
        let parts = all(&format!("#{} .part", first_answer::ID));
        let pressed = parts.into_iter().position(|part| part.has_attribute(PRESSED));
        text.remove();
        let same = |selector, place: Option<usize>| {
            let found = place.and_then(|place| all(selector).into_iter().nth(place));
            found.and_then(|found| found.dyn_into::<HtmlElement>().ok())
        };
        if let Some(link) = same(".top a", place) {
            drop(link.focus());
        }
        if let Some(part) = same(".scenario .part", pressed) {
            part.click();
        }
    }
}

/// A part of the page that is drawn in a task of its own when the page starts, and at once later.
pub fn in_turn(make: impl FnMut() -> AnyView + Send + 'static) -> Block {
    let startup: Startup = expect_context();
    due(startup, startup.is_over(), make)
}

/// A part of the page that is always drawn in a task of its own.
pub fn soon(make: impl FnMut() -> AnyView + Send + 'static) -> Block {
    due(expect_context(), false, make)
}

/// Parts of the page that are drawn in a task each when the page starts, and at once later.
pub fn each_in_turn<const N: usize>(parts: [fn() -> AnyView; N]) -> impl IntoView {
    parts.map(in_turn).into_iter().collect_view()
}

fn due(
    startup: Startup,
    at_once: bool,
    mut make: impl FnMut() -> AnyView + Send + 'static,
) -> Block {
    let is_due = RwSignal::new(at_once);
    if !at_once {
        startup.queue(Box::new(move || {
            is_due.try_set(true); // the reader may have left the view, which disposes the signal
        }));
    }
    block(move || if is_due.get() { make() } else { ().into_any() })
}
