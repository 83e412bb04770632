//! The CUDA kernels, unmodified, on the processor: `kernels/cuda/cpu` compiles them with g++, each thread a fiber, and this test compares
//! their results with the f64 references. It needs no GPU and no library of CUDA.
//!
//! Mutations of the sources must be rejected, which shows that the comparison sees what it claims to see.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test, whose sizes are small"
)]

mod eight_bits;
mod inputs;
mod layer;
mod mistakes;
mod processor;
mod products;
mod streams;
mod tensor_cores;

use std::env;
use std::path::Path;

use eight_bits::eight_bits;
use layer::{attention, layer, prefill};
use mistakes::MISTAKES;
use processor::{Change, Checks, Order, Processor, build};
use products::products;
use streams::{clock, peaks, streams};
use tensor_cores::{fragments, loads};

/// Set by `cargo xtask soak`: every shape in place of a few.
const ALL_SHAPES: &str = "RIDGEPOINT_ALL_SHAPES";

/// All kernels against their references, in both orders of threads.
fn check(program: &Path) -> Result<(), String> {
    let all = env::var_os(ALL_SHAPES).is_some();
    for order in [Order::Forward, Order::Reverse] {
        let mut processor = Processor::start(program, order);
        let count = products(&mut processor, all)?;
        assert!(count > 80, "{count} products");
        fragments(&mut processor)?;
        loads(&mut processor)?;
        eight_bits(&mut processor)?;
        layer(&mut processor)?;
        attention(&mut processor, all)?;
        prefill(&mut processor)?;
        streams(&mut processor)?;
        peaks(&mut processor)?;
        clock(&mut processor)?;
    }
    Ok(())
}

#[test]
fn every_kernel_equals_its_reference_in_both_orders_of_threads() {
    check(&build("plain", None, Checks::None)).unwrap();
}

#[test]
fn no_kernel_reads_or_writes_outside_its_buffers() {
    check(&build("sanitized", None, Checks::AddressAndUndefined)).unwrap();
}

#[test]
fn a_mistake_in_a_source_is_rejected() {
    for (at, (file, from, to, check)) in MISTAKES.into_iter().enumerate() {
        let checks =
            if to.ends_with("= piece;") { Checks::AddressAndUndefined } else { Checks::None };
        let program = build(&format!("mistake-{at}"), Some(Change { file, from, to }), checks);
        let found = [Order::Forward, Order::Reverse]
            .into_iter()
            .find_map(|order| check(&mut Processor::start(&program, order)).err());
        assert!(found.is_some(), "{file} with `{to}` in place of `{from}` passes");
    }
}
