//! The findings of `doctor` as a table that fits a terminal.

use report::output::table::{Align, Table};

use super::Finding;

/// Columns of a terminal that a line may have.
const WIDTH: usize = 100;

/// The findings with their fixes below them, in lines that fit a terminal.
pub(super) fn table(findings: &[Finding]) -> Table {
    let mut table = Table::new(&[
        ("state", Align::Left),
        ("what", Align::Left),
        ("found, and what to do", Align::Left),
    ]);
    let widest = |of: fn(&Finding) -> usize| findings.iter().map(of).max().unwrap_or(0);
    let names = widest(|it| it.state.key().len()) + widest(|it| it.what.chars().count());
    // Two blanks are between columns.
    let width = WIDTH.saturating_sub(names + 4);
    for Finding { what, state, found, fix } in findings {
        let fix = if fix.is_empty() { String::new() } else { format!("→ {fix}") };
        let lines = wrapped(found, width).into_iter().chain(wrapped(&fix, width));
        let heads = std::iter::once((state.key(), &**what)).chain(std::iter::repeat(("", "")));
        for ((state, what), line) in heads.zip(lines) {
            table.push(vec![state.into(), what.into(), line]);
        }
    }
    table
}

/// The words of a text in lines of so many characters; a longer word has a line of its own.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::{good, less};
    use super::*;

    #[test]
    fn a_line_fits_a_terminal_and_loses_no_word() {
        let long = "a sentence that goes on ".repeat(20);
        let findings = [
            good("short", "found"),
            less(
                "a device with a name",
                long,
                "do this, then do that, and look again whether it helped",
            ),
        ];
        let text = table(&findings).to_text();
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!((WIDTH - 20..=WIDTH).contains(&widest.unwrap_or(0)), "{widest:?}: {text}");
        assert_eq!(text.matches("sentence").count(), 20, "{text}");
        assert!(text.contains("→ do this") && text.ends_with("helped\n"), "{text}");
        // A word that is wider than the line is kept whole.
        assert_eq!(wrapped("a bcdefgh i", 4), ["a", "bcdefgh", "i"]);
        assert!(wrapped("", 4).is_empty());
    }
}
