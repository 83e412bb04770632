//! TensorRT-LLM commands. Options: `trtllm-serve` of its documentation.

use calc_core::parallel::Parallel;
use calc_core::scheme::{Backend, Scheme, backend};

use super::Deployment;
use super::make::{self, Checkpoint};

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
    if let Some(reason) = to.too_long() {
        return Err(reason);
    }
    if to.drafts().is_some() {
        return Err("takes a draft model from a file (--config) only".to_owned());
    }
    let mut flags = String::new();
    if let (Some((_, workload)), Some(tokens)) = (to.served, to.tokens()) {
        let Parallel { tensor, pipeline, expert } = workload.parallel;
        if expert > 1 {
            return Err("spreads experts only over devices that share every layer (--ep_size): it cannot run the estimated configuration".to_owned());
        }
        flags += &format!(" --max_seq_len {tokens} --max_batch_size {}", workload.batch);
        for (flag, ways) in [("tp_size", tensor), ("pp_size", pipeline)] {
            if ways > 1 {
                flags += &format!(" --{flag} {ways}");
            }
        }
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
