//! Reads files of published measurements. A row that cannot be used is named with its line and the reason; the others stay.

use std::borrow::Cow;
use std::collections::HashMap;

use calc_core::analysis::Operator;
use calc_core::calibration::Engine;
use calc_core::catalog;
use calc_core::cost::attention::AttentionShape;
use calc_core::cost::gemm::GemmShape;
use calc_core::device::{Device, PowerMode};
use calc_core::estimate::WeightSize;
use calc_core::lowering::Phase;
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::units::{Bytes, BytesPerSec, Seconds};
use report::words::core_error;

use crate::row::{OperatorWork, Row, StepWork, Tier, Work};

/// What a file holds.
#[derive(Debug, Default)]
pub struct File {
    /// Rows that can be scored.
    pub rows: Vec<Row>,
    /// Rows without a time: ceilings, which say nothing of a prediction.
    pub ceilings: usize,
    /// Rows that cannot be used: line and reason.
    pub refused: Vec<(u64, String)>,
}

/// Columns that a file of steps must have, and one of operators.
const STEP_COLUMNS: [&str; 7] =
    ["device_key", "engine", "model_key", "weight_format", "phase", "batch", "value_ms"];
const OPERATOR_COLUMNS: [&str; 4] = ["device_key", "engine", "op", "latency_us"];

/// Reads a file of steps or of operators; its head says which.
///
/// # Errors
/// A file that is no table, or lacks columns.
pub fn read(text: &str) -> Result<File, String> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let head = reader.headers().map_err(|error| error.to_string())?.clone();
    let names: HashMap<String, usize> =
        head.iter().enumerate().map(|(at, name)| (name.trim().to_owned(), at)).collect();
    let is_operators = ["op", "latency_us"].iter().any(|name| names.contains_key(*name));
    let needed: &[&str] = if is_operators { &OPERATOR_COLUMNS } else { &STEP_COLUMNS };
    let missing: Vec<&str> =
        needed.iter().copied().filter(|name| !names.contains_key(*name)).collect();
    if !missing.is_empty() {
        return Err(format!("columns are missing: {}", missing.join(", ")));
    }
    let mut file = File::default();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                file.refused.push((line, error.to_string()));
                continue;
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        let cells = Cells { names: &names, record: &record, line };
        let row = if is_operators { operator(&cells) } else { step(&cells).map(Some) };
        match row {
            Ok(Some(row)) => file.rows.push(row),
            Ok(None) => file.ceilings += 1,
            Err(reason) => file.refused.push((line, reason)),
        }
    }
    Ok(file)
}

struct Cells<'a> {
    names: &'a HashMap<String, usize>,
    record: &'a csv::StringRecord,
    line: u64,
}

impl Cells<'_> {
    /// A cell; empty where the column or the cell is not there.
    fn text(&self, name: &str) -> &str {
        let at = self.names.get(name);
        at.and_then(|at| self.record.get(*at)).map_or("", str::trim)
    }

    fn number(&self, name: &str) -> Result<Option<f64>, String> {
        let text = self.text(name);
        if text.is_empty() {
            return Ok(None);
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 => Ok(Some(value)),
            Ok(_) => Err(format!("{name} must be above 0; got `{text}`")),
            Err(error) => Err(format!("{name} must be a number; got `{text}` ({error})")),
        }
    }

    fn count(&self, name: &str, least: u64) -> Result<Option<u64>, String> {
        let text = self.text(name);
        if text.is_empty() {
            return Ok(None);
        }
        // Spreadsheets write 4096.0, and a mean context may have a fraction.
        let value: f64 = text
            .parse()
            .map_err(|error| format!("{name} must be a whole number; got `{text}` ({error})"))?;
        if value.fract() != 0.0 && name != "context_len" {
            return Err(format!("{name} must be a whole number; got `{text}`"));
        }
        if value.is_finite() && value >= least as f64 && value <= 1e12 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
            let count = value.round() as u64;
            return Ok(Some(count));
        }
        Err(format!("{name} must be from {least}; got `{text}`"))
    }

    fn required(&self, name: &str) -> Result<u64, String> {
        self.count(name, 1)?.ok_or_else(|| format!("{name} is missing"))
    }

    fn format(&self, name: &str) -> Result<Option<&'static QuantFormat>, String> {
        let key = self.text(name);
        if key.is_empty() {
            return Ok(None);
        }
        catalog::format(key).map(Some).map_err(|error| core_error(&error))
    }

    fn device(&self) -> Result<Cow<'static, Device>, String> {
        let device =
            catalog::device(self.text("device_key")).map_err(|error| core_error(&error))?;
        // A card of the same chip with slower memory says so in a column of its own.
        let Some(bandwidth) = self.number("bandwidth_gb_s")? else {
            return Ok(Cow::Borrowed(device));
        };
        let mut own = device.clone();
        own.bandwidth.value = BytesPerSec::from_gb(bandwidth);
        Ok(Cow::Owned(own))
    }

    fn tier(&self) -> Result<Tier, String> {
        match self.text("tier") {
            "A" | "" => Ok(Tier::A),
            "B" => Ok(Tier::B),
            "C" => Ok(Tier::C),
            other => Err(format!("tier must be A, B or C; got `{other}`")),
        }
    }

    /// The mode, where it is one of the device's with known clocks. A cap is not a mode: it holds for the whole board.
    fn mode(&self, device: &Device) -> Result<Option<PowerMode>, String> {
        let name = self.text("power_mode");
        if name.is_empty() || name.contains("cap") {
            return Ok(None);
        }
        let mode = device.power_mode(name).map_err(|error| core_error(&error))?;
        Ok((mode.gpu_clock.is_some() && mode.active_sm.is_some()).then(|| mode.clone()))
    }

    fn row(&self, work: Work, measured: Seconds) -> Result<Row, String> {
        let device = self.device()?;
        let mode = self.mode(&device)?;
        let engine_text = self.text("engine").to_owned();
        let group = match self.text("group") {
            "" => format!("{}|{}|{engine_text}", device.key, self.text("model_key")),
            group => group.to_owned(),
        };
        let id = match self.text("id") {
            "" => format!("line {}", self.line),
            id => id.to_owned(),
        };
        Ok(Row {
            id,
            line: self.line,
            tier: self.tier()?,
            mode,
            device,
            engine: engine(&engine_text),
            engine_text,
            group,
            work,
            measured,
            source: self.text("source").to_owned(),
        })
    }
}

/// The profile of an engine; `None` for programs that have none.
fn engine(text: &str) -> Option<Engine> {
    let name = text.strip_suffix("-vulkan").unwrap_or(text);
    Engine::ALL.iter().find(|(key, _)| *key == name).map(|(_, engine)| *engine)
}

fn step(cells: &Cells<'_>) -> Result<Row, String> {
    let device = cells.device()?;
    let model = catalog::model(cells.text("model_key")).map_err(|error| core_error(&error))?;
    let weights =
        cells.format("weight_format")?.ok_or_else(|| "weight_format is missing".to_owned())?;
    let phase = match cells.text("phase") {
        "decode" => Phase::Decode,
        "prefill" => Phase::Prefill,
        other => return Err(format!("phase must be decode or prefill; got `{other}`")),
    };
    let time = cells.number("value_ms")?.ok_or_else(|| "value_ms is missing".to_owned())?;
    let context = cells.count("context_len", 0)?.unwrap_or(0);
    let (new, cached) = match phase {
        Phase::Prefill => (cells.required("prompt_len")?, context),
        Phase::Decode => (1, context),
    };
    let total = cells.number("weight_gb_total")?.map(|gb| WeightSize::Total(Bytes::from_gb(gb)));
    // A GGUF name means the file, as it does in every verb.
    let bits = cells.number("weight_bits_effective")?.or(weights.file_bits);
    let bits = bits.map(WeightSize::BitsPerWeight);
    let work = StepWork {
        model: model.key,
        arch: &model.arch,
        format: cells.text("weight_format").to_owned(),
        precision: precision(cells, &device, model.key, weights)?,
        // MLC's mean leaves out a tied embedding, which stays in 16 bits.
        weight_size: total
            .or(bits.filter(|_| !(cells.text("engine") == "mlc" && model.arch.tied_embeddings))),
        streamed: cells.number("weight_gb_streamed")?.map(Bytes::from_gb),
        phase,
        batch: cells.required("batch")?,
        new,
        cached,
        without_head: cells.text("lm_head") == "skipped",
    };
    cells.row(Work::Step(Box::new(work)), Seconds::new(time * 1e-3))
}

/// The formats of a step: what the row says, and for the rest what the engine does with such files.
fn precision(
    cells: &Cells<'_>,
    device: &Device,
    model: &str,
    weights: &'static QuantFormat,
) -> Result<PrecisionChoice, String> {
    let has = |class: ComputeClass| device.peaks.0[class.index()].is_some();
    let named = |key: &str| catalog::format(key).ok();
    let engine = cells.text("engine");
    let is_gpt_oss = model.starts_with("gpt-oss");
    let is_file = weights.key.starts_with("gguf");
    let native = ["vllm", "tensorrt-llm", "tensorrt-edge-llm", "sglang"].contains(&engine);
    let mut activations = cells.format("activation_format")?;
    if activations.is_none() && has(ComputeClass::Fp4) && native {
        activations = match (weights.key, is_gpt_oss) {
            ("nvfp4" | "mxfp4", false) => Some(weights),
            ("mxfp4", true) if engine == "tensorrt-llm" => named("mxfp8"),
            _ => None,
        };
    }
    if activations.is_none() && is_file {
        activations = named("int8");
    }
    if activations.is_some_and(|format| format.key == "int8") && !has(ComputeClass::Int8) {
        activations = None;
    }
    // gpt-oss stores its experts in MXFP4, and everything else wider.
    let (layers, experts) = match (is_gpt_oss, weights.key) {
        (true, "gguf_mxfp4") => (named("gguf_q8_0").unwrap_or(weights), Some(weights)),
        (true, "mxfp4") => (named("bf16").unwrap_or(weights), Some(weights)),
        _ => (weights, None),
    };
    let mixed = cells.number("weight_gb_total")?.is_some();
    let embedding = if !is_file {
        let untied = catalog::model(model).is_ok_and(|model| !model.arch.tied_embeddings);
        let mean_known = cells.number("weight_bits_effective")?.is_some();
        (untied && mean_known).then_some(layers)
    } else if mixed || matches!(weights.key, "gguf_q8_0" | "gguf_mxfp4") {
        named("gguf_q8_0")
    } else {
        named("gguf_q6_k")
    };
    Ok(PrecisionChoice {
        weights: layers,
        activations,
        kv_cache: cells.format("kv_format")?,
        embedding,
        experts,
    })
}

/// An operator; `None` for a row without a time.
fn operator(cells: &Cells<'_>) -> Result<Option<Row>, String> {
    let Some(time) = cells.number("latency_us")? else { return Ok(None) };
    let scheme = cells.text("scheme");
    let (operator, precision) = match cells.text("op") {
        "gemm" => {
            let shape = GemmShape {
                m: cells.required("m")?,
                n: cells.required("n")?,
                k: cells.required("k")?,
            };
            (Operator::Gemm(shape), product_formats(cells, scheme)?)
        }
        phase @ ("attention_decode" | "attention_prefill") => {
            let (heads, dim, context) =
                (cells.required("heads")?, cells.required("head_dim")?, cells.required("ctx")?);
            let (new, cached) =
                if phase == "attention_decode" { (1, context - 1) } else { (context, 0) };
            let shape = AttentionShape {
                batch: cells.required("batch")?,
                heads,
                kv_heads: cells.count("kv_heads", 1)?.unwrap_or(heads),
                qk_dim: dim,
                v_dim: dim,
                new,
                cached,
                window: None,
            };
            let narrow = cells.format("format")?.filter(|format| format.bits_per_element() < 12.0);
            let half = catalog::format("bf16").map_err(|error| core_error(&error))?;
            let precision = PrecisionChoice { kv_cache: narrow, ..PrecisionChoice::weights(half) };
            (Operator::Attention { shape, fused: true }, precision)
        }
        other => {
            return Err(format!(
                "op must be gemm, attention_decode or attention_prefill; got `{other}`"
            ));
        }
    };
    let work = OperatorWork {
        operator,
        format: cells.text("format").to_owned(),
        precision,
        block_scaled: scheme == "fp8_block",
    };
    cells.row(Work::Operator(work), Seconds::new(time * 1e-6)).map(Some)
}

fn product_formats(cells: &Cells<'_>, scheme: &str) -> Result<PrecisionChoice, String> {
    let weights = cells.format("format")?.ok_or_else(|| "format is missing".to_owned())?;
    let input = match scheme {
        "bfloat16" | "float16" | "int8_wo" | "int4_wo" => None,
        "sq" => catalog::format("int8").ok(),
        "fp8" | "fp8_block" => catalog::format("fp8_e4m3").ok(),
        "nvfp4" => catalog::format("nvfp4").ok(),
        _ => weights.class.map(|_| weights),
    };
    Ok(PrecisionChoice { activations: input, ..PrecisionChoice::weights(weights) })
}
