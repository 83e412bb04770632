//! Time per call of a product with packed weights by number of tokens, interleaved in one run: what more tokens cost beside
//! reading the weights once.
//!
//! `cargo run --profile native -p kernels --example packed_tokens [N] [K] [rounds] [instruction set] [layouts …]`

use std::time::Instant;

use kernels::cpu::gemv::{Input, Matrix, Output, gemv};
use kernels::cpu::isa::{Isa, Level};
use kernels::cpu::threads::Pool;
use kernels::pack::{Layout, Packed};
use kernels::random::Random;

/// Numbers of tokens that are compared; the first is the baseline.
const TOKENS: [usize; 5] = [1, 2, 4, 8, 16];
/// Rows that are packed; the matrix repeats them.
const DISTINCT: usize = 16;
/// Copies of the matrix, so that calls read from memory [B].
const COLD: usize = 256 << 20;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |at: usize, other: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(other);
    let (n, k, rounds) = (number(0, 4096).max(1), number(1, 4096).max(1), number(2, 30).max(1));
    let level = words.get(3).and_then(|word| Level::of_key(word)).and_then(Isa::of);
    let isa = level.unwrap_or_else(Isa::best);
    let mut layouts: Vec<Layout> =
        words.iter().skip(4).filter_map(|word| Layout::by_key(word)).collect();
    if layouts.is_empty() {
        layouts = vec![Layout::Int4G128, Layout::Int8];
    }
    let mut pool = Pool::new(None);
    println!("{} on {} workers, {n} x {k}, {rounds} rounds", isa.level(), pool.len());
    println!(
        "{:14} {:>6} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}",
        "layout", "tokens", "us", "10 %", "90 %", "ratio", "10 %", "90 %"
    );
    for layout in layouts {
        compare(&mut pool, isa, layout, (n, k), rounds);
    }
}

fn compare(pool: &mut Pool, isa: Isa, layout: Layout, (n, k): (usize, usize), rounds: usize) {
    let packed = Packed::encode(layout, &noise(1, DISTINCT * k), k).expect("small numbers");
    let copies = COLD.div_ceil(layout.bytes(n, k)).max(2);
    let matrices: Vec<Matrix> =
        (0..copies).map(|copy| Matrix::repeated(pool, &packed, copy % DISTINCT, n)).collect();
    let inputs: Vec<Input> = (0..16).map(|seed| Input::new(layout, &noise(seed, k))).collect();
    let outputs = TOKENS.map(|tokens| Output::new(n, tokens));
    let mut times = TOKENS.map(|_| Vec::new());
    let mut ratios = TOKENS.map(|_| Vec::new());
    let mut call = 0;
    for round in 0..=rounds {
        let mut first = 0.0;
        for (i, tokens) in TOKENS.into_iter().enumerate() {
            let start = Instant::now();
            gemv(isa, pool, &matrices[call % copies], &inputs[..tokens], &outputs[i]);
            let time = start.elapsed().as_secs_f64() * 1e6;
            call += 1;
            if i == 0 {
                first = time;
            }
            // The first round warms up.
            if round > 0 {
                times[i].push(time);
                ratios[i].push(time / first);
            }
        }
    }
    for (i, tokens) in TOKENS.into_iter().enumerate() {
        let ([time, low, high], [ratio, least, most]) =
            (spread(&mut times[i]), spread(&mut ratios[i]));
        println!(
            "{:14} {tokens:6} {time:10.1} {low:10.1} {high:10.1} {ratio:8.2} {least:8.2} {most:8.2}",
            layout.key()
        );
    }
}

/// Median, 10 % and 90 %; sorts its argument.
fn spread(values: &mut [f64]) -> [f64; 3] {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len() - 1;
    [values[values.len() / 2], values[last / 10], values[last - last / 10]]
}

#[expect(clippy::cast_possible_truncation, reason = "any number will do")]
fn noise(seed: u64, len: usize) -> Vec<f32> {
    let mut random = Random::new(seed + 5);
    (0..len).map(|_| random.normal() as f32).collect()
}
