//! Resolves published names to catalog models: a key, a repository of the Hugging Face hub or a copy of it in another
//! format, a tag of Ollama. Instruct, chat and base variants share one geometry.

use alloc::string::String;
use alloc::vec::Vec;

use super::models::{self, CatalogModel};
use super::{formats as f, same};
use crate::precision::PrecisionChoice;
use crate::quant_format::QuantFormat;

/// A catalog model found by a published name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    pub model: &'static CatalogModel,
    /// The weight format that the name states (`-AWQ`, `:q4_K_M`); `None` for the published format.
    pub format: Option<PrecisionChoice>,
    /// True if the row lists the name exactly.
    pub exact: bool,
}

impl Published {
    /// Formats of the stored weights.
    pub fn stored(&self) -> PrecisionChoice {
        self.format.unwrap_or_else(|| self.model.stored.choice())
    }
}

/// Maximum length of a name, in bytes.
const MAX_NAME: usize = 200;

/// Words about training or packaging, which do not affect the geometry.
const VARIANTS: [&str; 29] = [
    "base",
    "chat",
    "dynamic",
    "g128",
    "gguf",
    "google",
    "hf",
    "i1",
    "imatrix",
    "instruct",
    "it",
    "latest",
    "meta",
    "microsoft",
    "mistralai",
    "mlx",
    "model",
    "nvidia",
    "openai",
    "pt",
    "qat",
    "quantized",
    "sft",
    "text",
    "ud",
    "unsloth",
    "bf16",
    "fp16",
    "f16",
];

/// Finds the model with a published name.
///
/// ```
/// use calc_core::catalog::model_names::find;
/// assert_eq!(find("bartowski/Meta-Llama-3.1-8B-Instruct-GGUF").unwrap().model.key, "llama-3.1-8b");
/// ```
pub fn find(name: &str) -> Option<Published> {
    let plain = without_host(name);
    if let Some(model) = models::all().find(|model| published_as(model).any(|own| same(own, plain)))
    {
        return Some(Published { model, format: tag_format(plain, model), exact: true });
    }
    if plain.len() > MAX_NAME || plain.matches('/').count() > 1 {
        return None;
    }
    let asked = Name::of(plain);
    let is_meant = |own: &str| !asked.words.is_empty() && Name::of(own).words == asked.words;
    let model = models::all().find(|model| published_as(model).any(is_meant)).or_else(|| {
        let mut left = models::all().filter(|model| is_active_size_left_out(&asked, model));
        left.next().filter(|_| left.next().is_none())
    })?;
    let format = asked.format(plain, model).ok()?;
    Some(Published { model, format, exact: false })
}

/// True if a name has all words of a row's key but the active parameters: `qwen3.5:35b` for `qwen3.5-35b-a3b`.
fn is_active_size_left_out(asked: &Name, model: &CatalogModel) -> bool {
    let own = Name::of(model.key).words;
    let [rest @ .., a, active] = own.as_slice() else { return false };
    let is_size = active.strip_suffix('b').is_some_and(|size| size.parse::<f64>().is_ok());
    a == "a" && is_size && rest == asked.words.as_slice()
}

/// The repository of a name that states one, with or without the address of the hub.
pub fn repository(name: &str) -> Option<&str> {
    Some(without_host(name)).filter(|name| name.contains('/'))
}

/// The repository of a row with the weights that a name means: by its words, then by its variant, chat or base. A tag of Ollama
/// is a chat model.
pub fn original(name: &str, model: &'static CatalogModel) -> &'static str {
    let name = without_host(name);
    if same(name, model.key) {
        return model.hf_id;
    }
    let asked = Name::of(name).words;
    let wants_chat = is_chat(name) || is_tag(name);
    let shared = |own: &str| {
        let own = Name::of(own).words;
        if asked.starts_with(&own) { own.len() } else { 0 }
    };
    let own = published_as(model).filter(|own| own.contains('/') && shared(own) > 0);
    own.reduce(|best, own| {
        let rank = |own: &str| (shared(own), is_chat(own) == wants_chat);
        if rank(own) > rank(best) { own } else { best }
    })
    .unwrap_or(model.hf_id)
}

/// True for names of models that follow instructions.
fn is_chat(name: &str) -> bool {
    parts(&name.to_ascii_lowercase()).any(|part| matches!(part, "chat" | "instruct" | "it"))
}

/// True for the form of an Ollama tag: `llama3.1:8b`.
pub fn is_tag(name: &str) -> bool {
    name.contains(':') && !name.contains('/')
}

fn without_host(name: &str) -> &str {
    let prefixes = ["https://", "huggingface.co/", "hf.co/"];
    prefixes.iter().fold(name.trim(), |name, prefix| name.strip_prefix(prefix).unwrap_or(name))
}

/// True if a name has the form of a hub repository: `organization/name`.
pub fn is_hub_id(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-:".contains(c))
    };
    let is_file = name.to_ascii_lowercase().ends_with(".json");
    !is_file && name.split_once('/').is_some_and(|(owner, name)| plain(owner) && plain(name))
}

/// The name without owner, variant and format, in the form of catalog keys; messages suggest keys near it.
pub fn plain(name: &str) -> String {
    Name::of(name).words.join("-")
}

/// The name of another release that a typed name means, where the row has it beside its own: the geometry is the same.
///
/// ```
/// use calc_core::catalog::model_names::{find, other_release};
/// let model = find("llama 3.3").unwrap().model;
/// assert_eq!(model.name, "Llama-3.1 70B");
/// assert_eq!(other_release("llama 3.3", model), Some("Llama-3.3-70B-Instruct"));
/// assert_eq!(other_release("llama 3.1", model), None);
/// ```
pub fn other_release(typed: &str, model: &CatalogModel) -> Option<&'static str> {
    let asked = Name::of(typed).words;
    let has_all = |name: &str| {
        let name = name.to_ascii_lowercase();
        asked.iter().all(|word| name.contains(word.as_str()))
    };
    let own = [model.key, model.hf_id, model.name];
    if asked.is_empty() || own.into_iter().any(has_all) {
        return None;
    }
    let is_own = |name: &str| own.iter().any(|own| Name::of(own).words == Name::of(name).words);
    let other = |name: &&&'static str| has_all(name) && !is_own(name);
    let found = model.other_names.iter().filter(other).max_by_key(|name| name.contains('/'))?;
    found.rsplit('/').next()
}

/// Key, hub id and other names of a row.
fn published_as(model: &'static CatalogModel) -> impl Iterator<Item = &'static str> {
    [model.key, model.hf_id].into_iter().chain(model.other_names.iter().copied())
}

/// An Ollama tag without a format is a GGUF file of Q4_K_M; a repository or key means the published format.
fn tag_format(name: &str, model: &'static CatalogModel) -> Option<PrecisionChoice> {
    is_tag(name).then(|| gguf(model, &f::GGUF_Q4_K))
}

/// The format of a model's GGUF file; experts in MXFP4 keep it, whatever the name says.
fn file_format(model: &CatalogModel, format: &'static QuantFormat) -> &'static QuantFormat {
    let has_mxfp4 = model.stored.experts.is_some_and(|experts| experts.key == f::MXFP4.key);
    if has_mxfp4 { &f::GGUF_MXFP4 } else { format }
}

/// The formats of a GGUF file of a model.
fn gguf(model: &CatalogModel, format: &'static QuantFormat) -> PrecisionChoice {
    PrecisionChoice::weights(file_format(model, format))
}

/// A name states a GGUF type whose size is not known.
#[derive(Debug)]
struct UnknownType;

/// A name split into words.
#[derive(Debug, Default)]
struct Name {
    /// Words that distinguish models, in order: family, version, size.
    words: Vec<String>,
    /// Words about the format.
    formats: Vec<String>,
    /// True if the name contains GGUF.
    is_gguf: bool,
    /// True for Unsloth's dynamic files, `UD`.
    is_dynamic: bool,
    /// True for files trained with quantization, `qat`.
    is_qat: bool,
    /// 16 bits, if the name states them.
    half: Option<&'static QuantFormat>,
}

impl Name {
    fn of(name: &str) -> Self {
        let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        let mut found = Self::default();
        let mut in_quant = false;
        for part in parts(&name) {
            found.is_gguf |= part == "gguf";
            found.is_dynamic |= part == "ud";
            found.is_qat |= part == "qat";
            match part {
                "fp16" | "f16" => found.half = Some(&f::FP16),
                "bf16" => found.half = Some(&f::BF16),
                _ => {}
            }
            in_quant = match kind(part, in_quant) {
                Kind::Quant => {
                    found.formats.push(part.into());
                    true
                }
                Kind::QuantSuffix => {
                    if let Some(format) = found.formats.last_mut() {
                        *format += "_";
                        *format += part;
                    }
                    true
                }
                Kind::Variant => false,
                Kind::Word => {
                    found.add(part);
                    false
                }
            };
        }
        found
    }

    /// Adds the words of a part. Letters and digits are separated: `llama3.1` is `llama 3.1`; a repeated first word is the owner,
    /// as in `qwen_qwen2.5`.
    fn add(&mut self, part: &str) {
        let digits = part.char_indices().zip(part.chars().skip(1)).find_map(|((at, a), b)| {
            (a.is_ascii_alphabetic() && b.is_ascii_digit()).then_some(at + a.len_utf8())
        });
        let (letters, rest) = part.split_at(digits.unwrap_or(part.len()));
        if self.words.last().is_none_or(|last| last != letters) {
            self.words.push(letters.into());
        }
        if !rest.is_empty() {
            self.words.push(rest.into());
        }
    }

    /// The formats that the name states; `None` for the published ones.
    ///
    /// # Errors
    /// A GGUF type whose size is not known.
    fn format(
        &self,
        name: &str,
        model: &'static CatalogModel,
    ) -> Result<Option<PrecisionChoice>, UnknownType> {
        if let Some(word) = self.formats.iter().find(|word| is_gguf_type(word)) {
            let is_dynamic = self.is_dynamic && word.ends_with("xl");
            let choice = gguf_choice(word).filter(|_| !is_dynamic).ok_or(UnknownType)?;
            let weights = file_format(model, choice.weights);
            return Ok(Some(PrecisionChoice { weights, ..choice }));
        }
        let is_file = self.is_gguf || tag_format(name, model).is_some();
        if let Some(half) = self.half.filter(|_| is_file && self.formats.is_empty()) {
            return Ok(Some(gguf(model, half)));
        }
        if self.is_qat && is_file && self.formats.is_empty() {
            return Ok(Some(gguf(model, &f::GGUF_Q4_0))); // as Google publishes them
        }
        Ok(self.tensor_format(name, model))
    }

    /// The formats of names that state no GGUF type.
    fn tensor_format(&self, name: &str, model: &'static CatalogModel) -> Option<PrecisionChoice> {
        let has = |word: &str| self.formats.iter().any(|other| other == word);
        let both = |format: &'static QuantFormat, rest: &'static QuantFormat| {
            Some(PrecisionChoice { activations: Some(format), ..kept(format, rest) })
        };
        let eight = has("int8") || has("8bit");
        if has("awq") || has("gptq") || has("w4a16") || has("w8a16") {
            let format = if eight || has("w8a16") {
                &f::INT8_G128
            } else if has("w4a16") {
                &f::INT4_G128_SYM
            } else {
                &f::INT4_GPTQ_G128
            };
            return Some(kept(format, &f::FP16));
        }
        match () {
            () if has("fp8") && model.stored.weights.bits_per_element() > 9.0 => {
                both(fp8_of(name, model), &f::BF16)
            }
            () if has("nvfp4") || has("fp4") => both(&f::NVFP4, &f::BF16),
            () if has("mxfp4") && model.stored.experts.is_none() => Some(kept(&f::MXFP4, &f::BF16)),
            () if has("nf4") || (has("bnb") && !eight) => Some(kept(&f::NF4, &f::BF16)),
            () if has("w8a8") || (has("bnb") && eight) => both(&f::INT8, &f::FP16),
            () if eight => Some(kept(&f::INT8_G128, &f::BF16)),
            () if has("4bit") || has("int4") => Some(kept(&f::INT4_G128, &f::BF16)),
            () if self.is_gguf => Some(gguf(model, &f::GGUF_Q4_K)),
            () => tag_format(name, model),
        }
    }
}

/// FP8 as its publisher stores it. Qwen and DeepSeek scale blocks of 128 x 128 (`weight_block_size` of Qwen's official files, as
/// the card of gsting/Qwen3.6-35B-A3B-abliterated-FP8 states it: read); llm-compressor's FP8 and FP8-dynamic, which RedHatAI
/// and neuralmagic publish, scale tensors or channels (its scheme table: read). Without an owner the model's maker counts.
fn fp8_of(name: &str, model: &CatalogModel) -> &'static QuantFormat {
    const BLOCKS: [&str; 2] = ["qwen", "deepseek-ai"];
    let own = name.split_once('/').or_else(|| model.hf_id.split_once('/'));
    let publisher = own.map_or("", |(owner, _)| owner);
    if BLOCKS.iter().any(|owner| owner.eq_ignore_ascii_case(publisher)) {
        &f::FP8_BLOCK128
    } else {
        &f::FP8_E4M3
    }
}

/// Layers in one format, embedding and LM head in another, as quantizers store them.
fn kept(layers: &'static QuantFormat, rest: &'static QuantFormat) -> PrecisionChoice {
    PrecisionChoice { embedding: Some(rest), ..PrecisionChoice::weights(layers) }
}

/// Splits at separators; a point between digits belongs to the number.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let bytes = name.as_bytes();
    let is_digit =
        move |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let mut ends: Vec<usize> = name
        .char_indices()
        .filter(|&(at, c)| match c {
            '-' | '_' | ':' | ' ' | '/' => true,
            '.' => !(is_digit(at.checked_sub(1)) && is_digit(Some(at + 1))),
            _ => false,
        })
        .map(|(at, _)| at)
        .collect();
    ends.push(name.len());
    let mut start = 0;
    ends.into_iter().filter_map(move |end| {
        let part = name.get(start..end)?;
        start = end + 1;
        (!part.is_empty()).then_some(part)
    })
}

enum Kind {
    /// First word of a format.
    Quant,
    /// Further word of a format: the `K` and `M` of `Q4_K_M`.
    QuantSuffix,
    Variant,
    Word,
}

fn kind(part: &str, in_quant: bool) -> Kind {
    const FORMATS: [&str; 15] = [
        "awq", "gptq", "int4", "int8", "fp8", "fp4", "nvfp4", "mxfp4", "bnb", "nf4", "4bit",
        "8bit", "w4a16", "w8a8", "w8a16",
    ];
    const SUFFIXES: [&str; 10] = ["k", "m", "s", "l", "xl", "xs", "xxs", "nl", "0", "1"];
    let bits = part.strip_prefix("iq").or_else(|| part.strip_prefix('q'));
    let is_gguf = bits.is_some_and(|bits| bits.len() == 1 && bits.as_bytes()[0].is_ascii_digit());
    if FORMATS.contains(&part) || is_gguf {
        Kind::Quant
    } else if in_quant && SUFFIXES.contains(&part) {
        Kind::QuantSuffix
    } else if VARIANTS.contains(&part) {
        Kind::Variant
    } else {
        Kind::Word
    }
}

/// True for the form of a GGUF type: `q4_k_m`, `iq3_xxs`.
fn is_gguf_type(word: &str) -> bool {
    let bits = word.strip_prefix("iq").or_else(|| word.strip_prefix('q'));
    bits.is_some_and(|bits| bits.starts_with(|first: char| first.is_ascii_digit()))
}

/// The formats of a GGUF type. Files with the suffix `L` beyond llama.cpp's own have embedding and LM head in Q8_0.
fn gguf_choice(word: &str) -> Option<PrecisionChoice> {
    let (word, wide) = match word {
        "q2_k_l" => ("q2_k", true),
        "q3_k_xl" => ("q3_k_l", true),
        "q4_k_l" => ("q4_k_m", true),
        "q5_k_l" => ("q5_k_m", true),
        "q6_k_l" => ("q6_k", true),
        word => (word, false),
    };
    let named = |format: &&'static QuantFormat| format.key.strip_prefix("gguf_") == Some(word);
    let own = f::FORMATS.iter().copied().find(named);
    let format = own.or_else(|| super::format_aliases::alias(word).map(|alias| alias.format))?;
    let embedding = wide.then_some(&f::GGUF_Q8_0);
    Some(PrecisionChoice { embedding, ..PrecisionChoice::weights(format) })
}

#[cfg(test)]
mod tests;
