//! vLLM commands for devices with a backend, with the split, context and KV cache of a request.

use calc_core::calibration::Engine;
use calc_core::catalog::formats;
use calc_core::quant_format::QuantFormat;
use calc_core::scheme::{
    self, Backend, ExpertKernels, KernelRequest, Scheme, SchemeWeights, backend, vllm_runs,
};

use super::make::{self, Checkpoint};
use super::server_flags::{self, Names};
use super::{Deployment, argument};

const NAMES: Names = Names {
    tokens: "--max-model-len",
    sequences: "--max-num-seqs",
    tensor: "--tensor-parallel-size",
    pipeline: "--pipeline-parallel-size",
    expert: "--enable-expert-parallel",
};

/// Lines before the command where every device is a machine of its own: vLLM finds them through Ray.
const JOINED: &str = "# each device is a machine of its own: start Ray on this one with the next line, and on the others with ray start --address=ADDRESS:6379\nray start --head --port=6379\n";

/// Commands, or a line with the reason why vLLM cannot run the estimated configuration; `None` where it does not run.
pub(super) fn command(scheme: &Scheme, to: &Deployment<'_>) -> Option<String> {
    let build = build(to)?;
    let Checkpoint { made_by, path, quantization } = make::checkpoint(scheme, to)?;
    let quantization = quantization.map(|to| format!(" --quantization {to}")).unwrap_or_default();
    Some(match flags(to) {
        Ok(flags) => {
            let (remark, experts) = expert_kernels(scheme, to);
            let joined = if to.is_over_machines() { JOINED } else { "" };
            format!(
                "{build}{made_by}{remark}{joined}vllm serve {path}{quantization}{flags}{experts}"
            )
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
        // The times shown are of another engine.
        KernelRequest::NoFlag if to.timed(scheme) != Engine::Vllm => (String::new(), String::new()),
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
    let mut flags = server_flags::workload(to, &NAMES)?;
    if to.is_over_machines() {
        flags += " --distributed-executor-backend ray";
    }
    if let Some(format) = to.kv_cache {
        flags += &format!(" --kv-cache-dtype {}", cache(format)?);
    }
    if let Some((draft, tokens)) = to.drafts() {
        let config = if to.has_own_drafts() {
            format!(r#"{{"method": "mtp", "num_speculative_tokens": {tokens}}}"#)
        } else {
            format!(
                r#"{{"model": "{}", "num_speculative_tokens": {tokens}, "method": "draft_model"}}"#,
                draft.replace(['"', '\\'], "")
            )
        };
        flags += &format!(" --speculative-config {}", argument(&config));
    }
    flags += &server_flags::memory(to, Engine::Vllm, "--gpu-memory-utilization")?;
    Ok(flags)
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
