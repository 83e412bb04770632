//! Errors that the driver reports of a card as Xid numbers, since this process listens for them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{EventSet, Nvml};

use super::super::super::Reading;
use super::super::{GpuQuantity, GpuReading};
use super::library::said;

/// Most errors that are kept of a card, and most events that one reading takes.
const MOST: usize = 8;
const ASKED: &str = "events of Xid errors since this process listens";

/// Events of a card.
struct Events {
    set: EventSet<'static>,
    /// The latest numbers, oldest first.
    errors: Vec<u64>,
}

/// A card that is listened to, once the library took it.
type Listened = Arc<Mutex<Option<Events>>>;

/// Each card has a lock of its own, so that one that hangs holds up no other.
static LISTENING: Mutex<BTreeMap<String, Listened>> = Mutex::new(BTreeMap::new());

/// The number of the latest error of the card at an address, zero where there was none; the source has the latest ones.
pub(super) fn reading(nvml: &'static Nvml, address: &str) -> GpuReading {
    let found = errors(nvml, address);
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

fn errors(nvml: &'static Nvml, address: &str) -> Reading<Vec<u64>> {
    let listened = Arc::clone(locked(&LISTENING).entry(address.to_owned()).or_default());
    let mut listened = locked(&listened);
    let events = match &mut *listened {
        Some(events) => events,
        none => {
            let set = listen(nvml, address).map_err(|error| said(ASKED, &error))?;
            none.insert(Events { set, errors: Vec::new() })
        }
    };
    for _ in 0..MOST {
        match events.set.wait(0) {
            Ok(event) => events.errors.extend(event.event_data.map(|error| match error {
                XidError::Value(number) => number,
                XidError::Unknown => UNKNOWN,
            })),
            // A lost card has its last events, and no more.
            Err(NvmlError::Timeout | NvmlError::GpuLost) => break,
            Err(error) => return Err(said(ASKED, &error)),
        }
    }
    let superfluous = events.errors.len().saturating_sub(MOST);
    events.errors.drain(..superfluous);
    Ok(events.errors.clone())
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number that the library gives to an error that it does not know.
const UNKNOWN: u64 = 999;

fn listen(nvml: &'static Nvml, address: &str) -> Result<EventSet<'static>, NvmlError> {
    let card = nvml.device_by_pci_bus_id(address)?;
    let set = nvml.create_event_set()?;
    card.register_events(EventTypes::CRITICAL_XID_ERROR, set).map_err(|error| error.error)
}
