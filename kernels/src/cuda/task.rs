//! A problem on a GPU: buffers of all sets in memory, windows of calls as graphs, and their time by the device's events.

mod search;

use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Instant;

use cudarc::driver::{CudaEvent, CudaFunction, CudaGraph};

use calc_core::units::Bytes;

use super::call::Call;
use super::call::streams::clock;
use super::cublaslt::{Candidate, Product};
use super::errors::of_this_work;
use super::gpu::{Gpu, Memory};
use super::problem::{CallBuffer, Problem};
use crate::backend::{Check, Cost, Fault, Task};
use crate::compare::SampledOutput;
use crate::measure::{DeviceSpan, Stopped};

/// Most calls of a graph; a window of more launches it again.
const LONGEST_GRAPH: u64 = 16_384;
/// Graphs that are kept; a warm-up tries windows of several lengths.
const KEPT_GRAPHS: usize = 4;
/// Each set of a buffer begins at a multiple of this [B], as allocations do.
const ALIGNMENT: u64 = 256;
/// Runs of an empty graph, of which the median counts.
const EMPTY_RUNS: usize = 21;
/// Wait of the GPU before a window [ns], at least and at most: it covers the time in which the host starts the graph.
const LEAD: (u64, u64) = (30_000, 2_000_000);
/// Bytes that the kernel writes per multiprocessor: cycles and nanoseconds.
pub(super) const CYCLES_AND_TIME: u64 = 16;
/// Events count nanoseconds here.
const TICKS_PER_SECOND: f64 = 1e9;

/// The kernel that a GPU waits by, so that a window's first call is there when its begin is noted.
pub(super) struct Lead {
    function: CudaFunction,
    /// The cycles and nanoseconds of its wait.
    scratch: Memory,
}

impl Lead {
    pub(super) fn new(gpu: &Gpu, function: CudaFunction) -> Result<Self, Fault> {
        Ok(Self { function, scratch: gpu.allocate(CYCLES_AND_TIME)? })
    }

    fn start(&self, gpu: &Gpu, nanoseconds: u64) -> Result<(), Fault> {
        gpu.launch(&self.function, &clock(nanoseconds, 1), &[self.scratch.address(0)])
    }

    /// Clock of its multiprocessor while it waited last [Hz]; `None` for a timer that stood still. Its error is the timer's step over
    /// the wait.
    fn cores_hz(&self, gpu: &Gpu) -> Result<Option<f64>, Fault> {
        let read = gpu.read(&self.scratch, 0, CYCLES_AND_TIME)?;
        Ok(rates(&read).next().filter(|rate| rate.is_finite() && *rate > 0.0))
    }
}

/// Clocks of multiprocessors [Hz] from the output of the kernel that waits.
pub(super) fn rates(output: &[u8]) -> impl Iterator<Item = f64> {
    let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes) as f64;
    let pairs = output.as_chunks::<8>().0.as_chunks::<2>().0;
    pairs.iter().map(move |[cycles, nanoseconds]| number(cycles) / number(nanoseconds) * 1e9)
}

/// Starts the calls of a task.
pub(super) enum Runner {
    /// A kernel of our own.
    Kernel(CudaFunction, Call),
    /// A product of a library, by the algorithm that is in use.
    Product(Box<Multiplication>),
}

/// A product of a library with the algorithms that it may run by; one of them is in use.
pub(super) struct Multiplication {
    pub(super) product: Product,
    pub(super) candidates: Vec<Candidate>,
    pub(super) in_use: usize,
    /// Takes the route of the algorithm in use.
    pub(super) told: Box<dyn Fn(String)>,
}

impl Runner {
    fn start(&self, gpu: &Gpu, addresses: &[u64]) -> Result<(), Fault> {
        match self {
            Self::Kernel(function, call) => gpu.launch(function, call, addresses),
            Self::Product(it) => {
                let addresses = addresses.try_into().expect("the buffers of a product");
                it.product.start(&it.candidates[it.in_use], addresses)
            }
        }
    }
}

pub(super) struct CudaTask {
    gpu: Rc<Gpu>,
    lead: Rc<Lead>,
    /// Wait before a window [ns].
    wait: u64,
    runner: Runner,
    problem: Problem,
    /// The memory of each buffer, and the distance between its sets [B]; 0 where all share one.
    memory: Vec<(Memory, u64)>,
    sets: u64,
    /// Graphs by the number of their calls, the oldest first.
    graphs: Vec<(u64, CudaGraph)>,
    begin: CudaEvent,
    end: CudaEvent,
    /// Time of a graph without calls [ns].
    empty: u64,
    /// Whether calls were started since the last synchronization.
    is_running: bool,
    span: Option<DeviceSpan>,
}

/// The distance between the sets of a buffer [B].
fn stride(buffer: &CallBuffer) -> u64 {
    buffer.bytes.next_multiple_of(ALIGNMENT)
}

/// Bytes that a problem takes with so many sets.
pub(super) fn footprint(problem: &Problem, sets: u64) -> u64 {
    let of = |buffer: &CallBuffer| {
        let count = if buffer.of_set { sets } else { 1 };
        stride(buffer).saturating_mul(count)
    };
    problem.buffers.iter().map(of).fold(0, u64::saturating_add)
}

impl CudaTask {
    /// # Errors
    /// Not enough memory, or the device fails.
    pub(super) fn new(
        gpu: Rc<Gpu>,
        lead: Rc<Lead>,
        runner: Runner,
        problem: Problem,
        sets: u64,
    ) -> Result<Self, Fault> {
        let mut memory = Vec::with_capacity(problem.buffers.len());
        for buffer in &problem.buffers {
            let step = if buffer.of_set { stride(buffer) } else { 0 };
            let count = if buffer.of_set { sets } else { 1 };
            memory.push((gpu.allocate(stride(buffer).saturating_mul(count))?, step));
        }
        let (begin, end) = (gpu.event()?, gpu.event()?);
        let empty = empty_run(&gpu, &lead, &begin, &end)?;
        let task = Self {
            gpu,
            lead,
            wait: LEAD.0,
            runner,
            problem,
            memory,
            sets,
            graphs: Vec::new(),
            begin,
            end,
            empty,
            is_running: false,
            span: None,
        };
        for set in 0..sets {
            task.fill(set, |buffer| buffer.of_set || set == 0)?;
        }
        Ok(task)
    }

    /// Fills buffers of a set with what they hold before a call.
    fn fill(&self, set: u64, which: impl Fn(&CallBuffer) -> bool) -> Result<(), Fault> {
        for (buffer, (memory, step)) in self.problem.buffers.iter().zip(&self.memory) {
            if which(buffer) {
                self.gpu.fill(memory, set * step, buffer.bytes, &buffer.period(set))?;
            }
        }
        Ok(())
    }

    fn start(&self, iteration: u64) -> Result<(), Fault> {
        let set = iteration % self.sets;
        let address = |(memory, step): &(Memory, u64)| memory.address(set * step);
        let addresses: Vec<u64> = self.memory.iter().map(address).collect();
        self.runner.start(&self.gpu, &addresses)
    }

    /// Notes the begin of a window.
    fn begin(&mut self) -> Result<(), Fault> {
        if !self.is_running {
            self.lead.start(&self.gpu, self.wait)?;
            self.gpu.record(&self.begin)?;
            self.is_running = true;
        }
        Ok(())
    }

    /// The failure of a call is the failure of this work alone where the GPU works on: a library may fail for the first time while it is timed. A
    /// GPU that failed says so again.
    fn of_this_work<T>(&mut self, found: Result<T, Fault>) -> Result<T, Fault> {
        if let Err(Fault::Device(_)) = &found {
            self.is_running = false;
            self.gpu.synchronize()?;
        }
        found.map_err(of_this_work)
    }

    /// Starts the calls of a window, as graphs where it has whole turns.
    fn start_window(&mut self, first: u64, calls: u64) -> Result<(), Fault> {
        if !first.is_multiple_of(self.sets) || !calls.is_multiple_of(self.sets) {
            return (first..first + calls).try_for_each(|iteration| {
                self.begin()?;
                self.start(iteration)
            });
        }
        let longest = (LONGEST_GRAPH / self.sets).max(1) * self.sets;
        let lengths = [longest, calls % longest];
        let mut left = calls;
        // Graphs are made before the window begins, and show how long their start takes the host.
        for length in lengths.into_iter().filter(|length| *length > 0 && *length <= calls) {
            if !self.has_graph(length) {
                self.launch_graph(length)?;
                self.gpu.synchronize()?;
                let start = Instant::now();
                self.launch_graph(length)?;
                let took = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
                self.wait = took.saturating_mul(3).clamp(LEAD.0, LEAD.1);
            }
        }
        self.gpu.synchronize()?;
        self.begin()?;
        while left > 0 {
            let length = left.min(longest);
            self.launch_graph(length)?;
            left -= length;
        }
        Ok(())
    }

    /// Waits for all calls, and keeps the time of the window that they were of.
    fn end_window(&mut self) -> Result<(), Fault> {
        self.gpu.record(&self.end)?;
        self.gpu.synchronize()?;
        if std::mem::take(&mut self.is_running) {
            let ticks = self.gpu.nanoseconds(&self.begin, &self.end)?;
            self.span = Some(DeviceSpan {
                ticks,
                empty_ticks: self.empty,
                ticks_per_second: TICKS_PER_SECOND,
                cores_hz: self.lead.cores_hz(&self.gpu)?,
            });
        }
        Ok(())
    }

    /// Compares the results of a call on each set with those of the reference.
    fn compare(&self) -> Result<Check, Fault> {
        // Problems give errors over their tolerance.
        Check::worst_of(1.0, self.sets, |which| {
            Ok((self.problem.error)(which, &self.written(which)?))
        })
    }

    /// Output of a call on a set.
    fn written(&self, which: u64) -> Result<Vec<Vec<u8>>, Fault> {
        self.fill(which, |buffer| buffer.is_written)?;
        self.start(which)?;
        self.gpu.synchronize()?;
        let written = self.problem.buffers.iter().zip(&self.memory);
        let written = written.filter(|(buffer, _)| buffer.is_written);
        let read = written.map(|(buffer, (memory, step))| match &buffer.parts {
            None => self.gpu.read(memory, which * step, buffer.bytes),
            Some(parts) => {
                let read = parts.iter().map(|part| {
                    self.gpu.read(memory, which * step + part.start, part.end - part.start)
                });
                Ok(read.collect::<Result<Vec<Vec<u8>>, Fault>>()?.concat())
            }
        });
        read.collect()
    }

    fn has_graph(&self, calls: u64) -> bool {
        self.graphs.iter().any(|(of, _)| *of == calls)
    }

    /// Launches a graph of so many calls, which begin with the first set.
    fn launch_graph(&mut self, calls: u64) -> Result<(), Fault> {
        if !self.has_graph(calls) {
            if self.graphs.len() >= KEPT_GRAPHS {
                self.graphs.remove(0);
            }
            let graph = self.gpu.graph(|| (0..calls).try_for_each(|call| self.start(call)))?;
            self.graphs.push((calls, graph));
        }
        let graph = self.graphs.iter().find(|(of, _)| *of == calls);
        let (_, graph) = graph.expect("it was made above");
        self.gpu.launch_graph(graph)
    }
}

/// Time of a graph without calls between two events: the median of several runs [ns].
fn empty_run(gpu: &Gpu, lead: &Lead, begin: &CudaEvent, end: &CudaEvent) -> Result<u64, Fault> {
    let graph = gpu.graph(|| Ok(()))?;
    let mut times = Vec::with_capacity(EMPTY_RUNS);
    for _ in 0..EMPTY_RUNS {
        lead.start(gpu, LEAD.0)?;
        gpu.record(begin)?;
        gpu.launch_graph(&graph)?;
        gpu.record(end)?;
        gpu.synchronize()?;
        times.push(gpu.nanoseconds(begin, end)?);
    }
    times.sort_unstable();
    Ok(times[EMPTY_RUNS / 2])
}

impl Task for CudaTask {
    fn choose(
        &mut self,
        go_on: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<(), Stopped<Fault>> {
        self.search(go_on)
    }

    fn run(&mut self, iteration: u64) -> Result<(), Fault> {
        let found = self.begin().and_then(|()| self.start(iteration));
        self.of_this_work(found)
    }

    /// Whole turns through the sets, so that each window begins with the first one.
    fn multiple(&self) -> u64 {
        self.sets
    }

    fn run_window(&mut self, first: u64, calls: u64) -> Result<(), Fault> {
        let found = self.start_window(first, calls);
        self.of_this_work(found)
    }

    fn synchronize(&mut self) -> Result<(), Fault> {
        let found = self.end_window();
        self.of_this_work(found)
    }

    fn ticks_per_second(&self) -> Option<f64> {
        // Events have a resolution of half a microsecond.
        Some(2e6)
    }

    fn device_span(&mut self) -> Option<DeviceSpan> {
        self.span.take()
    }

    fn check(&mut self) -> Result<Check, Fault> {
        let found = self.compare();
        self.of_this_work(found)
    }

    fn outputs(&mut self) -> Result<Vec<SampledOutput>, Fault> {
        let Some(outputs) = &self.problem.outputs else { return Ok(Vec::new()) };
        let found = self.written(0).map(|written| outputs(&written));
        self.of_this_work(found)
    }

    fn cost(&self) -> Cost {
        self.problem.cost
    }

    fn footprint(&self) -> Bytes {
        Bytes::new(self.problem.needed(self.sets) as f64)
    }
}

impl Drop for CudaTask {
    fn drop(&mut self) {
        // Memory is given back after the last call has ended; a failure was told before.
        let _ = self.gpu.synchronize();
    }
}
