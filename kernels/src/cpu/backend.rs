//! The processor as a backend.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use calc_core::units::{Bytes, Hertz};

use super::isa::Isa;
use super::task::{DISTINCT, GemmTask, GemvTask, PAGE, PeakTask, StreamTask};
use super::threads::Pool;
use super::{device, gemm, gemv, peak, speed, stream};
use crate::backend::{
    Backend, Cache, Description, Element, Fault, Kernel, MatrixProduct, Product, Task, Work,
};
use crate::measure::Clock;

/// Last-level cache that is assumed where the system does not tell: more than most have.
const UNKNOWN_CACHE: u64 = 128 << 20;
/// Cold buffers cover this many times the last-level cache.
const COVER: u64 = 4;
/// Smallest operand that is measured cold: of smaller ones millions would take turns.
const LEAST_COLD: u64 = 1024;
/// At least this many cold buffers, so that the end of one call is not the start of the next.
const LEAST_COPIES: u64 = 2;

/// Threads of this process on the cores of this machine.
pub struct Cpu {
    pool: Rc<RefCell<Pool>>,
    isa: Isa,
    last_level_cache: Option<Bytes>,
}

impl fmt::Debug for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cpu").field("isa", &self.isa).finish_non_exhaustive()
    }
}

impl Cpu {
    /// As many workers as asked for, else one per physical core; on the widest instruction set unless another is given.
    pub fn new(workers: Option<usize>, isa: Option<Isa>) -> Self {
        let pool = Pool::new(workers);
        let last_level_cache = device::last_level_cache(pool.cores());
        Self {
            pool: Rc::new(RefCell::new(pool)),
            isa: isa.unwrap_or_else(Isa::best),
            last_level_cache,
        }
    }

    /// Bytes of an array that do not fit the caches: four times the last level, at least 64 MiB.
    pub fn cold_bytes(&self) -> u64 {
        (COVER * self.cache()).max(64 << 20)
    }

    fn cache(&self) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a size of a cache"
        )]
        self.last_level_cache.map_or(UNKNOWN_CACHE, |bytes| bytes.get() as u64)
    }

    /// How many sets of buffers of this size a call rotates over.
    fn copies(&self, cache: Cache, bytes: u64) -> u64 {
        match cache {
            Cache::Hot => 1,
            Cache::Cold => (COVER * self.cache()).div_ceil(bytes.max(1)).max(LEAST_COPIES),
        }
    }

    /// Bytes of an array that stays in the caches with two others: a quarter of the last level.
    pub fn hot_bytes(&self) -> u64 {
        self.cache() / 4
    }

    /// How many sets of buffers of this size there will be, if there is room for them.
    fn room(&self, cache: Cache, bytes: u64) -> Result<u64, Fault> {
        if cache == Cache::Hot && bytes > self.cache() {
            return Err(Fault::NoCache { bytes, cache: self.cache() });
        }
        if cache == Cache::Cold && bytes < LEAST_COLD {
            return Err(Fault::TooSmall { bytes, least: LEAST_COLD });
        }
        let copies = self.copies(cache, bytes);
        memory_for(bytes.saturating_mul(copies))?;
        Ok(copies)
    }

    fn stream(&self, work: &Work, bytes: u64, arrays: u64) -> Result<Box<dyn Task>, Fault> {
        // Arrays are whole pages.
        let bytes = bytes.max(1).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
        let copies = self.room(work.cache, bytes.saturating_mul(arrays))?;
        Ok(Box::new(StreamTask::new(Rc::clone(&self.pool), self.isa, work, copies)))
    }

    fn gemm(&self, work: &Work, product: MatrixProduct) -> Result<Box<dyn Task>, Fault> {
        let elements = product.n.saturating_mul(product.k);
        let weights = elements.saturating_mul(product.element.bytes());
        let copies = self.room(work.cache, weights)?;
        // Input and output are not rotated, but must fit, too.
        let sides = product.n.saturating_add(product.k).saturating_mul(product.m).saturating_mul(4);
        memory_for(weights.saturating_mul(copies).saturating_add(sides))?;
        Ok(Box::new(GemmTask::new(Rc::clone(&self.pool), self.isa, work, product, copies)?))
    }

    fn gemv(&self, work: &Work, product: Product) -> Result<Box<dyn Task>, Fault> {
        let stored = product.layout.format().stored_bytes(product.n, product.k).get();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let stored = stored as u64;
        let copies = self.room(work.cache, stored)?;
        // The output and the one it must equal, the input, and the rows that differ before they are packed.
        let rows = product.n.min(DISTINCT as u64);
        let sides =
            product.n.saturating_mul(32).saturating_add(product.k.saturating_mul(16 + 4 * rows));
        memory_for(stored.saturating_mul(copies).saturating_add(sides))?;
        let pool = Rc::clone(&self.pool);
        Ok(Box::new(GemvTask::new(pool, self.isa, work, product, copies)?))
    }
}

impl Backend for Cpu {
    fn probe(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn allocate(&mut self, work: &Work) -> Result<Box<dyn Task>, Fault> {
        match work.kernel {
            Kernel::Read { bytes } => self.stream(work, bytes, 1),
            Kernel::Copy { bytes } => self.stream(work, bytes, 2),
            Kernel::Triad { bytes } => self.stream(work, bytes, 3),
            Kernel::Gemv(product) => self.gemv(work, product),
            Kernel::Gemm(product) => self.gemm(work, product),
            Kernel::Fma | Kernel::Dot => {
                Ok(Box::new(PeakTask::new(Rc::clone(&self.pool), self.isa, work)))
            }
        }
    }

    fn describe(&self) -> Description {
        let pool = self.pool.borrow();
        Description {
            backend: "cpu",
            device: device::name(),
            route: self.isa.level().key().into(),
            workers: pool.len(),
            pinned: pool.is_pinned(),
            last_level_cache: self.last_level_cache,
        }
    }

    fn route(&self, kernel: Kernel) -> String {
        let level = match kernel {
            Kernel::Read { .. } | Kernel::Copy { .. } | Kernel::Triad { .. } => {
                stream::level(self.isa)
            }
            Kernel::Fma => peak::fma_level(self.isa),
            Kernel::Dot => self.isa.level(),
            Kernel::Gemv(_) => gemv::level(self.isa),
            Kernel::Gemm(product) if product.element == Element::Int8 => gemm::int8_level(self.isa),
            // It chooses by itself.
            Kernel::Gemm(_) => return gemm::LIBRARY.into(),
        };
        level.key().into()
    }

    /// The mean over the cores at work, all of them measured at once.
    fn speed(&mut self, _: &dyn Clock) -> Option<Hertz> {
        let mut pool = self.pool.borrow_mut();
        let workers = pool.len();
        // The clock of a measurement may belong to its thread; that of the system is the same for all workers.
        let system = super::clock::SystemClock::new();
        let found = std::sync::Mutex::new(Vec::with_capacity(workers));
        pool.run(|_| {
            let speed = speed::clock_hz(&system);
            if let (Some(speed), Ok(mut found)) = (speed, found.lock()) {
                found.push(speed);
            }
        });
        let found = found.into_inner().ok().filter(|found| found.len() == workers)?;
        Some(Hertz::new(found.iter().sum::<f64>() / workers as f64))
    }
}

/// Whether there is memory for so many bytes; where the system does not tell, there is.
fn memory_for(bytes: u64) -> Result<(), Fault> {
    match memory_left() {
        Some(left) if bytes > left / 10 * 9 => Err(Fault::NoMemory { bytes }),
        _ => usize::try_from(bytes)
            .ok()
            // A limit of this process alone shows when it asks for the memory; it is given back untouched.
            .and_then(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).ok())
            .ok_or(Fault::NoMemory { bytes }),
    }
}

/// Memory that is free or can be freed, in bytes. `None` where the system does not tell.
fn memory_left() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::clock::SystemClock;
    use crate::cpu::isa::Level;
    use crate::job;
    use crate::measure::{Plan, StopRule, WarmUp};
    use crate::pack::Layout;
    use std::ops::ControlFlow;
    use std::time::Duration;

    const SHORT: Plan = Plan {
        warm_up: WarmUp {
            least: Duration::ZERO,
            most: Duration::from_millis(1),
            slice: Duration::from_millis(1),
            spread: 0.02,
        },
        window: Duration::from_micros(1),
        rule: StopRule::Iterations(3),
    };

    #[test]
    fn every_kernel_on_every_instruction_set_is_right_and_takes_time() {
        for isa in Isa::available() {
            let mut cpu = Cpu::new(Some(2), Some(isa));
            for kernel in [
                Kernel::Read { bytes: 1_000_000 },
                Kernel::Copy { bytes: 1_000_000 },
                Kernel::Triad { bytes: 1_000_000 },
                Kernel::Fma,
                Kernel::Dot,
            ] {
                let work = Work { kernel, cache: Cache::Hot, seed: 1 };
                let watch = &mut |_| ControlFlow::Continue(());
                let outcome =
                    job::run(&SystemClock::new(), &mut cpu, &work, &SHORT, watch).unwrap();
                assert!(outcome.check.passed(), "{kernel:?} {}: {:?}", isa.level(), outcome.check);
                assert!(outcome.measurement.summary.median > 0.0);
                assert!(outcome.cost.bytes.get() + outcome.cost.flops.get() > 0.0);
            }
        }
    }

    #[test]
    fn cold_buffers_cover_the_cache_four_times_and_hot_ones_are_one() {
        let cpu = Cpu::new(Some(1), None);
        let cache = cpu.cache();
        for bytes in [1 << 20, cache, 16 * cache] {
            let copies = cpu.copies(Cache::Cold, bytes);
            assert!(copies >= 2 && copies * bytes >= 4 * cache, "{bytes}");
            assert_eq!(cpu.copies(Cache::Hot, bytes), 1);
        }
        assert!(cpu.cold_bytes() >= 4 * cache);
    }

    #[test]
    fn cold_products_of_any_format_cover_the_cache_four_times() {
        let mut cpu = Cpu::new(Some(1), None);
        let cover = 4.0 * cpu.cache() as f64;
        let kernels = gemm::ELEMENTS.iter().map(|element| {
            Kernel::Gemm(MatrixProduct { element: *element, m: 1, n: 1024, k: 1024 })
        });
        let layouts = [Layout::Fp32, Layout::Int4G128];
        let kernels =
            kernels.chain(layouts.map(|layout| Kernel::Gemv(Product { layout, n: 1024, k: 1024 })));
        for kernel in kernels {
            let task = cpu.allocate(&Work { kernel, cache: Cache::Cold, seed: 1 }).unwrap();
            assert!(task.footprint().get() >= cover, "{kernel:?}: {}", task.footprint().get());
        }
    }

    #[test]
    fn what_does_not_fit_the_caches_is_not_called_hot() {
        let mut cpu = Cpu::new(Some(1), None);
        let cache = cpu.cache();
        let mut hot = |bytes| {
            let work = Work { kernel: Kernel::Read { bytes }, cache: Cache::Hot, seed: 1 };
            cpu.allocate(&work).err()
        };
        assert_eq!(hot(cache / 2), None);
        assert_eq!(hot(2 * cache), Some(Fault::NoCache { bytes: 2 * cache, cache }));
    }

    #[test]
    fn a_route_is_what_runs_and_not_what_could() {
        for isa in Isa::available() {
            let cpu = Cpu::new(Some(1), Some(isa));
            let gemm = |element| Kernel::Gemm(MatrixProduct { element, m: 2, n: 2, k: 2 });
            assert_eq!(cpu.route(Kernel::Dot), isa.level().key());
            assert_eq!(cpu.route(gemm(Element::Fp32)), "gemm_0.19");
            let narrow = matches!(isa.level(), Level::AvxVnni | Level::Avx512);
            if narrow {
                assert_eq!(cpu.route(gemm(Element::Int8)), "avx2");
                assert_eq!(
                    cpu.route(Kernel::Gemv(Product { layout: Layout::Int8, n: 1, k: 1 })),
                    "avx2"
                );
            }
        }
    }

    #[test]
    fn operands_too_small_to_be_cold_are_refused_before_anything_is_allocated() {
        let mut cpu = Cpu::new(Some(1), None);
        let tiny = [
            Kernel::Gemv(Product { layout: Layout::Fp16, n: 1, k: 1 }),
            Kernel::Gemm(MatrixProduct { element: Element::Fp32, m: 1, n: 1, k: 1 }),
        ];
        for kernel in tiny {
            let refused = cpu.allocate(&Work { kernel, cache: Cache::Cold, seed: 1 }).err();
            assert!(
                matches!(refused, Some(Fault::TooSmall { least: LEAST_COLD, .. })),
                "{kernel:?}: {refused:?}"
            );
            assert!(cpu.allocate(&Work { kernel, cache: Cache::Hot, seed: 1 }).is_ok());
        }
        let long = Kernel::Gemv(Product { layout: Layout::Int8, n: 1_000_000_000_000, k: 1 });
        let refused = cpu.allocate(&Work { kernel: long, cache: Cache::Cold, seed: 1 }).err();
        assert!(matches!(refused, Some(Fault::NoMemory { .. })), "{refused:?}");
    }

    #[test]
    fn more_than_there_is_room_for_is_refused() {
        let mut cpu = Cpu::new(Some(1), None);
        let work = Work { kernel: Kernel::Read { bytes: 1 << 60 }, cache: Cache::Cold, seed: 1 };
        let refused = cpu.allocate(&work).err();
        if cfg!(target_os = "linux") {
            assert_eq!(refused, Some(Fault::NoMemory { bytes: 1 << 61 }));
        }
    }
}
