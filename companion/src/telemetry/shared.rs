//! One thread that reads the sensors for all subscribers, jobs, REST and `/metrics`. Nobody else waits for a sensor: who asks gets the
//! last reading, and where the thread is late, the time for which it has not answered.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout;

use super::{Part, Quantity, Sensed, Sensor};
use crate::clock::Clock;
use crate::measure::sensors::seconds;

/// Shortest time between two readings, for any number of subscribers.
const FRESH: Duration = Duration::from_millis(45);
/// Longest wait for a reading after a recent one.
const SHORT_WAIT: Duration = Duration::from_millis(100);
/// Longest wait for the first reading and after a pause.
const LONG_WAIT: Duration = Duration::from_secs(1);
/// Time without an answer after which no earlier reading stands for the present.
const LATE: Duration = Duration::from_secs(2);

type Latest = Option<(Instant, Arc<Sensed>)>;

/// The sensors of this machine, read by a thread of their own.
#[derive(Debug)]
pub(crate) struct SharedSensors {
    latest: watch::Receiver<Latest>,
    wake: SyncSender<()>,
    /// Moment of the first request that has no answer yet.
    asked: Arc<Mutex<Option<Instant>>>,
    clock: Clock,
    /// The reading that a simulation gives in place of sensors.
    #[cfg(all(test, debug_assertions))]
    played: Option<Arc<Sensed>>,
}

impl SharedSensors {
    /// Starts the thread, which reads when it is asked and ends with the last owner. One that hangs ends with the process.
    pub(crate) fn start(clock: Clock, mut read: impl FnMut() -> Sensed + Send + 'static) -> Self {
        let (told, latest) = watch::channel(None);
        let (wake, waits) = sync_channel(1);
        let asked = Arc::new(Mutex::new(None));
        let open = Arc::clone(&asked);
        let answer = move || {
            while waits.recv().is_ok() {
                let sensed = Arc::new(read());
                *open.lock().unwrap_or_else(PoisonError::into_inner) = None;
                told.send_replace(Some((Instant::now(), sensed)));
            }
        };
        // Without a thread nobody answers, which the readings say.
        let _ = thread::Builder::new().name("sensors".into()).spawn(answer);
        Self {
            latest,
            wake,
            asked,
            clock,
            #[cfg(all(test, debug_assertions))]
            played: None,
        }
    }

    /// Sensors of a simulation: one reading without a value, at once and without a thread.
    #[cfg(all(test, debug_assertions))]
    pub(crate) fn played(clock: Clock) -> Self {
        let sensed = Sensed {
            at_ms: 1,
            sensors: Vec::new(),
            gpus: Vec::new(),
            host: None,
            kernels: Vec::new(),
        };
        let ((_, latest), (wake, _)) = (watch::channel(None), sync_channel(1));
        Self { latest, wake, asked: Arc::default(), clock, played: Some(Arc::new(sensed)) }
    }

    /// The latest reading, at most [`LONG_WAIT`] after the call.
    pub(crate) async fn latest(&self) -> Arc<Sensed> {
        #[cfg(all(test, debug_assertions))]
        if let Some(played) = &self.played {
            return Arc::clone(played);
        }
        let mut latest = self.latest.clone();
        let last = latest.borrow_and_update().clone();
        let age = last.as_ref().map(|(at, _)| at.elapsed());
        if let Some((at, sensed)) = &last
            && at.elapsed() < FRESH
        {
            return Arc::clone(sensed);
        }
        let asked = *self
            .asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(Instant::now);
        // A full channel holds a request already.
        let _ = self.wake.try_send(());
        // Who asks again of a thread that is late does not wait again.
        let is_short = asked.elapsed() > LONG_WAIT || age.is_some_and(|age| age < LONG_WAIT);
        let limit = if is_short { SHORT_WAIT } else { LONG_WAIT };
        if let Ok(Ok(())) = timeout(limit, latest.changed()).await
            && let Some((_, sensed)) = &*latest.borrow()
        {
            return Arc::clone(sensed);
        }
        self.late(last, asked.elapsed())
    }

    fn late(&self, last: Latest, waited: Duration) -> Arc<Sensed> {
        let why = format!("no answer from the sensors for {}", seconds(waited));
        let Some((_, sensed)) = last else {
            let (source, value) = ("all sensors".to_owned(), Err(why));
            let (quantity, of) = (Quantity::Ratio, Part::MACHINE);
            let none = Sensor { name: "cpu_utilization_ratio", quantity, of, source, value };
            let at_ms = self.clock.now();
            return Arc::new(Sensed {
                at_ms,
                sensors: vec![none],
                gpus: Vec::new(),
                host: None,
                kernels: Vec::new(),
            });
        };
        if waited < LATE {
            return sensed;
        }
        let missing = |sensor: &Sensor| Sensor { value: Err(why.clone()), ..sensor.clone() };
        let sensors = sensed.sensors.iter().map(missing).collect();
        Arc::new(Sensed { at_ms: self.clock.now(), sensors, ..Sensed::clone(&sensed) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    fn sensed(value: f64) -> Sensed {
        let sensor = Sensor {
            name: "cpu_power_watt",
            quantity: Quantity::Watts,
            of: Part::MACHINE,
            source: "a meter".into(),
            value: Ok(value),
        };
        Sensed {
            at_ms: 7,
            sensors: vec![sensor],
            gpus: Vec::new(),
            host: None,
            kernels: Vec::new(),
        }
    }

    /// Sensors that answer once for every message, with the number of answers so far.
    fn answering() -> (SharedSensors, std::sync::mpsc::Sender<()>) {
        let (answer, answers): (_, Receiver<()>) = channel();
        let mut number = 0.0;
        let read = move || {
            // Ends when the test drops its side.
            let _ = answers.recv();
            number += 1.0;
            sensed(number)
        };
        (SharedSensors::start(Clock::default(), read), answer)
    }

    fn value(sensed: &Sensed) -> Result<f64, String> {
        sensed.sensors[0].value.clone()
    }

    #[tokio::test]
    async fn subscribers_share_a_reading() {
        let mut number = 0.0;
        let shared = SharedSensors::start(Clock::default(), move || {
            number += 1.0;
            sensed(number)
        });
        let begin = Instant::now();
        let mut last = 0.0;
        let mut asked = 0;
        while begin.elapsed() < Duration::from_millis(500) || asked <= 20 || last <= 1.0 {
            // On a loaded machine a reading may be late.
            last = value(&*shared.latest().await).unwrap_or(last);
            asked += 1;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let most = begin.elapsed().as_millis() as f64 / FRESH.as_millis() as f64 + 2.0;
        assert!(last <= most, "{asked} asked, {last} read");
    }

    #[tokio::test]
    async fn a_late_thread_is_told_with_its_time_and_nobody_waits_long() {
        let (shared, answer) = answering();
        let begin = Instant::now();
        let why = value(&*shared.latest().await).unwrap_err();
        assert!(why.starts_with("no answer from the sensors for "), "{why}");
        answer.send(()).unwrap();
        let first = loop {
            if let Ok(first) = value(&*shared.latest().await) {
                break first;
            }
        };
        assert!((first - 1.0).abs() < 1e-9, "{first}");
        tokio::time::sleep(FRESH).await;
        let begin_late = Instant::now();
        // The last reading stands for a while, then it says why it is none any more.
        let soon = shared.latest().await;
        assert!(value(&soon) == Ok(1.0) || begin_late.elapsed() >= LATE, "{soon:?}");
        let late = loop {
            let asked = Instant::now();
            let found = shared.latest().await;
            assert!(asked.elapsed() < 10 * LONG_WAIT, "{:?}", asked.elapsed());
            if let Err(why) = value(&found) {
                break why;
            }
        };
        assert!(begin_late.elapsed() >= LATE, "{:?}", begin_late.elapsed());
        assert!(late.starts_with("no answer from the sensors for "), "{late}");
        assert!(begin.elapsed() < Duration::from_secs(20));
        drop(answer);
        let again = loop {
            if let Ok(again) = value(&*shared.latest().await) {
                break again;
            }
        };
        assert!(again >= 2.0, "{again}");
    }
}
