//! What answers over HTTP and over the socket of the page. Requests pass the guard (name, origin), then the table of routes; a
//! socket passes the handshake, then lives as a session.

mod audit;
mod connections;
pub(crate) mod embedded;
mod guard;
mod handshake;
mod host;
pub(crate) mod interrupt;
mod keyring;
mod metrics;
mod openapi;
mod origin;
mod places;
mod refusal;
mod rest;
mod routes;
mod session;
mod socket;
pub(crate) mod static_files;
mod throttle;

pub(crate) use origin::is_plain;
#[cfg(test)]
pub(crate) use refusal::Refusal;

use std::net::{IpAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use protocol::hex::Hex;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use crate::audit::{Action, Entry, Log, Tally, Who};
use crate::clock::Clock;
use crate::hooks::Hooks;
use crate::jobs::{Jobs, Journal, Store};
use crate::keys::{KeyFile, random};
use crate::telemetry::Watch;
use connections::{Connections, Listener};
use keyring::Keyring;
use places::Places;
use refusal::Counters;
use static_files::Site;
use throttle::Throttle;

/// How a daemon is set up.
#[derive(Debug)]
pub(crate) struct Config {
    /// The built page.
    pub(crate) site: Site,
    /// Where keys and jobs are kept.
    pub(crate) state: PathBuf,
    /// Names beside those of this machine.
    pub(crate) hosts: Vec<String>,
    /// Origins beside its own.
    pub(crate) origins: Vec<String>,
    /// Sessions may start jobs.
    pub(crate) bench: bool,
    pub(crate) hooks: Hooks,
    pub(crate) clock: Clock,
}

/// Where it listens.
#[derive(Debug)]
pub(crate) enum Bound {
    /// At an address, which only this machine reaches or others too.
    Tcp { listener: TcpListener, is_local: bool },
    /// At a path, which is removed at the end.
    Unix { listener: UnixListener, path: PathBuf },
}

/// Which way somebody comes.
#[derive(Debug, Clone, Copy)]
enum Peer {
    /// Through 127.0.0.1 or [::1].
    Here,
    /// Through a socket of the file system, which only this user opens.
    Socket,
    /// From another machine, or through an address that others reach too.
    Network(IpAddr),
}

impl Peer {
    /// Nobody reads along.
    const fn is_local(self) -> bool {
        !matches!(self, Self::Network(_))
    }
}

/// Everything that a request may need.
#[derive(Debug)]
struct Daemon {
    site: Site,
    hosts: Vec<String>,
    origins: Vec<String>,
    bench: bool,
    server: Hex<16>,
    epoch: Hex<8>,
    keys: Keyring,
    throttle: Mutex<Throttle>,
    places: Places,
    computing: Arc<Semaphore>,
    jobs: Arc<Jobs>,
    log: Log,
    tally: Tally,
    journal: Arc<Journal>,
    sensors: Watch,
    counters: Counters,
    clock: Clock,
    hooks: Hooks,
    ending: watch::Sender<bool>,
}

/// Calculations at once.
const COMPUTING: usize = 2;
/// What a running job may still take when the daemon ends.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Serves until a signal ends it, and gives the exit code.
///
/// `announce` is called when everything is open and requests are answered.
///
/// # Errors
/// Why it cannot start, as a sentence.
pub(crate) fn serve(
    config: Config,
    bound: Vec<Bound>,
    announce: impl FnOnce() -> Result<(), String>,
) -> Result<u8, String> {
    let failed = |error: std::io::Error| format!("the server failed: {error}");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(8)
        .build()
        .map_err(failed)?;
    runtime.block_on(async {
        let daemon = Arc::new(Daemon::new(config)?);
        let runner = tokio::spawn(Arc::clone(&daemon.jobs).run());
        tokio::spawn(keyring::follow(Arc::clone(&daemon)));
        tokio::spawn(audit::follow(Arc::clone(&daemon)));
        let connections = Arc::new(Connections::default());
        let mut paths = Vec::new();
        for bound in bound {
            if let Bound::Unix { path, .. } = &bound {
                paths.push(path.clone());
            }
            let listener = Listener::of(bound).map_err(failed)?;
            let (daemon, connections) = (Arc::clone(&daemon), Arc::clone(&connections));
            tokio::spawn(connections::accept(daemon, connections, listener));
        }
        announce()?;
        let code = ended_by_signal().await.map_err(failed)?;
        // Sessions say goodbye, and the job that runs is marked as interrupted.
        daemon.ending.send_replace(true);
        daemon.jobs.end();
        let _ = timeout(LAST_WORDS, runner).await;
        daemon.jobs.store().settle().await;
        audit::finish(&daemon);
        // What cannot be removed is found stale at the next start.
        for path in paths {
            let _ = std::fs::remove_file(path);
        }
        Ok(code)
    })
}

/// Ctrl-C is an interruption; the other one is how a service is ended.
async fn ended_by_signal() -> std::io::Result<u8> {
    let mut terminate: Signal = signal(SignalKind::terminate())?;
    tokio::select! {
        done = tokio::signal::ctrl_c() => done.map(|()| 130),
        _ = terminate.recv() => Ok(0),
    }
}

impl Daemon {
    fn new(config: Config) -> Result<Self, String> {
        let file = KeyFile::of(&config.state).map_err(|error| error.to_string())?;
        let log = Log::of(&config.state, config.clock.clone());
        let started = Entry::done(Who::terminal(), Action::Serve, "");
        log.add(&started, true)
            .map_err(|error| format!("the audit log cannot be used: {error}"))?;
        let keys = Keyring::open(file).map_err(|error| error.to_string())?;
        let journal = Arc::new(Journal::new());
        let Config { hooks, clock, .. } = &config;
        let (hooks, clock) = (hooks.clone(), clock.clone());
        let store = Store::open(&config.state, Arc::clone(&journal), clock.clone(), hooks.clone())?;
        Ok(Self {
            site: config.site,
            hosts: config.hosts,
            origins: config.origins,
            bench: config.bench,
            server: keys.book().server,
            epoch: Hex(random()),
            keys,
            throttle: Mutex::default(),
            places: Places::new(),
            computing: Arc::new(Semaphore::new(COMPUTING)),
            jobs: Jobs::new(store, hooks.clone()),
            log,
            tally: Tally::new(hooks.tally()),
            journal,
            sensors: Watch::new(clock.clone()),
            counters: Counters::default(),
            clock,
            hooks,
            ending: watch::Sender::new(false),
        })
    }
}
