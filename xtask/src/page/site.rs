//! Puts the site's folder together: named by content, relative addresses, a strict content security policy, no inline script.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::markup::{self, Asset, Line};
use super::names::with_fingerprint;

/// What the page may do; it asks the one other host for a model only when the reader clicks on that. It stands in the HTML because a plain server sets no headers; `frame-ancestors` would have no effect there.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self' https://huggingface.co; manifest-src 'self'; base-uri 'none'; form-action 'none'";

/// Tells GitHub Pages to serve the files as they are. We also know our own folders by it.
const MARK: &str = ".nojekyll";

const BOOT: &str = include_str!("boot.js");

/// Builds the site beside `out` and swaps it in at the end, so that a server of `out` never sees half a site.
pub(crate) fn assemble(web: &Path, bound: &Path, out: &Path) -> anyhow::Result<()> {
    refuse_foreign(out)?;
    let staging = beside(out, "new")?;
    if let Err(error) = (Folder { path: &staging, web, bound }).fill() {
        fs::remove_dir_all(&staging)?;
        return Err(error);
    }
    let old = beside(out, "old")?;
    if out.exists() {
        fs::rename(out, &old)?;
    }
    fs::rename(&staging, out)?;
    if old.exists() {
        fs::remove_dir_all(&old)?;
    }
    Ok(())
}

/// `--out` replaces a folder as a whole, so it must be empty or a site of ours, which is marked and has no folders.
fn refuse_foreign(out: &Path) -> anyhow::Result<()> {
    if !out.exists() {
        return Ok(());
    }
    let entries = fs::read_dir(out)?.collect::<Result<Vec<_>, _>>()?;
    let has_folders = entries.iter().any(|entry| entry.path().is_dir());
    if has_folders || (!entries.is_empty() && !out.join(MARK).exists()) {
        bail!("the folder holds something else than a site; name an empty or a new folder");
    }
    Ok(())
}

fn beside(out: &Path, suffix: &str) -> anyhow::Result<PathBuf> {
    let mut name = OsString::from(".");
    name.push(out.file_name().context("is not a folder that can be replaced")?);
    name.push(format!(".{suffix}.{}", std::process::id()));
    Ok(out.with_file_name(name))
}

struct Folder<'a> {
    path: &'a Path,
    web: &'a Path,
    bound: &'a Path,
}

impl Folder<'_> {
    fn fill(&self) -> anyhow::Result<()> {
        fs::create_dir_all(self.path)?;
        self.add(MARK, b"")?;
        let source = self.web.join("index.html");
        let html = fs::read_to_string(&source).with_context(|| source.display().to_string())?;
        let mut page = String::new();
        for line in markup::read(&html)? {
            page += &self.replacement(line)?;
            page.push('\n');
        }
        self.add("index.html", page.as_bytes())
    }

    fn replacement(&self, line: Line) -> anyhow::Result<String> {
        Ok(match line {
            Line::Kept(line) => line,
            Line::Encoding(line) => format!(
                "{line}\n    <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">"
            ),
            Line::Asset(Asset::Program) => self.add_program()?,
            Line::Asset(Asset::Style(path)) => format!(
                "    <link rel=\"stylesheet\" href=\"./{}\">",
                self.add_named_by_content(&self.web.join(path))?
            ),
            Line::Asset(Asset::Icon(path)) => format!(
                "    <link rel=\"icon\" href=\"./{}\">",
                self.add_named_by_content(&self.web.join(path))?
            ),
            Line::Asset(Asset::Copy(path)) => self.add_copy(&self.web.join(path))?,
        })
    }

    /// The program in three files: the boot script loads the script, the script loads the WebAssembly. The reader of files is
    /// loaded in the same way, later and only if it is needed.
    fn add_program(&self) -> anyhow::Result<String> {
        if self.bound.join("snippets").exists() {
            bail!(
                "a crate brings JavaScript of its own (snippets), which this builder does not name by content yet"
            );
        }
        let program = self.add_named_by_content(&self.bound.join("web_bg.wasm"))?;
        let script = self.add_named_by_content(&self.bound.join("web.js"))?;
        let reader_program = self.add_named_by_content(&self.bound.join("reader_bg.wasm"))?;
        let reader = self.add_named_by_content(&self.bound.join("reader.js"))?;
        let boot_text = BOOT
            .replace("READER_SCRIPT", &reader)
            .replace("READER_PROGRAM", &reader_program)
            .replace("SCRIPT", &script)
            .replace("PROGRAM", &program);
        let boot = with_fingerprint(Path::new("boot.js"), boot_text.as_bytes())?;
        self.add(&boot, boot_text.as_bytes())?;
        let lines = [
            format!("    <link rel=\"modulepreload\" href=\"./{script}\">"),
            format!(
                "    <link rel=\"preload\" href=\"./{program}\" as=\"fetch\" type=\"application/wasm\" crossorigin>"
            ),
            format!("    <script type=\"module\" src=\"./{boot}\"></script>"),
        ];
        Ok(lines.join("\n"))
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

#[cfg(test)]
mod tests {
    use super::*;

    const HTML: &str = "<head>\n    <meta charset=\"utf-8\">\n    <link data-trunk rel=\"rust\" href=\"Cargo.toml\">\n    \
                        <link data-trunk rel=\"css\" href=\"style.css\">\n    <link data-trunk rel=\"copy-file\" href=\"sw.js\">\n</head>";

    /// A small site in a folder of its own; `body` gets the folder.
    fn with_site(name: &str, body: impl FnOnce(&Path)) {
        let folder = std::env::temp_dir().join(format!("xtask-site-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("bound")).unwrap();
        let files = [
            ("index.html", HTML),
            ("style.css", "a"),
            ("sw.js", "b"),
            ("bound/web.js", "c"),
            ("bound/web_bg.wasm", "d"),
            ("bound/reader.js", "e"),
            ("bound/reader_bg.wasm", "f"),
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
            assemble(folder, &folder.join("bound"), &out).unwrap();
            assemble(folder, &folder.join("bound"), &out).unwrap(); // replaces itself
            let html = fs::read_to_string(out.join("index.html")).unwrap();
            let policy = html.find("Content-Security-Policy").unwrap();
            assert!(
                policy < html.find("<link").unwrap(),
                "the policy must come before what it governs: {html}"
            );
            assert!(html.contains("href=\"./style-af63dc4c8601ec8c.css\""), "{html}");
            assert!(
                !html.contains("data-trunk")
                    && !html.contains("unsafe-inline")
                    && !html.contains("<script>"),
                "{html}"
            );
            assert!(html.split("href=\"").skip(1).all(|link| link.starts_with("./")), "{html}");
            assert_eq!(
                fs::read_dir(&out).unwrap().count(),
                9,
                "page, mark, style, copy, boot, script, program, reader and its program"
            );
            assert_eq!(fs::read_dir(folder).unwrap().count(), 5, "nothing is left beside the site");
        });
    }

    #[test]
    fn a_site_that_cannot_be_finished_leaves_nothing_behind() {
        with_site("unfinished", |folder| {
            fs::remove_file(folder.join("style.css")).unwrap();
            assert!(assemble(folder, &folder.join("bound"), &folder.join("out")).is_err());
            assert_eq!(fs::read_dir(folder).unwrap().count(), 3, "page, copy and bound");
        });
    }

    #[test]
    fn a_folder_with_other_things_is_not_replaced() {
        with_site("foreign", |folder| {
            assert!(assemble(folder, &folder.join("bound"), folder).is_err());
            fs::write(folder.join(MARK), "").unwrap(); // as in a checkout of published pages, which has more
            assert!(assemble(folder, &folder.join("bound"), folder).is_err());
            assert!(folder.join("style.css").exists());
        });
    }
}
