//! Tables in README.md and docs/architecture.md that repeat what the code knows: they must say the same.

use super::Finding;
use super::source::is_rust;
use crate::arguments;

/// The source files that a document names in backticks and that are not there.
pub(super) fn missing_files(document: &str, text: &str, paths: &[String]) -> Vec<Finding> {
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let named = quoted.filter(|word| is_rust(word) && word.contains('/'));
    let missing = named.filter(|word| !paths.iter().any(|path| path == word));
    missing
        .map(|word| Finding::new(document, format!("names `{word}`, which is not there")))
        .collect()
}

/// A crate of the workspace and its folder, with a slash at the end.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) folder: String,
}

/// The top-level folders that hold no crate.
const WITHOUT_CRATE: [&str; 3] = ["`tools/`", "`docs/`", "`site/`"];

/// Checks both documents; `edges` is the table of which crate may use which.
pub(super) fn check(
    readme: &str,
    architecture: &str,
    members: &[Member],
    edges: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut complain = |path: &str, what: String| findings.push(Finding::new(path, what));
    let (readme_rows, rows) = (layout(readme), layout(architecture));
    for member in members {
        let folder = format!("`{}`", member.folder);
        let listed = rows.iter().find(|row| row.first() == Some(&folder.as_str()));
        match listed.and_then(|row| row.get(1)) {
            Some(name) if *name == format!("`{}`", member.name) => {}
            _ => complain(
                "docs/architecture.md",
                format!("its table of folders lacks {folder} with `{}`", member.name),
            ),
        }
        if !architecture.contains(&format!("\n**`{}`**", member.name)) {
            complain(
                "docs/architecture.md",
                format!("no paragraph begins with **`{}`**", member.name),
            );
        }
    }
    let folders = |rows: &[Vec<&str>]| rows.iter().map(|row| row[0].to_owned()).collect::<Vec<_>>();
    if folders(&readme_rows) != folders(&rows) {
        complain(
            "README.md",
            format!(
                "its layout must list the folders of docs/architecture.md: {}",
                folders(&rows).join(", ")
            ),
        );
    }
    if rows.len() != members.len() + WITHOUT_CRATE.len() {
        complain(
            "docs/architecture.md",
            format!(
                "its table of folders must hold the crates and {}",
                WITHOUT_CRATE.join(" and ")
            ),
        );
    }
    if !architecture.contains(edges) {
        complain("docs/architecture.md", format!("the table of edges must be\n{edges}"));
    }
    let jobs = readme_rows
        .iter()
        .find(|row| row[0] == "`xtask/`")
        .map_or("", |row| row.last().copied().unwrap_or_default());
    for job in jobs_of_usage() {
        if !jobs.split([' ', ',', ':']).any(|word| word == job) {
            complain(
                "README.md",
                format!("its layout does not name the job `{job}` of cargo xtask"),
            );
        }
    }
    findings
}

/// The rows of the table whose first column is "folder", cell by cell.
fn layout(markdown: &str) -> Vec<Vec<&str>> {
    let lines = markdown.lines().skip_while(|line| !line.starts_with("| folder |")).skip(2);
    let rows = lines.map_while(|line| line.strip_prefix('|')?.strip_suffix('|'));
    rows.map(|row| row.split('|').map(str::trim).collect()).collect()
}

/// The first words of the indented lines of the usage.
fn jobs_of_usage() -> impl Iterator<Item = &'static str> {
    let lines = arguments::USAGE.lines().filter_map(|line| line.strip_prefix("  "));
    lines.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split_whitespace().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: &str = "| crate | of this workspace |\n| `a` | nothing |\n";

    fn readme() -> String {
        let jobs = jobs_of_usage().collect::<Vec<_>>().join(", ");
        format!(
            "| folder | what |\n|---|---|\n| `a/` | it |\n| `xtask/` | jobs: {jobs} |\n| `tools/` | scripts |\n| `docs/` | book |\n| `site/` | shell |\n"
        )
    }

    const ARCHITECTURE: &str = "| folder | crate | what |\n|---|---|---|\n| `a/` | `a` | it |\n| `xtask/` | `xtask` | jobs |\n\
        | `tools/` | | scripts |\n| `docs/` | | book |\n| `site/` | | shell |\n\n| crate | of this workspace |\n| `a` | nothing |\n\n**`a`** is it.\n\n**`xtask`** has jobs.\n";

    fn findings(readme: &str, architecture: &str) -> Vec<Finding> {
        let member = |name: &str| Member { name: name.to_owned(), folder: format!("{name}/") };
        check(readme, architecture, &[member("a"), member("xtask")], EDGES)
    }

    #[test]
    fn equal_tables_are_fine() {
        assert_eq!(findings(&readme(), ARCHITECTURE), []);
    }

    #[test]
    fn a_file_that_moved_is_found() {
        let paths = ["a/b.rs".to_owned()];
        let text = "See `a/b.rs` and `c.rs`, a/c.rs.\n`a/d.rs`\n";
        assert_eq!(
            missing_files("a.md", text, &paths),
            [Finding::new("a.md", "names `a/d.rs`, which is not there")]
        );
    }

    #[test]
    fn each_stale_place_is_found() {
        for (from, to) in [("| `a/` | it |\n", ""), ("tidy", "tydi"), ("`docs/`", "`doc/`")] {
            assert_eq!(findings(&readme().replace(from, to), ARCHITECTURE).len(), 1, "{from}");
        }
        for (from, to) in
            [("| `a` | it |", "| `b` | it |"), ("**`a`**", "`a`"), ("| nothing |", "| `b` |")]
        {
            assert_eq!(findings(&readme(), &ARCHITECTURE.replace(from, to)).len(), 1, "{from}");
        }
        assert!(
            !findings(&readme(), &ARCHITECTURE.replace("| `docs/`", "| `b/` | `b` | |\n| `docs/`"))
                .is_empty()
        );
    }
}
