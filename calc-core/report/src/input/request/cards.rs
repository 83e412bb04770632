//! Several cards in the name of the hardware: `rtx 4090 + rtx 3090`, `4090 + 2x 3090`. Equal ones are a pipeline.

use std::borrow::Cow;
use std::cmp::Reverse;

use calc_core::catalog;
use calc_core::device::{Device, DeviceClass};
use calc_core::error::{Error, in_range};
use calc_core::parallel::{Parallel, Pipeline};
use calc_core::plan::{Card, Cards};
use calc_core::provenance::Fact;
use calc_core::text::Text;
use calc_core::units::Bytes;

use super::{Fields, Library, RequestError, has_file_end, host};

/// Most cards of one machine.
const MOST: u64 = 16;
/// The name of hardware with several cards, in refusals.
const SEVERAL: &str = "hardware with several cards";

/// Cards that the name of the hardware lists, the fastest memory first, as CUDA numbers them.
#[derive(Debug, Clone)]
pub(super) struct ListedCards {
    devices: Vec<Cow<'static, Device>>,
}

/// The parts of a list of cards with their numbers; `None` for a name that lists fewer than two.
fn parts<'n>(name: &'n str, library: &Library<'_>) -> Option<Vec<(u64, &'n str)>> {
    if !name.contains('+') || library.one_device(name).is_ok() {
        return None;
    }
    let counted = |part: &'n str| match catalog::counted(part) {
        Some((count, one)) if library.one_device(part).is_err() => (count, one),
        _ => (1, part.trim()),
    };
    let parts: Vec<(u64, &str)> = name.split('+').map(counted).collect();
    let is_card = |(_, part): &&(u64, &str)| {
        library.one_device(part).is_ok_and(|device| device.class != DeviceClass::Cpu)
    };
    (parts.iter().filter(is_card).count() > 1).then_some(parts)
}

/// Whether a name lists several cards.
pub(super) fn is_list(name: &str, library: &Library<'_>) -> bool {
    parts(name, library).is_some()
}

/// The refusal of a list that lacks a device.
pub(super) const LACKING: RequestError =
    RequestError::Missing { key: "a device before or after + in hardware" };

/// Whether the name of a card has nothing before or after a plus. Names of some processors end with one, those of cards do not.
pub(super) fn lacks_one(name: &str, device: &Device) -> bool {
    let is_empty = |part: &str| part.trim().is_empty();
    let is_file = device.key == name || has_file_end(name);
    !is_file
        && device.class != DeviceClass::Cpu
        && name.contains('+')
        && name.split('+').any(is_empty)
}

impl ListedCards {
    /// The cards in the name of the hardware, which the fastest one replaces; `None` for one device.
    ///
    /// # Errors
    /// A part that is no device, a host beside several cards, too many cards.
    pub(super) fn take(
        fields: &mut Fields,
        library: &Library<'_>,
    ) -> Result<Option<Self>, RequestError> {
        let Some(name) = fields.peek_text("hardware").map(str::to_owned) else { return Ok(None) };
        let Some(parts) = parts(&name, library) else { return Ok(None) };
        for key in ["memory_gb", "power_mode"] {
            if fields.has(key) {
                return Err(Error::Conflict { first: key, second: SEVERAL, needs: false }.into());
            }
        }
        let mut devices = Vec::new();
        for (count, part) in parts {
            if part.is_empty() {
                return Err(LACKING);
            }
            if host::host_and_memory(part).is_some() && library.device(part).is_err() {
                return Err(beside_host());
            }
            let device = library.device(part)?;
            in_range("number of cards in hardware", count, 1, MOST)?;
            devices.extend((0..count).map(|_| device.clone()));
        }
        in_range("number of cards in hardware", devices.len() as u64, 2, MOST)?;
        if fields.has("host") {
            return Err(beside_host());
        }
        devices.sort_by_key(|device| Reverse(ordered(device.bandwidth.value.get())));
        fields.replace_text("hardware", &devices[0].key);
        Ok(Some(Self { devices }))
    }

    /// The cards as a request has them, each a stage; `limit` is the stated limit on the memory of each. The device of the request
    /// gets the link of unlike cards, the slowest one's PCIe; equal cards keep their own.
    ///
    /// # Errors
    /// A number of stages that is not that of the cards.
    pub(super) fn shared(
        self,
        device: Cow<'static, Device>,
        parallel: &mut Parallel,
        limit: Option<Bytes>,
    ) -> Result<SharedCards, RequestError> {
        let count = self.devices.len() as u64;
        if parallel.pipeline.stages() > 1 {
            let what = "pipeline_parallel of the cards that hardware lists";
            in_range(what, parallel.pipeline.stages(), count, count)?;
        }
        if self.devices.iter().all(|device| device.key == self.devices[0].key) {
            let is_open = parallel.devices() == 1;
            if is_open {
                parallel.pipeline = Pipeline::of(count);
            }
            in_range("number of devices of the split", parallel.devices(), count, count)?;
            let said = format!(
                "hardware lists {count} equal cards, taken as pipeline_parallel {count}, which splits layers"
            );
            let said = Vec::from_iter(is_open.then_some(said));
            return Ok(SharedCards { first: device, others: None, said });
        }
        parallel.pipeline = Pipeline::of(count);
        let links = self.devices.iter().map(|device| host::own_link(device).preset);
        let slowest = links.reduce(|a, b| if b.line < a.line { b } else { a });
        let mut first = device.into_owned();
        let mut said =
            vec![format!("hardware lists {count} cards, which share the model by layers")];
        if let Some(preset) = slowest {
            first.link = Some(Fact { value: preset.link, provenance: preset.provenance });
            first.interconnect = Text::Borrowed(preset.name);
            said.push(format!(
                "the cards hand over by {}, that of the slowest, until link names another",
                preset.name
            ));
        }
        let others = self.devices.into_iter().skip(1);
        let others = others.map(|device| Card { device, memory_limit: limit }).collect();
        Ok(SharedCards { first: Cow::Owned(first), others: Some(Cards::new(others)), said })
    }
}

/// Cards that share a model.
pub(super) struct SharedCards {
    pub(super) first: Cow<'static, Device>,
    /// Those after the first, if any differs from it.
    pub(super) others: Option<Cards>,
    /// Notes on what was taken.
    pub(super) said: Vec<String>,
}

fn beside_host() -> RequestError {
    Error::Inapplicable { input: "host", part: "several cards: a host is modeled behind one card" }
        .into()
}

/// A bandwidth as whole bytes per second, by which cards are sorted.
fn ordered(bandwidth: f64) -> u64 {
    let clipped = bandwidth.clamp(0.0, 1e18);
    format!("{clipped:.0}").parse().unwrap_or(0)
}
