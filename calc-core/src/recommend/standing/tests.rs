//! The order of schemes, by standings written by hand.

use super::*;

/// A row of 80 GB with a pair ratio of 1.2.
fn row(score: f64, loss: f64, gigabytes: f64) -> Standing {
    Standing {
        score,
        interval: [score * 0.7, score * 1.4],
        engine: Engine::Vllm,
        pair_ratio: 1.2,
        loss,
        time: Seconds::new(score),
        memory: Bytes::from_gb(gigabytes),
        limit: Bytes::from_gb(80.0),
        is_published: false,
    }
}

/// The score of the first row, and the reason.
fn first(rows: &[Standing]) -> (f64, FirstBy) {
    let mut rows = rows.to_vec();
    let reason = order(&mut rows, |row| *row);
    let rest = rows[1..].windows(2).all(|pair| pair[0].score <= pair[1].score);
    assert!(rest, "the others are in the order of their scores");
    (rows[0].score, reason)
}

#[test]
fn of_those_that_cannot_be_told_from_the_best_the_one_with_less_loss_is_first() {
    // 1.3 is more than 1.2 times the best.
    let rows = [row(1.3, 0.0, 16.0), row(1.0, 4.0, 14.0), row(1.15, 0.5, 15.0)];
    assert_eq!(first(&rows), (1.15, FirstBy::LessLoss));
    assert_eq!(first(&rows[..2]), (1.0, FirstBy::Score));
}

#[test]
fn of_losses_that_evaluations_cannot_tell_apart_the_faster_is_first() {
    let gguf = Standing { engine: Engine::LlamaCpp, ..row(1.19, 0.037, 8.0) };
    assert_eq!(first(&[row(1.0, 0.9, 8.0), gguf, row(1.1, 0.043, 8.0)]), (1.1, FirstBy::LessLoss));
    // No loss is less than a small one.
    let plain = row(1.19, 0.0, 9.0);
    assert_eq!(
        first(&[row(1.0, 0.9, 8.0), plain, row(1.1, 0.043, 8.0)]),
        (1.19, FirstBy::LessLoss)
    );
}

#[test]
fn a_row_that_is_slower_and_loses_more_is_never_first() {
    // The row without loss has a ratio of its own: the best cannot be told from the third, but from the second.
    let plain = Standing { pair_ratio: 1.1, ..row(1.15, 0.0, 16.0) };
    let rows = [row(1.0, 4.0, 14.0), plain, row(1.18, 0.2, 15.0)];
    assert_eq!(first(&rows), (1.15, FirstBy::LessLoss));
}

#[test]
fn a_row_of_much_less_memory_and_no_more_loss_is_first() {
    let rows = [row(1.0, 0.1, 16.0), row(1.1, 0.1, 12.0)];
    assert_eq!(first(&rows), (1.1, FirstBy::LessMemory));
    assert_eq!(first(&[rows[0], row(1.1, 0.1, 15.0)]), (1.0, FirstBy::Score));
    assert_eq!(first(&[rows[0], row(1.3, 0.1, 2.0)]), (1.0, FirstBy::Score));
}

#[test]
fn as_published_is_before_a_requantization_that_is_no_better() {
    let published = Standing { is_published: true, ..row(1.01, 1.0, 8.1) };
    assert_eq!(
        first(&[row(1.0, 1.0, 8.0), published, row(1.02, 1.0, 7.9)]),
        (1.01, FirstBy::Published)
    );
    assert_eq!(first(&[row(1.0, 0.5, 8.0), published]), (1.0, FirstBy::Score));
    assert_eq!(first(&[row(1.0, 1.0, 6.0), published]), (1.0, FirstBy::Score));
}

#[test]
fn the_interval_of_a_well_known_device_is_narrower_than_the_ratio() {
    let known = |score: f64, loss: f64| Standing {
        interval: [score * 0.9, score * 1.1],
        ..row(score, loss, 8.0)
    };
    assert_eq!(first(&[known(1.0, 4.0), known(1.15, 0.0)]), (1.0, FirstBy::Score));
    assert_eq!(first(&[known(1.0, 4.0), known(1.08, 0.0)]), (1.08, FirstBy::LessLoss));
}

#[test]
fn exact_scores_have_no_uncertainty() {
    let exact = |score: f64, loss: f64| Standing { pair_ratio: 1.0, ..row(score, loss, score) };
    assert_eq!(first(&[exact(4.0, 2.0), exact(4.1, 0.0)]), (4.0, FirstBy::Score));
}

#[test]
fn on_a_small_device_the_smallest_near_the_best_is_first() {
    let small = |score: f64, loss: f64, gigabytes: f64| Standing {
        limit: Bytes::from_gb(8.0),
        ..row(score, loss, gigabytes)
    };
    let rows = [small(1.1, 0.0, 7.0), small(1.0, 0.1, 5.0), small(1.04, 4.0, 4.0)];
    assert_eq!(first(&rows), (1.04, FirstBy::Size));
    // Needs that are equal within 2 % do not outweigh a loss.
    let rows = [small(1.0, 0.6, 4.001), small(1.01, 0.1, 4.002)];
    assert_eq!(first(&rows), (1.01, FirstBy::Size));
}
