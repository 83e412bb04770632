//! The measured machine as a device: a device file from its roofs, and the results of a job that the page applies.

use calc_core::catalog;
use calc_core::device::Device;
use calc_core::provenance::Provenance;
use protocol::bench::{BenchKind, BenchRecord, BenchSpec};
use protocol::device::{PROCESSOR_KEY, is_processor};
use protocol::job::{CalibrateSpec, JobId, JobSpec, JobState};
use protocol::telemetry::Telemetry;
use serde_json::{Value, json};

use crate::link::client::Client;
use crate::link::connection::State;
use crate::link::jobs::Job;
use crate::state::inputs::Inputs;

const GIB: f64 = 1_073_741_824.0;

/// The job that measures the roofs.
pub const fn roofs_job() -> JobSpec {
    JobSpec::Bench(BenchSpec {
        what: BenchKind::Roofs,
        shapes: Vec::new(),
        formats: Vec::new(),
        sizes: Vec::new(),
        backend: None,
        iterations: None,
    })
}

/// Result of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobResult {
    /// Text of a device file with measured roofs.
    Roofs(String),
    /// Text of a calibration file, and text of its device file if there is one.
    Calibration(String, Option<String>),
}

impl JobResult {
    /// The files in the order in which they are applied, each with a name for messages.
    pub fn files(self) -> Vec<(&'static str, String)> {
        let device = |text| ("the measured device", text);
        match self {
            Self::Roofs(text) => vec![device(text)],
            Self::Calibration(calibration, text) => {
                text.map(device).into_iter().chain([("the calibration", calibration)]).collect()
            }
        }
    }
}

/// Result of a job, once it is complete.
pub fn job_result(job: &Job, telemetry: Option<&Telemetry>) -> Option<JobResult> {
    if let Some((calibration, device)) = &job.calibration {
        return Some(JobResult::Calibration(calibration.clone(), device.clone()));
    }
    let is_done = job.summary.state == JobState::Done;
    // The file that is made of roofs describes a processor.
    let measures_roofs = matches!(job.summary.spec.known(), Some(JobSpec::Bench(bench))
        if bench.what == BenchKind::Roofs && is_processor(bench.backend.as_deref()));
    if !is_done || !measures_roofs {
        return None;
    }
    device_file(&job.records, memory(telemetry?)?).map(JobResult::Roofs)
}

/// Memory size that the machine reports [B].
fn memory(telemetry: &Telemetry) -> Option<f64> {
    let reading = telemetry.readings.iter().find(|reading| reading.name == "memory_total_byte")?;
    reading.value.filter(|bytes| *bytes > 0.0)
}

/// Text of a device file with measured roofs; `None` without a bandwidth or any peak, or if a result check failed.
fn device_file(records: &[BenchRecord], memory: f64) -> Option<String> {
    if records.iter().any(|record| !record.check.passed) {
        return None;
    }
    // The best repetition counts: disturbances lower a measured roof, and nothing raises it.
    let best = |kernel: &str, rate: fn(&BenchRecord) -> Option<f64>| {
        records.iter().filter(|record| record.kernel == kernel).filter_map(rate).reduce(f64::max)
    };
    let read = records.iter().find(|record| record.kernel == "read")?;
    let bandwidth = rounded(best("read", |record| record.byte_per_s)? * 1e-9);
    let tera = |kernel| best(kernel, |record| record.flop_per_s).map(|rate| rounded(rate * 1e-12));
    let (fp32, int8) = (tera("fma_fp32"), tera("dot_int8"));
    fp32.or(int8)?;
    let peaks = json!({"fp32": fp32, "int8": int8});
    let text = |key: &str| match read.conditions.get(key) {
        Some(protocol::bench::Condition::Text(text)) => text.as_str(),
        _ => "",
    };
    let value: Value = json!({
        "key": PROCESSOR_KEY,
        "name": format!("{} (measured here)", read.device),
        "class": "cpu",
        "memory_gib": rounded(memory / GIB),
        "bandwidth_gb_s": bandwidth,
        "measured_bandwidth_gb_s": bandwidth,
        "unified_memory": true,
        "dense_peaks_tflops": peaks,
        "measured_peaks_tflops": peaks,
        "source": format!(
            "measured from the page by ridgepoint {}, kernels {}: reading, FP32 multiply-adds, INT8 dot products",
            text("version"), text("kernel_hash")
        ),
        "notes": "No datasheet of this machine is known here, so its values are the measured ones.",
    });
    serde_json::to_string(&value).ok()
}

/// Rounds to four significant digits, which is all that the measurement supports.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The order of a calibration, which measures the roofs and the factors.
pub const fn calibration_job() -> JobSpec {
    JobSpec::Calibrate(CalibrateSpec { backend: None })
}

/// Label of the button that measures everything that the page needs of a machine.
pub const MEASURE_ALL: &str = "Measure and calibrate (2.5 min)";

/// Reason why a device is not the machine with this name, which is empty if none is connected; empty if it is that machine.
pub fn elsewhere(device: &Device, machine: &str) -> String {
    if machine.is_empty() {
        return if device.key == PROCESSOR_KEY {
            String::new()
        } else {
            format!(
                "No machine is connected, and {} was not measured here. Points are drawn under the roofs of their own machine only: connect its daemon, then measure it.",
                device.name
            )
        };
    }
    // A device made of measurements is named after its machine; the catalog names a processor without its maker.
    let model = device.name.split(" (").next().unwrap_or_default();
    if device.name.starts_with(machine) || (!model.is_empty() && machine.contains(model)) {
        return String::new();
    }
    format!(
        "The connected machine is {machine}, and the chosen device is {}: its roofs are not those of this machine, so no points are drawn and nothing is expected of them. Measure this machine's own roofs; it then is the chosen device.",
        device.name
    )
}

/// The way in which a connected machine becomes the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MachineChoice {
    /// The chosen device is that machine.
    Done,
    /// The result of its newest job with measured roofs.
    Measured(JobId),
    /// The device of the catalog that its name means.
    Catalog(&'static Device),
}

/// How the connected machine becomes the device; `None` while nothing is known of it: its jobs were not told yet, or nothing
/// was measured and the catalog does not have it.
pub fn selection(client: &Client, device: &Device) -> Option<MachineChoice> {
    let State::Connected(session) = &client.connection.state else { return None };
    let is_told = client.has_jobs && !client.is_selected;
    let is_chosen = !session.machine.is_empty() && elsewhere(device, &session.machine).is_empty();
    match client.jobs.newest_roofs() {
        _ if !is_told => None,
        _ if is_chosen => Some(MachineChoice::Done),
        Some(job) => Some(MachineChoice::Measured(job)),
        None => of_catalog(&session.machine).map(MachineChoice::Catalog),
    }
}

/// The device of the catalog that the name of a machine means; of several, the one whose name says most.
fn of_catalog(machine: &str) -> Option<&'static Device> {
    if machine.is_empty() {
        return None;
    }
    catalog::device(machine).ok().or_else(|| {
        let named = catalog::devices::all().filter(|device| elsewhere(device, machine).is_empty());
        named.max_by_key(|device| device.name.len())
    })
}

/// Note on a connected machine that has become the device.
pub fn selected(before: &str, now: &str) -> String {
    format!(
        "The connected machine is now the device everywhere: {now}. Plan, Compare and Explore are about it; Back returns to {before}."
    )
}

/// Basis of this view's expected times, and how to improve it.
pub fn about(inputs: &Inputs) -> String {
    let device = &inputs.device;
    if let Some(own) = &inputs.own {
        return format!(
            "Measured factors of {} count now: {}.",
            device.name,
            own.about.trim_end_matches('.')
        );
    }
    if device.bandwidth.provenance == Provenance::Measured {
        return "The roofs are those of this machine. Expected times still rest on factors of other machines; a calibration, two to three minutes, measures those, too.".to_owned();
    }
    "The chosen device has the roofs of its datasheet. Half a minute measures the roofs of this machine, which then is the device; a calibration, two to three minutes, also its factors.".to_owned()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use protocol::hex::Hex;
    use protocol::job::JobSummary;
    use protocol::server::ServerMessage;
    use protocol::telemetry::Reading;

    use super::*;
    use crate::link::jobs::{JobList, ResultUse};
    use crate::link::session::DaemonSession;
    use crate::state::files::{Opened, open};
    use crate::state::measure::answer::tests::bare;
    use calc_core::hf_config::Unread;

    fn job(spec: JobSpec, records: Vec<BenchRecord>) -> Job {
        let mut book = JobList::default();
        let summary = JobSummary {
            job: JobId(1),
            request: Hex([0; 16]),
            spec: spec.into(),
            state: JobState::Done,
            created_ms: 0,
            last_seq: 0,
        };
        book.listed(vec![summary]);
        let mut job = book.all()[0].clone();
        job.records = records;
        job
    }

    fn connected(machine: &str, jobs: Vec<JobSummary>) -> Client {
        let mut client = Client::default();
        let session = DaemonSession::simulated(Vec::new(), "", machine);
        client.connection.state = State::Connected(session);
        drop(client.receive(None, ServerMessage::Jobs { more: false, jobs, passed_over: 0 }));
        client
    }

    #[test]
    fn a_connected_machine_is_selected_by_its_measured_roofs_or_by_its_name_and_once() {
        let orin = catalog::device("jetson_orin_nano_8gb_super").expect("a key");
        let done = |id: u64, spec: JobSpec| JobSummary {
            job: JobId(id),
            request: Hex([0; 16]),
            spec: spec.into(),
            state: JobState::Done,
            created_ms: 0,
            last_seq: 3,
        };
        let mut client =
            connected("A chip", vec![done(4, roofs_job()), done(2, calibration_job())]);
        assert_eq!(selection(&client, orin), Some(MachineChoice::Measured(JobId(4))));
        let asked = client.await_roofs(JobId(4));
        assert!(asked.is_empty(), "it is shown, so its results come already: {asked:?}");
        assert_eq!(client.jobs.job(JobId(4)).map(|job| job.result_use), Some(ResultUse::Awaited));
        client.is_selected = true;
        assert_eq!(selection(&client, orin), None, "the reader may go back");
        let card = JobSpec::Calibrate(CalibrateSpec { backend: Some("cuda:0".into()) });
        let both = connected("A chip", vec![done(6, card), done(2, calibration_job())]);
        let processor = Some(MachineChoice::Measured(JobId(2)));
        assert_eq!(selection(&both, orin), processor, "a card is not the machine");
        let nothing = connected("A chip", Vec::new());
        assert_eq!(selection(&nothing, orin), None);
        let named = connected(&format!("NVIDIA {}", orin.name), Vec::new());
        assert_eq!(selection(&named, orin), Some(MachineChoice::Done));
        let h100 = catalog::device("h100_sxm").expect("a key");
        assert_eq!(selection(&named, h100), Some(MachineChoice::Catalog(orin)));
        assert_eq!(selection(&Client::default(), orin), None, "no daemon");
        assert!(selected("A", "B").contains("Back returns to A"));
    }

    fn telemetry(value: Option<f64>) -> Telemetry {
        let reading = Reading {
            name: "memory_total_byte".into(),
            value,
            reason: None,
            device: None,
            rail: None,
            source: None,
        };
        Telemetry { at_ms: 0, readings: vec![reading] }
    }

    fn records() -> Vec<BenchRecord> {
        let mut read = bare("read", 1e9, 0.0, 0.05);
        read.byte_per_s = Some(2e10);
        let mut fma = bare("fma_fp32", 0.0, 1e9, 0.01);
        fma.flop_per_s = Some(1.234_56e11);
        // Repetitions while other programs used the machine.
        let (mut slow_read, mut slow_fma) = (read.clone(), fma.clone());
        slow_read.byte_per_s = Some(1e10);
        slow_fma.flop_per_s = Some(1e11);
        vec![slow_read, fma, read, slow_fma]
    }

    #[test]
    fn measured_roofs_become_a_device_that_the_page_reads() {
        let job = job(roofs_job(), records());
        let found = job_result(&job, Some(&telemetry(Some(8.0 * GIB)))).expect("a device");
        let files = found.files();
        let [(name, text)] = &files[..] else { panic!("{files:?}") };
        let opened = open(name, text, Unread::Refuse);
        let Ok(Opened::Device(device)) = opened else { panic!("{opened:?}") };
        assert_eq!((&*device.key, &*device.name), (PROCESSOR_KEY, "a processor (measured here)"));
        assert_eq!(device.bandwidth.provenance, Provenance::Measured);
        assert!((device.bandwidth.value.get() / 2e10 - 1.0).abs() < 1e-12);
        let mut inputs = Inputs::default();
        assert!(about(&inputs).contains("chosen device"));
        inputs.set_device(Cow::Owned(*device));
        assert!(about(&inputs).contains("roofs are those of this machine"));
    }

    #[test]
    fn a_machine_is_recognized_by_its_name() {
        let device = |key| calc_core::catalog::device(key).expect("catalog key").clone();
        let epyc = device("epyc_9654");
        let named = |name: &'static str| Device { name: name.into(), ..epyc.clone() };
        for (device, machine, is_here) in [
            (epyc.clone(), "AMD EPYC 9654 96-Core Processor", true),
            (epyc.clone(), "AMD EPYC 9754 128-Core Processor", false),
            (named("A chip (measured here)"), "A chip", true),
            (named("A chip (measured here)"), "Another chip", false),
            (Device { key: PROCESSOR_KEY.into(), ..named("A chip (measured here)") }, "", true),
            (epyc.clone(), "", false),
        ] {
            assert_eq!(elsewhere(&device, machine).is_empty(), is_here, "{machine}");
        }
    }

    #[test]
    fn what_is_incomplete_brings_nothing() {
        let all = telemetry(Some(GIB));
        let bench = job(roofs_job(), records());
        let mut wrong = records();
        wrong[1].check.passed = false;
        for (job, telemetry) in [
            (bench.clone(), None),
            (bench.clone(), Some(telemetry(None))),
            (job(roofs_job(), records()[..1].to_vec()), Some(all.clone())),
            (job(roofs_job(), Vec::new()), Some(all.clone())),
            (job(roofs_job(), wrong), Some(all.clone())),
        ] {
            assert_eq!(job_result(&job, telemetry.as_ref()), None, "{telemetry:?}");
        }
        let mut open = bench;
        open.summary.state = JobState::Interrupted;
        assert_eq!(job_result(&open, Some(&all)), None);
    }

    #[test]
    fn a_device_is_taken_over_before_what_was_measured_on_it() {
        let files = JobResult::Calibration("c".into(), Some("d".into())).files();
        assert_eq!(files.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["d", "c"]);
    }
}
