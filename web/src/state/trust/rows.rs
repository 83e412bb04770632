//! Rows of measurements that `cargo xtask fit` wrote for the page. They are part of the view's chunk, so that a single request
//! loads both. Malformed lines are skipped; a test checks that there are none.

use std::sync::OnceLock;

/// Output of the fit; its header describes the columns.
const FILE: &str = include_str!("../../../assets/trust.csv");

/// A set of rows that are evaluated together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSet {
    /// Key in the address.
    pub key: &'static str,
    pub name: &'static str,
}

/// Prediction for a row by a fit that left it out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Predicted time [s].
    pub time: f64,
    /// Ends of the interval, as multiples of the time.
    pub ends: (f64, f64),
    /// The measurement is within the interval.
    pub inside: bool,
}

/// A published measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedRow {
    /// Unique id.
    pub id: &'static str,
    /// Index of its set.
    pub set: usize,
    /// Quality of the source: A, B or C.
    pub tier: &'static str,
    /// Key of the device.
    pub device: &'static str,
    /// Engine as published.
    pub engine: &'static str,
    /// Key of the model, or the shape of an operator.
    pub what: &'static str,
    /// Number of sequences, or tokens of a matrix product.
    pub batch: u64,
    /// New tokens of each sequence.
    pub new: u64,
    /// Cached tokens of each sequence.
    pub cached: u64,
    /// Key of the format.
    pub format: &'static str,
    /// Faster than the datasheet allows for the counted bytes and FLOP.
    pub above_roof: bool,
    /// Measured time [s].
    pub measured: f64,
    /// By a fit without the row's group, and by a fit without its device.
    pub predicted: [Prediction; 2],
    /// URL of the source, sometimes followed by a remark.
    pub source: &'static str,
}

impl PublishedRow {
    /// The URL without the remark.
    pub fn link(&self) -> &'static str {
        self.source.split(' ').next().unwrap_or_default()
    }

    /// Relative error of the prediction: predicted over measured, minus 1.
    pub fn error(&self, unseen: bool) -> f64 {
        self.predicted[usize::from(unseen)].time / self.measured - 1.0
    }
}

/// Contents of the file.
#[derive(Debug, Default)]
pub struct PublishedRows {
    /// Sets, in the order of the tables.
    pub sets: Vec<RowSet>,
    /// Rows, in the order of the source files.
    pub rows: Vec<PublishedRow>,
}

/// The rows, parsed on first access.
pub fn rows() -> &'static PublishedRows {
    static ROWS: OnceLock<PublishedRows> = OnceLock::new();
    ROWS.get_or_init(|| read(FILE))
}

fn read(file: &'static str) -> PublishedRows {
    let (mut found, mut sources) = (PublishedRows::default(), Vec::new());
    for line in file.lines() {
        let Some((first, rest)) = line.split_once(',') else { continue };
        match first {
            "set" => {
                found.sets.extend(rest.split_once(',').map(|(key, name)| RowSet { key, name }));
            }
            "source" => sources.push(rest),
            "id" => {}
            id => found.rows.extend(row(id, rest, &found.sets, &sources)),
        }
    }
    found
}

fn row(
    id: &'static str,
    rest: &'static str,
    sets: &[RowSet],
    sources: &[&'static str],
) -> Option<PublishedRow> {
    let mut cells = rest.split(',');
    let set = cells.next().and_then(|key| sets.iter().position(|set| set.key == key))?;
    let mut text = || cells.next();
    let [tier, device, engine, what] = [text()?, text()?, text()?, text()?];
    let mut number = || cells.next()?.parse::<u64>().ok();
    let [batch, new, cached] = [number()?, number()?, number()?];
    let format = cells.next()?;
    let mut number = || cells.next()?.parse::<u64>().ok();
    let (above, measured) = (number()?, number()?);
    let mut prediction = || {
        Some(Prediction {
            time: seconds(number()?),
            ends: (share(number()?), share(number()?)),
            inside: number()? == 1,
        })
    };
    let predicted = [prediction()?, prediction()?];
    let source = usize::try_from(number()?).ok().and_then(|place| sources.get(place))?;
    Some(PublishedRow {
        id,
        set,
        tier,
        device,
        engine,
        what,
        batch,
        new,
        cached,
        format,
        above_roof: above == 1,
        measured: seconds(measured),
        predicted,
        source,
    })
}

const fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 * 1e-9
}

const fn share(ten_thousandths: u64) -> f64 {
    ten_thousandths as f64 * 1e-4
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog;
    use report::output::accuracy::{Pair, errors};

    #[test]
    fn every_line_is_read_and_names_what_the_catalog_has() {
        let all = rows();
        let lines = FILE
            .lines()
            .filter(|line| !["set,", "source,", "id,"].iter().any(|start| line.starts_with(start)));
        assert_eq!(lines.count(), all.rows.len());
        let left_out = include_str!("../../../../calc-core/validation/data/left-out.csv");
        assert_eq!((all.sets.len(), all.rows.len()), (7, left_out.lines().count() - 1));
        for row in &all.rows {
            assert!(catalog::device(row.device).is_ok(), "{}", row.device);
            assert!(catalog::format(row.format).is_ok(), "{}", row.format);
            assert!(row.link().starts_with("https://"), "{}", row.source);
            assert!(row.measured > 0.0 && row.predicted.iter().all(|one| one.time > 0.0));
        }
    }

    #[test]
    fn a_broken_line_is_left_out() {
        let whole = "set,gemm,GEMM\nsource,https://a.example\nx,gemm,A,t4,vllm,8 x 8,1,0,0,fp16,0,10,20,9000,11000,1,30,8000,12000,0,0\n";
        assert_eq!(read(whole).rows.len(), 1);
        assert_eq!(read("set,gemm,GEMM\nx,gemm,A,t4,vllm\n").rows.len(), 0);
    }

    /// The tables of the docs are computed from exact times; the file stores four digits.
    #[test]
    fn the_errors_are_those_of_the_docs() {
        let docs = include_str!("../../../../docs/theory/accuracy-tables.md");
        let (groups, devices) =
            (section(docs, "Left out: a board"), section(docs, "Left out: a device"));
        for (unseen, table) in [(false, groups), (true, devices)] {
            for (place, set) in rows().sets.iter().enumerate() {
                let line =
                    table.lines().find(|line| line.starts_with(&format!("| {} |", set.name)));
                let cells: Vec<f64> = line
                    .unwrap_or_else(|| panic!("no line of {}", set.name))
                    .split('|')
                    .filter_map(|cell| cell.trim().trim_end_matches(" %").parse().ok())
                    .collect();
                let own = rows().rows.iter().filter(|row| row.set == place);
                let found = errors(own.map(|row| Pair {
                    device: row.device,
                    error: row.error(unseen),
                    inside: row.predicted[usize::from(unseen)].inside,
                }))
                .expect("rows");
                let all = found.percentiles.expect("ten rows");
                let shares = [all.median, all.p90, all.bias, found.macro_median, found.macro_p90];
                for (share, cell) in shares.iter().zip(&cells[2..]) {
                    assert!((share * 100.0 - cell).abs() < 0.11, "{} {share} {cell}", set.name);
                }
                let whole = [found.rows as f64, found.devices as f64];
                assert_eq!(
                    (whole.as_slice(), (found.inside * 100.0).round()),
                    (&cells[..2], cells[7])
                );
            }
        }
    }

    fn section<'a>(docs: &'a str, title: &str) -> &'a str {
        let start = docs.find(&format!("### {title}")).expect("a table");
        let rest = &docs[start + 4..];
        &rest[..rest.find("###").unwrap_or(rest.len())]
    }
}
