//! A quantization scheme: weights, activations and method together, and the devices with kernels for it. The table is in
//! `catalog::schemes`; the choice between schemes is in `recommend`.

use crate::catalog::formats::MXFP4;
use crate::device::Device;
use crate::gguf_file::row_format;
use crate::model_arch::ModelArch;
use crate::op::OpKind;
use crate::precision::PrecisionChoice;
use crate::quality::QualityLoss;
use crate::quant_format::QuantFormat;
use crate::roofline::Roofs;

pub use crate::software::{
    Backend, ExpertKernels, FormatFamily, KernelRequest, Kernels, NoKernel, backend, engine_runs,
    expert_kernels, is_host, largest_share, reads_cache, usual_engine, vllm_runs,
};

/// Quantization method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// No quantization, or a model published in this form.
    None,
    /// Rounding to nearest, with or without a search for the scale; no calibration data.
    Rtn,
    /// Activation-aware scales; little calibration data.
    Awq,
    /// Error-compensated rounding; little calibration data.
    Gptq,
    /// Cast to FP8; activations are quantized at run time.
    NativeFp8,
    /// Rounding to FP4; activations are quantized at run time.
    NativeFp4,
    /// Scales searched tensor by tensor, by llama.cpp's own tool.
    LlamaQuantize,
}

impl Method {
    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rtn => "rtn",
            Self::Awq => "awq",
            Self::Gptq => "gptq",
            Self::NativeFp8 => "native_fp8",
            Self::NativeFp4 => "native_fp4",
            Self::LlamaQuantize => "llama_quantize",
        }
    }
}

/// Format of a scheme's layer weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SchemeWeights {
    /// The device's 16-bit format.
    Half,
    /// The formats in which the model is published.
    Published,
    Format(&'static QuantFormat),
}

/// A combination of storage formats and compute path for a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scheme {
    /// Key in JSON and URLs.
    pub key: &'static str,
    /// Format of the layer weights.
    pub weights: SchemeWeights,
    /// Format of the activations; `None` for the carrier.
    pub activations: Option<&'static QuantFormat>,
    pub method: Method,
    /// The groups or blocks of the weights must divide the inputs (K) of every matrix.
    pub has_groups: bool,
    /// The inputs (K) of every matrix must be a multiple of this.
    pub input_multiple: u64,
    /// The outputs (N) of every matrix must be a multiple of this.
    pub output_multiple: u64,
    /// Quality loss of a model of 8 billion parameters.
    pub quality: QualityLoss,
}

/// A matrix with a shape that a scheme does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadShape {
    pub kind: OpKind,
    /// True for the inputs (K), false for the outputs (N).
    pub inputs: bool,
    /// Number of inputs or outputs.
    pub count: u64,
    /// The count must be a multiple of this.
    pub multiple: u64,
}

impl Scheme {
    /// The formats of the scheme on a device. The user's choice for KV cache and embeddings is kept; those of the published
    /// model belong to the published weights alone.
    pub fn choice(
        &self,
        roofs: &Roofs,
        user: &PrecisionChoice,
        published: &PrecisionChoice,
    ) -> PrecisionChoice {
        let own = match self.weights {
            SchemeWeights::Half => PrecisionChoice::weights(roofs.half()),
            SchemeWeights::Published => *published,
            SchemeWeights::Format(format) => PrecisionChoice::of_weights(format, published),
        };
        // llama.cpp's rules fix the formats of its files; other schemes leave nothing open.
        let stated = match (self.weights, self.kernels()) {
            (SchemeWeights::Format(format), Kernels::Plain | Kernels::Torch) => {
                // MXFP4 of a mixture of experts is that of its experts, see `PrecisionChoice::filled`.
                let experts = (format != &MXFP4).then_some(format);
                PrecisionChoice { activations: Some(roofs.half()), experts, ..own }
            }
            _ => own,
        };
        PrecisionChoice {
            activations: self.activations.or(stated.activations),
            kv_cache: user.kv_cache.or(stated.kv_cache),
            embedding: user.embedding.or(stated.embedding),
            ..stated
        }
    }

    /// Checks that kernels exist on this device.
    ///
    /// # Errors
    /// Reason why no kernel supports it.
    pub fn runs_on(&self, device: &Device, roofs: &Roofs) -> Result<(), NoKernel> {
        if let Some(class) = self.activations.and_then(|format| format.class)
            && roofs.peak(class).is_none()
        {
            return Err(NoKernel::NoPeak(class));
        }
        self.family().check(device, self.activations.is_some())
    }

    /// The family of its format in the table of kernels; published formats have one of their own.
    pub fn family(&self) -> FormatFamily {
        match self.weights {
            SchemeWeights::Half | SchemeWeights::Published => FormatFamily::Plain,
            SchemeWeights::Format(_) if self.method == Method::Awq => FormatFamily::Awq,
            SchemeWeights::Format(format) => FormatFamily::of_format(format),
        }
    }

    /// The software that applies it.
    pub fn kernels(&self) -> Kernels {
        self.family().kernels()
    }

    /// Checks that the scheme supports the shape of a matrix.
    ///
    /// # Errors
    /// The side that is not a multiple of the required divisor.
    pub fn takes(&self, kind: OpKind, outputs: u64, inputs: u64) -> Result<(), BadShape> {
        let bad = |count, multiple, inputs| Err(BadShape { kind, inputs, count, multiple });
        if let SchemeWeights::Format(format) = self.weights
            && self.has_groups
            && row_format(format, inputs).is_none()
        {
            return bad(inputs, format.block, true);
        }
        if !inputs.is_multiple_of(self.input_multiple) {
            return bad(inputs, self.input_multiple, true);
        }
        if !outputs.is_multiple_of(self.output_multiple) {
            return bad(outputs, self.output_multiple, false);
        }
        Ok(())
    }

    /// Checks that the scheme supports the shapes of all layer matrices of a model.
    ///
    /// # Errors
    /// The first unsupported shape.
    pub fn takes_model(&self, model: &ModelArch) -> Result<(), BadShape> {
        let mut verdict = Ok(());
        model.matrices(&mut |matrix| {
            if verdict.is_ok() {
                verdict = self.takes(matrix.kind, matrix.rows, matrix.cols);
            }
        });
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::quant_format::ComputeClass;

    fn runs(scheme: &str, device: &str) -> Result<(), NoKernel> {
        let device = catalog::device(device).expect("catalog key");
        let roofs = Roofs::new(device, None).expect("no mode");
        catalog::schemes::scheme(scheme).expect("a scheme").runs_on(device, &roofs)
    }

    #[test]
    fn schemes_run_where_their_kernels_do() {
        use ComputeClass::{Fp4, Fp8, Int8};
        for (scheme, device, expected) in [
            ("fp8_w8a8", "jetson_orin_nano_8gb_super", Err(NoKernel::NoPeak(Fp8))),
            ("nvfp4_w4a4", "h100_sxm", Err(NoKernel::NoPeak(Fp4))),
            ("nvfp4_w4a4", "gb10", Ok(())),
            ("nvfp4_w4a16", "mi300x", Err(NoKernel::OtherVendor)),
            ("nvfp4_w4a4", "mi355x", Err(NoKernel::OtherVendor)),
            ("mxfp4_w4a4", "mi355x", Ok(())),
            ("nvfp4_w4a16", "jetson_orin_nano_8gb_super", Ok(())),
            ("int8_w8a8", "v100_sxm2_16gb", Err(NoKernel::NoPeak(Int8))),
            ("int4_g128_awq", "v100_sxm2_16gb", Err(NoKernel::OldArchitecture)),
            ("int4_g128_awq", "t4", Ok(())),
            ("int4_g128_awq", "apple_m4", Err(NoKernel::NoTorchKernels)),
            ("gguf_q4_k", "apple_m4", Ok(())),
            ("gguf_q4_k", "tpu_v5e", Err(NoKernel::NoLlamaCpp)),
            ("fp8_w8a8", "mi300x", Ok(())),
            ("half", "jetson_nano", Ok(())),
        ] {
            assert_eq!(runs(scheme, device), expected, "{scheme} on {device}");
        }
    }

    #[test]
    fn a_scheme_refuses_a_shape_that_its_groups_do_not_divide() {
        let scheme = catalog::schemes::scheme("int4_g128_awq").expect("a scheme");
        assert_eq!(scheme.takes(OpKind::Gemm, 4096, 4096), Ok(()));
        let refused = scheme.takes(OpKind::Down, 4096, 4544).expect_err("4544 = 35.5 groups");
        assert_eq!((refused.inputs, refused.count, refused.multiple), (true, 4544, 128));
        assert!(scheme.takes(OpKind::Down, 100, 4096).is_err_and(|bad| !bad.inputs));
    }
}
