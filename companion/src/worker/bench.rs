//! The benchmark job: every shape in every format, one record per point.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kernels::backend::{Backend, Cache, Fault, GemmShape, GemvShape, Kernel, Work};
use kernels::cpu::clock::SystemClock;
use kernels::devices::{Device, Settings};
use kernels::measure::{Plan, StopRule, Stopped, WarmUp};
use protocol::bench::{BenchKind, BenchRecord, BenchSpec, Condition, Shape};
use protocol::job::ProgressUnit;
use report::output::json::bench::BenchJson;
use report::output::words::bench_sizes;
use serde_json::json;

use super::WorkerChannel;
use crate::hooks::Hooks;
use crate::jobs::message::{LEFT_OUT, WorkerMessage};
use crate::jobs::predicted::point_s;
use crate::measure::device::{self, MeasuredRoofs};
use crate::measure::products::Products;
use crate::measure::{layers, machine, record};

/// Interval of heartbeats, and the longest silence of the kernels in which they are still sent.
const HEARTBEAT: Duration = Duration::from_secs(2);
const MAX_SILENCE: Duration = Duration::from_mins(1);
/// Most samples of a record that is sent; records with more are sent without them.
const MAX_SAMPLES: usize = 4096;
/// Most windows whose host time and clock are sent: with their samples, three numbers of each fit beside each other.
const MAX_WINDOWS: usize = MAX_SAMPLES / 3;
/// Short, because a user waits; a result that needed more time is flagged.
const TIME_LIMIT: Duration = Duration::from_secs(3);
const WARM_UP: Duration = Duration::from_secs(1);
/// Seed of the data of every job.
pub(super) const SEED: u64 = 1;

/// Measures all points but the first `done`. Returns false if the daemon stopped it.
pub(super) fn run(
    spec: &BenchSpec,
    device: &str,
    done: u32,
    channel: &WorkerChannel,
    hooks: &Hooks,
) -> Result<bool, String> {
    let found = find(device, hooks)?;
    let mut device = open(&found)?;
    let points = points(spec, &*device)?;
    let plan = quick_plan(plan(spec), hooks);
    let are_roofs = spec.what == BenchKind::Roofs;
    let Some(records) = measure(&mut *device, &points, done, &plan, point_s(spec), channel)? else {
        return Ok(false);
    };
    if are_roofs {
        let file = MeasuredRoofs::of(&records).and_then(|roofs| device::file(&roofs, &found, None));
        channel.send(&match file {
            Ok(file) => {
                let (file, whole) = device::texts(file);
                WorkerMessage::Device { file, whole }
            }
            Err(why) => WorkerMessage::Log { line: format!("no device file: {why}") },
        });
    }
    Ok(true)
}

/// Measures the points in order, without the first `skipped`, and sends each record; `None` if the daemon stopped it. A point takes
/// about `point_s` seconds.
pub(super) fn measure(
    device: &mut dyn Backend,
    points: &[(String, Work)],
    skipped: u32,
    plan: &Plan,
    point_s: f64,
    channel: &WorkerChannel,
) -> Result<Option<Vec<BenchJson>>, String> {
    let left = points.len().saturating_sub(skipped as usize);
    channel.send(&WorkerMessage::Plan {
        predicted_s: Some(point_s * left as f64),
        device: Some(machine::name_of(&device.describe())),
    });
    let heartbeat = Heartbeat::start(channel);
    let (total, unit) = (points.len() as u64, ProgressUnit::Points);
    let (mut records, mut refusal) = (Vec::new(), None);
    for (done, (name, work)) in (0..).zip(points).skip(skipped as usize) {
        channel.send(&WorkerMessage::Progress { done, total, unit, note: name.clone() });
        let mut go_on = |_stage| {
            heartbeat.note_progress();
            if channel.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        heartbeat.note_progress();
        match record::measure_while(&SystemClock::new(), device, work, plan, &mut go_on) {
            Ok(record) => {
                channel.send(&WorkerMessage::Result { record: Box::new(wire(record.clone())?) });
                records.push(record);
            }
            Err(Stopped::Canceled) => return Ok(None),
            // Other formats and sizes may do.
            Err(Stopped::Failed(fault)) if machine::is_of_the_point(&fault) => {
                let why = sentence(name, device, &Stopped::Failed(fault));
                channel.send(&WorkerMessage::Log { line: format!("{LEFT_OUT}{why}") });
                refusal = refusal.or(Some(why));
            }
            Err(stopped) => return Err(sentence(name, device, &stopped)),
        }
    }
    channel.send(&WorkerMessage::Progress { done: total, total, unit, note: String::new() });
    match refusal {
        // Points before the skipped ones have results.
        Some(why) if records.is_empty() && skipped == 0 => Err(why),
        _ => Ok(Some(records)),
    }
}

/// The sentence about a point that could not be measured.
fn sentence(point: &str, device: &dyn Backend, stopped: &Stopped<Fault>) -> String {
    let device = machine::name_of(&device.describe());
    let why = match stopped {
        Stopped::Failed(fault) => machine::said(fault),
        Stopped::NoTime => "the clock does not advance".to_owned(),
        other => format!("it stopped: {other:?}"),
    };
    format!("{point} on {} ({}): {why}", device.id(), device.name)
}

/// The device of an order.
pub(super) fn find(asked: &str, hooks: &Hooks) -> Result<Device, String> {
    let devices = machine::devices(hooks, Some(asked));
    machine::find(&devices, Some(asked))
        .cloned()
        .map_err(|unknown| machine::absent(&unknown, asked))
}

/// Opens the device of an order.
pub(super) fn open(device: &Device) -> Result<Box<dyn Backend>, String> {
    device.open(&Settings::default()).map_err(|fault| machine::unopened(device, &fault))
}

/// The plan, shortened if the test hook asks for a quick one.
pub(super) fn quick_plan(plan: Plan, hooks: &Hooks) -> Plan {
    let Some(samples) = hooks.quick_plan() else { return plan };
    let [least, most] = [10, 100].map(Duration::from_millis);
    let warm_up = WarmUp { least, most, ..plan.warm_up };
    Plan { warm_up, rule: StopRule::Iterations(samples), ..plan }
}

fn plan(spec: &BenchSpec) -> Plan {
    let standard = Plan::STANDARD;
    let warm_up = WarmUp { most: WARM_UP, ..standard.warm_up };
    let rule = match (spec.iterations, standard.rule) {
        (Some(n), _) => StopRule::Iterations(usize::try_from(n).unwrap_or(usize::MAX)),
        (None, StopRule::Certain { half_width, least, shortest, .. }) => {
            StopRule::Certain { half_width, least, shortest, limit: TIME_LIMIT }
        }
        (None, rule @ StopRule::Iterations(_)) => rule,
    };
    Plan { warm_up, rule, ..standard }
}

fn points(spec: &BenchSpec, device: &dyn Backend) -> Result<Vec<(String, Work)>, String> {
    let work = |kernel, cache| Work { kernel, cache, seed: SEED };
    let named = |kernel: Kernel, cache| (machine::point(kernel), work(kernel, cache));
    let own = Products(device.support());
    match spec.what {
        BenchKind::Bandwidth => {
            let bytes = device.support().cold_bytes;
            let kernels = [Kernel::Read { bytes }, Kernel::Copy { bytes }, Kernel::Triad { bytes }];
            Ok(kernels.map(|kernel| named(kernel, Cache::Cold)).into())
        }
        BenchKind::Flops => {
            let peaks = device.support().peaks();
            Ok(peaks.into_iter().map(|(kernel, cache)| named(kernel, cache)).collect())
        }
        BenchKind::Roofs => {
            // Other programs only lower a roof, so each is measured three times and the best counts.
            let read = (Kernel::Read { bytes: device.support().cold_bytes }, Cache::Cold);
            let peaks = device.support().peaks();
            let once: Vec<(Kernel, Cache)> = core::iter::once(read).chain(peaks).collect();
            let thrice = once.iter().copied().cycle().take(3 * once.len());
            Ok(thrice.map(|(kernel, cache)| named(kernel, cache)).collect())
        }
        BenchKind::Gemv => {
            let mut points = Vec::new();
            for shape in &spec.shapes {
                if !(1..=GemvShape::MAX_TOKENS).contains(&shape.m) {
                    let (m, most) = (shape.m, GemvShape::MAX_TOKENS);
                    return Err(format!(
                        "m is {m}, but packed weights take 1 to {most} tokens; use gemm"
                    ));
                }
                for layout in own.layouts(&spec.formats)? {
                    let product = GemvShape { layout, m: shape.m, n: shape.n, k: shape.k };
                    let tokens =
                        if shape.m > 1 { format!("{} × ", shape.m) } else { String::new() };
                    let name = format!("{tokens}{} × {} in {}", shape.n, shape.k, layout.key());
                    points.push((name, work(Kernel::Gemv(product), Cache::Cold)));
                }
            }
            Ok(points)
        }
        BenchKind::Gemm => {
            let mut points = Vec::new();
            for shape in &spec.shapes {
                for element in own.elements(&spec.formats)? {
                    let Shape { m, n, k } = *shape;
                    let product = GemmShape { element, m, n, k };
                    points.push(named(Kernel::Gemm(product), Cache::Cold));
                }
            }
            Ok(points)
        }
        BenchKind::Attention
        | BenchKind::Norm
        | BenchKind::Rope
        | BenchKind::Gate
        | BenchKind::Embedding => {
            let mut points = Vec::new();
            for sizes in &spec.sizes {
                for kernel in layers::kernels(spec.what, sizes, &spec.formats)? {
                    let format = kernel.stored_format().unwrap_or_default();
                    let name = format!("{}, {} in {format}", kernel.key(), bench_sizes(sizes));
                    points.push((name, work(kernel, Cache::Cold)));
                }
            }
            Ok(points)
        }
    }
}

/// Converts the published record to the protocol's.
fn wire(mut record: BenchJson) -> Result<BenchRecord, String> {
    if record.expected.is_none() {
        let why = "a job has none; the page computes it for its own device";
        record.conditions.missing.insert("expected".into(), why.into());
    }
    let mut record: BenchRecord = serde_json::from_value(json!(record))
        .map_err(|error| format!("the record is malformed: {error}"))?;
    fitted(&mut record);
    // A value that the protocol cannot say would be lost.
    match record.conditions.iter().find(|(_, value)| matches!(value, Condition::Later(_))) {
        Some((key, _)) => {
            Err(format!("the record is malformed: the protocol has no value as in {key}"))
        }
        None => Ok(record),
    }
}

/// Leaves out lists that are too long for a message.
fn fitted(record: &mut BenchRecord) {
    if record.samples_s.len() > MAX_SAMPLES {
        record.samples_s.clear();
    }
    if let Some(windows) = &mut record.device_windows
        && windows.host_s.len() > MAX_WINDOWS
    {
        windows.host_s.clear();
        windows.clock_hz.clear();
    }
}

/// Sends heartbeats while the kernels have reported progress recently: packing a large matrix reports none.
/// Stops when dropped, before the worker's final message.
struct Heartbeat {
    latest: Arc<Mutex<Option<Instant>>>,
}

impl Heartbeat {
    fn start(channel: &WorkerChannel) -> Self {
        let latest = Arc::new(Mutex::new(Some(Instant::now())));
        let (shared, channel) = (Arc::clone(&latest), channel.clone());
        thread::spawn(move || {
            loop {
                thread::sleep(HEARTBEAT);
                let latest = shared.lock().unwrap_or_else(PoisonError::into_inner);
                match *latest {
                    None => return,
                    Some(latest) if latest.elapsed() < MAX_SILENCE => {
                        channel.send(&WorkerMessage::Beat {});
                    }
                    Some(_) => {}
                }
            }
        });
        Self { latest }
    }

    /// Records progress of the kernels.
    fn note_progress(&self) {
        self.set(Some(Instant::now()));
    }

    fn set(&self, latest: Option<Instant>) {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = latest;
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.set(None);
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;
    use protocol::bench::DeviceWindows;

    use crate::jobs::message::LINE;
    use crate::worker::scripted;

    #[test]
    fn a_record_with_the_most_samples_takes_less_than_half_a_line() {
        let longest = 1.234_567_890_123_456_7e-100;
        let mut record = scripted::record(1.0);
        record.samples_s = vec![longest; MAX_SAMPLES];
        let message = WorkerMessage::Result { record: Box::new(record) };
        let bytes = serde_json::to_vec(&message).unwrap().len();
        assert!(bytes > 20 * MAX_SAMPLES && bytes < LINE / 2, "{bytes}");
    }

    #[test]
    fn windows_are_sent_beside_their_samples_as_far_as_they_fit() {
        let longest = 1.234_567_890_123_456_7e-100;
        let sent = |count: usize| {
            let mut record = scripted::record(1.0);
            record.samples_s = vec![longest; count];
            let windows = vec![longest; count];
            record.device_windows = Some(DeviceWindows {
                empty_s: longest,
                host_s: windows.clone(),
                clock_hz: windows,
            });
            fitted(&mut record);
            let (samples, kept) = (record.samples_s.len(), record.device_windows.clone().unwrap());
            let message = WorkerMessage::Result { record: Box::new(record) };
            let bytes = serde_json::to_vec(&message).unwrap().len();
            assert!(bytes < LINE / 2, "{count}: {bytes}");
            (samples, kept.host_s.len(), kept.clock_hz.len(), kept.empty_s > 0.0)
        };
        assert_eq!(sent(MAX_WINDOWS), (MAX_WINDOWS, MAX_WINDOWS, MAX_WINDOWS, true));
        assert_eq!(sent(MAX_WINDOWS + 1), (MAX_WINDOWS + 1, 0, 0, true));
        assert_eq!(sent(MAX_SAMPLES + 1), (0, 0, 0, true));
    }
}
