//! Devices, models and formats by key. Every value names its source.

mod device_names;
pub mod devices;
pub mod format_aliases;
pub mod format_facts;
pub mod formats;
pub mod links;
pub mod model_names;
pub mod models;
pub mod quality;
pub mod schemes;

use alloc::string::String;
use alloc::vec::Vec;

use crate::device::Device;
use crate::error::Error;
use crate::order::sort_short;
use crate::quant_format::QuantFormat;
use crate::units::Bytes;
use models::CatalogModel;

/// Changes whenever a published value changes; links contain it, so that an old link can report that numbers have changed.
pub const VERSION: u32 = 1;

/// Finds the device with this key, alias or written name (`RTX 4090`, `M4 Max`).
///
/// ```
/// assert_eq!(calc_core::catalog::device("b10").unwrap().key, "gb10");
/// ```
///
/// # Errors
/// [`Error::UnknownKey`] with the nearest keys.
pub fn device(key: &str) -> Result<&'static Device, Error> {
    device_names::find(key).ok_or_else(|| {
        let near = |name: &str| nearest(name, devices::all().map(|device| &*device.key));
        let open: Vec<String> = device_names::open(key)
            .take(OFFERED_ALIKE)
            .map(|device| device.key.clone().into())
            .collect();
        let written = [
            device_names::of_size(key, OFFERED_ALIKE),
            open,
            device_names::numbered(key, OFFERED_ALIKE),
            near(key),
        ];
        let written = written.into_iter().find(|keys| !keys.is_empty()).unwrap_or_default();
        // The words that tell devices apart are few in a name such as `NVIDIA Jetson AGX Orin Developer Kit`.
        let nearest = if written.is_empty() { near(&device_names::plain(key)) } else { written };
        Error::UnknownKey { catalog: "hardware", key: clipped(key), nearest }
    })
}

/// The number of devices in front of a name, and the name: `2 x RTX 3090`.
pub fn counted(typed: &str) -> Option<(u64, &str)> {
    device_names::counted(typed)
}

/// Devices that a written name leaves open beside the one that was found: the `A100` of other memories and forms.
pub fn devices_left_open(name: &str, found: &Device) -> Vec<&'static Device> {
    device_names::left_open(name, found)
}

/// The other catalog device of the same name whose installed memory is this size; a chip that is sold in two versions, one of
/// them with this memory only.
pub fn version_with(device: &Device, installed: Bytes) -> Option<&'static Device> {
    device_names::version_with(device, installed)
}

/// Finds the model with this key, Hugging Face id or another published name.
///
/// # Errors
/// [`Error::UnknownKey`] with the nearest keys.
pub fn model(key: &str) -> Result<&'static CatalogModel, Error> {
    model_names::find(key)
        .map(|found| found.model)
        .ok_or_else(|| unknown("model", key, models::all().map(|model| model.key)))
}

/// Finds the format with this key, or with another of its names.
///
/// # Errors
/// [`Error::UnknownKey`] with the nearest keys.
pub fn format(key: &str) -> Result<&'static QuantFormat, Error> {
    formats::FORMATS
        .iter()
        .copied()
        .find(|format| same(format.key, key))
        .or_else(|| format_aliases::alias(key).map(|alias| alias.format))
        .ok_or_else(|| {
            let keys = nearest(key, formats::FORMATS.iter().map(|format| format.key));
            let nearest = if keys.is_empty() { spelled_alike(key) } else { keys };
            Error::UnknownKey { catalog: "format", key: clipped(key), nearest }
        })
}

/// Names of formats that differ from this one only in case and in separators: `q4_k_m` for `q4km`.
fn spelled_alike(name: &str) -> Vec<String> {
    let letters = |text: &str| -> Vec<u8> {
        let bytes = text.bytes().filter(u8::is_ascii_alphanumeric);
        bytes.map(|byte| byte.to_ascii_lowercase()).collect()
    };
    let asked = letters(name);
    let alike = format_aliases::ALIASES.iter().filter(|alias| letters(alias.name) == asked);
    alike.map(|alias| String::from(alias.name)).collect()
}

/// True for texts that differ only in case and in `-` or `_`.
fn same(a: &str, b: &str) -> bool {
    let plain = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(x, y)| plain(x) == plain(y))
}

fn unknown<'a>(catalog: &'static str, key: &str, keys: impl Iterator<Item = &'a str>) -> Error {
    Error::UnknownKey { catalog, key: clipped(key), nearest: nearest(key, keys) }
}

/// A key cut to a length that fits in a message.
fn clipped(key: &str) -> String {
    key.chars().take(80).collect()
}

/// Largest number of keys that a message suggests.
const OFFERED: usize = 3;
/// Largest number if all are equally near: two sizes of a board in two power budgets, for example.
const OFFERED_ALIKE: usize = 5;

/// The keys that resemble `key`, nearest and then shortest first: three, or up to five that are equally near; empty if none
/// is near.
pub fn nearest<'a>(key: &str, keys: impl Iterator<Item = &'a str>) -> Vec<String> {
    let key = clipped(key).to_ascii_lowercase();
    let mut ranked: Vec<_> = keys
        .map(|candidate| {
            (distance(&key, candidate), !starts_alike(&key, candidate), candidate.len(), candidate)
        })
        .collect();
    sort_short(&mut ranked, |a, b| (a.0, a.1, a.2) < (b.0, b.1, b.2));
    let limit = (key.chars().count() / 3).max(1);
    if key.is_empty() {
        return Vec::new();
    }
    let best = ranked.first().map_or(0, |(distance, ..)| *distance);
    let near = ranked.iter().enumerate().take(OFFERED_ALIKE).filter(|(place, (distance, ..))| {
        *distance <= limit && (*place < OFFERED || *distance == best)
    });
    near.map(|(_, (.., candidate))| String::from(*candidate)).collect()
}

fn starts_alike(key: &str, candidate: &str) -> bool {
    key.bytes().next().map(|byte| byte.to_ascii_lowercase()) == candidate.bytes().next()
}

/// Number of edits that turn `key` into the best-matching part of `candidate`: text missing at either end costs nothing, so
/// `h10` is near `h100_sxm` and `orin_nano` near `jetson_orin_nano_8gb`. A whole candidate inside `key` is near, too.
fn distance(key: &str, candidate: &str) -> usize {
    // Not `str::contains`, whose search is 2 kB of the page's first program.
    if key.as_bytes().windows(candidate.len().max(1)).any(|part| part == candidate.as_bytes()) {
        return 0;
    }
    let candidate: Vec<char> = candidate.to_ascii_lowercase().chars().collect();
    let mut row: Vec<usize> = alloc::vec![0; candidate.len() + 1];
    for (i, a) in key.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in candidate.iter().enumerate() {
            let replace = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.into_iter().min().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_key_names_the_ones_that_were_meant() {
        let near = |key| match device(key) {
            Err(Error::UnknownKey { nearest, .. }) => nearest,
            other => panic!("{key} is no key: {other:?}"),
        };
        assert_eq!(near("h10")[0], "h100_sxm");
        let boards = ["jetson_agx_orin_32gb", "jetson_agx_orin_64gb"];
        assert_eq!(near("NVIDIA Jetson AGX Orin Developer Kit"), boards);
        assert_eq!(near("RTX 4090 48GB")[0], "rtx_4090");
        assert_eq!(near("rtx 3090 super"), ["rtx_3090", "rtx_3090_ti"]);
        assert_eq!(near("h100 xyz")[0], "h100_sxm");
        // Laptops have other chips than the desktop cards of their name.
        let laptop = near("NVIDIA GeForce RTX 2070 Laptop GPU");
        assert!(laptop.iter().all(|key| key.ends_with("laptop")), "{laptop:?}");
        let file = format("q4km").expect_err("no such name");
        assert!(matches!(file, Error::UnknownKey { nearest, .. } if nearest[0] == "q4_k_m"));
        assert!(near("jetson_orin_nan").contains(&"jetson_orin_nano_4gb".into()));
        let orin = near("orin_nan");
        for board in ["4gb", "8gb", "4gb_super", "8gb_super"] {
            assert!(orin.contains(&alloc::format!("jetson_orin_nano_{board}")), "{orin:?}");
        }
        assert!(orin[0].len() <= orin[3].len(), "the shortest come first: {orin:?}");
        assert!(
            matches!(format("int4_g"), Err(Error::UnknownKey { nearest, .. }) if nearest[0].starts_with("int4"))
        );
    }

    #[test]
    fn garbage_is_near_nothing() {
        let Err(Error::UnknownKey { key, nearest, .. }) = device(&"§".repeat(1_000_000)) else {
            panic!("no key")
        };
        assert!(key.len() <= 320 && nearest.is_empty());
    }
}
