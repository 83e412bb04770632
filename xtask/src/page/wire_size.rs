//! The size of the site on the wire: every file, as it is and compressed.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::offline;

/// The most that every visitor may have to fetch, in bytes after gzip, which every server and every browser has.
const LIMIT: usize = 300_000;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct WireSize {
    raw: usize,
    gzip: usize,
    brotli: usize,
}

impl WireSize {
    fn plus(self, other: Self) -> Self {
        Self {
            raw: self.raw + other.raw,
            gzip: self.gzip + other.gzip,
            brotli: self.brotli + other.brotli,
        }
    }
}

/// Prints the sizes of the files in `site` and fails if those that every visitor gets are over the limit together.
pub(crate) fn report(site: &Path) -> anyhow::Result<()> {
    let mut paths =
        fs::read_dir(site)?.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    paths.sort();
    let (folders, paths): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
    let mut total = WireSize::default();
    println!("{:>9} {:>9} {:>9}  bytes", "raw", "gzip", "brotli");
    for path in paths {
        let size = measure(&fs::read(&path).with_context(|| path.display().to_string())?)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if is_later(&name) {
            print_row(size, &format!("{name}, when it is needed"));
            continue;
        }
        total = total.plus(size);
        print_row(size, &name);
    }
    print_row(total, "in all, for every visitor");
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        print_row(size_of_folder(&folder)?, &format!("{name}/, page by page as it is read"));
    }
    judge(total)
}

/// The sizes of all files below a folder together.
fn size_of_folder(folder: &Path) -> anyhow::Result<WireSize> {
    let mut total = WireSize::default();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let size = if path.is_dir() {
            size_of_folder(&path)?
        } else {
            measure(&fs::read(&path).with_context(|| path.display().to_string())?)?
        };
        total = total.plus(size);
    }
    Ok(total)
}

/// Beginnings of files that nobody waits for: chunks, the worker's, scripts of a click, what keeps the site, and what programs read.
const LATER: [&str; 9] = [
    "split_",
    "chunk_",
    "chunks-",
    "links-",
    "explore-worker-",
    "tools-",
    "link-",
    "llms.txt",
    offline::WORKER_NAME,
];

/// Whether the page itself does not ask for a file.
fn is_later(name: &str) -> bool {
    LATER.iter().any(|start| name.starts_with(start))
}

fn measure(content: &[u8]) -> anyhow::Result<WireSize> {
    if content.is_empty() {
        return Ok(WireSize::default()); // an empty file has no body to transfer, compressed or not
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(content)?;
    let mut brotli = Vec::new();
    let settings = brotli::enc::BrotliEncoderParams { quality: 11, ..Default::default() };
    brotli::BrotliCompress(&mut &*content, &mut brotli, &settings)?;
    Ok(WireSize { raw: content.len(), gzip: gzip.finish()?.len(), brotli: brotli.len() })
}

fn print_row(size: WireSize, name: &str) {
    println!("{:>9} {:>9} {:>9}  {name}", size.raw, size.gzip, size.brotli);
}

fn judge(total: WireSize) -> anyhow::Result<()> {
    if total.gzip > LIMIT {
        bail!("the page is {} bytes after gzip; at most {LIMIT} are allowed", total.gzip);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_compresses() {
        let size = measure(&[7; 10_000]).unwrap();
        assert_eq!(size.raw, 10_000);
        assert!(size.gzip < 100 && size.brotli < 100, "{size:?}");
    }

    #[test]
    fn only_a_chunk_is_fetched_later() {
        let cases = [
            ("web_bg-1.wasm", false),
            ("split_a-1.wasm", true),
            ("loader-1.js", false),
            ("explore-worker-1.js", true),
            ("tools-1.js", true),
            ("link-1.js", true),
            ("chunks-1.bin", true),
            ("links-1.bin", true),
            ("service-worker.js", true),
        ];
        for (name, later) in cases {
            assert_eq!(is_later(name), later, "{name}");
        }
    }

    #[test]
    fn a_page_over_the_limit_is_refused() {
        let with_gzip = |gzip| WireSize { raw: 0, gzip, brotli: 0 };
        assert!(judge(with_gzip(LIMIT)).is_ok());
        assert!(judge(with_gzip(LIMIT + 1)).is_err());
    }
}
