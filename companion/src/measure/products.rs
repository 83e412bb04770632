//! The kernel of a shape and a format: GEMV with packed weights for M = 1, else GEMM.

use calc_core::catalog;
use kernels::backend::{Element, GemmShape, GemvShape, Kernel};
use kernels::cpu::gemm::{ELEMENTS, MAX_K};
use kernels::pack::Layout;

/// The kernel for M tokens, N outputs, K inputs and a weight format.
///
/// # Errors
/// A format without a kernel; the message lists the formats with one.
pub(crate) fn kernel(m: u64, n: u64, k: u64, weights: &str) -> Result<Kernel, String> {
    if m == 1 {
        return Ok(Kernel::Gemv(GemvShape { layout: layout(weights)?, n, k }));
    }
    matrices(m, n, k, weights)
}

/// GEMM, also for M = 1.
///
/// # Errors
/// See [`kernel`].
pub(crate) fn matrices(m: u64, n: u64, k: u64, weights: &str) -> Result<Kernel, String> {
    let element = element(weights)?;
    if element == Element::Int8 && k > MAX_K as u64 {
        return Err(format!(
            "GEMM in int8 takes at most {MAX_K} inputs, because longer sums overflow 32 bits; got {k}"
        ));
    }
    Ok(Kernel::Gemm(GemmShape { element, m, n, k }))
}

/// Format of the input that the kernel reads.
pub(crate) fn input(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Gemv(product) => product.input_format().key,
        Kernel::Gemm(product) => product.format().key,
        Kernel::Read { .. }
        | Kernel::Copy { .. }
        | Kernel::Triad { .. }
        | Kernel::Fma
        | Kernel::Dot => "",
    }
}

/// The layout of a format.
///
/// # Errors
/// When there are no kernels for it.
pub(crate) fn layout(weights: &str) -> Result<Layout, String> {
    Layout::by_key(known(weights)).ok_or_else(|| {
        let known = Layout::ALL.map(Layout::key).join(", ");
        format!("there are no kernels for `{weights}`; formats with kernels are {known}")
    })
}

/// GEMM element type of a format.
///
/// # Errors
/// When the processor has no kernel for it.
pub(crate) fn element(weights: &str) -> Result<Element, String> {
    let found = Element::by_key(known(weights)).filter(|element| ELEMENTS.contains(element));
    found.ok_or_else(|| {
        let known: Vec<&str> = ELEMENTS.iter().map(|element| element.key()).collect();
        format!("GEMM runs in {} here; got `{weights}`", known.join(", "))
    })
}

/// The layouts of formats; all layouts if the list is empty.
///
/// # Errors
/// See [`layout`].
pub(crate) fn layouts(formats: &[String]) -> Result<Vec<Layout>, String> {
    if formats.is_empty() {
        return Ok(Layout::ALL.into());
    }
    formats.iter().map(|key| layout(key)).collect()
}

/// The GEMM element types of formats; all that this processor has if the list is empty.
///
/// # Errors
/// See [`element`].
pub(crate) fn elements(formats: &[String]) -> Result<Vec<Element>, String> {
    if formats.is_empty() {
        return Ok(ELEMENTS.into());
    }
    formats.iter().map(|key| element(key)).collect()
}

/// Catalog key, independent of case.
fn known(key: &str) -> &str {
    catalog::format(key).map_or(key, |format| format.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_token_is_gemv_and_more_are_gemm() {
        assert!(matches!(kernel(1, 2, 3, "INT4_G128"), Ok(Kernel::Gemv(_))));
        assert!(matches!(kernel(2, 2, 3, "fp32"), Ok(Kernel::Gemm(_))));
        let why = kernel(2, 2, 3, "int4_g128").unwrap_err();
        assert!(why.contains("fp32") && why.contains("int4_g128"), "{why}");
        assert!(kernel(1, 2, 3, "q9").unwrap_err().contains("no kernels for `q9`"));
    }
}
