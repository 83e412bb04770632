//! Products of matrices by NVIDIA's library cuBLASLt, through a table of functions of our own: the bindings of `cudarc` would take the
//! version that is first in the loader's path, and a function that it lacks would be a panic.

mod functions;

use std::ffi::c_void;
use std::rc::Rc;

use super::gpu::Gpu;
use super::libraries;
use super::programs::words;
use crate::backend::{Element, Fault, GemmShape};
use functions::{
    Algorithm, Destroy, Functions, Handle, Object, Proposal, Status, Types, constant, types,
    version,
};

/// Most algorithms that are tried.
const MOST_ALGORITHMS: usize = 32;

/// The answers of the library that have a sentence of their own, by number.
const SENTENCES: [(Status, &str); 8] = [
    (1, "it cannot start on this GPU"),
    (3, "it found no memory for itself"),
    (7, "it does not know this kind of product; a later version may"),
    (8, "it needs a GPU of a later architecture"),
    (13, "its kernel failed"),
    (14, "it failed inside"),
    (NO_ALGORITHM, "it has no algorithm for this product on this GPU"),
    (16, "it asks for a license"),
];

const NO_ALGORITHM: Status = 15;
/// Answers about the product that was asked for: the GPU works.
const REFUSALS: [Status; 3] = [7, 8, NO_ALGORITHM];

/// A sentence about an answer that is no success.
fn sentence(status: Status) -> String {
    let known = SENTENCES.iter().find(|(number, _)| *number == status);
    let said = known.map_or("it does not say why", |(_, sentence)| sentence);
    format!("{said} (status {status})")
}

/// Variables by which users change the arithmetic of the library.
const ARITHMETIC: [&str; 2] = ["NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATION_STRATEGY"];

/// The library, started for a GPU.
pub(super) struct CublasLt {
    functions: Functions,
    handle: Handle,
    /// Name and version.
    name: String,
    /// The GPU, which has to be open as the library ends.
    gpu: Rc<Gpu>,
}

impl CublasLt {
    /// Starts the newest version that the driver knows, that has kernels for the architecture and that proposes an algorithm: a version may
    /// start on a GPU that it has left behind, and multiply nothing there.
    ///
    /// # Errors
    /// When there is none, with the reason of each.
    pub(super) fn open(gpu: &Rc<Gpu>) -> Result<Rc<Self>, Fault> {
        let known = gpu.driver_version()? / 1000;
        let mut reasons = Vec::new();
        for it in libraries::found().iter().filter(|it| it.library == libraries::Library::CublasLt)
        {
            match Self::of(gpu, it, known) {
                Ok(found) => match Rc::new(found).multiplies() {
                    Ok(library) => return Ok(library),
                    // A GPU that failed says so again, and no other version works on it.
                    Err(fault) => {
                        gpu.synchronize()?;
                        reasons.push(words(&fault));
                    }
                },
                Err(why) => reasons.push(why),
            }
        }
        if reasons.is_empty() {
            reasons.push("it was not found (`--cuda-libs DIR` names its folder)".to_owned());
        }
        Err(Fault::Refused(format!(
            "products of matrices need the library cuBLASLt: {}",
            reasons.join("; ")
        )))
    }

    #[expect(unsafe_code, reason = "functions of a library in C")]
    fn of(gpu: &Rc<Gpu>, it: &libraries::Found, known: u32) -> Result<Self, String> {
        libraries::serves(it, gpu.facts.capability, known)?;
        let functions = Functions::of(it.opened)?;
        // The variable makes FP32 of TF32, or the other way round, without a word.
        if let Some(name) = ARITHMETIC.iter().find(|name| std::env::var_os(name).is_some()) {
            return Err(format!("{name} is set, which changes its arithmetic"));
        }
        // SAFETY: the function takes nothing.
        let version = version(unsafe { (functions.version)() });
        let (major, minor, patch) = version;
        let name = format!("cuBLASLt {major}.{minor}.{patch}");
        if major > known {
            return Err(format!("{name} needs a driver of CUDA {major}, and this one has {known}"));
        }
        let mut handle: Handle = core::ptr::null_mut();
        // SAFETY: the function writes a handle.
        let made = gpu.on_stream(|_| unsafe { (functions.create)(&raw mut handle) });
        match made {
            Ok(0) => Ok(Self { functions, handle, name, gpu: Rc::clone(gpu) }),
            Ok(status) => Err(format!("{name}: {}", sentence(status))),
            Err(fault) => Err(format!("{name}: {}", words(&fault))),
        }
    }

    /// This library, if it has an algorithm for a small product in FP32, which every architecture multiplies.
    fn multiplies(self: Rc<Self>) -> Result<Rc<Self>, Fault> {
        let (element, side) = (Element::Fp32, 64);
        let shape = GemmShape { element, m: side, n: side, k: side };
        Product::new(Rc::clone(&self), shape)?.candidates(0)?;
        Ok(self)
    }

    /// The fault of an answer that is no success.
    fn done(&self, status: Status) -> Result<(), Fault> {
        if status == 0 { Ok(()) } else { Err(self.fault(status)) }
    }

    fn fault(&self, status: Status) -> Fault {
        let why = format!("{}: {}", self.name, sentence(status));
        if REFUSALS.contains(&status) { Fault::Refused(why) } else { Fault::Device(why) }
    }
}

impl Drop for CublasLt {
    #[expect(unsafe_code, reason = "a function of a library in C")]
    fn drop(&mut self) {
        // A GPU that failed told so before. SAFETY: the handle was made by the same library, and no product that uses it is left.
        let _ = self.gpu.on_stream(|_| unsafe { (self.functions.destroy)(self.handle) });
    }
}

/// An object of the library that is destroyed with this one.
struct Owned {
    object: Object,
    destroy: Destroy,
}

impl Owned {
    /// The object that `create` makes.
    fn new(
        library: &CublasLt,
        destroy: Destroy,
        create: impl FnOnce(*mut Object) -> Status,
    ) -> Result<Self, Fault> {
        let mut object: Object = core::ptr::null_mut();
        library.done(create(&raw mut object))?;
        Ok(Self { object, destroy })
    }
}

impl Drop for Owned {
    #[expect(unsafe_code, reason = "a function of a library in C")]
    fn drop(&mut self) {
        // SAFETY: the object was made by the same library and is used no more.
        let _ = unsafe { (self.destroy)(self.object) };
    }
}

/// An algorithm for a product.
pub(super) struct Candidate {
    algorithm: Algorithm,
    workspace: usize,
}

/// A product Y = X·Wᵀ. The library stores columns one after the other, so that rows of W and X are its columns, and it computes the
/// transpose of Y as the transpose of W times X: the only order that it has for FP8 and INT8.
pub(super) struct Product {
    arithmetic: Owned,
    weights: Owned,
    inputs: Owned,
    outputs: Owned,
    element: Element,
    /// After what uses it, so that it is dropped last.
    library: Rc<CublasLt>,
}

#[expect(unsafe_code, reason = "functions of a library in C")]
impl Product {
    /// # Errors
    /// When the library does not know this kind of product.
    pub(super) fn new(library: Rc<CublasLt>, shape: GemmShape) -> Result<Self, Fault> {
        let GemmShape { element, m, n, k } = shape;
        let Types { operand, compute, factor, result } = types(element);
        let Functions { create_product, set_product, create_layout, .. } = library.functions;
        let Functions { destroy_product, destroy_layout, .. } = library.functions;
        // SAFETY: the functions write an object each, and read an attribute of four bytes.
        let arithmetic = Owned::new(&library, destroy_product, |made| unsafe {
            create_product(made, compute, factor)
        })?;
        let transposed = constant::TRANSPOSED;
        // SAFETY: as above.
        library.done(unsafe {
            let value = (&raw const transposed).cast();
            set_product(arithmetic.object, constant::DESC_TRANSA, value, size_of::<u32>())
        })?;
        let layout = |kind: u32, rows: u64, columns: u64| {
            let distance = i64::try_from(rows).ok().ok_or(Fault::Unsupported)?;
            // SAFETY: as above.
            Owned::new(&library, destroy_layout, |made| unsafe {
                create_layout(made, kind, rows, columns, distance)
            })
        };
        let weights = layout(operand, k, n)?;
        let inputs = layout(operand, k, m)?;
        let outputs = layout(result, n, m)?;
        Ok(Self { arithmetic, weights, inputs, outputs, element, library })
    }

    /// Algorithms that may use so much memory [B], those first that the library holds for fast.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn candidates(&self, workspace: u64) -> Result<Vec<Candidate>, Fault> {
        let Functions { create_search, set_search, destroy_search, search, .. } =
            self.library.functions;
        let most = i32::try_from(MOST_ALGORITHMS).expect("few");
        let mut found = [Proposal::default(); MOST_ALGORITHMS];
        let mut count = 0;
        // SAFETY: the function writes an object.
        let wish =
            Owned::new(&self.library, destroy_search, |made| unsafe { create_search(made) })?;
        let scheme = constant::REDUCTION_SCHEME_COMPUTE_TYPE;
        let attributes: [(u32, *const c_void, usize); 2] = [
            (constant::PREF_MAX_WORKSPACE_BYTES, (&raw const workspace).cast(), size_of::<u64>()),
            (constant::PREF_REDUCTION_SCHEME_MASK, (&raw const scheme).cast(), size_of::<u32>()),
        ];
        for (attribute, value, bytes) in attributes {
            // SAFETY: the values have the sizes that the header states.
            self.library.done(unsafe { set_search(wish.object, attribute, value, bytes) })?;
        }
        // SAFETY: the objects live, and the library writes at most as many answers as it is asked for.
        let answer = self.library.gpu.on_stream(|_| unsafe {
            search(
                self.library.handle,
                self.arithmetic.object,
                self.weights.object,
                self.inputs.object,
                self.outputs.object,
                self.outputs.object,
                wish.object,
                most,
                found.as_mut_ptr(),
                &raw mut count,
            )
        })?;
        self.library.done(answer)?;
        let count = usize::try_from(count).unwrap_or(0);
        let all = found.into_iter().take(count).filter(|it| it.state == 0);
        let all: Vec<Candidate> = all
            .filter(|it| it.workspace as u64 <= workspace)
            .map(|it| Candidate { algorithm: it.algorithm, workspace: it.workspace })
            .collect();
        if all.is_empty() {
            return Err(self.library.fault(NO_ALGORITHM));
        }
        Ok(all)
    }

    /// Starts the product of matrices at these addresses: W, X, Y and the memory for the algorithm.
    ///
    /// # Errors
    /// When the library refuses the algorithm, or the GPU fails.
    pub(super) fn start(
        &self,
        candidate: &Candidate,
        [weights, inputs, outputs, workspace]: [u64; 4],
    ) -> Result<(), Fault> {
        // Y = 1 · X·Wᵀ + 0 · Y, with factors of the type that the product has.
        let (floats, integers) = ([1.0_f32, 0.0], [1_i32, 0]);
        let factors: [*const c_void; 2] = match self.element {
            Element::Int8 => [(&raw const integers[0]).cast(), (&raw const integers[1]).cast()],
            _ => [(&raw const floats[0]).cast(), (&raw const floats[1]).cast()],
        };
        let status = self.library.gpu.on_stream(|stream| {
            // SAFETY: the matrices have the sizes of their layouts and outlive the product, because a task waits before it drops them; the
            // workspace has as many bytes as the algorithm asked for, and factors are read before the function returns.
            unsafe {
                (self.library.functions.multiply)(
                    self.library.handle,
                    self.arithmetic.object,
                    factors[0],
                    weights,
                    self.weights.object,
                    inputs,
                    self.inputs.object,
                    factors[1],
                    outputs,
                    self.outputs.object,
                    outputs,
                    self.outputs.object,
                    &raw const candidate.algorithm,
                    workspace,
                    candidate.workspace,
                    stream,
                )
            }
        })?;
        self.library.done(status)
    }

    /// An attribute of an algorithm. The header and the manual differ in the types of some, so the library is asked for the size.
    fn told(&self, candidate: &Candidate, attribute: u32) -> Option<i64> {
        let algorithm = &raw const candidate.algorithm;
        let (mut value, mut size) = ([0_u8; 8], 0_usize);
        let tell = self.library.functions.tell;
        // SAFETY: the library reads the algorithm and writes the size that it needs.
        let status = unsafe { tell(algorithm, attribute, core::ptr::null_mut(), 0, &raw mut size) };
        if status != 0 || size > value.len() {
            return None;
        }
        let mut written = 0_usize;
        // SAFETY: the library reads the algorithm and writes that many bytes, for which there is room.
        let status = unsafe {
            tell(algorithm, attribute, value.as_mut_ptr().cast(), size, &raw mut written)
        };
        (status == 0 && written == size).then(|| number(&value[..size])).flatten()
    }

    /// The route of a product by an algorithm that was the fastest of so many.
    pub(super) fn route(&self, candidate: &Candidate, tried: usize) -> String {
        use constant::{ALGO_ID, ALGO_SPLITK_NUM, ALGO_STAGES_ID, ALGO_TILE_ID};
        let tell = |attribute| {
            self.told(candidate, attribute)
                .map_or_else(|| "unknown".to_owned(), |it| it.to_string())
        };
        format!(
            "{}, algorithm {} (tile {}, stages {}, split-K {}), the fastest of {tried}",
            self.library.name,
            tell(ALGO_ID),
            tell(ALGO_TILE_ID),
            tell(ALGO_STAGES_ID),
            tell(ALGO_SPLITK_NUM),
        )
    }
}

/// A signed number of so many bytes, the lowest first.
fn number(bytes: &[u8]) -> Option<i64> {
    Some(match *bytes {
        [byte] => i64::from(byte.cast_signed()),
        [a, b] => i64::from(i16::from_le_bytes([a, b])),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => i64::from_le_bytes(bytes.try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn attributes_of_every_size_are_read() {
        for (bytes, expected) in [
            (&[3][..], Some(3)),
            (&[255, 255], Some(-1)),
            (&[2, 1, 0, 0], Some(258)),
            (&[255, 255, 255, 255], Some(-1)),
            (&[1, 0, 0, 0, 1, 0, 0, 0], Some((1 << 32) + 1)),
            (&[1, 0, 0], None),
            (&[], None),
        ] {
            assert_eq!(number(bytes), expected, "{bytes:?}");
        }
    }
}
