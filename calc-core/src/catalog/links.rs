//! Links between devices that people choose: what one direction carries, and the latency of a hop.
//!
//! A link that a device has by itself is in its row of the catalog.

use alloc::string::String;

use super::devices::{HOP, SPARK_LINK};
use crate::device::Link;
use crate::provenance::{Fact, Provenance};
use crate::units::{BytesPerSec, Seconds};

/// A link by name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkPreset {
    /// Key in requests.
    pub key: &'static str,
    pub name: &'static str,
    /// Further names that requests may use.
    pub aliases: &'static [&'static str],
    pub link: Link,
    /// Line rate of one direction, which nothing exceeds; that of `link` where it is no practical rate.
    pub line: BytesPerSec,
    /// Origin of the bandwidth; a latency is assumed unless the source states it.
    pub provenance: Provenance,
    pub source: &'static str,
}

/// Keys of the links that join machines.
const NETWORKS: [&str; 6] = ["200gbe", "100gbe", "10gbe", "1gbe", "thunderbolt4", "thunderbolt5"];

/// True for the name of a link of [`LINKS`] that joins machines.
pub fn is_network(name: &str) -> bool {
    LINKS.iter().any(|preset| preset.name == name && NETWORKS.contains(&preset.key))
}

/// Latency of a message over TCP: about 300 µs between Macs before RDMA (adwaitx.com on Apple's TN3205).
const TCP: Seconds = Seconds::new(300e-6);

const NVLINK: &str = "half of the sum of both directions that NVIDIA publishes per GPU; latency assumed: an all-reduce of 32 kB takes 9 to 12 µs on two to eight H100 (sgl-project/sglang pull 2904), two hops";
const PCIE: &str = "the lane's share of the practical rate of 4.0 x16 and 5.0 x16, 25 and 50 GB/s, which is assumed like the latency";
/// Transfers per second of a lane of PCIe 3.0, 10^9; each later generation doubles them.
const PCIE_3_LANE: f64 = 8.0;
/// Share of the bits on a lane that carry data: 3.0 to 5.0 send 130 for 128.
const PCIE_CODE: f64 = 128.0 / 130.0;
/// Practical rate of PCIe per bit on the lanes: 25 of 32 GB/s of 4.0 x16; assumed.
const PCIE_PRACTICAL: f64 = 25.0 / 32.0;
const LINE: &str = "the line rate; latency assumed";

const fn preset(
    key: &'static str,
    name: &'static str,
    one_direction_gb: f64,
    latency: Seconds,
) -> LinkPreset {
    let bandwidth = BytesPerSec::from_gb(one_direction_gb);
    let link = Link::ring(bandwidth, latency);
    let provenance = Provenance::Derived;
    let line = link.bandwidth;
    LinkPreset { key, name, aliases: &[], link, line, provenance, source: LINE }
}

const fn nvlink(key: &'static str, name: &'static str, both_gb: f64) -> LinkPreset {
    let preset = preset(key, name, both_gb / 2.0, HOP);
    let link = Link::switched(preset.link.bandwidth, HOP);
    LinkPreset { source: NVLINK, link, ..preset }
}

/// A link that joins few devices; more of them pass data around a ring with this rate of one direction.
const fn few(preset: LinkPreset, direct: u64, around_gb: f64) -> LinkPreset {
    let around = BytesPerSec::from_gb(around_gb);
    LinkPreset { link: Link { direct, around, ..preset.link }, ..preset }
}

/// PCI Express with a lane's transfers per second [10^9] and a number of lanes.
const fn pcie(key: &'static str, name: &'static str, lane: f64, lanes: f64) -> LinkPreset {
    let on_lanes_gb = lane * lanes / 8.0;
    let line = BytesPerSec::from_gb(on_lanes_gb * PCIE_CODE);
    let usual = preset(key, name, on_lanes_gb * PCIE_PRACTICAL, HOP);
    LinkPreset { line, provenance: Provenance::Assumed, source: PCIE, ..usual }
}

/// Latency of a hop where nobody states it; assumed.
pub const USUAL_LATENCY: Seconds = HOP;

/// The presets, fastest kind first.
pub static LINKS: [LinkPreset; 20] = [
    nvlink("nvlink5", "NVLink 5", 1800.0),
    nvlink("nvlink4", "NVLink 4", 900.0),
    nvlink("nvlink3", "NVLink 3", 600.0),
    few(nvlink("nvlink2", "NVLink 2", 300.0), 4, 150.0),
    few(nvlink("nvlink_bridge", "NVLink bridge of an RTX 3090 or A6000", 112.5), 2, 25.0),
    pcie("pcie_5_x16", "PCIe 5.0 x16", 4.0 * PCIE_3_LANE, 16.0),
    pcie("pcie_5_x8", "PCIe 5.0 x8", 4.0 * PCIE_3_LANE, 8.0),
    pcie("pcie_5_x4", "PCIe 5.0 x4", 4.0 * PCIE_3_LANE, 4.0),
    pcie("pcie_4_x16", "PCIe 4.0 x16", 2.0 * PCIE_3_LANE, 16.0),
    pcie("pcie_4_x8", "PCIe 4.0 x8", 2.0 * PCIE_3_LANE, 8.0),
    pcie("pcie_4_x4", "PCIe 4.0 x4", 2.0 * PCIE_3_LANE, 4.0),
    pcie("pcie_3_x16", "PCIe 3.0 x16", PCIE_3_LANE, 16.0),
    pcie("pcie_3_x8", "PCIe 3.0 x8", PCIE_3_LANE, 8.0),
    pcie("pcie_3_x4", "PCIe 3.0 x4", PCIE_3_LANE, 4.0),
    LinkPreset {
        aliases: &["dgx_spark_link", "connectx7"],
        provenance: Provenance::Reported,
        source: "servethehome.com: up to 198 Gbit/s between two GB10 over both ports; with RDMA, latency assumed",
        link: SPARK_LINK,
        ..preset("200gbe", "200GbE between two DGX Sparks", 25.0, HOP)
    },
    preset("100gbe", "100GbE with RDMA", 12.5, HOP),
    LinkPreset {
        aliases: &["tb5"],
        source: "the line rate of 80 Gbit/s (getnews.me, webpronews.com); latency with RDMA: single digits of microseconds (exo), assumed in their middle",
        ..preset("thunderbolt5", "Thunderbolt 5 with RDMA", 10.0, HOP)
    },
    LinkPreset {
        aliases: &["tb4", "usb4"],
        source: "the line rate of 40 Gbit/s; over TCP, about 300 µs (adwaitx.com on Apple's TN3205)",
        ..preset("thunderbolt4", "Thunderbolt 4 over TCP", 5.0, TCP)
    },
    LinkPreset {
        source: "the line rate; over TCP, about 300 µs (adwaitx.com on Apple's TN3205)",
        ..preset("10gbe", "10GbE over TCP", 1.25, TCP)
    },
    LinkPreset {
        source: "the line rate; over TCP, about 300 µs (adwaitx.com on Apple's TN3205)",
        ..preset("1gbe", "1GbE over TCP", 0.125, TCP)
    },
];

/// The preset with this key, name or alias, whatever its case, blanks and dashes: `PCIe 4.0 x16`, `NVLink4`, `200 GbE`.
pub fn find(name: &str) -> Option<&'static LinkPreset> {
    let asked = plain(name);
    LINKS.iter().find(|preset| {
        let names = [preset.key, preset.name].into_iter().chain(preset.aliases.iter().copied());
        names.map(plain).any(|own| own == asked)
    })
}

impl LinkPreset {
    /// The link between a card and its host, with its line rate.
    pub const fn host_link(&self) -> Fact<Link> {
        let provenance = match self.provenance {
            Provenance::Assumed => Provenance::Derived,
            known => known,
        };
        Fact { value: Link { bandwidth: self.line, ..self.link }, provenance }
    }
}

/// The rates of one direction of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkRates {
    /// The line rate, which is the roof of copies.
    pub line: Fact<BytesPerSec>,
    /// The rate that programs reach.
    pub practical: Fact<BytesPerSec>,
}

/// The rates of a link of [`LINKS`] whose line rate is above that of practice; the link has its name, and one of the rates.
///
/// ```
/// use calc_core::catalog::links::{find, rates};
/// let link = find("pcie_4_x16").unwrap().link;
/// let found = rates("PCIe 4.0 x16", &link).unwrap();
/// assert_eq!(found.practical.value.get(), 25e9);
/// assert_eq!(found.line.value.get().round(), 31_507_692_308.0);
/// ```
pub fn rates(name: &str, link: &Link) -> Option<LinkRates> {
    let preset = find(name)?;
    let Fact { value, provenance } = preset.host_link();
    if preset.line <= preset.link.bandwidth || (preset.link != *link && value != *link) {
        return None;
    }
    let line = Fact { value: value.bandwidth, provenance };
    let practical = Fact { value: preset.link.bandwidth, provenance: preset.provenance };
    Some(LinkRates { line, practical })
}

/// Letters and digits; `4.0` is 4.
fn plain(name: &str) -> String {
    let name = name.replace(".0", "");
    let kept = name.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|letter| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::devices;

    #[test]
    fn links_are_found_as_people_write_them() {
        for (name, key) in [
            ("nvlink4", "nvlink4"),
            ("NVLink 5", "nvlink5"),
            ("PCIe 4.0 x16", "pcie_4_x16"),
            ("pcie 5 x8", "pcie_5_x8"),
            ("PCIE-3-X4", "pcie_3_x4"),
            ("200 GbE", "200gbe"),
            ("dgx spark link", "200gbe"),
            ("Thunderbolt 5", "thunderbolt5"),
            ("tb4", "thunderbolt4"),
            ("10GbE", "10gbe"),
        ] {
            assert_eq!(find(name).map(|preset| preset.key), Some(key), "{name}");
        }
        for name in ["", "pcie", "nvlink", "infiniband", "4"] {
            assert_eq!(find(name), None, "{name}");
        }
    }

    #[test]
    fn every_key_is_one_preset_and_every_source_is_said() {
        for preset in &LINKS {
            assert_eq!(find(preset.key).map(|found| found.key), Some(preset.key));
            assert!(!preset.source.is_empty(), "{}", preset.key);
        }
    }

    #[test]
    fn no_practical_rate_exceeds_the_line() {
        for preset in &LINKS {
            assert!(preset.link.bandwidth <= preset.line, "{}", preset.key);
        }
        let line = find("pcie_4_x16").expect("a preset").host_link();
        assert!((line.value.bandwidth.get() / 1e9 - 31.508).abs() < 1e-3, "{line:?}");
        assert_eq!(line.provenance, Provenance::Derived);
    }

    #[test]
    fn the_presets_are_the_links_of_devices_that_have_them() {
        for (device, key) in [
            ("b200", "nvlink5"),
            ("h100_sxm", "nvlink4"),
            ("a100_80gb_sxm", "nvlink3"),
            ("v100_sxm2_16gb", "nvlink2"),
            ("rtx_3090", "nvlink_bridge"),
            ("gb10", "200gbe"),
            ("rtx_5090", "pcie_5_x16"),
            ("rtx_4090", "pcie_4_x16"),
        ] {
            let own = devices::all().find(|row| row.key == device).and_then(|row| row.link);
            let preset = find(key).map(|preset| preset.link);
            assert_eq!(own.map(|fact| fact.value), preset, "{device}");
        }
    }
}
