//! Applies an opened file to the page. Loaded with the file reader.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::catalog;
use calc_core::hf_config::Unread;
use leptos::prelude::*;

use super::chunks::in_chunk;
use super::files::{self, Opened, OpenedModel, Refused};
use super::inputs::View;
use super::place::OwnCalibration;
use super::session::{Session, Step};
use super::url::Note;

/// An opened file, ready to be applied.
#[derive(Debug)]
pub struct OpenedFile {
    opened: Opened,
    take: fn(Session, Opened, Step),
}

impl OpenedFile {
    /// Applies the file, as a new history entry or as part of the current one.
    pub fn take(self, session: Session, step: Step) {
        (self.take)(session, self.opened, step);
    }
}

#[cfg(feature = "lazy")]
impl From<leptos::wasm_split::SplitLoaderError> for Refused {
    fn from(error: leptos::wasm_split::SplitLoaderError) -> Self {
        let super::chunks::Refusal(reason) = error.into();
        reason.into()
    }
}

in_chunk! {
    reader,
    /// Opens a file, given its name and text. The chunk holds the JSON parser and the model import.
    ///
    /// # Errors
    /// Returns the reason if the file is invalid or the chunk could not be fetched.
    pub fn open_file(name: &str, text: &str, unread: Unread) -> Result<OpenedFile, Refused> {
        files::open(name, text, unread).map(|opened| OpenedFile { opened, take })
    }
}

fn take(session: Session, opened: Opened, step: Step) {
    match opened {
        Opened::Device(device) => {
            session.edit(step, |inputs| inputs.set_device(Cow::Owned(*device)));
        }
        Opened::Calibration(own) => measurements(session, own, step),
        Opened::Model(opened) => model(session, opened),
    }
}

/// Measurements need their device: the current one, or one of the catalog.
fn measurements(session: Session, own: OwnCalibration, step: Step) {
    let present = session.inputs.with_untracked(|inputs| inputs.device.clone());
    let device = if *present.key == *own.device {
        present
    } else if let Ok(device) = catalog::device(&own.device) {
        Cow::Borrowed(device)
    } else {
        let text = format!(
            "These measurements are of `{}`, which the page does not know; open its device file first.",
            own.device
        );
        session.notes.update(|notes| notes.push(Note { text }));
        return;
    };
    session.edit(step, |inputs| {
        inputs.set_device(device);
        inputs.own = Some(Arc::new(own));
    });
}

fn model(session: Session, model: OpenedModel) {
    session.edit(Step::Choice, |inputs| match (inputs.view, model.presets.first()) {
        (View::Plan | View::Compare | View::Explore | View::Model, _) => {
            (model.take)(&model, inputs);
        }
        (View::Kernel | View::Trust | View::Measure, Some(first)) => first.apply(inputs),
        (View::Kernel | View::Trust | View::Measure, None) => {}
    });
    session.model.set(Some(model));
}
