//! The text that index.html has before the program runs: the answer at the bare address.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use super::names::with_fingerprint;
use super::squeeze::squeeze;
use crate::child::cargo;
use crate::places::Places;

/// Runs before the text is drawn: it applies the reader's colors, and hides the text at other addresses.
const COLORS: &str = include_str!("../../../site/colors.js");

/// File of the text in the folder of the program.
pub(super) const FILE: &str = "first-answer.html";

/// The text, computed by the page's own functions on this machine.
pub(super) fn compute(places: &Places) -> anyhow::Result<String> {
    let program = ["--package", "web", "--bin", "first_answer", "--no-default-features"];
    let output = cargo(places).args(["run", "--quiet"]).args(program).output()?;
    if !output.status.success() {
        bail!("the first answer: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// Adds the script to the site in `folder`, and returns the `page` with script and `text`.
///
/// # Errors
/// If the page has no title or no body, or the script cannot be written.
pub(super) fn add(folder: &Path, page: &str, text: &str) -> anyhow::Result<String> {
    let script = squeeze(COLORS)?;
    let name = with_fingerprint(Path::new("colors.js"), script.as_bytes())?;
    fs::write(folder.join(&name), &script)?;
    let page = after(page, "</title>", &format!("    <script src=\"./{name}\"></script>"))?;
    after(&page, "<body>", &format!("    {text}"))
}

/// `page` with a line after the one that ends in `mark`.
fn after(page: &str, mark: &str, line: &str) -> anyhow::Result<String> {
    let (before, rest) =
        page.split_once(mark).with_context(|| format!("web/index.html has no {mark}"))?;
    Ok(format!("{before}{mark}\n{line}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_in_the_body_and_the_script_before_it() {
        let folder = std::env::temp_dir().join(format!("xtask-first-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let page = "<head>\n  <title>R</title>\n</head>\n<body>\n  <noscript></noscript>\n</body>";
        let html = add(&folder, page, "<main></main>").unwrap();
        let places = [
            "<title>R</title>\n    <script src=\"./colors-",
            "<body>\n    <main></main>\n  <noscript>",
        ];
        for place in places {
            assert!(html.contains(place), "{place}: {html}");
        }
        assert!(add(&folder, "<title></title>", "").is_err(), "a page without a body");
        fs::remove_dir_all(folder).unwrap();
    }
}
