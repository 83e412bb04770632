//! Errors that the driver reports of a card as Xid numbers, while this process listens for them.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{EventSet, Nvml};

use super::super::super::Reading;
use super::super::{GpuQuantity, GpuReading};
use super::faults::said;

/// Most errors that are kept of a card, and most events that one reading takes.
const MOST: usize = 8;
const ASKED: &str = "events of Xid errors while this process listens";

/// The latest numbers of each card by its address, oldest first. They stay when the library is closed.
static ERRORS: Mutex<BTreeMap<String, Vec<u64>>> = Mutex::new(BTreeMap::new());

/// A question for new events, with the place of its answer.
type Question = SyncSender<Reading<()>>;

/// The threads that listen, by the address of their card: events are those of a set that lives as long as the library is open. One that
/// hangs holds up no other card.
#[derive(Default)]
pub(super) struct Listeners(Mutex<BTreeMap<String, Sender<Question>>>);

/// The number of the latest error of the card at an address, zero where there was none; the source has the latest ones.
pub(super) fn reading(nvml: &Arc<Nvml>, listeners: &Listeners, address: &str) -> GpuReading {
    let found = errors(nvml, listeners, address);
    let named = match found.as_deref() {
        Ok([]) => ": none".to_owned(),
        Ok(errors) => {
            format!(": {}", errors.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
        }
        Err(_) => String::new(),
    };
    let last = found.map(|errors| errors.last().map_or(0.0, |last| *last as f64));
    GpuReading::new(GpuQuantity::LastXid, None, format!("NVML, {ASKED}{named}"), last)
}

fn errors(nvml: &Arc<Nvml>, listeners: &Listeners, address: &str) -> Reading<Vec<u64>> {
    let (answer, answered) = sync_channel(1);
    let asked = listeners.of(nvml, address)?.send(answer);
    let answered = asked.ok().and_then(|()| answered.recv().ok());
    answered.ok_or_else(|| format!("NVML, {ASKED}: the thread that listens has ended"))??;
    Ok(locked(&ERRORS).get(address).cloned().unwrap_or_default())
}

impl Listeners {
    /// The thread of a card, which is started at its first question.
    fn of(&self, nvml: &Arc<Nvml>, address: &str) -> Reading<Sender<Question>> {
        let mut all = locked(&self.0);
        if let Some(known) = all.get(address) {
            return Ok(known.clone());
        }
        let (ask, questions) = channel();
        let (nvml, of) = (Arc::clone(nvml), address.to_owned());
        let run = move || answer_all(&nvml, &of, &questions);
        let started = thread::Builder::new().name("xid".into()).spawn(run);
        started.map_err(|error| format!("no thread can be started to listen: {error}"))?;
        all.insert(address.to_owned(), ask.clone());
        Ok(ask)
    }
}

/// Answers until the library is closed.
fn answer_all(nvml: &Nvml, address: &str, questions: &Receiver<Question>) {
    let mut set = None;
    for answer in questions {
        // Whoever asked may not wait any more.
        let _ = answer.send(news(&mut set, nvml, address));
    }
    // An error of the time since the last question is not lost with the set.
    if set.is_some() {
        let _ = news(&mut set, nvml, address);
    }
}

/// Takes new events; the first call begins to listen.
fn news<'a>(set: &mut Option<EventSet<'a>>, nvml: &'a Nvml, address: &str) -> Reading<()> {
    let set = match set {
        Some(set) => set,
        none => none.insert(listen(nvml, address).map_err(|error| said(ASKED, &error))?),
    };
    for _ in 0..MOST {
        match set.wait(0) {
            Ok(event) => keep(
                address,
                event.event_data.map(|error| match error {
                    XidError::Value(number) => number,
                    XidError::Unknown => UNKNOWN,
                }),
            ),
            // A lost card has its last events, and no more.
            Err(NvmlError::Timeout | NvmlError::GpuLost) => break,
            Err(error) => return Err(said(ASKED, &error)),
        }
    }
    Ok(())
}

fn keep(address: &str, number: Option<u64>) {
    let mut all = locked(&ERRORS);
    let errors = all.entry(address.to_owned()).or_default();
    errors.extend(number);
    let superfluous = errors.len().saturating_sub(MOST);
    errors.drain(..superfluous);
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number that the library gives to an error that it does not know.
const UNKNOWN: u64 = 999;

fn listen<'a>(nvml: &'a Nvml, address: &str) -> Result<EventSet<'a>, NvmlError> {
    let card = nvml.device_by_pci_bus_id(address)?;
    let set = nvml.create_event_set()?;
    card.register_events(EventTypes::CRITICAL_XID_ERROR, set).map_err(|error| error.error)
}
