//! TensorRT-LLM commands. Options: `trtllm-serve` of its documentation.

use calc_core::scheme::{Backend, Scheme, backend};

use super::Deployment;
use super::make::{self, Checkpoint};
use super::server_flags::{self, Names};

const NAMES: Names = Names {
    tokens: "--max_seq_len",
    sequences: "--max_batch_size",
    tensor: "--tp_size",
    pipeline: "--pp_size",
    expert: "--ep_size",
};

/// Commands, or a line with the reason why TensorRT-LLM cannot run the estimated configuration; `None` where it does not run.
pub(super) fn command(scheme: &Scheme, to: &Deployment<'_>) -> Option<String> {
    if !matches!(backend(to.device), Backend::Cuda { .. }) {
        return None;
    }
    let Checkpoint { made_by, path, .. } = make::modelopt(scheme, to)?;
    Some(match flags(to) {
        Ok(flags) => format!("{made_by}trtllm-serve {path}{flags}"),
        Err(reason) => format!("# TensorRT-LLM {reason}"),
    })
}

/// Arguments after the model, or the reason why there is no command.
fn flags(to: &Deployment<'_>) -> Result<String, String> {
    let mut flags = server_flags::workload(to, &NAMES)?;
    if to.drafts().is_some() {
        return Err("takes a draft model from a file (--config) only".to_owned());
    }
    match to.kv_cache.map(|format| (format.key, format.name)) {
        None | Some(("fp16" | "bf16", _)) => {}
        Some(("fp8_e4m3", _)) => flags += " --kv_cache_dtype fp8",
        Some((_, name)) => {
            return Err(format!("has no KV cache in {name}; its narrow format is fp8_e4m3"));
        }
    }
    Ok(flags)
}
