//! Buffers for timed kernels: aligned, in huge pages where available, and first touched by the worker that uses them,
//! so that they are local to its NUMA node.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::slice;

use super::threads::{Pool, Worker};

/// Size of a huge page on x86-64 and on aarch64 with 4 KiB pages.
const HUGE_PAGE: usize = 2 << 20;
/// Alignment of buffers too small for huge pages: two cache lines.
const SMALL_ALIGNMENT: usize = 128;

mod sealed {
    /// Types for which every bit pattern is a value.
    pub trait Plain: Copy + Send + Sync + 'static {}
    impl Plain for u8 {}
    impl Plain for i8 {}
    impl Plain for u16 {}
    impl Plain for u32 {}
    impl Plain for i32 {}
    impl Plain for u64 {}
    impl Plain for f32 {}
    impl Plain for half::f16 {}
    impl Plain for half::bf16 {}
    impl Plain for crate::pack::minifloat::Fp8 {}
    impl Plain for f64 {}
}
pub(super) use sealed::Plain;

/// A heap buffer whose parts belong to workers.
#[derive(Debug)]
pub struct Buffer<T: Plain> {
    start: NonNull<T>,
    len: usize,
    layout: Layout,
    owns: PhantomData<T>,
}

#[expect(unsafe_code, reason = "a buffer is memory from the allocator")]
// SAFETY: a buffer owns its memory alone and gives it out by the rules of references; its elements may cross threads.
unsafe impl<T: Plain> Send for Buffer<T> {}
#[expect(unsafe_code, reason = "a buffer is memory from the allocator")]
// SAFETY: as above.
unsafe impl<T: Plain> Sync for Buffer<T> {}

impl<T: Plain> Buffer<T> {
    /// Elements per page. Workers share a buffer by whole pages.
    pub const GRANULE: usize = 4096 / size_of::<T>();

    /// A buffer that the pool's workers zero and then fill, each its share `worker.share(len, GRANULE)`;
    /// `fill` gets the index of the share's first element.
    ///
    /// # Panics
    /// When the size exceeds the address space. The process aborts when memory runs out, as everywhere in Rust.
    #[expect(unsafe_code, reason = "workers write disjoint parts of one buffer")]
    pub fn filled(pool: &mut Pool, len: usize, fill: impl Fn(usize, &mut [T]) + Sync) -> Self {
        let buffer = Self::allocate(len);
        let place = BufferStart(buffer.start);
        pool.run(|worker| {
            let share = worker.share(len, Self::GRANULE);
            place.zero(worker, len);
            // SAFETY: this worker zeroed its share, which nobody else sees before `filled` returns.
            fill(share.start, unsafe { place.share(worker, len) });
        });
        buffer
    }

    /// A zeroed buffer.
    ///
    /// # Panics
    /// As [`Buffer::filled`].
    pub fn zeroed(pool: &mut Pool, len: usize) -> Self {
        Self::filled(pool, len, |_, _| {})
    }

    /// Gives every worker its share to write, divided as by [`Buffer::filled`].
    #[expect(unsafe_code, reason = "workers write disjoint parts of one buffer")]
    pub fn in_shares(&mut self, pool: &mut Pool, work: impl Fn(Worker, &mut [T]) + Sync) {
        let (place, len) = (BufferStart(self.start), self.len);
        // SAFETY: all of it was zeroed when it was made, it is borrowed exclusively, and each worker asks once.
        pool.run(|worker| work(worker, unsafe { place.share(worker, len) }));
    }

    #[expect(unsafe_code, reason = "memory that nobody touched yet comes from the allocator only")]
    fn allocate(len: usize) -> Self {
        let bytes = len.max(1).checked_mul(size_of::<T>()).expect("the size can be addressed");
        let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { SMALL_ALIGNMENT };
        let layout = Layout::from_size_align(bytes, align).expect("the size can be addressed");
        // SAFETY: the layout has at least one byte.
        let start = unsafe { alloc(layout) };
        let Some(start) = NonNull::new(start.cast::<T>()) else { handle_alloc_error(layout) };
        ask_for_huge_pages(start.as_ptr().cast(), bytes);
        Self { start, len, layout, owns: PhantomData }
    }
}

/// Start of a buffer that workers write to.
#[derive(Clone, Copy)]
struct BufferStart<T>(NonNull<T>);

#[expect(unsafe_code, reason = "workers write disjoint parts of one buffer")]
// SAFETY: each worker gets at its own share only, and shares do not overlap.
unsafe impl<T: Plain> Sync for BufferStart<T> {}

impl<T: Plain> BufferStart<T> {
    #[expect(unsafe_code, reason = "workers write disjoint parts of one buffer")]
    fn zero(self, worker: Worker, len: usize) {
        let share = worker.share(len, Buffer::<T>::GRANULE);
        // SAFETY: the share lies within the `len` elements that were allocated, and shares of workers do not overlap.
        unsafe { self.0.as_ptr().add(share.start).write_bytes(0, share.len()) }
    }

    /// A worker's share, writable.
    ///
    /// # Safety
    /// [`BufferStart::zero`] wrote this share before, the buffer lives for `'a`, and nobody else refers to the share meanwhile.
    #[expect(unsafe_code, reason = "workers write disjoint parts of one buffer")]
    unsafe fn share<'a>(self, worker: Worker, len: usize) -> &'a mut [T] {
        let share = worker.share(len, Buffer::<T>::GRANULE);
        // SAFETY: the share lies within the buffer and holds zero bytes at least, which are a value of every `Plain` type;
        // shares of workers do not overlap, and the caller promises the rest.
        unsafe { slice::from_raw_parts_mut(self.0.as_ptr().add(share.start), share.len()) }
    }
}

impl<T: Plain> Deref for Buffer<T> {
    type Target = [T];

    #[expect(unsafe_code, reason = "a buffer is memory from the allocator")]
    fn deref(&self) -> &[T] {
        // SAFETY: `filled` wrote all `len` elements before anybody could get here.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> DerefMut for Buffer<T> {
    #[expect(unsafe_code, reason = "a buffer is memory from the allocator")]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; the borrow of the buffer is exclusive.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> Drop for Buffer<T> {
    #[expect(unsafe_code, reason = "memory goes back to the allocator")]
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `allocate`, and given back once.
        unsafe { dealloc(self.start.as_ptr().cast(), self.layout) }
    }
}

/// Requests huge pages, which reduce TLB misses; the system may refuse.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a hint to the system about memory")]
fn ask_for_huge_pages(start: *mut u8, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    let whole = bytes / HUGE_PAGE * HUGE_PAGE;
    if whole > 0 {
        // SAFETY: the range is whole pages of a fresh allocation, and the advice changes no content.
        // A refusal costs only speed.
        let _ = unsafe { madvise(start.cast(), whole, Advice::LinuxHugepage) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_fill_all_of_it_once() {
        for (workers, len) in [(1, 0), (1, 1), (2, 5000), (3, 1 << 20)] {
            let mut pool = Pool::new(Some(workers));
            let buffer = Buffer::<u32>::filled(&mut pool, len, |first, part| {
                for (i, value) in part.iter_mut().enumerate() {
                    *value += u32::try_from(first + i).unwrap() + 1;
                }
            });
            assert_eq!(buffer.len(), len);
            assert!(buffer.iter().zip(1..).all(|(value, expected)| *value == expected));
        }
    }

    #[test]
    fn vectors_of_any_width_are_aligned() {
        let mut pool = Pool::new(Some(1));
        for (len, align) in [(1, 128), (1 << 22, 2 << 20)] {
            let buffer = Buffer::<u8>::zeroed(&mut pool, len);
            assert_eq!(buffer.as_ptr().addr() % align, 0);
        }
    }
}
