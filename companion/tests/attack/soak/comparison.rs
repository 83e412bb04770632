//! T13: the duration of the daemon's comparison of a proof does not depend on the position of the first difference. Tokens are compared
//! by the same function, as hashes, whose differences nobody chooses. It is timed in this process, from the daemon's own source: the noise of a socket would hide a difference of nanoseconds.

use std::hint::black_box;
use std::time::Instant;

use protocol::hex::Hex;

#[path = "../../../src/keys/secret.rs"]
#[expect(dead_code, reason = "the other functions of the daemon's file")]
mod secret;

use secret::{Secret, same};

/// Calls in a timed sample.
const CALLS: usize = 64;
const SAMPLES: usize = 20_000;
/// Largest difference that chance makes, in standard errors.
const CHANCE: f64 = 4.5;

/// Welch's t between the times for two values, sampled in turns.
fn difference(early: &Hex<32>, late: &Hex<32>, is_same: impl Fn(&Hex<32>) -> bool) -> f64 {
    let time = |wrong: &Hex<32>| {
        let start = Instant::now();
        for _ in 0..CALLS {
            assert!(!is_same(black_box(wrong)));
        }
        start.elapsed().as_secs_f64()
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        a.push(time(early));
        b.push(time(late));
    }
    let trimmed = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.truncate(values.len() * 9 / 10);
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance =
            values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
        (mean, variance / n)
    };
    let ((mean_a, var_a), (mean_b, var_b)) = (trimmed(a), trimmed(b));
    (mean_a - mean_b) / (var_a + var_b).sqrt()
}

/// The right value with the first or the last byte changed.
fn changed(right: Hex<32>) -> [Hex<32>; 2] {
    [0, 31].map(|place| {
        let mut wrong = right;
        wrong.0[place] ^= 1;
        wrong
    })
}

#[test]
fn comparison_time_does_not_depend_on_the_difference() {
    let right = Hex([0xa5; 32]);
    let [early, late] = changed(right);
    let found = difference(&early, &late, |given| same(black_box(&right), given));
    println!("proofs: t = {found:.2}");
    assert!(found.abs() < CHANCE, "t = {found}");
    let secret = Secret::new(right.0);
    let proof = secret.sign(b"text");
    let [early, late] = changed(proof);
    let found = difference(&early, &late, |given| secret.proves(b"text", given));
    println!("proofs with their hash: t = {found:.2}");
    assert!(found.abs() < CHANCE, "t = {found}");
    // Control: this finds a comparison that ends at the first difference.
    let [early, late] = changed(right);
    let hasty = |given: &Hex<32>| right.0.iter().zip(&given.0).all(|(a, b)| black_box(a) == b);
    let found = difference(&early, &late, hasty);
    println!("a hasty comparison: t = {found:.2}");
    assert!(found < -10.0 * CHANCE, "t = {found}");
}
