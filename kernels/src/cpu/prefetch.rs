//! Asking for memory before it is needed: what the processor foresees by itself ends at the end of a page.
#![expect(unsafe_code, reason = "a hint to the processor")]

/// How many bytes before their use bytes are asked for; between 1 and 8 KiB the rates differ by less than they scatter.
const DISTANCE: usize = 4096;
/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for what comes [`DISTANCE`] after these.
#[expect(clippy::inline_always, reason = "an instruction per line of a loop that is one itself")]
#[inline(always)]
pub(super) fn ahead<T, const N: usize>(these: &[T; N]) {
    for line in (0..size_of::<[T; N]>()).step_by(LINE) {
        ask(these.as_ptr().cast::<u8>().wrapping_add(DISTANCE + line));
    }
}

/// Asks for the line after these: the scales of rows with one scale each begin a new line every sixteen rows, and a wait.
#[inline]
pub(super) fn next_line(these: &[u8]) {
    ask(these.as_ptr().wrapping_add(LINE));
}

/// Asks the caches for the line at an address. Any address will do: one that is not mapped is passed over.
#[cfg(target_arch = "x86_64")]
#[inline]
fn ask(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads and writes nothing that a program can see, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

/// As above.
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
