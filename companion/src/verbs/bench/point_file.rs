//! A file of measured or predicted points, JSON lines, which is continued: points that it has are left out.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, ValueHint, value_parser};
use kernels::backend::{Cache, DeviceId, GemmShape, GemvShape, Kernel};
use kernels::cpu::threads::Cores;
use kernels::measure::StopRule;
use report::number_text::counted;
use report::output::json::bench::BenchJson;
use report::output::summary::bench_remarks;
use serde_json::{Value, json};

use super::expected::Expectation;
use super::flags::Settings;
use super::point::{self, say};
use super::predicted;
use crate::failure::Failure;
use crate::files;
use crate::files::Output;

/// The flag that names the file.
pub(super) fn out() -> Arg {
    let out = Arg::new("out").long("out").value_name("FILE").value_hint(ValueHint::FilePath);
    out.value_parser(value_parser!(PathBuf)).help(
        "Output file: JSON lines, one record per point; points that it already has are skipped, so an interrupted run is continued",
    )
}

/// An open file, with the names of the points that it had.
pub(super) struct PointFile {
    path: PathBuf,
    file: File,
    done: HashSet<String>,
}

impl PointFile {
    /// Opens a file for points that come about in one way.
    ///
    /// # Errors
    /// A file that is none of these, or has points of another way.
    pub(super) fn open(path: &Path, way: &str) -> Result<Self, Failure> {
        let (file, done) = open(path, way)?;
        Ok(Self { path: path.to_owned(), file, done })
    }

    /// Leaves out the points that the file has, with a note.
    pub(super) fn skip(&self, points: &mut Vec<(Kernel, Cache)>) {
        let all = points.len();
        points.retain(|(kernel, cache)| !self.done.contains(&name(*kernel, *cache)));
        if points.len() < all {
            let (had, path) = (all - points.len(), self.path.display());
            let all = counted(all as u64, "point", "points");
            say(&format!("{had} of {all} in {path} already"));
        }
    }

    /// Writes a record as a line at once, so that an interruption leaves whole lines.
    pub(super) fn write(&mut self, record: &Value) -> Result<(), Failure> {
        let line = format!("{record}\n");
        let written = self.file.write_all(line.as_bytes());
        let written = written.and_then(|()| match self.file.sync_data() {
            // A device such as /dev/null cannot be synced.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        });
        written.map_err(|error| files::unwritten(&self.path, &error))
    }

    /// Measures points and writes each record.
    pub(super) fn measure(
        &mut self,
        matches: &ArgMatches,
        settings: Settings,
        points: &[(Kernel, Cache)],
    ) -> Result<(), Failure> {
        if settings.sustained.is_some() {
            return Err(Failure::bad(
                "--sustained and --out exclude each other: a file that can be continued has one record of each point",
            ));
        }
        let expectation = Expectation::of(matches, &settings)?;
        let mut written: Vec<BenchJson> = Vec::new();
        let measured = point::each(settings, points, |mut record| {
            expectation.add(&mut record);
            self.write(&json!(record))?;
            // The samples of thousands of points are in the file alone.
            record.samples_s.clear();
            written.push(record);
            Ok(())
        });
        for line in doubts(&written) {
            say(&line);
        }
        self.summarize("measured", written.len());
        measured
    }

    /// Says how many points were added in this run, and where they are.
    pub(super) fn summarize(&self, how: &str, new: usize) {
        let (new, all) = (new as u64, (self.done.len() + new) as u64);
        let (new, all) = (counted(new, "point", "points"), counted(all, "point", "points"));
        say(&format!("{new} {how} and written to {}, which has {all}", self.path.display()));
    }
}

/// The number of records that have a flag, and what each flag says.
fn doubts(records: &[BenchJson]) -> Vec<String> {
    let flagged = records.iter().filter(|record| !record.flags.is_empty()).count();
    if flagged == 0 {
        return Vec::new();
    }
    let all = counted(records.len() as u64, "record", "records");
    let head = format!("{flagged} of {all} with a flag, which makes a figure doubtful:");
    let remarks = bench_remarks(records).into_iter().map(|remark| format!("  {remark}"));
    [head].into_iter().chain(remarks).collect()
}

fn open(path: &Path, way: &str) -> Result<(File, HashSet<String>), Failure> {
    let refused = |why: &str| Failure::bad(format!("{}: {why}", path.display()));
    let kind = files::output(path).map_err(|why| refused(&why))?;
    let text = if kind == Output::File && path.exists() {
        files::read_text(path).map_err(|why| refused(&why))?
    } else {
        String::new()
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() && !text[whole..].starts_with('{') {
        return Err(refused("it is not a sweep file; choose another name"));
    }
    let mut done = HashSet::new();
    for (index, line) in text[..whole].lines().enumerate() {
        let value = serde_json::from_str::<Value>(line).ok();
        let name = value.as_ref().and_then(name_of_record);
        // Points measured with other settings would be taken for answers to this request.
        if let Some(other) = value.as_ref().and_then(way_of_record).filter(|other| other != way) {
            return Err(refused(&format!(
                "line {} was made with {other}, but this request has {way}; choose another name",
                index + 1
            )));
        }
        done.insert(name.ok_or_else(|| {
            refused(&format!("line {} is not a record of bench; choose another name", index + 1))
        })?);
    }
    let file = OpenOptions::new().create(true).append(true).open(path);
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => refused("there is no such folder"),
        _ => refused(&files::said(&error)),
    })?;
    // An interruption left an incomplete last line.
    if kind == Output::File {
        file.set_len(whole as u64).map_err(|error| refused(&files::said(&error)))?;
    }
    Ok((file, done))
}

/// The settings that change a result, apart from the point itself.
pub(super) fn way(settings: &Settings) -> String {
    let threads = settings.threads.unwrap_or_else(|| Cores::of_this_process().usual());
    let samples = match settings.plan.rule {
        StopRule::Iterations(n) => Some(n as u64),
        StopRule::Certain { .. } => None,
    };
    in_words(&settings.device.to_string(), threads as u64, samples)
}

fn way_of_record(record: &Value) -> Option<String> {
    if let Some(way) = predicted::way_of_record(record) {
        return Some(way);
    }
    let threads = record["conditions"]["threads"].as_u64()?;
    // Records of earlier versions have no index; it was 0.
    let (backend, index) = (record["backend"].as_str()?, record["index"].as_u64().unwrap_or(0));
    Some(in_words(&format!("{backend}:{index}"), threads, record["stop_rule"]["n"].as_u64()))
}

fn in_words(device: &str, threads: u64, samples: Option<u64>) -> String {
    let by = if device == DeviceId::CPU.to_string() {
        format!("--threads {threads}")
    } else {
        format!("--device {device}")
    };
    match samples {
        Some(n) => format!("{by} and {}", counted(n, "sample", "samples")),
        None => format!("{by} until the median is certain"),
    }
}

/// The name of a point: kernel, format, sizes, cache.
pub(super) fn name(kernel: Kernel, cache: Cache) -> String {
    let (m, n, k, weights) = match kernel {
        Kernel::Gemv(GemvShape { layout, m, n, k }) => (m, n, k, layout.key()),
        Kernel::Gemm(GemmShape { element, m, n, k }) => (m, n, k, element.key()),
        _ => {
            let sizes = kernel.sizes().into_iter().map(|(name, size)| (name.to_owned(), size));
            return sized(kernel.key(), kernel.stored_format(), &sizes.collect(), cache.key());
        }
    };
    format!("{} {weights} {m} {n} {k} {}", kernel.key(), cache.key())
}

fn name_of_record(record: &Value) -> Option<String> {
    let (kernel, cache) = (record["kernel"].as_str()?, record["cache"].as_str()?);
    let shape = &record["shape"];
    let side = |key: &str| shape[key].as_u64();
    match (record["precision"]["weights"].as_str(), side("m"), side("n"), side("k")) {
        (Some(weights), Some(m), Some(n), Some(k)) => {
            Some(format!("{kernel} {weights} {m} {n} {k} {cache}"))
        }
        (weights, ..) => {
            let sizes = record["sizes"].as_object().into_iter().flatten();
            let sizes = sizes.filter_map(|(name, size)| Some((name.clone(), size.as_u64()?)));
            Some(sized(kernel, weights, &sizes.collect(), cache))
        }
    }
}

/// Name of a kernel with sizes by name; of one without sizes and format, its key and cache.
fn sized(kernel: &str, format: Option<&str>, sizes: &BTreeMap<String, u64>, cache: &str) -> String {
    let sizes = sizes.iter().map(|(name, size)| format!("{name}={size}"));
    let words = [kernel.to_owned()].into_iter().chain(format.map(str::to_owned)).chain(sizes);
    words.chain([cache.to_owned()]).collect::<Vec<_>>().join(" ")
}
