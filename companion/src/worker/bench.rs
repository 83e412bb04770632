//! A job that times kernels: every shape in every format, a record per point.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kernels::backend::{Backend, Cache, Kernel, Product, Work};
use kernels::cpu::backend::Cpu;
use kernels::cpu::clock::SystemClock;
use kernels::measure::{Plan, StopRule, Stopped};
use kernels::pack::Layout;
use protocol::bench::{BenchKind, BenchRecord, BenchSpec};
use report::json::bench::BenchJson;
use serde_json::{Value, json};

use super::Voice;
use crate::jobs::message::WorkerMessage;
use crate::measure::record;

/// What a point takes: packing, warming up, samples.
const POINT_S: f64 = 5.0;
/// How often the worker says that it lives, and how long it may be between two signs of the kernels.
const BEAT: Duration = Duration::from_secs(2);
const QUIET: Duration = Duration::from_mins(1);
/// Data of every job.
pub(super) const SEED: u64 = 1;

/// Measures all points; false if it was told to stop.
pub(super) fn run(spec: &BenchSpec, voice: &Voice) -> Result<bool, String> {
    backend(spec.backend.as_deref())?;
    let mut cpu = Cpu::new(None, None);
    cpu.probe().map_err(|fault| format!("the processor cannot be measured: {fault:?}"))?;
    let points = points(spec, &cpu)?;
    voice.say(&WorkerMessage::Plan { predicted_s: Some(POINT_S * points.len() as f64) });
    let pulse = Pulse::start(voice);
    let total = u32::try_from(points.len()).unwrap_or(u32::MAX);
    for (done, (name, work)) in (0..).zip(&points) {
        voice.say(&WorkerMessage::Progress { done, total, note: name.clone() });
        let mut go_on = |_stage| {
            pulse.feel();
            if voice.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        pulse.feel();
        let clock = SystemClock::new();
        match record::measure_while(&clock, &mut cpu, work, &plan(spec), &mut go_on) {
            Ok(record) => voice.say(&WorkerMessage::Result { record: Box::new(wire(&record)?) }),
            Err(Stopped::Canceled) => return Ok(false),
            Err(stopped) => return Err(format!("{name}: {stopped:?}")),
        }
    }
    voice.say(&WorkerMessage::Progress { done: total, total, note: String::new() });
    Ok(true)
}

/// Refuses what is not there.
pub(super) fn backend(name: Option<&str>) -> Result<(), String> {
    match name {
        None | Some("auto" | "cpu") => Ok(()),
        Some(name) => Err(format!("this machine has no backend `{name}`; there is cpu")),
    }
}

fn plan(spec: &BenchSpec) -> Plan {
    let iterations = spec.iterations.and_then(|n| usize::try_from(n).ok());
    let rule = iterations.map_or(Plan::STANDARD.rule, StopRule::Iterations);
    Plan { rule, ..Plan::STANDARD }
}

fn points(spec: &BenchSpec, cpu: &Cpu) -> Result<Vec<(String, Work)>, String> {
    let work = |kernel, cache| Work { kernel, cache, seed: SEED };
    let named = |kernel: Kernel, cache| (kernel.key().to_owned(), work(kernel, cache));
    match spec.what {
        BenchKind::Bandwidth => {
            let bytes = cpu.cold_bytes();
            let kernels = [Kernel::Read { bytes }, Kernel::Copy { bytes }, Kernel::Triad { bytes }];
            Ok(kernels.map(|kernel| named(kernel, Cache::Cold)).into())
        }
        BenchKind::Flops => {
            Ok([Kernel::Fma, Kernel::Dot].map(|kernel| named(kernel, Cache::Hot)).into())
        }
        BenchKind::Gemv | BenchKind::Gemm => {
            let mut points = Vec::new();
            for shape in &spec.shapes {
                if shape.m != 1 {
                    return Err(format!(
                        "the kernels here take one row: m must be 1; got {}",
                        shape.m
                    ));
                }
                for layout in layouts(&spec.formats)? {
                    let product = Product { layout, n: shape.n, k: shape.k };
                    let name = format!("{} × {} in {}", shape.n, shape.k, layout.key());
                    points.push((name, work(Kernel::Gemv(product), Cache::Cold)));
                }
            }
            Ok(points)
        }
    }
}

/// The layouts of formats; all of them where none is named.
fn layouts(formats: &[String]) -> Result<Vec<Layout>, String> {
    if formats.is_empty() {
        return Ok(Layout::ALL.into());
    }
    let layout = |key: &String| {
        Layout::by_key(key).ok_or_else(|| {
            let known = Layout::ALL.map(Layout::key).join(", ");
            format!("there are no kernels for `{key}`; there are some for {known}")
        })
    };
    formats.iter().map(layout).collect()
}

/// The published record as it crosses the wire: what says nothing is left out, and what is missing stands apart.
pub(super) fn wire(record: &BenchJson) -> Result<BenchRecord, String> {
    let mut value = json!(record);
    let missing = value["conditions"].as_object_mut().and_then(|all| all.remove("missing"));
    value["missing"] = missing.unwrap_or_else(|| json!({}));
    if value["precision"].is_null() {
        value["precision"] = json!({ "weights": "", "activations": "" });
    }
    for rate in ["byte_per_s", "flop_per_s"] {
        if value[rate].is_null() {
            value[rate] = json!(0.0);
        }
    }
    if value["check"]["worst_error"].is_null() {
        value["check"]["worst_error"] = Value::from(f64::MAX); // infinite, which JSON has not
    }
    serde_json::from_value(value).map_err(|error| format!("the record cannot be sent: {error}"))
}

/// Says that the worker lives, as long as the kernels gave a sign of life not too long ago: packing a large matrix is silent.
/// It falls silent with this value, before the worker's last word.
pub(super) struct Pulse {
    felt: Arc<Mutex<Option<Instant>>>,
}

impl Pulse {
    /// Begins.
    pub(super) fn start(voice: &Voice) -> Self {
        let felt = Arc::new(Mutex::new(Some(Instant::now())));
        let (heard, voice) = (Arc::clone(&felt), voice.clone());
        thread::spawn(move || {
            loop {
                thread::sleep(BEAT);
                let felt = heard.lock().unwrap_or_else(PoisonError::into_inner);
                match *felt {
                    None => return,
                    Some(felt) if felt.elapsed() < QUIET => voice.say(&WorkerMessage::Beat {}),
                    Some(_) => {}
                }
            }
        });
        Self { felt }
    }

    /// A sign of life of the kernels.
    pub(super) fn feel(&self) {
        self.set(Some(Instant::now()));
    }

    fn set(&self, felt: Option<Instant>) {
        *self.felt.lock().unwrap_or_else(PoisonError::into_inner) = felt;
    }
}

impl Drop for Pulse {
    fn drop(&mut self) {
        self.set(None);
    }
}
