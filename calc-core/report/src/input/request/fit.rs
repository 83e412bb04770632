//! Requests for what fits on a device, and for changes after which something does: the fields of `recommend` about a model.

use calc_core::estimate::Estimate;
use calc_core::math::round_up;
use calc_core::recommend::{
    DeviceChoice, Ranked, Recommendation, Room, devices, memory_steps, rank, room,
};
use calc_core::tiers::Host;
use calc_core::units::Bytes;
use calc_core::workload::Workload;
use serde_json::Value;

use super::remedy::{HOST_MEMORY, host_fields, more_devices, shorter, split};
use super::{EstimateInputs, Fields, Library, RecommendInputs, RequestError, Subject};

/// Formats of the KV cache that are tried, widest first.
const KV_FORMATS: [&str; 3] = ["fp8_e4m3", "gguf_q8_0", "int4_g32"];
/// A loss that admits every scheme [%].
const ANY_LOSS: u64 = 1_000_000;
/// Significant digits of a loosened bound on the loss.
const LOSS_DIGITS: u32 = 2;
/// Most devices that are named.
const MOST_DEVICES: usize = 3;

/// A request for what fits.
#[derive(Debug)]
pub struct FitInputs {
    /// The request with the goal; its subject is a model.
    pub recommend: RecommendInputs,
    /// An estimate of the model in the formats that the request names, or as it is stored.
    pub asked: EstimateInputs,
    fields: Fields,
}

/// The fields of a request with another value, after which a scheme meets the bounds.
#[derive(Debug)]
pub struct FitChange {
    pub fields: Vec<(&'static str, Value)>,
    /// The first-ranked scheme.
    pub first: Ranked,
    /// True if its devices exchange data over a link that nobody published.
    pub lacks_link: bool,
}

/// The schemes that fit, or changes after which one does.
#[derive(Debug)]
pub struct FitPlan {
    /// The model in the formats of the request.
    pub asked: Estimate,
    /// The schemes that fit and meet the bounds, the first-ranked first.
    pub ranking: Recommendation,
    /// Room for growth with the first-ranked scheme.
    pub room: Option<Room>,
    /// Changes of one field after which a scheme meets the bounds; empty if one does already.
    pub changes: Vec<FitChange>,
    /// The smallest devices on which a scheme meets the bounds; empty if one does here.
    pub devices: Vec<DeviceChoice>,
    /// Memory of the scheme that needs least, where none meets the bounds.
    pub least: Option<Bytes>,
}

impl FitInputs {
    /// Parses the fields of `recommend` about a model on one device.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn parse(mut fields: Fields, library: &Library<'_>) -> Result<Self, RequestError> {
        if !fields.has("model") {
            fields.required_text("model")?;
        }
        let recommend = RecommendInputs::parse(fields, library)?;
        if recommend.any_device {
            return Err(RequestError::Core(calc_core::error::Error::Inapplicable {
                input: "hardware any",
                part: "one device",
            }));
        }
        Self::of(recommend).ok_or(RequestError::Missing { key: "model" })
    }

    /// The inputs of a recommendation for a model; `None` for those about a product, and for those that no request gave.
    pub fn of(recommend: RecommendInputs) -> Option<Self> {
        let Subject::Model(model) = &recommend.subject else { return None };
        let (asked, fields) = ((**model).clone(), recommend.fields.clone()?);
        Some(Self { recommend, asked, fields })
    }

    /// [`FitInputs::plan`] with the files of the request; `None` for a request that is refused.
    pub fn ways_out(&self) -> Option<FitPlan> {
        self.plan(&Library::of_request(&self.asked)).ok()
    }

    /// Finds what fits.
    ///
    /// # Errors
    /// Every refusal of `calc-core`.
    pub fn plan(&self, library: &Library<'_>) -> Result<FitPlan, RequestError> {
        let request = self.recommend.request()?;
        let ranking = rank(&request)?;
        let asked = self.asked.estimate()?;
        let Some(first) = ranking.ranked.first() else {
            let steps = memory_steps(&request)?;
            let least = steps.iter().map(|step| step.memory);
            let least = least.min_by(|a, b| a.get().total_cmp(&b.get()));
            let mut devices = devices(&request);
            devices.truncate(MOST_DEVICES);
            let changes = self.changes(library, &ranking)?;
            return Ok(FitPlan { asked, ranking, room: None, changes, devices, least });
        };
        let room = Some(room(&request, first.scheme)?);
        Ok(FitPlan { asked, ranking, room, changes: Vec::new(), devices: Vec::new(), least: None })
    }

    /// Changes of one field, each tried: the cache in fewer bits, fewer sequences, a shorter context, a host,
    /// more devices, more loss.
    fn changes(
        &self,
        library: &Library<'_>,
        ranking: &Recommendation,
    ) -> Result<Vec<FitChange>, RequestError> {
        let text = |format: &str| Value::String(format.to_owned());
        let kv = KV_FORMATS.into_iter().map(|format| vec![("kv", text(format))]);
        let kv = kv.filter_map(|change| self.tried(change, library)).take(1);
        let mut found: Vec<FitChange> = kv.collect();
        found.extend(self.fewer(library, ranking)?);
        found.extend(self.with_host(library));
        let ways = self.asked.workload.parallel.tensor;
        let mut more = more_devices(&self.asked.device, ways).map(|ways| split(&self.asked, ways));
        found.extend(more.find_map(|change| self.tried(change, library)));
        let open = self.ranked_after(&[("max_quality_loss", Value::from(ANY_LOSS))], library);
        let losses = open.unwrap_or_default().into_iter().map(|row| row.quality.high);
        let least = losses.min_by(f64::total_cmp).map(|loss| round_up(loss, LOSS_DIGITS));
        let loss = least.map(|loss| vec![("max_quality_loss", Value::from(loss))]);
        found.extend(loss.and_then(|change| self.tried(change, library)));
        Ok(found)
    }

    /// The smallest memory of a host behind the card with which some scheme meets the bounds.
    fn with_host(&self, library: &Library<'_>) -> Option<FitChange> {
        if self.asked.host.is_some() || Host::impossible(&self.asked.device).is_some() {
            return None;
        }
        HOST_MEMORY.into_iter().find_map(|memory| self.tried(host_fields(memory), library))
    }

    /// The largest batch and the longest sequence with which some scheme meets the bounds.
    fn fewer(
        &self,
        library: &Library<'_>,
        ranking: &Recommendation,
    ) -> Result<Vec<FitChange>, RequestError> {
        let request = self.recommend.request()?;
        let bound = self.recommend.bounds.quality;
        let schemes = ranking.dropped.iter();
        let schemes = schemes.filter(|row| row.outcome.is_some() && row.quality.high <= bound);
        let rooms = schemes.map(|row| room(&request, row.scheme));
        let rooms = rooms.collect::<Result<Vec<Room>, _>>()?;
        let most = |of: fn(&Room) -> Option<u64>| rooms.iter().filter_map(of).max();
        let workload = &self.asked.workload;
        let batch = most(|room| room.batch.map(|most| most.value));
        let batch = batch.filter(|batch| *batch < workload.batch);
        let context = most(|room| room.context.map(|most| most.value));
        let context = context.filter(|tokens| *tokens < workload.longest());
        let changes = [
            batch.map(|batch| vec![("batch", Value::from(batch))]),
            context.map(|tokens| {
                let prompt = workload.prompt.min(tokens);
                let new_tokens = workload.new_tokens.min(tokens - prompt + 1);
                let context = workload.context.min(tokens);
                shorter(&self.asked, &Workload { prompt, context, new_tokens, ..*workload })
            }),
        ];
        let changes = changes.into_iter().flatten().filter(|change| !change.is_empty());
        Ok(changes.filter_map(|change| self.tried(change, library)).collect())
    }

    /// The change, if a scheme meets the bounds after it.
    fn tried(
        &self,
        change: Vec<(&'static str, Value)>,
        library: &Library<'_>,
    ) -> Option<FitChange> {
        let first = self.ranked_after(&change, library)?.into_iter().next()?;
        let splits = change.iter().any(|(key, _)| *key == "tensor_parallel");
        let exchanges = splits || self.asked.workload.parallel.exchanges();
        let lacks_link = exchanges && self.asked.device.link.is_none();
        Some(FitChange { fields: change, first, lacks_link })
    }

    /// The schemes that meet the bounds after a change; `None` if the changed request is refused.
    fn ranked_after(
        &self,
        change: &[(&'static str, Value)],
        library: &Library<'_>,
    ) -> Option<Vec<Ranked>> {
        let changed = RecommendInputs::parse(self.fields.changed(change), library).ok()?;
        Some(rank(&changed.request().ok()?).ok()?.ranked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(line: &str) -> FitPlan {
        let inputs = FitInputs::parse(Fields::from_line(line).expect("JSON"), &Library::CATALOGS);
        inputs.expect("a request").plan(&Library::CATALOGS).expect("valid")
    }

    #[test]
    fn a_model_that_does_not_fit_as_stored_fits_in_a_scheme() {
        let found = plan(r#"{"hardware":"jetson_orin_nano_8gb_super","model":"llama-3.1-8b"}"#);
        assert_eq!(found.asked.memory.verdict().fits(), Some(false));
        assert!(!found.ranking.ranked.is_empty() && found.changes.is_empty());
        let room = found.room.expect("a first scheme");
        assert!(room.context.is_some_and(|most| most.value > 512));
    }

    #[test]
    fn every_change_is_one_after_which_something_fits() {
        for line in [
            r#"{"hardware":"rtx_4090","model":"llama-3.1-8b","prompt":8192,"batch":200}"#,
            r#"{"hardware":"rtx_4090","model":"llama-3.1-8b","prompt":"128k","batch":4}"#,
            r#"{"hardware":"h100","model":"llama-3.1-405b"}"#,
            r#"{"hardware":"jetson_orin_nano_8gb_super","model":"llama-3.1-8b","max_quality_loss":0.1}"#,
        ] {
            let found = plan(line);
            assert!(found.ranking.ranked.is_empty(), "{line}");
            assert!(!found.changes.is_empty(), "{line}");
            for change in &found.changes {
                assert_ne!(change.first.outcome.verdict().fits(), Some(false), "{line} {change:?}");
                let loss = change.fields.iter().find(|(key, _)| *key == "max_quality_loss");
                assert!(loss.is_none_or(|(_, loss)| loss.as_f64() < Some(100.0)), "{change:?}");
            }
        }
    }

    #[test]
    fn what_fits_nowhere_near_is_sent_to_a_larger_device() {
        let found = plan(r#"{"hardware":"jetson_orin_nano_8gb_super","model":"llama-3.1-70b"}"#);
        let least = found.least.expect("the smallest scheme");
        let smallest = found.devices.first().expect("a larger device");
        assert!(smallest.outcome.memory.get() >= least.get());
        assert!(found.devices.len() <= MOST_DEVICES);
    }

    #[test]
    fn a_request_without_a_model_or_about_any_device_is_refused() {
        for (line, says) in [
            (r#"{"hardware":"t4","m":1,"n":1,"k":1}"#, "model is missing"),
            (r#"{"hardware":"any","model":"llama-3.1-8b"}"#, "hardware any"),
        ] {
            let fields = Fields::from_line(line).expect("JSON");
            let error = FitInputs::parse(fields, &Library::CATALOGS).expect_err(line).to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
