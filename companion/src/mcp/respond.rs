//! Answers to requests, whatever transport they come through.

use report::input::request::{Files, Library};
use serde_json::{Map, Value, json};

use super::answers::ToolAnswer;
use super::message::{INTERNAL, INVALID_PARAMS, NO_METHOD, RpcError, result};
use super::revision::{DATED, Revision};
use super::schema;
use super::tools::TOOLS;
use crate::failure::Failure;
use crate::files;

/// Time for which a client may keep the list of tools [ms]; it changes with the program only.
const FRESH_MS: u64 = 3_600_000;

/// Advice for the language model that uses the tools.
const INSTRUCTIONS: &str = "Ridgepoint predicts how fast a language model runs on a device, what limits it, whether it fits in memory, \
    and which quantization to use. Times have an interval and an origin: say both. Start with resolve_model and list_devices for keys, \
    then ask estimate, recommend, fit_plan or compare; check judges a claimed speed, and explain gives the formulas. \
    `link` opens the page with the same question.";

/// Where models and devices are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The catalogs, because a request over the network must not name a file.
    Catalogs,
    /// The catalogs and the user's files.
    Files,
}

/// The knowledge of a transport about its client.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) source: Source,
    /// Address of the page, with a slash at its end.
    pub(crate) page: String,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcReply {
    /// The whole message.
    pub(crate) message: Value,
    /// Code of the error, if the message is one.
    pub(crate) code: Option<i32>,
}

/// Answers a request.
pub(crate) fn respond(
    id: &Value,
    method: &str,
    params: &Map<String, Value>,
    context: &Context,
) -> RpcReply {
    match answered(method, params, context) {
        Ok(value) => RpcReply { message: result(id, &value), code: None },
        Err(error) => RpcReply { code: Some(error.code), message: error.answer(Some(id)) },
    }
}

fn answered(
    method: &str,
    params: &Map<String, Value>,
    context: &Context,
) -> Result<Value, RpcError> {
    use Revision::{Session, Stateless};
    let revision = Revision::of(params)?;
    let mut value = match (method, revision) {
        ("initialize", Session) => return initialized(params),
        ("ping", Session) => return Ok(json!({})),
        ("server/discover", Stateless) => cached(json!({
            "supportedVersions": DATED,
            "capabilities": capabilities(),
            "instructions": INSTRUCTIONS,
        })),
        ("tools/list", Session) => return Ok(listed()),
        ("tools/list", Stateless) => cached(listed()),
        ("tools/call", _) => called(params, context)?,
        _ => return Err(no_method(method, revision)),
    };
    if revision == Stateless {
        value["resultType"] = json!("complete");
        value["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": server_info() });
    }
    Ok(value)
}

/// Adds how long a client may keep a result.
fn cached(mut value: Value) -> Value {
    value["ttlMs"] = json!(FRESH_MS);
    value["cacheScope"] = json!("public");
    value
}

fn capabilities() -> Value {
    json!({ "tools": {} })
}

fn server_info() -> Value {
    json!({ "name": "ridgepoint", "title": "Ridgepoint", "version": env!("CARGO_PKG_VERSION") })
}

fn initialized(params: &Map<String, Value>) -> Result<Value, RpcError> {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let asked = asked.ok_or_else(|| {
        RpcError::new(INVALID_PARAMS, "initialize needs a text as protocolVersion")
    })?;
    Ok(json!({
        "protocolVersion": Revision::negotiated(asked),
        "capabilities": capabilities(),
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    }))
}

fn no_method(method: &str, revision: Revision) -> RpcError {
    let known = match revision {
        Revision::Session => "initialize, ping, tools/list, tools/call",
        Revision::Stateless => "server/discover, tools/list, tools/call",
    };
    let method: String = method.chars().take(60).collect();
    RpcError::new(NO_METHOD, format!("unknown method `{method}`; this server has {known}"))
}

fn listed() -> Value {
    json!({ "tools": TOOLS.iter().map(schema::definition).collect::<Vec<_>>() })
}

/// Calls a tool. A question that it refuses is a result for the language model, which can mend it.
fn called(params: &Map<String, Value>, context: &Context) -> Result<Value, RpcError> {
    let name = params.get("name").and_then(Value::as_str);
    let name =
        name.ok_or_else(|| RpcError::new(INVALID_PARAMS, "tools/call needs a text as name"))?;
    let tool = TOOLS.iter().find(|tool| tool.name == name).ok_or_else(|| {
        let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
        let name: String = name.chars().take(60).collect();
        let message = format!("unknown tool `{name}`; this server has {}", names.join(", "));
        RpcError::new(INVALID_PARAMS, message)
    })?;
    let given = match params.get("arguments") {
        None => Map::new(),
        Some(Value::Object(given)) => given.clone(),
        Some(_) => {
            return Err(RpcError::new(INVALID_PARAMS, "the arguments of a tool are a JSON object"));
        }
    };
    let files = Files::new(&read);
    let library = match context.source {
        Source::Catalogs => Library::CATALOGS,
        Source::Files => Library::with_files(&files),
    };
    match (tool.answer)(given, &library) {
        Ok(answer) => Ok(told(&answer, &context.page)),
        Err(Failure::BadInput(line) | Failure::NoDevice(line) | Failure::NotMet(line)) => {
            Ok(json!({ "content": [{ "type": "text", "text": line }], "isError": true }))
        }
        Err(Failure::Failed(line) | Failure::Permission(line)) => {
            Err(RpcError::new(INTERNAL, line))
        }
        Err(Failure::NobodyReads) => Err(RpcError::new(INTERNAL, "no answer")),
    }
}

/// Reads a file of the user. A name that stands for this program's own input would take the client's messages.
fn read(name: &str) -> Result<String, String> {
    if files::is_descriptor(std::path::Path::new(name)) {
        return Err("it is an open file of this program".to_owned());
    }
    files::read(name)
}

/// The result of a tool: its data with the sentence and the link, and both as text.
fn told(answer: &ToolAnswer, page: &str) -> Value {
    let link = answer.address.as_ref().map(|address| format!("{page}{}", address.query));
    let lacks = answer.address.as_ref().map(|address| address.lacks.clone()).unwrap_or_default();
    let mut data = Map::new();
    data.insert("sentence".into(), json!(answer.brief.sentence));
    data.insert("link".into(), json!(link));
    data.insert("link_lacks".into(), json!(lacks));
    data.extend(answer.data.clone());
    let mut text = answer.brief.text();
    text += &match (&link, lacks.as_slice()) {
        (None, _) => "\nThe page cannot be opened with this question: its model, device or operator is not there.".to_owned(),
        (Some(link), []) => format!("\nPage: {link}"),
        (Some(link), lacks) => format!("\nPage, without {}: {link}", lacks.join(", ")),
    };
    json!({
        "content": [{ "type": "text", "text": text }],
        "structuredContent": data,
        "isError": false,
    })
}
