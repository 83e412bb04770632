//! The functions of cuBLASLt that are called, and the constants of its header.

use std::ffi::{CStr, c_void};

use libloading::os::unix::Library;

use crate::backend::Element;

pub(super) type Status = i32;
pub(super) type Handle = *mut c_void;
pub(super) type Object = *mut c_void;

/// Constants of the library's header, whose numbers all versions share.
pub(super) mod constant {
    /// Types of elements.
    pub(in super::super) const R_32F: u32 = 0;
    pub(in super::super) const R_16F: u32 = 2;
    pub(in super::super) const R_8I: u32 = 3;
    pub(in super::super) const R_32I: u32 = 10;
    pub(in super::super) const R_16BF: u32 = 14;
    pub(in super::super) const R_8F_E4M3: u32 = 28;
    /// Types of the arithmetic.
    pub(in super::super) const COMPUTE_32F: u32 = 68;
    pub(in super::super) const COMPUTE_32I: u32 = 72;
    pub(in super::super) const COMPUTE_32F_FAST_TF32: u32 = 77;
    /// Attributes of a product.
    pub(in super::super) const DESC_TRANSA: u32 = 3;
    pub(in super::super) const TRANSPOSED: u32 = 1;
    /// Attributes of a search.
    pub(in super::super) const PREF_MAX_WORKSPACE_BYTES: u32 = 1;
    pub(in super::super) const PREF_REDUCTION_SCHEME_MASK: u32 = 3;
    /// Parts of a sum are kept and added in the type of the arithmetic.
    pub(in super::super) const REDUCTION_SCHEME_COMPUTE_TYPE: u32 = 2;
    /// Attributes of an algorithm.
    pub(in super::super) const ALGO_ID: u32 = 0;
    pub(in super::super) const ALGO_TILE_ID: u32 = 1;
    pub(in super::super) const ALGO_SPLITK_NUM: u32 = 2;
    pub(in super::super) const ALGO_STAGES_ID: u32 = 6;
}

/// An algorithm of the library, which only the library reads.
pub(super) type Algorithm = [u64; 8];

/// An answer of the search, as the library writes it.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Proposal {
    pub(super) algorithm: Algorithm,
    pub(super) workspace: usize,
    pub(super) state: Status,
    pub(super) waves: f32,
    pub(super) reserved: [i32; 4],
}

pub(super) type Destroy = unsafe extern "C" fn(*mut c_void) -> Status;
type Set = unsafe extern "C" fn(Object, u32, *const c_void, usize) -> Status;

/// The functions that are called, as the header declares them since version 11.
pub(super) struct Functions {
    pub(super) version: unsafe extern "C" fn() -> usize,
    pub(super) create: unsafe extern "C" fn(*mut Handle) -> Status,
    pub(super) destroy: Destroy,
    pub(super) create_product: unsafe extern "C" fn(*mut Object, u32, u32) -> Status,
    pub(super) set_product: Set,
    pub(super) destroy_product: Destroy,
    pub(super) create_layout: unsafe extern "C" fn(*mut Object, u32, u64, u64, i64) -> Status,
    pub(super) destroy_layout: Destroy,
    pub(super) create_search: unsafe extern "C" fn(*mut Object) -> Status,
    pub(super) set_search: Set,
    pub(super) destroy_search: Destroy,
    pub(super) search: unsafe extern "C" fn(
        Handle,
        Object,
        Object,
        Object,
        Object,
        Object,
        Object,
        i32,
        *mut Proposal,
        *mut i32,
    ) -> Status,
    pub(super) tell:
        unsafe extern "C" fn(*const Algorithm, u32, *mut c_void, usize, *mut usize) -> Status,
    pub(super) multiply: unsafe extern "C" fn(
        Handle,
        Object,
        *const c_void,
        u64,
        Object,
        u64,
        Object,
        *const c_void,
        u64,
        Object,
        u64,
        Object,
        *const Algorithm,
        u64,
        usize,
        *mut c_void,
    ) -> Status,
}

impl Functions {
    /// # Errors
    /// The name of a function that the library lacks.
    #[expect(unsafe_code, reason = "functions of a library in C")]
    pub(super) fn of(library: &'static Library) -> Result<Self, String> {
        /// # Safety
        /// The function of this name has this type.
        unsafe fn function<F: Copy>(library: &Library, name: &CStr) -> Result<F, String> {
            // SAFETY: the caller knows the type.
            let found = unsafe { library.get::<F>(name.to_bytes_with_nul()) };
            found.map(|it| *it).ok().ok_or_else(|| format!("it lacks {}", name.to_string_lossy()))
        }
        // SAFETY: the types are those of the header `cublasLt.h`, the same in versions 11 to 13.
        unsafe {
            Ok(Self {
                version: function(library, c"cublasLtGetVersion")?,
                create: function(library, c"cublasLtCreate")?,
                destroy: function(library, c"cublasLtDestroy")?,
                create_product: function(library, c"cublasLtMatmulDescCreate")?,
                set_product: function(library, c"cublasLtMatmulDescSetAttribute")?,
                destroy_product: function(library, c"cublasLtMatmulDescDestroy")?,
                create_layout: function(library, c"cublasLtMatrixLayoutCreate")?,
                destroy_layout: function(library, c"cublasLtMatrixLayoutDestroy")?,
                create_search: function(library, c"cublasLtMatmulPreferenceCreate")?,
                set_search: function(library, c"cublasLtMatmulPreferenceSetAttribute")?,
                destroy_search: function(library, c"cublasLtMatmulPreferenceDestroy")?,
                search: function(library, c"cublasLtMatmulAlgoGetHeuristic")?,
                tell: function(library, c"cublasLtMatmulAlgoConfigGetAttribute")?,
                multiply: function(library, c"cublasLtMatmul")?,
            })
        }
    }
}

/// Major, minor and patch of a version: from 12 on 10,000 times the major one, before 1000 times, and 100 times the minor one.
pub(super) const fn version(number: usize) -> (u32, u32, u32) {
    #[expect(clippy::cast_possible_truncation, reason = "a version")]
    let number = number as u32;
    let scale = if number >= 100_000 { 10_000 } else { 1000 };
    // 11.11 is 12,100 by the smaller scale.
    let major = if scale == 1000 { 11 } else { number / scale };
    let rest = number.saturating_sub(major * scale);
    (major, rest / 100, rest % 100)
}

/// Numbers of the types of operands, arithmetic, factors and result.
pub(super) struct Types {
    pub(super) operand: u32,
    pub(super) compute: u32,
    pub(super) factor: u32,
    pub(super) result: u32,
}

pub(super) const fn types(element: Element) -> Types {
    use constant::{
        COMPUTE_32F, COMPUTE_32F_FAST_TF32, COMPUTE_32I, R_8F_E4M3, R_8I, R_16BF, R_16F, R_32F,
        R_32I,
    };
    let (operand, compute, factor, result) = match element {
        Element::Fp32 => (R_32F, COMPUTE_32F, R_32F, R_32F),
        Element::Tf32 => (R_32F, COMPUTE_32F_FAST_TF32, R_32F, R_32F),
        Element::Fp16 => (R_16F, COMPUTE_32F, R_32F, R_16F),
        Element::Bf16 => (R_16BF, COMPUTE_32F, R_32F, R_16BF),
        Element::Fp8E4m3 => (R_8F_E4M3, COMPUTE_32F, R_32F, R_16BF),
        Element::Int8 => (R_8I, COMPUTE_32I, R_32I, R_32I),
    };
    Types { operand, compute, factor, result }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_all_majors_are_read() {
        for (number, expected) in [
            (11_402, (11, 4, 2)),
            (12_103, (11, 11, 3)),
            (120_901, (12, 9, 1)),
            (130_200, (13, 2, 0)),
        ] {
            assert_eq!(version(number), expected);
        }
    }

    #[test]
    fn an_answer_of_the_search_has_the_size_that_the_library_writes() {
        assert_eq!(size_of::<Proposal>(), 96);
    }
}
