//! A pool of pinned threads, one per physical core, that spin before they sleep: a region of 50 µs must not include the time
//! that the system takes to wake a thread.

mod cores;

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, JoinHandle, Thread};

pub use cores::{Affinity, Cores};

/// Spin iterations before a worker yields, a few hundred µs: longer than the pause between two samples.
const SPINS: u32 = 20_000;
/// Yields before a worker sleeps, for machines with more threads than cores.
const YIELDS: u32 = 200;

/// A worker of a [`Pool`] during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worker {
    /// Index, from 0.
    pub index: usize,
    /// Number of workers.
    pub count: usize,
}

impl Worker {
    /// This worker's share of `len` elements, in whole granules except for the last one.
    /// The shares of all workers are disjoint and cover everything.
    pub fn share(self, len: usize, granule: usize) -> Range<usize> {
        let granules = len.div_ceil(granule.max(1));
        let cut = |part: usize| {
            // Distributes the rest evenly: floor(granules · part / count) without overflow.
            let whole = granules / self.count * part;
            let rest = granules % self.count * part / self.count;
            ((whole + rest) * granule.max(1)).min(len)
        };
        cut(self.index)..cut(self.index + 1)
    }
}

/// The work of one `run`, shared by all workers.
struct Job<'a>(&'a (dyn Fn(Worker) + Sync));

/// State shared by the caller and the threads.
struct Shared {
    /// Number of runs; a change starts the workers.
    run: AtomicU64,
    /// Work of the current run.
    job: AtomicPtr<Job<'static>>,
    /// Threads that have not finished the current run.
    pending: AtomicUsize,
    /// Whether a thread panicked in the current run.
    panicked: AtomicBool,
    /// Whether the threads shall exit.
    stop: AtomicBool,
    /// Whether the system refused to pin a thread.
    unpinned: AtomicBool,
    /// Spin iterations before a worker yields.
    spins: u32,
}

impl Shared {
    /// Pins the calling thread to a core, or records that it could not.
    fn pin(&self, core: usize) -> Affinity {
        let affinity = Affinity::pin(core);
        if !affinity.is_pinned() {
            self.unpinned.store(true, SeqCst);
        }
        affinity
    }
}

/// Pinned worker threads. The thread that creates the pool is worker 0, and the pool must stay on it.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Restores the caller's affinity when the pool is dropped.
    _affinity: Affinity,
    cores: Vec<usize>,
}

impl core::fmt::Debug for Pool {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pool")
            .field("workers", &self.len())
            .field("cores", &self.cores)
            .finish_non_exhaustive()
    }
}

impl Pool {
    /// A pool of this many workers, at least one; without a number, one per physical core that this process may use.
    /// Also pins the calling thread until the pool is dropped. A thread may have one pool at a time.
    ///
    /// # Panics
    /// When the system cannot create a thread.
    pub fn new(workers: Option<usize>) -> Self {
        let cores = Cores::of_this_process();
        let count = workers.unwrap_or(cores.usual()).max(1);
        // With more workers than cores, spinning would take time from those that work.
        let spins = if count > cores.logical() { 0 } else { SPINS };
        Self::on_cores((0..count).map(|index| cores.of_worker(index)).collect(), spins)
    }

    fn on_cores(cores: Vec<usize>, spins: u32) -> Self {
        let shared = Arc::new(Shared {
            run: AtomicU64::new(0),
            job: AtomicPtr::new(std::ptr::null_mut()),
            pending: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            unpinned: AtomicBool::new(false),
            spins,
        });
        let affinity = shared.pin(cores[0]);
        let caller = thread::current();
        let count = cores.len();
        let start = |index: usize| {
            let (shared, caller, core) = (Arc::clone(&shared), caller.clone(), cores[index]);
            thread::Builder::new()
                .name(format!("kernel-{index}"))
                .spawn(move || work(&shared, &caller, core, Worker { index, count }))
                .expect("the system has room for one thread per core")
        };
        let threads = (1..count).map(start).collect();
        Self { shared, threads, _affinity: affinity, cores }
    }

    /// Number of workers.
    #[expect(clippy::len_without_is_empty, reason = "a pool has at least one worker")]
    pub fn len(&self) -> usize {
        self.cores.len()
    }

    /// Logical core of each worker, as the system numbers them.
    pub fn cores(&self) -> &[usize] {
        &self.cores
    }

    /// Whether all workers are pinned. Workers pin themselves when they start, so this is known after the first run.
    pub fn is_pinned(&self) -> bool {
        !self.shared.unpinned.load(SeqCst)
    }

    /// Runs the work once on every worker and returns when all have finished.
    ///
    /// # Panics
    /// When the work panics on any worker, after all have finished.
    pub fn run(&mut self, work: impl Fn(Worker) + Sync) {
        let own = Worker { index: 0, count: self.len() };
        let job = Job(&work);
        self.publish(&job);
        let done = catch_unwind(AssertUnwindSafe(|| work(own)));
        self.wait();
        self.propagate_panic(done);
    }

    fn publish(&self, job: &Job<'_>) {
        let shared = &*self.shared;
        shared.pending.store(self.threads.len(), SeqCst);
        shared.job.store(std::ptr::from_ref(job).cast::<Job<'static>>().cast_mut(), SeqCst);
        shared.run.fetch_add(1, SeqCst);
        for thread in &self.threads {
            thread.thread().unpark();
        }
    }

    fn wait(&self) {
        wait_until(self.shared.spins, || self.shared.pending.load(SeqCst) == 0);
        self.shared.job.store(std::ptr::null_mut(), SeqCst);
    }

    fn propagate_panic(&self, own: Result<(), Box<dyn Any + Send>>) {
        let other = self.shared.panicked.swap(false, SeqCst);
        if let Err(panic) = own {
            resume_unwind(panic);
        }
        assert!(!other, "a worker of the pool panicked");
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        self.shared.run.fetch_add(1, SeqCst);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // `run` has caught and reported panics of the work; a worker has no other code that can panic.
            let _ = thread.join();
        }
    }
}

/// Main loop of a worker thread.
fn work(shared: &Shared, caller: &Thread, core: usize, worker: Worker) {
    let _pinned = shared.pin(core);
    let mut seen = 0;
    loop {
        wait_until(shared.spins, || shared.run.load(SeqCst) != seen);
        seen += 1;
        if shared.stop.load(SeqCst) {
            return;
        }
        run_share(shared, worker);
        if shared.pending.fetch_sub(1, SeqCst) == 1 {
            caller.unpark();
        }
    }
}

#[expect(
    unsafe_code,
    reason = "the work borrows from the caller, which threads that outlive it cannot say"
)]
fn run_share(shared: &Shared, worker: Worker) {
    let job = shared.job.load(SeqCst);
    // SAFETY: `run` published the pointer before it counted the run up, and returns only when `pending` is 0, which this
    // thread changes after its last use of the job. So the job and all that it borrows are alive.
    let job = unsafe { &*job };
    if catch_unwind(AssertUnwindSafe(|| (job.0)(worker))).is_err() {
        shared.panicked.store(true, SeqCst);
    }
}

/// Waits until `ready`: spins, then yields, then sleeps until it is unparked.
fn wait_until(spins: u32, ready: impl Fn() -> bool) {
    for iteration in 0..spins + YIELDS {
        if ready() {
            return;
        }
        if iteration < spins {
            core::hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
    while !ready() {
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::time::Duration;

    #[test]
    fn every_worker_works_once_per_run() {
        for workers in [1, 2, 5] {
            let mut pool = Pool::new(Some(workers));
            for _ in 0..50 {
                let seen = Mutex::new(Vec::new());
                pool.run(|worker| seen.lock().unwrap().push(worker.index));
                let mut seen = seen.into_inner().unwrap();
                seen.sort_unstable();
                assert_eq!(seen, (0..workers).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn one_worker_that_is_not_kept_on_its_core_is_told() {
        for (core, pinned) in
            [(Cores::of_this_process().of_worker(0), cfg!(target_os = "linux")), (1 << 20, false)]
        {
            let mut pool = Pool::on_cores(vec![Cores::of_this_process().of_worker(0), core], SPINS);
            pool.run(|_| ());
            assert_eq!(pool.is_pinned(), pinned, "core {core}");
        }
    }

    #[test]
    fn sleeping_workers_wake_up() {
        let mut pool = Pool::new(Some(3));
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(30));
            let count = AtomicUsize::new(0);
            pool.run(|worker| {
                // The caller, too, sleeps while it waits for the slowest worker.
                thread::sleep(Duration::from_millis(10 * worker.index as u64));
                count.fetch_add(1, SeqCst);
            });
            assert_eq!(count.load(SeqCst), 3);
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_goes_on() {
        let mut pool = Pool::new(Some(3));
        for culprit in [0, 2] {
            let run = || pool.run(|worker| assert!(worker.index != culprit, "on purpose"));
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "worker {culprit}");
            let count = AtomicUsize::new(0);
            pool.run(|_| {
                count.fetch_add(1, SeqCst);
            });
            assert_eq!(count.load(SeqCst), 3);
        }
    }

    #[test]
    fn shares_are_everything_once_and_whole_granules() {
        for (len, granule, count) in [
            (0, 1, 3),
            (1, 1, 3),
            (127, 16, 2),
            (128, 16, 3),
            (129, 16, 4),
            (1000, 64, 7),
            (5, 0, 2),
        ] {
            let mut next = 0;
            for index in 0..count {
                let share = Worker { index, count }.share(len, granule);
                assert_eq!(share.start, next, "{len} {granule} {count}");
                assert!(share.end == len || share.end.is_multiple_of(granule.max(1)));
                next = share.end;
            }
            assert_eq!(next, len);
        }
    }

    #[test]
    fn shares_differ_by_one_granule_at_most() {
        let sizes: Vec<usize> =
            (0..7).map(|index| Worker { index, count: 7 }.share(1 << 20, 64).len()).collect();
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(most - least <= 64, "{sizes:?}");
    }
}
