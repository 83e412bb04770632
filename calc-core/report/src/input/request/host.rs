//! The host of a card in a request: processor, memory modules, link and SSD; and what other programs take of the memory.

use calc_core::catalog::links::{self, LINKS, LinkPreset};
use calc_core::device::{Device, DeviceClass, MemoryPlatform};
use calc_core::error::{Error, real_in_range};
use calc_core::plan::Behind;
use calc_core::provenance::Fact;
use calc_core::text::Text;
use calc_core::tiers::{self, DESKTOP, Host};
use calc_core::units::{Bytes, BytesPerSec, FlopsPerSec};

use super::memory::{INSTALLED, LIMIT};
use super::{Fields, Library, RequestError};
use crate::input::number_input;
use crate::number_text as n;

/// Word of `reserve_gb` for a running desktop.
const DESKTOP_WORD: &str = "desktop";
/// Link of a card whose row in the catalog names no PCIe link.
const USUAL_LINK: &str = "pcie_4_x16";
/// Range of an SSD's bandwidth [GB/s].
const SSD: (f64, f64) = (1e-3, 1e3);
/// Transfers per second of DDR4 and DDR5 where a request names only the generation [MT/s]; assumed.
const USUAL_SPEEDS: [(&str, u32); 2] = [("ddr4", 3200), ("ddr5", 5600)];
/// Channels of a desktop.
const USUAL_CHANNELS: u32 = 2;
const USUAL_MODULES: Modules = Modules { generation: "ddr5", megatransfers: None, channels: None };
/// Words between the parts of a host that say nothing.
const FILLERS: [&str; 9] = ["of", "and", "a", "ram", "dram", "memory", "system", "with", "host"];

/// A machine that a text describes: `ryzen 9 7950x`, `ddr5-6000x2`, `96 GB of DDR5`, or several of these.
#[derive(Debug, Default, PartialEq)]
struct Described {
    /// Words that are none of the others: the name of a processor.
    processor: String,
    modules: Option<Modules>,
    /// Installed memory [GiB].
    installed: Option<f64>,
}

/// Memory modules: `ddr5-6000x2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Modules {
    generation: &'static str,
    megatransfers: Option<u32>,
    channels: Option<u32>,
}

impl Modules {
    fn read(word: &str) -> Option<Self> {
        let (generation, _) = USUAL_SPEEDS.iter().find(|(name, _)| word.starts_with(name))?;
        let rest = word.strip_prefix(generation)?.trim_start_matches('-');
        let (speed, channels) = rest.split_once('x').unwrap_or((rest, ""));
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        let optional =
            |text: &str| if text.is_empty() { Some(None) } else { Some(Some(number(text)?)) };
        let (megatransfers, channels) = (optional(speed)?, optional(channels)?);
        let is_plausible = megatransfers.is_none_or(|speed| (800..=20_000).contains(&speed))
            && channels.is_none_or(|channels| channels <= 64);
        is_plausible.then_some(Self { generation, megatransfers, channels })
    }

    /// Bandwidth of the modules, and their name.
    fn bandwidth(self, processor_channels: Option<u32>) -> (BytesPerSec, String) {
        let usual = USUAL_SPEEDS.iter().find(|(name, _)| *name == self.generation);
        let speed = self.megatransfers.or(usual.map(|(_, speed)| *speed)).unwrap_or_default();
        let channels = self.channels.or(processor_channels).unwrap_or(USUAL_CHANNELS);
        let name = format!("{channels}x {}-{speed}", self.generation.to_ascii_uppercase());
        (tiers::dram(speed, channels), name)
    }
}

impl Described {
    fn read(text: &str) -> Self {
        let lower = text.to_ascii_lowercase().replace([',', ';'], " ");
        let words: Vec<&str> = lower.split_whitespace().collect();
        let mut found = Self::default();
        let mut rest: Vec<&str> = Vec::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let next = words.get(at + 1).copied().unwrap_or_default();
            let amount = |word: &str| {
                let unit = ["gb", "gib"].iter().any(|unit| word.ends_with(unit));
                if unit { number_input::memory(word, Bytes::from_gib(1.0).get()) } else { None }
            };
            let two = format!("{word}{next}");
            if let Some(modules) = Modules::read(word) {
                found.modules = Some(modules);
            } else if let Some(installed) = amount(word) {
                found.installed = Some(installed);
            } else if let (Some(installed), "gb" | "gib") = (amount(&two), next) {
                found.installed = Some(installed);
                at += 1;
            } else if !FILLERS.contains(word) {
                rest.push(word);
            }
            at += 1;
        }
        found.processor = rest.join(" ");
        found
    }
}

/// Takes the host out of a device's name: `rtx 4090 with 96 GB of DDR5` becomes the fields `hardware` and `host`.
pub(super) fn from_device_name(fields: &mut Fields) {
    if fields.has("host") {
        return;
    }
    let Some(name) = fields.peek_text("hardware").map(str::to_owned) else { return };
    let lower = name.to_ascii_lowercase();
    let Some((at, word)) =
        [" with ", " + "].iter().find_map(|word| Some((lower.find(word)?, word)))
    else {
        return;
    };
    let (card, host) = (name[..at].trim(), name[at + word.len()..].trim());
    let described = Described::read(host);
    if described.modules.is_some() || described.installed.is_some() {
        fields.replace_text("hardware", card);
        fields.replace_text("host", host);
    }
}

/// The host of a request, and what was taken for it in words.
pub(super) fn host(
    fields: &mut Fields,
    library: &Library<'_>,
    device: &Device,
    reserve: Option<Bytes>,
) -> Result<Option<(Behind, String)>, RequestError> {
    let Some(text) = fields.text("host")? else {
        for key in ["host_memory_gb", "host_link", "ssd_gb_s"] {
            if fields.has(key) {
                return Err(Error::Conflict { first: key, second: "host", needs: true }.into());
            }
        }
        return Ok(None);
    };
    if !Host::is_possible(device) {
        let part = "a device that shares its memory with its processor";
        return Err(Error::Inapplicable { input: "host", part }.into());
    }
    let described = Described::read(&text);
    // An unknown processor is refused before a missing amount of memory.
    let processor = processor(&described, library)?;
    let memory = fields.real("host_memory_gb")?.or(described.installed);
    let Some(memory) = memory else { return Err(RequestError::Missing { key: "host_memory_gb" }) };
    let installed =
        Bytes::from_gib(real_in_range("host_memory_gb", memory, INSTALLED.0, INSTALLED.1)?);
    let link = link(fields, device)?;
    let beside = reserve.unwrap_or(Bytes::ZERO);
    let host = Host { ssd: ssd(fields)?, ..built(processor, installed, beside, link) };
    let said = said(&host);
    Ok(Some((Behind::new(host), said)))
}

fn built(
    Processor { name, bandwidth, peaks }: Processor,
    installed: Bytes,
    reserve: Bytes,
    link: &LinkPreset,
) -> Host {
    Host {
        name: Text::Owned(name),
        bandwidth,
        peaks,
        installed,
        usable: (left_to_programs(installed) - reserve).max(Bytes::ZERO),
        link: link.host_link(),
        link_name: Text::Borrowed(link.name),
        ssd: None,
    }
}

/// Memory without the system's share, which is that of other machines whose programs share it.
fn left_to_programs(installed: Bytes) -> Bytes {
    installed * MemoryPlatform::Shared.share(installed)
}

/// A processor with its memory, or memory alone.
struct Processor {
    name: String,
    bandwidth: Fact<BytesPerSec>,
    peaks: [Option<FlopsPerSec>; 10],
}

fn memory_alone(modules: Modules) -> Processor {
    let (bandwidth, name) = modules.bandwidth(None);
    let bandwidth = if modules.megatransfers.is_some() && modules.channels.is_some() {
        Fact::derived(bandwidth)
    } else {
        Fact::assumed(bandwidth)
    };
    Processor { name, bandwidth, peaks: [None; 10] }
}

fn processor(described: &Described, library: &Library<'_>) -> Result<Processor, RequestError> {
    if described.processor.is_empty() {
        return Ok(memory_alone(described.modules.unwrap_or(USUAL_MODULES)));
    }
    let found = library.device(&described.processor)?;
    if found.class != DeviceClass::Cpu {
        let part = "a device that is no processor";
        return Err(Error::Inapplicable { input: "host", part }.into());
    }
    let peaks = found.peaks.0.map(|peak| peak.map(|fact| fact.value));
    let channels = found.memory_type.split_once('x').and_then(|(count, _)| count.parse().ok());
    let (bandwidth, memory) = match described.modules {
        Some(modules) => {
            let (bandwidth, name) = modules.bandwidth(channels);
            (Fact::derived(bandwidth), name)
        }
        None => (found.bandwidth, found.memory_type.to_string()),
    };
    Ok(Processor { name: format!("{} with {memory}", found.name), bandwidth, peaks })
}

/// The link that a request names, or the PCIe link of the card.
fn link(fields: &mut Fields, device: &Device) -> Result<&'static LinkPreset, RequestError> {
    Ok(match fields.text("host_link")? {
        Some(name) => links::find(&name).ok_or_else(|| RequestError::NotOneOf {
            key: "host_link",
            value: name,
            allowed: LINKS.iter().map(|preset| preset.key).collect(),
        })?,
        None => own_link(device),
    })
}

/// The PCIe link in the catalog's row: `PCIe 4.0 x16, NVLink 112.5 GB/s`; `PCIe 5.0` has 16 lanes.
fn own_link(device: &Device) -> &'static LinkPreset {
    let parts = device.interconnect.split([',', '(']).map(str::trim);
    let mut named = parts.filter(|part| part.starts_with("PCIe"));
    let lanes = |part: &str| links::find(part).or_else(|| links::find(&format!("{part} x16")));
    let usual = || LINKS.iter().find(|preset| preset.key == USUAL_LINK);
    named.find_map(lanes).or_else(usual).unwrap_or(&LINKS[0])
}

/// Bandwidth of an SSD: `7`, `7GB/s`.
fn ssd(fields: &mut Fields) -> Result<Option<BytesPerSec>, RequestError> {
    if let Some(text) = fields.peek_text("ssd_gb_s") {
        let bare = text.trim().to_ascii_lowercase();
        let bare = bare.strip_suffix("gb/s").map(|number| number.trim().to_owned());
        if let Some(bare) = bare {
            fields.replace_text("ssd_gb_s", &bare);
        }
    }
    let Some(rate) = fields.real("ssd_gb_s")? else { return Ok(None) };
    Ok(Some(BytesPerSec::from_gb(real_in_range("ssd_gb_s", rate, SSD.0, SSD.1)?)))
}

/// Memory that other programs take: an amount, or `desktop`.
pub(super) fn reserve(fields: &mut Fields) -> Result<Option<Bytes>, RequestError> {
    if fields.peek_text("reserve_gb").is_some_and(|text| text.eq_ignore_ascii_case(DESKTOP_WORD)) {
        fields.text("reserve_gb")?;
        return Ok(Some(DESKTOP));
    }
    let Some(amount) = fields.real("reserve_gb")? else { return Ok(None) };
    Ok(Some(Bytes::from_gb(real_in_range("reserve_gb", amount, 0.0, LIMIT.1)?)))
}

/// Note on the memory that other programs take.
pub(super) fn reserve_said(reserve: Bytes) -> String {
    let origin = if reserve == DESKTOP { ", assumed for a running desktop" } else { "" };
    format!("{} of the memory are left to other programs{origin}", n::bytes(reserve))
}

/// Note on the host that a request was taken to mean.
fn said(host: &Host) -> String {
    let ssd = host.ssd.map_or(String::new(), |rate| format!(", SSD with {}", n::bandwidth(rate)));
    format!(
        "host: {}, {} with {} ({}), {} of it for the model; {} with {} per direction ({}){ssd}",
        host.name,
        n::capacity(host.installed),
        n::bandwidth(host.bandwidth.value),
        host.bandwidth.provenance.key(),
        n::bytes(host.usable),
        host.link_name,
        n::bandwidth(host.link.value.bandwidth),
        host.link.provenance.key(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_read_as_people_write_it() {
        for (text, processor, modules, installed) in [
            ("ryzen 9 7950x", "ryzen 9 7950x", None, None),
            ("96 GB of DDR5", "", Some("2x DDR5-5600"), Some(96.0)),
            ("96GB DDR5-6000", "", Some("2x DDR5-6000"), Some(96.0)),
            ("ddr4-3200x8, 256 GB", "", Some("8x DDR4-3200"), Some(256.0)),
            ("epyc 9654 and 384GB of RAM", "epyc 9654", None, Some(384.0)),
            ("ddr5-6000x0", "ddr5-6000x0", None, None),
            ("ddr5-60", "ddr5-60", None, None),
        ] {
            let found = Described::read(text);
            assert_eq!(found.processor, processor, "{text}");
            assert_eq!(found.modules.map(|it| it.bandwidth(None).1).as_deref(), modules, "{text}");
            assert_eq!(found.installed, installed, "{text}");
        }
    }
}
