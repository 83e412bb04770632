//! T13: the duration of a proof's comparison does not depend on the position of the first difference.

use std::time::Instant;

use subtle::ConstantTimeEq;

#[test]
fn comparison_time_does_not_depend_on_the_difference() {
    // Measures the comparison itself, a million times in random order; network noise would hide a timing leak.
    let right = [0xa5_u8; 32];
    let (mut early, mut late) = (right, right);
    early[0] ^= 1;
    late[31] ^= 1;
    let time = |wrong: &[u8; 32]| {
        let start = Instant::now();
        for _ in 0..64 {
            assert!(!bool::from(std::hint::black_box(&right).ct_eq(std::hint::black_box(wrong))));
        }
        start.elapsed().as_secs_f64()
    };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..20_000 {
        a.push(time(&early));
        b.push(time(&late));
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
    let t = (mean_a - mean_b) / (var_a + var_b).sqrt();
    println!("Welch t = {t:.2}");
    assert!(t.abs() < 4.5, "t = {t}");
}
