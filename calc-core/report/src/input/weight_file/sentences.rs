//! The sentences for weight files that are not read.

use core::fmt;

use weights::error::HeaderError;
use weights::geometry::NoGeometry;
use weights::tensor::{GGML_TYPES, SAFETENSORS_TYPES};

use super::WeightFileError;

impl core::error::Error for WeightFileError {}

impl fmt::Display for WeightFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { reason } => f.write_str(reason),
            Self::Header { file, error } if file.is_empty() => f.write_str(&header(error)),
            Self::Header { file, error } => write!(f, "{file}: {}", header(error)),
            Self::NoGeometry(why) => f.write_str(&no_geometry(why)),
            Self::NoConfig => f.write_str(
                "files of safetensors do not state the geometry, and there is no config.json beside them; \
                 put the model's config.json into the same folder, or open it together with them",
            ),
            Self::Model { error, of_header: true } => write!(f, "its metadata, with the names of a config.json: {error}"),
            Self::Model { error, of_header: false } => write!(f, "its config.json: {error}"),
        }
    }
}

fn no_geometry(why: &NoGeometry) -> String {
    match why {
        NoGeometry::NoArchitecture => {
            "the metadata have no general.architecture; is this the file of a model?".into()
        }
        NoGeometry::Towers => {
            "it holds a tower for images or sound and no language model; give the GGUF \
                               file of the model, or the folder with both"
                .into()
        }
        NoGeometry::NotAModel { kind } => {
            format!("general.type is `{kind}`; only files of type `model` are estimated here")
        }
        NoGeometry::NoEmbedding => {
            "it has no token_embd.weight or no matrix of a layer; is it one part of a split file?"
                .into()
        }
        _ => format!("{why:?}"),
    }
}

/// The sentence for a mistake in a header, or between files.
fn header(error: &HeaderError) -> String {
    match error {
        HeaderError::NotWeights { start } if start.is_empty() => "the file is empty".into(),
        HeaderError::NotWeights { start } => format!(
            "neither GGUF nor safetensors: it begins with {}; a GGUF file begins with \"GGUF\"",
            quoted(start)
        ),
        HeaderError::Version { found } => {
            format!("version {found} of GGUF is unknown; versions 1 to 3 are read")
        }
        HeaderError::Truncated { needs, has } => format!(
            "the file ends inside its header: that needs at least {needs} bytes, and there are {has}; is the \
             download complete?"
        ),
        HeaderError::TooLong { needs, most } => {
            format!("the header needs {needs} bytes; at most {most} are read")
        }
        HeaderError::TooMany { what, found, most } => {
            format!("the header states {found} {what}; at most {most} are read")
        }
        HeaderError::NotText { at } => format!("the name at byte {at} is not UTF-8 text"),
        HeaderError::ValueType { key, found } => {
            format!("the metadata key `{key}` has a value of type {found}; types 0 to 12 are known")
        }
        HeaderError::DuplicateKey { key } => format!("the metadata key `{key}` stands twice"),
        HeaderError::Alignment { found } => {
            format!("general.alignment must be a power of two up to 2^30; got {found}")
        }
        HeaderError::Json { reason } => format!("not the JSON of safetensors: {reason}"),
        tensor => of_tensor(tensor),
    }
}

/// The sentence for a mistake in a tensor, or between files.
fn of_tensor(error: &HeaderError) -> String {
    match error {
        HeaderError::UnknownType { tensor, found } => {
            format!(
                "the tensor `{tensor}` has the type {found}, which is unknown; known are {}",
                types(found)
            )
        }
        HeaderError::TooLarge { tensor } => {
            format!(
                "the sizes of the tensor `{tensor}` multiply to no whole number of bytes below 2^64"
            )
        }
        HeaderError::PartialBlock { tensor, row, block, type_name } => format!(
            "a row of the tensor `{tensor}` has {row} elements; {type_name} stores them in blocks of {block}"
        ),
        HeaderError::Size { tensor, stated, computed } => format!(
            "data_offsets give the tensor `{tensor}` {stated} bytes; its shape and type need {computed}"
        ),
        HeaderError::Misaligned { tensor, offset, alignment } => format!(
            "the tensor `{tensor}` begins at byte {offset} of the data, which is no multiple of the alignment {alignment}"
        ),
        HeaderError::OutOfRange { tensor, end, file } => format!(
            "the tensor `{tensor}` ends at byte {end}, and the file has {file}; is the download complete?"
        ),
        HeaderError::Overlap { first, second } => {
            format!("the tensors `{first}` and `{second}` share bytes of the file")
        }
        HeaderError::DuplicateTensor { tensor } => format!("the tensor `{tensor}` stands twice"),
        HeaderError::SplitFiles { stated, found } => {
            format!(
                "the split has {stated} files, and {found} are here; put all into one folder, or open all together"
            )
        }
        HeaderError::SplitTensors { stated, found } => {
            format!("the split has {stated} tensors, and its files have {found}")
        }
        HeaderError::SplitPlace { place } => {
            format!("two files are part {} of the split", place.saturating_add(1))
        }
        HeaderError::Index { tensor, file } => {
            format!("the index places the tensor `{tensor}` in {file}, which does not have it")
        }
        HeaderError::Mixed => {
            "files of GGUF and safetensors are not one model; name one of them".into()
        }
        HeaderError::NoTensors => "the header lists no tensor".into(),
        other => format!("{other:?}"),
    }
}

/// The known types: numbers for GGUF, names for safetensors.
fn types(found: &str) -> String {
    let known: Vec<String> = if found.bytes().all(|byte| byte.is_ascii_digit()) {
        GGML_TYPES.iter().map(|(number, kind)| format!("{number} ({})", kind.name)).collect()
    } else {
        SAFETENSORS_TYPES.iter().map(|kind| kind.name.to_owned()).collect()
    };
    known.join(", ")
}

/// The first bytes of a file as text.
fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes.escape_ascii())
}
