//! The order of schemes, by standings written by hand.

use super::*;

fn row(score: f64, loss: f64, gigabytes: f64, limit: f64) -> Standing {
    let (memory, limit) = (Bytes::from_gb(gigabytes), Bytes::from_gb(limit));
    let time = Seconds::new(score);
    let (interval, engine, pair_ratio) = ([score * 0.9, score * 1.5], Engine::Vllm, 1.5);
    Standing { score, interval, engine, pair_ratio, loss, time, memory, limit, is_published: false }
}

fn losses(rows: &[Standing; 3]) -> [u64; 3] {
    rows.map(|row| row.loss.to_bits())
}

#[test]
fn within_the_interval_of_the_best_less_loss_is_first() {
    let mut rows = [row(1.3, 0.0, 16.0, 80.0), row(1.0, 4.0, 4.0, 80.0), row(1.1, 0.1, 8.0, 80.0)];
    assert_eq!(order(&mut rows, |row| *row), FirstBy::LessLoss);
    // 1.0 is not within 1.17 to 1.95, though 1.3 is within 0.9 to 1.5.
    assert_eq!(losses(&rows), [0.1, 4.0, 0.0].map(f64::to_bits));
}

/// A row with the interval of a device without measurements.
fn wide(score: f64, loss: f64, engine: Engine) -> Standing {
    let interval = [score * 0.6, score * 1.6];
    Standing { interval, engine, pair_ratio: 1.2, ..row(score, loss, 8.0, 80.0) }
}

#[test]
fn on_one_engine_the_ratio_decides_and_not_the_shared_error() {
    use Engine::{LlamaCpp, Vllm};
    let mut rows = [wide(1.5, 0.0, Vllm), wide(1.0, 0.1, Vllm), wide(1.1, 0.05, Vllm)];
    assert_eq!(order(&mut rows, |row| *row), FirstBy::LessLoss);
    assert_eq!(losses(&rows), [0.05, 0.1, 0.0].map(f64::to_bits));
    // Another engine's error is its own; there, too, 1.5 is slower than 1.2.
    let mut rows = [wide(1.5, 0.0, Vllm), wide(1.0, 0.7, LlamaCpp), wide(1.2, 0.05, Vllm)];
    assert_eq!(order(&mut rows, |row| *row), FirstBy::LessLoss);
    assert_eq!(losses(&rows), [0.05, 0.7, 0.0].map(f64::to_bits));
}

#[test]
fn another_engine_is_worth_half_a_percent_of_loss() {
    let other = |loss: f64| {
        let gguf = wide(1.1, loss, Engine::LlamaCpp);
        let mut rows = [gguf, wide(1.0, 0.9, Engine::Vllm), wide(1.05, 0.8, Engine::Vllm)];
        (order(&mut rows, |row| *row), losses(&rows)[0])
    };
    assert_eq!(other(0.5), (FirstBy::SameEngine, 0.8_f64.to_bits()));
    assert_eq!(other(0.2), (FirstBy::LessLoss, 0.2_f64.to_bits()));
}

#[test]
fn a_row_of_twice_the_memory_and_no_less_loss_is_not_first() {
    // The first by loss, 1.1, is in the interval of 1.0; 1.55 is not, but cannot be told from 1.1.
    let mut rows = [row(1.55, 0.0, 8.0, 80.0), row(1.0, 4.0, 4.0, 80.0), row(1.1, 0.1, 16.0, 80.0)];
    rows[0].interval = [1.05, 2.0];
    assert_eq!(order(&mut rows, |row| *row), FirstBy::LessMemory);
    assert_eq!(losses(&rows), [0.0, 0.1, 4.0].map(f64::to_bits));
}

#[test]
fn a_row_of_the_same_engine_with_less_loss_is_first_though_a_little_larger() {
    use Engine::{LlamaCpp, Vllm};
    // The best is another engine's; the interval of 1.25 leaves it out, though 1.1 cannot be told from either.
    let mut rows = [wide(1.25, 0.0, LlamaCpp), wide(1.0, 4.0, Vllm), wide(1.1, 0.4, LlamaCpp)];
    rows[0].interval = [1.05, 2.0];
    let larger = |memory: f64| {
        let mut rows = rows;
        rows[0].memory = Bytes::from_gb(memory);
        (order(&mut rows, |row| *row), losses(&rows))
    };
    assert_eq!(larger(8.1), (FirstBy::LessLoss, [0.0, 0.4, 4.0].map(f64::to_bits)));
    assert_eq!(larger(9.0).1, [0.4, 4.0, 0.0].map(f64::to_bits));
}

#[test]
fn as_published_is_before_a_requantization_that_is_no_better() {
    let published = Standing { is_published: true, ..row(1.01, 1.0, 8.1, 80.0) };
    let mut rows = [row(1.0, 1.0, 8.0, 80.0), published, row(1.02, 1.0, 7.9, 80.0)];
    assert_eq!(order(&mut rows, |row| *row), FirstBy::Published);
    assert!(rows[0].is_published);
    let mut rows = [row(1.0, 0.5, 8.0, 80.0), published, row(1.02, 1.0, 7.9, 80.0)];
    order(&mut rows, |row| *row);
    assert!(!rows[0].is_published, "it loses more");
}

#[test]
fn on_a_small_device_the_smallest_near_the_best_is_first() {
    let mut rows = [row(1.1, 0.0, 7.0, 8.0), row(1.0, 0.1, 5.0, 8.0), row(1.04, 4.0, 4.0, 8.0)];
    assert_eq!(order(&mut rows, |row| *row), FirstBy::Size);
    assert_eq!(losses(&rows), [4.0, 0.1, 0.0].map(f64::to_bits));
}
