//! `docs/SUMMARY.md`: the chapters of the documents and the order of their pages.

use anyhow::{Context, bail};

pub(super) struct Summary {
    pub(super) chapters: Vec<Chapter>,
}

/// A heading of the summary with the pages below it; the pages before the first heading have an empty title.
pub(super) struct Chapter {
    pub(super) title: String,
    pub(super) entries: Vec<Entry>,
}

/// A line of the summary.
pub(super) struct Entry {
    pub(super) name: String,
    /// Relative to `docs/`; empty for a heading of the indented lines below it.
    pub(super) path: String,
    pub(super) indented: bool,
}

impl Summary {
    pub(super) fn read(text: &str) -> anyhow::Result<Self> {
        let mut chapters = vec![Chapter { title: String::new(), entries: Vec::new() }];
        for line in text.lines().skip(1).filter(|line| !line.trim().is_empty()) {
            if let Some(title) = line.strip_prefix("# ") {
                chapters.push(Chapter { title: title.trim().to_owned(), entries: Vec::new() });
                continue;
            }
            let entry = entry(line).with_context(|| format!("docs/SUMMARY.md: {line}"))?;
            let twice = chapters.iter().flat_map(|chapter| &chapter.entries);
            if !entry.path.is_empty() && twice.into_iter().any(|other| other.path == entry.path) {
                bail!("docs/SUMMARY.md names {} twice", entry.path);
            }
            chapters.last_mut().context("there is a first chapter")?.entries.push(entry);
        }
        Ok(Self { chapters })
    }

    /// The entries that are pages, in order.
    pub(super) fn pages(&self) -> impl Iterator<Item = &Entry> {
        let entries = self.chapters.iter().flat_map(|chapter| &chapter.entries);
        entries.filter(|entry| !entry.path.is_empty())
    }
}

/// `- [Name](path)`, indented or not, with or without the dash.
fn entry(line: &str) -> anyhow::Result<Entry> {
    let link = line.trim_start().trim_start_matches("- ");
    let parts = link.strip_prefix('[').and_then(|link| link.strip_suffix(')'));
    let (name, path) = parts.and_then(|link| link.split_once("](")).context("is no link")?;
    Ok(Entry { name: name.to_owned(), path: path.to_owned(), indented: line.starts_with(' ') })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chapters_pages_and_headings_are_told_apart() {
        let text = "# Summary\n\n[Start](index.md)\n\n# Guides\n\n- [A](guides/a.md)\n- [Decisions]()\n  - [B](adr/b.md)\n";
        let summary = Summary::read(text).unwrap();
        let titles: Vec<&str> = summary.chapters.iter().map(|chapter| &*chapter.title).collect();
        assert_eq!(titles, ["", "Guides"]);
        let paths: Vec<&str> = summary.pages().map(|entry| &*entry.path).collect();
        assert_eq!(paths, ["index.md", "guides/a.md", "adr/b.md"]);
        assert!(summary.chapters[1].entries[2].indented);
    }

    #[test]
    fn a_line_that_is_no_link_and_a_page_that_stands_twice_are_refused() {
        for text in ["# Summary\nA page\n", "# Summary\n- [A](a.md)\n- [B](a.md)\n"] {
            assert!(Summary::read(text).is_err(), "{text}");
        }
    }
}
