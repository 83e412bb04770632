//! The rate of a server beside the rate that the model expects on a device, as a claim that `check` judges.

use std::path::{MAIN_SEPARATOR, Path};

use calc_core::catalog::model_names;
use calc_core::check::{Check, Explanation};
use calc_core::hf_config::Unread;
use report::input::named_model::NamedModel;
use report::input::request::{CheckInputs, Done, Fields, Library};
use report::number_text as n;
use serde_json::{Map, Value, json};

use super::asker::Asker;
use super::reading::{Identity, Live, whole};
use crate::failure::Failure;
use crate::weight_files;

/// Largest relative difference of two counts of parameters of the same model: heads that share a table, draft layers.
const SAME_SIZE: f64 = 0.1;

/// End of the name of a GGUF file.
const GGUF: &str = ".gguf";

/// A judged rate.
#[derive(Debug, Clone)]
pub(super) struct Judged {
    pub(super) inputs: CheckInputs,
    pub(super) answer: Check,
    pub(super) batch: u64,
    pub(super) context: u64,
    /// Share of the bandwidth that reading weights and KV cache takes; `None` where a host reads a part of them.
    pub(super) mbu: Option<f64>,
}

/// The model and the device that a server is compared with.
#[derive(Debug, Clone)]
pub(super) struct Comparison {
    asker: Asker,
    fields: Map<String, Value>,
    /// The weights are those of the file that the server reads.
    is_served_file: bool,
    /// Why there is nothing to compare with.
    lacking: Option<String>,
    pub(super) notes: Vec<String>,
}

impl Comparison {
    /// Completes the flags of the user by what the server says.
    ///
    /// # Errors
    /// Flags that no request allows.
    pub(super) fn new(
        mut fields: Map<String, Value>,
        identity: &Identity,
        library: &Library<'_>,
        asker: Asker,
    ) -> Result<Self, Failure> {
        let mut notes = Vec::new();
        let mut is_served_file = false;
        let asked = fields.get("model").and_then(Value::as_str).map(str::to_owned);
        let found = match asked {
            Some(name) => {
                let unread = match fields.get("model_upper_bound") {
                    Some(_) => Unread::UpperBound,
                    None => Unread::Refuse,
                };
                notes.extend(other_model(&library.model(&name, unread)?, identity));
                Ok(())
            }
            None => told(identity, asker).map(|told| {
                is_served_file = told.is_file && !fields.contains_key("weights");
                fields.insert("model".into(), json!(told.name));
                notes.push(told.note);
            }),
        };
        let engine = identity.server.engine().key();
        fields.entry("engine").or_insert_with(|| json!(engine));
        if let (Some(size), None) = (identity.tensor_parallel, fields.get("tensor_parallel")) {
            fields.insert("tensor_parallel".into(), json!(size));
            notes.push(format!(
                "the server splits every layer over {size} devices: --tensor-parallel {size}"
            ));
        }
        let hardware = fields.get("hardware").map(|_| ()).ok_or_else(|| {
            "no --hardware: only the live figures are shown; with the name of the device they are compared with the model"
                .to_owned()
        });
        let lacking = hardware.and(found).err();
        let comparison = Self { asker, fields, is_served_file, lacking, notes };
        if comparison.lacking.is_none() {
            // Wrong flags are refused before the first reading.
            CheckInputs::parse(Fields::new(comparison.request(1, None, 1.0)), library)?;
        }
        Ok(comparison)
    }

    fn request(&self, batch: u64, context: Option<u64>, rate: f64) -> Map<String, Value> {
        let mut request = self.fields.clone();
        let context = context.map_or_else(|| json!(1), |context| json!(context));
        let context = request.entry("context").or_insert(context).clone();
        request.insert("batch".into(), json!(batch));
        request.insert("prompt".into(), context);
        request.insert("new_tokens".into(), json!(1));
        request.insert("tokens_per_s".into(), json!(rate));
        request
    }

    /// Whether the answers of the server leave an explanation open: batch and engine are told, a rate is that of all requests, and
    /// some servers tell the format and count drafted tokens.
    const fn is_open(&self, explanation: &Explanation, live: &Live) -> bool {
        match explanation {
            Explanation::Batch { .. } | Explanation::OneOf { .. } | Explanation::Engine { .. } => {
                false
            }
            Explanation::Format { .. } => !self.is_served_file,
            Explanation::Drafts { .. } => !live.counts_drafts,
            _ => true,
        }
    }

    /// Judges a rate.
    ///
    /// # Errors
    /// The reason why it cannot be compared, as a sentence.
    pub(super) fn judge(&self, live: &Live, library: &Library<'_>) -> Result<Judged, String> {
        if let Some(why) = &self.lacking {
            return Err(why.clone());
        }
        let rate = live.rate.ok_or("nothing is compared: the rate is not known")?;
        if live.running.is_none() {
            return Err("nothing is compared: the number of running requests is not known".into());
        }
        let batch = live.batch().filter(|_| rate > 0.0).ok_or_else(|| {
            let how = self.asker.keeps_reading();
            format!("nothing is compared: requests must run, and generate, at both readings; {how}")
        })?;
        let context = live.context.and_then(whole).map(|context| context.max(1));
        if context.is_none() && !self.fields.contains_key("context") {
            let how = self.asker.gives_context();
            return Err(format!("nothing is compared: the context in use is not known; {how}"));
        }
        let request = Fields::new(self.request(batch, context, rate));
        let refused = |error| format!("nothing is compared: {error}");
        let inputs =
            CheckInputs::parse(request, library).map_err(|error| refused(error.to_string()))?;
        let mut answer = inputs.check().map_err(|error| refused(error.to_string()))?;
        answer.explanations.retain(|found| self.is_open(found, live));
        let traffic = answer.cost.traffic;
        let read = (traffic.weights + traffic.kv_cache) / answer.time;
        let mbu = answer.host.is_none().then(|| read / answer.datasheet.bandwidth);
        let Done::Token(model) = &inputs.done else { unreachable!("a rate is that of tokens") };
        let context = model.workload.context;
        Ok(Judged { inputs, answer, batch, context, mbu })
    }
}

/// The model that a server names.
#[derive(Debug)]
struct ToldModel {
    name: String,
    is_file: bool,
    note: String,
}

/// Notes on a rate that is not that of a steady batch.
pub(super) fn conditions(live: &Live) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some([first, second]) = live.running.filter(|[first, second]| first != second) {
        notes.push(format!(
            "the number of running requests changed from {} to {}; the mean counts as the batch",
            n::count(first),
            n::count(second)
        ));
    }
    if let Some(rate) = live.prompt_rate.filter(|rate| *rate > 0.0) {
        notes.push(format!(
            "prompts were read between the two readings, too ({} token/s); the rate includes their time, so decoding alone is faster",
            n::short(rate, 3)
        ));
    }
    if let Some(drafts) = live.drafts {
        notes.push(format!(
            "speculative decoding is on: {} of {} drafted tokens were accepted; --draft-tokens and --acceptance take it into account",
            n::short(drafts.accepted, 6),
            n::short(drafts.drafted, 6)
        ));
    }
    notes
}

/// The model by what the server says: its file, if it can be read here, else its name.
fn told(identity: &Identity, asker: Asker) -> Result<ToldModel, String> {
    let path = identity.path.as_deref().unwrap_or_default();
    // A folder without a separator would be a name of the catalog.
    let here = if path.contains(MAIN_SEPARATOR) || path.ends_with(GGUF) {
        path.to_owned()
    } else {
        format!(".{MAIN_SEPARATOR}{path}")
    };
    let is_weights = path.ends_with(GGUF) || Path::new(path).is_dir();
    if is_weights && weight_files::find(&here).is_ok_and(|found| found.is_some()) {
        let note = format!("the model is the file that the server names: {path}");
        return Ok(ToldModel { name: here, is_file: true, note });
    }
    let names = [path, identity.model.as_deref().unwrap_or_default()];
    let lasts = names.map(|name| name.rsplit('/').next().unwrap_or_default());
    let known = names.into_iter().chain(lasts).find_map(|name| {
        let name = name.strip_suffix(GGUF).unwrap_or(name);
        (!name.is_empty() && model_names::find(name).is_some()).then(|| name.to_owned())
    });
    known
        .map(|name| {
            let note = format!("the model is the one that the server names: {name}");
            ToldModel { name, is_file: false, note }
        })
        .ok_or_else(|| {
            let named = if path.is_empty() { identity.model.as_deref().unwrap_or("no name") } else { path };
            format!("nothing is compared: the model of the server ({named}) is neither a file that can be read here nor in the catalog; {}", asker.names_model())
        })
}

/// A note where the named model is not the served one, or where this cannot be told.
fn other_model(asked: &NamedModel, identity: &Identity) -> Option<String> {
    let own = asked.arch.n_params();
    if let Some(served) = identity.parameters {
        let off = (served as f64 / own as f64 - 1.0).abs();
        return (off > SAME_SIZE).then(|| {
            format!(
                "the server does not serve this model: its model has {} parameters, and {} has {}",
                n::count(served),
                asked.name,
                n::count(own)
            )
        });
    }
    let names = [identity.path.as_deref(), identity.model.as_deref()];
    let served: Vec<&str> = names.into_iter().flatten().collect();
    let last =
        |name: &str| name.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let mut known = served
        .iter()
        .filter_map(|name| model_names::find(name).or_else(|| model_names::find(&last(name))));
    let shown = served.first()?;
    match known.next() {
        Some(found) if found.model.key == asked.key => None,
        Some(found) => Some(format!(
            "the server does not serve this model: it serves {shown} ({}), and the comparison is with {}",
            found.model.name, asked.name
        )),
        None if served.iter().any(|name| last(name) == last(asked.key.as_str())) => None,
        None => Some(format!(
            "the server calls its model {shown}, which is not in the catalog; that it is {} cannot be checked",
            asked.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::attach::reading::{Server, ServerReading};

    fn identity(model: &str, path: &str, parameters: Option<u64>) -> Identity {
        Identity {
            server: Server::Vllm,
            version: None,
            model: Some(model.into()),
            path: Some(path.into()),
            parameters,
            tensor_parallel: None,
        }
    }

    fn fields(list: &[(&str, &str)]) -> Map<String, Value> {
        list.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect()
    }

    fn live(rate: f64, running: u64, context: Option<f64>) -> Live {
        let mut live = Live::between(&ServerReading::default(), &ServerReading::default(), 2.0);
        live.rate = Some(rate);
        live.running = Some([running, running]);
        live.context = context;
        live
    }

    #[test]
    fn a_rate_is_judged_at_the_live_batch_and_context() {
        let served = identity("assistant", "meta-llama/Llama-3.1-8B-Instruct", None);
        let given = fields(&[("hardware", "h100")]);
        let comparison =
            Comparison::new(given, &served, &Library::CATALOGS, Asker::CommandLine).expect("flags");
        assert!(comparison.notes[0].contains("meta-llama/Llama-3.1-8B-Instruct"));
        let judged = comparison.judge(&live(1600.0, 32, Some(1100.4)), &Library::CATALOGS);
        let judged = judged.expect("judged");
        assert_eq!((judged.batch, judged.context), (32, 1100));
        assert!((judged.answer.time.get() - 0.02).abs() < 1e-12);
        // 15.0 GB of weights and 4.6 GB of keys and values in 20 ms are 0.98 TB/s of 3.35 TB/s.
        let mbu = judged.mbu.expect("no host");
        assert!((mbu - 0.293).abs() < 0.01, "{mbu}");
    }

    #[test]
    fn there_is_a_reason_where_nothing_is_compared() {
        let served = identity("assistant", "meta-llama/Llama-3.1-8B-Instruct", None);
        let of = |given: &[(&str, &str)], served: &Identity, live: &Live| {
            let comparison =
                Comparison::new(fields(given), served, &Library::CATALOGS, Asker::CommandLine);
            comparison.expect("flags").judge(live, &Library::CATALOGS).err().unwrap_or_default()
        };
        let busy = live(100.0, 1, Some(500.0));
        let h100 = [("hardware", "h100")];
        assert!(of(&[], &served, &busy).contains("no --hardware"));
        assert!(of(&h100, &identity("a", "/no/a", None), &busy).contains("--model names it"));
        assert!(of(&h100, &served, &live(0.0, 1, Some(9.0))).contains("requests must run"));
        assert!(of(&h100, &served, &live(9.0, 0, Some(9.0))).contains("requests must run"));
        assert!(of(&h100, &served, &live(9.0, 1, None)).contains("--context gives it"));
        assert_eq!(
            of(&[("hardware", "h100"), ("context", "64")], &served, &live(9.0, 1, None)),
            ""
        );
        assert!(of(&h100, &served, &live(1e300, 1, Some(9.0))).contains("nothing is compared"));
        assert!(of(&h100, &served, &live(9.0, 1, Some(1e300))).contains("nothing is compared"));
    }

    #[test]
    fn explanations_that_the_server_rules_out_are_left_out() {
        let served = identity("assistant", "meta-llama/Llama-3.1-8B-Instruct", None);
        let given = fields(&[("hardware", "rtx_4090")]);
        let mut comparison =
            Comparison::new(given, &served, &Library::CATALOGS, Asker::CommandLine).expect("flags");
        // Half the expected rate: that of one of the two requests.
        let mut live = live(54.8, 2, Some(208.0));
        let judged = comparison.judge(&live, &Library::CATALOGS).expect("judged");
        let is_ruled_out = |found: &Explanation| {
            matches!(found, Explanation::OneOf { .. } | Explanation::Engine { .. })
        };
        let all = judged.inputs.check().expect("an answer").explanations;
        assert!(all.iter().any(is_ruled_out), "{all:?}");
        let left = judged.answer.explanations;
        assert!(!left.is_empty() && !left.iter().any(is_ruled_out), "{left:?}");
        let format = calc_core::catalog::format("fp16").expect("a format");
        let time = calc_core::units::Seconds::new(1.0);
        let expected = judged.answer.expected;
        let span = calc_core::plan::Span { ideal: time, expected };
        let format = Explanation::Format { format, activations: None, bits: 16.0, span };
        let shortest =
            calc_core::check::Drafts { draft_tokens: 1, acceptance: 0.5, tokens_per_round: 1.5 };
        let drafts = Explanation::Drafts { shortest, easiest: None };
        assert!(comparison.is_open(&format, &live) && comparison.is_open(&drafts, &live));
        comparison.is_served_file = true;
        live.counts_drafts = true;
        assert!(!comparison.is_open(&format, &live) && !comparison.is_open(&drafts, &live));
    }

    #[test]
    fn wrong_flags_are_refused_before_a_reading() {
        let served = identity("assistant", "meta-llama/Llama-3.1-8B-Instruct", None);
        for given in [
            &[("hardware", "h101")][..],
            &[("hardware", "h100"), ("power_mode", "7W")],
            &[("model", "llama-9")],
            &[("hardware", "h100"), ("context", "-1")],
        ] {
            let refused =
                Comparison::new(fields(given), &served, &Library::CATALOGS, Asker::CommandLine);
            assert!(matches!(refused, Err(Failure::BadInput(_))), "{given:?}");
        }
    }

    #[test]
    fn another_model_than_the_served_one_is_noted() {
        let asked = NamedModel::from_name("llama-3.1-8b").expect("a model");
        let note = |model: &str, path: &str, parameters| {
            other_model(&asked, &identity(model, path, parameters)).unwrap_or_default()
        };
        assert_eq!(note("a", "meta-llama/Llama-3.1-8B-Instruct", None), "");
        assert_eq!(note("a.gguf", "/m/a.gguf", Some(8_030_261_248)), "");
        let wrong = note("a", "Qwen/Qwen3-32B", None);
        assert!(wrong.contains("does not serve this model: it serves Qwen/Qwen3-32B"), "{wrong}");
        assert!(
            note("a.gguf", "/m/a.gguf", Some(143_680_512)).contains("does not serve this model")
        );
        assert!(note("assistant", "/models/own", None).contains("cannot be checked"));
    }

    #[test]
    fn conditions_say_what_a_rate_includes() {
        let mut live = live(10.0, 2, None);
        assert!(conditions(&live).is_empty());
        live.running = Some([2, 3]);
        live.prompt_rate = Some(512.0);
        let notes = conditions(&live);
        assert!(notes[0].contains("from 2 to 3") && notes[1].contains("512"), "{notes:?}");
    }
}
