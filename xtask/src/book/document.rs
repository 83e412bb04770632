//! A Markdown document as the HTML of its page's text, with its anchors and the text that the search reads.
//!
//! HTML in Markdown is shown as text. There is no inline style, which the site's policy forbids.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, ensure};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use super::{address, formula};

/// A document, read but without its links resolved.
pub(super) struct Document<'a> {
    /// Relative to `docs/`.
    pub(super) path: String,
    /// Its heading of the first level.
    pub(super) title: String,
    /// Its first paragraph as plain text.
    pub(super) description: String,
    pub(super) sections: Vec<Section>,
    anchors: BTreeSet<String>,
    events: Vec<Event<'a>>,
}

/// A heading and the plain text up to the next one.
#[derive(Default)]
pub(super) struct Section {
    /// Empty for the heading of the first level.
    pub(super) anchor: String,
    pub(super) heading: String,
    pub(super) text: String,
}

/// The text of a page, the files that it links to, and what is wrong with it.
pub(super) struct Body {
    pub(super) html: String,
    /// Relative to `docs/`.
    pub(super) files: Vec<String>,
    pub(super) findings: Vec<String>,
}

/// All that a link may lead to.
pub(super) struct Links<'a> {
    anchors: BTreeMap<&'a str, &'a BTreeSet<String>>,
    exists: &'a dyn Fn(&str) -> bool,
}

impl<'a> Links<'a> {
    /// `exists` says whether a file is in `docs/`.
    pub(super) fn new(documents: &'a [Document], exists: &'a dyn Fn(&str) -> bool) -> Self {
        let anchors = documents.iter().map(|document| (&*document.path, &document.anchors));
        Self { anchors: anchors.collect(), exists }
    }
}

impl<'a> Document<'a> {
    pub(super) fn read(path: &str, text: &'a str) -> anyhow::Result<Self> {
        let events = joined(Parser::new_ext(text, Options::ENABLE_TABLES));
        let mut document = Self {
            path: path.to_owned(),
            title: String::new(),
            description: String::new(),
            sections: Vec::new(),
            anchors: BTreeSet::new(),
            events,
        };
        document.read_headings()?;
        document.read_equations()?;
        Ok(document)
    }

    /// Gives every heading its anchor, and collects the text of the sections.
    fn read_headings(&mut self) -> anyhow::Result<()> {
        let mut heading = None;
        for at in 0..self.events.len() {
            match &self.events[at] {
                Event::Start(Tag::Heading { .. }) => {
                    heading = Some(at);
                    self.sections.push(Section::default());
                }
                Event::End(TagEnd::Heading(level)) => {
                    let start = heading.take().context("a heading ends that has not begun")?;
                    self.end_heading(start, *level)?;
                }
                Event::End(TagEnd::Paragraph) if self.description.is_empty() => {
                    let section = self.sections.last().context("a page begins with its title")?;
                    self.description = section.text.trim().to_owned();
                }
                event => {
                    let text = text_of(event);
                    let section = self.sections.last_mut();
                    let section = section.context("a page begins with its title")?;
                    let part =
                        if heading.is_some() { &mut section.heading } else { &mut section.text };
                    part.push_str(&text);
                }
            }
        }
        Ok(())
    }

    fn end_heading(&mut self, start: usize, level: HeadingLevel) -> anyhow::Result<()> {
        let section = self.sections.last_mut().context("a heading has a section")?;
        if level == HeadingLevel::H1 {
            ensure!(self.title.is_empty(), "has two headings of the first level");
            self.title.clone_from(&section.heading);
            return Ok(());
        }
        ensure!(!self.title.is_empty(), "its first heading is not of the first level");
        let anchor = free_anchor(&self.anchors, &section.heading);
        section.anchor.clone_from(&anchor);
        self.anchors.insert(anchor.clone());
        if let Event::Start(Tag::Heading { id, .. }) = &mut self.events[start] {
            *id = Some(anchor.into());
        }
        Ok(())
    }

    /// Replaces every block of equations by its MathML.
    fn read_equations(&mut self) -> anyhow::Result<()> {
        for at in 1..self.events.len() {
            let Event::Text(source) = &self.events[at] else { continue };
            if !is_block_of_equations(&self.events[at - 1]) {
                continue;
            }
            let equations = formula::equations(source)
                .with_context(|| format!("the equations\n{}", source.trim_end()))?;
            for anchor in equations.anchors {
                ensure!(self.anchors.insert(anchor.clone()), "has two equations `{anchor}`");
            }
            self.events[at] = Event::Html(equations.html.into());
        }
        Ok(())
    }

    /// The text of the page, with links to the pages of the site.
    pub(super) fn body(&self, links: &Links) -> Body {
        let mut writer = Writer { document: self, links, files: Vec::new(), findings: Vec::new() };
        let mut table = Table::default();
        let events: Vec<Event> = (0..self.events.len())
            .filter_map(|at| writer.event(at).map(|event| table.event(event)))
            .collect();
        let mut html = String::new();
        html::push_html(&mut html, events.into_iter());
        // A column without a heading has an empty cell there: a heading without a word says nothing to a screen reader.
        let html = html.replace("<th scope=\"col\"></th>", "<td></td>");
        Body { html, files: writer.files, findings: writer.findings }
    }
}

/// The events with neighboring texts joined: a block of code is one text then.
fn joined<'a>(events: impl Iterator<Item = Event<'a>>) -> Vec<Event<'a>> {
    let mut all: Vec<Event> = Vec::new();
    for event in events {
        match (all.last_mut(), event) {
            (Some(Event::Text(before)), Event::Text(text)) => {
                *before = format!("{before}{text}").into();
            }
            (_, event) => all.push(event),
        }
    }
    all
}

fn is_block_of_equations(event: &Event) -> bool {
    matches!(event, Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))) if &**kind == "math")
}

fn is_comment(html: &str) -> bool {
    html.trim_start().starts_with("<!--") && html.trim_end().ends_with("-->")
}

/// The plain text of an event; a blank where one block or line ends and another begins. Equations have none.
fn text_of(event: &Event) -> String {
    match event {
        Event::Text(text) if text.starts_with("\\begin{align}") => String::new(),
        Event::Html(text) if is_comment(text) => String::new(),
        Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
            text.to_string()
        }
        Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::TableCell) => " ".to_owned(),
        Event::End(end) if is_block(*end) => " ".to_owned(),
        _ => String::new(),
    }
}

fn is_block(end: TagEnd) -> bool {
    matches!(end, TagEnd::Paragraph | TagEnd::Item | TagEnd::CodeBlock | TagEnd::TableRow)
}

/// The anchor of a heading as GitHub makes it, so that links work there, too.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter.is_alphanumeric().then_some(letter),
    });
    kept.flat_map(char::to_lowercase).collect()
}

fn free_anchor(taken: &BTreeSet<String>, heading: &str) -> String {
    let first = anchor(heading);
    let numbered = (1..).map(|number| format!("{first}-{number}"));
    let free = std::iter::once(first.clone()).chain(numbered).find(|name| !taken.contains(name));
    free.unwrap_or(first)
}

/// Writes the events of a document as those of its page.
struct Writer<'a> {
    document: &'a Document<'a>,
    links: &'a Links<'a>,
    files: Vec<String>,
    findings: Vec<String>,
}

impl<'a> Writer<'a> {
    /// The event `at` of the document on its page; `None` if nothing stands for it.
    fn event(&mut self, at: usize) -> Option<Event<'a>> {
        let event = &self.document.events[at];
        let is_math = |at: usize| self.document.events.get(at).is_some_and(is_block_of_equations);
        Some(match event {
            start if is_block_of_equations(start) => return None,
            Event::End(TagEnd::CodeBlock) if at >= 2 && is_math(at - 2) => return None,
            // Equations are the only HTML that we write ourselves before this point.
            Event::Html(equations) if at >= 1 && is_math(at - 1) => Event::Html(equations.clone()),
            Event::Html(text) if is_comment(text) => return None,
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text.clone()),
            Event::Start(Tag::CodeBlock(_)) => Event::Html("<pre tabindex=\"0\"><code>".into()),
            Event::End(TagEnd::CodeBlock) => Event::Html("</code></pre>\n".into()),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => Event::Start(Tag::Link {
                link_type: *link_type,
                dest_url: self.address(dest_url).into(),
                title: title.clone(),
                id: id.clone(),
            }),
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                Event::Start(Tag::Image {
                    link_type: *link_type,
                    dest_url: self.address(dest_url).into(),
                    title: title.clone(),
                    id: id.clone(),
                })
            }
            Event::End(TagEnd::Heading(level)) => Event::Html(self.end_of_heading(at, *level)),
            event => event.clone(),
        })
    }

    /// A mark that links to the section, for the mouse only: it would be one more stop of the tab key per heading.
    fn end_of_heading(&self, at: usize, level: HeadingLevel) -> pulldown_cmark::CowStr<'a> {
        let starts = self.document.events[..at].iter().rev();
        let id = starts.into_iter().find_map(|event| match event {
            Event::Start(Tag::Heading { id, .. }) => Some(id.as_deref()),
            _ => None,
        });
        match id.flatten() {
            Some(id) => format!(
                "<a class=\"anchor\" href=\"#{id}\" aria-hidden=\"true\" tabindex=\"-1\">#</a></{level}>\n"
            ),
            None => format!("</{level}>\n"),
        }
        .into()
    }

    /// The address of a link on the page; notes what does not work.
    fn address(&mut self, link: &str) -> String {
        if ["https://", "http://", "mailto:"].iter().any(|scheme| link.starts_with(scheme)) {
            return link.to_owned();
        }
        self.inner_address(link).unwrap_or_else(|| {
            let place = &self.document.path;
            self.findings.push(format!("docs/{place}: links to `{link}`, which is not there"));
            link.to_owned()
        })
    }

    fn inner_address(&mut self, link: &str) -> Option<String> {
        let (target, anchor) = link.split_once('#').map_or((link, None), |(a, b)| (a, Some(b)));
        let here = &self.document.path;
        let path = if target.is_empty() { here.clone() } else { address::resolve(here, target)? };
        let page = address::of_page(here);
        if !address::is_document(&path) {
            let known = anchor.is_none() && (self.links.exists)(&path);
            return known.then(|| {
                let address = address::relative(&page, &address::of_file(&path));
                self.files.push(path);
                address
            });
        }
        let anchors = self.links.anchors.get(&*path)?;
        let to = address::relative(&page, &address::of_page(&path));
        match anchor {
            None => Some(to),
            Some(anchor) if !anchors.contains(anchor) => None,
            Some(anchor) if target.is_empty() => Some(format!("#{anchor}")),
            Some(anchor) => Some(format!("{to}#{anchor}")),
        }
    }
}

/// Writes tables in a box that scrolls, with classes in place of the library's inline styles.
#[derive(Default)]
struct Table {
    right: Vec<bool>,
    column: usize,
    in_head: bool,
}

impl Table {
    fn event<'a>(&mut self, event: Event<'a>) -> Event<'a> {
        let html = match event {
            Event::Start(Tag::Table(columns)) => {
                let is_right = |column: &_| *column == pulldown_cmark::Alignment::Right;
                self.right = columns.iter().map(is_right).collect();
                "<div class=\"wide\" role=\"group\" aria-label=\"Table\" tabindex=\"0\"><table>\n"
            }
            Event::End(TagEnd::Table) => "</tbody></table></div>\n",
            Event::Start(Tag::TableHead) => {
                (self.in_head, self.column) = (true, 0);
                "<thead><tr>"
            }
            Event::End(TagEnd::TableHead) => {
                self.in_head = false;
                "</tr></thead><tbody>\n"
            }
            Event::Start(Tag::TableRow) => {
                self.column = 0;
                "<tr>"
            }
            Event::End(TagEnd::TableRow) => "</tr>\n",
            Event::Start(Tag::TableCell) => self.start_of_cell(),
            Event::End(TagEnd::TableCell) => self.end_of_cell(),
            event => return event,
        };
        Event::Html(html.into())
    }

    fn start_of_cell(&mut self) -> &'static str {
        let right = self.right.get(self.column).copied().unwrap_or_default();
        self.column += 1;
        match (self.in_head, right) {
            (true, false) => "<th scope=\"col\">",
            (true, true) => "<th scope=\"col\" class=\"right\">",
            (false, false) => "<td>",
            (false, true) => "<td class=\"right\">",
        }
    }

    fn end_of_cell(&self) -> &'static str {
        if self.in_head { "</th>" } else { "</td>" }
    }
}
