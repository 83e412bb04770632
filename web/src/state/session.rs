//! The page's signals, synchronized with the browser's history.

use leptos::prelude::*;

use crate::components::erased::later;
use wasm_bindgen::JsValue;

use super::chunks::{Refusal, own_devices, reader_of_addresses};
use super::colors::Colors;
use super::export_kinds::Document;
use super::files::OpenedModel;
use super::fragment::{self, Fragment};
use super::history::{Burst, Entry};
use super::inputs::{Inputs, View};
use super::program;
use super::this_machine::ThisMachine;
use super::url::{self, Note};
use report::output::verdict::explain::Explanation;

pub use super::history::Step;

/// An open explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct Popover {
    /// Element id of the button that opened it.
    pub owner: String,
    pub explanation: Explanation,
    /// Left, top and bottom edge of the button in the window [px].
    pub anchor: (f64, f64, f64),
}

/// A number that was clicked; the inspector explains it until another one is clicked.
#[derive(Debug, Clone)]
pub struct Inspected {
    /// Element id of its button.
    pub owner: String,
    /// Follows the inputs; `None` while the number is not on the page.
    pub explanation: Option<Signal<Option<Explanation>>>,
}

/// A dialog over the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialog {
    /// The list of keyboard shortcuts.
    Keys,
    /// The form for a custom device.
    DeviceEditor,
}

/// State shared by all components. Only `app` provides it.
#[derive(Debug, Clone, Copy)]
pub struct Session {
    pub inputs: RwSignal<Inputs>,
    /// Packed fragments of the address seen so far, each with its text; empty text for an invalid one.
    fragments: StoredValue<Vec<(String, String)>>,
    /// The model that was opened from a file.
    pub model: RwSignal<Option<OpenedModel>>,
    /// Notes on invalid or unusable values of the address or of a file.
    pub notes: RwSignal<Vec<Note>>,
    /// The explanation at the pointer or the keyboard focus.
    pub popover: RwSignal<Option<Popover>>,
    pub inspected: RwSignal<Option<Inspected>>,
    /// The dialog that is open.
    pub dialog: RwSignal<Option<Dialog>>,
    /// Counts the changes of the inputs that were drawn: computations longer than a frame depend on this signal.
    pub settled: RwSignal<u32>,
    settling: StoredValue<bool>,
    /// The edits that share an entry of the history.
    burst: StoredValue<Burst>,
    /// The machine of the connected daemon; set by the view that connects.
    pub here: RwSignal<ThisMachine>,
    /// Id of the daemon that told it; empty before.
    pub here_of: StoredValue<String>,
    /// Name in orders of the device that is to be measured next, for the view that measures; empty for the first one.
    pub to_measure: StoredValue<String>,
    /// Color theme.
    pub colors: Colors,
    /// Counts the charts that came to the page or left it.
    pub charts: RwSignal<u32>,
}

impl Session {
    /// Starts with the inputs of the address, whose reader has been loaded, and follows the back and forward buttons.
    pub fn begin() -> Self {
        let fragments = StoredValue::new(vec![(String::new(), String::new())]);
        if let Some(code) = code() {
            fragments
                .update_value(|known| known.push((code, program::unpacked().unwrap_or_default())));
        }
        let fragment = fragment(fragments).unwrap_or_default();
        let (inputs, notes) = url::read_with_chunk(&query(), &fragment).unwrap_or_default();
        let inputs = RwSignal::new(inputs);
        let session = Self {
            inputs,
            fragments,
            model: RwSignal::new(None),
            notes: RwSignal::new(notes),
            popover: RwSignal::new(None),
            inspected: RwSignal::new(None),
            dialog: RwSignal::new(None),
            settled: RwSignal::new(0),
            settling: StoredValue::new(false),
            burst: StoredValue::new(Burst::default()),
            here: RwSignal::new(ThisMachine::default()),
            here_of: StoredValue::new(String::new()),
            to_measure: StoredValue::new(String::new()),
            colors: Colors::begin(),
            charts: RwSignal::new(0),
        };
        let _forever = window_event_listener(leptos::ev::popstate, move |_| session.reread());
        // A released slider and a left field report a change.
        let _forever = window_event_listener(leptos::ev::change, move |_| session.write_waiting());
        let _forever = window_event_listener(leptos::ev::focusin, move |_| session.end_burst());
        session
    }

    /// Changes the inputs, and the address too unless typed text is invalid.
    pub fn edit(self, step: Step, change: impl FnOnce(&mut Inputs)) {
        self.popover.set(None);
        if step == Step::Choice {
            self.end_burst(); // the back button returns to the text typed before
        }
        self.inputs.update(change);
        self.settle();
        if step == Step::Choice {
            self.write_burst();
        } else {
            self.burst.update_value(|burst| burst.edited(step));
        }
    }

    /// Explains a number in the inspector as long as its component stands.
    pub fn inspect(self, owner: &str, explanation: Signal<Option<Explanation>>) {
        let owner = owner.to_owned();
        self.inspected.set(Some(Inspected { owner, explanation: Some(explanation) }));
    }

    /// Whether the inspector explains the number of a button.
    pub fn inspects(self, owner: &str) -> bool {
        self.inspected.with(|inspected| inspected.as_ref().is_some_and(|it| it.owner == owner))
    }

    /// Takes the explanation of a number from the inspector, whose component ends; it may be built anew.
    pub fn end_explanation(self, owner: &str) {
        if untrack(|| self.inspects(owner)) {
            self.inspected.update(|inspected| {
                if let Some(inspected) = inspected {
                    inspected.explanation = None;
                }
            });
        }
    }

    /// Writes the edits that wait, and starts a new entry with the next one.
    pub fn end_burst(self) {
        self.write_waiting();
        self.burst.update_value(Burst::end);
    }

    /// Writes the edits that wait, also those of a drag.
    fn write_waiting(self) {
        if self.burst.try_update_value(Burst::take_waiting) == Some(true) {
            self.write_readable();
        }
    }

    /// Writes typed text to the address. Called after the frame, because it can take milliseconds.
    fn write_due(self) {
        if self.burst.try_update_value(Burst::take_due) == Some(true) {
            self.write_readable();
        }
    }

    fn write_readable(self) {
        if self.inputs.with_untracked(url::is_readable) {
            self.write_burst();
        }
    }

    /// Writes the inputs to the entry of the burst.
    fn write_burst(self) {
        if self.remember(self.burst.get_value().entry()) {
            self.burst.update_value(Burst::written);
        }
    }

    /// Notifies computations that may take longer than a frame, after the frame is drawn.
    fn settle(self) {
        if self.settling.get_value() {
            return;
        }
        self.settling.set_value(true);
        request_animation_frame(move || {
            let told = move || {
                self.settling.set_value(false);
                self.write_due();
                self.settled.update(|count| *count += 1);
            };
            set_timeout(told, core::time::Duration::ZERO);
        });
    }

    /// The address of the current inputs in another view.
    pub fn address_of(self, view: View) -> String {
        self.address(&Inputs { view, ..self.inputs.get() })
    }

    /// The address of some inputs.
    pub fn address(self, inputs: &Inputs) -> String {
        let fragment = self.fragment(&fragment::text(inputs)).unwrap_or_default();
        let query = url::write(inputs);
        format!("{}{fragment}", if query.is_empty() { "?" } else { &query })
    }

    /// Writes the address, and returns whether it changed. Until the fragment is packed, the history entry stores its text.
    fn remember(self, entry: Entry) -> bool {
        let (text, query) =
            self.inputs.with_untracked(|inputs| (fragment::text(inputs), url::write(inputs)));
        if let Some(fragment) = self.fragment(&text) {
            return write(&format!("{query}{fragment}"), "", entry);
        }
        let is_new = write(&query, &text, entry);
        later(async move {
            let Some(code) = program::pack(&text).await else { return };
            self.fragments.update_value(|known| known.push((code, text.clone())));
            let (now, query) =
                self.inputs.with_untracked(|inputs| (fragment::text(inputs), url::write(inputs)));
            if let Some(fragment) = self.fragment(&text).filter(|_| now == text) {
                write(&format!("{query}{fragment}"), "", Entry::Current);
            }
        });
        is_new
    }

    /// The packed fragment of a text, if it is known.
    fn fragment(self, text: &str) -> Option<String> {
        let known = self.fragments.read_value();
        let (code, _) = known.iter().find(|(_, other)| other == text)?;
        Some(if text.is_empty() { String::new() } else { format!("{}{code}", fragment::PREFIX) })
    }

    /// Saves a document as a file; a failure becomes a note.
    pub async fn save(self, name: &str, document: Document) {
        let inputs = self.inputs.get_untracked();
        if let Err(reason) = program::save(name, document, &inputs).await {
            self.note(format!("{name} could not be written: {reason}."));
        }
    }

    /// Adds a note.
    pub fn note(self, text: String) {
        self.notes.update(|notes| notes.push(Note { text }));
    }

    /// Applies the address. A fragment that is not known yet is unpacked first.
    fn reread(self) {
        self.burst.update_value(Burst::end);
        let Some(fragment) = fragment(self.fragments) else {
            later(async move {
                let code = code().unwrap_or_default();
                let text = program::unpack(&code).await.unwrap_or_default();
                drop(own_devices().await); // a note reports a failed fetch
                self.fragments.update_value(|known| known.push((code, text)));
                self.reread();
            });
            return;
        };
        let Some((mut inputs, notes)) = url::read_with_chunk(&query(), &fragment) else {
            later(async move {
                match reader_of_addresses().await {
                    Ok(()) => self.reread(),
                    Err(Refusal(text)) => self.notes.set(vec![Note { text }]),
                }
            });
            return;
        };
        self.model.with_untracked(|opened| {
            if let Some(opened) = opened {
                inputs.model.remember(&opened.model);
            }
        });
        self.inputs.set(inputs);
        self.settle();
        self.notes.set(notes);
        self.popover.set(None);
        if !kept().is_empty() {
            self.remember(Entry::Current); // the user left the entry before its fragment was packed
        }
    }
}

/// Contents of the address's fragment; `None` while it is not unpacked.
fn fragment(fragments: StoredValue<Vec<(String, String)>>) -> Option<Fragment> {
    let Some(code) = code() else {
        let kept = kept();
        return Some(if kept.is_empty() { Fragment::Empty } else { fragment::parse(&kept) });
    };
    let known = fragments.read_value();
    let (_, text) = known.iter().find(|(other, _)| *other == code)?;
    Some(fragment::parse(text))
}

fn query() -> String {
    window().location().search().unwrap_or_default()
}

/// Whether the address says nothing, so that the page can start without what reads it.
pub fn is_bare() -> bool {
    query().is_empty() && !carries()
}

/// Whether the address or its history entry has a fragment, so inputs that are in no catalog.
pub fn carries() -> bool {
    code().is_some() || !kept().is_empty()
}

/// The packed fragment of the address.
fn code() -> Option<String> {
    let hash = window().location().hash().unwrap_or_default();
    hash.strip_prefix(fragment::PREFIX).map(str::to_owned)
}

/// Text of a fragment that was not packed yet when its history entry was written; usually empty.
fn kept() -> String {
    let state = window().history().and_then(|history| history.state());
    state.ok().and_then(|state| state.as_string()).unwrap_or_default()
}

/// Writes query and fragment to the address, and the text of a fragment that is not packed yet to the history entry. Returns
/// whether anything changed.
fn write(address: &str, keep: &str, entry: Entry) -> bool {
    let location = window().location();
    let now = query() + &location.hash().unwrap_or_default();
    if address == now && keep == kept() {
        return false;
    }
    let target = location.pathname().unwrap_or_default() + address;
    let Ok(history) = window().history() else { return false };
    let keep = JsValue::from_str(keep);
    let written = match entry {
        Entry::New => history.push_state_with_url(&keep, "", Some(&target)),
        Entry::Current => history.replace_state_with_url(&keep, "", Some(&target)),
    };
    // A browser that limits the rate of address changes skips one; the next change writes it.
    written.is_ok()
}
