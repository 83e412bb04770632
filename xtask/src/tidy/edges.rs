//! Which crate may use which: an allow-list, so that a new edge is a decision and not an accident.

use anyhow::Context;
use serde_json::Value;

use super::Finding;

/// The dependencies that one crate of the workspace may have.
struct CrateRule {
    name: &'static str,
    /// Crates of this workspace.
    workspace: &'static [&'static str],
    /// Crates from outside.
    outside: Outside,
    /// Crates of this workspace that only its tests may use.
    workspace_in_tests: &'static [&'static str],
}

enum Outside {
    /// Nothing but these.
    Only(&'static [&'static str]),
    /// Anything but these.
    AllBut(&'static [&'static str]),
}

const BROWSER_ONLY: &[&str] = &["leptos", "wasm-bindgen", "web-sys", "js-sys"];
const DAEMON_ONLY: &[&str] = &["axum", "hyper", "tokio"];
const BROWSER_OR_DAEMON: &[&str] =
    &["leptos", "wasm-bindgen", "web-sys", "js-sys", "axum", "hyper", "tokio"];

const RULES: &[CrateRule] = &[
    CrateRule {
        name: "calc-core",
        workspace: &[],
        outside: Outside::Only(&["libm", "serde"]),
        workspace_in_tests: &["report", "chart"],
    },
    CrateRule {
        name: "weights",
        workspace: &["calc-core"],
        outside: Outside::Only(&["serde", "serde_json"]),
        workspace_in_tests: &[],
    },
    CrateRule {
        name: "report",
        workspace: &["calc-core", "weights"],
        outside: Outside::Only(&["serde", "serde_json"]),
        workspace_in_tests: &["fuzz"],
    },
    CrateRule {
        name: "chart",
        workspace: &["calc-core", "report"],
        outside: Outside::Only(&["plotters", "plotters-backend", "plotters-svg"]),
        workspace_in_tests: &[],
    },
    CrateRule {
        name: "validation",
        workspace: &["calc-core", "report"],
        outside: Outside::Only(&["csv"]),
        workspace_in_tests: &["fuzz"],
    },
    CrateRule {
        name: "kernels",
        workspace: &["calc-core"],
        outside: Outside::AllBut(BROWSER_OR_DAEMON),
        workspace_in_tests: &[],
    },
    CrateRule {
        name: "protocol",
        workspace: &["calc-core"],
        outside: Outside::Only(&["serde"]),
        workspace_in_tests: &["fuzz"],
    },
    CrateRule {
        name: "companion",
        workspace: &[
            "calc-core",
            "weights",
            "report",
            "chart",
            "validation",
            "kernels",
            "protocol",
        ],
        outside: Outside::AllBut(BROWSER_ONLY),
        workspace_in_tests: &["fuzz"],
    },
    CrateRule {
        name: "fuzz",
        workspace: &[],
        outside: Outside::Only(&["proptest"]),
        workspace_in_tests: &[],
    },
    CrateRule {
        name: "web",
        workspace: &["calc-core", "weights", "report", "chart", "protocol"],
        outside: Outside::AllBut(DAEMON_ONLY),
        workspace_in_tests: &[],
    },
    CrateRule {
        name: "xtask",
        workspace: &[],
        outside: Outside::AllBut(BROWSER_OR_DAEMON),
        workspace_in_tests: &[],
    },
];

/// Checks what `cargo metadata --no-deps` prints.
pub(super) fn check(metadata: &str) -> anyhow::Result<Vec<Finding>> {
    let metadata: Value = serde_json::from_str(metadata).context("what cargo metadata printed")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let members: Vec<&str> = packages.iter().map(|package| text(&package["name"])).collect();
    Ok(packages.iter().flat_map(|package| check_package(package, &members)).collect())
}

/// The rules as the table of docs/architecture.md.
pub(super) fn table() -> String {
    let quoted = |names: &[&str]| match names {
        [] => "nothing".to_owned(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    };
    let rows = RULES.iter().map(|rule| {
        let outside = match rule.outside {
            Outside::Only(names) => quoted(names),
            Outside::AllBut(BROWSER_ONLY) => "anything but browser crates".to_owned(),
            Outside::AllBut(DAEMON_ONLY) => "anything but server crates".to_owned(),
            Outside::AllBut(_) => "neither browser nor server crates".to_owned(),
        };
        format!("| `{}` | {} | {outside} |\n", rule.name, quoted(rule.workspace))
    });
    "| crate | of this workspace | from outside |\n|---|---|---|\n".to_owned()
        + &rows.collect::<String>()
}

fn check_package(package: &Value, members: &[&str]) -> Vec<Finding> {
    let name = text(&package["name"]);
    let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
        return vec![Finding::new(
            name,
            "a crate without a line in xtask/src/tidy/edges.rs; a new crate needs a reason in docs/adr",
        )];
    };
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    dependencies
        .filter_map(|dependency| complaint(rule, dependency, members))
        .map(|what| Finding::new(name, what))
        .collect()
}

fn complaint(rule: &CrateRule, dependency: &Value, members: &[&str]) -> Option<String> {
    let name = text(&dependency["name"]);
    let for_tests = dependency["kind"] == "dev";
    if members.contains(&name) {
        let allowed = rule.workspace.contains(&name)
            || (for_tests && rule.workspace_in_tests.contains(&name));
        return (!allowed).then(|| format!("must not depend on `{name}` of this workspace"));
    }
    if rule.name == "calc-core" && name == "serde" && dependency["optional"] != true {
        return Some("`serde` must stay optional".to_owned());
    }
    let allowed = match rule.outside {
        Outside::Only(names) => {
            names.contains(&name) || (for_tests && !BROWSER_OR_DAEMON.contains(&name))
        }
        Outside::AllBut(names) => !names.contains(&name),
    };
    (!allowed).then(|| format!("must not depend on `{name}`"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The complaints about `of` when it depends on `on`; `kind` is "normal", "dev" or "optional".
    fn complaints(of: &str, on: &str, kind: &str) -> usize {
        let members = ["calc-core", "report", "chart", "companion", "web", "xtask"];
        let others = members
            .iter()
            .filter(|name| **name != of)
            .map(|name| format!(r#"{{"name":"{name}","dependencies":[]}}"#));
        let (real_kind, optional) =
            if kind == "dev" { ("\"dev\"", false) } else { ("null", kind == "optional") };
        let package = format!(
            r#"{{"name":"{of}","dependencies":[{{"name":"{on}","kind":{real_kind},"optional":{optional}}}]}}"#
        );
        let packages: Vec<String> = others.chain([package]).collect();
        check(&format!(r#"{{"packages":[{}]}}"#, packages.join(","))).unwrap().len()
    }

    #[test]
    fn the_edges_of_the_architecture_are_allowed() {
        let allowed = [
            ("report", "calc-core", "normal"),
            ("web", "chart", "normal"),
            ("web", "leptos", "normal"),
            ("companion", "tokio", "normal"),
            ("calc-core", "serde", "optional"),
            ("calc-core", "report", "dev"),
            ("calc-core", "proptest", "dev"),
            ("chart", "plotters-svg", "optional"),
        ];
        for (of, on, kind) in allowed {
            assert_eq!(complaints(of, on, kind), 0, "{of} -> {on} ({kind})");
        }
    }

    #[test]
    fn every_crate_has_a_rule_and_is_built_anew_for_another_checkout() {
        let mut rules: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        let mut members = crate::lock::MEMBERS;
        rules.sort_unstable();
        members.sort_unstable();
        assert_eq!(rules, members);
    }

    #[test]
    fn other_edges_are_refused() {
        let refused = [
            ("calc-core", "report", "normal"),
            ("calc-core", "companion", "dev"),
            ("calc-core", "serde", "normal"),
            ("calc-core", "serde_json", "normal"),
            ("report", "chart", "normal"),
            ("report", "tokio", "dev"),
            ("chart", "leptos", "normal"),
            ("companion", "leptos", "normal"),
            ("web", "axum", "normal"),
            ("web", "companion", "normal"),
            ("xtask", "calc-core", "normal"),
            ("attic", "libm", "normal"),
        ];
        for (of, on, kind) in refused {
            assert_eq!(complaints(of, on, kind), 1, "{of} -> {on} ({kind})");
        }
    }
}
