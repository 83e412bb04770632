//! Robust fit on the logarithm of the time, with a prior on every constant. Deterministic: the same rows give the same bits.
//! Derivation: `docs/theory/expected.md`.

use std::collections::HashMap;

use calc_core::calibration::coefficients::{Coefficients, Prior};
use calc_core::calibration::{Calibration, DeviceScale};
use calc_core::math::{exp, ln};
use calc_core::text::{List, Text};

use crate::predict::Prepared;
use crate::row::{Set, Tier};

const CONSTANTS: usize = Coefficients::PRIORS.len();
/// Errors below this share are counted squared, larger ones linearly.
const BEND: f64 = 0.02;
/// Error that weighs as much as one standard deviation of a constant.
const SPREAD: f64 = 0.08;
/// Range and standard deviation of the logarithm of a device's bandwidth and compute rate relative to its class.
const MEMORY_SCALE: (f64, f64, f64) = (0.7, 1.3, 0.05);
const COMPUTE_SCALE: (f64, f64, f64) = (0.4, 2.0, 0.15);
/// Range and standard deviation of the logarithm of the time that its host needs to launch a kernel.
const HOST_SCALE: (f64, f64, f64) = (0.5, 4.0, 0.5);
/// Maximum number of steps of the fit, and the gain below which it stops.
const STEPS: usize = 80;
const ENOUGH: f64 = 1e-6;
/// Step of a logarithm in numerical derivatives.
const NUDGE: f64 = 1e-3;

/// The fitted parameters: logarithms of the constants, and three factors for each device.
struct Space {
    devices: Vec<String>,
    start: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    sigma: Vec<f64>,
}

impl Space {
    fn new(rows: &[&Prepared<'_>]) -> Self {
        let mut devices: Vec<String> =
            rows.iter().map(|row| row.row.device.key.to_string()).collect();
        devices.sort();
        devices.dedup();
        let priors = Coefficients::PRIORS.iter();
        let scales = |(low, high, sigma): (f64, f64, f64)| {
            vec![(0.0, ln(low), ln(high), sigma); devices.len()]
        };
        let all: Vec<(f64, f64, f64, f64)> = priors
            .map(|prior: &Prior| (ln(prior.start), ln(prior.low), ln(prior.high), prior.sigma))
            .chain(scales(MEMORY_SCALE))
            .chain(scales(COMPUTE_SCALE))
            .chain(scales(HOST_SCALE))
            .collect();
        Self {
            start: all.iter().map(|one| one.0).collect(),
            low: all.iter().map(|one| one.1).collect(),
            high: all.iter().map(|one| one.2).collect(),
            sigma: all.iter().map(|one| one.3).collect(),
            devices,
        }
    }

    fn calibration(&self, point: &[f64]) -> Calibration {
        let mut values = [0.0; CONSTANTS];
        for (value, logarithm) in values.iter_mut().zip(point) {
            *value = exp(*logarithm);
        }
        let n = self.devices.len();
        let scales = self.devices.iter().enumerate().map(|(place, device)| DeviceScale {
            device: Text::Owned(device.clone()),
            memory: exp(point[CONSTANTS + place]),
            compute: exp(point[CONSTANTS + n + place]),
            host: exp(point[CONSTANTS + 2 * n + place]),
        });
        Calibration {
            constants: Coefficients::of(&values),
            scales: List::Owned(scales.collect()),
            ..Calibration::FITTED
        }
    }

    /// The device that a parameter belongs to; `None` for a constant.
    fn device(&self, place: usize) -> Option<&str> {
        let place = place.checked_sub(CONSTANTS)? % self.devices.len();
        Some(&self.devices[place])
    }
}

/// Weight of each row: rows of one board, model and engine share a weight, and community rows have half.
/// Steps above the roof, or under a fifth of it with one sequence, are scored but not fitted: they measured something else.
/// Batches with experts are not fitted either: uniform routing counts more expert traffic than they have, and would bias the
/// other constants.
fn weights(rows: &[&Prepared<'_>]) -> Vec<f64> {
    let mut counts: HashMap<&str, f64> = HashMap::new();
    for row in rows {
        *counts.entry(&row.row.group).or_default() += 1.0;
    }
    rows.iter()
        .map(|row| {
            let share = row.ideal / row.row.measured;
            if row.row.set() == Set::DecodeOne && !(0.2..=1.0).contains(&share) {
                return 0.0;
            }
            if row.row.set() == Set::DecodeMany && row.row.has_experts() {
                return 0.0;
            }
            let tier = if row.row.tier == Tier::C { 0.5 } else { 1.0 };
            tier / counts[row.row.group.as_str()].sqrt()
        })
        .collect()
}

/// Fits constants and device factors to rows.
pub fn fit(rows: &[&Prepared<'_>]) -> Calibration {
    let space = Space::new(rows);
    let weights = weights(rows);
    let targets: Vec<f64> = rows.iter().map(|row| ln(row.row.measured.get())).collect();
    let residual = |row: usize, calibration: &Calibration| {
        ln(rows[row].expected(calibration).time.get()) - targets[row]
    };
    let residuals = |point: &[f64]| -> Vec<f64> {
        let calibration = space.calibration(point);
        (0..rows.len()).map(|row| residual(row, &calibration)).collect()
    };
    let loss = |point: &[f64], residuals: &[f64]| {
        let data: f64 = residuals.iter().zip(&weights).map(|(r, w)| w * bent(*r) / SPREAD).sum();
        let prior: f64 = (0..point.len())
            .map(|i| (point[i] - space.start[i]) / space.sigma[i])
            .map(|off| off * off / 2.0)
            .sum();
        data + prior
    };
    let n = space.start.len();
    let mut point = space.start.clone();
    let mut at = residuals(&point);
    let mut best = loss(&point, &at);
    let mut damping = 1e-2;
    for _ in 0..STEPS {
        let (mut matrix, mut right) = (vec![0.0; n * n], vec![0.0; n]);
        let slopes = slopes(rows, &space, &point, &at, &residual);
        for (row, r) in at.iter().enumerate() {
            let weight = weights[row] / bent(*r) / SPREAD;
            if weight == 0.0 {
                continue;
            }
            let slope = &slopes[row];
            for (i, a) in slope {
                right[*i] += weight * a * r;
                for (j, b) in slope {
                    matrix[i * n + j] += weight * a * b;
                }
            }
        }
        for i in 0..n {
            let sigma = space.sigma[i] * space.sigma[i];
            matrix[i * n + i] += 1.0 / sigma;
            right[i] += (point[i] - space.start[i]) / sigma;
        }
        let mut moved = None;
        for _ in 0..8 {
            let step = solve(&matrix, &right, damping);
            let next: Vec<f64> = (0..n)
                .map(|i| (point[i] - step[i].clamp(-0.5, 0.5)).clamp(space.low[i], space.high[i]))
                .collect();
            let there = residuals(&next);
            let value = loss(&next, &there);
            if value < best {
                moved = Some((next, there, value));
                break;
            }
            damping *= 4.0;
        }
        let Some((next, there, value)) = moved else { break };
        let gain = best - value;
        (point, at, best) = (next, there, value);
        damping = (damping / 3.0_f64).max(1e-4);
        if gain < ENOUGH * best.abs() {
            break;
        }
    }
    space.calibration(&point)
}

/// The loss of an error: quadratic when small, linear when large.
fn bent(error: f64) -> f64 {
    let square = error * error + BEND * BEND;
    square.sqrt() // exact everywhere, which a hypotenuse is not
}

/// The Jacobian: derivative of each residual by each parameter, without zeros; a device's factors affect only its own rows.
fn slopes(
    rows: &[&Prepared<'_>],
    space: &Space,
    point: &[f64],
    at: &[f64],
    residual: &impl Fn(usize, &Calibration) -> f64,
) -> Vec<Vec<(usize, f64)>> {
    let mut slopes = vec![Vec::new(); rows.len()];
    for place in 0..point.len() {
        let nudge = if point[place] + NUDGE <= space.high[place] { NUDGE } else { -NUDGE };
        let mut moved = point.to_vec();
        moved[place] += nudge;
        let calibration = space.calibration(&moved);
        for (row, slopes) in slopes.iter_mut().enumerate() {
            if space.device(place).is_some_and(|device| rows[row].row.device.key != device) {
                continue;
            }
            let slope = (residual(row, &calibration) - at[row]) / nudge;
            if slope != 0.0 {
                slopes.push((place, slope));
            }
        }
    }
    slopes
}

/// Solves a symmetric positive-definite system whose diagonal is scaled by `1 + damping`, by Cholesky's method.
fn solve(matrix: &[f64], right: &[f64], damping: f64) -> Vec<f64> {
    let n = right.len();
    let mut l = matrix.to_vec();
    for i in 0..n {
        l[i * n + i] *= 1.0 + damping;
    }
    for j in 0..n {
        for k in 0..j {
            let factor = l[j * n + k];
            for i in j..n {
                l[i * n + j] -= l[i * n + k] * factor;
            }
        }
        let root = l[j * n + j].max(f64::MIN_POSITIVE).sqrt();
        for i in j..n {
            l[i * n + j] /= root;
        }
    }
    let mut x = right.to_vec();
    for i in 0..n {
        for k in 0..i {
            x[i] -= l[i * n + k] * x[k];
        }
        x[i] /= l[i * n + i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] -= l[k * n + i] * x[k];
        }
        x[i] /= l[i * n + i];
    }
    x
}
