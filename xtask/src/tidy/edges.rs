//! Which crate may use which: an allow-list, so that a new edge is a decision and not an accident.

use anyhow::Context;
use serde_json::Value;

use super::Finding;

/// What one crate of the workspace may depend on.
struct Room {
    name: &'static str,
    /// Crates of this workspace.
    house: &'static [&'static str],
    /// Crates from outside.
    outside: Outside,
    /// What its tests may use of this workspace beyond that.
    house_in_tests: &'static [&'static str],
}

enum Outside {
    /// Nothing but these.
    Only(&'static [&'static str]),
    /// Anything but these.
    AllBut(&'static [&'static str]),
}

const BROWSER_ONLY: &[&str] = &["leptos", "plotters-canvas", "wasm-bindgen", "web-sys", "js-sys"];
const DAEMON_ONLY: &[&str] = &["axum", "hyper", "tokio"];
const BROWSER_OR_DAEMON: &[&str] =
    &["leptos", "plotters-canvas", "wasm-bindgen", "web-sys", "js-sys", "axum", "hyper", "tokio"];

const ROOMS: &[Room] = &[
    Room {
        name: "calc-core",
        house: &[],
        outside: Outside::Only(&["libm", "serde"]),
        house_in_tests: &["report", "chart"],
    },
    Room {
        name: "report",
        house: &["calc-core"],
        outside: Outside::Only(&["serde", "serde_json"]),
        house_in_tests: &[],
    },
    Room {
        name: "chart",
        house: &["calc-core", "report"],
        outside: Outside::Only(&["plotters", "plotters-backend", "plotters-svg"]),
        house_in_tests: &[],
    },
    Room {
        name: "validation",
        house: &["calc-core", "report"],
        outside: Outside::Only(&["csv"]),
        house_in_tests: &[],
    },
    Room {
        name: "kernels",
        house: &["calc-core"],
        outside: Outside::AllBut(BROWSER_OR_DAEMON),
        house_in_tests: &[],
    },
    Room {
        name: "protocol",
        house: &["calc-core"],
        outside: Outside::Only(&["serde"]),
        house_in_tests: &[],
    },
    Room {
        name: "companion",
        house: &["calc-core", "report", "chart", "validation", "kernels", "protocol"],
        outside: Outside::AllBut(BROWSER_ONLY),
        house_in_tests: &[],
    },
    Room {
        name: "web",
        house: &["calc-core", "report", "chart", "protocol"],
        outside: Outside::AllBut(DAEMON_ONLY),
        house_in_tests: &[],
    },
    Room {
        name: "xtask",
        house: &[],
        outside: Outside::AllBut(BROWSER_OR_DAEMON),
        house_in_tests: &[],
    },
];

/// Checks what `cargo metadata --no-deps` prints.
pub(super) fn check(metadata: &str) -> anyhow::Result<Vec<Finding>> {
    let metadata: Value = serde_json::from_str(metadata).context("what cargo metadata printed")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let house: Vec<&str> = packages.iter().map(|package| text(&package["name"])).collect();
    Ok(packages.iter().flat_map(|package| check_package(package, &house)).collect())
}

fn check_package(package: &Value, house: &[&str]) -> Vec<Finding> {
    let name = text(&package["name"]);
    let Some(room) = ROOMS.iter().find(|room| room.name == name) else {
        return vec![Finding::new(
            name,
            "a crate without a line in xtask/src/tidy/edges.rs; a new crate needs a reason in docs/adr",
        )];
    };
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    dependencies
        .filter_map(|dependency| complaint(room, dependency, house))
        .map(|what| Finding::new(name, what))
        .collect()
}

fn complaint(room: &Room, dependency: &Value, house: &[&str]) -> Option<String> {
    let name = text(&dependency["name"]);
    let for_tests = dependency["kind"] == "dev";
    if house.contains(&name) {
        let allowed =
            room.house.contains(&name) || (for_tests && room.house_in_tests.contains(&name));
        return (!allowed).then(|| format!("must not depend on `{name}` of this workspace"));
    }
    if room.name == "calc-core" && name == "serde" && dependency["optional"] != true {
        return Some("`serde` must stay optional".to_owned());
    }
    let allowed = match room.outside {
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
        let house = ["calc-core", "report", "chart", "companion", "web", "xtask"];
        let others = house
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
