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
mod processor;
mod products;
mod streams;
mod tensor_cores;

use std::env;
use std::path::Path;

use eight_bits::eight_bits;
use kernels::cuda::call::products::GemvVersion;
use layer::{attention, layer, prefill};
use processor::{Change, Checks, Order, Processor, build};
use products::{products, products_of};
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

/// Mistakes of authors of kernels, each in the real source. What is wrong shows in `check`.
#[test]
fn a_mistake_in_a_source_is_rejected() {
    type Check = fn(&mut Processor) -> Result<(), String>;
    let gemv: Check = |processor| products_of(processor, GemvVersion::Warp);
    let on_tensor_cores: Check = |processor| products_of(processor, GemvVersion::TensorCores);
    let attention: Check = |processor| attention(processor, false);
    let mistakes: [(&str, &str, &str, Check); 22] = [
        (
            "gemv_8bit.cu",
            "mma_int8(sums, second, of_second);",
            "mma_int8(sums, first, of_second), (void)second;",
            eight_bits::on_tensor_cores,
        ),
        ("gemv_8bit.cu", "sums[i] += few[i];", "sums[i] = few[i];", eight_bits::on_tensor_cores),
        ("gemv_8bit.cu", "8 * i, n - 1)", "8 * (i % 2), n - 1)", eight_bits::on_tensor_cores),
        (
            "gemv_8bit.cu",
            "% TILES][i % 4];\n    }\n    __syncthreads();",
            "% TILES][i % 4];\n    }",
            eight_bits::on_tensor_cores,
        ),
        (
            "gemv_8bit.cu",
            "steps = (pieces + 3) / 4",
            "steps = pieces / 4",
            eight_bits::on_tensor_cores,
        ),
        ("gemv.cu", "const float sum = warp_sum(sums[m]);", "const float sum = sums[m];", gemv),
        (
            "gemv.cu",
            "const int piece = first + i * WARP;",
            "const int piece = first + i * WARP - 1;",
            gemv,
        ),
        ("gemv.cu", "if (piece < pieces) {", "if (piece < pieces - 1) {", gemv),
        (
            "gemv_mma.cu",
            "const int read = piece < pieces ? piece : 0;",
            "const int read = piece;",
            on_tensor_cores,
        ),
        (
            "gemv_mma.cu",
            "permute(v.x, v.z, 0x5410u), b[4 * i + 1]",
            "permute(v.x, v.z, 0x1054u), b[4 * i + 1]",
            on_tensor_cores,
        ),
        (
            "gemv_mma.cu",
            "return of_bf16(half_at(row.scales, step));",
            "return of_bf16(half_at(row.scales, step ? step - 1 : 0));",
            on_tensor_cores,
        ),
        (
            "gemv_mma.cu",
            "sums[tile][i];\n    }\n    __syncthreads();",
            "sums[tile][i];\n    }",
            on_tensor_cores,
        ),
        (
            "attention.cu",
            "running[g].out[i];\n    }\n    __syncthreads();",
            "running[g].out[i];\n    }",
            attention,
        ),
        ("attention.cu", "context - fresh + token + 1", "context", attention),
        ("attention_mma.cu", "if (key > last_key[i / 2])", "if (key >= last_key[i / 2])", prefill),
        ("attention_mma.cu", "first + KEYS > seen_by_all", "first > seen_by_all", prefill),
        ("attention_mma.cu", "sum[h] *= fading;", "", prefill),
        ("attention_mma.cu", "query % group) * D", "query / fresh) * D", prefill),
        ("attention_mma.cu", "wait_for_copies<1>(); // of the values", "", prefill),
        ("attention_mma.cu", "__syncthreads(); // Every warp has read the keys.", "", prefill),
        ("attention_mma.cu", "__syncthreads(); // Every warp has read the values.", "", prefill),
        ("attention_mma.cu", "(chunk ^ (row & 7)) * 8", "chunk * 8", prefill),
    ];
    for (at, (file, from, to, check)) in mistakes.into_iter().enumerate() {
        let checks =
            if to.ends_with("= piece;") { Checks::AddressAndUndefined } else { Checks::None };
        let program = build(&format!("mistake-{at}"), Some(Change { file, from, to }), checks);
        let found = [Order::Forward, Order::Reverse]
            .into_iter()
            .find_map(|order| check(&mut Processor::start(&program, order)).err());
        assert!(found.is_some(), "{file} with `{to}` in place of `{from}` passes");
    }
}
