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
        if choice.is_empty() && !self.has_cuda() {
            return "all precisions".to_owned();
        }
        listed(&self.swept(choice))
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
    let why = format!(
        "A product of more than {} is measured in {} only",
        tokens(device.most_tokens()),
        device.matrix_formats()
    );
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
pub(super) mod tests {
    use super::*;

    fn session() -> DaemonSession {
        DaemonSession::simulated(Vec::new(), "", "")
    }

    /// The device of a daemon that tells nothing.
    pub(in crate::state::measure) fn untold() -> MeasuredDevice {
        MeasuredDevice::of(&session(), "").expect("a device")
    }

    /// A device that tells kernels, each with its formats, and packs weights for up to 16 tokens.
    pub(in crate::state::measure) fn told(kernels: &[(&str, &[&str])]) -> MeasuredDevice {
        let kernel = |(kernel, formats): &(&str, &[&str])| KernelAbility {
            kernel: (*kernel).to_owned(),
            formats: formats.iter().map(|&key| key.to_owned()).collect(),
            most_tokens: (*kernel == "gemv").then_some(16),
        };
        let mut device = untold();
        device.can.kernels = kernels.iter().map(kernel).collect();
        device
    }

    #[test]
    fn devices_have_the_names_that_the_daemon_tells_and_the_first_is_measured_unless_one_is_wanted()
    {
        let mut session = session();
        let device = |backend: &str| DeviceAbility {
            backend: backend.to_owned(),
            index: 0,
            kernels: Vec::new(),
        };
        let devices = vec![device("cpu"), device("cuda"), device("npu")];
        session.can = Some(Arc::new(Abilities { devices, ..Abilities::default() }));
        let named = |backend: &str, name: &str| device::DeviceName {
            backend: backend.to_owned(),
            index: 0,
            name: name.to_owned(),
            catalog_key: None,
        };
        session.devices = vec![named("cpu", "a processor"), named("cuda", "a card")];
        let names: Vec<String> =
            MeasuredDevice::all(&session).into_iter().map(|device| device.name).collect();
        assert_eq!(names, ["a processor", "a card", "npu:0"]);
        for (wanted, name, backend) in [
            ("", "a processor", None),
            ("cuda:0", "a card", Some("cuda:0")),
            ("cuda:7", "a processor", None),
        ] {
            let found = MeasuredDevice::of(&session, wanted).expect("a device");
            let order = found.order(BenchKind::Flops, Vec::new());
            assert_eq!((&*found.name, order.backend.as_deref()), (name, backend), "{wanted}");
        }
        session.can = Some(Arc::default());
        assert_eq!(MeasuredDevice::of(&session, ""), None);
    }

    #[test]
    fn a_gpu_sweeps_tokens_sides_and_formats_of_its_own() {
        let all = ["fp32", "fp16", "fp8_e4m3", "int8", "int4_g128", "nf4", "nvfp4"];
        let mut gpu = told(&[("gemv", &all), ("gemm", &["fp16", "int8"])]);
        let lines = |device: &MeasuredDevice| shapes(&device.sweep(), &LIMITS).expect("shapes");
        assert_eq!((lines(&gpu).len(), caution(Some(&gpu)), caution(None)), (5, "", ""));
        assert_eq!(gpu.swept_words(""), "all precisions");
        gpu.can.backend = "cuda".to_owned();
        let found = lines(&gpu);
        assert_eq!(found.len(), 12);
        assert_eq!(found[4], Shape { m: 16, n: 4096, k: 4096 });
        assert_eq!(gpu.swept_words(""), "FP16, FP8 E4M3, INT8, INT4 g128 and NVFP4");
        assert_eq!(gpu.swept("nf4"), ["nf4"], "another one that is chosen");
        let (orders, left_out) = jobs(&found, "", &gpu).expect("two jobs");
        let sizes: Vec<(usize, usize)> =
            orders.iter().map(|job| (job.shapes.len(), job.formats.len())).collect();
        assert_eq!((sizes, &*left_out), (vec![(6, 5), (6, 2)], ""));
        assert!(caution(Some(&gpu)).contains("untested on hardware"));
    }

    #[test]
    fn a_side_is_no_larger_than_the_daemon_takes() {
        let mut small = untold();
        small.limits.dimension = 1024;
        let mut inputs = Inputs::default();
        for (n, fault) in [
            ("1024", None),
            ("1025", Some("N must be at most 1\u{202f}024 where it is measured.")),
            ("12x", Some("N must be")),
        ] {
            inputs.typed.set(Field::N, n.to_owned());
            let found = side_fault(&inputs, Some(&small), Field::N);
            assert_eq!(found.is_some(), fault.is_some(), "{n}");
            let said = found.unwrap_or_default();
            assert!(said.starts_with(fault.unwrap_or_default()), "{said}");
        }
        inputs.typed.set(Field::N, "65537".to_owned());
        assert!(side_fault(&inputs, None, Field::N).is_some(), "the limit of this version");
        assert_eq!(inputs.typed.fault(Op::Gemm, Field::N), None, "a side that can be calculated");
    }

    #[test]
    fn the_daemon_says_which_formats_there_are() {
        let untold = untold();
        let all = untold.formats(BenchKind::Gemv);
        assert!(all.iter().all(|format| catalog::format(&format.key).is_ok()), "{all:?}");
        assert_eq!(untold.chosen(BenchKind::Gemv, "").len(), all.len());
        assert_eq!(untold.chosen(BenchKind::Gemv, "int8"), ["int8"]);
        let later = told(&[("gemv", &["int8", "int1_g9"])]);
        let names: Vec<String> =
            later.formats(BenchKind::Gemv).into_iter().map(|format| format.name).collect();
        assert_eq!(names, ["INT8", "int1_g9"], "one of a later version has its key");
        let (jobs, _) = jobs(&[Shape { m: 1, n: 64, k: 64 }], "", &later).expect("one job");
        assert_eq!(jobs[0].formats, ["int8", "int1_g9"]);
    }

    #[test]
    fn lines_are_shapes() {
        let read = shapes(" 1 4096 4096\n\n512x1e3×64 ", &LIMITS).expect("two shapes");
        assert_eq!(read, [Shape { m: 1, n: 4096, k: 4096 }, Shape { m: 512, n: 1000, k: 64 }]);
        for (text, part) in [
            ("", "At least one"),
            ("1 2", "`1 2` is no shape"),
            ("1 2 3 4", "no shape"),
            ("1 2 0", "from 1 to"),
            ("1 2 65537", "no shape"),
            ("a b c", "no shape"),
        ] {
            let error = shapes(text, &LIMITS).expect_err("refused");
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn products_with_packed_weights_and_of_plain_matrices_are_jobs_of_their_own() {
        let kinds = |device: &MeasuredDevice, text: &str| -> Vec<(BenchKind, usize)> {
            let shapes = shapes(text, &LIMITS).expect("shapes");
            let (both, left_out) = jobs(&shapes, "int8", device).expect("few");
            assert_eq!(left_out, "");
            both.iter().map(|job| (job.what, job.shapes.len())).collect()
        };
        let (gemv, gemm) = (BenchKind::Gemv, BenchKind::Gemm);
        assert_eq!(kinds(&untold(), SWEEP), [(gemv, 3), (gemm, 2)]);
        assert_eq!(kinds(&untold(), "2 8 8"), [(gemm, 1)], "the first daemons pack for one token");
        let told = told(&[("gemv", &["int8"]), ("gemm", &["fp32", "int8"])]);
        assert_eq!(kinds(&told, "2 8 8\n16 8 8\n17 8 8"), [(gemv, 2), (gemm, 1)]);
        let two = [Shape { m: 2, n: 1, k: 1 }];
        let (all, _) = jobs(&two, "", &untold()).expect("two formats");
        assert_eq!(all[0].formats, untold().keys(gemm));
        let in_nf4 = |text| jobs(&shapes(text, &LIMITS).expect("shapes"), "nf4", &untold());
        let refused = in_nf4("512 8 8\n512 8 16").expect_err("none");
        assert!(refused.contains("more than one token is measured in FP32 and INT8"), "{refused}");
        for (text, said) in [
            (SWEEP, "2 shapes are left out. A product of more than one token is measured in"),
            ("1 8 8\n2 8 8", "One shape is left out. A product"),
        ] {
            let (kept, left_out) = in_nf4(text).expect("some");
            assert_eq!(kept.iter().map(|job| job.what).collect::<Vec<_>>(), [gemv], "{text}");
            assert!(left_out.starts_with(said), "{left_out}");
        }
        let many = vec![Shape { m: 1, n: 1, k: 1 }; LIMITS.points as usize];
        assert!(jobs(&many, "", &untold()).expect_err("too many").contains("at most"));
    }
}
