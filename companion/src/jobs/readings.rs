//! Readings of load, clocks, temperature and power while a job runs. A thread of its own reads the sensors, so that one that hangs
//! stops neither the job nor the daemon.

use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use protocol::job::JobEvent;
use protocol::telemetry::SensorSeries;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::clock::{Clock, Millis};
use crate::telemetry::{Part, Quantity, Sensed, Sensor, SensorReader};

/// Time between two readings at first: 10 Hz.
const SPACING: Duration = Duration::from_millis(100);
/// Readings after which the time between two doubles, so that an hour has fewer than 3,000.
const AT_ONE_SPACING: u32 = 400;
/// Shortest time between two events, and shortest job that has readings over time.
const BATCH: Duration = Duration::from_secs(2);
/// Longest wait for the last readings of a job.
const LAST: Duration = Duration::from_millis(300);

/// Reads sensors until it is dropped.
#[derive(Debug)]
pub(super) struct SensorThread {
    events: UnboundedReceiver<JobEvent>,
    /// Held while the sensors are to be read.
    until: SyncSender<()>,
}

impl SensorThread {
    /// Readings that a simulation gives.
    #[cfg(all(test, debug_assertions))]
    pub(super) fn played(events: UnboundedReceiver<JobEvent>) -> Self {
        Self { events, until: sync_channel(0).0 }
    }

    /// Starts to read the sensors of this machine. Without a thread the job has no readings.
    pub(super) fn start(clock: Clock) -> Option<Self> {
        let reader = SensorReader::new(clock);
        Self::reading(move || reader.sensed())
    }

    fn reading(mut read: impl FnMut() -> Sensed + Send + 'static) -> Option<Self> {
        let (told, events) = unbounded_channel();
        let (until, ended) = sync_channel(0);
        let sample = move || {
            let mut batch = Batch::default();
            let (mut spacing, mut begin, mut has_sent) = (SPACING, Instant::now(), false);
            for taken in 1_u32.. {
                if ended.recv_timeout(spacing) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
                let sensed = read();
                batch.add(sensed.at_ms, &sensed.sensors);
                if taken % AT_ONE_SPACING == 0 {
                    spacing *= 2;
                }
                if begin.elapsed() >= BATCH {
                    (begin, has_sent) = (Instant::now(), true);
                    if !batch.send(&told) {
                        return;
                    }
                }
            }
            // A job that is shorter than a batch has no readings.
            if has_sent {
                batch.send(&told);
            }
        };
        thread::Builder::new().name("readings".into()).spawn(sample).ok()?;
        Some(Self { events, until })
    }

    /// The next event; never, where the thread ended. The future can be dropped without loss.
    pub(super) async fn next(thread: &mut Option<Self>) -> JobEvent {
        if let Some(thread) = thread
            && let Some(event) = thread.events.recv().await
        {
            return event;
        }
        std::future::pending().await
    }

    /// Stops reading, and returns what was read since the last event.
    pub(super) async fn end(thread: Option<Self>) -> Vec<JobEvent> {
        let Some(Self { mut events, until }) = thread else { return Vec::new() };
        drop(until);
        let mut found = Vec::new();
        // A sensor that hangs keeps the rest.
        while let Ok(Some(event)) = timeout(LAST, events.recv()).await {
            found.push(event);
        }
        found
    }
}

/// Readings that are not sent yet.
#[derive(Debug, Default)]
struct Batch {
    at_ms: Vec<Millis>,
    sensors: Vec<(Part, SensorSeries)>,
}

impl Batch {
    fn add(&mut self, at_ms: Millis, sensors: &[Sensor]) {
        for sensor in sensors.iter().filter(|sensor| varies(sensor.quantity)) {
            let Ok(value) = sensor.value else { continue };
            let is_same = |(of, series): &&mut (Part, SensorSeries)| {
                *of == sensor.of && series.name == sensor.name
            };
            let value = Some(five_digits(value));
            if let Some((_, series)) = self.sensors.iter_mut().find(is_same) {
                series.values.push(value);
                continue;
            }
            let mut values = vec![None; self.at_ms.len()];
            values.push(value);
            let (device, rail) = (sensor.of.device, sensor.of.rail);
            let device = device.map(|id| id.to_string());
            let (name, rail) = (sensor.name.to_owned(), rail.map(str::to_owned));
            self.sensors.push((sensor.of, SensorSeries { name, device, rail, values }));
        }
        self.at_ms.push(at_ms);
        for (_, series) in &mut self.sensors {
            series.values.resize(self.at_ms.len(), None);
        }
    }

    /// Sends what there is as an event; false if nobody listens any more.
    fn send(&mut self, to: &UnboundedSender<JobEvent>) -> bool {
        let Self { at_ms, sensors } = std::mem::take(self);
        let sensors: Vec<SensorSeries> = sensors.into_iter().map(|(_, series)| series).collect();
        sensors.is_empty() || to.send(JobEvent::Readings { at_ms, sensors }).is_ok()
    }
}

/// Whether a quantity says something about a measurement by its course: sizes of memory do not.
const fn varies(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::Ratio | Quantity::Hertz | Quantity::Celsius | Quantity::Watts)
}

fn five_digits(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sensor(name: &'static str, quantity: Quantity, value: Result<f64, String>) -> Sensor {
        Sensor { name, quantity, of: Part::MACHINE, source: "a file".into(), value }
    }

    #[test]
    fn series_have_one_place_per_moment_also_where_a_sensor_comes_or_goes() {
        let mut batch = Batch::default();
        let power = |value| sensor("cpu_power_watt", Quantity::Watts, value);
        let clock = |value| sensor("cpu_clock_hz", Quantity::Hertz, value);
        let memory = sensor("memory_total_byte", Quantity::Bytes, Ok(1e9));
        batch.add(100, &[power(Ok(14.123_456)), clock(Err("asleep".into())), memory]);
        batch.add(200, &[power(Err("gone".into())), clock(Ok(3.2e9))]);
        let (told, mut events) = unbounded_channel();
        assert!(batch.send(&told));
        let Ok(JobEvent::Readings { at_ms, sensors }) = events.try_recv() else { panic!("none") };
        assert_eq!(at_ms, [100, 200]);
        let found: Vec<_> = sensors.iter().map(|it| (&*it.name, &*it.values)).collect();
        let expected: [(&str, &[_]); 2] =
            [("cpu_power_watt", &[Some(14.123), None]), ("cpu_clock_hz", &[None, Some(3.2e9)])];
        assert_eq!(found, expected);
        assert!(batch.send(&told) && events.try_recv().is_err(), "an empty one is not sent");
        drop(events);
        batch.add(300, &[power(Ok(1.0))]);
        assert!(!batch.send(&told), "nobody listens");
    }

    /// Sensors with one value, read at this moment.
    fn sensed() -> Sensed {
        let sensors = vec![sensor("cpu_power_watt", Quantity::Watts, Ok(1.0))];
        Sensed { at_ms: Clock::default().now(), sensors }
    }

    #[tokio::test]
    async fn a_job_is_read_at_most_ten_times_a_second_and_a_short_one_not_at_all() {
        let begin = Instant::now();
        let short = SensorThread::end(SensorThread::reading(sensed)).await;
        assert!(short.is_empty() || begin.elapsed() >= BATCH, "{short:?}");
        let begin = Instant::now();
        let mut long = SensorThread::reading(sensed);
        assert!(long.is_some());
        let first = SensorThread::next(&mut long).await;
        tokio::time::sleep(3 * SPACING).await;
        let rest = SensorThread::end(long).await;
        let passed = begin.elapsed();
        let mut moments = Vec::new();
        for event in [vec![first], rest].concat() {
            let JobEvent::Readings { at_ms, sensors } = event else { panic!("{event:?}") };
            assert!(sensors.iter().all(|series| series.values.len() == at_ms.len()));
            moments.extend(at_ms);
        }
        let most = passed.as_millis() / SPACING.as_millis();
        assert!(moments.len() > 2 && moments.len() as u128 <= most, "{moments:?} in {passed:?}");
    }

    #[tokio::test]
    async fn a_sensor_that_hangs_keeps_its_readings_and_not_the_job() {
        let (release, held) = sync_channel::<()>(0);
        let hangs = move || {
            // Ends when the test drops its side.
            let _ = held.recv();
            sensed()
        };
        let mut thread = SensorThread::reading(hangs);
        let waited = timeout(BATCH + 5 * SPACING, SensorThread::next(&mut thread)).await;
        assert!(waited.is_err(), "{waited:?}");
        let ended = SensorThread::end(thread).await;
        assert_eq!(ended, []);
        drop(release);
    }
}
