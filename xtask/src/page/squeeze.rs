//! Leaves comments and indentation out of scripts and style sheets, line by line: most of what a minifier gains, without one.

use anyhow::ensure;

/// The text without indentation, empty lines, and comments that begin a line.
pub(crate) fn squeeze(text: &str) -> anyhow::Result<String> {
    let mut kept = Vec::new();
    let mut in_comment = false;
    for line in text.lines() {
        let mut rest = line.trim();
        in_comment |= rest.starts_with("/*");
        if in_comment {
            let Some((_, after)) = rest.split_once("*/") else { continue };
            in_comment = false;
            rest = after.trim();
        }
        if rest.is_empty() || rest.starts_with("//") {
            continue;
        }
        ensure!(
            rest.matches('`').count() % 2 == 0,
            "a text over several lines would lose its indentation: {rest}"
        );
        kept.push(rest);
    }
    Ok(kept.join("\n"))
}

/// A style sheet without what separates nothing: ends of lines, and blanks around braces and after colons, semicolons and
/// commas.
pub(crate) fn squeeze_style(text: &str) -> anyhow::Result<String> {
    let mut text = squeeze(text)?.replace('\n', " ");
    for (long, short) in [
        (" {", "{"),
        ("{ ", "{"),
        ("; ", ";"),
        (": ", ":"),
        (", ", ","),
        (" }", "}"),
        ("} ", "}"),
        (";}", "}"),
    ] {
        text = text.replace(long, short);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_that_begin_a_line_and_indentation_go() {
        let text = "// one\nfn() {\n    /** two\n     * three */\n    a(\"// no comment\"); // stays\n\n  /* four */ b();\n}\n";
        assert_eq!(squeeze(text).unwrap(), "fn() {\na(\"// no comment\"); // stays\nb();\n}");
    }

    #[test]
    fn a_style_keeps_the_blanks_that_separate() {
        let sheet = "/* one */\na b > c, d:has(e) {\n  margin: 0 4px; color: red;\n}\n\n@media (max-width: 9px) {\n  f { content: \" ▾\"; }\n}\n";
        assert_eq!(
            squeeze_style(sheet).unwrap(),
            "a b > c,d:has(e){margin:0 4px;color:red}@media (max-width:9px){f{content:\" ▾\"}}"
        );
    }

    #[test]
    fn a_text_over_several_lines_is_refused() {
        assert_eq!(squeeze("`${a}`").unwrap(), "`${a}`");
        assert!(squeeze("a(`\n  b`)").is_err());
    }
}
