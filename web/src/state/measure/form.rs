//! Orders of measurements: the device that is measured, shapes and formats of products.

use std::sync::Arc;

use calc_core::catalog;
use protocol::ability::{Abilities, DeviceAbility, KernelAbility};
use protocol::bench::{BenchKind, BenchSpec, Shape};
use protocol::device;
use protocol::limits::{LIMITS, Limits};
use report::input::number_input;
use report::number_text;

use crate::link::session::DaemonSession;
use crate::state::inputs::Inputs;
use crate::state::operator::{Field, Op};

/// Default shapes of a sweep: a vector against the matrices of Llama-3.1-8B, then larger products.
pub const SWEEP: &str = "1 4096 4096\n1 14336 4096\n1 4096 14336\n512 4096 4096\n1024 1024 1024";

/// Default sweep of a GPU: tokens, sides of square matrices, and formats where all are chosen.
const GPU_TOKENS: [u64; 4] = [1, 16, 128, 2048];
const GPU_SIDES: [u64; 3] = [2048, 4096, 8192];
const GPU_FORMATS: [&str; 5] = ["fp16", "fp8_e4m3", "nvfp4", "int8", "int4_g128"];

/// Backend of NVIDIA's cards.
const CUDA: &str = "cuda";

/// A format that the connected machine measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredFormat {
    pub key: String,
    /// Its short name in the catalog; the key where this page does not know the format.
    pub name: String,
}

/// The device of a daemon that is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredDevice {
    pub can: DeviceAbility,
    /// Kinds of jobs that its daemon starts.
    pub jobs: Vec<String>,
    /// Name to choose it by: as it reports, else backend and index.
    pub name: String,
    /// Name of the device in orders; `None` for the first one, which is measured where an order names none.
    pub backend: Option<String>,
    pub limits: Limits,
}

impl MeasuredDevice {
    /// The devices of a daemon; those of the first daemons, which tell none, are assumed.
    pub fn all(session: &DaemonSession) -> Vec<Self> {
        let can = session.can.clone().unwrap_or_else(|| Arc::new(Abilities::untold()));
        let devices = can.devices.iter().enumerate().map(|(at, one)| {
            let id = device::id(&one.backend, one.index);
            let named = session.devices.iter().find(|named| named.id() == id);
            let name = named.map(|named| named.name.clone()).filter(|name| !name.is_empty());
            Self {
                can: one.clone(),
                jobs: can.jobs.clone(),
                name: name.unwrap_or_else(|| id.clone()),
                backend: (at > 0).then_some(id),
                limits: session.limits.clone(),
            }
        });
        devices.collect()
    }

    /// The device of a daemon with this name in orders, else its first one.
    pub fn of(session: &DaemonSession, wanted: &str) -> Option<Self> {
        let mut all = Self::all(session);
        let at = all.iter().position(|device| device.backend.as_deref() == Some(wanted));
        (!all.is_empty()).then(|| all.swap_remove(at.unwrap_or(0)))
    }

    /// Whether its daemon starts jobs of a kind.
    pub fn starts(&self, kind: &str) -> bool {
        self.jobs.iter().any(|known| known == kind)
    }

    /// Whether it has a kernel.
    pub fn has(&self, kind: BenchKind) -> bool {
        self.kernel(kind).is_some()
    }

    fn kernel(&self, kind: BenchKind) -> Option<&KernelAbility> {
        self.can.kernels.iter().find(|kernel| kernel.kernel == kind.key())
    }

    /// Keys of the formats of a kernel, widest first; none where it has no such kernel.
    pub fn keys(&self, kind: BenchKind) -> &[String] {
        self.kernel(kind).map_or(&[], |kernel| &kernel.formats)
    }

    /// Most tokens of a product with packed weights.
    pub fn most_tokens(&self) -> u64 {
        self.kernel(BenchKind::Gemv).and_then(|kernel| kernel.most_tokens).unwrap_or(1)
    }

    /// The kernel of a product of so many tokens: with packed weights, or of plain matrices.
    pub fn product(&self, tokens: u64) -> BenchKind {
        if tokens <= self.most_tokens() { BenchKind::Gemv } else { BenchKind::Gemm }
    }

    /// The formats of a kernel, widest first.
    pub fn formats(&self, kind: BenchKind) -> Vec<MeasuredFormat> {
        let format =
            |key: &String| MeasuredFormat { key: key.clone(), name: short_name(key).to_owned() };
        self.keys(kind).iter().map(format).collect()
    }

    /// Whether its kernels are those for CUDA.
    pub fn has_cuda(&self) -> bool {
        self.can.backend == CUDA
    }

    /// Default shapes of a sweep, one per line.
    pub fn sweep(&self) -> String {
        if !self.has_cuda() {
            return SWEEP.to_owned();
        }
        let of = |tokens: u64| GPU_SIDES.map(|side| format!("{tokens} {side} {side}")).join("\n");
        GPU_TOKENS.map(of).join("\n")
    }

    /// Keys of the formats of a sweep. Where all are chosen, a GPU sweeps those that its engines use most.
    pub fn swept(&self, choice: &str) -> Vec<String> {
        let mut keys = self.chosen(BenchKind::Gemv, choice);
        if choice.is_empty() && self.has_cuda() {
            keys.retain(|key| GPU_FORMATS.contains(&&**key));
        }
        keys
    }

    /// The formats of a sweep in words.
    pub fn swept_words(&self, choice: &str) -> String {
        let formats = self.swept(choice);
        let all = choice.is_empty() && !self.has_cuda();
        let words = if all { "all precisions".to_owned() } else { listed(&formats) };
        let matrices = self.keys(BenchKind::Gemm);
        let multiplied: Vec<String> =
            formats.iter().filter(|key| matrices.contains(key)).cloned().collect();
        if multiplied.len() == formats.len() {
            return words;
        }
        format!("{words}; more than {} in {}", tokens(self.most_tokens()), listed(&multiplied))
    }

    /// Keys of the chosen formats of a kernel; an empty choice means all.
    pub fn chosen(&self, kind: BenchKind, choice: &str) -> Vec<String> {
        let keys = self.keys(kind);
        if keys.iter().any(|key| key == choice) { vec![choice.to_owned()] } else { keys.to_vec() }
    }

    /// The order to measure a kernel without problems yet.
    pub fn order(&self, what: BenchKind, formats: Vec<String>) -> BenchSpec {
        BenchSpec {
            what,
            shapes: Vec::new(),
            formats,
            sizes: Vec::new(),
            backend: self.backend.clone(),
            iterations: None,
        }
    }

    /// The formats of products of plain matrices in words.
    pub fn matrix_formats(&self) -> String {
        listed(self.keys(BenchKind::Gemm))
    }
}

/// Short names of formats as a list in words.
fn listed(keys: &[String]) -> String {
    let names: Vec<&str> = keys.iter().map(|key| short_name(key)).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "no precision".to_owned(),
    }
}

/// Caution about kernels that nobody has run on such a device yet; empty for all others.
pub fn caution(device: Option<&MeasuredDevice>) -> &'static str {
    if device.is_some_and(MeasuredDevice::has_cuda) {
        "The kernels for CUDA are untested on hardware: they have run on an emulated driver only. Compare a first result with one that you know."
    } else {
        ""
    }
}

fn short_name(key: &str) -> &str {
    catalog::format(key).map_or(key, |format| format.short_name)
}

/// Parses a shape: three whole numbers, separated by blanks, `x`, `×` or `;`.
fn shape(line: &str, limits: &Limits) -> Option<Shape> {
    let is_between = |letter: char| letter.is_whitespace() || matches!(letter, 'x' | '×' | ';');
    let mut numbers =
        line.split(is_between).filter(|part| !part.is_empty()).map(number_input::count);
    let mut next = || numbers.next()?.filter(|number| (1..=limits.dimension).contains(number));
    let shape = Shape { m: next()?, n: next()?, k: next()? };
    numbers.next().is_none().then_some(shape)
}

/// Parses shapes, one per line.
///
/// # Errors
/// Returns a sentence that quotes the invalid line.
pub fn shapes(text: &str, limits: &Limits) -> Result<Vec<Shape>, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let read = lines.map(|line| {
        shape(line, limits).ok_or_else(|| {
            let line: String = line.chars().take(40).collect();
            let most = number_text::count(limits.dimension);
            format!("`{line}` is no shape; a line has M, N and K, whole numbers from 1 to {most}.")
        })
    });
    let shapes = read.collect::<Result<Vec<_>, _>>()?;
    if shapes.is_empty() {
        return Err("At least one shape is needed: M, N and K on a line.".to_owned());
    }
    Ok(shapes)
}

/// Jobs that measure shapes in one format or in all, and a sentence about the shapes that are left out. Products with packed weights and
/// those of plain matrices are separate jobs, because their kernels differ.
///
/// # Errors
/// Returns a sentence if there are too many points, or if no shape can be measured in the format.
pub fn jobs(
    shapes: &[Shape],
    choice: &str,
    device: &MeasuredDevice,
) -> Result<(Vec<BenchSpec>, String), String> {
    let formats = device.swept(choice);
    let (points, most) = (shapes.len() * formats.len(), device.limits.points);
    if points > most as usize {
        let points = number_text::count(points as u64);
        return Err(format!(
            "{points} points; a sweep has at most {}.",
            number_text::count(most.into())
        ));
    }
    let matrices = device.keys(BenchKind::Gemm);
    let multiplied: Vec<String> =
        formats.iter().filter(|key| matrices.contains(key)).cloned().collect();
    let job = |what, formats| BenchSpec {
        shapes: shapes.iter().copied().filter(|shape| device.product(shape.m) == what).collect(),
        ..device.order(what, formats)
    };
    let jobs = [job(BenchKind::Gemv, formats), job(BenchKind::Gemm, multiplied)];
    let jobs = jobs.into_iter().filter(|job| !job.shapes.is_empty());
    let (jobs, left_out): (Vec<BenchSpec>, Vec<BenchSpec>) =
        jobs.partition(|job| !job.formats.is_empty());
    let Some(left_out) = left_out.first() else { return Ok((jobs, String::new())) };
    let most = tokens(device.most_tokens());
    if device.keys(BenchKind::Gemm).is_empty() && jobs.is_empty() {
        return Err(format!("This device has no products of more than {most}."));
    }
    let why =
        format!("A product of more than {most} is measured in {} only", device.matrix_formats());
    if jobs.is_empty() {
        return Err(format!("{why}; choose one of these, all precisions, or fewer tokens."));
    }
    let count = left_out.shapes.len();
    let shapes = if count == 1 { "One shape is".to_owned() } else { format!("{count} shapes are") };
    Ok((jobs, format!("{shapes} left out. {why}.")))
}

/// Why a side of a product cannot be measured, as a sentence: it is no number of the page, or larger than the daemon takes.
pub fn side_fault(
    inputs: &Inputs,
    device: Option<&MeasuredDevice>,
    field: Field,
) -> Option<String> {
    let most = device.map_or(LIMITS.dimension, |device| device.limits.dimension);
    inputs.typed.fault(Op::Gemm, field).or_else(|| {
        let is_larger = inputs.typed.number(field).is_some_and(|side| side > most);
        is_larger.then(|| {
            let most = number_text::count(most);
            format!("{} must be at most {most} where it is measured.", field.name())
        })
    })
}

/// A number of tokens in words.
pub fn tokens(count: u64) -> String {
    if count == 1 {
        "one token".to_owned()
    } else {
        format!("{} tokens", number_text::count(count))
    }
}

#[cfg(test)]
pub(super) mod tests;
