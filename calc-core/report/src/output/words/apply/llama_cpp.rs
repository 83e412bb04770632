//! llama.cpp commands: the file to serve, and the server with the split, context and KV cache of a request.
//! Its split modes are described in `calc_core::software::split`.

use calc_core::calibration::Engine;
use calc_core::catalog::formats;
use calc_core::parallel::Parallel;
use calc_core::quant_format::{GgufFile, QuantFormat};
use calc_core::scheme::{Backend, Scheme, SchemeWeights, backend};

use super::super::placement::{cells, layers_on_card, placing};
use super::{Deployment, argument, make};

/// Commands, or a line with the reason why llama.cpp cannot run the estimated configuration; `None` where it does not
/// run.
pub(super) fn command(scheme: &Scheme, to: &Deployment<'_>) -> Option<String> {
    let source = source(scheme, to)?;
    let backend = backend(to.device);
    if backend == Backend::Plugin {
        return None;
    }
    if let (Source::File { file }, Some(own), false) =
        (&source, to.repositories.file, to.repositories.has_half)
    {
        return Some(format!(
            "# llama.cpp: {} is quantized already, and {file} is made from 16-bit weights: convert those of the model, or take a file in {file} that others made",
            argument(own)
        ));
    }
    let flags = match flags(to, backend) {
        Ok(flags) => flags,
        Err(reason) => return Some(format!("# llama.cpp {reason}")),
    };
    let joined = if to.is_over_machines() { JOINED } else { "" };
    let ready = ready(scheme, to);
    Some(match source {
        Source::Own { path } => {
            let path = argument(path);
            format!("{}{joined}llama-server -m {path}{flags}", make::draft(to))
        }
        Source::Repository { file } => {
            let named = argument(&repository(to, file));
            format!("{}{joined}llama-server -hf {named}{flags}", make::draft(to))
        }
        Source::File { file } => {
            let (made_by, path) = make::gguf(file, to);
            // `-hf` loads the file of the tower by itself.
            let (tower, loaded) = make::tower(to)
                .map_or_else(Default::default, |(made, path)| (made, format!(" --mmproj {path}")));
            format!(
                "{ready}{made_by}{tower}{}{joined}llama-server -m {path}{loaded}{flags}",
                make::draft(to)
            )
        }
    })
}

/// Line before the command where every device is a machine of its own.
const JOINED: &str = "# each device is a machine of its own: run rpc-server -H 0.0.0.0 -p 50052 on the others, in a network that you trust, and put their addresses here\n";

/// Line before the commands that make a file of a model whose experts are published in MXFP4: a file that others made has the same
/// experts.
fn ready(scheme: &Scheme, to: &Deployment<'_>) -> &'static str {
    let is_mxfp4 =
        to.repositories.stored.is_some_and(|stored| stored.experts == Some(&formats::MXFP4));
    if is_mxfp4 && scheme.weights == SchemeWeights::Published {
        "# the experts stay in MXFP4 as published; a GGUF file of this model that others made has them, too, and needs the last line alone\n"
    } else {
        ""
    }
}

/// GGUF file to serve, by the file type in its name.
pub(super) enum Source<'a> {
    /// The file that the request names.
    Own { path: &'a str },
    /// A file that the user converts or quantizes.
    File { file: &'static str },
    /// A file of the published repository.
    Repository { file: GgufFile },
}

pub(super) fn source<'a>(scheme: &Scheme, to: &Deployment<'a>) -> Option<Source<'a>> {
    if let (SchemeWeights::Published, Some(path)) = (scheme.weights, to.repositories.file) {
        return Some(Source::Own { path });
    }
    match scheme.weights {
        SchemeWeights::Half => to.repositories.has_half.then_some(Source::File { file: "f16" }),
        SchemeWeights::Published => {
            let stored = to.repositories.stored?;
            if stored.experts == Some(&formats::MXFP4) {
                return Some(Source::File { file: formats::GGUF_MXFP4.file?.name() });
            }
            let file = stored.weights.file?;
            // Ollama's registry is no repository of the hub.
            Some(match to.repositories.tag {
                Some(_) => Source::File { file: file.name() },
                None => Source::Repository { file },
            })
        }
        SchemeWeights::Format(format) => Some(Source::File { file: format.file?.name() }),
    }
}

/// The published repository with the type of a file; one of MXFP4 experts has no other type.
pub(super) fn repository(to: &Deployment<'_>, file: GgufFile) -> String {
    match file {
        GgufFile::Mxfp4Moe => to.repositories.published.to_owned(),
        _ => format!("{}:{}", to.repositories.published, file.name()),
    }
}

/// Arguments after the file, or the reason why there is no command.
fn flags(to: &Deployment<'_>, backend: Backend) -> Result<String, String> {
    if let Some(reason) = to.too_long() {
        return Err(reason);
    }
    let mut flags = String::new();
    if let Some((arch, workload)) = to.served {
        flags += &format!(" {}", cells(arch, workload));
    }
    match (to.placement, to.served) {
        (Some(placement), Some((arch, _))) if placement.is_split() => {
            flags += &format!(" {}", placing(&placement, arch).join(" "));
        }
        (_, Some((arch, _))) if backend != Backend::Cpu => {
            flags += &format!(" -ngl {}", layers_on_card(0, arch));
        }
        // More layers than any model has.
        _ if backend != Backend::Cpu => flags += " -ngl 999",
        _ => {}
    }
    let split = split(to)?;
    let kv = to.kv_cache.map(cache).transpose()?;
    let is_quantized = kv.is_some_and(|kv| !matches!(kv, "f32" | "f16" | "bf16"));
    match split {
        Some("tensor") => flags += " --split-mode tensor -fa on -fit off",
        Some(mode) => flags += &format!(" --split-mode {mode}"),
        None => {}
    }
    if to.is_over_machines() {
        let others = to.served.map_or(0, |(_, workload)| workload.parallel.devices() - 1);
        let names: Vec<String> =
            (1..=others).map(|number| format!("ADDRESS{number}:50052")).collect();
        flags += &format!(" --rpc {}", names.join(","));
    }
    if let Some(kv) = kv {
        let flash = if is_quantized { " -fa on" } else { "" };
        flags += &format!("{flash} -ctk {kv} -ctv {kv}");
    }
    if to.has_own_drafts() {
        return Err("has no known flag to draft with the model's own layers".to_owned());
    }
    if let Some((draft, tokens)) = to.drafts() {
        flags += &format!(" -md {} --spec-draft-n-max {tokens}", make::gguf_path(draft, "f16"));
    }
    Ok(flags)
}

/// Split mode of the estimated configuration; `None` on one device.
fn split(to: &Deployment<'_>) -> Result<Option<&'static str>, String> {
    to.check_split(Engine::LlamaCpp)?;
    Ok(match to.served.map(|(_, workload)| workload.parallel) {
        Some(Parallel { tensor, .. }) if tensor > 1 => Some("tensor"),
        Some(Parallel { pipeline, .. }) if pipeline.stages() > 1 => Some("layer"),
        _ => None,
    })
}

/// Name of a KV-cache format in llama.cpp.
pub(super) fn cache(format: &QuantFormat) -> Result<&'static str, String> {
    match format.key {
        "fp32" => Ok("f32"),
        "fp16" => Ok("f16"),
        "bf16" => Ok("bf16"),
        "gguf_q8_0" => Ok("q8_0"),
        "gguf_q4_0" => Ok("q4_0"),
        _ => {
            Err(format!("has no KV cache in {}; its narrow formats are q8_0 and q4_0", format.name))
        }
    }
}
