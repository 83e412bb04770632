//! The logical cores of this process, and pinning a thread to one of them.

use std::marker::PhantomData;
use std::sync::OnceLock;
use std::thread;

/// Logical cores that this process may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cores {
    /// One logical core of each physical core first, then their siblings.
    all: Vec<usize>,
    /// Default number of workers.
    usual: usize,
}

impl Cores {
    /// Cores at the first call. Where the system does not report them, its available parallelism.
    pub fn of_this_process() -> &'static Self {
        static CORES: OnceLock<Cores> = OnceLock::new();
        // Read once: a pinned thread would see only its own core.
        CORES.get_or_init(|| {
            // The available parallelism includes a container's CPU quota.
            let at_once = thread::available_parallelism().map_or(1, usize::from);
            Self::of(&linux::siblings(), at_once)
        })
    }

    /// From the siblings of each physical core and the available parallelism.
    fn of(siblings: &[Vec<usize>], at_once: usize) -> Self {
        let first = siblings.iter().filter_map(|core| core.first());
        let others = siblings.iter().flat_map(|core| core.iter().skip(1));
        let mut all: Vec<usize> = first.chain(others).copied().collect();
        if all.is_empty() {
            all = (0..at_once.max(1)).collect();
        }
        let physical = if siblings.is_empty() { all.len() } else { siblings.len() };
        Self { usual: physical.min(at_once).max(1), all }
    }

    /// Default number of workers: one per physical core, within the CPU quota.
    pub const fn usual(&self) -> usize {
        self.usual
    }

    /// Number of logical cores.
    pub const fn logical(&self) -> usize {
        self.all.len()
    }

    /// Core of a worker: physical cores first, then their siblings, then from the start again.
    pub fn of_worker(&self, index: usize) -> usize {
        self.all[index % self.all.len()]
    }
}

/// A pinned thread; dropping this restores its former affinity.
#[derive(Debug)]
pub struct Affinity {
    before: Option<linux::CoreSet>,
    /// Not `Send`: only the pinned thread may restore its affinity.
    of_this_thread: PhantomData<*const ()>,
}

impl Affinity {
    /// Pins the calling thread to a core. Nothing changes where the system refuses.
    pub fn pin(core: usize) -> Self {
        Self { before: linux::pin(core), of_this_thread: PhantomData }
    }

    /// Whether the thread is pinned.
    pub const fn is_pinned(&self) -> bool {
        self.before.is_some()
    }
}

impl Drop for Affinity {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            linux::restore(before);
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// A set of logical cores.
    pub(super) type CoreSet = CpuSet;

    /// Logical cores of each physical core that this process may use.
    pub(super) fn siblings() -> Vec<Vec<usize>> {
        let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
        let mut physical: Vec<(String, Vec<usize>)> = Vec::new();
        for core in (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)) {
            let name = name_of_physical(core).unwrap_or_else(|| core.to_string());
            match physical.iter_mut().find(|(other, _)| *other == name) {
                Some((_, cores)) => cores.push(core),
                None => physical.push((name, vec![core])),
            }
        }
        physical.into_iter().map(|(_, cores)| cores).collect()
    }

    /// The logical cores of one physical core, as a list written by Linux.
    fn name_of_physical(core: usize) -> Option<String> {
        let folder = format!("/sys/devices/system/cpu/cpu{core}/topology");
        fs::read_to_string(format!("{folder}/thread_siblings_list")).ok()
    }

    pub(super) fn pin(core: usize) -> Option<CoreSet> {
        let before = sched_getaffinity(None).ok()?;
        let mut wanted = CpuSet::new();
        if core >= CpuSet::MAX_CPU {
            return None;
        }
        wanted.set(core);
        sched_setaffinity(None, &wanted).ok()?;
        Some(before)
    }

    pub(super) fn restore(before: &CoreSet) {
        // The set was valid a moment ago; if the system has changed it since, there is nothing to restore.
        let _ = sched_setaffinity(None, before);
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    /// Uninhabited: other systems have no interface for pinning.
    #[derive(Debug)]
    pub(super) enum CoreSet {}

    pub(super) fn siblings() -> Vec<Vec<usize>> {
        Vec::new()
    }

    pub(super) fn pin(_: usize) -> Option<CoreSet> {
        None
    }

    pub(super) const fn restore(none: &CoreSet) {
        match *none {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_core_and_none_twice() {
        let cores = Cores::of_this_process();
        let mut distinct = cores.all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), cores.logical());
        assert!((1..=cores.logical()).contains(&cores.usual()));
    }

    #[test]
    fn workers_take_physical_cores_first_and_a_share_of_time_counts() {
        let two_each = [vec![0, 4], vec![1, 5], vec![2, 6]];
        for (siblings, at_once, usual, places) in [
            (&two_each[..], 6, 3, [0, 1, 2, 4, 5, 6, 0, 1]),
            // A container with a quota of two cores.
            (&two_each[..], 2, 2, [0, 1, 2, 4, 5, 6, 0, 1]),
            (&two_each[..1], 2, 1, [0, 4, 0, 4, 0, 4, 0, 4]),
            // A system that reports no cores.
            (&[], 3, 3, [0, 1, 2, 0, 1, 2, 0, 1]),
            (&[], 0, 1, [0; 8]),
        ] {
            let cores = Cores::of(siblings, at_once);
            assert_eq!(cores.usual(), usual, "{siblings:?} {at_once}");
            assert_eq!(std::array::from_fn(|index| cores.of_worker(index)), places);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pinned_thread_may_use_its_core_only_until_it_is_let_go() {
        use rustix::thread::sched_getaffinity;
        thread::spawn(|| {
            let before = sched_getaffinity(None).unwrap().count();
            let core = Cores::of_this_process().of_worker(0);
            let pinned = Affinity::pin(core);
            assert!(pinned.is_pinned());
            let during = sched_getaffinity(None).unwrap();
            assert!(during.count() == 1 && during.is_set(core));
            drop(pinned);
            assert_eq!(sched_getaffinity(None).unwrap().count(), before);
        })
        .join()
        .unwrap();
    }
}
