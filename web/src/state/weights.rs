//! Weight files on the page: which bytes of which file to read next, and the model that the headers give. Where the bytes come
//! from is the caller's matter. It is in a chunk, with the readers of GGUF and safetensors.

pub mod listing;

use std::mem::take;

use calc_core::hf_config::Unread;
use report::input::model_file::word::{FileModel, FileWeights};
use report::input::named_model::NamedModel;
use report::input::weight_file::{ModelWeights, WeightFileError, stated_formats};
use report::output::words::weights as words;
use weights::files::{WeightFile, of_one_model, siblings};
use weights::read::{FIRST_READ, Progress, next_read, parse};
use weights::safetensors::Index;

use super::files::{MAX_BYTES, OpenedModel, Refused, opened_model};
use super::model::file_name;
use super::model::file_name::GGUF;

/// End of the names of files of safetensors.
const SAFETENSORS: &str = ".safetensors";
/// End of the name of the index of a model in several files.
const INDEX: &str = ".safetensors.index.json";
const CONFIG: &str = "config.json";
/// First read of safetensors [byte], whose headers are short: a hub sends it for each of many files.
const FIRST_OF_SAFETENSORS: u64 = 1 << 16;
/// Most files that are read.
const MOST_FILES: usize = 512;
/// Most models that a sentence names.
const NAMED: usize = 6;

/// A file that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadableFile {
    /// Name, with folders where there are some.
    pub name: String,
    /// Its size [byte].
    pub bytes: u64,
}

impl ReadableFile {
    /// The name without folders.
    fn base(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    fn has_end(&self, end: &str) -> bool {
        self.name.to_ascii_lowercase().ends_with(end)
    }

    fn is_text(&self) -> bool {
        self.has_end(".json")
    }
}

/// Whether a name is that of a weight file, or of an index of them.
pub fn is_of_weights(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [GGUF, SAFETENSORS, INDEX].iter().any(|end| name.ends_with(end))
}

/// A name for the model of these files: that of the first with weights, without its part of a split.
pub fn title_of(names: &[String]) -> String {
    let ends = |end: &str| names.iter().filter(|name| name.ends_with(end)).min();
    let name = ends(GGUF).or_else(|| ends(SAFETENSORS)).or_else(|| names.first());
    let name = name.map(String::as_str).unwrap_or_default();
    let stem = name.rsplit_once('.').filter(|_| siblings(name).is_some());
    let part = stem.and_then(|(stem, _)| Some(stem.rsplit_once("-of-")?.0.rsplit_once('-')?.0));
    part.unwrap_or(name).to_owned()
}

/// The reason with the name of the file in front, unless it begins with that name.
fn named(title: &str, reason: &str) -> String {
    let is_named = reason.strip_prefix(title).is_some_and(|rest| rest.starts_with(": "));
    if is_named { reason.to_owned() } else { format!("{title}: {reason}") }
}

/// Bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// Place of the file in the list.
    pub file: usize,
    /// First byte.
    pub from: u64,
    /// The byte after the last.
    pub to: u64,
}

/// The next step of a reading.
#[derive(Debug)]
pub enum Advance {
    /// Bytes that it needs; [`Reading::advance`] takes them.
    Read(Box<Reading>, Range),
    Opened(OpenedModel),
}

/// The files of a model, some of them read.
#[derive(Debug)]
pub struct Reading {
    title: String,
    unread: Unread,
    /// All files in the caller's order.
    files: Vec<ReadableFile>,
    /// Places of the files to read: texts, then weights.
    order: Vec<usize>,
    /// Bytes that were read of the first of them.
    start: Vec<u8>,
    asked: bool,
    config: Option<String>,
    index: Option<Index>,
    headers: Vec<WeightFile>,
}

impl Reading {
    /// A reading of the model in these files; other files among them are left alone.
    ///
    /// # Errors
    /// Returns a sentence if they are several models, or a part of one.
    pub fn new(title: &str, files: Vec<ReadableFile>, unread: Unread) -> Result<Self, Refused> {
        let places = |end: &str| -> Vec<usize> {
            let all = files.iter().enumerate();
            all.filter(|(_, file)| file.has_end(end)).map(|(place, _)| place).collect()
        };
        let is_config = |place: &usize| files.get(*place).is_some_and(|file| file.base() == CONFIG);
        let jsons: Vec<usize> =
            places(".json").into_iter().filter(|place| !places(INDEX).contains(place)).collect();
        let config = jsons.iter().copied().find(is_config);
        let config = config.or_else(|| jsons.first().copied().filter(|_| jsons.len() == 1));
        let weights = [places(GGUF), places(SAFETENSORS)].concat();
        if weights.len() > MOST_FILES {
            let found = weights.len();
            return Err(
                format!("{title}: {found} weight files; at most {MOST_FILES} are read").into()
            );
        }
        let names: Vec<String> =
            weights.iter().filter_map(|&place| Some(files.get(place)?.name.clone())).collect();
        check_names(title, &names)?;
        let order = config.into_iter().chain(places(INDEX)).chain(weights).collect();
        let (start, headers) = (Vec::new(), Vec::new());
        let title = title.to_owned();
        let (config, index, asked) = (None, None, false);
        Ok(Self { title, unread, files, order, start, asked, config, index, headers })
    }

    /// Takes the bytes that were asked for, nothing at first, and says what comes next.
    ///
    /// # Errors
    /// Returns the first mistake of a file, as a sentence.
    pub fn advance(mut self: Box<Self>, bytes: &[u8]) -> Result<Advance, Refused> {
        if self.asked && bytes.is_empty() {
            return Err(self.refused("it could not be read to the end of its header"));
        }
        self.start.extend_from_slice(bytes);
        loop {
            let Some(&place) = self.order.first() else { return (*self).finish() };
            let Some(file) = self.files.get(place).cloned() else { return (*self).finish() };
            if let Some(to) = self.look(&file)? {
                let from = self.start.len() as u64;
                self.asked = true;
                return Ok(Advance::Read(self, Range { file: place, from, to }));
            }
            self.order.remove(0);
            self.start.clear();
            self.asked = false;
        }
    }

    /// Keeps what the first file says; if more of it is needed for that, the number of bytes from its start.
    fn look(&mut self, file: &ReadableFile) -> Result<Option<u64>, Refused> {
        let had = self.start.len() as u64;
        if file.is_text() {
            if file.bytes > u64::from(MAX_BYTES) {
                let most = MAX_BYTES / 1_000_000;
                return Err(self.refused(&format!("at most {most} MB of a text are read")));
            }
            if had < file.bytes {
                return Ok(Some(file.bytes));
            }
            return self.keep_text(file).map(|()| None);
        }
        let is_gguf = file.has_end(GGUF);
        let first = if is_gguf { FIRST_READ } else { FIRST_OF_SAFETENSORS }.min(file.bytes);
        if had < first {
            return Ok(Some(first));
        }
        let error = |error| self.of(&WeightFileError::header(file.base(), error));
        match parse(&self.start, file.bytes).map_err(error)? {
            Progress::Needs(bytes) => Ok(Some(next_read(bytes, had, file.bytes))),
            Progress::Done(header) => {
                let (name, bytes) = (file.name.clone(), file.bytes);
                self.headers.push(WeightFile { name, bytes, header: *header });
                Ok(None)
            }
        }
    }

    fn keep_text(&mut self, file: &ReadableFile) -> Result<(), Refused> {
        let text = String::from_utf8(take(&mut self.start));
        let text = text.map_err(|_bytes| self.refused("it is not UTF-8 text"))?;
        if !file.has_end(INDEX) {
            self.config = Some(text);
            return Ok(());
        }
        let error = |error| self.of(&WeightFileError::header(file.base(), error));
        let index = Index::read(&text).map_err(error)?;
        self.take_index(index)
    }

    /// Leaves the files that the index does not name, such as another copy of the weights.
    fn take_index(&mut self, index: Index) -> Result<(), Refused> {
        let wanted = index.files();
        let base = |place: usize| self.files.get(place).map(ReadableFile::base).unwrap_or_default();
        if let Some(missing) =
            wanted.iter().find(|name| !self.order.iter().any(|&place| base(place) == **name))
        {
            let all = wanted.len();
            let why = format!(
                "its index names {missing}, which is not here; open all {all} files together"
            );
            return Err(self.refused(&why));
        }
        let kept: Vec<usize> = self
            .order
            .iter()
            .copied()
            .filter(|&place| !base(place).ends_with(SAFETENSORS) || wanted.contains(&base(place)))
            .collect();
        self.order = kept;
        self.index = Some(index);
        Ok(())
    }

    /// The model of all files.
    fn finish(self) -> Result<Advance, Refused> {
        let title = self.title.clone();
        let refuse = |error: WeightFileError| refusal(&title, &error);
        let of_all = |error| refuse(WeightFileError::header("", error));
        let Self { headers, config, index, unread, .. } = self;
        let found = ModelWeights::join(headers, config).map_err(of_all)?;
        if let Some(index) = index {
            found.weights.check_index(&index).map_err(of_all)?;
        }
        let named = NamedModel::of_weights(&title, &found, unread).map_err(refuse)?;
        let stated = stated_formats(&found, Some(&named.stored));
        let name = match unread {
            Unread::Refuse => named.name.clone(),
            Unread::UpperBound => file_name::bounded(&named.name),
        };
        let model = FileModel::of(&NamedModel { name, ..named });
        let model = model.ok_or_else(|| format!("{title}: its geometry has no place in a link"))?;
        let weights = Some(FileWeights::of(&found.groups()));
        let disagreements = stated.iter().filter_map(words::disagreement);
        let notes = model.notes.iter().cloned().chain(disagreements).collect();
        Ok(Advance::Opened(opened_model(FileModel { weights, notes, ..model })))
    }

    fn refused(&self, why: &str) -> Refused {
        let file = self.order.first().and_then(|&place| self.files.get(place));
        format!("{}: {why}", file.map_or(&*self.title, ReadableFile::base)).into()
    }

    fn of(&self, error: &WeightFileError) -> Refused {
        refusal(&self.title, error)
    }
}

/// Checks that the names are those of one model, with all parts of a split.
fn check_names(title: &str, names: &[String]) -> Result<(), Refused> {
    let gguf: Vec<String> =
        names.iter().filter(|name| name.to_ascii_lowercase().ends_with(GGUF)).cloned().collect();
    if let Err(models) = of_one_model(&gguf) {
        let list: Vec<&str> = models.iter().copied().take(NAMED).collect();
        let list = list.join(", ");
        return Err(
            format!("{title}: these are several GGUF models: {list}; open one of them").into()
        );
    }
    for name in names {
        let Some(parts) = siblings(name) else { continue };
        if let Some(missing) = parts.iter().find(|part| !names.contains(part)) {
            let all = parts.len();
            let missing = missing.rsplit('/').next().unwrap_or_default();
            return Err(format!(
                "{title}: {missing} is missing; open all {all} files of the model together"
            )
            .into());
        }
    }
    Ok(())
}

fn refusal(title: &str, error: &WeightFileError) -> Refused {
    let has_bound =
        matches!(error, WeightFileError::Model { error, .. } if error.has_upper_bound());
    Refused {
        reason: named(title, &error.without_flag()),
        // An empty text: the files are read again.
        bounded: has_bound.then(String::new),
    }
}

#[cfg(test)]
mod tests;
