//! The service worker and the manifest, by which a browser keeps the site and installs it.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use super::names::fingerprint;
use super::squeeze::squeeze;
use crate::book;

const WORKER: &str = include_str!("../../../site/service-worker.js");
const MANIFEST: &str = include_str!("../../../site/manifest.json");

/// Keeps its name, because a browser asks for it by name.
pub(super) const WORKER_NAME: &str = "service-worker.js";
pub(super) const MANIFEST_NAME: &str = "manifest.json";

/// The line of the page's head that names the manifest.
pub(super) const MANIFEST_LINK: &str = "    <link rel=\"manifest\" href=\"./manifest.json\">";

/// Folder of the documents that are kept with the page.
const KEPT_DOCUMENTS: &str = "learn/";

/// Adds manifest and service worker to the site in `folder`, and returns the `page` with the name of the build. The worker keeps the
/// files that the page names and its `program` when it is installed, the others when the page is idle.
///
/// # Errors
/// If the page names no icon, or a file cannot be written.
pub(super) fn add(
    folder: &Path,
    (page, program): (&str, &str),
    documents: &[book::File],
) -> anyhow::Result<String> {
    let mut first = named_by(page);
    first.push(program.to_owned());
    let icon = first.iter().find(|name| is_svg(name)).context("the page names no icon")?;
    fs::write(folder.join(MANIFEST_NAME), MANIFEST.replace("ICON", icon))?;
    let rest = files_besides(folder, &first)?
        .into_iter()
        .chain(documents.iter().filter_map(|file| kept_document(&file.path)))
        .collect::<Vec<_>>();
    let build = build_name(page, documents);
    let worker = squeeze(WORKER)?
        .replace("/* BUILD */", &build)
        .replace(
            "/* FIRST */",
            &quoted(std::iter::once("").chain(first.iter().map(String::as_str))),
        )
        .replace("/* REST */", &quoted(rest.iter().map(String::as_str)));
    fs::write(folder.join(WORKER_NAME), worker)?;
    let head_end = "  </head>";
    if !page.contains(head_end) {
        bail!("web/index.html has no line {head_end:?}");
    }
    let line = format!("    <meta name=\"build\" content=\"{build}\">\n{head_end}");
    Ok(page.replacen(head_end, &line, 1))
}

/// The files beside the page that its HTML names.
fn named_by(page: &str) -> Vec<String> {
    let names = page.split("\"./").skip(1).filter_map(|rest| rest.split_once('"'));
    let is_file = |name: &&str| !name.is_empty() && !name.contains('?') && !name.ends_with('/');
    names.map(|(name, _)| name).filter(is_file).map(str::to_owned).collect()
}

fn is_svg(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "svg")
}

/// The files of the site's own folder that are fetched later, in order.
fn files_besides(folder: &Path, first: &[String]) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_kept = entry.path().is_file() && !name.starts_with('.') && name != MANIFEST_NAME;
        if is_kept && !first.contains(&name) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The address of a document that is kept; an `index.html` has the address of its folder.
fn kept_document(path: &str) -> Option<String> {
    let kept = path.starts_with(KEPT_DOCUMENTS);
    kept.then(|| path.strip_suffix("index.html").unwrap_or(path).to_owned())
}

/// The name of a build, which changes with every file of it: the page names its files by content, directly or not.
fn build_name(page: &str, documents: &[book::File]) -> String {
    let documents = documents.iter().flat_map(|file| [file.path.as_bytes(), &file.content]);
    let all = std::iter::once(page.as_bytes()).chain(documents).collect::<Vec<_>>().concat();
    fingerprint(&all)
}

/// Addresses as the items of a JavaScript list, relative to the folder of the worker.
fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("\"./{name}\"")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<head>\n    <link rel=\"icon\" href=\"./icon-1.svg\">\n    <script src=\"./boot-2.js\"></script>\n  </head>\n<a href=\"./?view=plan\"></a><a href=\"./learn/\"></a>";

    #[test]
    fn the_worker_keeps_every_file_once() {
        let folder = std::env::temp_dir().join(format!("xtask-offline-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for name in ["icon-1.svg", "boot-2.js", "web-4.wasm", "chunk_1-3.wasm", ".nojekyll"] {
            fs::write(folder.join(name), "x").unwrap();
        }
        let document = |path: &str, content: &str| book::File {
            path: path.to_owned(),
            content: content.as_bytes().to_vec(),
        };
        let documents =
            ["learn/index.html", "learn/a.html", "docs/b.html"].map(|path| document(path, "c"));
        let page = add(&folder, (PAGE, "web-4.wasm"), &documents).unwrap();
        let worker = fs::read_to_string(folder.join(WORKER_NAME)).unwrap();
        assert!(
            worker.contains("FIRST = [\"./\",\"./icon-1.svg\",\"./boot-2.js\",\"./web-4.wasm\"]"),
            "{worker}"
        );
        assert!(
            worker.contains("REST = [\"./chunk_1-3.wasm\",\"./learn/\",\"./learn/a.html\"]"),
            "{worker}"
        );
        let build = build_name(PAGE, &documents);
        assert!(worker.contains(&build) && page.contains(&build));
        assert!(
            fs::read_to_string(folder.join(MANIFEST_NAME)).unwrap().contains("\"./icon-1.svg\"")
        );
        let changed = [document("docs/b.html", "d")];
        assert_ne!(build_name(PAGE, &changed), build_name(PAGE, &documents[2..]));
        fs::remove_dir_all(folder).unwrap();
    }
}
