//! Mutants of the modules that decide who may use the daemon: keys, handshake, origin, throttle. cargo-mutants changes one operator or
//! result at a time in a copy of the checkout, and the unit tests of these modules must notice every change that compiles.
//!
//! There is no list of exclusions: no mutant of these modules is equivalent to the code.

use std::fs;
use std::process::Command;

use crate::child::run;
use crate::places::Places;
use crate::setup::cargo_mutants;

/// Files of a package, and the tests that must notice their mutants.
struct Part {
    package: &'static str,
    files: &'static [&'static str],
    /// Arguments of `cargo test`: few tests, because each mutant is built and tested anew.
    tests: &'static [&'static str],
}

const PARTS: [Part; 2] = [
    Part {
        package: "protocol",
        files: &["companion/protocol/src/proof.rs"],
        tests: &["--lib", "--", "proof::"],
    },
    Part {
        package: "companion",
        files: &[
            "companion/src/server/origin.rs",
            "companion/src/server/throttle.rs",
            "companion/src/keys.rs",
            "companion/src/keys/*.rs",
            "companion/src/server/handshake.rs",
        ],
        tests: &[
            "--bins",
            "--",
            "keys::",
            "server::handshake",
            "server::origin",
            "server::throttle",
            "--skip",
            "fuzz",
        ],
    },
];

/// Seconds that the tests of a mutant may take; without one they take five.
const TIMEOUT: &str = "120";

/// Fails if a mutant survives; some two hours on two cores.
pub(super) fn test_all(places: &Places) -> anyhow::Result<()> {
    let program = cargo_mutants::find_or_install(places)?;
    fs::create_dir_all(&places.own)?;
    for part in &PARTS {
        run(&mut command(part, places, Command::new(&program)))?;
    }
    Ok(())
}

fn command(part: &Part, places: &Places, mut command: Command) -> Command {
    command.current_dir(&places.root).args(["mutants", "--jobs", "1", "--timeout", TIMEOUT]);
    command.args(["--package", part.package]);
    for file in part.files {
        command.args(["--file", file]);
    }
    // Builds of mutants must not pass for those of the checkout.
    command.env("CARGO_TARGET_DIR", places.cache.join("target-mutants"));
    command.arg("--output").arg(&places.own).arg("--").args(part.tests);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that was renamed would have no mutant, and so no survivor.
    #[test]
    fn every_file_exists() {
        let places = Places::find().unwrap();
        for file in PARTS.iter().flat_map(|part| part.files) {
            let path = places.root.join(file.trim_end_matches("/*.rs"));
            assert!(path.exists(), "{file}");
        }
    }
}
