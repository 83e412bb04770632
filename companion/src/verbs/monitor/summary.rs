//! The summary of a run, for programs and for people.

use calc_core::units::{Bytes, Hertz, Joules, Seconds, Watts};
use report::number_text as n;
use report::output::json::SCHEMA;
use report::output::summary::Document;
use report::output::table::{Align, Table};
use serde_json::{Map, Value, json};

use super::cards::Card;
use super::energy::MeteredEnergy;
use super::run::Run;
use crate::measure::sensors::Reading;
use crate::output::{Answer, Rows};

/// Length of a tick in which Linux counts CPU time [s]: 100 a second in all its programs' views.
const TICK: f64 = 0.01;
/// Fewer ticks do not tell who used them.
const FEWEST_TICKS: f64 = 20.0;

pub(super) fn answer(run: &Run) -> Answer {
    let figures = Figures::of(run);
    Answer { document: figures.document(run), value: figures.json(run), rows: Rows::One }
}

/// Summary of a run; a missing figure has a reason.
struct Figures {
    cpu: Reading<f64>,
    own: Reading<f64>,
    peak_rss: Reading<f64>,
    others: Reading<f64>,
    steal: Reading<f64>,
    throttled: Reading<f64>,
    clocks: Reading<[f64; 3]>,
    meters: Vec<(String, String, Reading<MeteredEnergy>)>,
}

impl Figures {
    fn of(run: &Run) -> Self {
        let sampler = &run.sampler;
        let (begin, end) = (&sampler.begin, &run.end);
        let waited = || {
            let ticks = end.waited.clone()?.saturating_sub(begin.waited.clone()?);
            Ok::<f64, String>(ticks as f64)
        };
        let cores = || Ok::<_, String>((begin.cores.clone()?, end.cores.clone()?));
        let own = cores().map(|(before, after)| after.own.saturating_sub(before.own) as f64);
        let share = |ticks: &dyn Fn() -> Reading<f64>| {
            let (before, after) = cores()?;
            let all = after.all.saturating_sub(before.all) as f64;
            if all < FEWEST_TICKS {
                return Err("the run was too short for the system's ticks".to_owned());
            }
            Ok(ticks()?.max(0.0) / all)
        };
        let others = || {
            let (before, after) = cores()?;
            Ok(after.busy.saturating_sub(before.busy) as f64 - waited()? - own.clone()?)
        };
        let steal =
            || cores().map(|(before, after)| after.steal.saturating_sub(before.steal) as f64);
        // Processes that still run have used time that nobody has waited for.
        let others = if run.left > 0 {
            Err("processes of the program still run, and their time cannot be told from that of others".into())
        } else {
            share(&others)
        };
        Self {
            cpu: waited().map(|ticks| ticks * TICK),
            own: own.clone().map(|ticks| ticks * TICK),
            peak_rss: if sampler.with_memory > 0 {
                Ok(sampler.peak_rss as f64)
            } else {
                Err("the program ended before its memory was read".into())
            },
            others,
            steal: share(&steal),
            throttled: end.throttled.clone().and_then(|after| Ok(after - begin.throttled.clone()?)),
            clocks: spread(&sampler.clocks).ok_or_else(|| {
                sampler.no_clock.clone().unwrap_or_else(|| "there was no sample".into())
            }),
            meters: sampler
                .meters
                .iter()
                .map(|meter| (meter.name.clone(), meter.source.clone(), meter.energy()))
                .collect(),
        }
    }

    fn json(&self, run: &Run) -> Value {
        let sampler = &run.sampler;
        let mut missing = Map::new();
        let mut or_why = |key: &str, found: &Reading<f64>| match found {
            Ok(value) => json!(value),
            Err(why) => {
                missing.insert(key.into(), why.as_str().into());
                Value::Null
            }
        };
        let wall = run.wall.as_secs_f64();
        let clocks = |at: usize| self.clocks.clone().map(|clocks| clocks[at]);
        let meters: Vec<Value> = self
            .meters
            .iter()
            .map(|(name, source, found)| {
                let energy = found.as_ref().ok();
                json!({
                    "meter": name,
                    "source": source,
                    "energy_j": energy.map(|energy| energy.joules),
                    "mean_w": energy.map(|energy| energy.mean_watts),
                    "max_w": energy.and_then(|energy| energy.most_watts.as_ref().ok()),
                    "power_error": energy.and_then(|energy| energy.error),
                    "reason": found.as_ref().err(),
                })
            })
            .collect();
        let mut value = json!({
            "schema": SCHEMA,
            "command": run.command,
            "exit_code": run.exit_code(),
            "signal": std::os::unix::process::ExitStatusExt::signal(&run.status),
            "wall_s": wall,
            "cpu_s": or_why("cpu_s", &self.cpu),
            "cpu_resolution_s": TICK,
            "cores_used": or_why("cores_used", &self.cpu.clone().map(|cpu| cpu / wall)),
            "peak_rss_byte": or_why("peak_rss_byte", &self.peak_rss),
            "processes": sampler.most_processes,
            "processes_left": run.left,
            "memory_available_min_byte": or_why("memory_available_min_byte", &sampler.memory_available.least()),
            "device": sampler.device.as_ref().map(ToString::to_string),
            "meters": meters,
            "meters_left_out": sampler.meters_left_out,
            "cards": sampler.cards.all.iter().map(Card::json).collect::<Vec<_>>(),
            "clock_min_hz": or_why("clock_min_hz", &clocks(0)),
            "clock_median_hz": or_why("clock_median_hz", &clocks(1)),
            "clock_max_hz": or_why("clock_max_hz", &clocks(2)),
            "throttle_events": or_why("throttle_events", &self.throttled),
            "temperature_max_c": or_why("temperature_max_c", &sampler.temperature.most()),
            "temperature_source": sampler.thermometer.as_ref().map(|it| &it.sensor),
            "cpu_utilization_mean": or_why("cpu_utilization_mean", &sampler.utilization.mean()),
            "cpu_utilization_max": or_why("cpu_utilization_max", &sampler.utilization.most()),
            "others_share": or_why("others_share", &self.others),
            "steal_share": or_why("steal_share", &self.steal),
            "samples": sampler.samples,
            "interval_s": run.interval.as_secs_f64(),
            "longest_gap_s": sampler.longest_gap,
            "monitor_cpu_s": or_why("monitor_cpu_s", &self.own),
        });
        value["missing"] = Value::Object(missing);
        value
    }

    fn document(&self, run: &Run) -> Document {
        let sampler = &run.sampler;
        let mut out = Document::default();
        out.heading(format!("Monitored: {}", run.command.join(" ")));
        let mut table = Table::new(&[
            ("", Align::Left),
            ("value", Align::Right),
            ("source, or why it is missing", Align::Left),
        ]);
        let mut row = |name: &str, found: Reading<String>, source: &str| {
            let (value, said) = match found {
                Ok(value) => (value, source.to_owned()),
                Err(why) => (n::NO_NUMBER.to_owned(), format!("missing: {why}")),
            };
            table.push(vec![name.into(), value, said]);
        };
        let bytes = |value: f64| n::bytes(Bytes::new(value));
        let time = |value: f64| n::time(Seconds::new(value));
        row("wall time", Ok(n::time(Seconds::new(run.wall.as_secs_f64()))), "from start to end");
        row("CPU time", self.cpu.clone().map(time), "ticks of 10 ms, ended processes");
        row("peak memory", self.peak_rss.clone().map(bytes), "RSS of all its processes, sampled");
        row(
            "memory available, least",
            sampler.memory_available.least().map(bytes),
            "/proc/meminfo",
        );
        for (name, source, found) in &self.meters {
            let energy = found.clone();
            row(
                &format!("energy, {name}"),
                energy.map(|it| n::energy(Joules::new(it.joules))),
                source,
            );
            if let Ok(energy) = found {
                let watts = |value: f64| n::power(Watts::new(value));
                let within = energy.error.map_or_else(String::new, |error| {
                    format!(", within {} by the steps of the counter", n::percent(error))
                });
                let source = format!("{source}{within}");
                row(&format!("mean power, {name}"), Ok(watts(energy.mean_watts)), &source);
                let most = energy.most_watts.clone().map(watts);
                row(&format!("largest power, {name}"), most, &source);
            }
        }
        let clocks =
            self.clocks.clone().map(|all| all.map(|clock| n::clock(Hertz::new(clock))).join(", "));
        row("clock: least, median, largest", clocks, "cpufreq, mean over the cores");
        row(
            "throttling events",
            self.throttled.clone().map(|count| count.to_string()),
            "counters of the cores",
        );
        for (name, found, source) in sampler.cards.all.iter().flat_map(Card::rows) {
            row(&name, found, source);
        }
        let celsius = |value: f64| format!("{}{}°C", n::short(value, 3), n::SPACE);
        row(
            "temperature, largest",
            sampler.temperature.most().map(celsius),
            sampler.thermometer.as_ref().map_or("", |it| &it.sensor),
        );
        row(
            "CPU in use, mean",
            sampler.utilization.mean().map(n::percent),
            "/proc/stat, all programs",
        );
        row(
            "other programs",
            self.others.clone().map(n::percent),
            "share of the machine's CPU time",
        );
        row(
            "taken by the host",
            self.steal.clone().map(n::percent),
            "share of the machine's CPU time",
        );
        out.table(table);
        let mut notes = vec![format!(
            "{}, one every {}, the longest gap {}; the program ended with exit code {}",
            n::counted(sampler.samples, "sample", "samples"),
            time(run.interval.as_secs_f64()),
            time(sampler.longest_gap),
            run.exit_code()
        )];
        if let Some(device) = &sampler.device {
            let none =
                if self.meters.is_empty() { "; it has no meter that can be read" } else { "" };
            let left_out = n::counted(sampler.meters_left_out as u64, "meter", "meters");
            notes.push(format!("left out: {left_out} not of {device}{none}"));
        }
        if run.left > 0 {
            let left = n::counted(run.left, "process", "processes");
            notes.push(format!("still running: {left} that it started, not counted to the end"));
        }
        out.notes(notes);
        out
    }
}

/// Least, median and largest.
fn spread(values: &[f64]) -> Option<[f64; 3]> {
    let sorted = kernels::stats::sorted(values)?;
    Some([*sorted.first()?, kernels::stats::median(values)?, *sorted.last()?])
}
