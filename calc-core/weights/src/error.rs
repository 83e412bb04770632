//! Reasons why a file is not read. The sentences are in `report::input::weight_file`.

/// Longest part of a name that an error repeats [byte].
const LONGEST_NAME: usize = 200;

/// A mistake in the header of a weight file, or between the files of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderError {
    /// A file that begins like no weight file.
    NotWeights {
        /// The first bytes, at most eight.
        start: Vec<u8>,
    },
    /// A version of GGUF other than 1 to 3.
    Version { found: u32 },
    /// A header that needs more bytes than the file has.
    Truncated {
        /// Bytes from the start of the file that the header needs.
        needs: u64,
        /// Bytes of the file.
        has: u64,
    },
    /// A header above the limit.
    TooLong {
        /// Bytes that the header needs.
        needs: u64,
        /// The limit [byte].
        most: u64,
    },
    /// A count above its limit.
    TooMany { what: &'static str, found: u64, most: u64 },
    /// A name that is not UTF-8.
    NotText {
        /// Position in the file [byte].
        at: u64,
    },
    /// A metadata value of an unknown type.
    ValueType { key: String, found: u32 },
    /// A metadata key that stands twice.
    DuplicateKey { key: String },
    /// A `general.alignment` that is no power of two.
    Alignment { found: u64 },
    /// JSON that is no header of safetensors, or no index.
    Json {
        /// Message of the parser.
        reason: String,
    },
    /// A tensor of an unknown type.
    UnknownType { tensor: String, found: String },
    /// A shape whose product exceeds 64 bits.
    TooLarge { tensor: String },
    /// A row that ends inside a block.
    PartialBlock { tensor: String, row: u64, block: u64, type_name: &'static str },
    /// A stated size that shape and type do not give.
    Size { tensor: String, stated: u64, computed: u64 },
    /// A tensor that begins between two multiples of the alignment.
    Misaligned { tensor: String, offset: u64, alignment: u64 },
    /// A tensor that ends after the end of the file.
    OutOfRange { tensor: String, end: u64, file: u64 },
    /// Two tensors over the same bytes.
    Overlap { first: String, second: String },
    /// A tensor that stands twice.
    DuplicateTensor { tensor: String },
    /// A file of a split that is missing, or more files than the split has.
    SplitFiles { stated: u64, found: u64 },
    /// A split whose tensors are not all there.
    SplitTensors { stated: u64, found: u64 },
    /// Two files with the same place in a split.
    SplitPlace { place: u64 },
    /// A tensor that the index places in another file.
    Index { tensor: String, file: String },
    /// Files of GGUF and safetensors together.
    Mixed,
    /// No tensor at all.
    NoTensors,
}

/// The beginning of a name, so that no message repeats a megabyte.
pub(crate) fn clipped(name: &str) -> String {
    let end = name.floor_char_boundary(LONGEST_NAME);
    name.get(..end).unwrap_or_default().to_owned()
}
