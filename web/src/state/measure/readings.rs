//! Readings of sensors while a job ran, as lines over time with their mean.

use core::fmt::Write as _;

use report::number_text;

use super::sensors::{name, with_unit};
use crate::link::jobs::Job;
use crate::link::readings::SensorReadings;
use crate::link::session::DaemonSession;

/// Width and height of the box in which a line is drawn.
pub const BOX: (f64, f64) = (200.0, 24.0);

/// The readings of one sensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SensorCourse {
    /// Name, with device and rail where several sensors have this name.
    pub name: String,
    /// Mean over time, least and most, with unit.
    pub said: String,
    /// SVG path in [`BOX`]: time from left to right, from 0 at the bottom to the largest value at the top.
    pub path: String,
}

/// Time over which a job was read, such as "62 s"; empty if it was not.
pub fn span(job: &Job) -> String {
    match bounds(job) {
        Some((from, to)) => format!("{} s", number_text::short((to - from) as f64 / 1000.0, 3)),
        None => String::new(),
    }
}

/// The sensors of a job that have at least two readings.
pub fn courses(job: &Job, session: Option<&DaemonSession>) -> Vec<SensorCourse> {
    let Some(bounds) = bounds(job) else { return Vec::new() };
    let is_alone = |it: &SensorReadings| {
        job.readings.iter().filter(|other| other.name == it.name).count() == 1
    };
    let readings = job.readings.iter().filter(|it| it.points.len() > 1);
    let others = |it: &SensorReadings| {
        let device = it.device.as_deref();
        let device = device.map(|id| session.map_or(id, |session| session.device_name(id)));
        let parts = [device, it.rail.as_deref()];
        parts.into_iter().flatten().filter(|_| !is_alone(it)).collect::<Vec<_>>().join(", ")
    };
    readings.map(|it| course(it, bounds, &others(it))).collect()
}

/// First and last moment of all sensors, in ms; `None` if they are one.
fn bounds(job: &Job) -> Option<(u64, u64)> {
    let moments = || job.readings.iter().flat_map(|it| &it.points).map(|(at, _)| *at);
    let (from, to) = (moments().min()?, moments().max()?);
    (to > from).then_some((from, to))
}

fn course(readings: &SensorReadings, (from, to): (u64, u64), part: &str) -> SensorCourse {
    let values = || readings.points.iter().map(|(_, value)| *value);
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(f64::NEG_INFINITY, f64::max);
    let unit = |value| with_unit(&readings.name, value);
    let mut named = name(&readings.name);
    if !part.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(named, ", {part}");
    }
    let scale = if most > 0.0 { most } else { 1.0 };
    let mut path = String::new();
    for (at, value) in &readings.points {
        let x = BOX.0 * at.saturating_sub(from) as f64 / (to - from) as f64;
        let y = BOX.1 * (1.0 - value.max(0.0) / scale);
        let step = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{step}{x:.1} {y:.1}");
    }
    SensorCourse {
        name: named,
        said: format!("{} ({} to {})", unit(mean(&readings.points)), unit(least), unit(most)),
        path,
    }
}

/// Mean over time, with a straight line between two readings.
fn mean(points: &[(u64, f64)]) -> f64 {
    let pairs = || points.windows(2).map(|pair| (pair[0], pair[1]));
    let time = |((from, _), (to, _)): ((u64, f64), (u64, f64))| to.saturating_sub(from) as f64;
    let all: f64 = pairs().map(time).sum();
    if all > 0.0 {
        pairs().map(|pair| time(pair) * (pair.0.1 + pair.1.1) / 2.0).sum::<f64>() / all
    } else {
        points.iter().map(|(_, value)| value).sum::<f64>() / points.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use protocol::hex::Hex;
    use protocol::job::{CalibrateSpec, JobId, JobSpec, JobState, JobSummary};

    use super::*;
    use crate::link::jobs::JobList;

    type Points = [(u64, f64)];

    fn job(readings: &[(&str, &str, &Points)]) -> Job {
        let spec = JobSpec::Calibrate(CalibrateSpec { backend: None }).into();
        let (job, request, state) = (JobId(1), Hex([1; 16]), JobState::Running);
        let mut jobs = JobList::default();
        jobs.listed(vec![JobSummary { job, request, spec, state, created_ms: 0, last_seq: 0 }]);
        let mut found = jobs.job(job).expect("known").clone();
        found.readings = readings
            .iter()
            .map(|(name, device, points)| SensorReadings {
                name: (*name).into(),
                device: Some((*device).into()),
                rail: None,
                points: points.to_vec(),
            })
            .collect();
        found
    }

    #[test]
    fn the_mean_is_over_time_and_the_line_from_zero_to_the_most() {
        let points: &Points = &[(0, 10.0), (1000, 10.0), (4000, 30.0)];
        let found = courses(&job(&[("cpu_power_watt", "cpu:0", points)]), None);
        let said = found[0].said.replace('\u{202f}', " ");
        // 10 W for 1 s and 20 W for 3 s, by hand.
        assert_eq!((&*found[0].name, &*said), ("CPU power", "17.5 W (10 W to 30 W)"));
        assert_eq!(found[0].path, "M0.0 16.0L50.0 16.0L200.0 0.0");
    }

    #[test]
    fn devices_are_named_where_there_are_several_and_one_reading_is_no_course() {
        let points: &Points = &[(5, 1.0), (6, 0.0)];
        let one = job(&[("cpu_clock_hz", "cpu:0", points), ("load_1m", "cpu:0", &points[..1])]);
        let names =
            |job: &Job| courses(job, None).into_iter().map(|it| it.name).collect::<Vec<_>>();
        assert_eq!(names(&one), ["CPU clock"]);
        let two =
            job(&[("gpu_power_watt", "cuda:0", points), ("gpu_power_watt", "cuda:1", points)]);
        assert_eq!(names(&two), ["GPU power, cuda:0", "GPU power, cuda:1"]);
        let mut rails = two.clone();
        rails.readings[1].device = Some("cuda:0".into());
        rails.readings[1].rail = Some("VDD_IN".into());
        assert_eq!(names(&rails), ["GPU power, cuda:0", "GPU power, cuda:0, VDD_IN"]);
        assert_eq!((names(&job(&[])).len(), span(&job(&[]))), (0, String::new()));
        assert_eq!(courses(&job(&[("cpu_power_watt", "cpu:0", &[(7, 1.0), (7, 2.0)])]), None), []);
        let still = job(&[("gpu_power_watt", "cuda:0", &[(1, 0.0), (2, 0.0)])]);
        assert_eq!(courses(&still, None)[0].path, "M0.0 24.0L200.0 24.0");
    }
}
