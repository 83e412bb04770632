//! Reads that may hang: each runs on a thread that nobody waits for longer than a limit. A read that is late counts as not answered
//! until it ends, and its thread holds up no other read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::{Reading, Sensors};

/// Largest number of threads that read, without those of sensors that hang.
const MOST_THREADS: usize = 16;
/// Largest number of sensors that hang: each keeps a thread. Beyond it only sensors that have answered before are asked.
const MOST_LATE: usize = 64;
/// Stack of a thread [B]: libraries of drivers run on it.
const STACK: usize = 2 << 20;

/// The threads of this process that read sensors, so that their number stays bounded.
static THREADS: LazyLock<Arc<Mutex<ReadThreads>>> = LazyLock::new(Arc::default);

/// Longest wait for the libraries of drivers, which ask each card at their start.
const LIBRARIES: Duration = Duration::from_secs(3);

/// Sensors of which none holds up its reader for longer than a limit.
#[derive(Debug, Clone)]
pub(crate) struct PatientSensors {
    sensors: Sensors,
    limit: Duration,
    threads: Arc<Mutex<ReadThreads>>,
}

type Read = Box<dyn FnOnce() + Send>;

/// Threads that read sensors.
#[derive(Debug, Default)]
struct ReadThreads {
    /// Sources that have not answered in time, and when they were asked.
    late: BTreeMap<String, Instant>,
    /// Sources that have answered in time.
    healthy: BTreeSet<String>,
    /// Threads that wait for a read; they end when these are dropped.
    idle: Vec<Sender<Read>>,
    number: usize,
}

impl PatientSensors {
    /// The sensors of this machine.
    pub(crate) fn here(limit: Duration) -> Self {
        Self { sensors: Sensors::here(), limit, threads: Arc::clone(&THREADS) }
    }

    #[cfg(test)]
    pub(crate) fn of(sensors: Sensors) -> Self {
        Self::within(sensors, Duration::from_secs(10))
    }

    /// Some sensors, by threads of their own.
    pub(crate) fn within(sensors: Sensors, limit: Duration) -> Self {
        Self { sensors, limit, threads: Arc::default() }
    }

    /// Opens the libraries of drivers, so that the first readings do not wait for them. A failure is told by those.
    pub(crate) fn open_libraries(&self) {
        let patient = Self { limit: LIBRARIES, ..self.clone() };
        let _ = patient.ask("the libraries of drivers", |sensors| {
            sensors.open_libraries();
            Ok(())
        });
    }

    /// Reads a source, or says for how long it has not answered. A late answer is dropped.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        source: &str,
        read: impl FnOnce(&Sensors) -> Reading<T> + Send + 'static,
    ) -> Reading<T> {
        let mut threads = locked(&self.threads);
        if let Some(since) = threads.late.get(source) {
            return Err(unanswered(source, since.elapsed()));
        }
        let thread = threads.take(source)?;
        drop(threads);
        let (answer, answered) = sync_channel(1);
        let asked = Instant::now();
        let (sensors, key) = (self.sensors.clone(), source.to_owned());
        let (back, all) = (thread.clone(), Arc::downgrade(&self.threads));
        let work = move || {
            let found = read(&sensors);
            ended(&all, &key, back, || {
                // Nobody waits for a late answer.
                let _ = answer.send(found);
            });
        };
        if thread.send(Box::new(work)).is_err() {
            return Err(format!("the thread that reads {source} has ended"));
        }
        let found = answered.recv_timeout(self.limit);
        let mut threads = locked(&self.threads);
        if let Ok(found) = found {
            threads.healthy.insert(source.to_owned());
            return found;
        }
        if found.is_err_and(|error| error == RecvTimeoutError::Disconnected) {
            threads.number = threads.number.saturating_sub(1);
            return Err(format!("reading {source} failed; see the messages of this program"));
        }
        // It may have answered just now.
        if let Ok(found) = answered.try_recv() {
            return found;
        }
        threads.late.insert(source.to_owned(), asked);
        Err(unanswered(source, asked.elapsed()))
    }
}

impl ReadThreads {
    /// A thread that waits for a read of a source.
    fn take(&mut self, source: &str) -> Reading<Sender<Read>> {
        let late = self.late.len();
        if late >= MOST_LATE && !self.healthy.contains(source) {
            return Err(format!("{late} sensors do not answer, and no more are asked"));
        }
        if let Some(idle) = self.idle.pop() {
            return Ok(idle);
        }
        // A sensor that hangs takes no thread from those that answer.
        if self.number.saturating_sub(late) >= MOST_THREADS {
            return Err(format!("{} sensors are read at this moment", self.number - late));
        }
        let (work, reads) = channel::<Read>();
        let run = move || reads.into_iter().for_each(|read| read());
        let started = thread::Builder::new().name("sensor".into()).stack_size(STACK).spawn(run);
        started.map_err(|error| format!("no thread can be started to read it: {error}"))?;
        self.number += 1;
        Ok(work)
    }
}

/// Tells the answer and takes the thread back, at one moment for those who look.
fn ended(all: &Weak<Mutex<ReadThreads>>, source: &str, back: Sender<Read>, tell: impl FnOnce()) {
    let all = all.upgrade();
    let mut threads = all.as_ref().map(|all| locked(all));
    tell();
    if let Some(threads) = &mut threads {
        threads.late.remove(source);
        threads.idle.push(back);
    }
}

fn locked(threads: &Mutex<ReadThreads>) -> MutexGuard<'_, ReadThreads> {
    threads.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unanswered(source: &str, waited: Duration) -> String {
    format!("no answer from {source} for {}", seconds(waited))
}

/// A duration in seconds, with a decimal below 10 s.
pub(crate) fn seconds(waited: Duration) -> String {
    let seconds = waited.as_secs_f64();
    if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Machine;
    use super::*;

    fn impatient(name: &str) -> (PatientSensors, Machine) {
        let machine =
            Machine::new(&format!("patience-{name}"), &[("proc/loadavg", "0.5 0 0 1/2 3\n")]);
        let sensors = machine.sensors();
        (PatientSensors::within(sensors, Duration::from_millis(40)), machine)
    }

    #[test]
    fn a_source_that_hangs_holds_up_nobody_twice_and_no_other() {
        let (sensors, _machine) = impatient("hangs");
        let (release, held) = channel::<()>();
        let hangs = move |_: &Sensors| {
            // Ends when the test drops its side.
            let _ = held.recv();
            Ok(1.0)
        };
        let why = sensors.ask("a meter", hangs).unwrap_err();
        assert!(why.starts_with("no answer from a meter for "), "{why}");
        let begin = Instant::now();
        for _ in 0..1000 {
            let again = sensors.ask("a meter", |_| Ok(2.0));
            assert!(again.is_err(), "{again:?}");
        }
        // A thousand waits would take 40 s.
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        let patient = PatientSensors { limit: Duration::from_mins(1), ..sensors.clone() };
        assert_eq!(patient.ask("/proc/loadavg", Sensors::load), Ok(0.5));
        drop(release);
        let answers = (0..6000).find_map(|_| {
            thread::sleep(Duration::from_millis(10));
            sensors.ask("a meter", |_| Ok(3.0)).ok()
        });
        assert_eq!(answers, Some(3.0), "it is asked again once it has ended");
    }

    #[test]
    fn a_read_that_panics_is_told_and_the_source_is_asked_again() {
        let machine = Machine::new("panics", &[]);
        let sensors = PatientSensors::of(machine.sensors());
        for _ in 0..=MOST_THREADS {
            let why = sensors.ask::<()>("a meter", |_| panic!("as the test asks")).unwrap_err();
            assert!(why.starts_with("reading a meter failed"), "{why}");
        }
        assert_eq!(sensors.ask("a meter", |_| Ok(1.0)), Ok(1.0));
    }

    /// Asks so many meters that hang until the test drops the answered sender.
    fn hang(sensors: &PatientSensors, count: usize) -> (Vec<String>, Sender<()>) {
        let (release, held) = channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let why = (0..count).map(|at| {
            let held = Arc::clone(&held);
            let hangs = move |_: &Sensors| {
                let _ = held.lock().map(|held| held.recv());
                Ok(())
            };
            sensors.ask(&format!("meter {at}"), hangs).unwrap_err()
        });
        (why.collect(), release)
    }

    #[test]
    fn meters_that_hang_leave_their_places_to_healthy_ones() {
        let (sensors, _machine) = impatient("places");
        let patient = PatientSensors { limit: Duration::from_mins(1), ..sensors.clone() };
        let (why, release) = hang(&sensors, 2 * MOST_THREADS);
        assert!(why.iter().all(|why| why.starts_with("no answer")), "{why:?}");
        assert_eq!(patient.ask("/proc/loadavg", Sensors::load), Ok(0.5), "behind all of them");
        drop(release);
    }

    #[test]
    fn the_number_of_threads_is_bounded() {
        let (sensors, _machine) = impatient("bounded");
        let patient = PatientSensors { limit: Duration::from_mins(1), ..sensors.clone() };
        assert_eq!(patient.ask("/proc/loadavg", Sensors::load), Ok(0.5));
        let (why, release) = hang(&sensors, MOST_LATE + 1);
        assert!(why[..MOST_LATE].iter().all(|why| why.starts_with("no answer")), "{why:?}");
        assert_eq!(why[MOST_LATE], "64 sensors do not answer, and no more are asked");
        assert_eq!(patient.ask("/proc/loadavg", Sensors::load), Ok(0.5), "it answered before");
        assert!(locked(&sensors.threads).number <= MOST_LATE + 1);
        drop(release);
    }

    #[test]
    fn one_thread_reads_all_that_answer() {
        let (sensors, _machine) = impatient("one");
        // Nobody is late, so nobody starts a second thread.
        let sensors = PatientSensors { limit: Duration::from_mins(1), ..sensors };
        for _ in 0..20 {
            sensors.ask("/proc/loadavg", Sensors::load).unwrap();
            sensors.ask("folders", |sensors| Ok(sensors.folder("proc"))).unwrap();
        }
        assert_eq!(locked(&sensors.threads).number, 1);
    }
}
