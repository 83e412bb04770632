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

use super::{Fields, Library, RequestError, has_file_end, host, memory};

/// Most cards of one machine.
const MOST: u64 = 16;
/// The name of hardware with several cards, in refusals.
const SEVERAL: &str = "hardware with several cards";

/// A card as the name of the hardware has it: by key, alias or file.
#[derive(Debug, Clone)]
pub struct NamedCard {
    pub name: String,
    pub device: Cow<'static, Device>,
}

/// Cards that the name of the hardware lists, the fastest memory first.
#[derive(Debug, Clone)]
pub(super) struct ListedCards {
    cards: Vec<NamedCard>,
}

/// Statements of a request about its cards.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatedOfCards {
    /// It has the number of stages.
    pub(super) has_stages: bool,
    /// The limit on the memory of each.
    pub(super) limit: Option<Bytes>,
    /// Memory that other programs take on each.
    pub(super) reserve: Option<Bytes>,
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
    /// The cards in the name of the hardware, which is taken out of the fields; `None` for one device.
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
        let mut cards = Vec::new();
        for (count, part) in parts {
            if part.is_empty() {
                return Err(LACKING);
            }
            if host::host_and_memory(part).is_some() && library.device(part).is_err() {
                return Err(beside_host());
            }
            let device = library.device(part)?;
            in_range("number of cards in hardware", count, 1, MOST)?;
            let card = NamedCard { name: part.to_owned(), device };
            cards.extend((0..count).map(|_| card.clone()));
        }
        in_range("number of cards in hardware", cards.len() as u64, 2, MOST)?;
        if fields.has("host") {
            return Err(beside_host());
        }
        cards.sort_by_key(|card| Reverse(ordered(card.device.bandwidth.value.get())));
        fields.text("hardware")?;
        Ok(Some(Self { cards }))
    }

    /// The device of the request.
    pub(super) fn first(&self) -> Cow<'static, Device> {
        self.cards[0].device.clone()
    }

    /// The cards with their names, which find them again.
    pub(super) fn named(&self) -> Vec<NamedCard> {
        self.cards.clone()
    }

    /// The cards as a request has them, each a stage. The device of the request gets the link of unlike cards, the slowest one's
    /// PCIe; equal cards keep their own.
    ///
    /// # Errors
    /// A number of stages that is not that of the cards.
    pub(super) fn shared(
        self,
        parallel: &mut Parallel,
        StatedOfCards { has_stages, limit, reserve }: StatedOfCards,
    ) -> Result<SharedCards, RequestError> {
        let (count, device) = (self.cards.len() as u64, self.first());
        if self.cards.iter().all(|card| card.device.key == device.key) {
            let is_open = parallel.devices() == 1 && !has_stages;
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
        if has_stages {
            let what = "pipeline_parallel of the cards that hardware lists";
            in_range(what, parallel.pipeline.stages(), count, count)?;
        }
        parallel.pipeline = Pipeline::of(count);
        let links = self.cards.iter().map(|card| host::own_link(&card.device).preset);
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
        said.extend(reserve.map(|_| "other programs take their memory on each card".to_owned()));
        let others = self.cards.into_iter().skip(1).map(|NamedCard { device, .. }| Card {
            memory_limit: memory::limit_beside(limit, reserve, &device),
            device,
        });
        let others = Some(Cards::new(others.collect()));
        Ok(SharedCards { first: Cow::Owned(first), others, said })
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
