//! Disjoint parts of one result for concurrent workers.
#![expect(unsafe_code, reason = "workers write disjoint parts of one slice")]

use std::marker::PhantomData;

use super::threads::Worker;

/// A matrix that workers write to, each its own rows or columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct DisjointRows<'a, T> {
    start: *mut T,
    len: usize,
    of: PhantomData<&'a mut [T]>,
}

// SAFETY: workers get at different parts: `rows` divides by worker, and the callers of `row` and `start` promise it.
unsafe impl<T: Send> Sync for DisjointRows<'_, T> {}

impl<'a, T> DisjointRows<'a, T> {
    pub(super) fn of(all: &'a mut [T]) -> Self {
        Self { start: all.as_mut_ptr(), len: all.len(), of: PhantomData }
    }

    /// Number of elements.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The first element; a worker that writes by it keeps to its own part.
    pub(super) const fn start(&self) -> *mut T {
        self.start
    }

    /// This worker's share of `m` rows of `n`. A worker asks once per run.
    pub(super) fn rows(&self, worker: Worker, m: usize, n: usize) -> &'a mut [T] {
        assert_eq!(self.len, m * n, "rows of the slice");
        let share = worker.share(m, 1);
        // SAFETY: the share lies within the slice, which is borrowed for 'a; shares of different workers do not overlap, and
        // each worker asks once.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(share.start * n), share.len() * n) }
    }

    /// Row `r` of rows of `n`.
    ///
    /// # Panics
    /// When there is no such row.
    ///
    /// # Safety
    /// While the result is used, nobody else asks for this row or for a part of it.
    pub(super) unsafe fn row(&self, r: usize, n: usize) -> &'a mut [T] {
        assert!(r < self.len / n, "a row of the slice");
        // SAFETY: the row lies within the slice, which is borrowed for 'a, and the caller promises that it is not shared.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(r * n), n) }
    }
}
