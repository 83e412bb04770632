//! Reads files of published measurements. An unusable row is reported with its line and the reason; the others are kept.

use std::borrow::Cow;
use std::collections::HashMap;

use calc_core::calibration::Engine;
use calc_core::catalog::{self, formats};
use calc_core::device::{Device, PowerMode};
use calc_core::lowering::Phase;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::units::{BytesPerSec, Seconds};
use report::input::request::{AnalyzeInputs, EstimateInputs, Fields, Library, RequestError};
use report::output::words::core_error;

use crate::row::{OperatorWork, PublishedRow, StepWork, Tier, Work};

/// The rows of a file, and the refused ones.
#[derive(Debug, Default)]
pub struct File {
    /// Rows that can be scored.
    pub rows: Vec<PublishedRow>,
    /// Number of rows without a time: ceilings, which do not test a prediction.
    pub ceilings: usize,
    /// Unusable rows: line and reason.
    pub refused: Vec<(u64, String)>,
}

/// Range of times and rates in their units. Beyond it they are mistakes, and in base units no numbers at all.
const LEAST: f64 = 1e-12;
const MOST: f64 = 1e15;
/// Required columns of a file of steps, and of one of operators.
const STEP_COLUMNS: [&str; 7] =
    ["device_key", "engine", "model_key", "weight_format", "phase", "batch", "value_ms"];
const OPERATOR_COLUMNS: [&str; 4] = ["device_key", "engine", "op", "latency_us"];

/// Reads a file of steps or of operators, distinguished by the header.
///
/// # Errors
/// A file that is not a table, or lacks columns.
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
    /// A cell's text; empty if the column or the cell is missing.
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
            Ok(value) if (LEAST..=MOST).contains(&value) => Ok(Some(value)),
            Ok(value) if value <= 0.0 => Err(format!("{name} must be above 0; got `{text}`")),
            Ok(_) => Err(format!("{name} must be from {LEAST:e} to {MOST:e}; got `{text}`")),
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

    /// Request fields for the non-empty cells.
    fn given<const N: usize>(
        &self,
        columns: [(&'static str, &str); N],
    ) -> Vec<(&'static str, String)> {
        let cell = |(key, column)| (key, self.text(column).to_owned());
        columns.map(cell).into_iter().filter(|(_, text)| !text.is_empty()).collect()
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
        // A card with the same chip and slower memory has its bandwidth in a separate column.
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

    /// The power mode, if it is one of the device's with known clocks. A power cap is not a mode: it applies to the whole board.
    fn mode(&self, device: &Device) -> Result<Option<PowerMode>, String> {
        let name = self.text("power_mode");
        if name.is_empty() || name.contains("cap") {
            return Ok(None);
        }
        let mode = device.power_mode(name).map_err(|error| core_error(&error))?;
        Ok((mode.gpu_clock.is_some() && mode.active_sm.is_some()).then(|| mode.clone()))
    }

    /// Builds a row from a request without device, mode and engine.
    fn row(&self, request: Request, measured: Seconds) -> Result<PublishedRow, String> {
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
        let engine = engine(&engine_text);
        let Request { mut fields, format, phase } = request;
        fields.push(("hardware", device.key.to_string()));
        fields.extend(mode.as_ref().map(|mode| ("power_mode", mode.name.to_string())));
        fields.extend(engine.map(|engine| ("engine", engine.key().to_owned())));
        let texts = fields.iter().map(|(key, text)| (*key, text.as_str()));
        let (request, library) = (Fields::from_texts(texts), &Library::CATALOGS);
        let refused = |error: RequestError| error.to_string();
        let work = if let Some(phase) = phase {
            let mut inputs = EstimateInputs::parse(request, library).map_err(refused)?;
            inputs.device.clone_from(&device);
            Work::Step(Box::new(StepWork { inputs, format, phase }))
        } else {
            let mut inputs = AnalyzeInputs::parse(request, library).map_err(refused)?;
            inputs.device.clone_from(&device);
            Work::Operator(Box::new(OperatorWork { inputs, format }))
        };
        Ok(PublishedRow {
            id,
            line: self.line,
            tier: self.tier()?,
            mode,
            device,
            engine,
            engine_text,
            group,
            request: fields,
            work,
            measured,
            source: self.text("source").to_owned(),
        })
    }
}

/// A row as a request to `estimate` or `analyze`.
struct Request {
    /// Flags with their values.
    fields: Vec<(&'static str, String)>,
    /// Key of the weights' format, as published.
    format: String,
    /// Phase of a step; `None` for an operator.
    phase: Option<Phase>,
}

/// The engine whose factors apply; `None` for programs without factors.
fn engine(text: &str) -> Option<Engine> {
    let name = text.strip_suffix("-vulkan").unwrap_or(text);
    Engine::ALL.iter().find(|(key, _)| *key == name).map(|(_, engine)| *engine)
}

fn step(cells: &Cells<'_>) -> Result<PublishedRow, String> {
    let phase = match cells.text("phase") {
        "decode" => Phase::Decode,
        "prefill" => Phase::Prefill,
        other => return Err(format!("phase must be decode or prefill; got `{other}`")),
    };
    let format = cells.text("weight_format").to_owned();
    if format.is_empty() {
        return Err("weight_format is missing".to_owned());
    }
    let time = cells.number("value_ms")?.ok_or_else(|| "value_ms is missing".to_owned())?;
    let context = cells.count("context_len", 0)?.unwrap_or(0);
    let mut fields = cells.given([
        ("model", "model_key"),
        ("weights", "weight_format"),
        ("kv", "kv_format"),
        ("activations", "activation_format"),
        ("embedding", "embedding_format"),
    ]);
    // Published NVFP4 checkpoints quantize their activations; engines compute in FP4 where the device does.
    if format == formats::NVFP4.key
        && cells.text("activation_format").is_empty()
        && engine(cells.text("engine")).is_some()
        && cells.device()?.peaks.get(ComputeClass::Fp4).is_some()
    {
        fields.push(("activations", format.clone()));
    }
    fields.push(("batch", cells.required("batch")?.to_string()));
    match phase {
        Phase::Prefill => {
            fields.push(("prompt", cells.required("prompt_len")?.to_string()));
            fields.push(("cached_prefix", context.to_string()));
        }
        Phase::Decode => {
            fields.push(("prompt", context.max(1).to_string()));
            fields.push(("context", context.to_string()));
        }
    }
    if cells.text("lm_head") == "skipped" {
        fields.push(("inner_chunk", "true".to_owned()));
    }
    // Streamed bytes describe a step most precisely; the size of the file describes it better than its mean bits.
    for (key, column) in [
        ("streamed_gb", "weight_gb_streamed"),
        ("weight_gb", "weight_gb_total"),
        ("weight_bits", "weight_bits_effective"),
    ] {
        if let Some(value) = cells.number(column)? {
            fields.push((key, value.to_string()));
            break;
        }
    }
    cells.row(Request { fields, format, phase: Some(phase) }, Seconds::new(time * 1e-3))
}

/// Reads an operator; `None` for a row without a time.
fn operator(cells: &Cells<'_>) -> Result<Option<PublishedRow>, String> {
    let Some(time) = cells.number("latency_us")? else { return Ok(None) };
    let mut fields = match cells.text("op") {
        "gemm" => product(cells)?,
        phase @ ("attention_decode" | "attention_prefill") => attention(cells, phase)?,
        other => {
            return Err(format!(
                "op must be gemm, attention_decode or attention_prefill; got `{other}`"
            ));
        }
    };
    fields.retain(|(_, text)| !text.is_empty());
    let format = cells.text("format").to_owned();
    let request = Request { fields, format, phase: None };
    cells.row(request, Seconds::new(time * 1e-6)).map(Some)
}

/// A matrix multiplication, and the format in which its scheme reads the input.
fn product(cells: &Cells<'_>) -> Result<Vec<(&'static str, String)>, String> {
    let weights = cells.format("format")?.ok_or_else(|| "format is missing".to_owned())?;
    let input = match cells.text("scheme") {
        "bfloat16" | "float16" | "int8_wo" | "int4_wo" => "",
        "sq" => "int8",
        "fp8" => "fp8_e4m3",
        "nvfp4" => "nvfp4",
        _ => weights.class.map_or("", |_| weights.key),
    };
    let mut fields = vec![("op", "gemm".to_owned())];
    for (key, column) in [("m", "m"), ("n", "n"), ("k", "k")] {
        fields.push((key, cells.required(column)?.to_string()));
    }
    fields.push(("weights", weights.key.to_owned()));
    fields.push(("activations", input.to_owned()));
    Ok(fields)
}

/// Attention; its format is that of the cache if the cache is narrow.
fn attention(cells: &Cells<'_>, phase: &str) -> Result<Vec<(&'static str, String)>, String> {
    let (heads, context) = (cells.required("heads")?, cells.required("ctx")?);
    let (new, cached) = if phase == "attention_decode" { (1, context - 1) } else { (context, 0) };
    let narrow = cells.format("format")?.filter(|format| format.bits_per_element() < 12.0);
    let counts = [
        ("batch", cells.required("batch")?),
        ("heads", heads),
        ("kv_heads", cells.count("kv_heads", 1)?.unwrap_or(heads)),
        ("head_dim", cells.required("head_dim")?),
        ("new", new),
        ("cached", cached),
    ];
    let mut fields = vec![("op", "attention".to_owned()), ("activations", "bf16".to_owned())];
    fields.extend(counts.map(|(key, count)| (key, count.to_string())));
    fields.extend(narrow.map(|format| ("kv", format.key.to_owned())));
    Ok(fields)
}
