//! Puts the site's folder together: named by content, relative addresses, a strict content security policy, no inline script.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::chunks::LOADER;
use super::first_answer;
use super::loader::{Loader, PACKS};
use super::markup::{self, Asset, Line};
use super::names::with_fingerprint;
use super::offline;
use super::squeeze::{squeeze, squeeze_style};
use super::staging::{MARK, replace_folder};
use crate::book;

/// The content security policy. The page asks the one other host for a model, and a daemon on this machine, only on a click.
/// The policy stands in the HTML because a plain server sets no headers; `frame-ancestors` would have no effect there.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self' https://huggingface.co https://*.hf.co ws://127.0.0.1:* ws://localhost:*; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'";

/// The files that wasm-bindgen writes for the page.
const PROGRAM: &str = "web_bg.wasm";
const SCRIPT: &str = "web.js";

const BOOT: &str = include_str!("boot.js");
/// The script that the boot script fetches on first use.
const TOOLS: &str = include_str!("tools.js");
/// The connection to a daemon.
const LINK: &str = include_str!("link.js");
/// The script of the worker that compares devices.
const WORKER: &str = include_str!("explore-worker.js");

/// Builds the site and puts it at `out`.
pub(crate) fn assemble(
    web: &Path,
    bound: &Path,
    documents: &[book::File],
    out: &Path,
) -> anyhow::Result<()> {
    replace_folder(out, |path| {
        (Folder { path, web, bound }).fill(documents)?;
        book::write(documents, path)
    })
}

struct Folder<'a> {
    path: &'a Path,
    web: &'a Path,
    bound: &'a Path,
}

impl Folder<'_> {
    fn fill(&self, documents: &[book::File]) -> anyhow::Result<()> {
        fs::create_dir_all(self.path)?;
        self.add(MARK, b"")?;
        let source = self.web.join("index.html");
        let html = fs::read_to_string(&source).with_context(|| source.display().to_string())?;
        let mut page = String::new();
        let lines = markup::read(&html)?;
        let mut styles = lines.iter().filter_map(style_of).cloned().collect::<Vec<_>>();
        for line in lines {
            // All sheets are one file at the place of the first: they compress better together.
            if style_of(&line).is_some() && styles.is_empty() {
                continue;
            }
            page += &self.replacement(line, &mut styles)?;
            page.push('\n');
        }
        let text = self.bound.join(first_answer::FILE);
        let text = fs::read_to_string(&text).with_context(|| text.display().to_string())?;
        let page = first_answer::add(self.path, &page, &text)?;
        let program = self.bound.join(PROGRAM);
        let program = with_fingerprint(&program, &fs::read(&program)?)?;
        let page = offline::add(self.path, (&page, &program), documents)?;
        self.add("index.html", page.as_bytes())
    }

    fn replacement(&self, line: Line, styles: &mut Vec<PathBuf>) -> anyhow::Result<String> {
        Ok(match line {
            Line::Kept(line) => line,
            Line::Encoding(line) => format!(
                "{line}\n    <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">"
            ),
            Line::Asset(Asset::Program) => self.add_program()?,
            Line::Asset(Asset::Style(_)) => {
                let name = self.add_styles(&std::mem::take(styles))?;
                format!("    <link rel=\"stylesheet\" href=\"./{name}\">")
            }
            Line::Asset(Asset::Icon(path)) => format!(
                "    <link rel=\"icon\" href=\"./{}\">\n{}",
                self.add_named_by_content(&self.web.join(path))?,
                offline::MANIFEST_LINK
            ),
            Line::Asset(Asset::Copy(path)) => self.add_copy(&self.web.join(path))?,
        })
    }

    /// The program: the boot script loads the script, the script loads the WebAssembly, and its loader of chunks loads them when
    /// they are needed.
    fn add_program(&self) -> anyhow::Result<String> {
        if self.bound.join("snippets").exists() {
            bail!(
                "a crate brings JavaScript of its own (snippets), which this builder does not name by content yet"
            );
        }
        let program = self.add_named_by_content(&self.bound.join(PROGRAM))?;
        let (script, loader) = self.add_scripts()?;
        let boot_text = squeeze(BOOT)?
            .replace("SCRIPT", &script)
            .replace("PROGRAM", &program)
            .replace("TOOLS", &self.add_tools(&script)?);
        let boot = self.add_text("boot.js", &boot_text)?;
        let lines = [
            format!("    <link rel=\"modulepreload\" href=\"./{script}\">"),
            format!("    <link rel=\"modulepreload\" href=\"./{loader}\">"),
            format!("    <script type=\"module\" src=\"./{boot}\"></script>"),
        ];
        Ok(lines.join("\n"))
    }

    /// Adds the scripts that the boot script fetches on first use, and the files that those fetch.
    fn add_tools(&self, script: &str) -> anyhow::Result<String> {
        let link = self.add_text("link.js", &squeeze(LINK)?)?;
        let worker =
            self.add_text("explore-worker.js", &squeeze(WORKER)?.replace("SCRIPT", script))?;
        let text = squeeze(TOOLS)?.replace("WORKER", &worker).replace("LINK", &link);
        self.add_text("tools.js", &text)
    }

    fn add_text(&self, name: &str, text: &str) -> anyhow::Result<String> {
        let name = with_fingerprint(Path::new(name), text.as_bytes())?;
        self.add(&name, text.as_bytes())?;
        Ok(name)
    }

    /// The program's script and the loader of chunks. Each imports the other, so both names follow from both contents.
    fn add_scripts(&self) -> anyhow::Result<(String, String)> {
        let script = self.read_bound(SCRIPT)?;
        let loader = self.add_chunks(&self.read_bound(LOADER)?)?;
        let both = format!("{script}{loader}");
        let script_name = with_fingerprint(Path::new(SCRIPT), both.as_bytes())?;
        let loader_name = with_fingerprint(Path::new(LOADER), both.as_bytes())?;
        self.add(&script_name, rename(&script, "from ", LOADER, &loader_name)?.as_bytes())?;
        self.add(&loader_name, rename(&loader, "from ", SCRIPT, &script_name)?.as_bytes())?;
        Ok((script_name, loader_name))
    }

    /// Adds every chunk that `loader` names, and returns the loader with their new names.
    fn add_chunks(&self, loader: &str) -> anyhow::Result<String> {
        let mut loader = Loader::read(loader)?;
        let mut paths = fs::read_dir(self.bound)?
            .map(|entry| Ok(entry?.path()))
            .collect::<anyhow::Result<Vec<_>>>()?;
        paths.sort();
        for path in paths {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !loader.has(name) {
                continue;
            }
            let content = fs::read(&path).with_context(|| path.display().to_string())?;
            match loader.pack_of(name, &content) {
                Some(pack) => loader.add_to_pack(pack, name, &content),
                None => loader.rename(name, &self.add_named_by_content(&path)?),
            }
        }
        let mut names = Vec::new();
        for (name, content) in PACKS.iter().zip(&loader.packs) {
            let name = with_fingerprint(Path::new(name), content)?;
            self.add(&name, content)?;
            names.push(name);
        }
        loader.script(&names)
    }

    fn read_bound(&self, name: &str) -> anyhow::Result<String> {
        let path = self.bound.join(name);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        squeeze(&text).with_context(|| path.display().to_string())
    }

    fn add_styles(&self, styles: &[PathBuf]) -> anyhow::Result<String> {
        let mut text = String::new();
        for path in styles.iter().map(|style| self.web.join(style)) {
            let sheet = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            text += &squeeze_style(&sheet)?;
        }
        self.add_text("style.css", text.trim_end())
    }

    fn add_named_by_content(&self, source: &Path) -> anyhow::Result<String> {
        let content = fs::read(source).with_context(|| source.display().to_string())?;
        let name = with_fingerprint(source, &content)?;
        self.add(&name, &content)?;
        Ok(name)
    }

    /// A copied file keeps its name and leaves no line behind.
    fn add_copy(&self, source: &Path) -> anyhow::Result<String> {
        let name =
            source.file_name().and_then(|name| name.to_str()).context("is not a file name")?;
        self.add(name, &fs::read(source).with_context(|| source.display().to_string())?)?;
        Ok(String::new())
    }

    fn add(&self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let path = self.path.join(name);
        fs::write(&path, content).with_context(|| path.display().to_string())
    }
}

/// The style sheet that a line asks for.
fn style_of(line: &Line) -> Option<&PathBuf> {
    match line {
        Line::Asset(Asset::Style(path)) => Some(path),
        _ => None,
    }
}

/// How a script names a file beside it.
fn quoted(name: &str) -> String {
    format!("\"./{name}\"")
}

/// `script` with another name for a file beside it, which it must name after `before`. The WebAssembly says the old name of the
/// loader too, where it asks the script for functions, so that one stays.
fn rename(script: &str, before: &str, old: &str, new: &str) -> anyhow::Result<String> {
    let [old, new] = [old, new].map(|name| format!("{before}{}", quoted(name)));
    if !script.contains(&old) {
        bail!("a script of the page does not say {old}, by which it should load the file");
    }
    Ok(script.replace(&old, &new))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML: &str = "<head>\n    <title></title>\n    <meta charset=\"utf-8\">\n    <link data-trunk rel=\"rust\" href=\"Cargo.toml\">\n    \
                        <link data-trunk rel=\"css\" href=\"style.css\">\n    <link data-trunk rel=\"copy-file\" href=\"sw.js\">\n    \
                        <link data-trunk rel=\"icon\" href=\"icon.svg\">\n  </head>\n<body>";

    const LOADER_TEXT: &str = "import {a} from \"./web.js\";
const __chunk_1 = makeLoad(() => {
const src = fetch(new URL(\"./chunk_1.wasm\", import.meta.url));
src.catch(() => {});
return async (imports) => (WebAssembly.instantiateStreaming(src, imports));
}
, []);
export const __wasm_split_load_a = wrapAsyncCb(makeLoad(() => {
const src = fetch(new URL(\"./split_a.wasm\", import.meta.url));
src.catch(() => {});
return async (imports) => (WebAssembly.instantiateStreaming(src, imports));
}
, [__chunk_1]));
export const __wasm_split_load_address = wrapAsyncCb(makeLoad(() => {}, []));
export const __wasm_split_load_device = wrapAsyncCb(makeLoad(() => {}, []));";

    /// A small site in a folder of its own; `body` gets the folder.
    fn with_site(name: &str, body: impl FnOnce(&Path)) {
        let folder = std::env::temp_dir().join(format!("xtask-site-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("bound")).unwrap();
        let files = [
            ("index.html", HTML),
            ("style.css", "a"),
            ("sw.js", "b"),
            ("icon.svg", "i"),
            ("bound/web.js", "import * as a from \"./loader.js\"; b({\"./loader.js\": a})"),
            ("bound/loader.js", LOADER_TEXT),
            ("bound/chunk_1.wasm", "c"),
            ("bound/first-answer.html", "<main></main>"),
            ("bound/web_bg.wasm", "d"),
            ("bound/split_a.wasm", "e"),
            ("bound/split_empty.wasm", "f"),
        ];
        for (path, content) in files {
            fs::write(folder.join(path), content).unwrap();
        }
        body(&folder);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_site_is_relative_hashed_and_has_no_inline_script() {
        with_site("whole", |folder| {
            let out = folder.join("out");
            let path = "learn/index.html".to_owned();
            let documents = [book::File { path, content: b"i".to_vec() }];
            assemble(folder, &folder.join("bound"), &documents, &out).unwrap();
            assemble(folder, &folder.join("bound"), &documents, &out).unwrap(); // replaces itself
            assert_eq!(fs::read_to_string(out.join("learn/index.html")).unwrap(), "i");
            let html = fs::read_to_string(out.join("index.html")).unwrap();
            let policy = html.find("Content-Security-Policy").unwrap();
            assert!(
                policy < html.find("<link").unwrap(),
                "the policy must come before what it governs: {html}"
            );
            assert!(html.contains("href=\"./style-af63dc4c.css\""), "{html}");
            assert!(
                !html.contains("data-trunk")
                    && !html.contains("unsafe-inline")
                    && !html.contains("<script>"),
                "{html}"
            );
            assert!(html.split("href=\"").skip(1).all(|link| link.starts_with("./")), "{html}");
            assert_eq!(
                fs::read_dir(&out).unwrap().count(),
                19,
                "documents, page, colors, mark, icon, manifest, service worker, style, copy, boot, tools, link, script, program, loader, one chunk, two files of small ones and the worker"
            );
            assert_eq!(fs::read_dir(folder).unwrap().count(), 6, "nothing is left beside the site");
        });
    }

    #[test]
    fn the_scripts_name_each_other_and_the_chunk_by_content() {
        with_site("scripts", |folder| {
            let out = folder.join("out");
            assemble(folder, &folder.join("bound"), &[], &out).unwrap();
            let names = || fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
            let scripts: String = names()
                .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
                .map(|path| fs::read_to_string(path).unwrap())
                .collect();
            for start in [
                "chunks-",
                "links-",
                "web-",
                "loader-",
                "split_a-",
                "web_bg-",
                "explore-worker-",
                "tools-",
                "link-",
            ] {
                let name = names()
                    .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
                    .find(|name| name.starts_with(start))
                    .unwrap();
                assert!(scripts.contains(&quoted(&name)), "{name}: {scripts}");
            }
            assert!(scripts.contains("\"./loader.js\": a"), "the program's word for it: {scripts}");
        });
    }

    #[test]
    fn a_site_that_cannot_be_finished_leaves_nothing_behind() {
        with_site("unfinished", |folder| {
            fs::remove_file(folder.join("style.css")).unwrap();
            assert!(assemble(folder, &folder.join("bound"), &[], &folder.join("out")).is_err());
            assert_eq!(fs::read_dir(folder).unwrap().count(), 4, "page, copy, icon and bound");
        });
    }

    #[test]
    fn a_folder_with_other_things_is_not_replaced() {
        with_site("foreign", |folder| {
            assert!(assemble(folder, &folder.join("bound"), &[], folder).is_err());
            fs::write(folder.join(MARK), "").unwrap(); // as in a checkout of published pages, which has more
            assert!(assemble(folder, &folder.join("bound"), &[], folder).is_err());
            assert!(folder.join("style.css").exists());
        });
    }
}
