//! The kernel of a shape and a format on a device: packed weights for up to 16 tokens, else GEMM.

use calc_core::catalog;
use calc_core::error::Error;
use kernels::backend::{Element, GemmShape, GemvShape, Kernel, Support};
use kernels::pack::Layout;
use report::output::words;

/// The products of a device, by what it supports.
#[derive(Debug, Clone)]
pub(crate) struct Products(pub(crate) Support);

impl Products {
    /// The kernel for M tokens, N outputs, K inputs and a weight format.
    ///
    /// # Errors
    /// A format without a kernel; the message lists the formats with one.
    pub(crate) fn kernel(&self, m: u64, n: u64, k: u64, weights: &str) -> Result<Kernel, String> {
        if (1..=GemvShape::MAX_TOKENS).contains(&m) {
            return Ok(Kernel::Gemv(GemvShape { layout: self.layout(weights)?, m, n, k }));
        }
        self.matrices(m, n, k, weights)
    }

    /// GEMM, also for M = 1.
    ///
    /// # Errors
    /// See [`Products::kernel`].
    pub(crate) fn matrices(&self, m: u64, n: u64, k: u64, weights: &str) -> Result<Kernel, String> {
        let element = self.element(weights)?;
        let most = GemmShape::MOST_INT8_INPUTS;
        if element == Element::Int8 && k > most {
            return Err(format!(
                "GEMM in int8 takes at most {most} inputs, because longer sums overflow 32 bits; got {k}"
            ));
        }
        Ok(Kernel::Gemm(GemmShape { element, m, n, k }))
    }

    /// The layout of a format.
    ///
    /// # Errors
    /// When there are no kernels for it.
    pub(crate) fn layout(&self, weights: &str) -> Result<Layout, String> {
        // A device without products is refused by its name, with what it measures.
        let own = Some(self.all_layouts()).filter(|own| !own.is_empty());
        let own = own.unwrap_or_else(|| Layout::ALL.into());
        let found = Layout::by_key(known(weights)).filter(|layout| own.contains(layout));
        found.ok_or_else(|| {
            let known: Vec<&str> = own.iter().map(|layout| layout.key()).collect();
            if let Some(misspelt) = misspelt(weights, &known) {
                return misspelt;
            }
            format!(
                "there are no kernels for `{weights}`; formats with kernels are {}",
                known.join(", ")
            )
        })
    }

    /// GEMM element type of a format.
    ///
    /// # Errors
    /// When the device has no kernel for it.
    pub(crate) fn element(&self, weights: &str) -> Result<Element, String> {
        let own = self.all_elements();
        let found = Element::by_key(known(weights)).filter(|element| own.contains(element));
        found.ok_or_else(|| {
            let known: Vec<&str> = own.iter().map(|element| element.key()).collect();
            if known.is_empty() {
                return "this device has no GEMM; a GPU has it with NVIDIA's library cuBLASLt, and `ridgepoint doctor` says whether that was found".to_owned();
            }
            misspelt(weights, &known).unwrap_or_else(|| {
                format!("GEMM runs in {} here; got `{weights}`", known.join(", "))
            })
        })
    }

    /// The layouts of formats; all that the device has if the list is empty.
    ///
    /// # Errors
    /// See [`Products::layout`].
    pub(crate) fn layouts(&self, formats: &[String]) -> Result<Vec<Layout>, String> {
        if formats.is_empty() {
            return Ok(self.all_layouts());
        }
        formats.iter().map(|key| self.layout(key)).collect()
    }

    /// The GEMM element types of formats; all that the device has if the list is empty.
    ///
    /// # Errors
    /// See [`Products::element`].
    pub(crate) fn elements(&self, formats: &[String]) -> Result<Vec<Element>, String> {
        if formats.is_empty() {
            return Ok(self.all_elements());
        }
        formats.iter().map(|key| self.element(key)).collect()
    }

    /// Formats of products with packed weights, widest first.
    pub(crate) fn all_layouts(&self) -> Vec<Layout> {
        let formats = self.0.formats("gemv").unwrap_or_default();
        formats.iter().filter_map(|format| Layout::by_key(format.weights)).collect()
    }

    /// Element types of products of matrices, widest first.
    pub(crate) fn all_elements(&self) -> Vec<Element> {
        let one = |element| Kernel::Gemm(GemmShape { element, m: 1, n: 1, k: 1 });
        Element::ALL.into_iter().filter(|element| self.0.has(one(*element))).collect()
    }
}

/// The sentence about a name that no format has, if one of these is near to it.
fn misspelt(weights: &str, own: &[&str]) -> Option<String> {
    let Err(Error::UnknownKey { catalog, key, mut nearest }) = catalog::format(weights) else {
        return None;
    };
    nearest.retain(|near| own.contains(&&**near));
    let is_near = !nearest.is_empty();
    is_near.then(|| words::core_error(&Error::UnknownKey { catalog, key, nearest }))
}

/// Catalog key, independent of case.
fn known(key: &str) -> &str {
    catalog::format(key).map_or(key, |format| format.key)
}

#[cfg(test)]
mod tests {
    use kernels::cuda::facts::Facts;

    use super::*;

    #[test]
    fn up_to_16_tokens_have_packed_weights_and_more_are_gemm() {
        let cpu = kernels::devices::all(None).remove(0);
        let own = Products(cpu.support());
        for m in [1, 2, 16] {
            let kernel = own.kernel(m, 2, 3, "INT4_G128");
            assert!(matches!(kernel, Ok(Kernel::Gemv(it)) if it.m == m));
        }
        assert!(matches!(own.kernel(17, 2, 3, "fp32"), Ok(Kernel::Gemm(_))));
        let why = own.kernel(17, 2, 3, "int4_g128").unwrap_err();
        assert!(why.contains("fp32") && why.contains("int4_g128"), "{why}");
        assert!(own.kernel(1, 2, 3, "xyzzy").unwrap_err().contains("no kernels for `xyzzy`"));
        for (key, expected) in [
            ("gguf_q4k", "unknown format `gguf_q4k`; did you mean gguf_q4_k"),
            ("int4g128", "unknown format `int4g128`; did you mean int4_g128"),
        ] {
            let why = own.kernel(1, 2, 3, key).unwrap_err();
            assert!(why.starts_with(expected), "{why}");
        }
        let why = own.kernel(17, 2, 3, "fp1").unwrap_err();
        assert!(why.contains("did you mean fp16") && !why.contains("bf16"), "{why}");
        assert_eq!(own.layouts(&[]).map(|all| all.len()), Ok(Layout::ALL.len()));
    }

    #[test]
    fn a_gpu_has_products_of_its_own() {
        let facts = Facts {
            index: 0,
            name: "a GPU".to_owned(),
            capability: (9, 0),
            processors: 100,
            clock: 0,
            cache: 50 << 20,
            memory: 1 << 36,
            address: None,
            is_integrated: false,
            cuda: 12_090,
            has_products: false,
        };
        let own = Products(kernels::devices::gpu(facts.clone()).support());
        assert!(own.layouts(&[]).unwrap().contains(&Layout::Nvfp4));
        // A processor has this one.
        assert!(own.layout("fp8_e5m2").unwrap_err().contains("no kernels for `fp8_e5m2`"));
        assert!(own.kernel(17, 2, 3, "fp16").unwrap_err().contains("this device has no GEMM"));
        // Products of matrices by architecture, with their library.
        for (capability, expected) in [
            ((6, 1), &["fp32"][..]),
            ((7, 0), &["fp32", "fp16"]),
            ((7, 5), &["fp32", "fp16", "int8"]),
            ((8, 7), &["fp32", "tf32", "fp16", "bf16", "int8"]),
            ((9, 0), &["fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "int8"]),
        ] {
            let facts = Facts { capability, has_products: true, ..facts.clone() };
            let own = Products(kernels::devices::gpu(facts).support());
            let elements: Vec<&str> =
                own.elements(&[]).unwrap().iter().map(|element| element.key()).collect();
            assert_eq!(elements, expected, "{capability:?}");
        }
    }
}
