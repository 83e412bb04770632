//! Software prefetch: hardware prefetchers stop at the end of a page.
#![expect(unsafe_code, reason = "a hint to the processor")]

/// Prefetch distance [B]. Between 1 and 8 KiB, rates differ by less than their scatter.
const DISTANCE: usize = 4096;
/// Bytes of a cache line.
const LINE: usize = 64;

/// Prefetches the same number of bytes, [`DISTANCE`] further on.
#[expect(clippy::inline_always, reason = "an instruction per line of a loop that is one itself")]
#[inline(always)]
pub(super) fn ahead<T, const N: usize>(these: &[T; N]) {
    for line in (0..size_of::<[T; N]>()).step_by(LINE) {
        ask(these.as_ptr().cast::<u8>().wrapping_add(DISTANCE + line));
    }
}

/// Prefetches as many bytes as these, so many bytes further on.
#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
pub(super) fn beyond<T>(these: &[T], distance: usize) {
    for line in (0..size_of_val(these)).step_by(LINE) {
        ask(these.as_ptr().cast::<u8>().wrapping_add(distance + line));
    }
}

/// Prefetches the next cache line. Scales of one per row begin a new line every sixteen rows, which would stall.
#[inline]
pub(super) fn next_line(these: &[u8]) {
    ask(these.as_ptr().wrapping_add(LINE));
}

/// Prefetches the cache line at an address. Any address is allowed; an unmapped one is ignored.
#[cfg(target_arch = "x86_64")]
#[inline]
fn ask(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads and writes nothing that a program can see, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

/// Prefetches the cache line at an address, as on x86-64.
#[cfg(target_arch = "aarch64")]
#[inline]
fn ask(at: *const u8) {
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{at}]", at = in(reg) at, options(nostack, readonly, preserves_flags));
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn ask(_: *const u8) {}
