//! Files and paths that must not be in the repository: build output, status reports, and the paths of somebody's machine.

use super::Finding;

const OUTPUT_FOLDERS: [&str; 3] = ["target", "dist", "node_modules"];
const OUTPUT_KINDS: [&str; 7] = [".wasm", ".rlib", ".rmeta", ".o", ".so", ".exe", ".pyc"];
const REPORTS: [&str; 4] = ["PLAN.md", "STATUS.md", "NOTES.md", concat!("TO", "DO.md")];

/// Starts of paths on a machine, put together here so that this file does not contain them.
const MACHINE: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("C:\\Us", "ers\\"),
];

/// The folder beside the checkouts of this project's authors, which nobody else has.
const BESIDE: &str = concat!("../sha", "red");

pub(super) fn check_path(path: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_output = folders.split('/').any(|folder| OUTPUT_FOLDERS.contains(&folder))
        || OUTPUT_KINDS.iter().any(|kind| name.ends_with(kind));
    if is_output {
        findings.push(Finding::new(path, "is build output"));
    }
    if REPORTS.iter().any(|report| name.eq_ignore_ascii_case(report)) || name.contains("_FINAL") {
        findings.push(Finding::new(
            path,
            "is a status report; what stays true belongs in docs, the rest in the issue",
        ));
    }
    findings
}

pub(super) fn check_text(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().zip(1..);
    lines
        .filter_map(|(line, number)| {
            machine_path(line).map(|what| Finding::new(format!("{path}:{number}"), what))
        })
        .collect()
}

fn machine_path(line: &str) -> Option<String> {
    if line.contains(BESIDE) {
        return Some(format!("names `{BESIDE}`, which only its authors have"));
    }
    let found = MACHINE
        .into_iter()
        .find(|start| line.match_indices(start).any(|(at, _)| starts_a_path(&line[..at])))?;
    Some(format!("names a path below `{found}` of one machine"))
}

/// Whether a path can begin after this text; in an address or a longer path it cannot.
fn starts_a_path(before: &str) -> bool {
    !before.ends_with(|letter: char| letter.is_alphanumeric() || "._-/~}".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_reports_are_refused() {
        for path in [
            "target/debug/a",
            "web/dist/index.html",
            "web/node_modules/a/b.js",
            "docs/a.wasm",
            "PLAN.md",
            "docs/status.md",
            "docs/R_FINAL.md",
        ] {
            assert_eq!(check_path(path).len(), 1, "{path}");
        }
        for path in ["README.md", "docs/targets.md", "docs/planning.md", "web/src/dist.rs"] {
            assert!(check_path(path).is_empty(), "{path}");
        }
    }

    #[test]
    fn paths_of_a_machine_are_refused() {
        for start in MACHINE.into_iter().chain([BESIDE]) {
            assert_eq!(
                check_text("docs/a.md", &format!("see\n`{start}x/y`\n")).len(),
                1,
                "{start}"
            );
        }
        for fine in
            [concat!("https://a.example/ho", "me/x"), concat!("~/wo", "rk/x"), "a shared/b folder"]
        {
            assert!(check_text("docs/a.md", fine).is_empty(), "{fine}");
        }
    }
}
