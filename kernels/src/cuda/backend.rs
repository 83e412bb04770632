//! The backend `cuda`.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use calc_core::quant_format::QuantFormat;
use calc_core::units::{Bytes, Hertz};

use super::call::Call;
use super::call::streams::{Peak, clock};
use super::cublaslt::{CublasLt, Product};
use super::errors::of_this_work;
use super::facts::Facts;
use super::gpu::Gpu;
use super::problem::{Called, Problem, layer, matrices, peaks, products, streams};
use super::programs::Programs;
use super::support;
use super::task::{CYCLES_AND_TIME, CudaTask, Lead, Multiplication, Runner, footprint, rates};
use crate::backend::{
    Backend, BackendKind, Description, DeviceId, Fault, GemmShape, Kernel, Support, Task, Work,
};
use crate::measure::Clock;

/// Time for which the clock of the multiprocessors is measured [ns].
const CLOCK_TIME: u64 = 300_000;

/// A GPU and its kernels.
pub struct Cuda {
    facts: Facts,
    gpu: Option<Rc<Gpu>>,
    lead: Option<Rc<Lead>>,
    programs: Programs,
    /// Routes of the programs that were loaded.
    routes: RefCell<Vec<(&'static str, String)>>,
    library: Option<Rc<CublasLt>>,
    /// Routes of products of matrices, the latest last.
    chosen: Rc<RefCell<Vec<(GemmShape, String)>>>,
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuda").field("facts", &self.facts).finish_non_exhaustive()
    }
}

impl Cuda {
    /// A GPU that was found; it is not opened yet.
    pub fn new(facts: Facts) -> Self {
        Self {
            facts,
            gpu: None,
            lead: None,
            programs: Programs::default(),
            routes: RefCell::default(),
            library: None,
            chosen: Rc::default(),
        }
    }

    fn gpu(&mut self) -> Result<Rc<Gpu>, Fault> {
        if let Some(gpu) = &self.gpu {
            return Ok(Rc::clone(gpu));
        }
        let gpu = Rc::new(Gpu::open(&self.facts)?);
        self.gpu = Some(Rc::clone(&gpu));
        Ok(gpu)
    }

    /// The kernel that windows begin with.
    fn lead(&mut self, gpu: &Gpu) -> Result<Rc<Lead>, Fault> {
        if let Some(lead) = &self.lead {
            return Ok(Rc::clone(lead));
        }
        let (function, _) = self.programs.function(gpu, &clock(0, 1))?;
        let lead = Rc::new(Lead::new(gpu, function)?);
        self.lead = Some(Rc::clone(&lead));
        Ok(lead)
    }

    /// A kernel of our own, ready to start.
    fn kernel(&self, gpu: &Gpu, call: Call) -> Result<Runner, Fault> {
        let (function, route) = self.programs.function(gpu, &call)?;
        let mut routes = self.routes.borrow_mut();
        if !routes.iter().any(|(program, _)| *program == call.program) {
            routes.push((call.program, route));
        }
        Ok(Runner::Kernel(function, call))
    }

    /// A product of matrices by the algorithm that the library proposes first.
    fn product(
        &mut self,
        gpu: &Rc<Gpu>,
        shape: GemmShape,
        workspace: u64,
    ) -> Result<Runner, Fault> {
        let library = match &self.library {
            Some(library) => Rc::clone(library),
            None => Rc::clone(self.library.insert(CublasLt::open(gpu)?)),
        };
        let proposed = Product::new(library, shape).and_then(|product| {
            let candidates = product.candidates(workspace)?;
            Ok((product, candidates))
        });
        let (product, candidates) = match proposed {
            Ok(proposed) => proposed,
            // A GPU that failed says so again.
            Err(fault) => return Err(gpu.synchronize().err().unwrap_or(of_this_work(fault))),
        };
        let chosen = Rc::clone(&self.chosen);
        let told = Box::new(move |route| chosen.borrow_mut().push((shape, route)));
        Ok(Runner::Product(Box::new(Multiplication { product, candidates, in_use: 0, told })))
    }

    /// The problem of a work, with the sets of buffers that calls rotate over.
    fn problem(&self, work: &Work, workspace: u64) -> Result<(Problem, u64), Fault> {
        let sets = support::sets(&self.facts, work)?;
        let Work { kernel, seed, .. } = *work;
        let problem = match kernel {
            Kernel::Read { .. } | Kernel::Copy { .. } | Kernel::Triad { .. } => {
                streams::problem(kernel, self.facts.processors, seed)?
            }
            Kernel::Fma => peaks::problem(Peak::Fp32, &self.facts),
            Kernel::Dot => peaks::problem(Peak::DotInt8, &self.facts),
            Kernel::TensorCores(element) => peaks::problem(support::peak(element), &self.facts),
            Kernel::Gemv(product) => {
                let version = support::version(product.layout, self.facts.capability);
                products::problem(version, product, seed)?
            }
            Kernel::Gemm(product) if support::multiplies(product.element, &self.facts) => {
                matrices::problem(product, seed, workspace)?
            }
            Kernel::Gemm(_) => return Err(Fault::Unsupported),
            Kernel::Attention(_)
            | Kernel::Norm(_)
            | Kernel::Rope(_)
            | Kernel::Gate(_)
            | Kernel::Embedding(_) => layer::problem(kernel, self.facts.capability, seed, sets)?,
        };
        Ok((problem, sets))
    }

    fn cores_clock(&mut self) -> Result<f64, Fault> {
        let gpu = self.gpu()?;
        let call = clock(CLOCK_TIME, self.facts.processors);
        let (function, _) = self.programs.function(&gpu, &call)?;
        let bytes = CYCLES_AND_TIME * u64::from(self.facts.processors);
        let memory = gpu.allocate(bytes)?;
        gpu.launch(&function, &call, &[memory.address(0)])?;
        gpu.synchronize()?;
        let read = gpu.read(&memory, 0, bytes)?;
        Ok(rates(&read).sum::<f64>() / f64::from(self.facts.processors))
    }
}

impl Backend for Cuda {
    fn probe(&mut self) -> Result<(), Fault> {
        let gpu = self.gpu()?;
        // Loading the clock's kernel between warm-up and samples would let the GPU cool down.
        self.lead(&gpu).map(|_| ())
    }

    fn allocate(&mut self, work: &Work) -> Result<Box<dyn Task>, Fault> {
        let gpu = self.gpu()?;
        let needed = support::needed(&self.facts, work);
        let free = gpu.free_memory()?;
        let most = free / 10 * 9;
        if needed > most {
            return Err(Fault::NoMemory { bytes: needed, most: Some(most) });
        }
        let workspace = support::WORKSPACE.min(free / 16);
        let (problem, sets) = self.problem(work, workspace)?;
        let bytes = footprint(&problem, sets);
        if bytes > most {
            return Err(Fault::NoMemory { bytes, most: Some(most) });
        }
        let lead = self.lead(&gpu)?;
        let runner = match &problem.call {
            Called::Kernel(call) => self.kernel(&gpu, call.clone())?,
            Called::Product(shape) => self.product(&gpu, *shape, workspace)?,
        };
        Ok(Box::new(CudaTask::new(gpu, lead, runner, problem, sets)?))
    }

    fn describe(&self) -> Description {
        let (major, minor) = self.facts.capability;
        Description {
            id: DeviceId { backend: BackendKind::Cuda, index: self.facts.index },
            device: self.facts.name.clone(),
            catalog_key: None,
            route: format!("CUDA {major}.{minor}"),
            workers: self.facts.processors as usize,
            pinned: false,
            last_level_cache: (self.facts.cache > 0).then(|| Bytes::new(self.facts.cache as f64)),
            address: self.facts.address.clone(),
            memory: self.facts.own_memory(),
            driver: Some(self.facts.driver()),
        }
    }

    fn support(&self) -> Support {
        support::of(&self.facts)
    }

    fn needed(&self, work: &Work) -> u64 {
        support::needed(&self.facts, work)
    }

    fn activations(&self, kernel: Kernel) -> Option<&'static QuantFormat> {
        support::activations(kernel, &self.facts)
    }

    /// Kernel and version, and how its program was made, once it was loaded; of a product of matrices the library's algorithm, once it was
    /// chosen.
    fn route(&self, kernel: Kernel) -> String {
        if let Kernel::Gemm(shape) = kernel {
            let chosen = self.chosen.borrow();
            let latest = chosen.iter().rev().find(|(of, _)| *of == shape);
            return latest.map_or_else(|| "cuBLASLt".to_owned(), |(_, route)| route.clone());
        }
        let (program, version) = support::program(kernel, self.facts.capability);
        let routes = self.routes.borrow();
        let made = routes.iter().find(|(of, _)| *of == program);
        match made {
            Some((_, route)) => format!("{version}, {route}"),
            None => version.to_owned(),
        }
    }

    /// Mean over the multiprocessors.
    fn core_clock(&mut self, _: &dyn Clock) -> Option<Hertz> {
        self.cores_clock().ok().filter(|rate| *rate > 0.0).map(Hertz::new)
    }
}
