//! Ollama commands. Variables of its server: the FAQ of its documentation; it no longer quantizes on import, so llama.cpp's
//! tools make the file.

use calc_core::calibration::Engine;
use calc_core::scheme::{Scheme, SchemeWeights};

use super::llama_cpp::{self, Source};
use super::{Deployment, argument, make, short};

/// Commands, or a line with the reason why Ollama cannot run the estimated configuration; `None` for weights that it does not
/// read.
pub(super) fn command(scheme: &Scheme, to: &Deployment<'_>) -> Option<String> {
    let source = llama_cpp::source(scheme, to)?;
    let variables = match variables(to) {
        Ok(variables) => variables,
        Err(reason) => return Some(format!("# Ollama {reason}")),
    };
    let tag = to.repositories.tag.filter(|_| scheme.weights == SchemeWeights::Published);
    let serve = format!("{variables}ollama serve &");
    Some(match source {
        _ if tag.is_some() => format!("{serve}\nollama run {}", argument(tag.unwrap_or_default())),
        Source::Own { path } => {
            let name = argument(&short(path).trim_end_matches(".gguf").to_lowercase());
            let from = argument(&format!("FROM {path}"));
            format!(
                "echo {from} > Modelfile\n{serve}\nollama create {name} -f Modelfile\nollama run {name}"
            )
        }
        Source::Repository { file } => {
            let named = argument(&format!("hf.co/{}", llama_cpp::repository(to, file)));
            format!("{serve}\nollama run {named}")
        }
        Source::File { file } => {
            let (made_by, _) = make::gguf(file, to);
            let model = make::gguf_name(to.repositories.model, file);
            let from = argument(&format!("FROM ./{model}"));
            let name = argument(&model.trim_end_matches(".gguf").to_lowercase());
            format!(
                "{made_by}echo {from} > Modelfile\n{serve}\nollama create {name} -f Modelfile\nollama run {name}"
            )
        }
    })
}

/// Variables of the server, or the reason why there is no command.
fn variables(to: &Deployment<'_>) -> Result<String, String> {
    if let Some(reason) = to.too_long() {
        return Err(reason);
    }
    if to.drafts().is_some() {
        return Err("has no draft models".to_owned());
    }
    let mut variables = String::new();
    if let (Some((_, workload)), Some(tokens)) = (to.served, to.tokens()) {
        to.check_split(Engine::Ollama)?;
        variables +=
            &format!("OLLAMA_CONTEXT_LENGTH={tokens} OLLAMA_NUM_PARALLEL={} ", workload.batch);
    }
    match to.kv_cache.map(llama_cpp::cache).transpose()? {
        None | Some("f16") => {}
        Some(kv @ ("q8_0" | "q4_0")) => {
            variables += &format!("OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE={kv} ");
        }
        Some(kv) => return Err(format!("has no KV cache in {kv}; it has f16, q8_0 and q4_0")),
    }
    Ok(variables)
}
