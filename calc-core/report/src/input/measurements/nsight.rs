//! `ncu --csv`: a line per metric of a launch (the page of details), or a line per launch (`--page raw`), whose second line has
//! the units. Lines of the profiler and of the program may stand around them.

use calc_core::units::{Bytes, Seconds};

use super::error::MeasurementError;
use super::record::clipped;
use super::{
    BenchTool, Comparable, MeasuredFile, MeasuredRun, MeasuredTime, MeasuredWork, RunRemark,
    Statistic,
};
use crate::input::{csv_line, number_input};

/// Units of a time with their number per second: the short ones since 2024, the long ones before.
const TIMES: [(&str, f64); 9] = [
    ("ns", 1e9),
    ("nsecond", 1e9),
    ("us", 1e6),
    ("µs", 1e6),
    ("usecond", 1e6),
    ("ms", 1e3),
    ("msecond", 1e3),
    ("s", 1.0),
    ("second", 1.0),
];
/// Units of an amount of data, in bytes; the profiler's prefixes are decimal.
const AMOUNTS: [(&str, f64); 6] =
    [("byte", 1.0), ("B", 1.0), ("Kbyte", 1e3), ("Mbyte", 1e6), ("Gbyte", 1e9), ("Tbyte", 1e12)];
/// Names of the duration: the metric, and its name on the page of details.
const DURATIONS: [&str; 2] = ["gpu__time_duration.sum", "Duration"];
const ALL_TRAFFIC: &str = "dram__bytes.sum";
const READ_AND_WRITTEN: [&str; 2] = ["dram__bytes_read.sum", "dram__bytes_write.sum"];

/// Time [s] of a launch and its DRAM traffic [B], where the profiler counted it.
type Timed = (f64, Option<f64>);

/// A launch of a kernel.
#[derive(Debug, Default)]
struct Launch {
    id: String,
    kernel: String,
    duration: Option<f64>,
    all: Option<f64>,
    moved: [Option<f64>; 2],
}

/// Reads the launches; `None` for text without a header of the profiler.
pub(super) fn read(text: &str) -> Result<Option<MeasuredFile>, MeasurementError> {
    if text.starts_with("build_commit,") {
        return Err(MeasurementError::OtherForm {
            found: "a CSV of llama-bench",
            instead: "give its output of `-o json` or `-o jsonl`",
        });
    }
    let mut lines = text.lines().enumerate();
    let is_header = |line: &str| line.contains("Kernel Name") && line.contains("ID");
    let Some((_, header)) = lines.find(|(_, line)| is_header(line)) else {
        if text.starts_with("==PROF==") {
            return Err(missing("a header with ID and Kernel Name".into()));
        }
        return Ok(None);
    };
    let header = csv_line::cells(header)
        .map_err(|reason| MeasurementError::Line { place: "the header".into(), reason })?;
    let rows: Vec<(usize, Vec<String>)> = lines
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with("=="))
        .filter_map(|(index, line)| Some((index + 1, csv_line::cells(line).ok()?)))
        .filter(|(_, cells)| cells.len() == header.len())
        .collect();
    let column = |name: &str| header.iter().position(|known| known == name);
    let (Some(id), Some(kernel)) = (column("ID"), column("Kernel Name")) else {
        return Err(missing("a header with ID and Kernel Name".into()));
    };
    let launches = match [column("Metric Name"), column("Metric Unit"), column("Metric Value")] {
        [Some(name), Some(unit), Some(value)] => long(&rows, [id, kernel, name, unit, value])?,
        _ => wide(&header, &rows, [id, kernel])?,
    };
    Ok(Some(MeasuredFile { tool: BenchTool::NsightCompute, runs: runs(launches)? }))
}

fn missing(field: String) -> MeasurementError {
    MeasurementError::Missing {
        place: "the file".into(),
        field,
        tool: BenchTool::NsightCompute.name(),
        expected: "a CSV of `ncu --csv` with the duration of each launch",
    }
}

/// A line per metric.
fn long(
    rows: &[(usize, Vec<String>)],
    [id, kernel, name, unit, value]: [usize; 5],
) -> Result<Vec<Launch>, MeasurementError> {
    let mut launches: Vec<Launch> = Vec::new();
    for (line, cells) in rows {
        if launches.last().is_none_or(|last| last.id != cells[id]) {
            let (id, kernel) = (cells[id].clone(), cells[kernel].clone());
            launches.push(Launch { id, kernel, ..Launch::default() });
        }
        if let Some(launch) = launches.last_mut() {
            launch.take(*line, &cells[name], &cells[unit], &cells[value])?;
        }
    }
    Ok(launches)
}

/// A line per launch, after the line with the units.
fn wide(
    header: &[String],
    rows: &[(usize, Vec<String>)],
    [id, kernel]: [usize; 2],
) -> Result<Vec<Launch>, MeasurementError> {
    let Some(((_, units), rows)) =
        rows.split_first().filter(|((_, units), _)| units[id].is_empty())
    else {
        return Err(missing("the line of units after the header".into()));
    };
    let mut launches = Vec::new();
    for (line, cells) in rows {
        let mut launch =
            Launch { id: cells[id].clone(), kernel: cells[kernel].clone(), ..Launch::default() };
        for ((name, unit), value) in header.iter().zip(units).zip(cells) {
            launch.take(*line, name, unit, value)?;
        }
        launches.push(launch);
    }
    Ok(launches)
}

impl Launch {
    /// Takes a metric, if it is one of those that are compared.
    fn take(
        &mut self,
        line: usize,
        name: &str,
        unit: &str,
        value: &str,
    ) -> Result<(), MeasurementError> {
        let time = |value| in_unit(line, name, (unit, &TIMES, "a time in ns, us, ms or s"), value);
        let amount = |value| {
            in_unit(line, name, (unit, &AMOUNTS, "an amount in byte, Kbyte, Mbyte or Gbyte"), value)
        };
        if DURATIONS.contains(&name) {
            let number = time(value)?;
            let seconds =
                TIMES.iter().find(|(known, _)| *known == unit).map(|(_, per)| number / per);
            self.duration = seconds.filter(|seconds| *seconds > 0.0 && *seconds < 1e9);
            if self.duration.is_none() {
                return Err(wrong(line, name, "a time above 0", value));
            }
        } else if name == ALL_TRAFFIC || READ_AND_WRITTEN.contains(&name) {
            let number = amount(value)?;
            let bytes = AMOUNTS
                .iter()
                .find(|(known, _)| *known == unit)
                .map(|(_, in_bytes)| number * in_bytes);
            match READ_AND_WRITTEN.iter().position(|known| *known == name) {
                Some(way) => self.moved[way] = bytes,
                None => self.all = bytes,
            }
        }
        Ok(())
    }

    /// Bytes that the launch moved, if the profiler counted them.
    fn traffic(&self) -> Option<f64> {
        self.all.or_else(|| self.moved[0].zip(self.moved[1]).map(|(read, written)| read + written))
    }
}

/// A number from 0 in a known unit.
fn in_unit(
    line: usize,
    name: &str,
    (unit, known, expected): (&str, &[(&str, f64)], &'static str),
    value: &str,
) -> Result<f64, MeasurementError> {
    if !known.iter().any(|(name, _)| *name == unit) {
        return Err(wrong(line, name, expected, &format!("{value} {unit}")));
    }
    let number = number_input::real(value).filter(|number| (0.0..=1e18).contains(number));
    number.ok_or_else(|| wrong(line, name, expected, value))
}

fn wrong(line: usize, name: &str, expected: &'static str, got: &str) -> MeasurementError {
    MeasurementError::Wrong {
        place: format!("line {line}"),
        field: clipped(name),
        expected,
        got: format!("`{}`", clipped(got)),
    }
}

/// A run for each kernel with the median of its launches, in the order of the first ones.
fn runs(launches: Vec<Launch>) -> Result<Vec<MeasuredRun>, MeasurementError> {
    let mut kernels: Vec<(String, Vec<Timed>)> = Vec::new();
    for launch in launches {
        let time = launch.duration.ok_or_else(|| MeasurementError::Missing {
            place: format!("the launch {} of {}", clipped(&launch.id), clipped(&launch.kernel)),
            field: DURATIONS[0].into(),
            tool: BenchTool::NsightCompute.name(),
            expected: "a time, which `--metrics gpu__time_duration.sum` adds",
        })?;
        let found = (time, launch.traffic());
        match kernels.iter_mut().find(|(kernel, _)| *kernel == launch.kernel) {
            Some((_, times)) => times.push(found),
            None => kernels.push((launch.kernel, vec![found])),
        }
    }
    Ok(kernels.into_iter().map(|(kernel, times)| run(kernel, times)).collect())
}

fn run(kernel: String, mut launches: Vec<Timed>) -> MeasuredRun {
    launches.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = launches.len();
    // With an even count the median is the lower of the two middle launches, so that time and traffic come from one launch.
    let (time, traffic) = launches[(count - 1) / 2];
    MeasuredRun {
        label: kernel,
        needs: &["m", "n", "k", "weights"],
        remarks: if count > 1 { vec![RunRemark::Launches(count)] } else { vec![] },
        times: vec![MeasuredTime {
            work: MeasuredWork::Kernel,
            time: Seconds::new(time),
            statistic: Statistic::Median,
            told: vec![],
            fixed: vec![],
            tokens: None,
            traffic: traffic.map(Bytes::new),
            judged: Comparable::Interval,
        }],
        ..MeasuredRun::default()
    }
}
