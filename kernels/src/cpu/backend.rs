//! The backend `cpu`.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use calc_core::quant_format::QuantFormat;
use calc_core::units::{Bytes, Hertz};

use half::{bf16, f16};

use super::isa::Isa;
use super::launch::{CarrierLaunch, StoredLaunch};
use super::task::{
    AttentionTask, EmbeddingTask, GemmTask, GemvTask, PeakTask, RowTask, StreamTask,
};
use super::threads::Pool;
use super::{available_memory, core_clock, device, gemm, gemv, lanes, peak, stream, support};
use crate::backend::{
    AttentionSizes, Backend, Cache, Description, DeviceId, Element, EmbeddingSizes, Fault, Kernel,
    RopeSizes, RowSizes, StoredFloat, Support, Task, Work,
};
use crate::measure::Clock;
use crate::pack::minifloat::Fp8;
use crate::rotation::{LastLevelCache, MIN_COLD, rotated};

/// Fewest sets of cold buffers.
pub const LEAST_SETS: u64 = 2;

/// A pool of pinned threads with the instruction set of their kernels.
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
    /// Without a number, one worker per physical core; without an instruction set, the widest that the processor has.
    pub fn new(workers: Option<usize>, isa: Option<Isa>) -> Self {
        let pool = Pool::new(workers);
        let last_level_cache = device::last_level_cache(pool.cores());
        Self {
            pool: Rc::new(RefCell::new(pool)),
            isa: isa.unwrap_or_else(Isa::best),
            last_level_cache,
        }
    }

    /// The task of a kernel of a layer beside its products.
    fn layer_task(&self, work: &Work, sets: u64) -> Result<Box<dyn Task>, Fault> {
        match work.kernel {
            Kernel::Attention(AttentionSizes { cache: stored, .. })
            | Kernel::Embedding(EmbeddingSizes { table: stored, .. }) => match stored {
                StoredFloat::Fp32 => self.stored_task::<f32>(work, sets),
                StoredFloat::Fp16 => self.stored_task::<f16>(work, sets),
                StoredFloat::Bf16 => self.stored_task::<bf16>(work, sets),
                StoredFloat::Fp8E4m3 => self.stored_task::<Fp8>(work, sets),
            },
            Kernel::Norm(RowSizes { carrier, .. })
            | Kernel::Gate(RowSizes { carrier, .. })
            | Kernel::Rope(RopeSizes { carrier, .. }) => match carrier {
                StoredFloat::Fp32 => self.row_task::<f32>(work, sets),
                StoredFloat::Fp16 => self.row_task::<f16>(work, sets),
                StoredFloat::Bf16 | StoredFloat::Fp8E4m3 => Err(Fault::Unsupported),
            },
            _ => Err(Fault::Unsupported),
        }
    }

    fn stored_task<T: StoredLaunch>(&self, work: &Work, sets: u64) -> Result<Box<dyn Task>, Fault> {
        let (pool, isa) = (Rc::clone(&self.pool), self.isa);
        Ok(match work.kernel {
            Kernel::Attention(sizes) => {
                Box::new(AttentionTask::<T>::new(pool, isa, work, sizes, sets)?)
            }
            Kernel::Embedding(sizes) => {
                Box::new(EmbeddingTask::<T>::new(pool, isa, work, sizes, sets)?)
            }
            _ => return Err(Fault::Unsupported),
        })
    }

    fn row_task<T: CarrierLaunch>(&self, work: &Work, sets: u64) -> Result<Box<dyn Task>, Fault> {
        let (pool, isa) = (Rc::clone(&self.pool), self.isa);
        Ok(Box::new(match work.kernel {
            Kernel::Norm(sizes) => RowTask::<T>::norm(pool, isa, work, sizes, sets)?,
            Kernel::Rope(sizes) => RowTask::<T>::rope(pool, isa, work, sizes, sets)?,
            Kernel::Gate(sizes) => RowTask::<T>::gate(pool, isa, work, sizes, sets)?,
            _ => return Err(Fault::Unsupported),
        }))
    }

    fn cache(&self) -> LastLevelCache {
        LastLevelCache::or_assumed(self.last_level_cache)
    }

    /// Sets of buffers for this work, if they fit.
    fn sets(&self, work: &Work) -> Result<u64, Fault> {
        let (bytes, cache) = (rotated(&work.kernel), self.cache());
        if work.cache == Cache::Hot && bytes > cache.0 {
            return Err(Fault::NoCache { bytes, cache: cache.0 });
        }
        if work.cache == Cache::Cold
            && bytes < MIN_COLD
            && !matches!(work.kernel, Kernel::Fma | Kernel::Dot)
        {
            return Err(Fault::TooSmall { bytes, least: MIN_COLD });
        }
        has_memory(self.needed(work))?;
        Ok(cache.sets(work.cache, bytes, LEAST_SETS))
    }
}

impl Backend for Cpu {
    fn probe(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn allocate(&mut self, work: &Work) -> Result<Box<dyn Task>, Fault> {
        let (pool, sets) = (Rc::clone(&self.pool), self.sets(work)?);
        Ok(match work.kernel {
            Kernel::Read { .. } | Kernel::Copy { .. } | Kernel::Triad { .. } => {
                Box::new(StreamTask::new(pool, self.isa, work, sets))
            }
            Kernel::Gemv(product) => Box::new(GemvTask::new(pool, self.isa, work, product, sets)?),
            Kernel::Gemm(product) => Box::new(GemmTask::new(pool, self.isa, work, product, sets)?),
            Kernel::Fma | Kernel::Dot => Box::new(PeakTask::new(pool, self.isa, work)),
            Kernel::TensorCores(_) => return Err(Fault::Unsupported),
            Kernel::Attention(_)
            | Kernel::Norm(_)
            | Kernel::Rope(_)
            | Kernel::Gate(_)
            | Kernel::Embedding(_) => return self.layer_task(work, sets),
        })
    }

    fn describe(&self) -> Description {
        let pool = self.pool.borrow();
        Description {
            driver: None,
            id: DeviceId::CPU,
            device: device::name(),
            catalog_key: None,
            route: self.isa.level().key().into(),
            workers: pool.len(),
            pinned: pool.is_pinned(),
            last_level_cache: self.last_level_cache,
            address: None,
            memory: None,
        }
    }

    fn support(&self) -> Support {
        support::of(self.cache())
    }

    fn activations(&self, kernel: Kernel) -> Option<&'static QuantFormat> {
        support::activations(kernel)
    }

    fn needed(&self, work: &Work) -> u64 {
        self.cache().needed(&work.kernel, work.cache, LEAST_SETS)
    }

    fn route(&self, kernel: Kernel) -> String {
        let level = match kernel {
            Kernel::Read { .. } | Kernel::Copy { .. } | Kernel::Triad { .. } => {
                stream::level(self.isa)
            }
            Kernel::Fma => peak::fma_level(self.isa),
            Kernel::Dot | Kernel::TensorCores(_) => self.isa.level(),
            Kernel::Gemv(_) => gemv::level(self.isa),
            Kernel::Attention(_)
            | Kernel::Norm(_)
            | Kernel::Rope(_)
            | Kernel::Gate(_)
            | Kernel::Embedding(_) => lanes::level(self.isa),
            Kernel::Gemm(product) if product.element == Element::Int8 => gemm::int8_level(self.isa),
            // The library selects its instruction set itself.
            Kernel::Gemm(_) => return gemm::LIBRARY.into(),
        };
        level.key().into()
    }

    /// Mean over the workers' cores, all measured at the same time.
    fn core_clock(&mut self, _: &dyn Clock) -> Option<Hertz> {
        let mut pool = self.pool.borrow_mut();
        let workers = pool.len();
        // The clock of the measurement may belong to its thread; workers share the system clock.
        let system = super::clock::SystemClock::new();
        let found = std::sync::Mutex::new(Vec::with_capacity(workers));
        pool.run(|_| {
            let speed = core_clock::measured_hz(&system);
            if let (Some(speed), Ok(mut found)) = (speed, found.lock()) {
                found.push(speed);
            }
        });
        let found = found.into_inner().ok().filter(|found| found.len() == workers)?;
        Some(Hertz::new(found.iter().sum::<f64>() / workers as f64))
    }
}

/// Refuses more than nine tenths of the available memory; accepts everything where the system does not report it.
fn has_memory(bytes: u64) -> Result<(), Fault> {
    let most = available_memory().map(|left| left / 10 * 9);
    match most {
        Some(most) if bytes > most => Err(Fault::NoMemory { bytes, most: Some(most) }),
        _ => usize::try_from(bytes)
            .ok()
            // A limit of this process alone shows when it asks for the memory; it is given back untouched.
            .and_then(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).ok())
            .ok_or(Fault::NoMemory { bytes, most }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{GemmShape, GemvShape};
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
        let cache = cpu.cache().0;
        for bytes in [1 << 20, cache, 16 * cache] {
            let sets = cpu.cache().sets(Cache::Cold, bytes, LEAST_SETS);
            assert!(sets >= 2 && sets * bytes >= 4 * cache, "{bytes}");
            assert_eq!(cpu.cache().sets(Cache::Hot, bytes, LEAST_SETS), 1);
        }
        assert!(cpu.support().cold_bytes >= 4 * cache);
    }

    #[test]
    fn cold_products_of_any_format_cover_the_cache_four_times() {
        let mut cpu = Cpu::new(Some(1), None);
        let cover = 4.0 * cpu.cache().0 as f64;
        let kernels = gemm::ELEMENTS
            .iter()
            .map(|element| Kernel::Gemm(GemmShape { element: *element, m: 1, n: 1024, k: 1024 }));
        let layouts = [Layout::Fp32, Layout::Int4G128];
        let kernels = kernels.chain(
            layouts.map(|layout| Kernel::Gemv(GemvShape { layout, m: 1, n: 1024, k: 1024 })),
        );
        for kernel in kernels {
            let task = cpu.allocate(&Work { kernel, cache: Cache::Cold, seed: 1 }).unwrap();
            assert!(task.footprint().get() >= cover, "{kernel:?}: {}", task.footprint().get());
        }
    }

    #[test]
    fn what_does_not_fit_the_caches_is_not_called_hot() {
        let mut cpu = Cpu::new(Some(1), None);
        let cache = cpu.cache().0;
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
            let gemm = |element| Kernel::Gemm(GemmShape { element, m: 2, n: 2, k: 2 });
            assert_eq!(cpu.route(Kernel::Dot), isa.level().key());
            assert_eq!(cpu.route(gemm(Element::Fp32)), "gemm_0.19");
            let narrow = matches!(isa.level(), Level::AvxVnni | Level::Avx512);
            if narrow {
                assert_eq!(cpu.route(gemm(Element::Int8)), "avx2");
                assert_eq!(
                    cpu.route(Kernel::Gemv(GemvShape { layout: Layout::Int8, m: 1, n: 1, k: 1 })),
                    "avx2"
                );
            }
        }
    }

    #[test]
    fn operands_too_small_to_be_cold_are_refused_before_anything_is_allocated() {
        let mut cpu = Cpu::new(Some(1), None);
        let tiny = [
            Kernel::Gemv(GemvShape { layout: Layout::Fp16, m: 1, n: 1, k: 1 }),
            Kernel::Gemm(GemmShape { element: Element::Fp32, m: 1, n: 1, k: 1 }),
        ];
        for kernel in tiny {
            let refused = cpu.allocate(&Work { kernel, cache: Cache::Cold, seed: 1 }).err();
            assert!(
                matches!(refused, Some(Fault::TooSmall { least: MIN_COLD, .. })),
                "{kernel:?}: {refused:?}"
            );
            assert!(cpu.allocate(&Work { kernel, cache: Cache::Hot, seed: 1 }).is_ok());
        }
        let rows = 1_000_000_000_000;
        let long = Kernel::Gemv(GemvShape { layout: Layout::Int8, m: 1, n: rows, k: 1 });
        let refused = cpu.allocate(&Work { kernel: long, cache: Cache::Cold, seed: 1 }).err();
        assert!(matches!(refused, Some(Fault::NoMemory { .. })), "{refused:?}");
    }

    #[test]
    fn more_than_there_is_room_for_is_refused() {
        let mut cpu = Cpu::new(Some(1), None);
        let work = Work { kernel: Kernel::Read { bytes: 1 << 60 }, cache: Cache::Cold, seed: 1 };
        let refused = cpu.allocate(&work).err();
        if cfg!(target_os = "linux") {
            let Some(Fault::NoMemory { bytes, most: Some(most) }) = refused else {
                panic!("{refused:?}")
            };
            assert!(bytes == 1 << 61 && (1..bytes).contains(&most), "{bytes} {most}");
        }
    }
}
