//! Resolves the names that people and `nvidia-smi` write to catalog devices: `RTX 4090`, `Tesla V100-SXM2-16GB`, `M4 Max`,
//! `A100 80 GB`, `NVIDIA H100 80GB HBM3`.
//! A name must say everything that tells two devices apart; `4060` is no RTX 4060 Ti.
//!
//! This file is longer than 400 lines because half of it is the names that tests write.

use alloc::string::String;
use alloc::vec::Vec;

use super::{devices, same};
use crate::device::{Device, DeviceClass};
use crate::order::sort_short;
use crate::units::Bytes;

/// Types of memory that two versions of a device may differ in.
const MEMORY_TYPES: [&str; 4] = ["hbm2", "hbm2e", "hbm3", "hbm3e"];

/// Words of vendors, product lines and packages, which tell no two devices apart.
const VENDORS: [&str; 47] = [
    "12th",
    "13th",
    "14th",
    "amd",
    "apple",
    "arc",
    "aws",
    "card",
    "core",
    "cores",
    "cpu",
    "dev",
    "developer",
    "devkit",
    "edition",
    "engineering",
    "epyc",
    "geforce",
    "gen",
    "generation",
    "gold",
    "google",
    "gpu",
    "graphics",
    "gtx",
    "instinct",
    "intel",
    "jetson",
    "kit",
    "nvgpu",
    "nvidia",
    "platinum",
    "processor",
    "qualcomm",
    "r",
    "radeon",
    "reference",
    "rockchip",
    "rtx",
    "rx",
    "ryzen",
    "tesla",
    "threadripper",
    "tm",
    "w",
    "workstation",
    "xeon",
];

/// Spellings, each with the one that keys have.
const SPELLINGS: [(&str, &str); 5] = [
    ("max-q", "maxq"),
    ("max q", "maxq"),
    ("max_q", "maxq"),
    ("mobile", "laptop"),
    ("notebook", "laptop"),
];

/// Computers in which Apple sells its chips; `pro` alone would be a part of the chip's name.
const MACS: [&str; 6] = ["macbook pro", "macbook air", "mac studio", "mac mini", "mac pro", "imac"];

/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 80;

/// Finds the device with this key, alias or written name.
pub(super) fn find(name: &str) -> Option<&'static Device> {
    let exact = |device: &&Device| keys(device).any(|key| same(key, name));
    let written = |name: &str| {
        let asked = WrittenName::of(name)?;
        devices::all().find(|device| asked.mean(device))
    };
    // A plural of a word, as in `dgx sparks`; behind a digit the letter is part of a name, as in `L40S` and `4080 S`.
    let singular = |name: &'_ str| -> Option<usize> {
        let one = name.trim_end().strip_suffix(['s', 'S'])?;
        one.ends_with(|last: char| last.is_ascii_alphabetic()).then_some(one.len())
    };
    let found = devices::all().find(exact).or_else(|| written(name));
    found.or_else(|| written(name.get(..singular(name)?)?))
}

/// Most devices that a number without a cross means: `90 b` is no number of devices.
const MOST_BARE: u64 = 64;
/// Words after a number that make it a size.
const UNITS: [&str; 5] = ["gb", "gib", "tb", "gb/s", "w"];

/// The number of devices in front of a name, and the name: `2 x RTX 3090`, `2x RTX 3090`, `4 H100`; `None` without a number.
pub(super) fn counted(typed: &str) -> Option<(u64, &str)> {
    let typed = typed.trim();
    let name = typed.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let count = typed[..typed.len() - name.len()].parse().ok().filter(|count| *count > 0)?;
    let beside = name.trim_start();
    let adjoins = beside.len() == name.len();
    let after = beside.strip_prefix(['x', 'X', '×', '*']);
    if let Some(after) = after.filter(|after| adjoins || after.starts_with(' ')) {
        return Some((count, after.trim_start())).filter(|(_, name)| !name.is_empty());
    }
    let word = beside.split(' ').next().unwrap_or_default().to_ascii_lowercase();
    let is_count = !adjoins && count <= MOST_BARE && !UNITS.contains(&&*word);
    Some((count, beside)).filter(|_| is_count && !word.is_empty())
}

fn keys(device: &Device) -> impl Iterator<Item = &str> {
    core::iter::once(&*device.key).chain(device.aliases.iter().map(|alias| &**alias))
}

/// The words of a name that tell devices apart, and size [GB] and type of the memory if it states them.
struct WrittenName {
    words: Vec<String>,
    gigabytes: Option<u32>,
    memory_type: Option<&'static str>,
}

impl WrittenName {
    /// The words of a name; none for names of vendors only and for texts that are no name.
    fn of(name: &str) -> Option<Self> {
        Self::parse(name).filter(|found| !found.words.is_empty())
    }

    /// As [`Self::of`], with an empty list for a name without such words.
    fn parse(name: &str) -> Option<Self> {
        if name.len() > MAX_NAME {
            return None;
        }
        // Linux adds the base clock to a processor's name: `@ 2.40GHz`.
        let mut name = name.split('@').next().unwrap_or_default().to_ascii_lowercase();
        for mac in MACS {
            name = name.replace(mac, " ");
        }
        for (written, own) in SPELLINGS {
            name = name.replace(written, own);
        }
        let mut parts: Vec<&str> = name.split(|c: char| !c.is_alphanumeric()).collect();
        parts.retain(|part| !part.is_empty());
        let mut found = Self { words: Vec::new(), gigabytes: None, memory_type: None };
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            let is_unit_next = matches!(parts.get(at + 1), Some(&("gb" | "gib")));
            // `nvidia-smi` writes 144G of a GH200.
            let sized = ["gib", "gb", "g"].iter().find_map(|unit| part.strip_suffix(unit));
            let digits = sized.or(is_unit_next.then_some(part));
            // Linux adds the number of cores to a processor's name: 96-Core Processor.
            if parts.get(at + 1..at + 3) == Some(&["core", "processor"]) {
                at += 3;
                continue;
            }
            at += 1;
            if let Some(size) = digits.and_then(|digits| digits.parse().ok()) {
                found.gigabytes = Some(size);
                at += usize::from(is_unit_next);
            } else if let Some(memory) = MEMORY_TYPES.iter().find(|memory| *memory == part) {
                found.memory_type = Some(memory);
            } else if !VENDORS.contains(part) {
                let is_number = |rest: &&str| rest.starts_with(|c: char| c.is_ascii_digit());
                let number = ["rtx", "rx"].iter().find_map(|line| part.strip_prefix(line));
                let word = number.filter(is_number).unwrap_or(part);
                found.words.extend(split(word).into_iter().flatten().map(String::from));
            }
        }
        Some(found)
    }

    /// True for the same words in any order.
    fn same(&self, other: &Self) -> bool {
        let sorted = |words: &[String]| {
            let mut words = words.to_vec();
            words.sort_unstable();
            words
        };
        self.words.len() == other.words.len() && sorted(&self.words) == sorted(&other.words)
    }

    /// True if key, alias or displayed name has the same words, and the memory or the name has the stated size.
    fn mean(&self, device: &Device) -> bool {
        let fits = self.gigabytes.is_none_or(|gigabytes| has_size(device, gigabytes));
        if self.memory_type.is_some_and(|memory| !device.memory_type.eq_ignore_ascii_case(memory)) {
            return false;
        }
        let displayed = [short_name(device), &*device.name];
        keys(device).chain(displayed).filter_map(Self::of).any(|own| {
            let is_said = self.gigabytes.is_some() || own.gigabytes.is_none();
            // A GH200 is named by the memory of its processor: 480GB.
            let is_size = fits || own.gigabytes == self.gigabytes;
            own.same(self) && is_said && is_size
        })
    }
}

/// Ends of numbers that are words of their own: `2080ti`, `7900xtx`.
const ENDS: [&str; 5] = ["super", "ti", "xtx", "xt", "gre"];

/// A word without `core`, and the end of a number apart: `2080` and `ti`.
fn split(word: &str) -> [Option<&str>; 2] {
    let is_digits = |text: &&str| text.len() > 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = |end: &&'static str| Some((word.strip_suffix(*end).filter(is_digits)?, *end));
    match ENDS.iter().find_map(numbered) {
        Some((number, end)) => [Some(number), Some(end)],
        None => {
            [Some(word.strip_suffix("core").unwrap_or(word)).filter(|rest| !rest.is_empty()), None]
        }
    }
}

/// The displayed name without its addition: `Apple M4 Max` of `Apple M4 Max (40-core)`.
fn short_name(device: &Device) -> &str {
    device.name.split(" (").next().unwrap_or_default()
}

/// The other device of this name whose installed memory is this size: a chip that is sold in two versions with different
/// bandwidths.
pub(super) fn version_with(device: &Device, installed: Bytes) -> Option<&'static Device> {
    let is_other = |other: &&Device| {
        *other.key != *device.catalog_key()
            && short_name(other) == short_name(device)
            && other.bandwidth.value != device.bandwidth.value
            && other.installed_memory() == Some(installed)
    };
    devices::all().find(is_other)
}

/// Words that people leave out of a name although they tell two versions of a device apart.
const VERSIONS: [&str; 8] = ["blackwell", "maxq", "nvl", "pcie", "server", "sxm", "sxm2", "sxm4"];

/// Devices that a written name leaves open beside the one that was found: its versions in memory, form, cores or power. A key
/// leaves none open, and `RTX 4090` is no RTX 4090 Laptop.
pub(super) fn left_open(name: &str, found: &Device) -> Vec<&'static Device> {
    let Some(asked) = WrittenName::of(name).filter(|_| !same(&found.key, name)) else {
        return Vec::new();
    };
    let known = WrittenName::of(&found.key).map_or_else(Vec::new, |found| found.words);
    let is_version = |device: &&Device| {
        let own = WrittenName::of(&device.key).map_or_else(Vec::new, |own| own.words);
        let is_said = |word: &&String| asked.words.contains(word) || known.contains(word);
        let mut added = own.iter().filter(|word| !is_said(word));
        added.all(|word| {
            let is_count = word.bytes().all(|byte| byte.is_ascii_digit());
            // A Super mode raises the clocks of a Jetson module; the board stays.
            let is_super = word == "super" && device.form_factor == "module";
            VERSIONS.contains(&word.as_str()) || is_count || is_super
        })
    };
    let open = open(name).filter(|device| *device.key != *found.catalog_key());
    open.filter(is_version).collect()
}

/// Devices that a written name may mean: those with all of its words, and of the size and type of memory that it states.
pub(super) fn open(name: &str) -> impl Iterator<Item = &'static Device> {
    let asked = WrittenName::of(name);
    devices::all().filter(move |device| {
        asked.as_ref().is_some_and(|asked| {
            let own = WrittenName::of(&device.key);
            let is_type = |memory: &str| device.memory_type.eq_ignore_ascii_case(memory);
            asked.gigabytes.is_none_or(|gigabytes| has_size(device, gigabytes))
                && asked.memory_type.is_none_or(is_type)
                && own.is_some_and(|own| asked.words.iter().all(|word| own.words.contains(word)))
        })
    })
}

/// Smallest length of a number that names devices: `3090`, `h100`.
const LONG_NUMBER: usize = 3;
/// Words after a number that mean another chip.
const OTHER_CHIPS: [&str; 1] = ["laptop"];

/// Keys of the devices with the same number as a name whose other words none of them has: the RTX 3090 for `rtx 3090 ti`.
pub(super) fn numbered(name: &str, most: usize) -> Vec<String> {
    let words = WrittenName::of(name).map_or_else(Vec::new, |asked| asked.words);
    let is_number = |word: &&String| {
        word.bytes().filter(u8::is_ascii_digit).count() >= LONG_NUMBER
            && word.ends_with(|last: char| last.is_ascii_digit())
    };
    let is_other = words.iter().any(|word| OTHER_CHIPS.contains(&word.as_str()));
    let Some(number) = words.iter().find(is_number).filter(|_| !is_other) else {
        return Vec::new();
    };
    let has_number = |device: &&Device| {
        WrittenName::of(&device.key).is_some_and(|own| own.words.contains(number))
    };
    devices::all().filter(has_number).take(most).map(|device| device.key.clone().into()).collect()
}

/// Beginnings of names of cards that people buy for a computer of their own.
const USUAL_CARDS: [&str; 3] = ["GeForce", "Radeon RX", "Arc"];

/// Keys of the usual cards with the size of memory that is all that a name states, those with the most bandwidth first.
pub(super) fn of_size(name: &str, most: usize) -> Vec<String> {
    let asked = WrittenName::parse(name).filter(|asked| asked.words.is_empty());
    let Some(gigabytes) = asked.and_then(|asked| asked.gigabytes) else { return Vec::new() };
    let is_usual = |device: &&Device| {
        USUAL_CARDS.iter().any(|line| device.name.starts_with(line))
            && device.class == DeviceClass::DiscreteGpu
            && device.form_factor != "laptop"
    };
    let mut cards: Vec<&Device> =
        devices::all().filter(is_usual).filter(|device| has_size(device, gigabytes)).collect();
    sort_short(&mut cards, |a, b| a.bandwidth.value > b.bandwidth.value);
    cards.into_iter().take(most).map(|device| device.key.clone().into()).collect()
}

/// The name without vendors and sizes, in the form of keys; messages suggest keys near it.
pub(super) fn plain(name: &str) -> String {
    WrittenName::of(name).map_or_else(String::new, |found| found.words.join("_"))
}

/// Whether the installed memory is of this size, in GB or GiB.
fn has_size(device: &Device, gigabytes: u32) -> bool {
    let installed = device.installed_memory();
    installed.is_some_and(|installed| holds(installed.get() / f64::from(gigabytes)))
}

/// True for one GB or one GiB.
fn holds(bytes: f64) -> bool {
    (0.98e9..1.08e9).contains(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names as people, shops and systems write them, with the device that each means.
    const WRITTEN: &[(&str, &str)] = &[
        ("4090", "rtx_4090"),
        ("rtx4090", "rtx_4090"),
        ("NVIDIA GeForce RTX 4090", "rtx_4090"),
        ("RTX 3090 24GB", "rtx_3090"),
        ("3060", "rtx_3060_12gb"),
        ("RTX 4060 Ti 16 GB", "rtx_4060_ti_16gb"),
        ("rtx pro 6000", "rtx_pro_6000_blackwell"),
        ("dgx spark", "gb10"),
        ("DGX Spark 128 GB", "gb10"),
        ("a100_80gb", "a100_80gb_sxm"),
        ("NVIDIA A100-SXM4-80GB", "a100_80gb_sxm"),
        ("Tesla V100-SXM2-16GB", "v100_sxm2_16gb"),
        ("H100 PCIe", "h100_pcie"),
        ("m4_max", "apple_m4_max"),
        ("Apple M4", "apple_m4"),
        ("thor", "jetson_t5000"),
        ("AGX Orin 64GB", "jetson_agx_orin_64gb"),
        ("Orin Nano 8GB Super", "jetson_orin_nano_8gb_super"),
        ("orin nano super", "jetson_orin_nano_8gb_super"),
        ("strix halo", "strix_halo"),
        ("7900 XTX", "rx_7900_xtx"),
        ("NVIDIA H100 80GB HBM3", "h100_sxm"),
        ("H100 80GB HBM3", "h100_sxm"),
        ("H100 SXM5", "h100_sxm"),
        ("NVIDIA H200", "h200_sxm"),
        ("NVIDIA GB10", "gb10"),
        ("NVIDIA A100-PCIE-40GB", "a100_40gb_pcie"),
        ("NVIDIA L40S", "l40s"),
        ("Tesla T4", "t4"),
        ("NVIDIA GH200 480GB", "gh200_96gb"),
        ("NVIDIA GH200 144G HBM3e", "gh200_144gb"),
        ("NVIDIA Jetson AGX Thor Developer Kit", "jetson_t5000"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx_pro_6000_blackwell"),
        ("M4 Max 36GB", "apple_m4_max_32core"),
        ("MacBook Pro M4 Max 128GB", "apple_m4_max"),
        ("M4 Max (32-core GPU)", "apple_m4_max_32core"),
        ("M4 Max 40-core", "apple_m4_max"),
        ("Mac Studio M2 Ultra", "apple_m2_ultra"),
        ("4060", "rtx_4060"),
        ("rtx 4060 laptop", "rtx_4060_laptop"),
        ("NVIDIA GeForce RTX 4060 Laptop GPU", "rtx_4060_laptop"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "rtx_4090_laptop"),
        ("RTX 4090 Mobile", "rtx_4090_laptop"),
        ("3080 laptop 16gb", "rtx_3080_laptop_16gb"),
        ("rtx 3090 ti", "rtx_3090_ti"),
        ("4070 Ti", "rtx_4070_ti"),
        ("4070 ti super", "rtx_4070_ti_super"),
        ("NVIDIA GeForce RTX 4070 SUPER", "rtx_4070_super"),
        ("RTX 4060 Ti 8GB", "rtx_4060_ti_8gb"),
        ("5060 ti 16gb", "rtx_5060_ti_16gb"),
        ("3080 12gb", "rtx_3080_12gb"),
        ("2080ti", "rtx_2080_ti"),
        ("rtx 2080 ti", "rtx_2080_ti"),
        ("7900xtx", "rx_7900_xtx"),
        ("rtx5090", "rtx_5090"),
        ("5090 laptop", "rtx_5090_laptop"),
        ("Quadro RTX 8000", "quadro_rtx_8000"),
        ("titan rtx", "titan_rtx"),
        ("a6000", "rtx_a6000"),
        ("RTX A4000", "rtx_a4000"),
        ("rtx 6000 ada", "rtx_6000_ada"),
        ("NVIDIA RTX 6000 Ada Generation", "rtx_6000_ada"),
        ("rtx 4000 sff ada", "rtx_4000_sff_ada"),
        ("RTX PRO 4500", "rtx_pro_4500_blackwell"),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx_pro_6000_blackwell_max_q"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx_pro_6000_blackwell_server"),
        ("rtx pro 6000 server", "rtx_pro_6000_blackwell_server"),
        ("A10G", "a10g"),
        ("NVIDIA H100 96GB HBM3", "h100_sxm_96gb"),
        ("h800", "h800_sxm"),
        ("NVIDIA H20", "h20"),
        ("H20-3e", "h20_141gb"),
        ("L40", "l40"),
        ("NVIDIA L20", "l20"),
        ("h200 nvl", "h200_nvl"),
        ("rubin", "rubin"),
        ("mi300x", "mi300x"),
        ("AMD Instinct MI350X", "mi350x"),
        ("mi210", "mi210"),
        ("7900 XT", "rx_7900_xt"),
        ("RX 9070 XT", "rx_9070_xt"),
        ("9070", "rx_9070"),
        ("AMD Radeon RX 9060 XT 16GB", "rx_9060_xt_16gb"),
        ("r9700", "radeon_ai_pro_r9700"),
        ("W7900", "radeon_pro_w7900"),
        ("ryzen ai max 395", "strix_halo"),
        ("AMD Ryzen AI Max+ 395", "strix_halo"),
        ("8060S", "strix_halo"),
        ("arc b580", "arc_b580"),
        ("Intel Arc A770 16GB", "arc_a770_16gb"),
        ("arc pro b60", "arc_pro_b60"),
        ("gaudi3", "gaudi3"),
        ("Intel Gaudi 2", "gaudi2"),
        ("tpu v6e", "tpu_v6e"),
        ("trillium", "tpu_v6e"),
        ("ironwood", "tpu_v7"),
        ("m4 pro 20 core", "apple_m4_pro"),
        ("M4 Pro 16-core GPU", "apple_m4_pro_16core"),
        ("m1 max 24 core", "apple_m1_max_24core"),
        ("MacBook Pro M5 Max", "apple_m5_max"),
        ("Apple M5", "apple_m5"),
        ("M3 Max 96GB", "apple_m3_max_30core"),
        ("pi 5", "raspberry_pi_5"),
        ("Raspberry Pi 5 16GB", "raspberry_pi_5_16gb"),
        ("rk3588", "rk3588"),
        ("Orange Pi 5", "rk3588"),
        ("snapdragon x elite", "snapdragon_x_elite"),
        ("9950x", "ryzen_9_9950x"),
        ("AMD Ryzen 9 9950X 16-Core Processor", "ryzen_9_9950x"),
        ("ryzen 7950x", "ryzen_9_7950x"),
        ("epyc 9654", "epyc_9654"),
        ("AMD EPYC 7763 64-Core Processor", "epyc_7763"),
        ("13900k", "core_i9_13900k"),
        ("13th Gen Intel(R) Core(TM) i9-13900K", "core_i9_13900k"),
        ("Intel(R) Xeon(R) Platinum 8480+", "xeon_8480plus"),
        ("INTEL(R) XEON(R) PLATINUM 8592+", "xeon_8592plus"),
        ("xeon 6980p", "xeon_6980p"),
        ("threadripper pro 5995wx", "threadripper_pro_5995wx"),
        ("p40", "p40"),
        ("tesla p40", "p40"),
        ("Tesla P40 24GB", "p40"),
        ("Tesla P100-PCIE-16GB", "p100_pcie_16gb"),
        ("m40", "m40_24gb"),
        ("gtx 1080 ti", "gtx_1080_ti"),
        ("1080ti", "gtx_1080_ti"),
        ("NVIDIA GeForce GTX 1660 SUPER", "gtx_1660_super"),
        ("titan v", "titan_v"),
        ("mi50", "mi50"),
        ("MI50 32GB", "mi50_32gb"),
        ("mi60", "mi60"),
        ("AMD Instinct MI300A", "mi300a"),
        ("6800 xt", "rx_6800_xt"),
        ("6700xt", "rx_6700_xt"),
        ("rx 7600", "rx_7600"),
        ("W7800 48GB", "radeon_pro_w7800_48gb"),
        ("steam deck", "steam_deck"),
        ("ryzen ai 9 hx 370", "radeon_890m"),
        ("AMD Ryzen AI 9 HX 370 w/ Radeon 890M", "radeon_890m"),
        ("780m", "radeon_780m"),
        ("lunar lake", "arc_140v"),
        ("arc b390", "arc_b390"),
        ("Intel Data Center GPU Max 1550", "intel_max_1550"),
        ("14900k", "core_i9_14900k"),
        ("Intel(R) Core(TM) i7-14700K", "core_i7_14700k"),
        ("ultra 9 285k", "core_ultra_9_285k"),
        ("Intel(R) Core(TM) Ultra 9 285K", "core_ultra_9_285k"),
        ("9800x3d", "ryzen_7_9800x3d"),
        ("7950x3d", "ryzen_9_7950x3d"),
        ("epyc 9755", "epyc_9755"),
        ("AMD EPYC 9575F 64-Core Processor", "epyc_9575f"),
        ("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", "xeon_e5_2680_v4"),
        ("n100", "intel_n100"),
        ("Apple M4 8-core", "apple_m4_8core"),
        ("M5 Max 32 core", "apple_m5_max_32core"),
        ("2060 12gb", "rtx_2060_12gb"),
        ("dgx sparks", "gb10"),
    ];

    #[test]
    fn written_names_mean_devices() {
        for (name, key) in WRITTEN {
            assert_eq!(find(name).map(|device| &*device.key), Some(*key), "{name}");
        }
    }

    #[test]
    fn a_name_that_leaves_the_device_open_means_none() {
        for name in [
            "NVIDIA Jetson AGX Orin Developer Kit",
            "M4 Max 64GB",
            "Orin (nvgpu)",
            "agx orin",
            "orin nx",
            "v100 16gb",
            "a100 20gb",
            "3060 8gb",
            "rtx",
            "nvidia",
            "max",
            "gb",
            "8 gb",
            "",
            " ",
            "4060 Ti",
            "5060 ti",
            "rtx 3080",
            "3080 laptop",
            "3050",
            "rx 9060 xt",
            "rtx 6000",
            "rtx pro 5000",
            "arc a770",
            "rtx 4030",
            "RTX 2070 Laptop GPU",
            "epyc",
            "ryzen 9",
            "core i9",
            "raspberry pi",
            "tpu",
            "H100 80GB SXM PCIe",
            "ada",
        ] {
            assert_eq!(find(name).map(|device| &*device.key), None, "{name}");
        }
    }

    #[test]
    fn a_name_says_which_devices_it_leaves_open() {
        for (name, expected) in [
            ("A100", &["a100_40gb_pcie", "a100_40gb_sxm", "a100_80gb_pcie"][..]),
            ("NVIDIA A100 40GB PCIe", &[]),
            ("A100 80 GB", &["a100_80gb_pcie"]),
            ("M4 Max", &["apple_m4_max_32core"]),
            ("apple_m4_max", &[]),
            ("M4 Pro", &["apple_m4_pro_16core"]),
            ("M4 Pro 20-core", &[]),
            ("Apple M4", &["apple_m4_8core"]),
            ("RTX 4090", &[]),
            ("RTX 4070", &[]),
            ("H100", &["h100_nvl", "h100_pcie", "h100_sxm_64gb", "h100_sxm_96gb"]),
            ("RTX PRO 6000", &["rtx_pro_6000_blackwell_max_q", "rtx_pro_6000_blackwell_server"]),
            ("orin nano 8gb", &["jetson_orin_nano_8gb_super"]),
            ("pi 5", &["raspberry_pi_5_16gb", "raspberry_pi_5_4gb"]),
            ("V100", &["v100_pcie_16gb", "v100_pcie_32gb", "v100_sxm2_16gb"]),
        ] {
            let found = find(name).expect("a device");
            let mut open: Vec<&str> =
                left_open(name, found).iter().map(|device| &*device.key).collect();
            open.sort_unstable();
            assert_eq!(open, expected, "{name}");
        }
        for device in devices::all() {
            assert!(left_open(&device.key, device).is_empty(), "{}", device.key);
        }
    }

    #[test]
    fn a_refusal_offers_all_devices_of_a_name() {
        for (name, expected) in [
            ("A100 40GB", &["a100_40gb_pcie", "a100_40gb_sxm"][..]),
            ("agx orin", &["jetson_agx_orin_32gb", "jetson_agx_orin_64gb"]),
            ("v100 16gb", &["v100_pcie_16gb", "v100_sxm2_16gb"]),
            ("4060 Ti", &["rtx_4060_ti_16gb", "rtx_4060_ti_8gb"]),
            ("3080 laptop", &["rtx_3080_laptop_16gb", "rtx_3080_laptop_8gb", "rtx_3080_ti_laptop"]),
            ("arc a770", &["arc_a770_16gb", "arc_a770_8gb"]),
            ("24 GB", &["rtx_3090", "rtx_3090_ti", "rtx_4090", "rtx_4090_d", "rx_7900_xtx"]),
            ("32gb", &["rtx_5090"]),
            ("rtx pro 5000", &["rtx_pro_5000_blackwell_48gb", "rtx_pro_5000_blackwell_72gb"]),
        ] {
            let Err(crate::error::Error::UnknownKey { nearest, .. }) = super::super::device(name)
            else {
                panic!("{name} is refused")
            };
            let mut nearest = nearest;
            nearest.sort_unstable();
            assert_eq!(nearest, expected, "{name}");
        }
    }

    #[test]
    fn every_displayed_name_means_its_own_device_or_none() {
        for device in devices::all() {
            let found = find(&device.name).map(|found| &*found.key);
            assert!(found.is_none_or(|key| *key == *device.key), "{}: {found:?}", device.name);
        }
    }
}
