//! The documents of `docs/` as pages of the site: theory, guides and glossary under `learn/`, the record for developers under `docs/`.
//!
//! `summary` reads the order of the pages, `document` turns one of them into HTML, `formula` an equation into MathML, `address` says
//! where a page lies, `shell` puts header, contents and neighbors around it, `search_index` is for the search in the browser.
//! A link, an anchor or a formula that does not work is an error; all of them are named before the build fails.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use document::Document;
use shell::{Assets, Shell};
use summary::Summary;

use crate::page::names::with_fingerprint;
use crate::page::squeeze::{squeeze, squeeze_style};

mod address;
mod document;
mod formula;
mod search_index;
mod shell;
mod summary;

/// A file of the site; its path is relative to the folder of the site.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) content: Vec<u8>,
}

/// The folders of the site that hold documents.
pub(crate) const FOLDERS: [&str; 2] = [address::LEARN, address::RECORD];

/// The summary of the documents, in `docs/`.
const SUMMARY: &str = "SUMMARY.md";

/// Renders the documents of a checkout.
pub(crate) fn render(root: &Path) -> anyhow::Result<Vec<File>> {
    let docs = root.join("docs");
    let summary = Summary::read(&read_text(&docs.join(SUMMARY))?)?;
    let (mut texts, mut included) = (Vec::new(), Vec::new());
    for entry in summary.pages() {
        let text = with_included(&docs, &entry.path, &mut included)?;
        texts.push((entry.path.clone(), text));
    }
    let mut findings = unlisted(&docs, &summary, &included)?;
    let mut documents = Vec::new();
    for (path, text) in &texts {
        match Document::read(path, text) {
            Ok(document) => documents.push(document),
            Err(error) => findings.push(format!("docs/{path}: {error:#}")),
        }
    }
    let exists = |path: &str| docs.join(path).is_file();
    let links = document::Links::new(&documents, &exists);
    let bodies: Vec<_> = documents.iter().map(|document| document.body(&links)).collect();
    findings.extend(bodies.iter().flat_map(|body| body.findings.iter().cloned()));
    if !findings.is_empty() {
        bail!("the documents cannot be rendered:\n{}", findings.join("\n"));
    }
    let mut files = Vec::new();
    let assets = add_assets(root, &documents, &mut files)?;
    let template = read_text(&root.join("site/document.html"))?;
    let shell = Shell { template: &template, summary: &summary, assets: &assets };
    for (document, body) in documents.iter().zip(&bodies) {
        let html = shell.page(document, &body.html)?;
        files.push(File { path: address::of_page(&document.path), content: html.into_bytes() });
    }
    let (path, html) = shell.front_of_record()?;
    files.push(File { path, content: html.into_bytes() });
    let mut linked: Vec<&String> = bodies.iter().flat_map(|body| &body.files).collect();
    linked.sort();
    linked.dedup();
    for path in linked {
        let content = fs::read(docs.join(path)).with_context(|| format!("docs/{path}"))?;
        files.push(File { path: address::of_file(path), content });
    }
    Ok(files)
}

/// Adds the files that every page uses; their names follow their content.
fn add_assets(
    root: &Path,
    documents: &[Document],
    files: &mut Vec<File>,
) -> anyhow::Result<Assets> {
    let mut add = |name: &str, content: Vec<u8>| -> anyhow::Result<String> {
        let name = with_fingerprint(Path::new(name), &content)?;
        let path = format!("{}/{name}", address::LEARN);
        files.push(File { path: path.clone(), content });
        Ok(path)
    };
    let text = |path: &str| read_text(&root.join(path));
    let sheet = text("web/assets/colors.css")? + &text("site/document.css")?;
    Ok(Assets {
        style: add("document.css", squeeze_style(&sheet)?.into_bytes())?,
        colors: add("colors.js", squeeze(&text("site/colors.js")?)?.into_bytes())?,
        search: add("search.js", squeeze(&text("site/search.js")?)?.into_bytes())?,
        icon: add("icon.svg", text("web/assets/icon.svg")?.into_bytes())?,
        learn_index: add("search.json", search_index::json(documents, true).into_bytes())?,
        record_index: add("record.json", search_index::json(documents, false).into_bytes())?,
    })
}

/// The text of a document, with each line `{{#include FILE}}` replaced by that file of the same folder.
fn with_included(docs: &Path, path: &str, included: &mut Vec<String>) -> anyhow::Result<String> {
    let mut text = String::new();
    for line in read_text(&docs.join(path))?.lines() {
        match line.strip_prefix("{{#include ").and_then(|line| line.strip_suffix("}}")) {
            None => text += line,
            Some(name) => {
                let name = address::resolve(path, name).context("an included file is in docs")?;
                text += &read_text(&docs.join(&name))?;
                included.push(name);
            }
        }
        text.push('\n');
    }
    Ok(text)
}

/// Documents that no line of the summary names and no other includes: nobody would find them.
fn unlisted(docs: &Path, summary: &Summary, included: &[String]) -> anyhow::Result<Vec<String>> {
    let mut folders = vec![String::new()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(docs.join(&folder))? {
            let entry = entry?;
            let path = format!("{folder}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                folders.push(format!("{path}/"));
            } else if address::is_document(&path)
                && path != SUMMARY
                && !included.contains(&path)
                && !summary.pages().any(|entry| entry.path == path)
            {
                found.push(format!("docs/{path}: docs/{SUMMARY} does not list it"));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn read_text(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// Writes rendered files into the folder of a site.
pub(crate) fn write(files: &[File], site: &Path) -> anyhow::Result<()> {
    for file in files {
        let path = site.join(&file.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        fs::write(&path, &file.content).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
