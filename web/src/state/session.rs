//! The signals of the page, and the browser's history that goes with them.

use std::borrow::Cow;

use calc_core::device::Device;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::colors::Colors;
use super::derived::{self, Shown};
use super::files::{self, Opened, OpenedModel};
use super::inputs::{Inputs, View};
use super::model::inputs::Base;
use super::url::{self, Note};
use report::verdict::explain::Explanation;

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
    /// The device of a file, kept for the way back.
    pub device: RwSignal<Option<Device>>,
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
    /// Light or dark.
    pub colors: Colors,
}

impl Session {
    /// Begins with what the address says, and follows it back and forth.
    pub fn begin() -> Self {
        let (inputs, notes) = url::read(&address());
        let inputs = RwSignal::new(inputs);
        let shown = Memo::new(move |before| inputs.with(|inputs| derived::next(before, inputs)));
        let session = Self {
            inputs,
            shown,
            device: RwSignal::new(None),
            model: RwSignal::new(None),
            notes: RwSignal::new(notes),
            pointed: RwSignal::new(None),
            popover: RwSignal::new(None),
            help: RwSignal::new(false),
            colors: Colors::begin(),
        };
        let _forever = window_event_listener(leptos::ev::popstate, move |_| session.reread());
        session
    }

    /// Changes the inputs, and the address with them unless a field cannot be read.
    pub fn edit(self, step: Step, change: impl FnOnce(&mut Inputs)) {
        self.popover.set(None);
        self.inputs.update(change);
        if let Some(query) = self.inputs.with_untracked(url::write) {
            remember(&query, step);
        }
    }

    /// Takes over what was read from a file.
    pub fn open(self, reply: &str) {
        match files::understand(reply) {
            Ok(Opened::Device(device)) => {
                self.device.set(Some((*device).clone()));
                self.edit(Step::Choice, |inputs| inputs.set_device(Cow::Owned(*device)));
            }
            Ok(Opened::Model(model)) => {
                self.edit(Step::Choice, |inputs| match (inputs.view, model.presets.first()) {
                    (View::Model, _) => inputs.model.set_base(Base::File(model.model.clone())),
                    (View::Kernel, Some(first)) => inputs.apply(first),
                    (View::Kernel, None) => {}
                });
                self.model.set(Some(model));
            }
            Err(text) => self.notes.update(|notes| notes.push(Note { text })),
        }
    }

    /// The address of a view with the present inputs.
    pub fn address_of(self, view: View) -> String {
        let there = self.inputs.with(|inputs| url::write(&Inputs { view, ..inputs.clone() }));
        there.filter(|query| !query.is_empty()).unwrap_or_else(|| "?".to_owned())
    }

    fn reread(self) {
        let (mut inputs, notes) =
            self.device.with_untracked(|device| url::read_beside(&address(), device.as_ref()));
        if let Some(opened) =
            self.model.with_untracked(|model| model.as_ref().map(|model| model.model.clone()))
        {
            inputs.model.remember(&opened);
        }
        self.inputs.set(inputs);
        self.notes.set(notes);
        self.popover.set(None);
    }
}

fn address() -> String {
    window().location().search().unwrap_or_default()
}

fn remember(query: &str, step: Step) {
    if query == address() {
        return;
    }
    let path = window().location().pathname().unwrap_or_default();
    let target = format!("{path}{query}");
    let Ok(history) = window().history() else { return };
    let written = match step {
        Step::Choice => history.push_state_with_url(&JsValue::NULL, "", Some(&target)),
        Step::Typing => history.replace_state_with_url(&JsValue::NULL, "", Some(&target)),
    };
    // A browser that limits how often the address changes skips one; the next change writes it.
    drop(written);
}
