//! The host of a card in a request: processor, memory modules, link and SSD; and what other programs take of the memory.

use calc_core::catalog::devices;
use calc_core::catalog::links::{self, LINKS, LinkPreset};
use calc_core::device::{Device, DeviceClass, Link, MemoryPlatform};
use calc_core::error::{Error, real_in_range};
use calc_core::plan::Behind;
use calc_core::provenance::Fact;
use calc_core::text::Text;
use calc_core::tiers::{self, DESKTOP, Host};
use calc_core::units::{Bytes, BytesPerSec, FlopsPerSec};

use super::link;
use super::memory::{INSTALLED, LIMIT};
use super::{Fields, Library, RequestError};
use crate::input::number_input;
use crate::number_text as n;

/// Word of `reserve_gb` for a running desktop.
pub const DESKTOP_WORD: &str = "desktop";
/// Link of a card if neither its row in the catalog nor that of a card with its chip names one.
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
    /// A part that the text says more than once.
    twice: Option<&'static str>,
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

    /// The modules as a request names them.
    fn word(self) -> String {
        let speed = self.megatransfers.map_or_else(String::new, |speed| format!("-{speed}"));
        let channels = self.channels.map_or_else(String::new, |channels| format!("x{channels}"));
        format!("{}{speed}{channels}", self.generation)
    }

    /// Modules in a row of the catalog: `12x DDR5-4800`.
    fn of_row(memory_type: &str) -> Option<Self> {
        let (channels, modules) = memory_type.split_once("x ")?;
        let channels = Some(channels.parse().ok()?);
        Self::read(&modules.to_ascii_lowercase()).map(|found| Self { channels, ..found })
    }

    /// The modules with the speed and the channels of others where they leave them open; of another generation the channels only.
    fn or(self, others: Self) -> Self {
        let speed = others.megatransfers.filter(|_| others.generation == self.generation);
        Self {
            megatransfers: self.megatransfers.or(speed),
            channels: self.channels.or(others.channels),
            ..self
        }
    }

    /// Bandwidth of the modules, and their name. Speed or channels that nobody stated are the usual ones.
    fn bandwidth(self) -> (Fact<BytesPerSec>, String) {
        let usual = USUAL_SPEEDS.iter().find(|(name, _)| *name == self.generation);
        let speed = self.megatransfers.or(usual.map(|(_, speed)| *speed)).unwrap_or_default();
        let channels = self.channels.unwrap_or(USUAL_CHANNELS);
        let name = format!("{channels}x {}-{speed}", self.generation.to_ascii_uppercase());
        let value = tiers::dram(speed, channels);
        let is_known = self.megatransfers.is_some() && self.channels.is_some();
        (if is_known { Fact::derived(value) } else { Fact::assumed(value) }, name)
    }
}

impl Described {
    fn hold(&mut self, installed: f64) {
        let before = self.installed.replace(installed);
        self.twice = before.map(|_| "amount of memory").or(self.twice);
    }

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
                let before = found.modules.replace(modules);
                found.twice = before.map(|_| "kind of memory").or(found.twice);
            } else if let Some(installed) = amount(word) {
                found.hold(installed);
            } else if let (Some(installed), "gb" | "gib") = (amount(&two), next) {
                found.hold(installed);
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
///
/// # Errors
/// A host in the name beside the field `host`.
pub(super) fn from_device_name(fields: &mut Fields) -> Result<(), RequestError> {
    let Some(name) = fields.peek_text("hardware").map(str::to_owned) else { return Ok(()) };
    let Some((card, host)) = card_and_host(&name) else { return Ok(()) };
    if fields.has("host") {
        return Err(RequestError::Twice { key: "host", of: "hardware", value: name });
    }
    fields.replace_text("hardware", card);
    fields.replace_text("host", host);
    Ok(())
}

/// The card and the host in a name of both.
pub(super) fn card_and_host(name: &str) -> Option<(&str, &str)> {
    let lower = name.to_ascii_lowercase();
    let (at, word) = [" with ", " + "].iter().find_map(|word| Some((lower.find(word)?, word)))?;
    let (card, host) = (name[..at].trim(), name[at + word.len()..].trim());
    let described = Described::read(host);
    (described.modules.is_some() || described.installed.is_some()).then_some((card, host))
}

/// A host without its memory, and the memory [GB as sold]: `ddr5` and 96 of `96 GB of DDR5`. `None` without memory.
pub(super) fn host_and_memory(text: &str) -> Option<(String, f64)> {
    let Described { processor, modules, installed, .. } = Described::read(text);
    let own = modules.or((processor.is_empty()).then_some(USUAL_MODULES));
    let host = [processor, own.map_or_else(String::new, Modules::word)].join(" ");
    Some((host.trim().to_owned(), installed?))
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
    if let Some(part) = Host::impossible(device) {
        return Err(Error::Inapplicable { input: "host", part }.into());
    }
    let described = Described::read(&text);
    if let Some(part) = described.twice {
        return Err(RequestError::SaidTwice { key: "host", part, value: text });
    }
    // An unknown processor is refused before a missing amount of memory.
    let processor = processor(&described, library)?;
    let stated = fields.real("host_memory_gb")?;
    let is_other =
        described.installed.is_some_and(|own| stated.is_some_and(|said| (said - own).abs() > 1e-9));
    if is_other {
        return Err(RequestError::Twice { key: "host_memory_gb", of: "host", value: text });
    }
    let memory = stated.or(described.installed);
    let Some(memory) = memory else { return Err(RequestError::Missing { key: "host_memory_gb" }) };
    let installed =
        Bytes::from_gib(real_in_range("host_memory_gb", memory, INSTALLED.0, INSTALLED.1)?);
    let link = link(fields, device)?;
    let beside = reserve.unwrap_or(Bytes::ZERO);
    let host = Host { ssd: ssd(fields)?, ..built(processor, installed, beside, link) };
    let said = said(&host, link.is_known);
    Ok(Some((Behind::new(host), said)))
}

fn built(
    Processor { name, bandwidth, peaks }: Processor,
    installed: Bytes,
    reserve: Bytes,
    link: OwnLink,
) -> Host {
    Host {
        name: Text::Owned(name),
        bandwidth,
        peaks,
        installed,
        usable: (left_to_programs(installed) - reserve).max(Bytes::ZERO),
        link: link.rate,
        link_name: Text::Borrowed(link.preset.name),
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
    let (bandwidth, name) = modules.bandwidth();
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
    let row = Modules::of_row(&found.memory_type);
    let (bandwidth, memory) = match (described.modules, row) {
        (Some(modules), Some(row)) => {
            check_generation(modules, row)?;
            modules.or(row).bandwidth()
        }
        (Some(modules), None) => modules.bandwidth(),
        (None, _) => (found.bandwidth, found.memory_type.to_string()),
    };
    Ok(Processor { name: format!("{} with {memory}", found.name), bandwidth, peaks })
}

/// Refuses modules of another generation than that of a server's processor; desktops have boards for two.
fn check_generation(modules: Modules, row: Modules) -> Result<(), RequestError> {
    let is_desktop = row.channels.is_none_or(|channels| channels <= USUAL_CHANNELS);
    if is_desktop || modules.generation == row.generation {
        return Ok(());
    }
    let (value, allowed) = (modules.generation.to_owned(), vec![row.generation]);
    Err(RequestError::NotOneOf { key: "host", value, allowed })
}

/// The link between a card and its host.
#[derive(Clone, Copy)]
pub(super) struct OwnLink {
    pub(super) preset: &'static LinkPreset,
    rate: Fact<Link>,
    /// False where neither the request nor the catalog names it.
    is_known: bool,
}

/// The link that a request names, or the PCIe link of the card.
fn link(fields: &mut Fields, device: &Device) -> Result<OwnLink, RequestError> {
    let Some(name) = fields.text("host_link")? else { return Ok(own_link(device)) };
    let preset = links::find(&name).ok_or_else(|| RequestError::NotOneOf {
        key: "host_link",
        value: name,
        allowed: LINKS.iter().map(|preset| preset.key).collect(),
    })?;
    Ok(OwnLink { preset, rate: preset.host_link(), is_known: true })
}

/// The PCIe link in the catalog's row, or else the fastest of the cards with the same chip.
pub(super) fn own_link(device: &Device) -> OwnLink {
    let chip = &device.architecture;
    let twins = || devices::all().filter(|row| row.architecture == *chip);
    let of_twins = || {
        twins()
            .filter_map(pcie)
            .reduce(|best, next| if next.line > best.line { next } else { best })
    };
    if let Some(preset) = pcie(device).or_else(of_twins) {
        return OwnLink { preset, rate: preset.host_link(), is_known: true };
    }
    let preset = LINKS.iter().find(|preset| preset.key == USUAL_LINK);
    let preset = preset.expect("the usual link is a preset, as a test shows");
    OwnLink { preset, rate: Fact::assumed(preset.host_link().value), is_known: false }
}

/// The PCIe link in a row: `PCIe 4.0 x16, NVLink 112.5 GB/s`; `PCIe 5.0` has 16 lanes.
fn pcie(device: &Device) -> Option<&'static LinkPreset> {
    let parts = device.interconnect.split([',', '(']).map(str::trim);
    let mut named = parts.filter(|part| part.starts_with("PCIe"));
    named.find_map(|part| links::find(part).or_else(|| links::find(&format!("{part} x16"))))
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

/// Memory that other programs take: an amount, or `desktop`; with a note.
pub(super) fn reserve(fields: &mut Fields) -> Result<Option<(Bytes, String)>, RequestError> {
    let said = |bytes, origin| {
        let note = format!("{} of the memory are left to other programs{origin}", n::bytes(bytes));
        Ok(Some((bytes, note)))
    };
    if fields.peek_text("reserve_gb").is_some_and(|text| text.eq_ignore_ascii_case(DESKTOP_WORD)) {
        fields.text("reserve_gb")?;
        return said(DESKTOP, ", assumed for a running desktop");
    }
    let Some(amount) = fields.real("reserve_gb")? else { return Ok(None) };
    said(Bytes::from_gb(real_in_range("reserve_gb", amount, 0.0, LIMIT.1)?), "")
}

/// Note on the host that a request was taken to mean.
fn said(host: &Host, is_link_known: bool) -> String {
    let unknown = if is_link_known { "" } else { " (the link of this card is not known)" };
    let ssd = host.ssd.map_or(String::new(), |rate| format!(", SSD with {}", n::bandwidth(rate)));
    format!(
        "host: {}, {} with {} ({}), {} of it for the model; {} with {}{unknown}{ssd}",
        host.name,
        n::capacity(host.installed),
        n::bandwidth(host.bandwidth.value),
        host.bandwidth.provenance.key(),
        n::bytes(host.usable),
        host.link_name,
        link::rate(&host.link_name, &host.link),
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
            assert_eq!(found.modules.map(|it| it.bandwidth().1).as_deref(), modules, "{text}");
            assert_eq!(found.installed, installed, "{text}");
        }
    }
}
