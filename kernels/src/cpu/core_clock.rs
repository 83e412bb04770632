//! Core clock, measured by a chain of dependent additions: current processors execute one per cycle.
//! The addend is in a register, because some processors add an immediate in zero cycles.

use crate::measure::Clock;

/// Additions per loop iteration: enough to hide the loop counter.
const CHAIN: u64 = 64;
/// About 20 µs at 3 GHz: shorter than the time for which a processor keeps the clock that wide vectors left it at.
const ITERATIONS: u64 = 1_000;
/// Interruptions only slow a burst down, so the fastest counts.
const BURSTS: usize = 5;

/// Clock of the calling thread's core [Hz]. `None` without a chain for this architecture, or if the clock stands still.
pub fn measured_hz(clock: &dyn Clock) -> Option<f64> {
    (0..BURSTS).filter_map(|_| burst(clock)).reduce(f64::max)
}

fn burst(clock: &dyn Clock) -> Option<f64> {
    let start = clock.now_ns();
    chain(ITERATIONS)?;
    let elapsed = clock.now_ns().saturating_sub(start);
    (elapsed > 0).then(|| (ITERATIONS * CHAIN) as f64 * 1e9 / elapsed as f64)
}

/// Executes the chain of dependent additions.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::unnecessary_wraps, reason = "other processors have no chain")]
#[expect(unsafe_code, reason = "a compiler would add it all up at once")]
fn chain(iterations: u64) -> Option<()> {
    // SAFETY: registers only, all of them declared.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 64",
            "add {sum}, {one}",
            ".endr",
            "dec {iterations}",
            "jnz 2b",
            sum = inout(reg) 0_u64 => _,
            one = in(reg) 1_u64,
            iterations = inout(reg) iterations => _,
            options(nomem, nostack),
        );
    }
    Some(())
}

/// Executes the chain of dependent additions.
#[cfg(target_arch = "aarch64")]
#[expect(clippy::unnecessary_wraps, reason = "other processors have no chain")]
#[expect(unsafe_code, reason = "a compiler would add it all up at once")]
fn chain(iterations: u64) -> Option<()> {
    // SAFETY: registers only, all of them declared.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 64",
            "add {sum}, {sum}, {one}",
            ".endr",
            "subs {iterations}, {iterations}, #1",
            "b.ne 2b",
            sum = inout(reg) 0_u64 => _,
            one = in(reg) 1_u64,
            iterations = inout(reg) iterations => _,
            options(nomem, nostack),
        );
    }
    Some(())
}

/// This architecture has no chain.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn chain(_: u64) -> Option<()> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::clock::SystemClock;

    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[test]
    fn a_processor_has_a_plausible_clock() {
        let hz = measured_hz(&SystemClock::new()).unwrap();
        println!("clock: {:.3} GHz", hz / 1e9);
        // An emulated or very busy processor may be slow; none is faster than 10 GHz.
        assert!((1e6..10e9).contains(&hz), "{hz}");
    }

    #[test]
    fn a_clock_that_stands_still_has_no_answer() {
        struct StandsStill;
        impl Clock for StandsStill {
            fn now_ns(&self) -> u64 {
                0
            }
        }
        assert_eq!(measured_hz(&StandsStill), None);
    }
}
