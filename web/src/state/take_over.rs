//! Applies an opened file to the page. Loaded with the file reader.
#![cfg_attr(
    feature = "lazy",
    expect(clippy::unnecessary_wraps, reason = "what fetches a chunk adds the error")
)]

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

/// The functions of the chunk with the readers of GGUF and safetensors.
#[derive(Debug, Clone, Copy)]
pub struct WeightsReader {
    /// Begins to read a model by the headers of its files, with a title for it.
    pub begin: fn(&str, Vec<ReadableFile>, Unread) -> Result<WeightStep, Refused>,
    /// Gives a reading the bytes that it asked for.
    pub next: fn(Box<Reading>, &[u8]) -> Result<WeightStep, Refused>,
    /// Finds the files of a model in the hub's list of a repository.
    pub find: fn(&str, &str, Option<&str>) -> Result<Found, Refused>,
}

in_chunk! {
    weights,
    /// Returns the readers of weight files.
    ///
    /// # Errors
    /// The chunk could not be fetched.
    pub fn weights_reader() -> Result<WeightsReader, Refused> {
        Ok(WeightsReader {
            begin: |title, files, unread| {
                let reading = Reading::new(title, files, unread)?;
                Box::new(reading).advance(&[]).map(WeightStep::from)
            },
            next: |reading, bytes| reading.advance(bytes).map(WeightStep::from),
            find: listing::find,
        })
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
