//! The files of one model together: all tensors with their roles, and bytes by role and type.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{HeaderError, clipped};
use crate::header::{Container, Header};
use crate::metadata::Value;
use crate::packing::{Packing, weights_of};
use crate::role::{Layers, Role, of_gguf, of_safetensors};
use crate::safetensors::Index;
use crate::tensor::{Tensor, TensorType};

/// A file and its header.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightFile {
    pub name: String,
    /// Size of the file [byte].
    pub bytes: u64,
    pub header: Header,
}

/// The tensors of a model, from all its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Files in the order in which they were given.
    pub files: Vec<WeightFile>,
    /// Metadata of the file with the language model; empty for safetensors.
    pub metadata: BTreeMap<String, Value>,
    layers: Layers,
}

/// Sums over some tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    pub tensors: u64,
    /// Number of weights; `None` if elements are packed and nothing says how.
    pub parameters: Option<u64>,
    /// Size of the data [byte].
    pub bytes: u64,
}

impl Sum {
    /// The sum over no tensor.
    pub const EMPTY: Self = Self { tensors: 0, parameters: Some(0), bytes: 0 };

    /// Both sums together.
    #[must_use]
    pub const fn and(&self, more: &Self) -> Self {
        Self {
            tensors: self.tensors.saturating_add(more.tensors),
            parameters: match (self.parameters, more.parameters) {
                (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
                _ => None,
            },
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }
}

/// The tensors of one role and one type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    pub role: Role,
    pub kind: &'static TensorType,
    pub sum: Sum,
}

impl Weights {
    /// Joins the files of a model. `layers` is the number of layers that a config.json beside them states; the
    /// metadata of GGUF take precedence.
    ///
    /// # Errors
    /// Files that do not belong together: two formats, a tensor twice, an incomplete split.
    pub fn join(files: Vec<WeightFile>, layers: Option<u64>) -> Result<Self, HeaderError> {
        let n_gguf = files.iter().filter(|&file| is_gguf(file)).count();
        if n_gguf != 0 && n_gguf != files.len() {
            return Err(HeaderError::Mixed);
        }
        let metadata = merged(&files)?;
        check_split(&files)?;
        let mut names = BTreeSet::new();
        for tensor in files.iter().flat_map(|file| &file.header.tensors) {
            if !names.insert(tensor.name.as_str()) {
                return Err(HeaderError::DuplicateTensor { tensor: clipped(&tensor.name) });
            }
        }
        if names.is_empty() {
            return Err(HeaderError::NoTensors);
        }
        let count = main_layers(&metadata).or(layers);
        let layers = Layers::of(count, names.into_iter());
        Ok(Self { files, metadata, layers })
    }

    /// Checks that every tensor of an index is in the file that it names.
    ///
    /// # Errors
    /// The first tensor that is not.
    pub fn check_index(&self, index: &Index) -> Result<(), HeaderError> {
        let mut places = BTreeMap::new();
        for file in &self.files {
            let name = file.name.rsplit(['/', '\\']).next().unwrap_or_default();
            places.extend(file.header.tensors.iter().map(|tensor| (tensor.name.as_str(), name)));
        }
        for (tensor, file) in &index.weight_map {
            if places.get(tensor.as_str()) != Some(&file.as_str()) {
                let (tensor, file) = (clipped(tensor), clipped(file));
                return Err(HeaderError::Index { tensor, file });
            }
        }
        Ok(())
    }

    /// True for GGUF, whose metadata have the geometry.
    pub fn is_gguf(&self) -> bool {
        self.files.iter().any(is_gguf)
    }

    /// All tensors with their roles, in the order of the files.
    pub fn tensors(&self) -> impl Iterator<Item = (&Tensor, Role)> {
        let role_of = if self.is_gguf() { of_gguf } else { of_safetensors };
        let tensors = self.files.iter().flat_map(|file| &file.header.tensors);
        tensors.map(move |tensor| (tensor, role_of(tensor, &self.layers)))
    }

    /// The tensor with this name.
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.files.iter().flat_map(|file| &file.header.tensors).find(|tensor| tensor.name == name)
    }

    /// Bytes and parameters by role and type, roles in their order and larger types first.
    pub fn groups(&self, packing: Packing) -> Vec<Group> {
        let is_gguf = self.is_gguf();
        let mut sums: BTreeMap<(Role, &str), Group> = BTreeMap::new();
        for (tensor, role) in self.tensors() {
            let kind = tensor.kind;
            let group = sums.entry((role, kind.name));
            let group = group.or_insert(Group { role, kind, sum: Sum::EMPTY });
            // The blocks of GGUF say themselves how many weights they hold.
            let parameters =
                if is_gguf { Some(tensor.elements()) } else { weights_of(tensor, packing) };
            group.sum = group.sum.and(&Sum { tensors: 1, parameters, bytes: tensor.bytes });
        }
        let mut groups: Vec<Group> = sums.into_values().collect();
        groups.sort_by(|a, b| a.role.cmp(&b.role).then(b.sum.bytes.cmp(&a.sum.bytes)));
        groups
    }
}

/// Sums of the groups that `counts` accepts.
pub fn sum(groups: &[Group], counts: impl Fn(&Group) -> bool) -> Sum {
    groups.iter().filter(|group| counts(group)).fold(Sum::EMPTY, |all, group| all.and(&group.sum))
}

/// Part of the names of GGUF files with towers and projectors.
const TOWERS_FILE: &str = "mmproj";

/// Checks that these GGUF files are one model: one file or one split, and files with towers.
///
/// # Errors
/// The models, each by its first file.
pub fn of_one_model(names: &[String]) -> Result<(), Vec<&str>> {
    let is_tower = |name: &&String| name.to_ascii_lowercase().contains(TOWERS_FILE);
    let mut firsts: Vec<&str> = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for name in names.iter().filter(|name| !is_tower(name)) {
        if !seen.contains(name) {
            firsts.push(name);
            seen.extend(siblings(name).unwrap_or_else(|| vec![name.clone()]));
        }
    }
    if firsts.len() > 1 { Err(firsts) } else { Ok(()) }
}

fn is_gguf(file: &WeightFile) -> bool {
    matches!(file.header.container, Container::Gguf { .. })
}

/// Architecture of GGUF files that hold towers and projectors only.
const TOWERS: &str = "clip";

/// The metadata of the language model, which the first file of a split has; of the towers, if there is nothing else.
fn merged(files: &[WeightFile]) -> Result<BTreeMap<String, Value>, HeaderError> {
    let architecture = |file: &&WeightFile| {
        file.header.metadata.get("general.architecture").and_then(Value::text).map(str::to_owned)
    };
    let first = files.iter().find(|file| architecture(file).is_some_and(|name| name != TOWERS));
    let first = first.or_else(|| files.iter().find(|file| architecture(file).is_some()));
    let first = first.or(files.first()).ok_or(HeaderError::NoTensors)?;
    Ok(first.header.metadata.clone())
}

/// Layers of the language model by the metadata, without those that predict further tokens.
fn main_layers(metadata: &BTreeMap<String, Value>) -> Option<u64> {
    let architecture = metadata.get("general.architecture")?.text()?;
    let count = |key: &str| metadata.get(&format!("{architecture}.{key}"))?.count();
    count("block_count")?.checked_sub(count("nextn_predict_layers").unwrap_or(0))
}

/// Checks that all parts of a split GGUF file are there, each once.
fn check_split(files: &[WeightFile]) -> Result<(), HeaderError> {
    let number =
        |file: &WeightFile, key: &str| file.header.metadata.get(key).and_then(Value::count);
    let parts: Vec<&WeightFile> =
        files.iter().filter(|file| number(file, "split.count").unwrap_or(0) > 1).collect();
    let Some(stated) = parts.first().and_then(|first| number(first, "split.count")) else {
        return Ok(());
    };
    let mut places = BTreeSet::new();
    for part in &parts {
        let place = number(part, "split.no").unwrap_or(0);
        if !places.insert(place) {
            return Err(HeaderError::SplitPlace { place });
        }
    }
    let found = parts.len() as u64;
    if stated != found {
        return Err(HeaderError::SplitFiles { stated, found });
    }
    let found = parts.iter().map(|part| part.header.tensors.len() as u64).sum();
    match parts.iter().find_map(|part| number(part, "split.tensors.count")) {
        Some(stated) if stated != found => Err(HeaderError::SplitTensors { stated, found }),
        _ => Ok(()),
    }
}

/// All names of a split file, by the name of any part: `model-00001-of-00003.gguf`. `None` for a file that is no part.
///
/// ```
/// let names = weights::files::siblings("m-00002-of-00002.gguf").unwrap();
/// assert_eq!(names, ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"]);
/// assert_eq!(weights::files::siblings("m.gguf"), None);
/// ```
pub fn siblings(name: &str) -> Option<Vec<String>> {
    /// Most parts of a split; published ones have under 300.
    const MOST: u32 = 4096;
    let (stem, extension) = name.rsplit_once('.')?;
    let (stem, count) = stem.rsplit_once("-of-")?;
    let (stem, place) = stem.rsplit_once('-')?;
    let is_number = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(count) || !is_number(place) {
        return None;
    }
    let parts = count.parse().ok().filter(|parts| (1..=MOST).contains(parts))?;
    Some((1..=parts).map(|part| format!("{stem}-{part:05}-of-{count}.{extension}")).collect())
}
