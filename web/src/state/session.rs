//! The signals of the page, and the browser's history that goes with them.

use leptos::prelude::*;

use crate::components::erased::{later, memo};
use crate::lazy::own_devices;
use wasm_bindgen::JsValue;

use super::colors::Colors;
use super::derived::{self, Shown};
use super::files::OpenedModel;
use super::fragment::{self, Carried};
use super::inputs::{Inputs, View};
use super::model::asked::{self, Asked};
use super::program;
use super::url::{self, Note};
use report::output::verdict::explain::Explanation;

/// Whether a change is a step that the back button undoes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A choice: a new entry in the history.
    Choice,
    /// A letter typed: the entry changes.
    Typing,
}

/// An open explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct Popover {
    /// The button that it belongs to.
    pub owner: String,
    /// What it says.
    pub explanation: Explanation,
    /// Left edge, upper edge and lower edge of the button in the window.
    pub anchor: (f64, f64, f64),
}

/// Everything that components share. Only `app` provides it.
#[derive(Debug, Clone, Copy)]
pub struct Session {
    /// What the reader chose.
    pub inputs: RwSignal<Inputs>,
    /// What follows from it.
    pub shown: Memo<Shown>,
    /// Fragments of the address seen so far, each with its text; empty for one that cannot be read.
    fragments: StoredValue<Vec<(String, String)>>,
    /// The model of a file.
    pub model: RwSignal<Option<OpenedModel>>,
    /// What the address or a file said that the page could not use.
    pub notes: RwSignal<Vec<Note>>,
    /// Key of the format that the pointer or the keyboard is at.
    pub pointed: RwSignal<Option<String>>,
    /// The open explanation.
    pub popover: RwSignal<Option<Popover>>,
    /// The list of keys is open.
    pub help: RwSignal<bool>,
    /// The form for a device of the reader's own is open.
    pub editing: RwSignal<bool>,
    /// Counts the changes of the inputs that are drawn: what takes longer than a frame follows these.
    pub settled: RwSignal<u32>,
    settling: StoredValue<bool>,
    /// A letter was typed that the address does not have yet.
    unwritten: StoredValue<bool>,
    /// Light or dark.
    pub colors: Colors,
}

impl Session {
    /// Begins with what the address says, and follows it back and forth.
    pub fn begin() -> Self {
        let fragments = StoredValue::new(vec![(String::new(), String::new())]);
        if let Some(code) = code() {
            fragments
                .update_value(|known| known.push((code, program::unpacked().unwrap_or_default())));
        }
        let (inputs, notes) = url::read_beside(&query(), &carried(fragments).unwrap_or_default());
        let inputs = RwSignal::new(inputs);
        // What only another view asks is no reason to answer again.
        let asked = memo(move |_| {
            inputs.with(|inputs| Inputs { model: Asked::default(), ..inputs.clone() })
        });
        let shown = memo(move |before| asked.with(|inputs| derived::next(before, inputs)));
        let session = Self {
            inputs,
            shown,
            fragments,
            model: RwSignal::new(None),
            notes: RwSignal::new(notes),
            pointed: RwSignal::new(None),
            popover: RwSignal::new(None),
            help: RwSignal::new(false),
            editing: RwSignal::new(false),
            settled: RwSignal::new(0),
            settling: StoredValue::new(false),
            unwritten: StoredValue::new(false),
            colors: Colors::begin(),
        };
        let _forever = window_event_listener(leptos::ev::popstate, move |_| session.reread());
        session
    }

    /// Changes the inputs, and the address with them unless a letter made a field unreadable.
    pub fn edit(self, step: Step, change: impl FnOnce(&mut Inputs)) {
        self.popover.set(None);
        if step == Step::Choice {
            self.write_typed(); // the back button leads to what was typed before
        }
        self.inputs.update(change);
        self.settle();
        if step == Step::Choice {
            self.remember(step);
        } else {
            self.unwritten.set_value(true);
        }
    }

    /// Brings the address up to what was typed. It waits for the frame, because it can take milliseconds.
    fn write_typed(self) {
        let was_unwritten = self.unwritten.try_update_value(core::mem::take) == Some(true);
        if was_unwritten && self.inputs.with_untracked(url::is_readable) {
            self.remember(Step::Typing);
        }
    }

    /// Tells those who need not answer within the frame, once it is drawn.
    fn settle(self) {
        if self.settling.get_value() {
            return;
        }
        self.settling.set_value(true);
        request_animation_frame(move || {
            let told = move || {
                self.settling.set_value(false);
                self.write_typed();
                self.settled.update(|count| *count += 1);
            };
            set_timeout(told, core::time::Duration::ZERO);
        });
    }

    /// The address of the present inputs in another view.
    pub fn address_of(self, view: View) -> String {
        let inputs = Inputs { view, ..self.inputs.get() };
        let fragment = self.fragment(&fragment::text(&inputs)).unwrap_or_default();
        let query = url::write(&inputs);
        format!("{}{fragment}", if query.is_empty() { "?" } else { &query })
    }

    /// Writes the address. Until the fragment is packed, the entry of the history keeps its text.
    fn remember(self, step: Step) {
        let (text, query) =
            self.inputs.with_untracked(|inputs| (fragment::text(inputs), url::write(inputs)));
        if let Some(fragment) = self.fragment(&text) {
            write(&format!("{query}{fragment}"), "", step);
            return;
        }
        write(&query, &text, step);
        later(async move {
            let Some(code) = program::pack(&text).await else { return };
            self.fragments.update_value(|known| known.push((code, text.clone())));
            let (now, query) =
                self.inputs.with_untracked(|inputs| (fragment::text(inputs), url::write(inputs)));
            if let Some(fragment) = self.fragment(&text).filter(|_| now == text) {
                write(&format!("{query}{fragment}"), "", Step::Typing);
            }
        });
    }

    /// The fragment of a text, if it was packed already.
    fn fragment(self, text: &str) -> Option<String> {
        let known = self.fragments.read_value();
        let (code, _) = known.iter().find(|(_, other)| other == text)?;
        Some(if text.is_empty() { String::new() } else { format!("{}{code}", fragment::PREFIX) })
    }

    /// Saves what a function of `lazy` answers as a file; a note says when it cannot.
    pub async fn save(self, name: &str, function: &str, texts: &[&str]) {
        if let Err(reason) = program::save(name, function, texts).await {
            let text = format!("{name} could not be written: {reason}.");
            self.notes.update(|notes| notes.push(Note { text }));
        }
    }

    /// Follows the address, after its fragment is unpacked if it is a new one.
    fn reread(self) {
        self.unwritten.set_value(false);
        let Some(carried) = carried(self.fragments) else {
            later(async move {
                let code = code().unwrap_or_default();
                let text = program::unpack(&code).await.unwrap_or_default();
                drop(own_devices().await); // a note says when it cannot be fetched
                self.fragments.update_value(|known| known.push((code, text)));
                self.reread();
            });
            return;
        };
        let (mut inputs, mut notes) = url::read_beside(&query(), &carried);
        notes.extend(
            self.model.with_untracked(|opened| asked::take_over(&mut inputs, opened.as_ref())),
        );
        self.inputs.set(inputs);
        self.settle();
        self.notes.set(notes);
        self.popover.set(None);
        if !kept().is_empty() {
            self.remember(Step::Typing); // the entry was left before its fragment was packed
        }
    }
}

/// What the address carries; `None` while its fragment is not unpacked.
fn carried(fragments: StoredValue<Vec<(String, String)>>) -> Option<Carried> {
    let Some(code) = code() else {
        let kept = kept();
        return Some(if kept.is_empty() { Carried::Nothing } else { fragment::understand(&kept) });
    };
    let known = fragments.read_value();
    let (_, text) = known.iter().find(|(other, _)| *other == code)?;
    Some(fragment::understand(text))
}

fn query() -> String {
    window().location().search().unwrap_or_default()
}

/// The address, or its entry in the history, carries what no catalog has.
pub fn carries() -> bool {
    code().is_some() || !kept().is_empty()
}

/// The packed text in the address.
fn code() -> Option<String> {
    let hash = window().location().hash().unwrap_or_default();
    hash.strip_prefix(fragment::PREFIX).map(str::to_owned)
}

/// The text of a fragment that was not packed yet when the entry of the history was written; usually empty.
fn kept() -> String {
    let state = window().history().and_then(|history| history.state());
    state.ok().and_then(|state| state.as_string()).unwrap_or_default()
}

/// Puts a query and fragment into the address, and what is not in the fragment yet beside it.
fn write(address: &str, keep: &str, step: Step) {
    let location = window().location();
    let now = query() + &location.hash().unwrap_or_default();
    if address == now && keep == kept() {
        return;
    }
    let target = location.pathname().unwrap_or_default() + address;
    let Ok(history) = window().history() else { return };
    let keep = JsValue::from_str(keep);
    let written = match step {
        Step::Choice => history.push_state_with_url(&keep, "", Some(&target)),
        Step::Typing => history.replace_state_with_url(&keep, "", Some(&target)),
    };
    // A browser that limits how often the address changes skips one; the next change writes it.
    drop(written);
}
