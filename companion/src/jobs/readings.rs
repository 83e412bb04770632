//! Readings of load, clocks, temperature and power while a job runs. A task of its own asks for them, so that one that hangs
//! stops neither the job nor the daemon.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::job::JobEvent;
use protocol::telemetry::SensorSeries;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::clock::Millis;
use crate::telemetry::{Part, Quantity, SPAN, Sensed, SharedSensors};

/// Time between two readings at first: 10 Hz.
const SPACING: Duration = Duration::from_millis(100);
/// Readings after which the time between two doubles, so that an hour has fewer than 3,000.
const AT_ONE_SPACING: u32 = 400;
/// Shortest time between two events, and shortest job that has readings over time.
const BATCH: Duration = Duration::from_secs(2);
/// Longest wait for the last readings of a job.
const LAST: Duration = Duration::from_millis(300);

/// Asks for readings until it is dropped.
#[derive(Debug)]
pub(super) struct JobReadings {
    events: UnboundedReceiver<JobEvent>,
    /// Held while the sensors are to be read.
    until: oneshot::Sender<()>,
}

impl JobReadings {
    /// Readings that a simulation gives.
    #[cfg(all(test, debug_assertions))]
    pub(super) fn played(events: UnboundedReceiver<JobEvent>) -> Self {
        Self { events, until: oneshot::channel().0 }
    }

    /// Starts to read the sensors of this machine.
    pub(super) fn start(sensors: &Arc<SharedSensors>) -> Self {
        let sensors = Arc::clone(sensors);
        Self::reading(move || {
            let sensors = Arc::clone(&sensors);
            async move { sensors.latest().await }
        })
    }

    fn reading<R>(mut read: impl FnMut() -> R + Send + 'static) -> Self
    where
        R: Future<Output = Arc<Sensed>> + Send,
    {
        let (told, events) = unbounded_channel();
        let (until, mut ended) = oneshot::channel();
        let sample = async move {
            // Rates of before the job end with a reading and the span of a rate.
            drop(read().await);
            if timeout(SPAN, &mut ended).await.is_ok() {
                return;
            }
            let mut batch = Batch::default();
            let (mut spacing, mut begin, mut has_sent) = (SPACING, Instant::now(), false);
            for taken in 1_u32.. {
                if timeout(spacing, &mut ended).await.is_ok() {
                    break;
                }
                let sensed = read().await;
                batch.add(&sensed);
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
        tokio::spawn(sample);
        Self { events, until }
    }

    /// The next event; never, where the task ended. The future can be dropped without loss.
    pub(super) async fn next(&mut self) -> JobEvent {
        match self.events.recv().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    /// Stops reading, and returns what was read since the last event.
    pub(super) async fn end(self) -> Vec<JobEvent> {
        let Self { mut events, until } = self;
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
    /// Adds a reading; where the sensors are late, the last one is there already.
    fn add(&mut self, sensed: &Sensed) {
        let at_ms = sensed.at_ms;
        if self.at_ms.last() == Some(&at_ms) {
            return;
        }
        for sensor in sensed.sensors.iter().filter(|sensor| varies(sensor.quantity)) {
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
            let device = sensed.device(&sensor.of);
            let rail = sensor.of.rail.as_ref().map(ToString::to_string);
            let name = sensor.name.to_owned();
            self.sensors.push((sensor.of.clone(), SensorSeries { name, device, rail, values }));
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

/// Whether a quantity says something about a measurement by its course: sizes of memory and counters do not.
const fn varies(quantity: Quantity) -> bool {
    match quantity {
        Quantity::Ratio
        | Quantity::Hertz
        | Quantity::Celsius
        | Quantity::Watts
        | Quantity::Reasons
        | Quantity::Error => true,
        Quantity::Processes | Quantity::Bytes | Quantity::Joules => false,
    }
}

fn five_digits(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::telemetry::Sensor;

    fn sensor(name: &'static str, quantity: Quantity, value: Result<f64, String>) -> Sensor {
        Sensor { name, quantity, of: Part::MACHINE, source: "a file".into(), value }
    }

    #[test]
    fn series_have_one_place_per_moment_also_where_a_sensor_comes_or_goes() {
        let mut batch = Batch::default();
        let power = |value| sensor("cpu_power_watt", Quantity::Watts, value);
        let clock = |value| sensor("cpu_clock_hz", Quantity::Hertz, value);
        let of = |at_ms, sensors| Sensed { at_ms, sensors, ..Sensed::clone(&sensed()) };
        let memory = sensor("memory_total_byte", Quantity::Bytes, Ok(1e9));
        batch.add(&of(100, vec![power(Ok(14.123_456)), clock(Err("asleep".into())), memory]));
        batch.add(&of(200, vec![power(Err("gone".into())), clock(Ok(3.2e9))]));
        batch.add(&of(200, vec![power(Ok(99.0))]));
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
        batch.add(&of(300, vec![power(Ok(1.0))]));
        assert!(!batch.send(&told), "nobody listens");
    }

    /// Sensors with one value, read at this moment.
    fn sensed() -> Arc<Sensed> {
        let sensors = vec![sensor("cpu_power_watt", Quantity::Watts, Ok(1.0))];
        Arc::new(Sensed {
            at_ms: Clock::default().now(),
            sensors,
            gpus: Vec::new(),
            host: None,
            kernels: Vec::new(),
        })
    }

    #[tokio::test]
    async fn a_job_is_read_at_most_ten_times_a_second_and_a_short_one_not_at_all() {
        let begin = Instant::now();
        let short = JobReadings::reading(async || sensed()).end().await;
        assert!(short.is_empty() || begin.elapsed() >= BATCH, "{short:?}");
        let begin = Instant::now();
        let mut long = JobReadings::reading(async || sensed());
        let first = long.next().await;
        tokio::time::sleep(3 * SPACING).await;
        let rest = long.end().await;
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
        let mut readings = JobReadings::reading(async || std::future::pending().await);
        let waited = timeout(BATCH + 5 * SPACING, readings.next()).await;
        assert!(waited.is_err(), "{waited:?}");
        assert_eq!(readings.end().await, []);
    }
}
