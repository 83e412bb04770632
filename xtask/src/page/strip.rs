//! Leaves the sections for debuggers out of a WebAssembly file, as wasm-bindgen does for the program itself: the names of
//! functions are a third of a chunk.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

/// Sections that a browser does not need.
const FOR_DEBUGGERS: [&str; 2] = ["name", "producers"];
/// Magic number and version.
const HEADER: usize = 8;

/// Rewrites every WebAssembly file of a folder without them.
pub(crate) fn strip_folder(folder: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "wasm") {
            let stripped = strip(&fs::read(&path)?).with_context(|| path.display().to_string())?;
            fs::write(&path, stripped)?;
        }
    }
    Ok(())
}

/// The file without sections for debuggers.
fn strip(wasm: &[u8]) -> anyhow::Result<Vec<u8>> {
    ensure!(wasm.starts_with(b"\0asm") && wasm.len() >= HEADER, "is no WebAssembly");
    let (header, mut rest) = wasm.split_at(HEADER);
    let mut kept = header.to_vec();
    while let Some((&kind, after)) = rest.split_first() {
        let (length, body) = number(after)?;
        ensure!(body.len() >= length, "a section is longer than the file");
        let (content, next) = body.split_at(length);
        if kind != 0 || !FOR_DEBUGGERS.contains(&custom_name(content)?) {
            kept.extend_from_slice(&rest[..rest.len() - next.len()]);
        }
        rest = next;
    }
    Ok(kept)
}

fn custom_name(content: &[u8]) -> anyhow::Result<&str> {
    let (length, rest) = number(content)?;
    let name = rest.get(..length).context("a name is longer than its section")?;
    Ok(std::str::from_utf8(name)?)
}

/// An unsigned LEB128 number of at most 32 bits, and what follows it.
fn number(bytes: &[u8]) -> anyhow::Result<(usize, &[u8])> {
    let mut value = 0;
    for (place, byte) in bytes.iter().enumerate().take(5) {
        value |= usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok((value, &bytes[place + 1..]));
        }
    }
    anyhow::bail!("a length ends too early")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(kind: u8, content: &[u8]) -> Vec<u8> {
        let length = u8::try_from(content.len()).unwrap();
        [&[kind, length], content].concat()
    }

    #[test]
    fn only_sections_for_debuggers_go() {
        let header = b"\0asm\x01\0\0\0".to_vec();
        let (code, features) = (section(10, b"\x04name"), section(0, b"\x0ftarget_features"));
        let (names, producers) = (section(0, b"\x04name..."), section(0, b"\x09producers"));
        let whole = [header.clone(), names, code.clone(), producers, features.clone()].concat();
        assert_eq!(strip(&whole).unwrap(), [header, code, features].concat());
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let whole = [b"\0asm\x01\0\0\0".to_vec(), section(10, b"body")].concat();
        assert!(strip(&whole).is_ok());
        for length in [0, 4, 9, 11] {
            assert!(strip(&whole[..length]).is_err(), "{length}");
        }
    }
}
