//! A GPU through CUDA's driver. Everything that is not safe about the backend is in this file: memory, launches, graphs, events.

use std::cell::RefCell;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{
    self, CUdevice_attribute as Attribute, CUevent_flags, CUgraphInstantiate_flags,
    CUstreamCaptureMode,
};
use cudarc::driver::{
    CudaContext, CudaEvent, CudaFunction, CudaGraph, CudaModule, CudaSlice, CudaStream, DevicePtr,
};
use cudarc::nvrtc::Ptx;

use super::answer::answered;
use super::call::{Argument, Call};
use super::errors;
use super::facts::{Absent, Facts};
use super::libraries::{self, Library};
use crate::backend::Fault;
use crate::cpu::available_memory;

/// The GPUs of this machine, in the driver's order. It opens none.
///
/// # Errors
/// When there is none, or the driver does not work.
pub(crate) fn all() -> Result<Vec<Facts>, Absent> {
    if !libraries::has(Library::Driver) {
        return Err(Absent::NoDriver);
    }
    if let Some(why) = libraries::other_driver() {
        return Err(Absent::Failed(why));
    }
    let found = answered(0, || {
        result::init()?;
        let count = u32::try_from(result::device::get_count()?).unwrap_or(0);
        let cuda = version()?;
        (0..count).map(|index| facts(index, cuda)).collect::<Result<Vec<Facts>, DriverError>>()
    });
    match found {
        Ok(found) if found.is_empty() => Err(Absent::NoDevice),
        Ok(found) => Ok(found),
        Err(Fault::NoDevice) => Err(Absent::NoDevice),
        Err(Fault::Device(why)) => Err(Absent::Failed(why)),
        Err(other) => Err(Absent::Failed(format!("{other:?}"))),
    }
}

/// Version of CUDA that the driver knows: 1000 times the major one, and 10 times the minor one.
#[expect(unsafe_code, reason = "a question to the driver")]
fn version() -> Result<u32, DriverError> {
    let mut version = 0;
    // SAFETY: the driver writes one number.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result()?;
    Ok(version.unsigned_abs())
}

#[expect(unsafe_code, reason = "questions to the driver")]
fn facts(index: u32, cuda: u32) -> Result<Facts, DriverError> {
    let device = result::device::get(index.cast_signed())?;
    // SAFETY: the driver gave this device.
    let attribute = |which| unsafe { result::device::get_attribute(device, which) };
    let count = |which| attribute(which).map(|value| u32::try_from(value).unwrap_or(0));
    Ok(Facts {
        index,
        name: result::device::get_name(device)?,
        capability: (
            count(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            count(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        processors: count(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        clock: 1000 * u64::from(count(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?),
        cache: count(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
        // SAFETY: as above.
        memory: unsafe { result::device::total_mem(device) }? as u64,
        address: address(device),
        is_integrated: attribute(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0,
        cuda,
        has_products: libraries::has(Library::CublasLt),
    })
}

/// The address on the bus in lower case, as the system writes it.
#[expect(unsafe_code, reason = "a question to the driver")]
fn address(device: sys::CUdevice) -> Option<String> {
    let mut text = [0_u8; 32];
    // SAFETY: the driver gave this device and writes no more bytes than there are.
    let told = unsafe {
        sys::cuDeviceGetPCIBusId(text.as_mut_ptr().cast(), i32::try_from(text.len()).ok()?, device)
    };
    told.result().ok()?;
    let text = CStr::from_bytes_until_nul(&text).ok()?.to_str().ok()?;
    // The GPU of a board is on no bus.
    (!text.is_empty() && text != "0000:00:00.0").then(|| text.to_lowercase())
}

/// An open GPU.
pub(super) struct Gpu {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    pub(super) facts: Facts,
    /// The failure after which no call works any more.
    broken: RefCell<Option<Fault>>,
}

/// Memory of a GPU.
pub(super) struct Memory {
    address: u64,
    bytes: u64,
    _owner: CudaSlice<u8>,
}

impl Memory {
    /// The address of a byte in it.
    ///
    /// # Panics
    /// When it lies outside.
    pub(super) fn address(&self, at: u64) -> u64 {
        assert!(at <= self.bytes, "an address in the memory");
        self.address + at
    }
}

impl Gpu {
    pub(super) fn open(facts: &Facts) -> Result<Self, Fault> {
        let (context, stream) = answered(0, || {
            let context = CudaContext::new(facts.index as usize)?;
            let stream = context.new_stream()?;
            no_tracking(&context);
            Ok((context, stream))
        })?;
        Ok(Self { context, stream, facts: facts.clone(), broken: RefCell::new(None) })
    }

    /// Asks the driver; after a failure that stays with the process every question has it as its answer.
    fn ask<T>(&self, bytes: u64, ask: impl FnOnce() -> Result<T, DriverError>) -> Result<T, Fault> {
        if let Some(fault) = &*self.broken.borrow() {
            return Err(fault.clone());
        }
        let mut number = 0;
        let answer = answered(bytes, || ask().inspect_err(|error| number = error.0 as u32));
        if let Err(fault) = &answer
            && errors::is_sticky(number)
        {
            *self.broken.borrow_mut() = Some(fault.clone());
        }
        answer
    }

    /// Version of CUDA that the driver knows, as in its facts.
    pub(super) fn driver_version(&self) -> Result<u32, Fault> {
        self.ask(0, version)
    }

    /// Memory that is free [B]. Of a GPU that shares the system's memory it is what the system can give: the driver counts files that
    /// the system keeps in memory as used.
    pub(super) fn free_memory(&self) -> Result<u64, Fault> {
        if self.facts.is_integrated
            && let Some(available) = available_memory()
        {
            return Ok(available);
        }
        // Memory of tasks that ended is given back when the GPU has nothing to do.
        self.synchronize()?;
        self.ask(0, || self.context.mem_get_info()).map(|(free, _)| free as u64)
    }

    #[expect(unsafe_code, reason = "memory of a device that nobody has written yet")]
    pub(super) fn allocate(&self, bytes: u64) -> Result<Memory, Fault> {
        let len =
            usize::try_from(bytes.max(1)).ok().ok_or(Fault::NoMemory { bytes, most: None })?;
        // SAFETY: bytes of any value are bytes, and they are filled before a kernel reads them.
        let slice = self.ask(bytes, || unsafe { self.stream.alloc::<u8>(len) })?;
        let address = slice.device_ptr(&self.stream).0;
        Ok(Memory { address, bytes, _owner: slice })
    }

    /// Fills a part of a memory with bytes that repeat: they are sent once and copied on the device.
    #[expect(unsafe_code, reason = "copies to and in the memory of a device")]
    pub(super) fn fill(
        &self,
        memory: &Memory,
        at: u64,
        len: u64,
        period: &[u8],
    ) -> Result<(), Fault> {
        assert!(at + len <= memory.bytes, "a part of the memory");
        let sent = len.min(period.len() as u64);
        if sent == 0 {
            return Ok(());
        }
        let to = memory.address(at);
        let stream = self.stream.cu_stream();
        self.ask(0, || {
            self.context.bind_to_thread()?;
            let index = usize::try_from(sent).expect("no longer than the period");
            // SAFETY: the part lies in the memory, and the source outlives the copy, which is waited for.
            unsafe { result::memcpy_htod_async(to, &period[..index], stream) }?;
            let mut filled = sent;
            while filled < len {
                let more = filled.min(len - filled);
                let bytes = usize::try_from(more).expect("a part of a memory");
                // SAFETY: both parts lie in the memory and do not overlap; copies of one stream follow each other.
                unsafe { result::memcpy_dtod_async(to + filled, to, bytes, stream) }?;
                filled += more;
            }
            self.stream.synchronize()
        })
    }

    /// Reads a part of a memory.
    #[expect(unsafe_code, reason = "a copy from the memory of a device")]
    pub(super) fn read(&self, memory: &Memory, at: u64, len: u64) -> Result<Vec<u8>, Fault> {
        assert!(at + len <= memory.bytes, "a part of the memory");
        let mut bytes =
            vec![0; usize::try_from(len).ok().ok_or(Fault::NoMemory { bytes: len, most: None })?];
        self.ask(0, || {
            self.context.bind_to_thread()?;
            // SAFETY: the part lies in the memory, and the copy is waited for before the bytes are used.
            unsafe {
                result::memcpy_dtoh_async(&mut bytes, memory.address(at), self.stream.cu_stream())
            }?;
            self.stream.synchronize()
        })?;
        Ok(bytes)
    }

    /// Loads a cubin, or PTX, which the driver compiles.
    pub(super) fn load(&self, image: &[u8]) -> Result<Arc<CudaModule>, Fault> {
        // PTX ends with a zero byte, which a cubin may have, too.
        let mut image = image.to_vec();
        image.push(0);
        self.ask(0, || self.context.load_module(Ptx::from_binary(image)))
    }

    pub(super) fn function(
        &self,
        module: &Arc<CudaModule>,
        name: &str,
    ) -> Result<CudaFunction, Fault> {
        self.ask(0, || module.load_function(name))
    }

    /// Starts a call on buffers at these addresses, by their numbers in the call.
    #[expect(unsafe_code, reason = "a kernel is started")]
    pub(super) fn launch(
        &self,
        function: &CudaFunction,
        call: &Call,
        addresses: &[u64],
    ) -> Result<(), Fault> {
        // Every argument has at most eight bytes; the low ones come first, and the driver reads as many as the kernel declares.
        let mut values: Vec<u64> = call.arguments.iter().map(|it| value(it, addresses)).collect();
        let mut pointers: Vec<*mut c_void> =
            values.iter_mut().map(|value| core::ptr::from_mut(value).cast()).collect();
        let [x, y, z] = call.grid;
        self.ask(0, || {
            self.context.bind_to_thread()?;
            // SAFETY: the call says the arguments of its kernel in order, the buffers have the sizes of the problem, and they outlive the
            // kernel because a task waits before it drops them. The tests run the same calls with the address sanitizer.
            unsafe {
                result::launch_kernel(
                    function.cu_function(),
                    (x, y, z),
                    (call.threads, 1, 1),
                    call.shared,
                    self.stream.cu_stream(),
                    &mut pointers,
                )
            }
        })
    }

    /// Calls a library that takes the stream, with the GPU's context on this thread; its answer is a number of its own.
    pub(super) fn on_stream(&self, call: impl FnOnce(*mut c_void) -> i32) -> Result<i32, Fault> {
        self.ask(0, || {
            self.context.bind_to_thread()?;
            Ok(call(self.stream.cu_stream().cast()))
        })
    }

    /// Waits for everything that was started.
    pub(super) fn synchronize(&self) -> Result<(), Fault> {
        self.ask(0, || self.stream.synchronize())
    }

    /// Makes a graph of what `start` starts.
    pub(super) fn graph(
        &self,
        start: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<CudaGraph, Fault> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.ask(0, || self.stream.begin_capture(mode))?;
        let started = start();
        let graph = self.ask(0, || self.stream.end_capture(CUgraphInstantiate_flags(0)));
        started?;
        graph?.ok_or_else(|| Fault::Device("its driver made no graph".to_owned()))
    }

    pub(super) fn launch_graph(&self, graph: &CudaGraph) -> Result<(), Fault> {
        self.ask(0, || graph.launch())
    }

    pub(super) fn event(&self) -> Result<CudaEvent, Fault> {
        self.ask(0, || self.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)))
    }

    /// Notes the moment at which everything that was started before has ended.
    pub(super) fn record(&self, event: &CudaEvent) -> Result<(), Fault> {
        self.ask(0, || event.record(&self.stream))
    }

    /// Nanoseconds between two events that have passed. The bindings ask for a function that drivers before 12.8 lack; every driver has
    /// this one.
    #[expect(unsafe_code, reason = "a function of the driver that the bindings do not have")]
    pub(super) fn nanoseconds(&self, begin: &CudaEvent, end: &CudaEvent) -> Result<u64, Fault> {
        // The number is checked before it becomes one of those that the bindings know.
        type Elapsed = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> u32;
        let mut milliseconds = 0.0_f32;
        let mut number = 0;
        self.ask(0, || {
            self.context.bind_to_thread()?;
            // SAFETY: the name has had this type since the first driver; both events live.
            unsafe {
                let elapsed = sys::culib().get::<Elapsed>(b"cuEventElapsedTime\0");
                let elapsed = elapsed.expect("every driver has cuEventElapsedTime");
                number = elapsed(&raw mut milliseconds, begin.cu_event(), end.cu_event());
            }
            Ok(())
        })?;
        if number != 0 {
            return Err(errors::fault(number, "cuEventElapsedTime", 0));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
        let nanoseconds = (f64::from(milliseconds) * 1e6).round() as u64;
        Ok(nanoseconds)
    }
}

/// One stream needs no events around each call, and a graph could not hold them.
#[expect(unsafe_code, reason = "streams are not made to wait for each other")]
fn no_tracking(context: &CudaContext) {
    // SAFETY: this context has one stream, whose calls follow each other.
    unsafe { context.disable_event_tracking() };
}

/// The bits of an argument.
fn value(argument: &Argument, addresses: &[u64]) -> u64 {
    match argument {
        Argument::Buffer(number) => addresses[*number],
        Argument::Absent => 0,
        Argument::Int(value) => u64::from(value.cast_unsigned()),
        Argument::Long(value) => *value,
        Argument::Float(value) => u64::from(value.to_bits()),
    }
}
