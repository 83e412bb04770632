//! The template `site/document.html` around the text of a page: title, addresses of its files, contents, neighbors.

use anyhow::{Context, bail};

use super::address;
use super::document::Document;
use super::summary::{Chapter, Entry, Summary};

/// The files that every page uses, as paths of the site.
pub(super) struct Assets {
    pub(super) style: String,
    pub(super) colors: String,
    pub(super) search: String,
    pub(super) icon: String,
    /// The index of the pages for readers.
    pub(super) learn_index: String,
    /// The index of the record for developers.
    pub(super) record_index: String,
}

pub(super) struct Shell<'a> {
    pub(super) template: &'a str,
    pub(super) summary: &'a Summary,
    pub(super) assets: &'a Assets,
}

/// The longest description in letters: search engines show no more.
const DESCRIPTION: usize = 160;

impl Shell<'_> {
    /// The complete page of a document.
    pub(super) fn page(&self, document: &Document, body: &str) -> anyhow::Result<String> {
        let name = self.summary.pages().find(|entry| entry.path == document.path);
        let name = name.map_or(&*document.title, |entry| &*entry.name);
        let path = address::of_page(&document.path);
        self.fill(&path, name, &document.description, body)
            .with_context(|| format!("the page {path}"))
    }

    /// The front page of the record for developers, with its path: a list of its pages.
    pub(super) fn front_of_record(&self) -> anyhow::Result<(String, String)> {
        let path = format!("{}/index.html", address::RECORD);
        let about = "How Ridgepoint is built, and why: architecture, style, results, decisions.";
        let body = format!("<h1>For developers</h1>\n<p>{about}</p>\n{}", self.contents(&path));
        let html = self.fill(&path, "For developers", about, &body)?;
        Ok((path, html))
    }

    fn fill(
        &self,
        path: &str,
        title: &str,
        description: &str,
        body: &str,
    ) -> anyhow::Result<String> {
        let to = |file: &str| address::relative(path, file);
        let is_learn = path.starts_with(address::LEARN);
        fill(self.template, &|name| {
            Some(match name {
                "title" => escaped(title),
                "description" => escaped(&shortened(description)),
                "body" => body.to_owned(),
                "root" => to("index.html"),
                "style" => to(&self.assets.style),
                "colors" => to(&self.assets.colors),
                "search" => to(&self.assets.search),
                "icon" => to(&self.assets.icon),
                "index" if is_learn => to(&self.assets.learn_index),
                "index" => to(&self.assets.record_index),
                "learn-current" if is_learn => " aria-current=\"true\"".to_owned(),
                "learn-current" => String::new(),
                "contents" => self.contents(path),
                "neighbors" => self.neighbors(path),
                _ => return None,
            })
        })
    }

    /// The chapters whose pages are in the same folder of the site as `path`, and a link to the others.
    fn contents(&self, path: &str) -> String {
        let is_learn = path.starts_with(address::LEARN);
        let mut html = String::new();
        for chapter in &self.summary.chapters {
            let entries = shown(chapter, is_learn);
            if entries.iter().all(|entry| entry.path.is_empty()) {
                continue;
            }
            if !chapter.title.is_empty() {
                html += &format!("<h2>{}</h2>\n", escaped(&chapter.title));
            }
            let lines = entries.iter().map(|entry| line(entry, path));
            html += &format!("<ul>\n{}</ul>\n", lines.collect::<String>());
        }
        let (name, other) = if is_learn {
            ("For developers", address::RECORD)
        } else {
            ("Learn: guides and theory", address::LEARN)
        };
        let other = address::relative(path, &format!("{other}/index.html"));
        html + &format!("<ul><li><a href=\"{other}\">{name}</a></li></ul>\n")
    }

    /// Links to the pages before and after `path`, among those of its folder.
    fn neighbors(&self, path: &str) -> String {
        let is_learn = path.starts_with(address::LEARN);
        let of_folder = |entry: &&Entry| address::is_for_readers(&entry.path) == is_learn;
        let pages: Vec<&Entry> = self.summary.pages().filter(of_folder).collect();
        let Some(at) = pages.iter().position(|entry| address::of_page(&entry.path) == path) else {
            return String::new();
        };
        let link = |entry: &Entry, rel: &str, word: &str| {
            let address = address::relative(path, &address::of_page(&entry.path));
            format!("<a rel=\"{rel}\" href=\"{address}\">{word}: {}</a>", escaped(&entry.name))
        };
        let before = at.checked_sub(1).map(|at| link(pages[at], "prev", "Previous"));
        let after = pages.get(at + 1).map(|entry| link(entry, "next", "Next"));
        before.into_iter().chain(after).collect()
    }
}

/// The entries of a chapter that the contents of a folder list.
fn shown(chapter: &Chapter, is_learn: bool) -> Vec<&Entry> {
    let entries = chapter.entries.iter();
    entries.filter(|entry| address::is_for_readers(&entry.path) == is_learn).collect()
}

fn line(entry: &Entry, path: &str) -> String {
    let name = escaped(&entry.name);
    if entry.path.is_empty() {
        return format!("<li><span>{name}</span></li>\n");
    }
    let page = address::of_page(&entry.path);
    let current = if page == path { " aria-current=\"page\"" } else { "" };
    let address = address::relative(path, &page);
    let indented = if entry.indented { " class=\"indented\"" } else { "" };
    format!("<li{indented}><a href=\"{address}\"{current}>{name}</a></li>\n")
}

/// The template with each `{{name}}` replaced, once; an unknown name is an error.
fn fill(template: &str, value: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<String> {
    let mut parts = template.split("{{");
    let mut html = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").context("a `{{` of the template has no `}}`")?;
        let Some(text) = value(name) else { bail!("the template asks for `{name}`") };
        html += &text;
        html += rest;
    }
    Ok(html)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The beginning of a text, cut between words.
fn shortened(text: &str) -> String {
    if text.chars().count() <= DESCRIPTION {
        return text.to_owned();
    }
    let start: String = text.chars().take(DESCRIPTION).collect();
    let cut = start.rfind(' ').unwrap_or(start.len());
    format!("{}…", &start[..cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_template_is_filled_once() {
        let value = |name: &str| (name == "a").then(|| "{{b}}".to_owned());
        assert_eq!(fill("x {{a}} y {{a}}", &value).unwrap(), "x {{b}} y {{b}}");
        for template in ["{{b}}", "{{a"] {
            assert!(fill(template, &value).is_err(), "{template}");
        }
    }

    #[test]
    fn a_description_is_cut_between_words() {
        assert_eq!(shortened("a b"), "a b");
        let long = "word ".repeat(40);
        assert!(shortened(&long).ends_with("word…"));
        assert!(shortened(&long).chars().count() <= DESCRIPTION + 1);
    }
}
