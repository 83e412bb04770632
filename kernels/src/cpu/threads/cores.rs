//! Which cores this process may use, and keeping a thread on one of them.

use std::marker::PhantomData;
use std::thread;

/// One logical core of each physical core that this process may use, at least one.
/// Where the system does not tell, as many as it says can run at once.
pub fn physical_cores() -> Vec<usize> {
    let cores = linux::physical_cores();
    if !cores.is_empty() {
        return cores;
    }
    (0..thread::available_parallelism().map_or(1, usize::from)).collect()
}

/// A thread that stays on a core; when this is dropped, it may use again what it could before.
#[derive(Debug)]
pub struct Affinity {
    before: Option<linux::Cores>,
    /// Only the thread that was pinned can be let go by dropping this.
    of_this_thread: PhantomData<*const ()>,
}

impl Affinity {
    /// Keeps the calling thread on a core. Where the system refuses or cannot, nothing changes.
    pub fn pin(core: usize) -> Self {
        Self { before: linux::pin(core), of_this_thread: PhantomData }
    }

    /// Whether it worked.
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
    pub(super) type Cores = CpuSet;

    pub(super) fn physical_cores() -> Vec<usize> {
        let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
        let allowed: Vec<usize> =
            (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
        let mut taken: Vec<String> = Vec::new();
        let mut is_new = |core: &usize| {
            let siblings = siblings(*core).unwrap_or_else(|| core.to_string());
            let new = !taken.contains(&siblings);
            taken.push(siblings);
            new
        };
        allowed.into_iter().filter(|core| is_new(core)).collect()
    }

    /// The logical cores of one physical core, in the words of the kernel.
    fn siblings(core: usize) -> Option<String> {
        let folder = format!("/sys/devices/system/cpu/cpu{core}/topology");
        fs::read_to_string(format!("{folder}/thread_siblings_list")).ok()
    }

    pub(super) fn pin(core: usize) -> Option<Cores> {
        let before = sched_getaffinity(None).ok()?;
        let mut wanted = CpuSet::new();
        if core >= CpuSet::MAX_CPU {
            return None;
        }
        wanted.set(core);
        sched_setaffinity(None, &wanted).ok()?;
        Some(before)
    }

    pub(super) fn restore(before: &Cores) {
        // The set was the thread's own a moment ago; if the system has changed it since, there is nothing to restore.
        let _ = sched_setaffinity(None, before);
    }
}

#[cfg(not(target_os = "linux"))]
mod linux {
    /// There is none: other systems do not let a program choose.
    #[derive(Debug)]
    pub(super) enum Cores {}

    pub(super) fn physical_cores() -> Vec<usize> {
        Vec::new()
    }

    pub(super) fn pin(_: usize) -> Option<Cores> {
        None
    }

    pub(super) const fn restore(none: &Cores) {
        match *none {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_core_and_none_twice() {
        let cores = physical_cores();
        let mut distinct = cores.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), cores.len());
        assert!(!cores.is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pinned_thread_may_use_its_core_only_until_it_is_let_go() {
        use rustix::thread::sched_getaffinity;
        thread::spawn(|| {
            let before = sched_getaffinity(None).unwrap().count();
            let core = physical_cores()[0];
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
