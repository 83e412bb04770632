//! Weight files of this machine: which files belong to a name, and their headers.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use calc_core::hf_config::Unread;
use report::input::named_model::NamedModel;
use report::input::request::{Files, RequestError};
use report::input::weight_file::{ModelWeights, WeightFileError};
use weights::error::HeaderError;
use weights::files::{WeightFile, of_one_model, siblings};
use weights::read::{ReadError, read};
use weights::safetensors::Index;

use crate::files;
use crate::hooks::Hooks;
use crate::measure::here;

/// Ends of the names of weight files.
const GGUF: &str = ".gguf";
const SAFETENSORS: &str = ".safetensors";
/// Name of the index of a model in several files.
const INDEX: &str = "model.safetensors.index.json";
/// Most files that a model may have.
const MOST_FILES: usize = 4096;

/// The files of the user: descriptions as text, weight files by their headers, and this machine.
pub(crate) fn user_files() -> Files<'static> {
    Files::new(&files::read)
        .with_weights(&model)
        .with_here(&|| here::device_name(&Hooks::sensors()))
}

/// Reads the model of weight files; `None` for a name that is none.
pub(crate) fn model(name: &str, unread: Unread) -> Result<Option<NamedModel>, RequestError> {
    let read = |found: ModelWeights| NamedModel::of_weights(name, &found, unread);
    let found = find(name).and_then(|found| found.map(read).transpose());
    found.map_err(|error| error.of_file(name))
}

/// Reads the headers of a weight file with all parts of its split, or those of a folder; `None` for every other name.
///
/// # Errors
/// The first file that cannot be read, and the first mistake in a header.
pub(crate) fn find(name: &str) -> Result<Option<ModelWeights>, WeightFileError> {
    let path = Path::new(name);
    if path.is_dir() {
        return folder(path);
    }
    let lower = name.to_ascii_lowercase();
    if lower.ends_with(INDEX) {
        return folder(&parent(path));
    }
    if !lower.ends_with(GGUF) && !lower.ends_with(SAFETENSORS) {
        return Ok(None);
    }
    let file_name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let names = siblings(file_name).unwrap_or_else(|| vec![file_name.to_owned()]);
    let one = names.len() == 1;
    let headers = if one { vec![header(path, "")?] } else { headers(&parent(path), &names)? };
    joined(headers, config_beside(path)).map(Some)
}

/// The weight files of a folder: those of the index, else all of safetensors, else the one GGUF model with its towers. `None` if
/// there are none, as beside the config.json of a checkout without its large files.
fn folder(path: &Path) -> Result<Option<ModelWeights>, WeightFileError> {
    if path.join(INDEX).is_file() {
        return indexed(path);
    }
    let all = listed(path)?;
    let with = |end: &str| -> Vec<String> {
        all.iter().filter(|name| name.to_ascii_lowercase().ends_with(end)).cloned().collect()
    };
    let (safetensors, gguf) = (with(SAFETENSORS), with(GGUF));
    let names = if safetensors.is_empty() { one_model(gguf)? } else { safetensors };
    if names.is_empty() {
        return Ok(None);
    }
    joined(headers(path, &names)?, config_in(path)).map(Some)
}

/// The files that the index of a folder names.
fn indexed(path: &Path) -> Result<Option<ModelWeights>, WeightFileError> {
    let text = files::read_text(&path.join(INDEX));
    let text = text.map_err(|reason| unreadable(format!("{INDEX}: {reason}")))?;
    let refused = |error| WeightFileError::header(INDEX, error);
    let index = Index::read(&text).map_err(refused)?;
    let names: Vec<String> = index.files().into_iter().map(str::to_owned).collect();
    if let Some(outside) = names.iter().find(|name| name.contains(['/', '\\'])) {
        let reason = format!("{INDEX} names `{outside}`, which is not a file of its folder");
        return Err(unreadable(reason));
    }
    if !names.iter().any(|name| is_stored(&path.join(name))) {
        return Ok(None);
    }
    let model = joined(headers(path, &names)?, config_in(path))?;
    model.weights.check_index(&index).map_err(refused)?;
    Ok(Some(model))
}

/// True for a file with its content; false for the pointer that git has in place of a large file.
fn is_stored(path: &Path) -> bool {
    const POINTER: &[u8] = b"version https://git-lfs";
    let mut start = Vec::new();
    let opened = files::open(path).ok();
    let read = opened.map(|file| file.take(POINTER.len() as u64).read_to_end(&mut start));
    matches!(read, Some(Ok(_))) && start != POINTER
}

/// Names of the weight files in a folder, sorted.
fn listed(path: &Path) -> Result<Vec<String>, WeightFileError> {
    let entries = fs::read_dir(path).map_err(|error| unreadable(files::said(&error)))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            let lower = name.to_ascii_lowercase();
            (lower.ends_with(GGUF) || lower.ends_with(SAFETENSORS)) && is_stored(&path.join(name))
        })
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// The files of the only GGUF model among these.
fn one_model(names: Vec<String>) -> Result<Vec<String>, WeightFileError> {
    let several = of_one_model(&names).err().map(|models| {
        let list: Vec<&str> = models.into_iter().take(6).collect();
        format!("it is a folder with several GGUF models: {}; name one of them", list.join(", "))
    });
    several.map_or(Ok(names), |reason| Err(unreadable(reason)))
}

fn headers(folder: &Path, names: &[String]) -> Result<Vec<WeightFile>, WeightFileError> {
    if names.len() > MOST_FILES {
        let found = names.len();
        return Err(unreadable(format!(
            "it has {found} weight files; at most {MOST_FILES} are read"
        )));
    }
    names.iter().map(|name| header(&folder.join(name), name)).collect()
}

/// Reads one header; `inside` names the file in messages where the user named something else.
fn header(path: &Path, inside: &str) -> Result<WeightFile, WeightFileError> {
    let named = |reason: String| {
        unreadable(if inside.is_empty() { reason } else { format!("{inside}: {reason}") })
    };
    let mut file = files::open(path).map_err(named)?;
    let bytes = file.metadata().map_err(|error| named(files::said(&error)))?.len();
    let name = path.display().to_string();
    match read(&mut file, bytes) {
        Ok(header) => Ok(WeightFile { name, bytes, header }),
        Err(ReadError::Io(error)) => Err(named(files::said(&error))),
        Err(ReadError::Header(error)) => Err(WeightFileError::header(inside, error)),
    }
}

fn joined(
    headers: Vec<WeightFile>,
    config: Option<String>,
) -> Result<ModelWeights, WeightFileError> {
    let refused = |error: HeaderError| WeightFileError::header("", error);
    ModelWeights::join(headers, config).map_err(refused)
}

fn config_beside(path: &Path) -> Option<String> {
    config_in(&parent(path))
}

fn config_in(folder: &Path) -> Option<String> {
    files::config(folder).ok()
}

fn parent(path: &Path) -> PathBuf {
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}

const fn unreadable(reason: String) -> WeightFileError {
    WeightFileError::Unreadable { reason }
}
