//! Applies an opened file to the page. Loaded with the file reader.
#![cfg_attr(
    feature = "lazy",
    expect(clippy::unnecessary_wraps, reason = "what fetches a chunk adds the error")
)]

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::catalog;
use calc_core::device::Device;
use calc_core::hf_config::Unread;
use leptos::prelude::*;

use super::chunks::in_chunk;
use super::files::{self, Opened, OpenedModel, Refused};
use super::inputs::View;
use super::place::OwnCalibration;
use super::session::{Session, Step};
use super::this_machine::MachineDevice;
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

/// Result of a job, ready to be applied: a device, a calibration, or both.
#[derive(Debug, Clone)]
pub struct Measurements {
    device: Option<Cow<'static, Device>>,
    own: Option<OwnCalibration>,
}

in_chunk! {
    reader,
    /// Opens the files of a job's result, each with its name for messages.
    ///
    /// # Errors
    /// Returns the reason if a file is invalid or the chunk could not be fetched.
    pub fn open_measurements(found: Vec<(&'static str, String)>) -> Result<Measurements, Refused> {
        let mut all = Measurements { device: None, own: None };
        for (name, text) in found {
            match files::open(name, &text, Unread::Refuse)? {
                Opened::Device(device) => all.device = Some(Cow::Owned(*device)),
                Opened::Calibration(own) => all.own = Some(own),
                Opened::Model(_) => return Err(format!("{name} is a model").into()),
            }
        }
        Ok(all)
    }
}

impl Measurements {
    /// The device with its calibration. A calibration without its device needs `present`, or a device of the catalog. New roofs leave no
    /// earlier calibration, because factors are fractions of the roofs that they were measured with.
    ///
    /// # Errors
    /// A sentence about a device that is not known.
    pub fn of(self, present: Cow<'static, Device>) -> Result<MachineDevice, String> {
        let own = self.own.map(Arc::new);
        let device = match (self.device, &own) {
            (Some(device), _) => device,
            (None, Some(own)) => device_of(own, present)?,
            (None, None) => present,
        };
        Ok(MachineDevice { device, own })
    }
}

/// The device of a calibration: the present one, or one of the catalog.
fn device_of(
    own: &OwnCalibration,
    present: Cow<'static, Device>,
) -> Result<Cow<'static, Device>, String> {
    if *present.key == *own.device {
        return Ok(present);
    }
    match catalog::device(&own.device) {
        Ok(device) => Ok(Cow::Borrowed(device)),
        Err(_) => Err(format!(
            "These measurements are of `{}`, which the page does not know; open its device file first.",
            own.device
        )),
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

fn measurements(session: Session, own: OwnCalibration, step: Step) {
    let present = session.inputs.with_untracked(|inputs| inputs.device.clone());
    match device_of(&own, present) {
        Ok(device) => {
            let measured = MachineDevice { device, own: Some(Arc::new(own)) };
            session.edit(step, |inputs| measured.choose(inputs));
        }
        Err(text) => session.notes.update(|notes| notes.push(Note { text })),
    }
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
