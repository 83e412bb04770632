//! Equations: a block of LaTeX rows as MathML, with their numbers.
//!
//! A block is `\begin{align}` … `\end{align}`, which GitHub renders, too. Each row ends in `\tag{n}`, or in `\notag` where the next
//! one goes on. The number becomes the first column: there it stays in view while a phone scrolls the equation.

use anyhow::{Context, bail, ensure};
use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Parser, Storage, push_mathml};

/// Equations as HTML.
#[derive(Debug)]
pub(super) struct Equations {
    pub(super) html: String,
    /// The anchors of the numbered rows, such as `eq-1`.
    pub(super) anchors: Vec<String>,
}

pub(super) fn equations(source: &str) -> anyhow::Result<Equations> {
    let body = source.trim().strip_prefix("\\begin{align}");
    let body = body.and_then(|body| body.strip_suffix("\\end{align}"));
    let body = body.context("a block of equations is \\begin{align} … \\end{align}")?;
    let (mut rows, mut numbers) = (Vec::new(), Vec::new());
    for row in rows_of(body) {
        let (row, number) = split_number(row.trim())?;
        rows.push(row);
        numbers.push(number);
    }
    let rows = with_plain_words(&rows.join("\\\\"))?;
    let math = mathml(&format!("\\begin{{align*}}{rows}\\end{{align*}}"))?;
    let anchors: Vec<String> =
        numbers.iter().flatten().map(|number| format!("eq-{number}")).collect();
    let html = format!(
        "<div class=\"equations\" role=\"group\" aria-label=\"Equations\" tabindex=\"0\">{}</div>\n",
        with_numbers(&math, &numbers)?
    );
    Ok(Equations { html, anchors })
}

/// The rows of a block; a `\\` inside an inner environment does not end one.
fn rows_of(body: &str) -> Vec<&str> {
    let (mut rows, mut start, mut depth, mut at) = (Vec::new(), 0, 0_usize, 0);
    while let Some(found) = body[at..].find('\\') {
        let rest = &body[at + found..];
        at += found + 1;
        if rest.starts_with("\\begin{") {
            depth += 1;
        } else if rest.starts_with("\\end{") {
            depth = depth.saturating_sub(1);
        } else if rest.starts_with("\\\\") {
            if depth == 0 {
                rows.push(&body[start..at - 1]);
                start = at + 1;
            }
            at += 1;
        }
    }
    rows.push(&body[start..]);
    rows
}

/// A row without its `\tag{n}`, and n; `None` after `\notag`.
fn split_number(row: &str) -> anyhow::Result<(&str, Option<&str>)> {
    if let Some(row) = row.strip_suffix("\\notag") {
        return Ok((row, None));
    }
    let tagged = row.strip_suffix('}').and_then(|row| row.rsplit_once("\\tag{"));
    let (row, number) =
        tagged.with_context(|| format!("a row ends in \\tag{{n}} or \\notag: {row}"))?;
    let digits = number.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    ensure!(is_number, "`{number}` is no number such as 6 or 6a");
    Ok((row, Some(number)))
}

/// The converter takes the words of a `\text{…}` as they are, so an underscore there needs no backslash any more.
fn with_plain_words(rows: &str) -> anyhow::Result<String> {
    let mut parts = rows.split("\\text{");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (words, rest) = part.split_once('}').context("a \\text{ has no }")?;
        ensure!(!words.contains(['{', '$']), "\\text{{{words}}} contains more than words");
        plain += &format!("\\text{{{}}}{rest}", words.replace("\\_", "_"));
    }
    Ok(plain)
}

/// Refuses everything that the converter does not understand; by itself it writes its complaint into the formula.
fn mathml(source: &str) -> anyhow::Result<String> {
    let storage = Storage::new();
    for event in Parser::new(source, &storage) {
        if let Err(error) = event {
            bail!("{error}");
        }
    }
    let config = RenderConfig { display_mode: DisplayMode::Block, ..RenderConfig::default() };
    let mut math = String::new();
    push_mathml(&mut math, Parser::new(source, &storage), config)?;
    ensure!(!math.contains("style="), "the formula would need an inline style");
    // Beside `mtext` alone an operator loses its spaces: MathML takes such a row for one operator.
    Ok(math
        .replace("<mtext>", "<mi mathvariant=\"normal\" class=\"words\">")
        .replace("</mtext>", "</mi>"))
}

/// Puts a cell with its number in front of each row of the outer table.
fn with_numbers(math: &str, numbers: &[Option<&str>]) -> anyhow::Result<String> {
    let (mut html, mut rest, mut depth) = (String::new(), math, 0_usize);
    let mut left = numbers.iter();
    while let Some(at) = rest.find("<mt").into_iter().chain(rest.find("</mtable")).min() {
        let end = at + rest[at..].find('>').context("an element ends")? + 1;
        let (before, element) = (&rest[..at], &rest[at..end]);
        html.push_str(before);
        rest = &rest[end..];
        depth += usize::from(element.starts_with("<mtable"));
        depth -= usize::from(element.starts_with("</mtable"));
        if depth != 1 || element != "<mtr>" {
            html.push_str(element);
            continue;
        }
        match left.next().context("there are more rows than numbers")? {
            Some(number) => html.push_str(&format!(
                "<mtr id=\"eq-{number}\"><mtd class=\"number\"><mtext>({number})</mtext></mtd>"
            )),
            None => html.push_str("<mtr><mtd class=\"number\"></mtd>"),
        }
    }
    ensure!(left.next().is_none(), "there are fewer rows than numbers");
    Ok(html + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &str) -> anyhow::Result<Equations> {
        equations(&format!("\\begin{{align}}\n{rows}\n\\end{{align}}\n"))
    }

    #[test]
    fn each_row_has_its_number_in_front() {
        let rows = "a &= \\frac{b}{c_\\text{mem}} \\tag{1} \\\\\nd &= 1 \\notag \\\\\n&\\quad + \\max(e,\\, f) \\tag{2}";
        let Equations { html, anchors } = of(rows).unwrap();
        assert_eq!(anchors, ["eq-1", "eq-2"]);
        assert_eq!(html.matches("<mtr").count(), 3);
        assert!(html.contains("<mtr id=\"eq-1\"><mtd class=\"number\"><mtext>(1)</mtext></mtd>"));
        assert!(html.contains("<mtr><mtd class=\"number\"></mtd>"));
        assert!(
            html.contains("<mi mathvariant=\"normal\" class=\"words\">mem</mi></msub>"),
            "{html}"
        );
        assert!(html.contains("<mfrac>") && !html.contains("tag"), "{html}");
    }

    #[test]
    fn the_rows_of_an_inner_environment_have_no_number() {
        let rows = "a &= \\begin{cases} 1 & b \\\\ 2 & c \\end{cases} \\tag{7}";
        let html = of(rows).unwrap().html;
        assert_eq!(html.matches("class=\"number\"").count(), 1, "{html}");
        assert_eq!(html.matches("<mtr").count(), 3, "{html}");
    }

    #[test]
    fn an_underscore_in_words_loses_its_backslash() {
        let html = of("a &= \\text{block\\_bits} \\tag{1}").unwrap().html;
        assert!(html.contains(">block_bits</mi>"), "{html}");
    }

    #[test]
    fn a_formula_that_does_not_convert_is_refused() {
        for rows in [
            "a &= \\unknown{b} \\tag{1}",
            "a &= \\frac{b} \\tag{1}",
            "a &= {b \\tag{1}",
            "a &= b",
            "a &= b \\tag{x}",
            "a &= b \\tag{}",
            "a &= b \\tag{1} \\\\",
            "a &= \\begin{cases} 1 \\tag{1}",
        ] {
            assert!(of(rows).is_err(), "{rows}");
        }
        assert!(equations("a = b").is_err());
    }
}
