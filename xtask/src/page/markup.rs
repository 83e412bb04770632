//! web/index.html as Trunk understands it, as far as we use it: one asset per line, marked by `data-trunk`.

use std::path::PathBuf;

use anyhow::{Context, bail};

/// One line of the page's HTML.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// Goes into the site as it is.
    Kept(String),
    /// The line that names the encoding. What must come before everything else follows it.
    Encoding(String),
    /// Stands for a file, and is replaced by what loads it.
    Asset(Asset),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asset {
    Program,
    Style(PathBuf),
    Icon(PathBuf),
    Copy(PathBuf),
}

pub(crate) fn read(html: &str) -> anyhow::Result<Vec<Line>> {
    let lines = html
        .lines()
        .filter(|line| !is_comment(line))
        .map(|line| read_line(line).with_context(|| format!("web/index.html: {}", line.trim())))
        .collect::<anyhow::Result<Vec<Line>>>()?;
    demand_one(&lines, "<meta charset>", |line| matches!(line, Line::Encoding(_)))?;
    demand_one(&lines, "<link data-trunk rel=\"rust\">", |line| {
        matches!(line, Line::Asset(Asset::Program))
    })?;
    Ok(lines)
}

/// Comments are for those who edit the file, so the site goes without them.
fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("<!--")
}

fn read_line(line: &str) -> anyhow::Result<Line> {
    if line.trim_start().starts_with("<meta charset=") {
        return Ok(Line::Encoding(line.to_owned()));
    }
    if !line.contains(" data-trunk") {
        return Ok(Line::Kept(line.to_owned()));
    }
    let path = || attribute(line, "href").map(PathBuf::from).context("has no href");
    let asset = match attribute(line, "rel").context("has no rel")? {
        "rust" => Asset::Program,
        "css" => Asset::Style(path()?),
        "icon" => Asset::Icon(path()?),
        "copy-file" => Asset::Copy(path()?),
        other => bail!("xtask does not know rel=\"{other}\"; teach xtask/src/page/markup.rs"),
    };
    Ok(Line::Asset(asset))
}

/// The value of ` name="value"` in a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

fn demand_one(lines: &[Line], what: &str, is_it: impl Fn(&Line) -> bool) -> anyhow::Result<()> {
    match lines.iter().filter(|line| is_it(line)).count() {
        1 => Ok(()),
        count => bail!("web/index.html needs exactly one line with {what}, and has {count}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "<meta charset=\"utf-8\">\n<link data-trunk rel=\"rust\" href=\"Cargo.toml\">\n";

    #[test]
    fn assets_are_found_and_the_rest_is_kept() {
        let lines =
            read(&format!("{HEAD}<link data-trunk rel=\"css\" href=\"assets/style.css\">\n<body>"))
                .unwrap();
        assert_eq!(
            lines[1..],
            [
                Line::Asset(Asset::Program),
                Line::Asset(Asset::Style("assets/style.css".into())),
                Line::Kept("<body>".into())
            ]
        );
    }

    #[test]
    fn unknown_and_incomplete_assets_are_refused() {
        for wrong in [
            "<link data-trunk rel=\"sass\" href=\"a\">",
            "<link data-trunk rel=\"css\">",
            "<link data-trunk>",
            HEAD,
        ] {
            assert!(read(&format!("{HEAD}{wrong}")).is_err(), "{wrong}");
        }
        assert!(read("<body></body>").is_err());
    }
}
