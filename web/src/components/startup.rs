//! The first drawing of the page in several tasks, between which the browser can react to the reader. Until it is complete, the
//! text of index.html is shown.

use std::collections::VecDeque;

use leptos::prelude::*;

use super::erased::{Block, block, later};
use crate::state::first_answer;
use crate::state::program;

/// Attribute of the body while the page is not drawn completely; the style sheet hides what there is of it.
const STARTING: &str = "data-starting";

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

    /// Does work in a task of its own, after all that is waiting. After the start it is not done: whoever needs it does it.
    pub fn prepare(self, work: impl FnOnce() + Send + Sync + 'static) {
        if !self.is_over() {
            self.queue(Box::new(work));
        }
    }

    fn queue(self, work: Work) {
        self.0.update_value(|progress| progress.waiting.push_back(work));
        self.run();
    }

    fn is_over(self) -> bool {
        self.0.with_value(|progress| progress.is_over)
    }

    /// Keeps the start from ending while a view is being fetched.
    pub fn hold(self) {
        self.0.update_value(|progress| progress.held += 1);
    }

    /// The view is there, or the reason why it is not.
    pub fn release(self) {
        self.0.update_value(|progress| progress.held -= 1);
        self.run();
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
                progress.is_over = progress.held == 0;
            });
            if self.is_over() && !was_over {
                show();
            }
        });
    }
}

/// Puts the page in the place of the text of index.html.
fn show() {
    if let Some(body) = document().body() {
        drop(body.remove_attribute(STARTING));
    }
    if let Some(text) = document().get_element_by_id(first_answer::ID) {
        text.remove();
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
