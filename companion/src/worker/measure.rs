//! A job that measures on the processor, point by point. It gives signs of life while it works, and stops between two points.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use calc_core::catalog;
use kernels::backend::{Backend, Cache, Kernel, Product, Work};
use kernels::cpu::backend::Cpu;
use kernels::cpu::clock::SystemClock;
use kernels::measure::{Plan, Stage, StopRule, WarmUp};
use kernels::pack::Layout;
use protocol::bench::{BenchKind, BenchRecord, BenchSpec};
use serde_json::json;

use super::Voice;
use crate::jobs::message::WorkerMessage;
use crate::measure::record;

/// Short, because somebody watches; a result that needed more time is flagged.
const LIMIT: Duration = Duration::from_secs(3);
const WARM_UP: Duration = Duration::from_secs(1);
/// What a point takes beside its warm-up and samples, as a guess: making data and checking results.
const AROUND: Duration = Duration::from_millis(500);
/// Making data and checking results have no steps in between at which a sign of life could be given.
const QUIET: Duration = Duration::from_mins(1);
/// Longest time between two steps of sampling.
const STEP: Duration = Duration::from_secs(5);
const BEAT: Duration = Duration::from_secs(1);
/// Samples that go over the wire.
const SAMPLES: usize = 4096;
const SEED: u64 = 1;

type Point = (Kernel, Cache);

/// Measures all points.
pub(super) fn run(spec: &BenchSpec, voice: &Voice) {
    let done = measure_all(spec, voice);
    voice.say(&done.unwrap_or_else(|message| WorkerMessage::Failed { message }));
}

fn measure_all(spec: &BenchSpec, voice: &Voice) -> Result<WorkerMessage, String> {
    let life = Life::begin(voice);
    let mut cpu = Cpu::new(None, None);
    cpu.probe().map_err(|fault| format!("there is no such device: {fault:?}"))?;
    let points = points(spec, &cpu)?;
    let seconds = (WARM_UP + LIMIT + AROUND).as_secs_f64() * points.len() as f64;
    voice.say(&WorkerMessage::Plan { predicted_s: Some(seconds) });
    let (plan, total) = (plan(spec), u32::try_from(points.len()).unwrap_or(u32::MAX));
    let clock = SystemClock::new();
    for ((kernel, cache), done) in points.into_iter().zip(0..) {
        if voice.stopped() {
            return Ok(WorkerMessage::Stopped {});
        }
        life.may_be_quiet_for(QUIET);
        voice.say(&WorkerMessage::Progress { done, total, note: name(kernel) });
        let work = Work { kernel, cache, seed: SEED };
        let measured = record::measure(&clock, &mut cpu, &work, &plan, &mut |stage| {
            life.may_be_quiet_for(if matches!(stage, Stage::End) { QUIET } else { STEP });
        });
        let mut measured = measured.map_err(|stopped| format!("{}: {stopped:?}", name(kernel)))?;
        if measured.samples_s.len() > SAMPLES {
            measured.samples_s.clear();
        }
        let record: BenchRecord = serde_json::from_value(json!(measured))
            .map_err(|error| format!("the record is none: {error}"))?;
        voice.say(&WorkerMessage::Result { record: Box::new(record) });
    }
    voice.say(&WorkerMessage::Progress { done: total, total, note: String::new() });
    Ok(WorkerMessage::Done {})
}

fn points(spec: &BenchSpec, cpu: &Cpu) -> Result<Vec<Point>, String> {
    if let Some(other) = spec.backend.as_deref().filter(|name| !matches!(*name, "auto" | "cpu")) {
        return Err(format!("this build has no backend `{other}`; leave it out, or name cpu"));
    }
    let bytes = cpu.cold_bytes();
    match spec.what {
        BenchKind::Bandwidth => {
            let kernels = [Kernel::Read { bytes }, Kernel::Copy { bytes }, Kernel::Triad { bytes }];
            Ok(kernels.map(|kernel| (kernel, Cache::Cold)).to_vec())
        }
        BenchKind::Flops => {
            Ok([Kernel::Fma, Kernel::Dot].map(|kernel| (kernel, Cache::Hot)).to_vec())
        }
        BenchKind::Gemv => products(spec),
        BenchKind::Gemm => Err("this build measures products of one row only; ask for gemv".into()),
    }
}

fn products(spec: &BenchSpec) -> Result<Vec<Point>, String> {
    let layouts: Vec<Layout> = if spec.formats.is_empty() {
        Layout::ALL.to_vec()
    } else {
        spec.formats.iter().map(|key| layout(key)).collect::<Result<_, _>>()?
    };
    let mut points = Vec::new();
    for shape in &spec.shapes {
        if shape.m != 1 {
            return Err(format!("m is {}; a product of one row has m = 1", shape.m));
        }
        for layout in &layouts {
            let product = Product { layout: *layout, n: shape.n, k: shape.k };
            points.push((Kernel::Gemv(product), Cache::Cold));
        }
    }
    Ok(points)
}

fn layout(key: &str) -> Result<Layout, String> {
    let known = catalog::format(key).map_or(key, |format| format.key);
    Layout::by_key(known).ok_or_else(|| format!("there is no kernel for `{key}`"))
}

fn plan(spec: &BenchSpec) -> Plan {
    let standard = Plan::STANDARD;
    let warm_up =
        WarmUp { most: WARM_UP, least: standard.warm_up.least.min(WARM_UP), ..standard.warm_up };
    let rule = match (spec.iterations, standard.rule) {
        (Some(n), _) => StopRule::Iterations(usize::try_from(n).unwrap_or(usize::MAX)),
        (None, StopRule::Certain { half_width, least, shortest, .. }) => {
            StopRule::Certain { half_width, least, shortest: shortest.min(LIMIT), limit: LIMIT }
        }
        (None, rule @ StopRule::Iterations(_)) => rule,
    };
    Plan { warm_up, rule, ..standard }
}

fn name(kernel: Kernel) -> String {
    match kernel {
        Kernel::Gemv(product) => {
            format!("{} 1 × {} × {}", product.layout.key(), product.n, product.k)
        }
        other => other.key().into(),
    }
}

/// Signs of life from a thread of its own, as long as the work may be where it is: a kernel that hangs ends them.
struct Life {
    until: Arc<Mutex<Instant>>,
}

impl Life {
    fn begin(voice: &Voice) -> Self {
        let until = Arc::new(Mutex::new(Instant::now() + QUIET));
        let (watched, voice) = (Arc::clone(&until), voice.clone());
        thread::spawn(move || {
            loop {
                let allowed = *watched.lock().unwrap_or_else(PoisonError::into_inner);
                if Instant::now() < allowed {
                    voice.say(&WorkerMessage::Beat {});
                }
                thread::sleep(BEAT);
            }
        });
        Self { until }
    }

    fn may_be_quiet_for(&self, time: Duration) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now() + time;
    }
}
