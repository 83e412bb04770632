//! The library of this process, and the sentences about its errors.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kernels::cuda::libraries::{self, Library, VARIABLE};
use nvml_wrapper::Nvml;

use super::super::super::Reading;
use super::faults::said;
use super::xid::Listeners;
use crate::hooks::Hooks;

/// Time after which a library that did not open is tried again, because a driver can be loaded meanwhile.
const AGAIN: Duration = Duration::from_secs(5);

/// The open library. It is shut down when its last user drops it.
pub(super) struct Opened {
    pub(super) nvml: Arc<Nvml>,
    /// Threads that listen for errors; they end with this.
    pub(super) listeners: Listeners,
}

/// The library of this process.
struct State {
    /// The open library, and when it was asked for last.
    open: Option<(Instant, Arc<Opened>)>,
    /// Reason why it did not open, and when it was tried.
    failed: Option<(Instant, String)>,
    /// Its file, once it was found.
    file: Option<PathBuf>,
}

static STATE: Mutex<State> = Mutex::new(State { open: None, failed: None, file: None });

/// The library, for the length of some questions. It stays open for [`Hooks::meter_idle`] after the last ones.
pub(super) fn opened() -> Reading<Arc<Opened>> {
    let mut state = locked();
    if let Some((used, opened)) = &mut state.open {
        *used = Instant::now();
        return Ok(Arc::clone(opened));
    }
    if let Some((at, why)) = &state.failed
        && at.elapsed() < AGAIN
    {
        return Err(why.clone());
    }
    let found = open(&mut state.file);
    state.failed = found.as_ref().err().map(|why| (Instant::now(), why.clone()));
    let opened = found?;
    state.open = Some((Instant::now(), Arc::clone(&opened)));
    drop(state);
    // Without a thread it stays open until the process ends.
    let _ = thread::Builder::new().name("nvml".into()).spawn(close_when_idle);
    Ok(opened)
}

fn open(file: &mut Option<PathBuf>) -> Reading<Arc<Opened>> {
    // Files of a unit test are not of the machine whose library this would be.
    if cfg!(test) {
        return Err("NVML is not opened in unit tests".into());
    }
    if file.is_none() {
        *file = libraries::alone(Library::Nvml).map(|found| found.file);
    }
    let file = file.as_ref().ok_or_else(|| {
        let [name] = Library::Nvml.names() else { unreachable!("it has one name") };
        format!("NVML ({name}) was not found; the variable {VARIABLE} can name its folder")
    })?;
    let found = Nvml::builder().lib_path(file.as_os_str()).init();
    let nvml = Arc::new(found.map_err(|error| said("nvmlInit", &error))?);
    Ok(Arc::new(Opened { nvml, listeners: Listeners::default() }))
}

/// Waits until the library was not asked for a while, and closes it.
fn close_when_idle() {
    let idle = Hooks::meter_idle();
    loop {
        let mut state = locked();
        let Some((used, _)) = &state.open else { return };
        let rest = idle.saturating_sub(used.elapsed());
        if rest.is_zero() {
            let closed = state.open.take();
            // Shutting down may take long, and another process may ask meanwhile.
            drop(state);
            drop(closed);
            return;
        }
        drop(state);
        thread::sleep(rest);
    }
}

fn locked() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
