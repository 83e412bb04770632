//! SGLang commands. Options: SGLang's page "Server Arguments"; its drafter is the algorithm STANDALONE of "Speculative
//! Decoding", and EAGLE without a model for layers of the model's own.

use calc_core::calibration::Engine;
use calc_core::scheme::{Backend, Scheme, backend, vllm_runs};

use super::make::{self, Checkpoint};
use super::server_flags::{self, Names};
use super::{Deployment, argument, vllm};

const NAMES: Names = Names {
    tokens: "--context-length",
    sequences: "--max-running-requests",
    tensor: "--tp",
    pipeline: "--pp-size",
    expert: "--ep-size",
};

/// Line before the command where every device is a machine of its own.
const JOINED: &str = "# each device is a machine of its own: run the next line on all of them, with --node-rank 1 and so on, and the address of the first\n";

/// Commands, or a line with the reason why SGLang cannot run the estimated configuration; `None` where it does not run.
pub(super) fn command(scheme: &Scheme, to: &Deployment<'_>) -> Option<String> {
    // SGLang lists compressed-tensors with FP4 weights for FP4 arithmetic only.
    if !vllm_runs(to.device) || matches!(scheme.key, "nvfp4_w4a16" | "mxfp4_w4a16") {
        return None;
    }
    let device = match backend(to.device) {
        Backend::Cuda { .. } | Backend::Rocm | Backend::Custom => "",
        Backend::Cpu => " --device cpu",
        Backend::Xpu => " --device xpu",
        Backend::Plugin | Backend::Metal => return None,
    };
    let Checkpoint { made_by, path, quantization } = make::checkpoint(scheme, to)?;
    let quantization = quantization.map(|to| format!(" --quantization {to}")).unwrap_or_default();
    Some(match flags(to) {
        Ok(flags) => format!(
            "{made_by}{}python -m sglang.launch_server --model-path {path}{quantization}{flags}{device}",
            if to.is_over_machines() { JOINED } else { "" }
        ),
        Err(reason) => format!("# SGLang {reason}"),
    })
}

/// Arguments after the model, or the reason why there is no command.
fn flags(to: &Deployment<'_>) -> Result<String, String> {
    let mut flags = server_flags::workload(to, &NAMES)?;
    if let Some((_, workload)) = to.served.filter(|_| to.is_over_machines()) {
        let machines = workload.parallel.devices();
        flags += &format!(" --nnodes {machines} --node-rank 0 --dist-init-addr ADDRESS:20000");
    }
    if let Some(format) = to.kv_cache {
        flags += &format!(" --kv-cache-dtype {}", vllm::cache(format)?);
    }
    if let Some((draft, tokens)) = to.drafts() {
        let drafter = if to.has_own_drafts() {
            "EAGLE".to_owned()
        } else {
            format!("STANDALONE --speculative-draft-model-path {}", argument(draft))
        };
        flags += &format!(
            " --speculative-algorithm {drafter} --speculative-num-steps {tokens} --speculative-eagle-topk 1 --speculative-num-draft-tokens {}",
            tokens.saturating_add(1)
        );
    }
    flags += &server_flags::memory(to, Engine::Sglang, "--mem-fraction-static")?;
    Ok(flags)
}
