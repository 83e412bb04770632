//! Requests of the verb `analyze`: one operator on one device.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::analysis::{
    Analysis, AnalyzeRequest, FeedForwardShape, MoeShape, Operator, analyze,
};
use calc_core::calibration::{Calibration, Engine};
use calc_core::cost::attention::AttentionShape;
use calc_core::cost::gemm::GemmShape;
use calc_core::device::Device;
use calc_core::error::Error;
use calc_core::model_arch::Reach;
use calc_core::precision::PrecisionChoice;
use calc_core::roofline::Roofs;

use super::{
    Fields, Library, PrecisionFields, RequestError, calibration_field, engine_field, in_force,
    is_count, power_mode, precision_fields,
};

/// Operator of a request, with its dimensions.
pub type Shape = Operator;

/// Names of operators in requests.
const OPERATORS: [&str; 9] =
    ["gemm", "gemv", "attention", "kv_append", "add_norm", "norm", "activation", "ffn", "moe"];

/// A request about one operator with device, formats and files resolved.
#[derive(Debug, Clone)]
pub struct AnalyzeInputs {
    pub device: Cow<'static, Device>,
    pub power_mode: Option<String>,
    pub operator: Operator,
    pub precision: PrecisionChoice,
    pub engine: Option<Engine>,
    /// User's measurements; `None` uses the model fitted on published measurements.
    pub calibration: Option<Arc<Calibration>>,
    /// Notes on ambiguous format names and the format chosen for each.
    pub taken: Vec<String>,
}

impl AnalyzeInputs {
    /// Parses the fields of `analyze`.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn parse(mut fields: Fields, library: &Library<'_>) -> Result<Self, RequestError> {
        let device = library.device(&fields.required_text("hardware")?)?;
        let mode = fields.text("power_mode")?;
        let (operator, takes) = operator_and_fields(&mut fields)?;
        let needs_weights = operator.has_weights();
        let mode = power_mode(&device, mode.as_deref())?;
        // Operators without weights run in half precision unless the request names a format.
        let half = PrecisionChoice::weights(Roofs::new(&device, mode)?.half());
        let weights_given = fields.has("weights");
        let PrecisionFields { choice: mut precision, taken, .. } =
            precision_fields(&mut fields, (!needs_weights).then_some(half))?;
        if !weights_given {
            // Keeps a default for the weights from being taken for one that the request named.
            precision.weights = precision.activations.unwrap_or(precision.weights);
        }
        let engine = engine_field(&mut fields)?;
        let calibration = calibration_field(&mut fields, library, &device)?;
        fields.finish().map_err(|error| of_operator(error, &takes))?;
        let mode = mode.map(|mode| mode.name.to_string());
        Ok(Self { device, power_mode: mode, operator, precision, engine, calibration, taken })
    }

    /// The request in the types of `calc-core`.
    ///
    /// # Errors
    /// A power mode that the device does not have.
    pub fn request(&self) -> Result<AnalyzeRequest<'_>, RequestError> {
        let mode = power_mode(&self.device, self.power_mode.as_deref())?;
        let (operator, precision, engine) = (self.operator, self.precision, self.engine);
        Ok(AnalyzeRequest {
            device: &self.device,
            mode,
            operator,
            precision,
            engine,
            calibration: in_force(self.calibration.as_ref()),
        })
    }

    /// Computes the analysis.
    ///
    /// # Errors
    /// Every refusal of `calc-core`.
    pub fn analyze(&self) -> Result<Analysis, RequestError> {
        Ok(analyze(&self.request()?)?)
    }
}

/// Name of an operator and the keys of its own fields.
struct Takes {
    operator: String,
    fields: Vec<&'static str>,
}

fn operator_and_fields(fields: &mut Fields) -> Result<(Operator, Takes), RequestError> {
    let name = fields.text("op")?.unwrap_or_else(|| "gemm".into());
    let before = fields.asked().len();
    let operator = operator(fields, &name)?;
    let mut own = fields.asked()[before..].to_vec();
    own.sort_unstable();
    own.dedup();
    Ok((operator, Takes { operator: name.to_ascii_lowercase(), fields: own }))
}

/// Turns "unknown field" into "not a field of this operator" where another operator has that field.
fn of_operator(error: RequestError, takes: &Takes) -> RequestError {
    match error {
        RequestError::UnknownField { key, .. }
            if is_count(&key) || ["plain", "unfused"].contains(&&*key) =>
        {
            let Takes { operator, fields } = takes;
            RequestError::NotOfOperator { key, operator: operator.clone(), takes: fields.clone() }
        }
        other => other,
    }
}

fn operator(fields: &mut Fields, name: &str) -> Result<Operator, RequestError> {
    match name.to_ascii_lowercase().as_str() {
        "gemm" => {
            let (m, n, k) = (
                fields.required_count("m")?,
                fields.required_count("n")?,
                fields.required_count("k")?,
            );
            Ok(Operator::Gemm(GemmShape { m, n, k }))
        }
        "gemv" => {
            let m = fields.count("m")?.unwrap_or(1);
            let (n, k) = (fields.required_count("n")?, fields.required_count("k")?);
            Ok(Operator::Gemm(GemmShape { m, n, k }))
        }
        "attention" => attention(fields),
        "kv_append" => {
            let kv_heads = fields.required_count("kv_heads")?;
            let head_dim = fields.required_count("head_dim")?;
            let tokens = tokens(fields)?;
            Ok(Operator::KvAppend {
                elements: kv_heads.saturating_mul(head_dim).saturating_mul(2),
                tokens,
            })
        }
        "add_norm" => Ok(Operator::AddNorm {
            tokens: tokens(fields)?,
            hidden: fields.required_count("hidden")?,
        }),
        "norm" => {
            Ok(Operator::Norm { tokens: tokens(fields)?, hidden: fields.required_count("hidden")? })
        }
        "activation" => {
            let (tokens, width) = (tokens(fields)?, fields.required_count("width")?);
            Ok(Operator::Activation { tokens, width, gated: !fields.flag("plain")? })
        }
        "ffn" => Ok(Operator::FeedForward(FeedForwardShape {
            tokens: tokens(fields)?,
            hidden: fields.required_count("hidden")?,
            intermediate: fields.required_count("width")?,
            gated: !fields.flag("plain")?,
        })),
        "moe" => Ok(Operator::MixtureOfExperts(MoeShape {
            tokens: tokens(fields)?,
            hidden: fields.required_count("hidden")?,
            expert_width: fields.required_count("width")?,
            experts: fields.required_count("n_experts")?,
            per_token: fields.required_count("per_token")?,
            gated: !fields.flag("plain")?,
            shared_width: fields.count("shared_width")?.unwrap_or(0),
        })),
        _ => {
            let value = name.to_owned();
            Err(RequestError::NotOneOf { key: "op", value, allowed: OPERATORS.to_vec() })
        }
    }
}

/// Number of tokens of an operator whose rows are tokens; `m` is accepted as an alias.
fn tokens(fields: &mut Fields) -> Result<u64, RequestError> {
    match (fields.count("tokens")?, fields.count("m")?) {
        (Some(tokens), None) | (None, Some(tokens)) => Ok(tokens),
        (Some(_), Some(_)) => {
            Err(Error::Conflict { first: "tokens", second: "m", needs: false }.into())
        }
        (None, None) => fields.required_count("tokens"),
    }
}

fn attention(fields: &mut Fields) -> Result<Operator, RequestError> {
    let heads = fields.required_count("heads")?;
    let head_dim = fields.required_count("head_dim")?;
    let shape = AttentionShape {
        batch: fields.count("batch")?.unwrap_or(1),
        heads,
        kv_heads: fields.count("kv_heads")?.unwrap_or(heads),
        qk_dim: head_dim,
        v_dim: fields.count("v_dim")?.unwrap_or(head_dim),
        new: fields.count("new")?.unwrap_or(1),
        cached: fields.count("cached")?.unwrap_or(0),
        reach: fields.count("window")?.map_or(Reach::All, Reach::Window),
    };
    Ok(Operator::Attention { shape, fused: !fields.flag("unfused")? })
}
