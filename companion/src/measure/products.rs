//! The kernel of a shape and a format: packed weights for up to 16 tokens, else GEMM.

use calc_core::catalog;
use kernels::backend::{Element, GemmShape, GemvShape, Kernel};
use kernels::cpu::gemm::{ELEMENTS, MAX_K};
use kernels::pack::Layout;

/// The kernel for M tokens, N outputs, K inputs and a weight format.
///
/// # Errors
/// A format without a kernel; the message lists the formats with one.
pub(crate) fn kernel(m: u64, n: u64, k: u64, weights: &str) -> Result<Kernel, String> {
    if (1..=GemvShape::MAX_TOKENS).contains(&m) {
        return Ok(Kernel::Gemv(GemvShape { layout: layout(weights)?, m, n, k }));
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

/// Format of the input that the kernel reads on the first device of this machine; empty for a kernel without weights.
pub(crate) fn input(kernel: Kernel) -> &'static str {
    let devices = kernels::devices::all(None);
    devices.first().and_then(|device| device.activations(kernel)).map_or("", |format| format.key)
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
    fn up_to_16_tokens_have_packed_weights_and_more_are_gemm() {
        for m in [1, 2, 16] {
            assert!(matches!(kernel(m, 2, 3, "INT4_G128"), Ok(Kernel::Gemv(it)) if it.m == m));
        }
        assert!(matches!(kernel(17, 2, 3, "fp32"), Ok(Kernel::Gemm(_))));
        assert_eq!(input(kernel(4, 2, 3, "int4_g128").unwrap()), "int8");
        assert_eq!(input(kernel(4, 2, 3, "nf4").unwrap()), "fp32");
        let why = kernel(17, 2, 3, "int4_g128").unwrap_err();
        assert!(why.contains("fp32") && why.contains("int4_g128"), "{why}");
        assert!(kernel(1, 2, 3, "q9").unwrap_err().contains("no kernels for `q9`"));
    }
}
