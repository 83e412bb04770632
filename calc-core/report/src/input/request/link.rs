//! The link that a request names, in place of the one that the catalog has for its devices.

use std::borrow::Cow;

use calc_core::catalog::links::{self, LINKS, LinkRates, USUAL_LATENCY};
use calc_core::device::{Device, Link};
use calc_core::error::{Error, real_in_range};
use calc_core::parallel::Parallel;
use calc_core::provenance::{Fact, Provenance};
use calc_core::text::Text;
use calc_core::units::{BytesPerSec, Seconds};

use super::{Fields, RequestError};
use crate::number_text as n;

/// Range of the bandwidth of a link, per direction [GB/s].
const BANDWIDTH: (f64, f64) = (1e-3, 1e5);
/// Range of the latency of a hop [µs].
const LATENCY: (f64, f64) = (0.0, 1e6);

/// A link between the devices of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenLink {
    /// As a request names it: the key of a preset, or GB/s and µs.
    pub key: Text,
    pub name: Text,
    pub link: Link,
    /// Origin of the bandwidth.
    pub provenance: Provenance,
    pub source: &'static str,
}

impl ChosenLink {
    /// The device with this link.
    pub fn on(&self, mut device: Device) -> Device {
        device.link = Some(Fact { value: self.link, provenance: self.provenance });
        device.interconnect.clone_from(&self.name);
        device
    }

    /// Bandwidth and latency of a link: `25.0 GB/s per direction, 5.00 µs per hop`.
    pub fn figures(link: &Link) -> String {
        Self::named_figures("", link)
    }

    /// [`Self::figures`] of a link with a name, and its line rate where programs reach less:
    /// `25.0 GB/s per direction in practice, 31.5 GB/s by line rate, 5.00 µs per hop`.
    pub fn named_figures(name: &str, link: &Link) -> String {
        let (bandwidth, latency) = (n::bandwidth(link.bandwidth), n::time(link.latency));
        let line = links::rates(name, link).map_or(String::new(), |LinkRates { line, .. }| {
            format!(" in practice, {} by line rate", n::bandwidth(line.value))
        });
        format!("{bandwidth} per direction{line}, {latency} per hop")
    }

    /// The sentence on the link for notes.
    pub fn said(&self) -> String {
        format!(
            "link {}: {} ({})",
            self.name,
            Self::named_figures(&self.name, &self.link),
            self.source
        )
    }
}

/// Rate of a link with a name: `25.0 GB/s per direction (reported)`, or `31.5 GB/s per direction by line rate (derived), 25.0 GB/s in
/// practice (assumed)` where these differ. A link of a host has its line rate, one between devices that of practice.
pub fn rate(name: &str, link: &Fact<Link>) -> String {
    let stated = |rate: &Fact<BytesPerSec>| {
        format!("{} per direction ({})", n::bandwidth(rate.value), rate.provenance.key())
    };
    let Some(LinkRates { line, practical }) = links::rates(name, &link.value) else {
        return stated(&Fact { value: link.value.bandwidth, provenance: link.provenance });
    };
    format!(
        "{} per direction by line rate ({}), {} in practice ({})",
        n::bandwidth(line.value),
        line.provenance.key(),
        n::bandwidth(practical.value),
        practical.provenance.key()
    )
}

/// Reads a link: the key or name of a preset, or its bandwidth per direction [GB/s] and the latency of a hop [µs], as `12.5` or
/// `12.5,8`.
///
/// # Errors
/// Returns the refusal of any other text.
pub fn read(text: &str) -> Result<ChosenLink, RequestError> {
    if let Some(preset) = links::find(text) {
        return Ok(ChosenLink {
            key: Text::Borrowed(preset.key),
            name: Text::Borrowed(preset.name),
            link: preset.link,
            provenance: preset.provenance,
            source: preset.source,
        });
    }
    let refused = || {
        let own = "GB/s per direction as 12.5, or with µs per hop as 12.5,8";
        let allowed = LINKS.iter().map(|preset| preset.key).chain([own]).collect();
        RequestError::NotOneOf { key: "link", value: text.into(), allowed }
    };
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let (bandwidth, latency) = match text.split_once(',') {
        None => (number(text), Some(USUAL_LATENCY.get() * 1e6)),
        Some((bandwidth, latency)) => (number(bandwidth), number(latency)),
    };
    let bandwidth =
        real_in_range("link", bandwidth.ok_or_else(refused)?, BANDWIDTH.0, BANDWIDTH.1)?;
    let latency =
        real_in_range("latency of link [µs]", latency.ok_or_else(refused)?, LATENCY.0, LATENCY.1)?;
    // Seven digits keep what was typed and drop rounding errors of a unit.
    let latency = (latency * 1e7).round() / 1e7;
    Ok(ChosenLink {
        key: Text::Owned(format!("{bandwidth},{latency}")),
        name: Text::Owned("of your own".into()),
        link: Link::ring(BytesPerSec::from_gb(bandwidth), Seconds::new(latency * 1e-6)),
        provenance: Provenance::Assumed,
        source: "as stated in the request",
    })
}

/// The device with the link of the request, and that link.
pub(super) fn device(
    fields: &mut Fields,
    device: Cow<'static, Device>,
    parallel: &Parallel,
) -> Result<(Cow<'static, Device>, Option<ChosenLink>), RequestError> {
    let Some(name) = fields.text("link")? else { return Ok((device, None)) };
    let link = read(&name)?;
    if parallel.devices() == 1 {
        return Err(Error::Inapplicable { input: "link", part: "one device" }.into());
    }
    Ok((Cow::Owned(link.on(device.into_owned())), Some(link)))
}
