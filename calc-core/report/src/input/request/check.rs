//! Requests of the verb `check`: the fields of `estimate` or `analyze`, and one measured or claimed time.

use calc_core::check::{Check, CheckRequest, Claim, Work, check};
use calc_core::device::Device;
use calc_core::error::{Error, real_in_range};
use calc_core::units::{Seconds, TokensPerSec};

use super::{AnalyzeInputs, EstimateInputs, Fields, Library, RequestError};

/// Range of a claimed rate [token/s].
const RATES: (f64, f64) = (1e-9, 1e12);
/// Range of a claimed time of an operator or a token [µs].
const MICROSECONDS: (f64, f64) = (1e-6, 1e15);
/// Range of a claimed time of a whole answer [s].
const SECONDS: (f64, f64) = (1e-12, 1e9);

/// Subject of a claim.
#[derive(Debug, Clone)]
pub enum Done {
    Operator(Box<AnalyzeInputs>),
    /// One decode step: a token of each sequence.
    Token(Box<EstimateInputs>),
    /// A whole answer, prefill included.
    Answer(Box<EstimateInputs>),
}

/// A request to judge a claim with device, model, formats and files resolved.
#[derive(Debug, Clone)]
pub struct CheckInputs {
    pub done: Done,
    /// Claimed time or rate.
    pub claim: Claim,
}

impl CheckInputs {
    /// Parses the fields of `check`.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn parse(mut fields: Fields, library: &Library<'_>) -> Result<Self, RequestError> {
        let is_model = fields.has("model");
        let (claim, whole) = claim(&mut fields, is_model)?;
        if !is_model {
            let inputs = AnalyzeInputs::parse(fields, library)?;
            return Ok(Self { done: Done::Operator(Box::new(inputs)), claim });
        }
        if whole && !fields.has("new_tokens") {
            return Err(needs("seconds", "new_tokens"));
        }
        let inputs = Box::new(EstimateInputs::parse(fields, library)?);
        let done = if whole { Done::Answer(inputs) } else { Done::Token(inputs) };
        Ok(Self { done, claim })
    }

    /// Device of the request.
    pub fn device(&self) -> &Device {
        match &self.done {
            Done::Operator(inputs) => &inputs.device,
            Done::Token(inputs) | Done::Answer(inputs) => &inputs.device,
        }
    }

    /// Name of the device, or of several cards.
    pub fn hardware_name(&self) -> String {
        match &self.done {
            Done::Operator(inputs) => inputs.device.name.to_string(),
            Done::Token(inputs) | Done::Answer(inputs) => inputs.hardware_name(),
        }
    }

    /// Name of the device's power mode.
    pub fn power_mode(&self) -> Option<&str> {
        match &self.done {
            Done::Operator(inputs) => inputs.power_mode.as_deref(),
            Done::Token(inputs) | Done::Answer(inputs) => inputs.power_mode.as_deref(),
        }
    }

    /// Judges the claim.
    ///
    /// # Errors
    /// Every refusal of `calc-core`.
    pub fn check(&self) -> Result<Check, RequestError> {
        let work = match &self.done {
            Done::Operator(inputs) => Work::Operator(inputs.request()?),
            Done::Token(inputs) => Work::Token(inputs.request()?),
            Done::Answer(inputs) => Work::Answer(inputs.request()?),
        };
        Ok(check(&CheckRequest { work, claim: self.claim })?)
    }
}

/// The claim, and `true` when it is about a whole answer.
fn claim(fields: &mut Fields, is_model: bool) -> Result<(Claim, bool), RequestError> {
    let keys = ["tokens_per_s", "time_us", "seconds"];
    let [rate, time, whole] = [
        positive(fields, keys[0], RATES)?,
        positive(fields, keys[1], MICROSECONDS)?,
        positive(fields, keys[2], SECONDS)?,
    ];
    let per_user = fields.flag("per_user")?;
    let given: Vec<&'static str> = keys
        .into_iter()
        .zip([rate, time, whole])
        .filter_map(|(key, value)| value.map(|_| key))
        .collect();
    if let [first, second, ..] = given[..] {
        return Err(Error::Conflict { first, second, needs: false }.into());
    }
    if per_user && rate.is_none() {
        return Err(needs("per_user", keys[0]));
    }
    if let Some(key) = given.first().filter(|key| !is_model && **key != keys[1]) {
        return Err(needs(key, "model"));
    }
    match (rate, time, whole) {
        (Some(rate), _, _) => Ok((Claim::Rate { rate: TokensPerSec::new(rate), per_user }, false)),
        (None, Some(time), _) => Ok((Claim::Time(Seconds::new(time * 1e-6)), false)),
        (None, None, Some(whole)) => Ok((Claim::Time(Seconds::new(whole)), true)),
        (None, None, None) => {
            Err(RequestError::Missing { key: "tokens_per_s, time_us or seconds" })
        }
    }
}

fn positive(
    fields: &mut Fields,
    key: &'static str,
    (min, max): (f64, f64),
) -> Result<Option<f64>, RequestError> {
    let value = fields.real(key)?;
    Ok(value.map(|value| real_in_range(key, value, min, max)).transpose()?)
}

fn needs(first: &'static str, second: &'static str) -> RequestError {
    Error::Conflict { first, second, needs: true }.into()
}
