//! Name and caches of the processor, as the system reports them.

use std::fs;

use calc_core::units::Bytes;

/// Name of the processor; the architecture where the system reports none.
pub fn name() -> String {
    fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| name_in(&text))
        .unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// Name of the processor, or of its board, in the text of `/proc/cpuinfo`.
pub fn name_in(cpuinfo: &str) -> Option<String> {
    let value = |key: &str| {
        let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        let mut values =
            lines.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim());
        values.find(|value| !value.is_empty()).map(str::to_owned)
    };
    // x86 reports the first, ARM boards often one of the others.
    ["model name", "Model", "Hardware"].iter().find_map(|key| value(key))
}

/// Total size of the last-level caches of these cores. `None` where the system does not report them.
pub fn last_level_cache(cores: &[usize]) -> Option<Bytes> {
    let mut seen: Vec<(u32, String)> = Vec::new();
    let mut total = 0;
    let caches: Vec<CacheLevel> = cores.iter().flat_map(|core| caches_of(*core)).collect();
    let last = caches.iter().map(|cache| cache.level).max()?;
    for cache in caches.into_iter().filter(|cache| cache.level == last) {
        let key = (cache.level, cache.shared);
        if !seen.contains(&key) {
            total += cache.bytes;
            seen.push(key);
        }
    }
    Some(Bytes::new(total as f64))
}

struct CacheLevel {
    level: u32,
    bytes: u64,
    shared: String,
}

fn caches_of(core: usize) -> Vec<CacheLevel> {
    let folder = format!("/sys/devices/system/cpu/cpu{core}/cache");
    let read = |index: usize, file: &str| {
        let text = fs::read_to_string(format!("{folder}/index{index}/{file}")).ok()?;
        Some(text.trim().to_owned())
    };
    let cache = |index| {
        Some(CacheLevel {
            level: read(index, "level")?.parse().ok()?,
            bytes: size(&read(index, "size")?)?,
            shared: read(index, "shared_cpu_list")?,
        })
    };
    (0..8).map_while(cache).collect()
}

/// Parses a size such as `32768K`, as Linux writes it.
fn size(text: &str) -> Option<u64> {
    let (number, unit) = match text.strip_suffix(['K', 'M']) {
        Some(number) if text.ends_with('K') => (number, 1 << 10),
        Some(number) => (number, 1 << 20),
        None => (text, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_the_kernel_writes_them() {
        for (text, expected) in
            [("32768K", Some(33_554_432)), ("4M", Some(4_194_304)), ("512", Some(512)), ("?", None)]
        {
            assert_eq!(size(text), expected, "{text}");
        }
    }

    #[test]
    fn names_of_processors() {
        for (text, expected) in [
            ("processor\t: 0\nmodel name\t: A 3000\nmodel\t\t: 2\n", Some("A 3000")),
            ("processor : 0\nModel : Some Board Rev 1\n", Some("Some Board Rev 1")),
            ("model name\t: \nModel : Board\n", Some("Board")),
            ("", None),
        ] {
            assert_eq!(name_in(text).as_deref(), expected);
        }
        assert!(!name().is_empty());
    }
}
