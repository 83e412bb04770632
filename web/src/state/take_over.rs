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
use super::weights::listing::{self, Found};
use super::weights::{Advance, Range, ReadableFile, Reading};

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

/// The next step of reading weight files.
#[derive(Debug)]
pub enum WeightStep {
    /// Bytes that the reading needs.
    Read(Box<Reading>, Range),
    Opened(OpenedFile),
}

impl From<Advance> for WeightStep {
    fn from(step: Advance) -> Self {
        match step {
            Advance::Read(reading, range) => Self::Read(reading, range),
            Advance::Opened(model) => {
                Self::Opened(OpenedFile { opened: Opened::Model(model), take })
            }
        }
    }
}

in_chunk! {
    weights,
    /// Begins to read a model by the headers of its files. The chunk holds the readers of GGUF and safetensors.
    ///
    /// # Errors
    /// Returns the reason if these are not the files of one model, or the chunk could not be fetched.
    pub fn begin_weights(title: &str, files: Vec<ReadableFile>, unread: Unread) -> Result<WeightStep, Refused> {
        let reading = Reading::new(title, files, unread)?;
        Box::new(reading).advance(&[]).map(WeightStep::from)
    }
}

in_chunk! {
    weights,
    /// Gives a reading the bytes that it asked for.
    ///
    /// # Errors
    /// Returns the first mistake of a file, or that the chunk could not be fetched.
    pub fn next_weights(reading: Box<Reading>, bytes: &[u8]) -> Result<WeightStep, Refused> {
        reading.advance(bytes).map(WeightStep::from)
    }
}

in_chunk! {
    weights,
    /// Finds the files of a model in the hub's list of a repository.
    ///
    /// # Errors
    /// Returns the reason if there is none, or the chunk could not be fetched.
    pub fn find_weights(id: &str, list: &str, wanted: Option<&str>) -> Result<Found, Refused> {
        listing::find(id, list, wanted)
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
