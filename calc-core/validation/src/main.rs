//! `fit`: fits the constants to the published measurements, scores them on held-out rows, and writes constants, held-out
//! predictions and tables into the project. Takes minutes on two cores; the same rows give the same bytes.

mod page;
mod write;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use calc_core::calibration::{Calibration, Interval, Intervals};
use validation::fit::fit;
use validation::folds::LeaveOut;
use validation::pairs::pair_ratios;
use validation::predict::Prepared;
use validation::row::Set;
use validation::score::{Scored, percentile};
use validation::{prepared, published};

/// Quantiles of the held-out measurements at the two ends of an interval.
const ENDS: (f64, f64) = (0.1, 0.9);

fn main() -> Result<(), String> {
    let file = published()?;
    if let Some((line, reason)) = file.refused.first() {
        return Err(format!("line {line}: {reason}"));
    }
    let rows = prepared(&file)?;
    let all: Vec<&Prepared<'_>> = rows.iter().collect();
    let mut fitted = write::rounded(&fit(&all));
    let left_out: Vec<(LeaveOut, Vec<f64>)> =
        LeaveOut::ALL.into_iter().map(|leave| (leave, cross_validate(leave, &rows))).collect();
    let of = |leave| {
        let found = left_out.iter().find(|(other, _)| *other == leave);
        found.map_or(&[] as &[f64], |(_, times)| times.as_slice())
    };
    fitted.intervals =
        write::rounded_intervals(&intervals(&rows, of(LeaveOut::Group), of(LeaveOut::Device)));
    let tables: Vec<(String, Vec<Scored<'_>>)> = [("Nothing left out", None)]
        .into_iter()
        .chain(left_out.iter().map(|(leave, times)| (leave.title(), Some((*leave, times)))))
        .map(|(title, times)| (title.to_owned(), scored(&rows, &fitted, times)))
        .collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    write::all(&root, &fitted, &rows, &tables).map_err(|error| error.to_string())
}

/// Predicts every row by a fit without it.
fn cross_validate(leave: LeaveOut, rows: &[Prepared<'_>]) -> Vec<f64> {
    let folds = leave.folds(rows);
    let next = AtomicUsize::new(0);
    let times = Mutex::new(vec![0.0; rows.len()]);
    let work = || {
        while let Some(left) = folds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let kept: Vec<&Prepared<'_>> = rows
                .iter()
                .enumerate()
                .filter(|(at, _)| !left.contains(at))
                .map(|(_, row)| row)
                .collect();
            let without = fit(&kept);
            let predicted = left.iter().map(|at| (*at, rows[*at].expected(&without).time.get()));
            if let Ok(mut times) = times.lock() {
                predicted.for_each(|(at, time)| times[at] = time);
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    eprintln!("{}: {} fits", leave.title(), folds.len());
    times.into_inner().unwrap_or_default()
}

/// Intervals that contain about 80 % of the held-out measurements: with the device in the fit, and without.
fn intervals(rows: &[Prepared<'_>], known: &[f64], unseen: &[f64]) -> Intervals {
    let pair = |keep: &dyn Fn(Set) -> bool| {
        [known, unseen].map(|times| {
            let mut ratios: Vec<f64> = rows
                .iter()
                .zip(times)
                .filter(|(row, _)| keep(row.row.set()))
                .map(|(row, time)| row.row.measured.get() / time)
                .collect();
            Interval { low: percentile(&mut ratios, ENDS.0), high: percentile(&mut ratios, ENDS.1) }
        })
    };
    Intervals {
        decode: pair(&|set| set == Set::DecodeOne),
        batched: pair(&|set| set == Set::DecodeMany),
        prefill: pair(&|set| matches!(set, Set::Prefill | Set::PrefillC)),
        alone: pair(&Set::is_alone),
        pairs: pair_ratios(
            &rows.iter().map(|row| row.row).zip(unseen.iter().copied()).collect::<Vec<_>>(),
        ),
    }
}

/// Every row with a prediction: by the fit of all rows, or by the fit that held it out.
fn scored<'a>(
    rows: &'a [Prepared<'a>],
    fitted: &Calibration,
    left_out: Option<(LeaveOut, &Vec<f64>)>,
) -> Vec<Scored<'a>> {
    let mut calibration = fitted.clone();
    if matches!(left_out, Some((LeaveOut::Device, _))) {
        calibration.scales = calc_core::text::List::Borrowed(&[]); // the interval of an unseen device
    }
    rows.iter()
        .enumerate()
        .map(|(at, row)| {
            let expected = row.expected(&calibration);
            let predicted = left_out.map_or(expected.time.get(), |(_, times)| times[at]);
            let share = predicted / expected.time.get();
            Scored {
                row: row.row,
                predicted,
                interval: (expected.low.get() * share, expected.high.get() * share),
                above_roof: row.is_above_roof(),
            }
        })
        .collect()
}
