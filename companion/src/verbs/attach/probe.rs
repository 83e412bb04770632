//! Asks a server: first which engine it is, then one reading after another.

use std::time::Instant;

use serde_json::Value;

use super::http::{Client, HttpAnswer, ServerUrl};
use super::machine_state::MachineState;
use super::prometheus::Samples;
use super::reading::{Identity, Server, ServerReading};
use super::{llama_cpp, sglang, vllm};
use crate::failure::Failure;

/// How often llama.cpp is asked again when a request ends between its counters and its slots.
const TRIES: usize = 4;

/// A server whose engine is known.
#[derive(Debug)]
pub(super) struct Probe {
    client: Client,
    /// The server is at an address of this machine.
    is_here: bool,
    pub(super) identity: Identity,
}

impl Probe {
    /// Finds out which engine answers.
    ///
    /// # Errors
    /// Nobody answers, or none of the known engines.
    pub(super) fn open(address: ServerUrl) -> Result<Self, Failure> {
        let shown = address.to_string();
        let is_here = address.is_here();
        let client = Client::new(address)
            .map_err(|error| Failure::Failed(format!("no room for a connection: {error}")))?;
        let identity = identity(&client, &shown).map_err(Failure::Failed)?;
        Ok(Self { client, is_here, identity })
    }

    /// One reading, and when the tokens were counted.
    ///
    /// # Errors
    /// The server does not answer any more, or only in part.
    pub(super) fn read(&self) -> Result<(ServerReading, Instant), Failure> {
        let read = match self.identity.server {
            Server::LlamaCpp => self.llama_cpp(),
            Server::Vllm => {
                self.metrics().map(|found| (vllm::reading(found.as_ref()), Instant::now()))
            }
            Server::Sglang => {
                self.metrics().map(|found| (sglang::reading(found.as_ref()), Instant::now()))
            }
        };
        let (mut reading, at) = read.map_err(Failure::Failed)?;
        reading.machine = self.is_here.then(MachineState::now).flatten();
        Ok((reading, at))
    }

    fn metrics(&self) -> Result<Option<Samples>, String> {
        Ok(self.client.get("/metrics")?.text().map(Samples::parse))
    }

    /// Slots and counters of one moment: a request that ends between the two would count twice or not at all.
    fn llama_cpp(&self) -> Result<(ServerReading, Instant), String> {
        let ended = |metrics: Option<&Samples>| metrics?.sum("llamacpp:tokens_predicted_total");
        let mut before = self.metrics()?;
        for _ in 1..TRIES {
            let slots = json(&self.client.get("/slots")?);
            let at = Instant::now();
            let after = self.metrics()?;
            if ended(before.as_ref()) == ended(after.as_ref()) {
                return Ok((llama_cpp::reading(after.as_ref(), slots.as_ref()), at));
            }
            before = after;
        }
        // Requests end faster than they can be counted, so those that run hardly matter.
        Ok((llama_cpp::reading(before.as_ref(), None), Instant::now()))
    }
}

fn json(answer: &HttpAnswer) -> Option<Value> {
    serde_json::from_str(answer.text()?).ok()
}

fn identity(client: &Client, shown: &str) -> Result<Identity, String> {
    let get =
        |path: &str| -> Result<Value, String> { Ok(json(&client.get(path)?).unwrap_or_default()) };
    let answered = client.get("/v1/models")?;
    // With a key for its models, vLLM still tells its counters.
    if let Some(why) = refusal(&answered).filter(|_| !asks_for_key(&answered)) {
        return Err(format!("{shown}: {why}"));
    }
    let models = json(&answered).unwrap_or_default();
    let owner = models["data"][0]["owned_by"].as_str().unwrap_or_default();
    if owner == "vllm" {
        return Ok(vllm::identity(&get("/version")?, &models));
    }
    let props = get("/props")?;
    if llama_cpp::is_props(&props) {
        return Ok(llama_cpp::identity(&props, &models));
    }
    for (info, server) in [("/get_model_info", "/get_server_info"), ("/model_info", "/server_info")]
    {
        let info = get(info)?;
        if sglang::is_model_info(&info) {
            return Ok(sglang::identity(&info, &get(server)?, &models));
        }
    }
    let metrics = client.get("/metrics")?;
    if metrics.text().is_some_and(|text| Samples::parse(text).has_prefix("vllm:")) {
        return Ok(vllm::identity(&get("/version")?, &models));
    }
    let refused = refusal(&answered).or(refusal(&client.get("/props")?));
    let why = refused.unwrap_or_else(|| {
        "something answers, but neither llama-server nor vLLM nor SGLang: /props, /version and /get_model_info are not theirs"
            .to_owned()
    });
    Err(format!("{shown}: {why}"))
}

const fn asks_for_key(answer: &HttpAnswer) -> bool {
    matches!(answer.status, 401 | 403)
}

/// Why a server that may be an engine does not answer now.
fn refusal(answer: &HttpAnswer) -> Option<String> {
    match answer.status {
        401 | 403 => Some(format!(
            "the server asks for a key (HTTP {}), and attach sends none; start it without --api-key on a port of this machine",
            answer.status
        )),
        503 => Some(
            "the server is not ready (HTTP 503), perhaps it still loads its model; try again"
                .to_owned(),
        ),
        300..=399 => Some(format!(
            "the server sends clients elsewhere (HTTP {}), which attach does not follow; give the address of the engine itself",
            answer.status
        )),
        _ => None,
    }
}
