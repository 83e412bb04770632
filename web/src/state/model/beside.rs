//! Fields that few questions have beside model and device: the machine around a card, memory of other programs, images of a prompt.
//! The texts are read, and said again, behind pointers: a page without them loads no code for them.

use std::any::Any;
use std::sync::Arc;

use calc_core::device::Device;
use calc_core::estimate::Estimate;
use calc_core::model_arch::ModelArch;
use calc_core::plan::Behind;
use calc_core::text::List;
use calc_core::tiers::Host;
use calc_core::units::Bytes;
use calc_core::workload::Workload;
use report::input::request::beside::{
    Machine, OF_IMAGES, OF_MACHINE, Pictures, ToldField, host_and_memory,
};
use report::input::request::{Fields, Library, RequestError};
use report::number_text as text;
use report::output::address::{KeyedValue, key};
use report::output::words::{advice, placement};

/// Fields of the host alone.
const OF_HOST: [&str; 4] = ["host", "host_memory_gb", "host_link", "ssd_gb_s"];
/// Longest text of a field, in characters.
const LONGEST: usize = 80;
/// Host of a memory that was entered without one: two channels of DDR5.
const USUAL_HOST: &str = "ddr5";
/// Memory of a host that was entered without any [GB as sold].
const USUAL_MEMORY: &str = "64";

/// Names of the fields whose key says too little, in the form and in its sentences.
pub const NAMES: [(&str, &str); 6] = [
    ("host_memory_gb", "memory of the host"),
    ("host_link", "link to the host"),
    ("ssd_gb_s", "SSD"),
    ("reserve_gb", "other programs"),
    ("image_tokens", "tokens per image"),
    ("language_model_only", "language model only"),
];

/// Fields about host, other programs and images.
#[derive(Debug, Clone)]
pub struct Beside {
    /// Keys of the address with their values, in the order of the address: a pair in each line, with a tab between.
    lines: String,
    work: &'static Work,
}

/// The work is the same for all.
impl PartialEq for Beside {
    fn eq(&self, other: &Self) -> bool {
        self.lines == other.lines
    }
}

/// The parts of a question that these fields change.
#[derive(Debug)]
pub struct QuestionParts<'a> {
    pub device: &'a Device,
    pub arch: &'a mut ModelArch,
    pub workload: &'a mut Workload,
    pub limit: &'a mut Option<Bytes>,
    /// The context is the prompt, that of images included.
    pub follows: bool,
}

/// The fields of a question, read.
#[derive(Debug, Clone)]
pub struct ReadBeside {
    pub machine: Machine,
    pub pictures: Pictures,
}

/// [`ReadBeside`] without its type, so that its code stays with the reader.
#[derive(Debug, Clone)]
pub struct Erased {
    read: Arc<dyn Any + Send + Sync>,
    work: &'static Work,
}

/// Returns the fields that apply to another device or model.
type Keep = fn(&Beside, Option<&Device>, Option<&ModelArch>) -> Option<Arc<Beside>>;

/// Functions of the fields.
#[derive(Debug)]
struct Work {
    apply: fn(&Beside, QuestionParts<'_>) -> Result<Erased, String>,
    host: fn(&Erased) -> Option<&Behind>,
    kept: Keep,
    write: fn(&Beside, &mut Vec<KeyedValue>),
    brief: fn(&Beside, &mut String, &mut String),
    say: fn(&Estimate, &ModelArch, &mut String),
}

static WORK: Work = Work {
    apply,
    host: |erased| erased.get().and_then(|read| read.machine.host.as_ref()),
    kept,
    write: |beside, pairs| pairs.extend(beside.pairs()),
    brief,
    say,
};

impl Erased {
    /// The fields as they were read.
    pub fn get(&self) -> Option<&ReadBeside> {
        self.read.downcast_ref()
    }

    /// The host of the card.
    pub fn host(&self) -> Option<&Behind> {
        (self.work.host)(self)
    }
}

impl Beside {
    /// Reads the fields, and changes a question by them.
    ///
    /// # Errors
    /// The first invalid field, as a sentence.
    pub fn apply(&self, question: QuestionParts<'_>) -> Result<Erased, String> {
        (self.work.apply)(self, question)
    }

    /// The fields that apply to another device or model; `None` for none.
    pub fn kept(&self, device: Option<&Device>, model: Option<&ModelArch>) -> Option<Arc<Self>> {
        (self.work.kept)(self, device, model)
    }

    /// Adds the keys of the address with their values.
    pub fn write(&self, pairs: &mut Vec<KeyedValue>) {
        (self.work.write)(self, pairs);
    }

    /// Adds words behind the name of the device and behind the tokens of the prompt.
    pub fn brief(&self, device: &mut String, tokens: &mut String) {
        (self.work.brief)(self, device, tokens);
    }

    /// Puts a sentence on where the parts of a model lie in front of a line, if there is a host.
    pub fn say(&self, answer: &Estimate, model: &ModelArch, line: &mut String) {
        (self.work.say)(answer, model, line);
    }

    /// Keys of the address with their values.
    fn pairs(&self) -> Vec<KeyedValue> {
        let own = |key: &str| key::BESIDE.into_iter().find(|(_, own)| *own == key);
        let pairs = self.lines.lines().filter_map(|line| line.split_once('\t'));
        pairs.filter_map(|(key, value)| Some((own(key)?.1, value.to_owned()))).collect()
    }

    /// The text of a field; empty without one.
    fn text(&self, field: &str) -> &str {
        let key = key_of(field);
        let mut pairs = self.lines.lines().filter_map(|line| line.split_once('\t'));
        pairs.find(|(own, _)| *own == key).map_or("", |(_, text)| text)
    }
}

/// The text of a field; empty without one.
pub fn text_of<'a>(beside: Option<&'a Beside>, field: &str) -> &'a str {
    beside.map_or("", |beside| beside.text(field))
}

/// The fields with another text for one of them, and what follows for the others; an empty text takes the field away.
pub fn with(
    beside: Option<&Beside>,
    field: &'static str,
    text: &str,
    device: &Device,
) -> Option<Arc<Beside>> {
    let mut before = beside.map_or_else(Vec::new, told);
    if field == "host" && host_and_memory(text).is_some() {
        before = replaced(before, "host_memory_gb", "");
    }
    let mut told = replaced(before, field, text);
    match (field, text.trim().is_empty()) {
        ("host", true) => told.retain(|(field, _)| !OF_HOST.contains(field)),
        ("host", false) if lacks_memory(&told, device) => {
            told = replaced(told, "host_memory_gb", USUAL_MEMORY);
        }
        ("host_memory_gb", false) if told.iter().all(|(field, _)| *field != "host") => {
            told = replaced(told, "host", USUAL_HOST);
        }
        ("image", true) => told.retain(|(field, _)| *field != "image_tokens"),
        ("image", false) => told.retain(|(field, _)| *field != "language_model_only"),
        ("language_model_only", false) => {
            told.retain(|(field, _)| !["image", "image_tokens"].contains(field));
        }
        _ => {}
    }
    of_told(&told)
}

/// Sets the value of a key of the address; false for a key that is none of these.
pub fn put(beside: &mut Option<Arc<Beside>>, key: &str, value: &str) -> bool {
    let found = key::BESIDE.into_iter().find(|(_, own)| *own == key);
    if let Some((field, _)) = found {
        let value: String = value.chars().take(LONGEST).collect();
        let before = beside.as_deref().map_or_else(Vec::new, told);
        *beside = of_told(&replaced(before, field, &value));
    }
    found.is_some()
}

/// The fields without those of a host.
pub fn without_host(beside: Option<&Beside>) -> Option<Arc<Beside>> {
    let mut told = told(beside?);
    told.retain(|(field, _)| !OF_HOST.contains(field));
    of_told(&told)
}

/// The usual host with an amount of memory [GB as sold].
pub fn with_host(beside: Option<&Beside>, memory: u32) -> Option<Arc<Beside>> {
    let before = beside.map_or_else(Vec::new, told);
    let told = replaced(before, "host", USUAL_HOST);
    of_told(&replaced(told, "host_memory_gb", &memory.to_string()))
}

/// The fields as requests have them.
pub fn told(beside: &Beside) -> Vec<ToldField> {
    let field = |(key, text): KeyedValue| {
        let (field, _) = key::BESIDE.into_iter().find(|(_, own)| *own == key)?;
        let is_switch = field == "language_model_only" && text == "1";
        Some((field, if is_switch { "true".to_owned() } else { text }))
    };
    beside.pairs().into_iter().filter_map(field).collect()
}

/// Why one of these fields is refused, as a sentence.
pub fn refusal(
    beside: Option<&Beside>,
    question: (&Device, &ModelArch),
    of: &[&str],
) -> Option<String> {
    let error = read(beside?, question, None).err()?;
    let text = error.to_string();
    let fields = OF_MACHINE.into_iter().chain(OF_IMAGES);
    // The longest name first: `host_memory_gb` has the name `host` in it.
    let named = fields.filter(|field| text.contains(field)).max_by_key(|field| field.len());
    of.contains(&named.unwrap_or("host")).then(|| sentence(&error))
}

fn key_of(field: &str) -> &'static str {
    key::BESIDE.into_iter().find(|(own, _)| *own == field).map_or("", |(_, key)| key)
}

/// A host that names its memory becomes two fields.
fn apart(told: &[ToldField]) -> Vec<ToldField> {
    let text = |field: &str| told.iter().find(|(own, _)| *own == field).map(|(_, text)| &**text);
    match text("host").and_then(host_and_memory) {
        None => told.to_vec(),
        Some((host, memory)) => {
            let memory = text("host_memory_gb").map_or_else(|| memory.to_string(), str::to_owned);
            let told = replaced(told.to_vec(), "host", &host);
            replaced(told, "host_memory_gb", &memory)
        }
    }
}

fn of_told(told: &[ToldField]) -> Option<Arc<Beside>> {
    let told = apart(told);
    let mut lines = String::new();
    for (field, key) in key::BESIDE {
        let Some((_, text)) = told.iter().find(|(own, _)| *own == field) else { continue };
        let value = if text == "true" { "1" } else { text };
        // The separators are in no value of such a field.
        lines += &format!("{key}\t{}\n", value.replace(['\t', '\n'], " "));
    }
    (!lines.is_empty()).then(|| Arc::new(Beside { lines, work: &WORK }))
}

fn replaced(mut told: Vec<ToldField>, field: &'static str, text: &str) -> Vec<ToldField> {
    told.retain(|(own, _)| *own != field);
    if !text.trim().is_empty() {
        told.push((field, text.trim().to_owned()));
    }
    told
}

fn fields(told: &[ToldField]) -> Fields {
    Fields::from_texts(told.iter().map(|(field, text)| (*field, &**text)))
}

fn read(
    beside: &Beside,
    (device, model): (&Device, &ModelArch),
    limit: Option<Bytes>,
) -> Result<ReadBeside, RequestError> {
    let mut fields = fields(&told(beside));
    let machine = Machine::read(&mut fields, &Library::CATALOGS, (device, limit))?;
    Ok(ReadBeside { machine, pictures: Pictures::read(&mut fields, model)? })
}

fn apply(beside: &Beside, question: QuestionParts<'_>) -> Result<Erased, String> {
    let QuestionParts { device, arch, workload, limit, follows } = question;
    let read = read(beside, (device, arch), *limit).map_err(|error| sentence(&error))?;
    *limit = read.machine.memory_limit;
    if let Some(images) = read.pictures.images {
        workload.prompt = workload.prompt.saturating_add(images.tokens());
        if follows {
            workload.context = workload.prompt;
        }
        workload.images = Some(images);
    }
    if read.pictures.language_model_only {
        arch.towers = List::Borrowed(&[]);
    }
    Ok(Erased { read: Arc::new(read), work: &WORK })
}

fn lacks_memory(told: &[ToldField], device: &Device) -> bool {
    let read = Machine::read(&mut fields(told), &Library::CATALOGS, (device, None));
    matches!(read, Err(RequestError::Missing { key: "host_memory_gb" }))
}

/// An error as a sentence with the names of the form.
fn sentence(error: &RequestError) -> String {
    let mut said = error.to_string();
    for (field, name) in NAMES {
        said = said.replace(field, name);
    }
    format!("{}.", advice::capital(&said))
}

fn kept(
    beside: &Beside,
    device: Option<&Device>,
    model: Option<&ModelArch>,
) -> Option<Arc<Beside>> {
    let mut told = told(beside);
    if device.is_some_and(|device| Host::impossible(device).is_some()) {
        told.retain(|(field, _)| !OF_HOST.contains(field));
    }
    if model.is_some_and(|model| model.vision_tower().is_none()) {
        told.retain(|(field, _)| !OF_IMAGES.contains(field));
    }
    of_told(&told)
}

fn brief(beside: &Beside, device: &mut String, tokens: &mut String) {
    let (host, memory) = (beside.text("host"), beside.text("host_memory_gb"));
    if host.starts_with("ddr") {
        *device += &format!(" with {memory}{}GB of {}", text::SPACE, host.to_ascii_uppercase());
    } else if !host.is_empty() {
        *device += &format!(" with {host} and {memory}{}GB", text::SPACE);
    }
    let image = beside.text("image");
    if !image.is_empty() {
        *tokens += &format!(" and images of {image}");
    }
}

fn say(answer: &Estimate, model: &ModelArch, line: &mut String) {
    if let Some(placed) = &answer.placement {
        let places = placement::places(placed, model);
        *line = format!("{}. {line}", advice::capital(&places));
    }
}

#[cfg(test)]
mod tests;
