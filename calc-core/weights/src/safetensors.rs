//! The header of safetensors: eight bytes of length, then JSON; and the index of a model in several files.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::{HeaderError, clipped};
use crate::header::{Container, Header, MAX_TENSORS, Stop, check, not_weights};
use crate::tensor::{SAFETENSORS_TYPES, Tensor, elements};

/// Longest JSON of a header [byte], as in the library safetensors 0.8.0.
pub const MAX_JSON: u64 = 100_000_000;
/// Bytes before the JSON.
const LENGTH: u64 = 8;
/// Key of the free texts, which are no tensor.
const METADATA: &str = "__metadata__";
/// Most sizes of a tensor; PyTorch has at most 64.
const MAX_SIZES: usize = 64;

/// Parses the header of a file that is not GGUF.
pub(crate) fn parse(start: &[u8], file_bytes: u64) -> Result<Header, Stop> {
    let Some((length, rest)) = start.split_first_chunk::<8>() else {
        return Err(Stop::Needs(LENGTH));
    };
    let length = u64::from_le_bytes(*length);
    // A length beyond its limit is that of some other file, unless JSON follows it.
    match rest.first() {
        None if file_bytes > LENGTH => return Err(Stop::Needs(LENGTH + 1)),
        Some(b'{') => {}
        _ => return Err(not_weights(start).into()),
    }
    if length > MAX_JSON {
        return Err(HeaderError::TooLong { needs: length, most: MAX_JSON }.into());
    }
    let bytes = LENGTH + length;
    if bytes > file_bytes {
        return Err(HeaderError::Truncated { needs: bytes, has: file_bytes }.into());
    }
    let json = usize::try_from(length).ok().and_then(|length| rest.get(..length));
    let json = json.ok_or(Stop::Needs(bytes))?;
    let entries: Entries = serde_json::from_slice(json).map_err(|error| refused(&error))?;
    let tensors = entries.0.into_iter().map(|(name, entry)| tensor(name, entry, bytes));
    let tensors: Vec<Tensor> = tensors.collect::<Result<_, _>>()?;
    check(&tensors, file_bytes)?;
    let (container, metadata) = (Container::Safetensors, BTreeMap::new());
    Ok(Header { container, tensors, metadata, bytes })
}

fn refused(error: &serde_json::Error) -> HeaderError {
    HeaderError::Json { reason: clipped(&error.to_string()) }
}

fn tensor(name: String, entry: Entry, data: u64) -> Result<Tensor, HeaderError> {
    let kind = SAFETENSORS_TYPES.iter().find(|kind| kind.name == entry.dtype);
    let Some(kind) = kind else {
        let found = clipped(&entry.dtype);
        return Err(HeaderError::UnknownType { tensor: clipped(&name), found });
    };
    let Sizes(shape) = entry.shape;
    let bytes = elements(&shape).and_then(|elements| kind.bytes(elements));
    let Some(bytes) = bytes else {
        return Err(HeaderError::TooLarge { tensor: clipped(&name) });
    };
    let [from, to] = entry.data_offsets;
    match to.checked_sub(from) {
        Some(stated) if stated == bytes => {
            Ok(Tensor { name, shape, kind, bytes, offset: data.saturating_add(from) })
        }
        stated => Err(HeaderError::Size {
            tensor: clipped(&name),
            stated: stated.unwrap_or(0),
            computed: bytes,
        }),
    }
}

/// The tensors of a header in the order of the file, also those that stand twice.
struct Entries(Vec<(String, Entry)>);

#[derive(serde::Deserialize)]
struct Entry {
    dtype: String,
    shape: Sizes,
    data_offsets: [u64; 2],
}

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Entries, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = items.next_key::<String>()? {
            if name == METADATA {
                items.next_value::<IgnoredAny>()?;
                continue;
            }
            if entries.len() as u64 >= MAX_TENSORS {
                return Err(A::Error::custom(format!("more than {MAX_TENSORS} tensors")));
            }
            entries.push((name, items.next_value()?));
        }
        Ok(Entries(entries))
    }
}

/// A shape with a limited number of sizes.
struct Sizes(Vec<u64>);

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(SizesVisitor)
    }
}

struct SizesVisitor;

impl<'de> Visitor<'de> for SizesVisitor {
    type Value = Sizes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MAX_SIZES} sizes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Sizes, A::Error> {
        let mut sizes = Vec::new();
        while let Some(size) = items.next_element()? {
            if sizes.len() >= MAX_SIZES {
                return Err(A::Error::custom(format!("more than {MAX_SIZES} sizes of a tensor")));
            }
            sizes.push(size);
        }
        Ok(Sizes(sizes))
    }
}

/// The index of a model in several files: `model.safetensors.index.json`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct Index {
    /// The file of each tensor.
    pub weight_map: BTreeMap<String, String>,
}

impl Index {
    /// Reads the text of an index.
    ///
    /// # Errors
    /// JSON without a `weight_map`.
    pub fn read(text: &str) -> Result<Self, HeaderError> {
        serde_json::from_str(text).map_err(|error| refused(&error))
    }

    /// The files in the order of their names, each once.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = self.weight_map.values().map(String::as_str).collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}
