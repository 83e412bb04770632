//! Tests how a connected machine becomes the device of the page.

use protocol::ability::{DeviceAbility, KernelAbility};
use protocol::hex::Hex;
use protocol::job::JobSummary;
use protocol::server::{MachineHere, ServerMessage};

use super::*;
use crate::link::connection::State;
use crate::link::jobs::{JobList, ResultUse};
use crate::state::files::{Opened, open};
use crate::state::measure::answer::tests::bare;
use calc_core::hf_config::Unread;

/// A device with some kernels.
fn device(id: Option<&str>, kernels: &[BenchKind]) -> MeasuredDevice {
    let kernel = |kind: &BenchKind| KernelAbility {
        kernel: kind.key().to_owned(),
        formats: Vec::new(),
        most_tokens: None,
    };
    MeasuredDevice {
        can: DeviceAbility {
            backend: "cuda".into(),
            index: 0,
            kernels: kernels.iter().map(kernel).collect(),
        },
        jobs: JobSpec::KINDS.map(str::to_owned).into(),
        name: "A card".into(),
        backend: id.map(str::to_owned),
        limits: protocol::limits::LIMITS,
    }
}

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

fn connected(machine: &str, here: Option<MachineHere>, jobs: Vec<JobSummary>) -> Client {
    let mut client = Client::default();
    let session = DaemonSession { here, ..DaemonSession::simulated(Vec::new(), "", machine) };
    client.connection.state = State::Connected(session);
    drop(client.receive(None, ServerMessage::Jobs { more: false, jobs, passed_over: 0 }));
    client
}

fn on_catalog(key: &str) -> MachineHere {
    MachineHere { catalog_key: Some(key.to_owned()), why_not: None }
}

fn done(id: u64, spec: JobSpec) -> JobSummary {
    JobSummary {
        job: JobId(id),
        request: Hex([0; 16]),
        spec: spec.into(),
        state: JobState::Done,
        created_ms: 0,
        last_seq: 3,
    }
}

#[test]
fn a_connected_machine_is_selected_by_its_measured_roofs_or_by_what_its_daemon_says() {
    let orin = catalog::device("jetson_orin_nano_8gb_super").expect("a key");
    let processor = device(None, &[BenchKind::Gemv]);
    let jobs = vec![done(4, roofs_job(&processor)), done(2, calibration_job(&processor))];
    let mut client = connected("A chip", None, jobs);
    assert_eq!(selection(&client, orin), Some(MachineChoice::Measured(JobId(4))));
    let asked = client.await_roofs(JobId(4));
    assert!(asked.is_empty(), "it is shown, so its results come already: {asked:?}");
    assert_eq!(client.jobs.job(JobId(4)).map(|job| job.result_use), Some(ResultUse::Awaited));
    client.is_selected = true;
    assert_eq!(selection(&client, orin), None, "the reader may go back");
    let card = calibration_job(&device(Some("cuda:0"), &[BenchKind::Gemv]));
    let both = connected("A chip", None, vec![done(6, card), done(2, calibration_job(&processor))]);
    let measured = Some(MachineChoice::Measured(JobId(2)));
    assert_eq!(selection(&both, orin), measured, "a card is not the machine");
    assert_eq!(selection(&connected("A chip", None, Vec::new()), orin), None);
    let board = connected("ARMv8 Processor", Some(on_catalog(&orin.key)), Vec::new());
    assert_eq!(selection(&board, orin), Some(MachineChoice::Done));
    let h100 = catalog::device("h100_sxm").expect("a key");
    assert_eq!(selection(&board, h100), Some(MachineChoice::Catalog(orin)));
    // A daemon of before tells its processor alone, by a name that must be a published one.
    let before = connected("AMD EPYC 9654 96-Core Processor", None, Vec::new());
    let epyc = catalog::device("epyc_9654").expect("a key");
    assert_eq!(selection(&before, h100), Some(MachineChoice::Catalog(epyc)));
    let unlisted = MachineHere { catalog_key: None, why_not: Some("two unlike cards".to_owned()) };
    let unlisted = connected("AMD EPYC 9654 96-Core Processor", Some(unlisted), Vec::new());
    assert_eq!(selection(&unlisted, h100), None, "the daemon says that it is no device");
    assert_eq!(selection(&Client::default(), orin), None, "no daemon");
    assert!(selected("A", "B").contains("Back returns to A"));
}

#[test]
fn this_machine_is_the_measured_device_before_that_of_the_catalog() {
    let client = connected("A chip", Some(on_catalog("t4")), Vec::new());
    let session = client.session().expect("connected");
    let mut inputs = Inputs::default();
    let key_of = |inputs: &Inputs| match this_machine(session, inputs) {
        ThisMachine::Known(device, _) => device.key.to_string(),
        ThisMachine::Unconnected | ThisMachine::Unmeasured(_) => String::new(),
    };
    assert_eq!(key_of(&inputs), "t4");
    let measured = Device {
        key: PROCESSOR_KEY.into(),
        name: "A chip (measured here)".into(),
        ..catalog::device("epyc_9654").expect("a key").clone()
    };
    inputs.set_device(Cow::Owned(measured));
    assert_eq!(key_of(&inputs), PROCESSOR_KEY);
    let nothing = connected("A chip", Some(MachineHere::default()), Vec::new());
    let session = nothing.session().expect("connected");
    let unmeasured = ThisMachine::Unmeasured("A chip".into());
    assert_eq!(this_machine(session, &Inputs::default()), unmeasured);
}

#[test]
fn the_file_of_the_daemon_becomes_a_device_that_the_page_reads() {
    let processor = device(None, &[]);
    let file = r#"{"key":"this_machine","name":"A chip (measured here)","class":"cpu","memory_gib":8,
        "bandwidth_gb_s":20,"measured_bandwidth_gb_s":20,"dense_peaks_tflops":{"fp32":0.1},
        "measured_peaks_tflops":{"fp32":0.1}}"#;
    let mut job = job(roofs_job(&processor), vec![bare("read", 1e9, 0.0, 0.05)]);
    assert_eq!(job_result(&job), None);
    assert!(without_file(&job).starts_with("Job 1 has roofs without a device file"));
    job.roofs = Some(file.to_owned());
    assert_eq!(without_file(&job), "");
    let found = job_result(&job).expect("a device");
    let files = found.files();
    let [(name, text)] = &files[..] else { panic!("{files:?}") };
    let opened = open(name, text, Unread::Refuse);
    let Ok(Opened::Device(device)) = opened else { panic!("{opened:?}") };
    assert_eq!((&*device.key, &*device.name), (PROCESSOR_KEY, "A chip (measured here)"));
    assert_eq!(device.bandwidth.provenance, Provenance::Measured);
    let mut inputs = Inputs::default();
    assert!(about(&inputs).contains("chosen device"));
    inputs.set_device(Cow::Owned(*device));
    assert!(about(&inputs).contains("roofs are those of this machine"));
    job.summary.state = JobState::Interrupted;
    assert_eq!(job_result(&job), None);
    let calibration = Job { calibration: Some(("c".into(), Some("d".into()))), ..job };
    let files = job_result(&calibration).expect("a calibration").files();
    assert_eq!(files.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["d", "c"]);
}

#[test]
fn a_machine_is_recognized_by_its_key_or_its_own_name_and_never_by_a_likeness() {
    let epyc = catalog::device("epyc_9654").expect("a key");
    let laptop = catalog::device("rtx_4060_laptop").expect("a key");
    let named = |name: &'static str| Device { name: name.into(), ..epyc.clone() };
    for (device, machine, key, is_here) in [
        (epyc.clone(), "AMD EPYC 9654 96-Core Processor", Some("epyc_9654"), true),
        (epyc.clone(), "AMD EPYC 9654 96-Core Processor", None, true),
        (epyc.clone(), "AMD EPYC 9754 128-Core Processor", None, false),
        (epyc.clone(), "EPYC 9654 of another kind", Some("epyc_9754"), false),
        (laptop.clone(), "NVIDIA GeForce RTX 4060 Laptop GPU", None, true),
        (laptop.clone(), "NVIDIA GeForce RTX 4060", None, false),
        (named("A chip (measured here)"), "A chip", None, true),
        (named("A chip (measured here)"), "Another chip", None, false),
        (named("A chip 2 (measured here)"), "A chip", None, false),
        (Device { key: PROCESSOR_KEY.into(), ..named("A chip (measured here)") }, "", None, true),
        (epyc.clone(), "", None, false),
    ] {
        let told = MeasuredMachine::new(machine, key);
        assert_eq!(elsewhere(&device, &told).is_empty(), is_here, "{machine} {}", device.name);
    }
}

#[test]
fn buttons_are_about_the_device_that_is_measured() {
    let card = device(Some("cuda:0"), &[BenchKind::Roofs]);
    assert_eq!(roofs_label(Some(&card)), "Measure A card's roofs");
    assert_eq!(calibration_label(Some(&card)), "Calibrate A card");
    assert!(uncalibrated(Some(&card)).starts_with("A card runs no product"));
    let (job, label) = whole_job(Some(&card));
    assert_eq!(
        (job.as_ref().and_then(JobSpec::device), &*label),
        (Some("cuda:0"), "Measure A card's roofs")
    );
    let processor = device(None, &[BenchKind::Roofs, BenchKind::Gemv]);
    assert_eq!(roofs_label(Some(&processor)), "Measure this machine's roofs");
    assert_eq!(calibration_label(None), "Calibrate this machine");
    assert_eq!(uncalibrated(Some(&processor)), "");
    assert!(matches!(whole_job(Some(&processor)).0, Some(JobSpec::Calibrate(_))));
    assert_eq!(whole_job(None).0, None);
}

#[test]
fn what_the_daemon_does_not_start_is_said() {
    let whole = device(None, &[BenchKind::Roofs, BenchKind::Gemv]);
    for (jobs, is_timed, is_calibrated) in [
        (&["bench", "calibrate"][..], true, true),
        (&["bench", "quantize"], true, false),
        (&["calibrate"], false, true),
        (&[], false, false),
    ] {
        let jobs: Vec<String> = jobs.iter().map(|&kind| kind.to_owned()).collect();
        let device = MeasuredDevice { jobs, ..whole.clone() };
        let said = untimed(Some(&device));
        assert_eq!(said.contains("starts no measurements"), !is_timed, "{said}");
        assert_eq!(said.is_empty(), is_timed);
        let said = uncalibrated(Some(&device));
        assert_eq!(said.contains("starts no calibrations"), !is_calibrated, "{said}");
        assert_eq!(said.is_empty(), is_calibrated);
        let is_whole = matches!(whole_job(Some(&device)).0, Some(JobSpec::Calibrate(_)));
        assert_eq!(is_whole, is_calibrated, "without it the roofs are measured");
    }
    assert_eq!((untimed(None), uncalibrated(None)), Default::default());
    // The first daemons tell nothing, and start both.
    let session = DaemonSession::simulated(Vec::new(), "", "");
    let untold = MeasuredDevice::of(&session, "").expect("a device");
    assert_eq!((untimed(Some(&untold)), uncalibrated(Some(&untold))), Default::default());
}

#[test]
fn a_calibration_of_which_most_points_were_disturbed_says_so() {
    let record = |flag: Option<&str>| {
        let flags = flag.into_iter().map(str::to_owned).collect();
        BenchRecord { flags, ..bare("gemv", 1.0, 1.0, 1.0) }
    };
    let of = |flagged: usize| {
        let records = (0..4).map(|i| record((i < flagged).then_some("contended"))).collect();
        disturbed(&job(calibration_job(&device(None, &[BenchKind::Gemv])), records))
    };
    assert_eq!([of(0), of(2)], ["", ""]);
    assert!(of(3).starts_with("3 of the 4 points of job 1 were disturbed"), "{}", of(3));
    assert_eq!(disturbed(&job(roofs_job(&device(None, &[])), Vec::new())), "");
}
