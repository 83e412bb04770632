//! A scripted device for tests: it takes a given time, fails, vanishes, hangs, returns wrong results, or slows down.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use calc_core::quant_format::QuantFormat;
use calc_core::units::{Bytes, Flops, Hertz};

use super::{
    Backend, BackendKind, Check, Cost, Description, DeviceId, Fault, Kernel, KernelSupport,
    Support, Task, Work,
};
use crate::measure::{Clock, DeviceSpan};
use crate::random::Random;

/// Duration of a hang: longer than any test waits.
const FOREVER: Duration = Duration::from_hours(24 * 365);
/// Bytes of every call, and FLOP of those that move none.
const BYTES: u32 = 1_000_000;
/// Core clock before and after throttling [Hz].
const CLOCKS: [f64; 2] = [3.0e9, 2.7e9];
/// Rate of the device's own clock [1/s].
const TICKS_PER_SECOND: f64 = 1e9;
/// Time that reading the core clock takes.
pub const CLOCK_READING: Duration = Duration::from_micros(100);

/// Behavior by call number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Script {
    /// Duration of a call.
    pub time: Duration,
    /// Relative standard deviation of the duration.
    pub noise: f64,
    /// The device does not exist.
    pub absent: bool,
    /// Allocations fail.
    pub full: bool,
    /// This call fails.
    pub fails_at: Option<u64>,
    /// From this call on, counted over all tasks, the device does not exist.
    pub gone_from: Option<u64>,
    /// This call never ends.
    pub hangs_at: Option<u64>,
    /// From this call on results are wrong.
    pub lies_from: Option<u64>,
    /// From this call on calls take twice as long.
    pub slow_from: Option<u64>,
    /// From this call on the core clock is a tenth lower.
    pub throttles_from: Option<u64>,
    /// The core clock cannot be read.
    pub no_clock: bool,
    /// The device times its calls itself, by a clock of 1 GHz; this is the time of an empty run.
    pub empty_run: Option<Duration>,
    /// Number of the PCI bus on which the device is.
    pub bus: Option<u8>,
    /// Key of a kernel whose work is refused.
    pub refuses: Option<&'static str>,
}

impl Script {
    /// Core clock after so many calls [Hz].
    fn clock_after(&self, calls: u64) -> Option<f64> {
        let throttles = self.throttles_from.is_some_and(|from| calls >= from);
        (!self.no_clock).then_some(CLOCKS[usize::from(throttles)])
    }

    /// No faults, 1 ms per call.
    pub const GOOD: Self = Self {
        time: Duration::from_millis(1),
        noise: 0.0,
        absent: false,
        full: false,
        fails_at: None,
        gone_from: None,
        hangs_at: None,
        lies_from: None,
        slow_from: None,
        throttles_from: None,
        no_clock: false,
        empty_run: None,
        bus: None,
        refuses: None,
    };

    /// Parses comma-separated words: `time_us=500`, `noise=0.01`, `absent`, `full`, `fails_at=7`,
    /// `gone_from=7`, `hangs_at=7`, `lies_from=7`, `slow_from=7`, `throttles_from=7`, `no_clock`, `empty_us=7`, `bus=3`,
    /// `refuses=copy`.
    /// `None` for any other word.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.try_fold(Self::GOOD, Self::with)
    }

    /// Place on its bus.
    pub fn address(&self) -> Option<String> {
        self.bus.map(|bus| format!("0000:{bus:02x}:00.0"))
    }

    fn is_gone(&self, calls: u64) -> bool {
        self.gone_from.is_some_and(|from| calls >= from)
    }

    fn with(mut self, word: &str) -> Option<Self> {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let call = || value.parse::<u64>().ok();
        match key {
            "time_us" => self.time = Duration::from_micros(call()?),
            "noise" => self.noise = value.parse().ok().filter(|x: &f64| (0.0..=0.1).contains(x))?,
            "absent" => self.absent = true,
            "full" => self.full = true,
            "fails_at" => self.fails_at = Some(call()?),
            "gone_from" => self.gone_from = Some(call()?),
            "hangs_at" => self.hangs_at = Some(call()?),
            "lies_from" => self.lies_from = Some(call()?),
            "slow_from" => self.slow_from = Some(call()?),
            "throttles_from" => self.throttles_from = Some(call()?),
            "no_clock" => self.no_clock = true,
            "refuses" => {
                self.refuses = Some(KERNELS.into_iter().find(|kernel| *kernel == value)?);
            }
            "bus" => self.bus = Some(value.parse().ok()?),
            "empty_us" => self.empty_run = Some(Duration::from_micros(call()?)),
            _ => return None,
        }
        Some(self)
    }
}

/// Kernels of every scripted device.
const KERNELS: [&str; 5] = ["read", "copy", "triad", "fma_fp32", "dot_int8"];

/// Passes time: sleeps, or advances a scripted clock.
pub type Wait = Rc<RefCell<dyn FnMut(Duration)>>;

/// A device that follows a script.
pub struct Fake {
    script: Script,
    wait: Wait,
    /// Calls of the latest task.
    calls: Rc<Cell<u64>>,
    /// Calls of all tasks.
    all_calls: Rc<Cell<u64>>,
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fake").field("script", &self.script).finish_non_exhaustive()
    }
}

impl Fake {
    /// Its place among the devices.
    pub const ID: DeviceId = DeviceId { backend: BackendKind::Fake, index: 0 };
    /// The name that it reports.
    pub const NAME: &str = "scripted device";
    /// The memory that it reports.
    pub const MEMORY: Bytes = Bytes::from_gib(8.0);

    /// Kernels of every scripted device: those without formats, with buffers of [`BYTES`].
    pub fn supported() -> Support {
        let kernel = |key| KernelSupport { key, formats: Vec::new() };
        Support {
            kernels: KERNELS.map(kernel).into(),
            cache_bytes: BYTES.into(),
            cold_bytes: BYTES.into(),
            peak_side: None,
            hot_bytes: BYTES.into(),
        }
    }

    /// Bytes of any work.
    pub const fn needed() -> u64 {
        BYTES as u64
    }

    /// A device for a script.
    pub fn new(script: Script, wait: Wait) -> Self {
        Self { script, wait, calls: Rc::default(), all_calls: Rc::default() }
    }
}

impl Backend for Fake {
    fn probe(&mut self) -> Result<(), Fault> {
        if self.script.absent { Err(Fault::NoDevice) } else { Ok(()) }
    }

    fn allocate(&mut self, work: &Work) -> Result<Box<dyn Task>, Fault> {
        if self.script.is_gone(self.all_calls.get()) {
            return Err(Fault::NoDevice);
        }
        if self.script.refuses == Some(work.kernel.key()) {
            return Err(Fault::Refused("the script refuses it".into()));
        }
        if self.script.full {
            return Err(Fault::NoMemory { bytes: BYTES.into(), most: Some(0) });
        }
        let random = Random::new(work.seed);
        let (script, wait) = (self.script, Rc::clone(&self.wait));
        self.calls = Rc::default();
        Ok(Box::new(FakeTask {
            script,
            wait,
            random,
            kernel: work.kernel,
            calls: Rc::clone(&self.calls),
            all_calls: Rc::clone(&self.all_calls),
            passed: Duration::ZERO,
            span: None,
        }))
    }

    fn describe(&self) -> Description {
        Description {
            driver: None,
            id: Self::ID,
            device: Self::NAME.into(),
            catalog_key: None,
            route: "script".into(),
            workers: 1,
            pinned: false,
            last_level_cache: None,
            address: self.script.address(),
            memory: Some(Self::MEMORY),
        }
    }

    fn support(&self) -> Support {
        Self::supported()
    }

    fn activations(&self, _: Kernel) -> Option<&'static QuantFormat> {
        None
    }

    fn needed(&self, _: &Work) -> u64 {
        Self::needed()
    }

    fn core_clock(&mut self, _: &dyn Clock) -> Option<Hertz> {
        let clock = self.script.clock_after(self.calls.get())?;
        (self.wait.borrow_mut())(CLOCK_READING);
        Some(Hertz::new(clock))
    }
}

struct FakeTask {
    script: Script,
    wait: Wait,
    random: Random,
    kernel: Kernel,
    calls: Rc<Cell<u64>>,
    all_calls: Rc<Cell<u64>>,
    /// Time of the calls since the last synchronization.
    passed: Duration,
    span: Option<DeviceSpan>,
}

impl Task for FakeTask {
    fn run(&mut self, _: u64) -> Result<(), Fault> {
        let call = self.calls.get();
        self.calls.set(call + 1);
        self.all_calls.set(self.all_calls.get() + 1);
        if self.script.is_gone(self.all_calls.get()) {
            return Err(Fault::NoDevice);
        }
        let is_past = |from: Option<u64>| from.is_some_and(|from| call >= from);
        if self.script.fails_at == Some(call) {
            return Err(Fault::Device("scripted failure".into()));
        }
        let slower = if is_past(self.script.slow_from) { 2.0 } else { 1.0 };
        let time =
            self.script.time.mul_f64(slower * (1.0 + self.script.noise * self.random.normal()));
        let time = if self.script.hangs_at == Some(call) { FOREVER } else { time };
        (self.wait.borrow_mut())(time);
        self.passed += time;
        Ok(())
    }

    fn synchronize(&mut self) -> Result<(), Fault> {
        let passed = std::mem::take(&mut self.passed);
        self.span = self.script.empty_run.map(|empty| DeviceSpan {
            ticks: nanoseconds(passed.saturating_add(empty)),
            empty_ticks: nanoseconds(empty),
            ticks_per_second: TICKS_PER_SECOND,
            cores_hz: self.script.clock_after(self.calls.get()),
        });
        Ok(())
    }

    fn ticks_per_second(&self) -> Option<f64> {
        self.script.empty_run.map(|_| TICKS_PER_SECOND)
    }

    fn device_span(&mut self) -> Option<DeviceSpan> {
        self.span.take()
    }

    fn check(&mut self) -> Result<Check, Fault> {
        let lies = self.script.lies_from.is_some_and(|from| self.calls.get() >= from);
        Ok(Check { worst_error: if lies { 1.0 } else { 0.0 }, tolerance: 0.0 })
    }

    fn cost(&self) -> Cost {
        let amount = f64::from(BYTES);
        match self.kernel {
            Kernel::Fma | Kernel::Dot | Kernel::TensorCores(_) => {
                Cost { bytes: Bytes::ZERO, flops: Flops::new(amount) }
            }
            _ => Cost { bytes: Bytes::new(amount), flops: Flops::ZERO },
        }
    }

    fn footprint(&self) -> Bytes {
        Bytes::new(BYTES.into())
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_read_and_nonsense_is_refused() {
        let script = Script {
            time: Duration::from_micros(500),
            fails_at: Some(7),
            absent: true,
            ..Script::GOOD
        };
        assert_eq!(Script::parse("time_us=500, fails_at=7,absent"), Some(script));
        assert_eq!(Script::parse(""), Some(Script::GOOD));
        for bad in ["fails", "fails_at", "fails_at=x", "noise=9", "noise=nan"] {
            assert_eq!(Script::parse(bad), None, "{bad}");
        }
    }
}
