//! Reads the sensors at intervals, and keeps what the summary needs of them.

use std::path::Path;
use std::process;
use std::time::Instant;

use super::energy::Metered;
use crate::measure::process_tree::{self, TreeMemory};
use crate::measure::sensors::{CoreTime, Reading, Sensors};

/// One reading of all sensors.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    /// Time since the program was started [s].
    pub(super) t: f64,
    /// Share of the machine's cores that is in use.
    pub(super) utilization: Reading<f64>,
    pub(super) tree: TreeMemory,
    /// [B]
    pub(super) memory_available: Reading<f64>,
    /// [Hz]
    pub(super) clock: Reading<f64>,
    /// [°C]
    pub(super) temperature: Reading<f64>,
    /// Power of each meter, in the order of the sampler's meters [W].
    pub(super) power: Vec<Reading<f64>>,
}

/// Mean, least and largest of a sensor.
#[derive(Debug, Clone, Default)]
pub(super) struct Statistic {
    n: f64,
    sum: f64,
    pub(super) least: Option<f64>,
    pub(super) most: Option<f64>,
    missing: Option<String>,
}

impl Statistic {
    fn take(&mut self, found: &Reading<f64>) {
        match found {
            Ok(value) => {
                self.n += 1.0;
                self.sum += value;
                self.least = Some(self.least.map_or(*value, |least| least.min(*value)));
                self.most = Some(self.most.map_or(*value, |most| most.max(*value)));
            }
            Err(why) => self.missing = Some(why.clone()),
        }
    }

    /// The mean, or why there is none.
    pub(super) fn mean(&self) -> Reading<f64> {
        let why = || self.missing.clone().unwrap_or_else(|| "there was no sample".into());
        if self.n > 0.0 { Ok(self.sum / self.n) } else { Err(why()) }
    }
}

/// Counters at the begin and at the end.
#[derive(Debug, Clone)]
pub(super) struct RunCounters {
    pub(super) cores: Reading<CoreTime>,
    /// CPU time of ended processes of this one [ticks].
    pub(super) waited: Reading<u64>,
    pub(super) throttled: Reading<f64>,
}

/// The sensors during a run.
#[derive(Debug)]
pub(super) struct Sampler {
    sensors: Sensors,
    started: Instant,
    last_cores: Reading<CoreTime>,
    pub(super) begin: RunCounters,
    pub(super) meters: Vec<Metered>,
    pub(super) utilization: Statistic,
    pub(super) memory_available: Statistic,
    pub(super) temperature: Statistic,
    /// Sensor of the temperature.
    pub(super) thermometer: Option<String>,
    /// Clock in every sample [Hz].
    pub(super) clocks: Vec<f64>,
    pub(super) no_clock: Option<String>,
    pub(super) samples: u64,
    /// Samples in which the program had memory.
    pub(super) with_memory: u64,
    /// Largest memory of the tree [B], and number of its processes.
    pub(super) peak_rss: u64,
    pub(super) most_processes: u64,
    last_t: f64,
    /// Longest time between two samples [s].
    pub(super) longest_gap: f64,
}

impl Sampler {
    /// Reads the sensors before the program runs.
    pub(super) fn begin() -> Self {
        let sensors = Sensors::here();
        let begin = counters(&sensors);
        let found = sensors.meters();
        let mut meters: Vec<Metered> = found.iter().map(Metered::new).collect();
        for (metered, meter) in meters.iter_mut().zip(&found) {
            // The first reading of a counter has no power yet.
            let _ = metered.take(0.0, &meter.shows);
        }
        Self {
            started: Instant::now(),
            last_cores: begin.cores.clone(),
            begin,
            meters,
            utilization: Statistic::default(),
            memory_available: Statistic::default(),
            temperature: Statistic::default(),
            thermometer: sensors.temperature().ok().map(|found| found.sensor),
            clocks: Vec::new(),
            no_clock: None,
            samples: 0,
            with_memory: 0,
            peak_rss: 0,
            most_processes: 0,
            last_t: 0.0,
            longest_gap: 0.0,
            sensors,
        }
    }

    /// Reads all sensors now.
    pub(super) fn sample(&mut self) -> Sample {
        let t = self.started.elapsed().as_secs_f64();
        let meters = self.sensors.meters();
        // The memory of the program is read next, because it may end soon.
        let tree = process_tree::below(Path::new("/"), process::id());
        let sample = Sample {
            t,
            utilization: self.busy(),
            tree,
            memory_available: self.sensors.memory_available(),
            clock: self.sensors.core_clock(),
            temperature: self.sensors.temperature().map(|found| found.celsius),
            power: self.power(t, &meters),
        };
        self.keep(&sample);
        sample
    }

    fn keep(&mut self, sample: &Sample) {
        self.samples += 1;
        self.longest_gap = self.longest_gap.max(sample.t - self.last_t);
        self.last_t = sample.t;
        self.utilization.take(&sample.utilization);
        self.memory_available.take(&sample.memory_available);
        self.temperature.take(&sample.temperature);
        match &sample.clock {
            Ok(clock) => self.clocks.push(*clock),
            Err(why) => self.no_clock = Some(why.clone()),
        }
        self.with_memory += u64::from(sample.tree.rss > 0);
        // The largest amount of one process is also known between samples.
        self.peak_rss = self.peak_rss.max(sample.tree.rss).max(sample.tree.most_of_one);
        self.most_processes = self.most_processes.max(sample.tree.processes);
    }

    fn power(
        &mut self,
        t: f64,
        found: &[crate::measure::sensors::PowerMeter],
    ) -> Vec<Reading<f64>> {
        let of = |metered: &mut Metered| {
            let now = found.iter().find(|it| it.source == metered.source);
            let gone = Err("the meter disappeared".to_owned());
            metered.take(t, now.map_or(&gone, |now| &now.shows))
        };
        self.meters.iter_mut().map(of).collect()
    }

    /// Utilization since the last sample.
    fn busy(&mut self) -> Reading<f64> {
        let now = self.sensors.core_time();
        let before = std::mem::replace(&mut self.last_cores, now.clone())?;
        let now = now?;
        let all = now.all.saturating_sub(before.all);
        if all == 0 {
            return Err("the window is too short for the system's ticks".into());
        }
        Ok(now.busy.saturating_sub(before.busy) as f64 / all as f64)
    }

    /// Reads the counters again.
    pub(super) fn end(&self) -> RunCounters {
        counters(&self.sensors)
    }
}

fn counters(sensors: &Sensors) -> RunCounters {
    RunCounters {
        cores: sensors.core_time(),
        waited: sensors.waited_time(),
        throttled: sensors.throttle_count(),
    }
}
