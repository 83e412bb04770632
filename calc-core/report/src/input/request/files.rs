//! Files named by requests. Each is read and parsed once, because thousands of lines may name the same file.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use calc_core::catalog;
use calc_core::device::Device;
use calc_core::hf_config::Unread;

use super::{NamedModel, RequestError};
use crate::input::calibration_file::{self, OwnMeasurements};
use crate::input::device_file;

/// Reads a file by name; the error is a short phrase that follows the name in a message.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Reads the model of a weight file, or of the weight files of a folder; `None` for every other name. A function, so that a
/// program without such files does not carry their readers.
pub type ReadWeights<'a> = &'a dyn Fn(&str, Unread) -> Result<Option<NamedModel>, RequestError>;

/// Name of the device of this machine in the catalog; the error is a sentence.
pub type FindHere<'a> = &'a dyn Fn() -> Result<String, String>;

/// Name in a request of the machine that answers.
pub(super) const HERE: &str = "here";

/// Capacity of the cache; a full cache is emptied.
const KEPT: usize = 64;

type Kept<T> = RefCell<BTreeMap<String, Result<T, RequestError>>>;

/// A file system with a cache of parsed devices, models and calibrations.
pub struct Files<'a> {
    read: ReadFile<'a>,
    weights: Option<ReadWeights<'a>>,
    here: Option<FindHere<'a>>,
    devices: Kept<Cow<'static, Device>>,
    models: Kept<NamedModel>,
    /// Models read with keys that were not understood taken as their upper bound.
    bounded_models: Kept<NamedModel>,
    calibrations: Kept<OwnMeasurements>,
}

impl core::fmt::Debug for Files<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Files").finish_non_exhaustive()
    }
}

impl<'a> Files<'a> {
    /// An empty cache over the reader `read`.
    pub const fn new(read: ReadFile<'a>) -> Self {
        Self {
            read,
            weights: None,
            here: None,
            devices: RefCell::new(BTreeMap::new()),
            models: RefCell::new(BTreeMap::new()),
            bounded_models: RefCell::new(BTreeMap::new()),
            calibrations: RefCell::new(BTreeMap::new()),
        }
    }

    /// Adds the reader of weight files.
    #[must_use]
    pub fn with_weights(self, weights: ReadWeights<'a>) -> Self {
        Self { weights: Some(weights), ..self }
    }

    /// Adds the device of this machine, by the name `here`.
    #[must_use]
    pub fn with_here(self, here: FindHere<'a>) -> Self {
        Self { here: Some(here), ..self }
    }

    /// The device of this machine; `None` for every other name, and where nobody looks for it.
    pub(super) fn here(&self, name: &str) -> Option<Result<Cow<'static, Device>, RequestError>> {
        let find = self.here.filter(|_| name.trim().eq_ignore_ascii_case(HERE))?;
        Some(kept(&self.devices, HERE, || {
            let name = find().map_err(|reason| RequestError::Here { reason })?;
            Ok(Cow::Borrowed(catalog::device(&name)?))
        }))
    }

    pub(super) fn device(&self, name: &str) -> Result<Cow<'static, Device>, RequestError> {
        kept(&self.devices, name, || {
            device_file::parse(&self.text(name)?)
                .map(Cow::Owned)
                .map_err(|error| RequestError::DeviceFile { path: name.into(), error })
        })
    }

    pub(super) fn model(&self, name: &str, unread: Unread) -> Result<NamedModel, RequestError> {
        let models = match unread {
            Unread::Refuse => &self.models,
            Unread::UpperBound => &self.bounded_models,
        };
        kept(models, name, || match self.weights.map_or(Ok(None), |read| read(name, unread))? {
            Some(model) => Ok(model),
            None => NamedModel::from_file(name, &self.text(name)?, unread),
        })
    }

    pub(super) fn calibration(&self, name: &str) -> Result<OwnMeasurements, RequestError> {
        kept(&self.calibrations, name, || {
            calibration_file::parse(&self.text(name)?)
                .map_err(|error| RequestError::CalibrationFile { path: name.into(), error })
        })
    }

    fn text(&self, name: &str) -> Result<String, RequestError> {
        (self.read)(name).map_err(|reason| RequestError::Unreadable { path: name.into(), reason })
    }
}

fn kept<T: Clone>(
    kept: &Kept<T>,
    name: &str,
    read: impl FnOnce() -> Result<T, RequestError>,
) -> Result<T, RequestError> {
    if let Some(known) = kept.borrow().get(name) {
        return known.clone();
    }
    let found = read();
    let mut kept = kept.borrow_mut();
    if kept.len() >= KEPT {
        kept.clear();
    }
    kept.insert(name.into(), found.clone());
    found
}
