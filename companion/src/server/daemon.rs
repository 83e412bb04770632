//! The state that every request and session shares.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::ability::Abilities;
use protocol::device::DeviceName;
use protocol::hex::Hex;
use protocol::server::MachineHere;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use super::engine::EnginePlaces;
use super::keyring::Keyring;
use super::notes::Notes;
use super::places::Places;
use super::refusal::Counters;
use super::static_files::Site;
use super::throttle::{Pace, Throttle};
use crate::audit::{Action, Entry, Log, Tally, Who};
use crate::clock::Clock;
use crate::hooks::Hooks;
use crate::jobs::{Desk, Jobs, Journal, Store, Workers};
use crate::keys::{KeyFile, random};
use crate::measure::abilities::abilities;
use crate::measure::here;
use crate::measure::machine;
use crate::scopes::Restriction;
use crate::telemetry::{SensorReader, SharedSensors};
use crate::verbs::attach;

/// Largest number of concurrent calculations.
const COMPUTING: usize = 2;

/// The configuration of a daemon.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) site: Site,
    /// Folder of keys and jobs.
    pub(crate) state: PathBuf,
    /// It is not the usual one.
    pub(crate) has_own_state: bool,
    /// Allowed host names beside those of this machine.
    pub(crate) hosts: Vec<String>,
    /// Allowed origins beside its own.
    pub(crate) origins: Vec<String>,
    /// Scopes that sessions do not have.
    pub(crate) restriction: Restriction,
    pub(crate) hooks: Hooks,
    pub(crate) clock: Clock,
}

#[cfg(test)]
impl Config {
    /// A daemon of a test in a folder that must not exist, with a page and a file beside it; its clock goes as `clock` in it says.
    pub(super) fn of_test(folder: &std::path::Path) -> Self {
        use std::fs;
        use std::os::unix::fs::DirBuilderExt;

        let (site, state) = (folder.join("site"), folder.join("state"));
        fs::create_dir_all(site.join("learn b")).expect("a folder of its own");
        fs::DirBuilder::new().mode(0o700).create(&state).expect("a folder of its own");
        for (name, text) in [
            ("site/index.html", "<!doctype html>page"),
            ("site/style-01234567.css", "p { color: red }"),
            ("site/learn b/index.html", "<!doctype html>lesson"),
            ("outside.txt", "nobody may read this"),
        ] {
            fs::write(folder.join(name), text).expect("a folder of its own");
        }
        Self {
            site: Site::of(&site).expect("it is there"),
            state,
            has_own_state: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            restriction: Restriction::default(),
            hooks: Hooks::default(),
            clock: Clock::turned_by(Some(folder.join("clock"))),
        }
    }
}

/// The shared state of the daemon.
#[derive(Debug)]
pub(super) struct Daemon {
    pub(super) site: Site,
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
    pub(super) restriction: Restriction,
    pub(super) server: Hex<16>,
    pub(super) epoch: Hex<8>,
    /// Names of the devices, the processor first.
    pub(super) devices: Vec<DeviceName>,
    /// The machine as a device of the catalog.
    pub(super) here: MachineHere,
    pub(super) abilities: Abilities,
    pub(super) keys: Keyring,
    pub(super) throttle: Mutex<Throttle>,
    pub(super) pace: Mutex<Pace>,
    /// Keys whose actions have lines of their own in the audit log.
    lines: Mutex<Pace>,
    pub(super) places: Places,
    pub(super) computing: Arc<Semaphore>,
    /// Places of inference servers that sessions read.
    pub(super) engines: EnginePlaces,
    pub(super) jobs: Arc<Jobs>,
    pub(super) notes: Notes,
    pub(super) tally: Tally,
    pub(super) journal: Arc<Journal>,
    pub(super) sensors: Arc<SharedSensors>,
    pub(super) counters: Counters,
    pub(super) clock: Clock,
    pub(super) hooks: Hooks,
    pub(super) ending: watch::Sender<bool>,
}

impl Daemon {
    /// Opens keys, audit log and job store, whose thread it starts.
    ///
    /// # Errors
    /// A sentence that says which of them cannot be opened.
    pub(super) fn new(config: Config) -> Result<Self, String> {
        let (daemon, desk) = Self::open(config, Workers::Processes)?;
        desk.start()?;
        Ok(daemon)
    }

    /// Opens keys, audit log and job store. Somebody has to execute what the desk is asked.
    ///
    /// # Errors
    /// A sentence that says which of them cannot be opened.
    pub(super) fn open(config: Config, workers: Workers) -> Result<(Self, Desk), String> {
        let file = KeyFile::of(&config.state).map_err(|error| error.to_string())?;
        let log = Log::of(&config.state, config.clock.clone());
        let started = Entry::done(Who::terminal(), Action::Serve, "");
        log.add(&started, true)
            .map_err(|error| format!("the audit log cannot be used: {error}"))?;
        let keys = Keyring::open(file, config.hooks.clone()).map_err(|error| error.to_string())?;
        let journal = Arc::new(Journal::new());
        let Config { hooks, clock, .. } = &config;
        let (hooks, clock) = (hooks.clone(), clock.clone());
        let opened = Store::open(&config.state, Arc::clone(&journal), clock.clone(), hooks.clone());
        let (store, desk) = opened?;
        let devices = machine::devices_for_daemon(&hooks);
        let sensors = match &workers {
            Workers::Processes => {
                let mut reader = SensorReader::new(clock.clone()).naming(&devices);
                SharedSensors::start(clock.clone(), move || reader.sensed())
            }
            #[cfg(all(test, debug_assertions))]
            Workers::Played(_) => SharedSensors::played(clock.clone()),
        };
        let sensors = Arc::new(sensors);
        let daemon = Self {
            site: config.site,
            hosts: config.hosts,
            origins: config.origins,
            restriction: config.restriction,
            server: keys.book().server,
            epoch: Hex(random()),
            devices: devices.iter().map(machine::name).collect(),
            here: here::told(&Hooks::sensors()),
            abilities: Abilities {
                engines: attach::engines(),
                own_state: config.has_own_state,
                ..abilities(&devices, config.restriction)
            },
            keys,
            throttle: Mutex::default(),
            pace: Mutex::new(Pace::of_sessions()),
            lines: Mutex::new(Pace::of_lines()),
            places: Places::new(),
            computing: Arc::new(Semaphore::new(COMPUTING)),
            engines: EnginePlaces::default(),
            jobs: Jobs::new(store, hooks.clone(), devices, workers, Arc::clone(&sensors)),
            notes: Notes::start(log)?,
            tally: Tally::new(hooks.tally()),
            journal,
            sensors,
            counters: Counters::default(),
            clock,
            hooks,
            ending: watch::Sender::new(false),
        };
        Ok((daemon, desk))
    }

    /// Name of the processor.
    pub(super) fn machine(&self) -> String {
        self.devices.first().map(|device| device.name.clone()).unwrap_or_default()
    }

    /// Writes an action that a key is about to do, given its order; false if that failed. From a key with very many actions the first of
    /// an interval is written, and those after it as one line with their number, so that no key pushes the lines of others out.
    pub(super) fn write_action(&self, who: &Who, action: Action, order: &str) -> bool {
        let now = Instant::now();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = if who.key.is_none_or(|key| lines.takes(key, now)) {
            Some(Entry::done(who.clone(), action, order))
        } else {
            self.tally.allowed(now, who, action)
        };
        drop(lines);
        entry.map_or_else(|| !self.notes.is_failing(), |entry| self.notes.write(&entry))
    }

    /// Counts a session that a key opened; the first in an interval is written to the audit log.
    pub(super) fn note_session(&self, who: &Who) {
        let entry = self.tally.allowed(Instant::now(), who, Action::Identify);
        if let Some(entry) = entry {
            self.notes.note(entry);
        }
    }

    /// Counts a refusal; the first of its kind in an interval is written to the audit log.
    pub(super) fn note_refusal(
        &self,
        who: impl FnOnce() -> Who,
        action: Action,
        why: &'static str,
    ) {
        let entry = self.tally.refused(Instant::now(), who, action, why);
        if let Some(entry) = entry {
            self.notes.note(entry);
        }
    }
}
