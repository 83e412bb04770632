//! GEMV bandwidth of every layout as a share of read bandwidth, interleaved in one run.
//!
//! Targets at 256 MB and more: 0.92 of measured read bandwidth for `int8`, 0.85 for 4-bit layouts.
//!
//! `cargo run --profile native -p kernels --example gemv_rate [MB] [rounds] [K] [instruction set] [layouts …]`

use std::time::Instant;

use kernels::cpu::buffer::Buffer;
use kernels::cpu::gemv::{Input, Matrix, Output, gemv};
use kernels::cpu::isa::{Isa, Level};
use kernels::cpu::stream;
use kernels::cpu::threads::Pool;
use kernels::pack::{Layout, Packed};
use kernels::random::Random;

/// Rows that are packed; the matrix repeats them.
const DISTINCT: usize = 16;

struct Settings {
    bytes: usize,
    rounds: usize,
    cols: usize,
    isa: Isa,
    layouts: Vec<Layout>,
}

fn settings() -> Settings {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |at: usize, other: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(other);
    let level = words.get(3).and_then(|word| Level::of_key(word)).and_then(Isa::of);
    let mut layouts: Vec<Layout> =
        words.iter().skip(4).filter_map(|word| Layout::by_key(word)).collect();
    if layouts.is_empty() {
        layouts = Layout::ALL.to_vec();
    }
    Settings {
        bytes: number(0, 256) * 1_000_000,
        rounds: number(1, 15).max(1),
        cols: number(2, 4096).max(1),
        isa: level.unwrap_or_else(Isa::best),
        layouts,
    }
}

fn main() {
    let settings = settings();
    let mut pool = Pool::new(None);
    let isa = settings.isa;
    println!("{} on {} workers, K = {}", isa.level(), pool.len(), settings.cols);
    let words = settings.bytes / stream::STEP * stream::STEP / 8;
    let read = Buffer::<u64>::filled(&mut pool, words, |first, part| {
        let mut random = Random::new(first as u64);
        part.fill_with(|| random.bits());
    });
    println!(
        "{:14} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "layout", "GB/s", "read", "ratio", "10 %", "90 %", "best", "best", "ratio"
    );
    for layout in &settings.layouts {
        compare(&mut pool, &settings, *layout, &read);
    }
}

fn compare(pool: &mut Pool, settings: &Settings, layout: Layout, read: &Buffer<u64>) {
    let cols = settings.cols;
    let packed = Packed::encode(layout, &noise(DISTINCT * cols), cols).expect("small numbers");
    let row_bytes = layout.bytes(1, cols) - layout.tensor_bytes();
    let weights = Matrix::repeated(pool, &packed, 0, settings.bytes.div_ceil(row_bytes));
    let (x, y) = ([Input::new(layout, &noise(cols))], Output::new(weights.rows(), 1));
    let mut rates = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=settings.rounds {
        let reading = rate(size_of_val(&**read), || read_all(pool, settings.isa, read));
        let product = rate(weights.bytes(), || gemv(settings.isa, pool, &weights, &x, &y));
        // The first round warms up.
        if round > 0 {
            rates.0.push(product);
            rates.1.push(reading);
            rates.2.push(product / reading);
        }
    }
    let (product, reading) = (median(&mut rates.0), median(&mut rates.1));
    let ratio = median(&mut rates.2);
    let last = settings.rounds - 1;
    let (low, high) = (rates.2[last / 10], rates.2[last - last / 10]);
    // Load from other processes only slows a run down, so the fastest of each counts.
    let best = rates.0[last] / rates.1[last];
    println!(
        "{:14} {product:8.2} {reading:8.2} {ratio:8.3} {low:8.3} {high:8.3} {:8.2} {:8.2} {best:8.3}",
        layout.key(),
        rates.0[last],
        rates.1[last],
    );
}

fn read_all(pool: &mut Pool, isa: Isa, read: &Buffer<u64>) {
    pool.run(|worker| {
        let part = worker.share(read.len(), Buffer::<u64>::GRANULE);
        let part = part.start..part.start + part.len() / (stream::STEP / 8) * (stream::STEP / 8);
        std::hint::black_box(stream::read(isa, &read[part]));
    });
}

/// Rate [GB/s].
fn rate(bytes: usize, work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    bytes as f64 / start.elapsed().as_secs_f64() / 1e9
}

/// Median; sorts its argument.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

#[expect(clippy::cast_possible_truncation, reason = "any number will do")]
fn noise(len: usize) -> Vec<f32> {
    let mut random = Random::new(5);
    (0..len).map(|_| random.normal() as f32).collect()
}
