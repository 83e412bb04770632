//! Leaves out the three stream classes of `wasm-streams`, which Leptos brings for functions on a server. Nothing here makes such
//! an object, but classes are exported, so the linker keeps them: 5 kB of every visitor's first load.

use anyhow::{Context, ensure};

use super::strip::{name, number, put_name, put_number, put_section, sections};

/// Kinds of the section of exports, and of sections with a name.
const EXPORTS: u8 = 7;
const CUSTOM: u8 = 0;
/// Section in which wasm-bindgen's macro describes what Rust and JavaScript have in common.
const DESCRIPTIONS: &str = "__wasm_bindgen_unstable";
/// Parts of the names of the exports and of their files.
const CLASS: &str = "intounderlying";
const FILE: &str = "wasm_streams::";

/// The linked program without the classes.
///
/// # Errors
/// If the program has them no longer, so that this file can go.
pub(super) fn leave_out(linked: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut kept = linked.get(..8).unwrap_or_default().to_vec();
    let mut left_out = 0;
    for (kind, content) in sections(linked)? {
        let changed = match kind {
            EXPORTS => Some(other_exports(content)?),
            CUSTOM if name(content)?.0 == DESCRIPTIONS => Some(other_descriptions(content)?),
            _ => None,
        };
        left_out +=
            usize::from(changed.as_ref().is_some_and(|changed| changed.len() < content.len()));
        put_section(&mut kept, kind, changed.as_deref().unwrap_or(content));
    }
    ensure!(left_out == 2, "the page's program has no classes of wasm-streams; delete streams.rs");
    Ok(kept)
}

fn other_exports(content: &[u8]) -> anyhow::Result<Vec<u8>> {
    let (count, mut rest) = number(content)?;
    let (mut kept, mut kept_count) = (Vec::new(), 0);
    for _ in 0..count {
        let (export, after) = name(rest)?;
        let (&kind, after) = after.split_first().context("an export without a kind")?;
        let (index, after) = number(after)?;
        rest = after;
        if !export.contains(CLASS) {
            put_name(&mut kept, export);
            kept.push(kind);
            put_number(&mut kept, index);
            kept_count += 1;
        }
    }
    let mut section = Vec::new();
    put_number(&mut section, kept_count);
    section.extend(kept);
    Ok(section)
}

/// The macro writes two texts each time, the version of their form and the description, each after its length.
fn other_descriptions(content: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let (section, mut rest) = name(content)?;
    put_name(&mut kept, section);
    while !rest.is_empty() {
        let (_version, after) = described(rest)?;
        let (description, after) = described(after)?;
        let both = &rest[..rest.len() - after.len()];
        rest = after;
        let has = |text: &str| {
            description.windows(text.len()).any(|part| part.eq_ignore_ascii_case(text.as_bytes()))
        };
        if !(has(CLASS) && has(FILE)) {
            kept.extend_from_slice(both);
        }
    }
    Ok(kept)
}

/// A text behind its length in 32 bits, and what follows it.
fn described(bytes: &[u8]) -> anyhow::Result<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>().context("a description is cut off")?;
    let length = usize::try_from(u32::from_le_bytes(*length))?;
    rest.split_at_checked(length).context("a description is cut off")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(texts: &[&str]) -> Vec<u8> {
        let mut content = Vec::new();
        put_name(&mut content, DESCRIPTIONS);
        for text in texts.iter().flat_map(|text| ["version", text]) {
            content.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
            content.extend(text.as_bytes());
        }
        content
    }

    fn program(exports: &[&str], descriptions: &[&str]) -> Vec<u8> {
        let mut content = vec![u8::try_from(exports.len()).unwrap()];
        for export in exports {
            put_name(&mut content, export);
            content.extend([0, 7]);
        }
        let mut program = b"\0asm\x01\0\0\0".to_vec();
        put_section(&mut program, EXPORTS, &content);
        put_section(&mut program, CUSTOM, &described(descriptions));
        put_section(&mut program, 10, b"intounderlying");
        program
    }

    #[test]
    fn the_classes_go_with_their_descriptions_and_nothing_else() {
        let class = "IntoUnderlyingSink\0wasm_streams::writable";
        let whole = program(
            &["main", "__wbg_intounderlyingsink_free_5", "intounderlyingsink_write_5"],
            &["console", class, "IntoUnderlyingSink of another"],
        );
        let rest = program(&["main"], &["console", "IntoUnderlyingSink of another"]);
        assert_eq!(leave_out(&whole).unwrap(), rest);
    }

    #[test]
    fn a_program_without_them_needs_no_such_step() {
        assert!(leave_out(&program(&["main"], &["console"])).is_err());
        let mut cut =
            program(&["intounderlyingsink_write_5"], &["IntoUnderlyingSink wasm_streams::"]);
        assert!(leave_out(&cut).is_ok());
        cut.truncate(cut.len() / 2);
        assert!(leave_out(&cut).is_err());
    }
}
