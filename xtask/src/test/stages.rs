//! The stages in the order in which they run: what fails fast comes first.

use super::{
    Outcome, Run, Stage, browser, cuda, deny, engine, examples, mcp, readme, trunk, wasm_bits,
};
use crate::child::{cargo, run};
use crate::lock::FolderLock;
use crate::setup::{chromium, cuda_compilers, node_packages, toolchain};
use crate::{page, tidy};

pub(super) const STAGES: &[Stage] = &[
    Stage { name: "set up", quick: true, check: set_up },
    Stage { name: "format", quick: true, check: format },
    Stage { name: "tidy", quick: true, check: tidy },
    Stage { name: "lints native", quick: true, check: lints_native },
    Stage { name: "lints of the release build", quick: true, check: lints_release },
    Stage { name: "lints wasm32", quick: true, check: lints_wasm32 },
    Stage { name: "licenses, bans and sources", quick: true, check: deny::check },
    Stage { name: "core without std", quick: true, check: core_without_std },
    Stage { name: "unit, property and golden tests", quick: true, check: tests },
    Stage { name: "CUDA kernels", quick: false, check: cuda::check },
    Stage { name: "examples", quick: true, check: examples::run_all },
    Stage { name: "readme commands", quick: true, check: readme::check },
    Stage { name: "MCP clients", quick: false, check: mcp::run_clients },
    Stage { name: "attach to llama.cpp", quick: false, check: engine::attach },
    Stage { name: "native and wasm bits are equal", quick: false, check: wasm_bits::compare },
    Stage { name: "page", quick: false, check: build_page },
    Stage { name: "browser", quick: false, check: browser::run_all },
    Stage { name: "trunk", quick: false, check: trunk::build },
];

/// Everything that may have to be fetched, so that a missing thing shows now and not after ten minutes.
fn set_up(job: &Run) -> anyhow::Result<Outcome> {
    toolchain::ensure_component("cargo-fmt", "rustfmt")?;
    toolchain::ensure_component("cargo-clippy", "clippy")?;
    toolchain::ensure_target(toolchain::BROWSER)?;
    toolchain::ensure_target(toolchain::BARE)?;
    cuda_compilers::CXX.find_or_install()?;
    if !job.quick {
        toolchain::ensure_target(toolchain::WASI)?;
        chromium::find_or_install()?;
        cuda_compilers::find_or_fetch(job.places)?;
        engine::find_or_fetch(job.places)?;
        node_packages::install(job.places, "web/tests/browser")?;
        node_packages::install(job.places, mcp::TESTS)?;
    }
    Ok(Outcome::Passed)
}

fn format(job: &Run) -> anyhow::Result<Outcome> {
    run_cargo(job, &["fmt", "--all", "--check"])
}

fn tidy(job: &Run) -> anyhow::Result<Outcome> {
    tidy::check_tree(job.places)?;
    Ok(Outcome::Passed)
}

fn lints_native(job: &Run) -> anyhow::Result<Outcome> {
    let soak = "companion/soak"; // so that what only `soak` runs is compiled, too
    let arguments = ["clippy", "--workspace", "--all-targets", "--features", soak];
    run_cargo(job, &[&arguments[..], &["--", "--deny", "warnings"]].concat())
}

/// Without debug assertions the companion has no hooks and no scripts, so that other code is unused.
fn lints_release(job: &Run) -> anyhow::Result<Outcome> {
    run_cargo(
        job,
        &["clippy", "--profile", "native", "-p", "companion", "--", "--deny", "warnings"],
    )
}

fn lints_wasm32(job: &Run) -> anyhow::Result<Outcome> {
    let target = toolchain::BROWSER;
    run_cargo(
        job,
        &[
            "clippy",
            "--target",
            target,
            "-p",
            "web",
            "-p",
            "chart",
            "-p",
            "report",
            "-p",
            "calc-core",
            "--features",
            "web/lazy", // as the page is built; Trunk's stage compiles the other way
            "--",
            "--deny",
            "warnings",
        ],
    )
}

/// A target that has no standard library proves that the core needs none.
fn core_without_std(job: &Run) -> anyhow::Result<Outcome> {
    run_cargo(job, &["build", "-p", "calc-core", "--target", toolchain::BARE])?;
    run_cargo(
        job,
        &["build", "-p", "calc-core", "--target", toolchain::BARE, "--features", "serde"],
    )
}

fn tests(job: &Run) -> anyhow::Result<Outcome> {
    run_cargo(job, &["test", "--workspace"])
}

fn build_page(job: &Run) -> anyhow::Result<Outcome> {
    page::publish(job.places, &browser::site_under_test(job.places))?;
    Ok(Outcome::Passed)
}

fn run_cargo(job: &Run, arguments: &[&str]) -> anyhow::Result<Outcome> {
    let _lock = FolderLock::of_target(job.places)?;
    run(cargo(job.places).args(arguments))?;
    Ok(Outcome::Passed)
}
