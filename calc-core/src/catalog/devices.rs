//! The devices: datasheet facts, row by row, each with its provenance.
//! Measurements are in `measured`, assumptions in `calibration`.

mod accelerators;
mod amd;
mod apple;
mod cpu;
mod geforce;
mod intel;
mod jetson;
mod laptops;
pub mod measured;
mod nvidia;
mod nvidia_family;
mod row;
mod workstations;

use crate::device::{Device, Link};
use crate::provenance::Fact;
use crate::text::Text;
use crate::units::{BytesPerSec, FlopsPerSec, Hertz, Seconds};

/// Device groups in display order: edge first.
static GROUPS: [(&str, &[Device]); 10] = [
    ("Jetson", &jetson::DEVICES),
    ("NVIDIA", &nvidia::DEVICES),
    ("RTX workstations", &workstations::DEVICES),
    ("GeForce", &geforce::DEVICES),
    ("GeForce laptops", &laptops::DEVICES),
    ("AMD", &amd::DEVICES),
    ("Intel", &intel::DEVICES),
    ("Apple", &apple::DEVICES),
    ("CPU", &cpu::DEVICES),
    ("Other accelerators", &accelerators::DEVICES),
];

/// The device that a page shows until somebody chooses one. It is a row of the table and stands apart from it, so that a
/// program can have it without the others.
pub static USUAL: Device = jetson::ORIN_NANO_8GB_SUPER;

/// Device groups for a list, with their titles.
pub fn groups() -> impl Iterator<Item = (&'static str, &'static [Device])> {
    GROUPS.iter().copied()
}

/// Devices of all groups, edge first.
pub fn all() -> impl Iterator<Item = &'static Device> {
    GROUPS.iter().flat_map(|(_, devices)| devices.iter())
}

/// The device with exactly this key, at compile time.
const fn of_key(key: &str) -> Option<&'static Device> {
    let mut group = 0;
    while group < GROUPS.len() {
        let devices = GROUPS[group].1;
        let mut place = 0;
        while place < devices.len() {
            if let Text::Borrowed(own) = devices[place].key
                && is_same(own.as_bytes(), key.as_bytes())
            {
                return Some(&devices[place]);
            }
            place += 1;
        }
        group += 1;
    }
    None
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut place = 0;
    while place < a.len() && place < b.len() && a[place] == b[place] {
        place += 1;
    }
    place == a.len() && place == b.len()
}

const fn tera(value: f64) -> FlopsPerSec {
    FlopsPerSec::from_tera(value)
}

const fn mhz(value: f64) -> Hertz {
    Hertz::from_mhz(value)
}

/// Latency per hop of links that a GPU or RDMA drives; assumed.
pub(super) const HOP: Seconds = Seconds::new(5e-6);

/// Two DGX Sparks over both ports of 200GbE, one direction: 198 Gbit/s measured (servethehome.com); latency with RDMA, assumed.
pub(super) const SPARK_LINK: Link = Link::ring(BytesPerSec::from_gb(24.75), HOP);

/// A link for which the vendor publishes the sum of both directions (NVLink, Infinity Fabric); one direction is half of it. A switch
/// or a full mesh joins all devices of a server.
const fn both_directions(both_directions_gb: f64) -> Fact<Link> {
    let bandwidth = BytesPerSec::from_gb(both_directions_gb / 2.0);
    Fact::derived(Link::switched(bandwidth, HOP))
}

/// NVLink of a server with eight V100 SXM2: four of them are a full mesh, and eight a cube mesh, in which three rings pass by all
/// (NVIDIA on the DGX-1, as iitr.ac.in/dgx quotes it).
const fn cube_mesh(both_directions_gb: f64) -> Fact<Link> {
    let link = both_directions(both_directions_gb);
    Fact { value: Link { direct: 4, ..link.value }, ..link }
}

/// Practical rates of 4.0 x16 and 5.0 x16, one direction [GB/s]; assumed.
const PCIE_4: f64 = 25.0;
const PCIE_5: f64 = 50.0;

/// NVLink bridges, which join so many cards; more of them reach each other over PCI Express, whose rate is assumed.
const fn bridge(both_directions_gb: f64, cards: u64, pcie_gb: f64) -> Fact<Link> {
    let link = both_directions(both_directions_gb);
    let around = BytesPerSec::from_gb(pcie_gb);
    Fact { value: Link { direct: cards, around, ..link.value }, ..link }
}

/// PCI Express, with the practical rate of one direction (4.0 x16: 25, 5.0 x16: 50 GB/s); assumed. Other slots stay unknown.
const fn pcie(one_direction_gb: f64) -> Fact<Link> {
    let bandwidth = BytesPerSec::from_gb(one_direction_gb);
    Fact::assumed(Link::ring(bandwidth, HOP))
}
