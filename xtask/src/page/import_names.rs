//! Shortens the names by which the program finds the functions of its script. wasm-bindgen ends each of the 190 in 16 random
//! digits, in both files, and no compression makes those smaller: 6 kB of every visitor's first load.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use super::strip::{name, number, put_name, put_number, put_section, sections};

/// Kind of the section of imports, and of an imported function.
const IMPORTS: u8 = 2;
const FUNCTION: u8 = 0;

/// Renames the imports of `NAME_bg.wasm` that `NAME.js` in the same folder brings.
pub(super) fn shorten(folder: &Path, name: &str) -> anyhow::Result<()> {
    let (wasm, script) =
        (folder.join(format!("{name}_bg.wasm")), folder.join(format!("{name}.js")));
    let (program, text) = (fs::read(&wasm)?, fs::read_to_string(&script)?);
    let (program, text) = renamed(&program, &text, &format!("./{name}_bg.js"))
        .with_context(|| format!("names in {}", script.display()))?;
    fs::write(wasm, program)?;
    Ok(fs::write(script, text)?)
}

/// Program and script with short names for what the program imports from `module`.
fn renamed(wasm: &[u8], script: &str, module: &str) -> anyhow::Result<(Vec<u8>, String)> {
    let (mut program, mut text) = (wasm[..8].to_vec(), script.to_owned());
    for (kind, content) in sections(wasm)? {
        let content = if kind == IMPORTS {
            let (content, names) = rename_imports(content, module)?;
            for (place, name) in names.iter().enumerate() {
                let key = format!("{name}: function(");
                ensure!(text.matches(&key).count() == 1, "{name} is not defined once");
                text = text.replace(&key, &format!("{}: function(", short(place)));
            }
            content
        } else {
            content.to_vec()
        };
        put_section(&mut program, kind, &content);
    }
    Ok((program, text))
}

/// The section with short names for the functions of `module`, and their names.
fn rename_imports<'a>(content: &'a [u8], module: &str) -> anyhow::Result<(Vec<u8>, Vec<&'a str>)> {
    let (count, mut rest) = number(content)?;
    let (mut renamed, mut names) = (Vec::new(), Vec::new());
    put_number(&mut renamed, count);
    for _ in 0..count {
        let (own_module, after) = name(rest)?;
        let (own_name, after) = name(after)?;
        let (&kind, after) = after.split_first().context("an import without a kind")?;
        ensure!(kind == FUNCTION, "{own_name} is no function");
        let (form, after) = number(after)?;
        put_name(&mut renamed, own_module);
        if own_module == module {
            put_name(&mut renamed, &short(names.len()));
            names.push(own_name);
        } else {
            put_name(&mut renamed, own_name);
        }
        renamed.push(kind);
        put_number(&mut renamed, form);
        rest = after;
    }
    Ok((renamed, names))
}

/// The name of the function at a place of the list.
fn short(place: usize) -> String {
    format!("f{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that imports a function of the loader, and one of its script with a long name.
    fn program(name: &str) -> Vec<u8> {
        let mut imports = vec![2];
        for (module, name) in [("./loader.js", "__wasm_split_load_a"), ("./web_bg.js", name)] {
            put_name(&mut imports, module);
            put_name(&mut imports, name);
            imports.extend([FUNCTION, 3]);
        }
        let mut program = b"\0asm\x01\0\0\0".to_vec();
        for (kind, content) in [(IMPORTS, imports), (10, vec![0x0b; 200])] {
            put_section(&mut program, kind, &content);
        }
        program
    }

    #[test]
    fn program_and_script_get_the_same_names() {
        let script = "const import0 = {\n__wbg_new_0123456789abcdef: function(arg0) {}\n};";
        let (program, text) =
            renamed(&program("__wbg_new_0123456789abcdef"), script, "./web_bg.js").unwrap();
        assert_eq!(program, super::tests::program("f0"));
        assert_eq!(text, "const import0 = {\nf0: function(arg0) {}\n};");
    }

    #[test]
    fn what_the_script_does_not_define_is_refused() {
        assert!(renamed(&program("__wbg_new_0"), "no such name", "./web_bg.js").is_err());
        let twice = "a: function(){} a: function(){}";
        assert!(renamed(&program("a"), twice, "./web_bg.js").is_err());
    }
}
