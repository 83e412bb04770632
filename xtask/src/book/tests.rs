//! Tests of the rendered documents: small books of a few pages, and that of this checkout.

use std::path::PathBuf;

use super::*;

/// Renders documents with these texts; the first is `theory/a.md`, the others are as named.
fn rendered(name: &str, text: &str, more: &[(&str, &str)]) -> anyhow::Result<Vec<File>> {
    let root = std::env::temp_dir().join(format!("xtask-book-{name}-{}", std::process::id()));
    let checkout = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let copied = [
        "site/document.html",
        "site/document.css",
        "web/assets/colors.css",
        "site/colors.js",
        "site/search.js",
    ];
    for path in copied.into_iter().chain(["web/assets/icon.svg"]) {
        put(&root, path, &fs::read_to_string(checkout.join(path)).unwrap());
    }
    put(&root, "docs/theory/a.md", text);
    let mut summary = "# Summary\n\n# Theory\n\n- [A & B](theory/a.md)\n".to_owned();
    for (path, text) in more {
        put(&root, &format!("docs/{path}"), text);
        if address::is_document(path) && *path != "unlisted.md" {
            summary += &format!("- [{path}]({path})\n");
        }
    }
    put(&root, "docs/SUMMARY.md", &summary);
    let files = render(&root);
    fs::remove_dir_all(&root).unwrap();
    files
}

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn is(file: &File, extension: &str) -> bool {
    Path::new(&file.path).extension().is_some_and(|found| found == extension)
}

fn text_at<'a>(files: &'a [File], path: &str) -> &'a str {
    let file = files.iter().find(|file| file.path == path).unwrap();
    std::str::from_utf8(&file.content).unwrap()
}

fn page(name: &str, text: &str) -> String {
    text_at(&rendered(name, text, &[]).unwrap(), "learn/theory/a.html").to_owned()
}

#[test]
fn headings_have_the_anchors_of_github() {
    let html = page("anchors", "# A\n\n## Why `q4_k`, and how?\n\n## Why\n\n## Why\n");
    for anchor in ["why-q4_k-and-how", "why", "why-1"] {
        assert!(html.contains(&format!("<h2 id=\"{anchor}\">")), "{anchor}: {html}");
    }
}

#[test]
fn links_are_relative_and_name_pages() {
    let text = "# A\n\n[b](../guides/b.md#part), [c](../adr/c.md), [top](#more), [json](../schema/x.json), [out](https://a.example/)\n\n## More\n";
    let more = [
        ("guides/b.md", "# B\n\n## Part\n"),
        ("adr/c.md", "# C\n\n[a](../theory/a.md)\n"),
        ("schema/x.json", "{}"),
    ];
    let files = rendered("links", text, &more).unwrap();
    let html = text_at(&files, "learn/theory/a.html");
    for href in [
        "../guides/b.html#part",
        "../../docs/adr/c.html",
        "#more",
        "../../docs/schema/x.json",
        "https://a.example/",
        "../../?view=model",
    ] {
        assert!(html.contains(&format!("href=\"{href}\"")), "{href}: {html}");
    }
    assert!(!html.contains(".md\"") && !html.contains(".md#"), "{html}");
    assert_eq!(text_at(&files, "docs/schema/x.json"), "{}");
    let record = text_at(&files, "docs/adr/c.html");
    assert!(record.contains("href=\"../../learn/theory/a.html\""), "{record}");
    assert!(text_at(&files, "docs/index.html").contains("href=\"adr/c.html\""));
}

#[test]
fn a_link_that_leads_nowhere_is_refused() {
    for link in
        ["b.md", "#nothing", "a.md#nothing", "../../README.md", "../schema/x.json", "a.html"]
    {
        let error = rendered("broken", &format!("# A\n\n[x]({link})\n"), &[]).err().unwrap();
        let message = format!("{error:#}");
        assert!(message.contains("docs/theory/a.md") && message.contains(link), "{message}");
    }
}

#[test]
fn every_fault_is_named_at_once() {
    let error = rendered("faults", "# A\n\n[x](b.md) [y](c.md)\n", &[("unlisted.md", "# U\n")]);
    let message = format!("{:#}", error.err().unwrap());
    for part in ["`b.md`", "`c.md`", "docs/unlisted.md"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn html_in_markdown_is_text() {
    let html = page(
        "html",
        "# A\n\n<!-- secret -->\n\n<script>a()</script>\n\nb <img src=x> `<i>` & c\n\n```text\n<b>\n```\n",
    );
    assert!(!html.contains("secret"), "{html}");
    for shown in
        ["&lt;script&gt;a()", "&lt;img src=x&gt;", "<code>&lt;i&gt;</code> &amp; c", "&lt;b&gt;"]
    {
        assert!(html.contains(shown), "{shown}: {html}");
    }
    assert!(!html.contains("<script>"), "{html}");
    assert!(html.contains("<title>A &amp; B · Ridgepoint</title>"), "{html}");
}

#[test]
fn equations_are_mathml_and_a_bad_one_fails() {
    let block = |rows: &str| {
        format!(
            "# A\n\n```math\n\\begin{{align}}\n{rows}\n\\end{{align}}\n```\n\nSee [(1)](#eq-1).\n"
        )
    };
    let html = page("math", &block("a &= \\frac{b}{c} \\tag{1}"));
    assert!(html.contains("<mfrac>") && html.contains("id=\"eq-1\""), "{html}");
    assert!(!html.contains("<pre") && !html.contains("\\begin"), "{html}");
    for rows in ["a &= \\wrong \\tag{1}", "a \\tag{1} \\\\ b \\tag{1}"] {
        let error = rendered("bad-math", &block(rows), &[]).err().unwrap();
        assert!(format!("{error:#}").contains("docs/theory/a.md"), "{error:#}");
    }
}

#[test]
fn tables_scroll_in_a_box_and_have_no_inline_style() {
    let html = page("table", "# A\n\n| | b |\n|---|--:|\n| c | 1 |\n");
    assert!(html.contains("<td></td><th scope=\"col\" class=\"right\">b</th>"), "{html}");
    assert!(html.contains("<div class=\"wide\"") && !html.contains("style="), "{html}");
}

#[test]
fn the_index_of_the_search_has_every_section() {
    let files = rendered("index", "# A\n\nOne\ntwo.\n\n## B\n\n- three\n- `four`\n", &[]).unwrap();
    let index = files
        .iter()
        .find(|file| file.path.starts_with("learn/search-") && is(file, "json"))
        .unwrap();
    assert_eq!(
        std::str::from_utf8(&index.content).unwrap(),
        r#"[["learn/theory/a.html","A",[["","A","One two."],["b","B","three four"]]]]"#
    );
}

#[test]
fn the_documents_of_this_checkout_can_be_rendered() {
    let files = render(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    let pages: Vec<&File> = files.iter().filter(|file| is(file, "html")).collect();
    assert!(pages.iter().all(|page| FOLDERS.iter().any(|folder| page.path.starts_with(folder))));
    for page in pages {
        let html = std::str::from_utf8(&page.content).unwrap();
        assert!(!html.contains("style=\"") && !html.contains("<script>"), "{}", page.path);
    }
    let script =
        files.iter().find(|file| file.path.starts_with("learn/search-") && is(file, "js")).unwrap();
    assert!(script.content.len() < 4_000, "the search is {} bytes", script.content.len());
}
