//! The order to read an inference server, and what it is compared with: the device of the page, and the served model or that of Plan.

use std::collections::BTreeMap;

use protocol::engine::WatchEngine;
use report::input::calibration_file::{self, lines};
use report::input::device_file::DeviceFile;
use report::output::words::advice::scheme_name;

use crate::link::engine::WatchedEngine;
use crate::link::session::DaemonSession;
use crate::state::explore::command::{DEVICE_FILE, flags};
use crate::state::inputs::Inputs;
use crate::state::model::beside::told;
use crate::state::model::fields::{Field, count};
use crate::state::model::inputs::ModelSource;

use super::machine::is_of;

/// Address at first: that of llama-server without settings.
pub const USUAL: &str = "http://127.0.0.1:8080";

/// Key under which the tab keeps the form over a reload.
pub const KEPT: &str = "engine";

/// The entries of the card. The answers of a server are not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineForm {
    pub url: String,
    /// The server is compared with the model of Plan, not with the one that it names.
    pub is_of_plan: bool,
    /// Typed context length, in tokens; empty for the one that the server tells.
    pub context: String,
}

impl EngineForm {
    /// The form from the text of [`Self::text`]; the usual one without a text.
    pub fn of(text: Option<&str>) -> Self {
        let (first, url) = text.and_then(|text| text.split_once(' ')).unwrap_or(("", USUAL));
        let (model, context) = first.split_once(':').unwrap_or((first, ""));
        Self { url: url.to_owned(), is_of_plan: model == OF_PLAN, context: context.to_owned() }
    }

    /// The form as a text, without credentials.
    pub fn text(&self) -> String {
        let model = if self.is_of_plan { OF_PLAN } else { "named" };
        let typed = self.context.replace(char::is_whitespace, "");
        let context = if typed.is_empty() { typed } else { format!(":{typed}") };
        format!("{model}{context} {}", without_credentials(&self.url))
    }

    /// Why the context length is not possible; `None` where it is, or where none is typed.
    pub fn context_fault(&self) -> Option<String> {
        self.context_length().err()
    }

    fn context_length(&self) -> Result<Option<u64>, String> {
        if self.context.trim().is_empty() {
            return Ok(None);
        }
        count(Field::Context, &self.context).map_err(|fault| fault.text)
    }
}

/// An address without user and password, also while it is typed and has no `@` yet.
fn without_credentials(url: &str) -> String {
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + 3));
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or_default();
    // A text behind the host that is no port may be the begin of a password.
    let colon = host.rfind(']').unwrap_or(0);
    let port = host[colon..].split_once(':').map(|(_, port)| port);
    let port = port.and_then(|port| port.split_whitespace().next()).unwrap_or_default();
    if port.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("{scheme}{host}{path}")
    } else {
        let name = host[colon..].find(':').map_or(host, |at| &host[..colon + at]);
        format!("{scheme}{name}")
    }
}

const OF_PLAN: &str = "plan";

const CALIBRATION_FILE: &str = "calibration.json";

/// Flags of Plan that the server tells, or that no running server has.
const TOLD: [&str; 4] = ["memory-limit-gb", "context", "new-tokens", "engine"];

/// Flags of the device; all others are about the model.
const OF_DEVICE: [&str; 3] = ["hardware", "power-mode", "tensor-parallel"];

/// The order to read a server. Its model is the one that it names, or that of Plan.
///
/// # Errors
/// A model of a file, which the daemon does not have; a context length that is none.
pub fn order(inputs: &Inputs, form: &EngineForm) -> Result<WatchEngine, String> {
    let EngineForm { url, is_of_plan, .. } = form;
    let is_of_plan = *is_of_plan;
    let context = form.context_length()?;
    if is_of_plan && matches!(inputs.model.base, ModelSource::File(_)) {
        return Err("The model of Plan is of a file, which the daemon does not have: ridgepoint attach takes it with --model.".to_owned());
    }
    let all = flags(inputs).into_iter();
    let used =
        all.filter(|(flag, _)| !TOLD.contains(flag) && (is_of_plan || OF_DEVICE.contains(flag)));
    let mut fields: BTreeMap<String, String> =
        used.map(|(flag, value)| (flag.replace('-', "_"), value)).collect();
    if is_of_plan && let Some(beside) = &inputs.model.beside {
        // A server tells no images.
        let told = told(beside).into_iter().filter(|(field, _)| !field.starts_with("image"));
        fields.extend(told.map(|(field, text)| (field.to_owned(), text)));
    }
    fields.extend(context.map(|length| ("context".to_owned(), length.to_string())));
    let mut files = BTreeMap::new();
    if inputs.has_own_device() {
        let file = DeviceFile::of(&inputs.device, inputs.copy_of.map(|base| &*base.key)).to_json();
        files.insert(DEVICE_FILE.to_owned(), file.to_string());
    }
    if let Some(own) = inputs.own.as_ref().and_then(|own| lines::read(&own.lines)) {
        fields.insert("calibration".to_owned(), CALIBRATION_FILE.to_owned());
        files.insert(CALIBRATION_FILE.to_owned(), calibration_file::write(&own));
    }
    let url = url.trim();
    let scheme = if url.contains("://") { "" } else { "http://" };
    Ok(WatchEngine { url: format!("{scheme}{url}"), fields, files })
}

/// Why no server is read any more, or was not read at all; empty while one is read.
pub fn ended(engine: &WatchedEngine) -> String {
    match (&*engine.why, engine.is_begun) {
        ("", _) => String::new(),
        (why, true) => format!("Not read any more: {why}."),
        (why, false) => {
            let (first, rest) = why.split_at(why.chars().next().map_or(0, char::len_utf8));
            format!("{}{rest}.", first.to_uppercase())
        }
    }
}

/// The note where the chosen device is not the machine of the server, whose rate is compared with it all the same; empty else.
pub fn other_device(session: Option<&DaemonSession>, inputs: &Inputs) -> String {
    let Some(session) = session else { return String::new() };
    if is_of(session, &inputs.device) {
        return String::new();
    }
    format!(
        "The server runs on {}, and the comparison is with {}, the chosen device: choose the device that the server uses.",
        session.machine, inputs.device.name
    )
}

/// The precision that a comparison with the model of Plan has; empty where the server names the model.
pub fn compared_in(inputs: &Inputs, is_of_plan: bool) -> String {
    if !is_of_plan {
        return String::new();
    }
    let model = inputs.model.base.name();
    match inputs.model.scheme {
        Some(scheme) => {
            format!("Compared with {model} in {}, the scheme of Plan.", scheme_name(scheme))
        }
        None => format!(
            "Compared with {model} as published, in {}, because no scheme is chosen in Plan.",
            inputs.model.base.stored().weights.short_name
        ),
    }
}

/// Why the daemon reads no server for this page; empty if it does.
pub fn why_not(session: Option<&DaemonSession>) -> String {
    match session {
        None => "Connect a daemon first.".to_owned(),
        Some(session) if session.can.as_ref().is_none_or(|can| can.engines.is_empty()) => {
            "This daemon is older than this card: ridgepoint attach reads a server at the terminal."
                .to_owned()
        }
        Some(session) if !session.may_measure() => {
            "The key of this page may only read; reading a server needs the scope bench.".to_owned()
        }
        Some(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use protocol::ability::Abilities;
    use protocol::device::DeviceName;
    use protocol::scope::Scope;
    use protocol::server::MachineHere;

    use super::*;
    use crate::state::url;

    fn form(url: &str, is_of_plan: bool) -> EngineForm {
        EngineForm { url: url.into(), is_of_plan, context: String::new() }
    }

    #[test]
    fn a_typed_context_goes_with_the_order_and_a_wrong_one_stops_it() {
        let (inputs, _) = url::read("?d=rtx_4090&model=qwen3-8b");
        let with = |context: &str| EngineForm { context: context.into(), ..form(USUAL, false) };
        for (typed, sent) in [("", None), (" ", None), ("4096", Some("4096")), ("8k", Some("8192"))]
        {
            let found = order(&inputs, &with(typed)).expect("an order");
            assert_eq!(found.fields.get("context").map(String::as_str), sent, "{typed}");
            assert_eq!(with(typed).context_fault(), None);
        }
        for typed in ["-1", "long", "1e30"] {
            let fault = with(typed).context_fault().expect(typed);
            assert_eq!(order(&inputs, &with(typed)), Err(fault));
        }
    }

    #[test]
    fn the_order_names_the_device_and_the_model_of_plan_only_if_asked() {
        let (inputs, _) = url::read("?d=rtx_4090&model=qwen3-8b&ctx=4096");
        let served = order(&inputs, &form(" http://127.0.0.1:1 ", false)).expect("an order");
        assert_eq!((&*served.url, served.fields.len()), ("http://127.0.0.1:1", 1));
        assert_eq!(served.fields["hardware"], "rtx_4090");
        let of_plan = order(&inputs, &form(USUAL, true)).expect("an order");
        assert_eq!(of_plan.fields["model"], "qwen3-8b");
        for told in TOLD {
            assert!(!of_plan.fields.contains_key(&told.replace('-', "_")), "{told}");
        }
        let (hosted, _) = url::read("?d=rtx_4090&model=gpt-oss-120b&host=ddr5&hostgb=96&tp=2");
        let of_plan = order(&hosted, &form(USUAL, true)).expect("an order");
        let (host, split) = (of_plan.fields.get("host"), of_plan.fields.get("tensor_parallel"));
        assert_eq!((host.is_some(), split.map(String::as_str)), (true, Some("2")));
        let served = order(&hosted, &form(USUAL, false)).expect("an order");
        assert_eq!(served.fields.get("tensor_parallel").map(String::as_str), Some("2"));
        assert!(!served.fields.contains_key("host"));
        assert!(of_plan.files.is_empty());
    }

    #[test]
    fn the_precision_of_the_comparison_is_said_where_plan_decides_it() {
        let said = |query: &str, is_of_plan| compared_in(&url::read(query).0, is_of_plan);
        assert_eq!(said("?model=llama-3.1-8b", false), "");
        assert_eq!(
            said("?model=llama-3.1-8b", true),
            "Compared with Llama-3.1 8B as published, in BF16, because no scheme is chosen in Plan."
        );
        assert_eq!(
            said("?model=llama-3.1-8b&scheme=gguf_q4_k", true),
            "Compared with Llama-3.1 8B in GGUF Q4_K_M, the scheme of Plan."
        );
    }

    #[test]
    fn the_form_is_the_same_after_a_reload() {
        for url in ["", "http://127.0.0.1:1", "localhost:80 plan", "plan"] {
            for is_of_plan in [false, true] {
                for context in ["", "4096", "8k", "no"] {
                    let form = EngineForm { context: context.into(), ..form(url, is_of_plan) };
                    assert_eq!(EngineForm::of(Some(&form.text())), form);
                }
            }
        }
        let usual = form(USUAL, false);
        assert_eq!([EngineForm::of(None), EngineForm::of(Some("garbage"))], [usual.clone(), usual]);
    }

    #[test]
    fn credentials_of_an_address_are_not_kept() {
        for (url, kept) in [
            ("http://user:secret@127.0.0.1:1/v1", "http://127.0.0.1:1/v1"),
            ("user:secret@localhost:80", "localhost:80"),
            ("http://secret@[::1]:80", "http://[::1]:80"),
            ("http://user:sec", "http://user"),
            ("http://user:sec/ret@host", "http://user"),
            ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
        ] {
            assert_eq!(form(url, false).text(), format!("named {kept}"));
        }
    }

    #[test]
    fn an_end_and_a_refusal_have_words_of_their_own() {
        let engine = |why: &str, is_begun| WatchedEngine {
            why: why.into(),
            is_begun,
            ..WatchedEngine::default()
        };
        assert_eq!(ended(&engine("", true)), "");
        assert_eq!(ended(&engine("it is gone", true)), "Not read any more: it is gone.");
        assert_eq!(ended(&engine("this server is not read", false)), "This server is not read.");
        let (inputs, _) = url::read("?d=rtx_4090");
        assert_eq!(
            order(&inputs, &form("127.0.0.1:8300", false)).expect("an order").url,
            "http://127.0.0.1:8300"
        );
    }

    #[test]
    fn a_device_of_another_machine_is_named_beside_that_of_the_server() {
        let mut session = DaemonSession::simulated(Vec::new(), "", "A chip");
        let (inputs, _) = url::read("?d=rtx_4090");
        assert_eq!(other_device(None, &inputs), "");
        let said = other_device(Some(&session), &inputs);
        assert!(said.contains("runs on A chip") && said.contains("RTX 4090"), "{said}");
        session.here = Some(MachineHere { catalog_key: Some("rtx_4090".into()), why_not: None });
        assert_eq!(other_device(Some(&session), &inputs), "", "the card of that machine");
        session.here = None;
        session.devices = vec![DeviceName {
            backend: "cuda".into(),
            index: 0,
            name: "NVIDIA GeForce RTX 4090".into(),
            catalog_key: Some("rtx_4090".into()),
        }];
        assert_eq!(other_device(Some(&session), &inputs), "", "a device that it measures");
    }

    #[test]
    fn a_daemon_that_reads_no_servers_is_named() {
        let mut session = DaemonSession::simulated(vec![Scope::Read], "", "");
        assert!(why_not(None).contains("Connect"));
        assert!(why_not(Some(&session)).contains("older"));
        let can = Abilities { engines: vec!["vllm".into()], ..Abilities::untold() };
        session.can = Some(Arc::new(can));
        assert!(why_not(Some(&session)).contains("scope bench"));
        session.scopes.push(Scope::Bench);
        assert_eq!(why_not(Some(&session)), "");
    }
}
