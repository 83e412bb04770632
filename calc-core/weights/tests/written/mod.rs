//! Writes headers of GGUF and safetensors for tests; the data is left out, or zeros.

use std::collections::BTreeMap;

use weights::tensor::GGML_TYPES;

/// A header to write.
#[derive(Debug, Clone)]
pub(crate) struct Gguf {
    pub(crate) version: u32,
    pub(crate) big_endian: bool,
    pub(crate) keys: Vec<(String, Key)>,
    /// Name, sizes from the outermost in, name of the type.
    pub(crate) tensors: Vec<(String, Vec<u64>, &'static str)>,
}

/// A metadata value to write.
#[derive(Debug, Clone)]
pub(crate) enum Key {
    U32(u32),
    Text(&'static str),
    Texts(u64),
    I32s(Vec<i32>),
    Flags(Vec<bool>),
}

/// The bytes of a file up to its data, and the size that it would have with them.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    pub(crate) start: Vec<u8>,
    pub(crate) file_bytes: u64,
}

impl Gguf {
    pub(crate) fn new(architecture: &'static str) -> Self {
        let keys = vec![("general.architecture".to_owned(), Key::Text(architecture))];
        Self { version: 3, big_endian: false, keys, tensors: Vec::new() }
    }

    pub(crate) fn key(mut self, key: &str, value: Key) -> Self {
        self.keys.push((key.to_owned(), value));
        self
    }

    pub(crate) fn counts(mut self, keys: &[(&str, u32)]) -> Self {
        self.keys.extend(keys.iter().map(|(key, count)| ((*key).to_owned(), Key::U32(*count))));
        self
    }

    pub(crate) fn tensor(mut self, name: &str, shape: &[u64], kind: &'static str) -> Self {
        self.tensors.push((name.to_owned(), shape.to_vec(), kind));
        self
    }

    pub(crate) fn write(&self) -> Written {
        let mut out = Out { bytes: Vec::new(), gguf: self };
        out.bytes.extend(b"GGUF");
        out.u32(self.version);
        out.length(self.tensors.len() as u64);
        out.length(self.keys.len() as u64);
        for (key, value) in &self.keys {
            out.text(key);
            out.value(value);
        }
        let mut offset = 0;
        for (name, shape, kind) in &self.tensors {
            out.text(name);
            out.u32(u32::try_from(shape.len()).expect("few sizes"));
            for size in shape.iter().rev() {
                out.length(*size);
            }
            let (number, kind) =
                GGML_TYPES.iter().find(|(_, known)| known.name == *kind).expect("a known type");
            out.u32(*number);
            out.u64(offset);
            let elements: u64 = shape.iter().product();
            let bytes = elements / kind.block() * kind.block_bits() / 8;
            offset = (offset + bytes).next_multiple_of(32);
        }
        let data = (out.bytes.len() as u64).next_multiple_of(32);
        let mut start = out.bytes;
        start.resize(usize::try_from(data).expect("a short header"), 0);
        Written { start, file_bytes: data + offset }
    }
}

struct Out<'a> {
    bytes: Vec<u8>,
    gguf: &'a Gguf,
}

impl Out<'_> {
    fn number(&mut self, little_endian: &[u8]) {
        if self.gguf.big_endian {
            self.bytes.extend(little_endian.iter().rev());
        } else {
            self.bytes.extend(little_endian);
        }
    }

    fn u32(&mut self, number: u32) {
        self.number(&number.to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.number(&number.to_le_bytes());
    }

    fn length(&mut self, number: u64) {
        if self.gguf.version == 1 {
            self.u32(u32::try_from(number).expect("a short length"));
        } else {
            self.u64(number);
        }
    }

    fn text(&mut self, text: &str) {
        self.length(text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn value(&mut self, value: &Key) {
        match value {
            Key::U32(number) => {
                self.u32(4);
                self.u32(*number);
            }
            Key::Text(text) => {
                self.u32(8);
                self.text(text);
            }
            Key::Texts(count) => {
                self.u32(9);
                self.u32(8);
                self.length(*count);
                for token in 0..*count {
                    self.text(&format!("token {token}"));
                }
            }
            Key::I32s(numbers) => {
                self.u32(9);
                self.u32(5);
                self.length(numbers.len() as u64);
                for number in numbers {
                    self.number(&number.to_le_bytes());
                }
            }
            Key::Flags(flags) => {
                self.u32(9);
                self.u32(7);
                self.length(flags.len() as u64);
                self.bytes.extend(flags.iter().map(|&flag| u8::from(flag)));
            }
        }
    }
}

/// A safetensors header of these tensors: name, type, shape, bytes.
pub(crate) fn safetensors(tensors: &[(&str, &str, &[u64], u64)]) -> Written {
    let mut entries = BTreeMap::new();
    let mut offset = 0;
    for (name, kind, shape, bytes) in tensors {
        let offsets = [offset, offset + bytes];
        let entry = serde_json::json!({ "dtype": kind, "shape": shape, "data_offsets": offsets });
        entries.insert(*name, entry);
        offset += bytes;
    }
    let json = serde_json::to_vec(&entries).expect("JSON");
    let mut start = (json.len() as u64).to_le_bytes().to_vec();
    start.extend(json);
    let file_bytes = start.len() as u64 + offset;
    Written { start, file_bytes }
}

/// A Llama with two layers of width 64, with and without its LM head.
pub(crate) fn small_llama() -> Gguf {
    let mut file = Gguf::new("llama").counts(&[
        ("llama.block_count", 2),
        ("llama.context_length", 4096),
        ("llama.embedding_length", 64),
        ("llama.feed_forward_length", 256),
        ("llama.attention.head_count", 4),
        ("llama.attention.head_count_kv", 2),
        ("llama.rope.dimension_count", 16),
    ]);
    file = file.key("tokenizer.ggml.tokens", Key::Texts(512));
    file = file.tensor("token_embd.weight", &[512, 64], "Q8_0");
    for layer in 0..2 {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        for (part, shape, kind) in [
            ("attn_norm", &[64][..], "F32"),
            ("ffn_norm", &[64], "F32"),
            ("attn_q", &[64, 64], "Q4_0"),
            ("attn_k", &[32, 64], "Q4_0"),
            ("attn_v", &[32, 64], "Q5_0"),
            ("attn_output", &[64, 64], "Q4_0"),
            ("ffn_gate", &[256, 64], "Q4_0"),
            ("ffn_up", &[256, 64], "Q4_0"),
            ("ffn_down", &[64, 256], "Q4_K"),
        ] {
            file = file.tensor(&name(part), shape, kind);
        }
    }
    file.tensor("output_norm.weight", &[64], "F32").tensor("output.weight", &[512, 64], "F16")
}
