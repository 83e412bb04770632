//! vLLM commands for devices with a backend, with the split, context and KV cache of a request.

use calc_core::calibration::Engine;
use calc_core::catalog::formats;
use calc_core::footprint::reserve;
use calc_core::parallel::Parallel;
use calc_core::quant_format::QuantFormat;
use calc_core::scheme::{
    self, Backend, ExpertKernels, KernelRequest, Scheme, SchemeWeights, backend, vllm_runs,
};

use super::make::{self, Checkpoint};
use super::{Deployment, argument};

/// Share of a device's memory that vLLM takes by default (`gpu_memory_utilization` of its `CacheConfig`).
const DEFAULT_SHARE: f64 = 0.9;

/// Largest share that leaves room for the driver; the assumed reserve of an estimate covers the rest.
const MOST_SHARE: f64 = 0.97;

/// Commands, or a line with the reason why vLLM cannot run the estimated configuration; `None` where it does not run.
pub(super) fn command(scheme: &Scheme, to: &Deployment<'_>) -> Option<String> {
    let build = build(to)?;
    let Checkpoint { made_by, path, quantization } = make::checkpoint(scheme, to)?;
    let quantization = quantization.map(|to| format!(" --quantization {to}")).unwrap_or_default();
    Some(match flags(to) {
        Ok(flags) => {
            let (remark, experts) = expert_kernels(scheme, to);
            format!("{build}{made_by}{remark}vllm serve {path}{quantization}{flags}{experts}")
        }
        Err(reason) => format!("# vLLM {reason}"),
    })
}

/// Remark before the command, and flag after it, for the kernels that read quantized inputs of MXFP4 experts.
fn expert_kernels(scheme: &Scheme, to: &Deployment<'_>) -> (String, String) {
    let stored = to.repositories.stored.filter(|_| scheme.weights == SchemeWeights::Published);
    let is_mxfp4 = stored.is_some_and(|stored| stored.experts == Some(&formats::MXFP4));
    let kernels = scheme::expert_kernels(Engine::Vllm, to.device).filter(|_| is_mxfp4);
    let Some(ExpertKernels { inputs, request }) = kernels else {
        return (String::new(), String::new());
    };
    match request {
        KernelRequest::Default => (String::new(), String::new()),
        KernelRequest::Flag(flag) => (String::new(), format!(" {flag}")),
        KernelRequest::NoFlag => {
            let name = inputs.short_name;
            let remark = format!(
                "# the times are of {name} inputs, which need vLLM's CUTLASS kernels for MXFP4 on this device; its default reads 16 bits\n"
            );
            (remark, String::new())
        }
    }
}

/// Line naming the build that a device needs, empty for the usual build; `None` for devices without a backend.
fn build(to: &Deployment<'_>) -> Option<&'static str> {
    vllm_runs(to.device).then(|| match backend(to.device) {
        Backend::Cuda { .. } | Backend::Rocm | Backend::Custom | Backend::Metal => "",
        Backend::Xpu => "# with vLLM's XPU build\n",
        Backend::Plugin => "# with vLLM's plugin for this accelerator\n",
        Backend::Cpu => "# with vLLM's CPU build\n",
    })
}

/// Arguments after the model, or the reason why there is no command.
fn flags(to: &Deployment<'_>) -> Result<String, String> {
    if let Some(reason) = to.too_long() {
        return Err(reason);
    }
    let mut flags = String::new();
    if let (Some((_, workload)), Some(tokens)) = (to.served, to.tokens()) {
        let Parallel { tensor, pipeline, expert } = workload.parallel;
        if expert > 1 {
            return Err("spreads experts only over devices that share every layer (--enable-expert-parallel): it cannot run the estimated configuration".to_owned());
        }
        flags += &format!(" --max-model-len {tokens} --max-num-seqs {}", workload.batch);
        for (flag, ways) in [("tensor", tensor), ("pipeline", pipeline)] {
            if ways > 1 {
                flags += &format!(" --{flag}-parallel-size {ways}");
            }
        }
    }
    if let Some(format) = to.kv_cache {
        flags += &format!(" --kv-cache-dtype {}", cache(format)?);
    }
    if let Some((draft, tokens)) = to.drafts() {
        let config = format!(
            r#"{{"model": "{}", "num_speculative_tokens": {tokens}, "method": "draft_model"}}"#,
            draft.replace(['"', '\\'], "")
        );
        flags += &format!(" --speculative-config {}", argument(&config));
    }
    if needs_too_much(to) {
        let most = MOST_SHARE * 100.0;
        return Err(format!(
            "takes at most {most:.0} % of a device's memory (--gpu-memory-utilization), and this configuration needs more: choose a shorter context, fewer sequences or fewer bits"
        ));
    }
    if let Some(share) = memory_share(to) {
        flags += &format!(" --gpu-memory-utilization {share:.2}");
    }
    Ok(flags)
}

/// Share of the device's memory that the scheme needs, in whole percent; `None` where the default suffices.
pub(super) fn memory_share(to: &Deployment<'_>) -> Option<f64> {
    let share = to.memory / to.device.installed_memory()?;
    (share > DEFAULT_SHARE).then(|| ((share * 100.0).ceil() / 100.0).min(MOST_SHARE))
}

/// True where weights, KV cache and activations do not fit into the largest share; the reserve is outside of it.
pub(super) fn needs_too_much(to: &Deployment<'_>) -> bool {
    let own = to.memory - reserve(to.device.class);
    to.device.installed_memory().is_some_and(|installed| own / installed > MOST_SHARE)
}

/// Name of a KV-cache format in vLLM, and in SGLang.
pub(super) fn cache(format: &QuantFormat) -> Result<&'static str, String> {
    match format.key {
        "fp16" => Ok("auto"),
        "bf16" => Ok("bfloat16"),
        "fp8_e4m3" => Ok("fp8_e4m3"),
        "fp8_e5m2" => Ok("fp8_e5m2"),
        _ => Err(format!(
            "has no KV cache in {}; its narrow formats are fp8_e4m3 and fp8_e5m2",
            format.name
        )),
    }
}
