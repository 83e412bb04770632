//! The measured machine as a device: the jobs that measure its roofs and factors, and their results, which the page applies.

use calc_core::catalog;
use calc_core::device::{Device, DeviceClass};
use calc_core::provenance::Provenance;
use protocol::bench::{BenchKind, BenchRecord};
use protocol::device::{DeviceName, PROCESSOR_KEY, file_key};
use protocol::job::{CalibrateSpec, JobId, JobSpec, JobState};

use crate::link::client::Client;
use crate::link::jobs::Job;
use crate::link::session::DaemonSession;
use crate::state::inputs::Inputs;
use crate::state::measure::form::MeasuredDevice;
use crate::state::measure::grade::is_disturbed;
use crate::state::place::{disturbed_roofs, factors_of_others};
use crate::state::this_machine::{MachineChoice, MachineDevice, ThisMachine};

/// The device that was measured, or is measured next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MeasuredMachine {
    /// Name that it reports; empty while no daemon is connected.
    pub name: String,
    /// Its key in the catalog, where one fits.
    pub key: Option<String>,
}

impl MeasuredMachine {
    /// The device that a record was measured on.
    pub fn of_record(record: &BenchRecord) -> Self {
        Self::new(&record.device, record.catalog_key.as_deref())
    }

    /// A device of a daemon by its name in orders; the first one without a name.
    pub fn of_session(session: &DaemonSession, wanted: Option<&str>) -> Self {
        let is_wanted = |id: String| wanted.is_none_or(|wanted| id == wanted);
        match session.devices.iter().find(|device| is_wanted(device.id())) {
            Some(device) if !device.name.is_empty() => {
                Self::new(&device.name, device.catalog_key.as_deref())
            }
            _ => Self::new(&session.machine, None),
        }
    }

    /// Daemons of before tell no key; a published name then stands for one.
    fn new(name: &str, key: Option<&str>) -> Self {
        let published = || Some(catalog::device(name).ok()?.key.to_string());
        let key = key.map(str::to_owned).or_else(published).filter(|_| !name.is_empty());
        Self { name: name.to_owned(), key }
    }

    /// Whether a device is this one: measured here, or of the catalog.
    pub fn is(&self, device: &Device) -> bool {
        // A device made of measurements is named after its machine.
        let rest = device.name.strip_prefix(&*self.name).filter(|_| !self.name.is_empty());
        let is_named = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("));
        is_named || self.key.as_deref() == Some(&*device.key)
    }
}

/// The job that measures the roofs of a device.
pub fn roofs_job(device: &MeasuredDevice) -> JobSpec {
    JobSpec::Bench(device.order(BenchKind::Roofs, Vec::new()))
}

/// The order of a calibration, which measures the roofs and the factors of a device.
pub fn calibration_job(device: &MeasuredDevice) -> JobSpec {
    JobSpec::Calibrate(CalibrateSpec { backend: device.backend.clone() })
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
pub fn job_result(job: &Job) -> Option<JobResult> {
    if let Some((calibration, device)) = &job.calibration {
        return Some(JobResult::Calibration(calibration.clone(), device.clone()));
    }
    let is_done = job.summary.state == JobState::Done;
    job.roofs.clone().filter(|_| is_done).map(JobResult::Roofs)
}

/// Measurements that count after a job of which more than half of the points were disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterDisturbed {
    /// Those of the job: there was nothing better.
    New,
    /// Those from before it.
    Earlier,
}

/// The measurements that count after a job that other programs disturbed; `None` for all others. Earlier results of the same device are kept if they
/// tell as much.
pub fn after_disturbed(job: &Job, before: &Inputs) -> Option<AfterDisturbed> {
    let flagged = job.records.iter().filter(|record| is_disturbed(record)).count();
    if flagged * 2 <= job.records.len() {
        return None;
    }
    let is_of_it = job.records.first().is_some_and(|record| {
        MeasuredMachine::of_record(record).is(&before.device)
            && before.device.bandwidth.provenance == Provenance::Measured
    });
    let tells_as_much = job.calibration.is_none() || before.own.is_some();
    Some(if is_of_it && tells_as_much { AfterDisturbed::Earlier } else { AfterDisturbed::New })
}

/// Warning about a job that other programs disturbed.
pub fn disturbed(job: &Job, after: AfterDisturbed) -> String {
    let flagged = job.records.iter().filter(|record| is_disturbed(record)).count();
    let (all, id) = (job.records.len(), job.summary.job.0);
    let what = if job.calibration.is_some() { "calibration" } else { "roofs" };
    let then = match after {
        AfterDisturbed::New => {
            let now = if job.calibration.is_some() { "roofs and factors" } else { "roofs" };
            format!(
                "the {now} that now count may be wrong. Measure again when the machine is idle, or return with Back to those of before."
            )
        }
        AfterDisturbed::Earlier => format!(
            "the earlier roofs and factors still count. Measure again when the machine is idle; \u{201c}Use the {what} of the shown job\u{201d} takes these all the same."
        ),
    };
    format!(
        "{flagged} of the {all} points of job {id} were disturbed, by other programs or a changing clock: {then}"
    )
}

/// The sentence about a finished job whose daemon made no device file of the roofs; empty for all others.
pub fn without_file(job: &Job) -> String {
    if job.lacks_file() {
        return format!(
            "Job {} has roofs without a device file: an older ridgepoint measured them, or no peak could be measured. Measure them again with a ridgepoint of this version.",
            job.summary.job.0
        );
    }
    String::new()
}

/// The job that measures everything that the page needs of a device, unless its daemon starts none, and the label of its button.
pub fn whole_job(device: Option<&MeasuredDevice>) -> (Option<JobSpec>, String) {
    match device {
        Some(device) if !uncalibrated(Some(device)).is_empty() => {
            let job = untimed(Some(device)).is_empty().then(|| roofs_job(device));
            (job, roofs_label(Some(device)))
        }
        device => (device.map(calibration_job), "Measure and calibrate (4 min)".to_owned()),
    }
}

/// Reason why a device is not the measured one; empty if it is that one.
pub fn elsewhere(device: &Device, machine: &MeasuredMachine) -> String {
    if machine.is(device) {
        return String::new();
    }
    let MeasuredMachine { name: measured, .. } = machine;
    let chosen = &device.name;
    if !measured.is_empty() {
        return format!(
            "What is measured is {measured}, and the chosen device is {chosen}: its roofs are others, so no points are drawn and nothing is expected of them. Measure the roofs of {measured}; it then is the chosen device."
        );
    }
    if device.key.starts_with(PROCESSOR_KEY) {
        return String::new();
    }
    format!(
        "No machine is connected, and {chosen} was not measured here. Points are drawn under the roofs of their own machine only: connect its daemon, then measure it."
    )
}

/// The way in which a connected machine becomes the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MachineSelection {
    /// The chosen device is that machine.
    Done,
    /// The result of its newest job with measured roofs.
    Measured(JobId),
    /// The device of the catalog that the machine is.
    Catalog(&'static Device),
}

/// How the connected machine becomes the device; `None` while nothing is known of it: its jobs were not told yet, or nothing
/// was measured and the catalog does not have it.
pub fn selection(client: &Client, device: &Device) -> Option<MachineSelection> {
    let session = client.session()?;
    let is_told = client.has_jobs && !client.is_selected;
    match standing(session).and_then(|id| client.jobs.newest_roofs(&id)) {
        _ if !is_told => None,
        _ if is_of(session, device) => Some(MachineSelection::Done),
        Some(job) => Some(MachineSelection::Measured(job)),
        None => of_catalog(session).map(MachineSelection::Catalog),
    }
}

/// Whether a device is one of a daemon's machine: that of the catalog, or one that the daemon measures.
pub fn is_of(session: &DaemonSession, device: &Device) -> bool {
    let ids = session.device_ids();
    ids.iter().any(|id| MeasuredMachine::of_session(session, Some(id)).is(device))
        || of_catalog(session).is_some_and(|here| here.key == device.key)
}

/// The device of the catalog that a daemon says its machine is: its board, card or processor. Older daemons name their processor alone.
fn of_catalog(session: &DaemonSession) -> Option<&'static Device> {
    let key = match &session.here {
        Some(here) => here.catalog_key.clone(),
        None => MeasuredMachine::of_session(session, None).key,
    };
    catalog::device(&key?).ok()
}

/// The device of a daemon that stands for its machine: the one that is the device of the catalog, else the processor. `None` for a
/// board or a card of the catalog that no backend of the daemon measures.
fn standing(session: &DaemonSession) -> Option<String> {
    let processor = || session.device_ids().into_iter().next();
    let Some(here) = of_catalog(session) else { return processor() };
    let is_it = |name: &&DeviceName| name.catalog_key.as_deref() == Some(&*here.key);
    match session.devices.iter().find(is_it) {
        Some(found) => Some(found.id()),
        None if here.class == DeviceClass::Cpu => processor(),
        None => None,
    }
}

/// The devices of a session's machine as choices, as they are known before its jobs tell measurements: the chosen device if it is one of
/// them, with its measurements, else those of the catalog. The one that stands for the machine is the first.
pub fn this_machine(session: &DaemonSession, inputs: &Inputs) -> ThisMachine {
    let first = standing(session);
    let mut ids = session.device_ids();
    ids.sort_by_key(|id| Some(id) != first.as_ref());
    let mut devices: Vec<MachineChoice> =
        ids.iter().filter_map(|id| choice(session, inputs, id)).collect();
    if first.is_none()
        && let Some(here) = of_catalog(session)
    {
        let known = Some(MachineDevice::of_catalog(here));
        let name = here.name.to_string();
        devices
            .insert(0, MachineChoice { id: String::new(), file_key: String::new(), name, known });
    }
    ThisMachine { devices }
}

/// A device of a session as a choice; `None` if it has no name, as the processor of a daemon that does not tell it.
fn choice(session: &DaemonSession, inputs: &Inputs, id: &str) -> Option<MachineChoice> {
    let machine = MeasuredMachine::of_session(session, Some(id));
    let (backend, index) = id.split_once(':')?;
    let file_key = file_key(backend, index.parse().ok()?);
    let is_chosen = inputs.device.key == *file_key && machine.is(&inputs.device);
    let catalog = || catalog::device(machine.key.as_deref()?).ok().map(MachineDevice::of_catalog);
    let known = if is_chosen { Some(MachineDevice::chosen(inputs)) } else { catalog() };
    let is_named = !machine.name.is_empty();
    is_named.then(|| MachineChoice { id: id.to_owned(), file_key, name: machine.name, known })
}

/// Label of the button that measures the roofs of a device.
pub fn roofs_label(device: Option<&MeasuredDevice>) -> String {
    format!("Measure {} roofs", whose(device))
}

/// Label of the button that calibrates a device.
pub fn calibration_label(device: Option<&MeasuredDevice>) -> String {
    format!("Calibrate {}", whose(device).trim_end_matches("'s"))
}

/// The machine itself, or another device of it by name.
fn whose(device: Option<&MeasuredDevice>) -> String {
    match device {
        Some(MeasuredDevice { backend: Some(_), name, .. }) => format!("{name}'s"),
        _ => "this machine's".to_owned(),
    }
}

/// Reason why no kernel of a device can be timed; empty if one can, and while none is connected.
pub fn untimed(device: Option<&MeasuredDevice>) -> String {
    let lacks = device.is_some_and(|device| !device.starts(JobSpec::BENCH));
    let why = "The connected ridgepoint starts no measurements; another version of it does.";
    if lacks { why.to_owned() } else { String::new() }
}

/// Reason why a device cannot be calibrated; empty if it can, and while none is connected.
pub fn uncalibrated(device: Option<&MeasuredDevice>) -> String {
    match device {
        Some(device) if !device.starts(JobSpec::CALIBRATE) => {
            "The connected ridgepoint starts no calibrations; another version of it does."
                .to_owned()
        }
        Some(device) if !device.has(BenchKind::Gemv) => format!(
            "{} runs no product with packed weights, and a calibration compares these with its bandwidth.",
            device.name
        ),
        _ => String::new(),
    }
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
            "Measured factors of {} count now: {}. {}",
            device.name,
            own.about.trim_end_matches('.'),
            disturbed_roofs(device)
        )
        .trim_end()
        .to_owned();
    }
    if inputs.place().is_measured() {
        let disturbed = disturbed_roofs(device);
        let disturbed = if disturbed.is_empty() { disturbed } else { format!(" {disturbed}") };
        return format!("{}{disturbed}", factors_of_others(inputs.place()));
    }
    "The chosen device has the roofs of its datasheet. Half a minute measures the roofs of this machine, which then is the device; a calibration, some minutes, also its factors.".to_owned()
}

#[cfg(test)]
mod tests;
