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
    let mut kept = wasm.get(..HEADER).unwrap_or_default().to_vec();
    for (kind, content) in sections(wasm)? {
        if kind != 0 || !FOR_DEBUGGERS.contains(&name(content)?.0) {
            put_section(&mut kept, kind, content);
        }
    }
    Ok(kept)
}

/// The sections of a WebAssembly file: kind and content.
pub(super) fn sections(wasm: &[u8]) -> anyhow::Result<Vec<(u8, &[u8])>> {
    ensure!(wasm.starts_with(b"\0asm") && wasm.len() >= HEADER, "is no WebAssembly");
    let (mut rest, mut sections) = (&wasm[HEADER..], Vec::new());
    while let Some((&kind, after)) = rest.split_first() {
        let (length, body) = number(after)?;
        let (content, next) =
            body.split_at_checked(length).context("a section is longer than the file")?;
        sections.push((kind, content));
        rest = next;
    }
    Ok(sections)
}

/// Appends a section to a file.
pub(super) fn put_section(wasm: &mut Vec<u8>, kind: u8, content: &[u8]) {
    wasm.push(kind);
    put_number(wasm, content.len());
    wasm.extend_from_slice(content);
}

/// Appends an unsigned LEB128 number.
pub(super) fn put_number(bytes: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        bytes.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    bytes.push(value.to_le_bytes()[0]);
}

/// A name behind its length, and what follows it.
pub(super) fn name(bytes: &[u8]) -> anyhow::Result<(&str, &[u8])> {
    let (length, rest) = number(bytes)?;
    let (name, rest) = rest.split_at_checked(length).context("a name is cut off")?;
    Ok((std::str::from_utf8(name)?, rest))
}

/// Appends a name behind its length.
pub(super) fn put_name(bytes: &mut Vec<u8>, name: &str) {
    put_number(bytes, name.len());
    bytes.extend_from_slice(name.as_bytes());
}

/// An unsigned LEB128 number of at most 32 bits, and what follows it.
pub(super) fn number(bytes: &[u8]) -> anyhow::Result<(usize, &[u8])> {
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
    fn numbers_of_any_length_come_back() {
        for value in [0, 127, 128, 16_384, 1_000_000] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, value);
            assert_eq!(number(&bytes).unwrap(), (value, &[][..]));
        }
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
