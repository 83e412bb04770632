//! Messages of JSON-RPC 2.0, as the protocol uses them: one object each, no batches.

use serde_json::{Map, Value, json};

/// Code of a text that is not JSON.
pub(super) const PARSE: i32 = -32700;
/// Code of JSON that is no message.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// Code of an unknown method.
pub(crate) const NO_METHOD: i32 = -32601;
/// Code of parameters that a method does not take.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// Code of a defect of this program.
pub(super) const INTERNAL: i32 = -32603;
/// Code of HTTP headers that differ from the message.
pub(crate) const HEADER_MISMATCH: i32 = -32020;
/// Code of a revision that this server does not have.
pub(crate) const UNSUPPORTED_REVISION: i32 = -32022;

/// Most bytes of an id that is a text; ids are repeated in answers.
const LONGEST_ID: usize = 256;

/// A message of a client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Incoming {
    Request {
        /// A text or a whole number.
        id: Value,
        method: String,
        params: Map<String, Value>,
    },
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// An answer to a request that this server never sends.
    Response,
}

/// An error answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    /// The error as a sentence.
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl RpcError {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The error as a message; without an id where none could be read.
    pub(crate) fn answer(self, id: Option<&Value>) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = self.data {
            error["data"] = data;
        }
        let mut answer = json!({ "jsonrpc": "2.0" });
        if let Some(id) = id {
            answer["id"] = id.clone();
        }
        answer["error"] = error;
        answer
    }
}

/// The answer to a request.
pub(super) fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// Parses a message.
///
/// # Errors
/// The error answer for a text that is no message.
pub(crate) fn parse(bytes: &[u8]) -> Result<Incoming, Value> {
    let mut fields = match report::input::json_input::object(bytes) {
        Ok(fields) => fields,
        Err(error) => return Err(not_an_object(bytes, &error)),
    };
    let id = fields.remove("id");
    let known = id.as_ref().filter(|id| is_id(id));
    let refuse = |message: &str| RpcError::new(INVALID_REQUEST, message).answer(known);
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(refuse("a message has \"jsonrpc\": \"2.0\""));
    }
    let method = match fields.remove("method") {
        Some(Value::String(method)) => method,
        None if fields.contains_key("result") || fields.contains_key("error") => {
            return Ok(Incoming::Response);
        }
        _ => return Err(refuse("a request has a text as its method")),
    };
    let params = match fields.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(refuse("the params of a request are a JSON object")),
    };
    match id {
        None => Ok(Incoming::Notification { method, params }),
        Some(id) if is_id(&id) => Ok(Incoming::Request { id, method, params }),
        Some(_) => Err(refuse("an id is a short text or a whole number")),
    }
}

fn is_id(id: &Value) -> bool {
    match id {
        Value::String(text) => text.len() <= LONGEST_ID,
        Value::Number(number) => number.is_i64() || number.is_u64(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn not_an_object(bytes: &[u8], error: &serde_json::Error) -> Value {
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok();
    let (code, what) =
        if is_json { (INVALID_REQUEST, "not one message") } else { (PARSE, "not JSON") };
    RpcError::new(code, format!("{what}: {error}")).answer(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> (i64, Value) {
        let answer = parse(text.as_bytes()).expect_err(text);
        (answer["error"]["code"].as_i64().expect("a code"), answer["id"].clone())
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let read = |text: &str| parse(text.as_bytes()).expect(text);
        let request = read(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#);
        assert!(matches!(request, Incoming::Request { id, method, params }
            if id == "a" && method == "ping" && params.is_empty()));
        let told = read(r#"{"jsonrpc":"2.0","method":"x","params":{"a":1}}"#);
        assert!(matches!(told, Incoming::Notification { params, .. } if params.len() == 1));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Incoming::Response);
    }

    #[test]
    fn what_is_no_message_is_answered_with_its_code() {
        let invalid = i64::from(INVALID_REQUEST);
        for text in ["", "nonsense", "{", "\u{0}", "{\"a\":1,\"a\"", &"[".repeat(100_000)] {
            assert_eq!(code(text), (i64::from(PARSE), Value::Null), "{text:.40}");
        }
        for text in ["[]", "1", "null", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]"] {
            assert_eq!(code(text), (invalid, Value::Null), "{text}");
        }
        for (text, id) in [
            (r#"{"id":1,"method":"ping"}"#, json!(1)),
            (r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, json!("x")),
            (r#"{"jsonrpc":"2.0","id":1}"#, json!(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":2}"#, json!(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, json!(1)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Value::Null),
        ] {
            assert_eq!(code(text), (invalid, id), "{text}");
        }
        let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(1000));
        assert_eq!(code(&long), (invalid, Value::Null));
    }
}
