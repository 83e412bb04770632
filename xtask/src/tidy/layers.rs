//! Refuses a module that uses another one of its crate without an entry in the allow-list below.
//!
//! A module may use those listed before it. A name covers the modules below it that are not listed themselves; among these
//! any use is allowed that makes no circle. The root of a crate may use everything. A child may use what its parent's file
//! defines, and that alone is no circle: `foo.rs` holds what the files of `foo/` share.

use super::Finding;
use super::circles::circles;
use super::crate_modules::{CrateModules, Uses};

/// Crate and its modules, from the ground up.
const LAYERS: &[(&str, &str)] = &[
    (
        "calc-core",
        "math order provenance text units
         compare quality quant_format
         error op
         image weight_size
         catalog::formats device model_arch
         catalog::devices::measured mixture
         calibration::coefficients calibration::engine gguf_file roofline
         calibration::machine software precision
         calibration cost hf_config
         expected lowering
         parallel tiers
         energy workload
         analysis footprint
         plan tiling
         estimate
         scheme
         catalog
         recommend
         check schedule
         explore",
    ),
    (
        "weights",
        "error metadata tensor
         header
         gguf::cursor
         gguf safetensors
         packing role
         files
         geometry read stored",
    ),
    (
        "report",
        "number_text percent
         refusal_text
         input::json_input input::csv_line input::number_input input::measurements input::image_input input::range input::device_file input::calibration_file
         input::error
         input::model_file
         input::weight_file
         input::named_model input::model_file::word
         input::request
         input::timed_kernel
         input
         output::accuracy output::address output::lesson output::work output::table output::verdict
         output::words
         output::verdict::explain
         output::json
         output::verdict::model output::summary
         output::brief output::formulas
         output",
    ),
    (
        "chart",
        "axis geometry theme
         label mark
         roofline
         scene
         curves draw front scatter schemes sheet spans
         svg",
    ),
    (
        "validation",
        "row
         predict read score
         counts pairs
         fit folds own page tiers
         waves
         write main",
    ),
    (
        "kernels",
        "pack random stats
         activation measure mutants reference
         compare
         backend
         distinct rotation
         cpu cuda devices job",
    ),
    (
        "companion",
        "clock failure interrupt sandbox scopes worker::script
         files hooks measure output reason
         keys telemetry weight_files
         audit jobs worker
         verbs::answer_keys verbs::flags verbs::lines
         verbs::unknown_file
        verbs::bench verbs::requests
         verbs::merge verbs::recommend
         verbs::api
         verbs
         mcp
         server::coding server::freshness server::refusal server::throttle server::host server::origin
         server::embedded server::kept server::negotiation
         server::fair server::peer server::notes
         server::static_files server::keyring server::places server::engine server::socket server::table
         server::daemon
         server::reply server::audit
         server::metrics server::openapi server::rest server::mcp server::handshake
         server::session
         server::upgrade
         server::routes
         server::guard
         server
         cli",
    ),
    (
        "protocol",
        "close device fault hex limits scope tolerant
         bench engine telemetry
         ability job proof sizes
         client server",
    ),
    (
        "web",
        "components::erased link
         state::claim state::computed_style state::history state::marks state::place
         state::roving state::several_cards state::trust
         state::goal state::operator state::points
         state::model::beside state::model::fields state::model::file_name state::model::refused state::model::roles state::model::stages
         state::model::inputs
         state::model::geometry state::model::url
         state::model::question
         state::explore
         state::inputs
         state::pins state::presets state::scenario
         state::fragment
         state::derived
         state::editor state::export_kinds state::files state::model state::advice state::slider state::url
         state::weights
         state::plan
         state::check state::picker
         state::this_machine
         state::explore::column state::explore::narrowing
         state::explore::asked state::explore::row
         state::explore::sweep
         state::explore::shown
         state::explore::command
         state::trust::rows
         state::trust::filter
         state::trust::words
         state::trust::answer
         state::compare state::measure
         state::export state::first_answer
         state::chunks
         state
         link::daemon_link
         charts
         components
         components::explore::link
         components::model
         components::compare
         components::plan
         components::explore components::kernel components::measure components::trust
         chunks
         app
         worker
         bin::first_answer main",
    ),
    (
        "xtask",
        "arguments page::names page::squeeze tidy::locks
         book places
         child lock
         setup tidy
         page
         release serve
         test",
    ),
];

/// The crates whose modules are checked.
pub(super) fn covers(name: &str) -> bool {
    LAYERS.iter().any(|(listed, _)| *listed == name)
}

pub(super) fn check(name: &str, modules: &CrateModules) -> Vec<Finding> {
    let layers = LAYERS.iter().find(|(listed, _)| *listed == name);
    let order: Vec<&str> = layers.map_or("", |(_, order)| order).split_whitespace().collect();
    let mut findings = unlisted(&order, modules);
    findings.extend(check_uses(&order, &modules.uses()));
    let complete =
        |finding: Finding| Finding::new(format!("{name} {}", finding.place), finding.what);
    findings.into_iter().map(complete).collect()
}

/// Modules without a place in the order, and places without a module.
fn unlisted(order: &[&str], modules: &CrateModules) -> Vec<Finding> {
    let paths: Vec<&str> = modules.modules().map(|(path, _)| path).collect();
    let lacking = paths.iter().filter(|path| !path.is_empty() && place(order, path).is_none());
    let lacking = lacking
        .map(|path| Finding::new(path, "a module without a place in xtask/src/tidy/layers.rs"));
    let gone = order.iter().filter(|name| !paths.contains(name));
    lacking
        .chain(
            gone.map(|name| Finding::new(name, "is in xtask/src/tidy/layers.rs and is no module")),
        )
        .collect()
}

/// The place of the longest listed name that covers `module`.
fn place(order: &[&str], module: &str) -> Option<usize> {
    let mut name = module;
    loop {
        if let Some(place) = order.iter().position(|listed| *listed == name) {
            return Some(place);
        }
        name = name.rsplit_once("::")?.0;
    }
}

fn check_uses(order: &[&str], uses: &Uses) -> Vec<Finding> {
    let mut findings = Vec::new();
    for ((from, to), names) in uses {
        if is_upward(order, from, to) {
            let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            findings.push(Finding::new(
                from,
                format!(
                    "uses {names} of `{to}`, which is listed after it in xtask/src/tidy/layers.rs"
                ),
            ));
        }
    }
    findings.extend(circles(uses).into_iter().map(|circle| {
        let names = circle.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        Finding::new("modules", format!("use each other in a circle: {names}"))
    }));
    findings
}

fn is_upward(order: &[&str], from: &str, to: &str) -> bool {
    match (place(order, from), place(order, to)) {
        (Some(from), Some(to)) => to > from,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::rust_file::RustFile;
    use super::*;

    /// The findings on a crate of these files.
    fn found(order: &[&str], files: &[(&str, &str)]) -> Vec<String> {
        let read =
            |(path, text): &(&str, &str)| ((*path).to_owned(), RustFile::read(text).unwrap());
        let modules = CrateModules::new("some-crate", files.iter().map(read));
        let findings = unlisted(order, &modules).into_iter();
        findings.chain(check_uses(order, &modules.uses())).map(|f| f.to_string()).collect()
    }

    const UPWARD: &str = "a: uses B of `b`, which is listed after it in xtask/src/tidy/layers.rs";

    #[test]
    fn a_use_of_what_is_listed_later_is_refused_in_every_spelling() {
        for text in [
            "use crate::b::B;",
            "use crate::{b::{self, B}};",
            "use super::b::B as C;",
            "fn f() { crate::b::B::new(); }",
            "fn f() { use crate::b; b::B::new(); }",
            "mod inner { fn f(_: super::super::b::B) {} }",
            "fn f() { println!(\"{}\", some_crate::b::B); }",
            "use crate::B;",
            "use super::*; fn f(b: crate::B) {}",
        ] {
            let files = [
                ("lib.rs", "mod a; mod b; pub use b::B;"),
                ("a.rs", text),
                ("b.rs", "pub struct B;"),
            ];
            assert_eq!(found(&["a", "b"], &files), [UPWARD], "{text}");
            assert!(found(&["b", "a"], &files).is_empty(), "{text}");
        }
    }

    #[test]
    fn comments_strings_tests_and_other_crates_do_not_count() {
        for text in [
            "// use crate::b::B;\n/* crate::b::B */",
            "/// [`crate::b::B`]\nfn f() {}",
            "const A: &str = \"crate::b::B\"; const C: &str = r#\"use crate::b::B;\"#;",
            "#[cfg(test)]\nmod tests { use crate::b::B; }",
            "struct A; impl A { #[cfg(test)] fn f() -> crate::b::B { crate::b::B } fn g() {} }",
            "use other::b::B; fn f() { ::b::B::new(); }",
        ] {
            let files = [("lib.rs", ""), ("a.rs", text), ("b.rs", "pub struct B;")];
            assert!(found(&["a", "b"], &files).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_circle_is_refused_below_one_name_too() {
        let files = [
            ("lib.rs", ""),
            ("a.rs", "pub struct Shared; pub fn all() { one::f(); }"),
            ("a/one.rs", "use super::Shared; use super::two::T; pub fn f() {}"),
            ("a/two.rs", "use super::one::f; pub struct T;"),
        ];
        let circle = "modules: use each other in a circle: a::one, a::two";
        assert_eq!(found(&["a"], &files), [circle]);
        assert!(
            found(&["a"], &[files[0], files[1], ("a/one.rs", "use super::Shared; pub fn f() {}")])
                .is_empty()
        );
    }

    #[test]
    fn every_module_has_one_place() {
        let files = [("lib.rs", ""), ("a.rs", ""), ("a/one.rs", ""), ("b.rs", "")];
        assert!(found(&["a", "b"], &files).is_empty());
        assert!(found(&["a::one", "b", "a"], &files).is_empty());
        assert_eq!(found(&["a"], &files).len(), 1);
        assert_eq!(found(&["a", "b", "c"], &files).len(), 1);
    }
}
