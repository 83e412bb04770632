//! Requests with flag names as keys and values as text or JSON: the same for the command line, `--jsonl`, REST
//! and page. Every mistake is a [`RequestError`]; its sentence is in `words`.

mod analyze;
pub mod beside;
mod cards;
mod check;
mod device_count;
mod estimate;
mod fields;
mod files;
mod fit;
mod host;
pub mod link;
mod measured;
mod memory;
mod recommend;
mod remedy;
mod scenarios;
mod workload;

pub use super::error::RequestError;
pub use analyze::{AnalyzeInputs, Shape};
pub use cards::NamedCard;
pub use check::{CheckInputs, Done};
pub use estimate::{EstimateInputs, OWN_LAYERS, Unserved};
pub use fields::{Fields, check_count, is_count, memory_unit};
pub use files::{Files, FindHere, ReadFile, ReadWeights};
pub use fit::{FitChange, FitInputs, FitPlan};
pub use host::DESKTOP_WORD;
pub use measured::{MeasuredInputs, MeasuredRow, ReplacedField};
pub use recommend::{RecommendInputs, SEARCHED, ScheduleInputs, Subject};
pub use remedy::{HOST_MEMORY, Remedy, remedies};
pub use scenarios::{SCENARIOS, Scenario, ScenariosInputs};
pub use workload::{USUAL_VALUES, UsualValue};

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog;
use calc_core::catalog::format_aliases::{self, FormatAlias};
use calc_core::device::{Device, PowerMode};
use calc_core::hf_config::Unread;
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;

use crate::input::calibration_file::OwnMeasurements;

/// Key of the flag that takes keys of a model file that are not understood as the upper bound.
pub const MODEL_UPPER_BOUND: &str = "model_upper_bound";

/// Ends of names that are files.
const FILE_ENDS: [&str; 3] = [".json", ".gguf", ".safetensors"];

fn has_file_end(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    FILE_ENDS.iter().any(|end| lower.ends_with(end))
}

/// Sources of hardware and models: the catalogs, and files where there is a file system.
#[derive(Debug, Clone)]
pub struct Library<'a> {
    files: Option<&'a Files<'a>>,
    /// A request whose hardware and models are found already; the names are the same.
    found: Option<&'a EstimateInputs>,
}

impl<'a> Library<'a> {
    /// Catalogs without files.
    pub const CATALOGS: Library<'static> = Library { files: None, found: None };

    /// Catalogs with files.
    pub const fn with_files(files: &'a Files<'a>) -> Self {
        Self { files: Some(files), found: None }
    }

    /// Catalogs, with hardware and models of a request that was parsed before.
    pub(super) const fn of_request(found: &'a EstimateInputs) -> Self {
        Self { files: None, found: Some(found) }
    }

    /// The files, if the name has the form of a file name.
    fn files_for(&self, name: &str) -> Option<&'a Files<'a>> {
        let is_file = has_file_end(name) || name.contains(std::path::MAIN_SEPARATOR);
        self.files.filter(|_| is_file)
    }

    /// Looks a device up by key, alias or file name.
    ///
    /// # Errors
    /// Unknown keys, invalid files, and lists of cards.
    pub fn device(&self, name: &str) -> Result<Cow<'static, Device>, RequestError> {
        match self.one_device(name) {
            Ok(device) if cards::lacks_one(name, &device) => Err(cards::LACKING),
            Err(_) if cards::is_list(name, self) => {
                Err(RequestError::SeveralCards { name: name.trim().to_owned() })
            }
            found => found,
        }
    }

    fn one_device(&self, name: &str) -> Result<Cow<'static, Device>, RequestError> {
        if let Some(found) = self.found {
            if let Some(card) = found.listed.iter().find(|card| card.name == name) {
                return Ok(card.device.clone());
            }
            // The device of a request that lists cards is one of them.
            if found.listed.is_empty() && found.names("hardware", name) {
                return Ok(found.device.clone());
            }
        }
        if let Some(here) = self.files.and_then(|files| files.here(name)) {
            return here;
        }
        match self.files_for(name) {
            None => Ok(Cow::Borrowed(catalog::device(name)?)),
            Some(files) => files.device(name),
        }
    }

    /// Reads the calibration file for a device.
    ///
    /// # Errors
    /// Invalid files, and files of another device.
    pub fn calibration(
        &self,
        name: &str,
        device: &Device,
    ) -> Result<Arc<Calibration>, RequestError> {
        if let Some(calibration) = self.found.and_then(|found| found.calibration.clone()) {
            return Ok(calibration);
        }
        let own = self.own_measurements(name)?;
        if own.device != device.key {
            return Err(RequestError::OtherDevice {
                path: name.into(),
                measured: own.device,
                asked: device.key.to_string(),
            });
        }
        Ok(Arc::new(own.calibration()))
    }

    /// Reads a calibration file without checking its device.
    ///
    /// # Errors
    /// Invalid files.
    pub fn own_measurements(&self, name: &str) -> Result<OwnMeasurements, RequestError> {
        match self.files {
            Some(files) => files.calibration(name),
            None => Err(RequestError::Unreadable {
                path: name.into(),
                reason: "files are not read here".to_owned(),
            }),
        }
    }

    /// Looks a model up by key, published name, config.json or weight file. Keys of the file that look like geometry and are not
    /// understood are refused, or taken as the upper bound.
    ///
    /// # Errors
    /// Unknown keys and invalid files.
    pub fn model(&self, name: &str, unread: Unread) -> Result<NamedModel, RequestError> {
        if let Some(found) = self.found {
            if found.names("model", name) {
                return Ok(found.model.clone());
            }
            if let Some(draft) = found.draft.as_ref().filter(|_| found.names("draft_model", name)) {
                return Ok(draft.clone());
            }
        }
        let exact = catalog::model_names::find(name).is_some_and(|found| found.exact);
        let file = self.files_for(name).filter(|_| !exact).map(|files| files.model(name, unread));
        match file {
            // A repository has the form of a path; it is read as one when no such file exists.
            Some(Err(RequestError::Unreadable { .. }))
                if catalog::model_names::is_hub_id(name) && !has_file_end(name) =>
            {
                NamedModel::from_name(name)
            }
            Some(found) => found,
            None => NamedModel::from_name(name),
        }
    }
}

pub use crate::input::named_model::NamedModel;

/// Finds a power mode of a device by name.
pub(crate) fn power_mode<'d>(
    device: &'d Device,
    name: Option<&str>,
) -> Result<Option<&'d PowerMode>, RequestError> {
    Ok(name.map(|name| device.power_mode(name)).transpose()?)
}

fn format_field(
    fields: &mut Fields,
    key: &'static str,
) -> Result<Option<&'static QuantFormat>, RequestError> {
    Ok(fields.text(key)?.map(|name| catalog::format(&name)).transpose()?)
}

/// The choice for keys of a model file that are not understood: refuse, or upper bound.
fn unread_field(fields: &mut Fields) -> Result<Unread, RequestError> {
    let bound = fields.flag(MODEL_UPPER_BOUND)?;
    Ok(if bound { Unread::UpperBound } else { Unread::Refuse })
}

fn engine_field(fields: &mut Fields) -> Result<Option<Engine>, RequestError> {
    let Some(name) = fields.text("engine")? else { return Ok(None) };
    Engine::of(&name).map(Some).ok_or_else(|| RequestError::NotOneOf {
        key: "engine",
        value: name,
        allowed: Engine::ALL.iter().map(|(key, _)| *key).collect(),
    })
}

/// The formats of a request.
struct PrecisionFields {
    /// With the stored formats for the roles that the request leaves open.
    choice: PrecisionChoice,
    /// Only the roles that the request names.
    named: PrecisionChoice,
    /// Notes on ambiguous names.
    taken: Vec<String>,
}

fn precision_fields(
    fields: &mut Fields,
    stored: Option<PrecisionChoice>,
) -> Result<PrecisionFields, RequestError> {
    const ROLES: [&str; 5] = ["weights", "activations", "kv", "embedding", "experts"];
    let aliases = ROLES.map(|key| fields.peek_text(key).and_then(format_aliases::alias));
    let weights = format_field(fields, "weights")?;
    let base = match (weights, stored) {
        (Some(weights), Some(stored)) => PrecisionChoice::of_weights(weights, &stored),
        (Some(weights), None) => PrecisionChoice::weights(weights),
        (None, Some(stored)) => stored,
        (None, None) => return Err(RequestError::Missing { key: "weights" }),
    };
    let of_alias = aliases[0].and_then(|alias| alias.activations);
    let named = PrecisionChoice {
        activations: format_field(fields, "activations")?.or(of_alias),
        kv_cache: format_field(fields, "kv")?,
        embedding: format_field(fields, "embedding")?,
        experts: format_field(fields, "experts")?,
        ..PrecisionChoice::weights(base.weights)
    };
    let choice = named.over(&base);
    let taken = aliases.into_iter().flatten().filter(|alias| !alias.why.is_empty());
    let note = |alias: &FormatAlias| {
        format!("{} is taken as {}: {}", alias.name, alias.format.key, alias.why)
    };
    Ok(PrecisionFields { choice, named, taken: taken.map(note).collect() })
}

/// The calibration file that a request names.
fn calibration_field(
    fields: &mut Fields,
    library: &Library<'_>,
    device: &Device,
) -> Result<Option<Arc<Calibration>>, RequestError> {
    fields.text("calibration")?.map(|name| library.calibration(&name, device)).transpose()
}

/// The user's measurements, or the model fitted on published measurements.
fn in_force(own: Option<&Arc<Calibration>>) -> &Calibration {
    own.map_or(&Calibration::FITTED, |own| own)
}
