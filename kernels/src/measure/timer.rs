//! How the time of a window is told: by the host's clock, or by the clock of a device that runs beside it.

use super::{Clock, NoTime};

/// Equal readings after which a clock counts as stopped.
const LOOKS: u32 = 50_000_000;

/// The clock that windows are timed by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timer {
    /// Smallest difference that it shows [ns].
    pub step_ns: f64,
}

impl Timer {
    /// The timer that the host's clock is; it looks at the clock until it has moved.
    ///
    /// # Errors
    /// When the clock stands still.
    pub fn of_host(clock: &dyn Clock) -> Result<Self, NoTime> {
        let mut steps = (0..20).map(|_| one_step(clock));
        let least = steps.try_fold(u64::MAX, |least, step| Some(least.min(step?)));
        Ok(Self { step_ns: least.ok_or(NoTime)? as f64 })
    }

    /// The timer of a device whose clock counts ticks at this rate.
    ///
    /// # Errors
    /// When the rate is not a positive number.
    pub fn of_device(ticks_per_second: f64) -> Result<Self, NoTime> {
        let step_ns = 1e9 / ticks_per_second;
        if step_ns > 0.0 && step_ns.is_finite() { Ok(Self { step_ns }) } else { Err(NoTime) }
    }
}

fn one_step(clock: &dyn Clock) -> Option<u64> {
    let start = clock.now_ns();
    (0..LOOKS).map(|_| clock.now_ns()).find(|now| *now > start).map(|now| now - start)
}

/// When a window began and ended on the host's clock. Limits of time follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostSpan {
    /// Begin, before the first call [ns].
    pub began_ns: u64,
    /// End, after the last call has finished [ns].
    pub ended_ns: u64,
}

impl HostSpan {
    /// Duration [ns]; 0 for a clock that went back.
    pub const fn nanoseconds(&self) -> u64 {
        self.ended_ns.saturating_sub(self.began_ns)
    }
}

/// Time of a window by the clock of a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceSpan {
    /// Ticks from the begin of the first call to the end of the last.
    pub ticks: u64,
    /// Ticks of an empty run: what starting and stopping cost without a call.
    pub empty_ticks: u64,
    /// Rate of the clock.
    pub ticks_per_second: f64,
    /// Clock of the device's cores when the window began [Hz], where the device measured it.
    pub cores_hz: Option<f64>,
}

impl DeviceSpan {
    /// Time of an empty run [s].
    pub fn empty_seconds(&self) -> f64 {
        self.empty_ticks as f64 / self.ticks_per_second
    }
}

/// Host time and core clock of each window of a device that times its own calls, beside the samples.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceWindows {
    /// Time of an empty run, which samples do not contain [s].
    pub empty: f64,
    /// Time of each window by the host's clock, with its start and the wait for its end [s].
    pub host: Vec<f64>,
    /// Clock of the device's cores at the begin of each window [Hz]; empty where the device did not measure it in every window.
    pub cores_hz: Vec<f64>,
}

/// How long the calls of a window took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Took {
    /// By the host's clock.
    pub host: HostSpan,
    /// By the device's clock, where it has one that is better.
    pub device: Option<DeviceSpan>,
}

impl Took {
    /// Time of the calls: of the device without the empty run, else of the host [ns]. 0 where the empty run took as long.
    pub fn nanoseconds(&self) -> f64 {
        match self.device {
            Some(span) => {
                span.ticks.saturating_sub(span.empty_ticks) as f64 / span.ticks_per_second * 1e9
            }
            None => self.host.nanoseconds() as f64,
        }
    }
}
