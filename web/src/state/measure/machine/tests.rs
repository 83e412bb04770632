//! Tests how a connected machine becomes the device of the page.

use std::borrow::Cow;
use std::sync::Arc;

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
    assert_eq!(selection(&client, orin), Some(MachineSelection::Measured(JobId(4))));
    let asked = client.await_roofs(JobId(4));
    assert!(asked.is_empty(), "it is shown, so its results come already: {asked:?}");
    assert_eq!(client.jobs.job(JobId(4)).map(|job| job.result_use), Some(ResultUse::Awaited));
    client.is_selected = true;
    assert_eq!(selection(&client, orin), None, "the reader may go back");
    let card = calibration_job(&device(Some("cuda:0"), &[BenchKind::Gemv]));
    let both = connected("A chip", None, vec![done(6, card), done(2, calibration_job(&processor))]);
    let measured = Some(MachineSelection::Measured(JobId(2)));
    assert_eq!(selection(&both, orin), measured, "a card is not the machine");
    assert_eq!(selection(&connected("A chip", None, Vec::new()), orin), None);
    let board = connected("ARMv8 Processor", Some(on_catalog(&orin.key)), Vec::new());
    assert_eq!(selection(&board, orin), Some(MachineSelection::Done));
    let h100 = catalog::device("h100_sxm").expect("a key");
    assert_eq!(selection(&board, h100), Some(MachineSelection::Catalog(orin)));
    // A daemon of before tells its processor alone, by a name that must be a published one.
    let before = connected("AMD EPYC 9654 96-Core Processor", None, Vec::new());
    let epyc = catalog::device("epyc_9654").expect("a key");
    assert_eq!(selection(&before, h100), Some(MachineSelection::Catalog(epyc)));
    let unlisted = MachineHere { catalog_key: None, why_not: Some("two unlike cards".to_owned()) };
    let unlisted = connected("AMD EPYC 9654 96-Core Processor", Some(unlisted), Vec::new());
    assert_eq!(selection(&unlisted, h100), None, "the daemon says that it is no device");
    assert_eq!(selection(&Client::default(), orin), None, "no daemon");
    assert!(selected("A", "B").contains("Back returns to A"));
}

/// A session of a machine with an unlisted processor and a card, each with its key in the catalog.
fn with_card(here: Option<&str>, card: Option<&str>, jobs: Vec<JobSummary>) -> Client {
    let mut client = Client::default();
    let name = |backend: &str, name: &str, key: Option<&str>| DeviceName {
        backend: backend.to_owned(),
        index: 0,
        name: name.to_owned(),
        catalog_key: key.map(str::to_owned),
    };
    client.connection.state = State::Connected(DaemonSession {
        here: Some(here.map(on_catalog).unwrap_or_default()),
        devices: vec![name("cpu", "A chip", None), name("cuda", "A card", card)],
        ..DaemonSession::simulated(Vec::new(), "", "A chip")
    });
    drop(client.receive(None, ServerMessage::Jobs { more: false, jobs, passed_over: 0 }));
    client
}

fn keys(client: &Client, inputs: &Inputs) -> Vec<String> {
    let here = this_machine(client.session().expect("connected"), inputs);
    let key = |choice: &MachineChoice| {
        let known = choice.known.as_ref().map_or("unknown", |known| &*known.device.key);
        format!("{} {known}", choice.file_key)
    };
    here.devices.iter().map(key).collect()
}

#[test]
fn this_machine_is_the_measured_device_before_that_of_the_catalog() {
    let mut inputs = Inputs::default();
    let board = connected("A chip", Some(on_catalog("t4")), Vec::new());
    assert_eq!(keys(&board, &inputs), [" t4", "this_machine unknown"], "no backend measures it");
    let chip = connected("A chip", Some(on_catalog("epyc_9654")), Vec::new());
    assert_eq!(keys(&chip, &inputs), ["this_machine unknown"]);
    let nothing = connected("A chip", Some(MachineHere::default()), Vec::new());
    assert_eq!(keys(&nothing, &inputs), ["this_machine unknown"]);
    let nameless = connected("", None, Vec::new());
    assert_eq!(keys(&nameless, &inputs), [""; 0]);
    let measured = Device {
        key: PROCESSOR_KEY.into(),
        name: "A chip (measured here)".into(),
        ..catalog::device("epyc_9654").expect("a key").clone()
    };
    inputs.set_device(Cow::Owned(measured));
    assert_eq!(keys(&nothing, &inputs), ["this_machine this_machine"]);
}

#[test]
fn a_card_and_the_processor_are_choices_of_their_own_and_the_card_of_the_catalog_is_the_machine() {
    let card = with_card(Some("t4"), Some("t4"), Vec::new());
    let mut inputs = Inputs::default();
    assert_eq!(keys(&card, &inputs), ["this_machine_cuda_0 t4", "this_machine unknown"]);
    let measured = Device {
        key: "this_machine_cuda_0".into(),
        name: "A card (measured here)".into(),
        ..catalog::device("t4").expect("a key").clone()
    };
    inputs.set_device(Cow::Owned(measured));
    let both = ["this_machine_cuda_0 this_machine_cuda_0", "this_machine unknown"];
    assert_eq!(keys(&card, &inputs), both);
    let unlisted = with_card(None, None, Vec::new());
    assert_eq!(
        keys(&unlisted, &inputs),
        ["this_machine unknown", "this_machine_cuda_0 this_machine_cuda_0"]
    );
}

#[test]
fn the_newest_measurements_of_each_device_are_offered_and_those_of_the_machine_selected() {
    let processor = device(None, &[BenchKind::Gemv]);
    let card = device(Some("cuda:0"), &[BenchKind::Gemv]);
    let jobs = || {
        vec![
            done(9, calibration_job(&card)),
            done(8, roofs_job(&processor)),
            done(3, roofs_job(&card)),
            done(2, calibration_job(&processor)),
        ]
    };
    let offered = |client: &Client| -> Vec<u64> {
        let jobs = client.jobs.all().iter();
        let offered = jobs.filter(|job| job.result_use == ResultUse::Offered);
        offered.map(|job| job.summary.job.0).collect()
    };
    let h100 = catalog::device("h100_sxm").expect("a key");
    let mut client = with_card(Some("t4"), Some("t4"), jobs());
    assert_eq!(offered(&client), [9, 8]);
    assert_eq!(selection(&client, h100), Some(MachineSelection::Measured(JobId(9))));
    drop(client.await_roofs(JobId(9)));
    assert_eq!(offered(&client), [8]);
    client.jobs.taken(JobId(9));
    let of = |id: &str| client.jobs.newest_roofs(id);
    assert_eq!((of("cuda:0"), of("cpu:0")), (None, Some(JobId(8))), "each device has its own");
    let unlisted = with_card(None, None, jobs());
    assert_eq!(selection(&unlisted, h100), Some(MachineSelection::Measured(JobId(8))));
    drop(client.receive(None, ServerMessage::Jobs { more: false, jobs: jobs(), passed_over: 0 }));
    assert_eq!(offered(&client), [8], "a second list offers nothing again");
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
    assert!(about(&inputs).contains("roofs are those of the machine"));
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
    let job_of = |flagged: usize| {
        let records = (0..4).map(|i| record((i < flagged).then_some("contended"))).collect();
        let spec = calibration_job(&device(None, &[BenchKind::Gemv]));
        Job { calibration: Some((String::new(), None)), ..job(spec, records) }
    };
    let catalog = Inputs::default();
    assert_eq!([0, 2].map(|few| after_disturbed(&job_of(few), &catalog)), [None, None]);
    assert_eq!(after_disturbed(&job(roofs_job(&device(None, &[])), Vec::new()), &catalog), None);
    let most = job_of(3);
    assert_eq!(after_disturbed(&most, &catalog), Some(AfterDisturbed::New));
    let said = disturbed(&most, AfterDisturbed::New);
    assert!(said.starts_with("3 of the 4 points of job 1 were disturbed"), "{said}");

    // Roofs of before give way to factors, and factors stay.
    let mut roofs = Inputs::default();
    let mut measured = (*roofs.device).clone();
    measured.name = most.records[0].device.clone().into();
    measured.bandwidth.provenance = Provenance::Measured;
    roofs.set_device(Cow::Owned(measured));
    assert_eq!(after_disturbed(&most, &roofs), Some(AfterDisturbed::New));
    let only_roofs = Job { calibration: None, ..most.clone() };
    assert_eq!(after_disturbed(&only_roofs, &roofs), Some(AfterDisturbed::Earlier));
    let text = r#"{"device":"epyc_9654","about":"a test","rows":[{"measured":"kernel","op":"gemm","eta_memory":0.5,"eta_compute":0.5,"floor_us":1.5,"low":0.9,"high":1.1,"points":40}]}"#;
    let own = report::input::calibration_file::parse(text).expect("a calibration");
    let lines = report::input::calibration_file::lines::write(&own);
    let own = crate::state::place::OwnCalibration::read(&lines).expect("own factors");
    let factors = Inputs { own: Some(Arc::new(own)), ..roofs };
    assert_eq!(after_disturbed(&most, &factors), Some(AfterDisturbed::Earlier));
    let said = disturbed(&most, AfterDisturbed::Earlier);
    assert!(said.contains("\u{201c}Use the calibration of the shown job\u{201d}"), "{said}");
}
