//! Rates of the kernels of a layer beside its products, with the optimization of a release.
//!
//! `cargo run --profile native -p kernels --example layer_rate [threads] [instruction set] [kernel]`

use std::ops::ControlFlow;
use std::time::Duration;

use kernels::backend::{
    AttentionSizes, Cache, EmbeddingSizes, GemvShape, Kernel, RopeSizes, RowSizes, StoredFloat,
    Work,
};
use kernels::cpu::backend::Cpu;
use kernels::cpu::clock::SystemClock;
use kernels::cpu::isa::{Isa, Level};
use kernels::job;
use kernels::measure::{Plan, StopRule, WarmUp};
use kernels::pack::Layout;

/// Short, because many points are compared.
const PLAN: Plan = Plan {
    warm_up: WarmUp {
        least: Duration::from_millis(50),
        most: Duration::from_millis(200),
        slice: Duration::from_millis(25),
        spread: 0.02,
    },
    window: Duration::from_millis(1),
    rule: StopRule::Certain {
        half_width: 0.005,
        least: 20,
        shortest: Duration::from_millis(200),
        limit: Duration::from_millis(500),
    },
};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let threads = words.first().and_then(|word| word.parse().ok());
    let isa = words.get(1).and_then(|word| Level::of_key(word)).and_then(Isa::of);
    let mut cpu = Cpu::new(threads, isa);
    println!(
        "{:10} {:9} {:60} {:>10} {:>9} {:>9} {:>9}",
        "kernel", "format", "sizes", "median us", "best us", "GB/s", "GFLOP/s"
    );
    for (kernel, cache) in points() {
        if words.get(2).is_some_and(|only| only != kernel.key()) {
            continue;
        }
        let work = Work { kernel, cache, seed: 1 };
        let watch = &mut |_| ControlFlow::Continue(());
        match job::run(&SystemClock::new(), &mut cpu, &work, &PLAN, watch) {
            Ok(outcome) => {
                let best =
                    outcome.measurement.samples.iter().copied().fold(f64::INFINITY, f64::min);
                let sizes = kernel.sizes().into_iter().map(|(name, size)| format!("{name} {size}"));
                println!(
                    "{:10} {:9} {:60} {:10.1} {:9.1} {:9.2} {:9.1}{}",
                    kernel.key(),
                    kernel.stored_format().unwrap_or_default(),
                    format!("{} {}", cache.key(), sizes.collect::<Vec<_>>().join(" ")),
                    outcome.measurement.summary.median * 1e6,
                    best * 1e6,
                    outcome.cost.bytes.get() / best * 1e-9,
                    outcome.cost.flops.get() / best * 1e-9,
                    if outcome.check.passed() { "" } else { " WRONG" },
                );
            }
            Err(stopped) => println!("{:10} {stopped:?}", kernel.key()),
        }
    }
}

fn points() -> Vec<(Kernel, Cache)> {
    let decode = |cache, kv_heads, context| AttentionSizes {
        cache,
        batch: 1,
        heads: 32,
        kv_heads,
        head_dim: 128,
        new: 1,
        context,
    };
    let mut points = vec![
        (Kernel::Read { bytes: 128 << 20 }, Cache::Cold),
        (Kernel::Fma, Cache::Hot),
        (Kernel::Gemv(GemvShape { layout: Layout::Fp16, m: 1, n: 4096, k: 4096 }), Cache::Cold),
    ];
    for stored in StoredFloat::ALL {
        points.push((Kernel::Attention(decode(stored, 8, 4096)), Cache::Cold));
    }
    let hot = Kernel::Attention(decode(StoredFloat::Fp16, 8, 1024));
    points.push((hot, Cache::Hot));
    let alone = Kernel::Attention(decode(StoredFloat::Fp16, 32, 1024));
    points.push((alone, Cache::Cold));
    let prefill = AttentionSizes { new: 512, ..decode(StoredFloat::Fp16, 8, 512) };
    points.push((Kernel::Attention(prefill), Cache::Cold));
    for carrier in StoredFloat::CARRIERS {
        for tokens in [1, 512] {
            let rows = |width| RowSizes { carrier, tokens, width };
            points.push((Kernel::Norm(rows(4096)), Cache::Cold));
            points.push((Kernel::Gate(rows(14_336)), Cache::Cold));
            let heads = RopeSizes { carrier, tokens, heads: 40, head_dim: 128 };
            points.push((Kernel::Rope(heads), Cache::Cold));
            let table = carrier;
            let rows = EmbeddingSizes { table, tokens, width: 4096, vocab: 32_000 };
            points.push((Kernel::Embedding(rows), Cache::Cold));
        }
    }
    points
}
