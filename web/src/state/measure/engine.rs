//! The order to read an inference server, and what it is compared with: the device of the page, and the served model or that of Plan.

use std::collections::BTreeMap;

use protocol::engine::WatchEngine;
use report::input::calibration_file::{self, lines};
use report::input::device_file::DeviceFile;

use crate::link::session::DaemonSession;
use crate::state::explore::command::{DEVICE_FILE, flags};
use crate::state::inputs::Inputs;
use crate::state::model::beside::told;
use crate::state::model::inputs::ModelSource;

/// Address at first: that of llama-server without settings.
pub const USUAL: &str = "http://127.0.0.1:8080";

const CALIBRATION_FILE: &str = "calibration.json";

/// Flags of Plan that the server tells, or that no running server has.
const TOLD: [&str; 4] = ["memory-limit-gb", "context", "new-tokens", "engine"];

/// Flags of the device; all others are about the model.
const OF_DEVICE: [&str; 3] = ["hardware", "power-mode", "tensor-parallel"];

/// The order to read a server at an address. Its model is the one that it names, or that of Plan.
///
/// # Errors
/// A model of a file, which the daemon does not have.
pub fn order(inputs: &Inputs, url: &str, is_of_plan: bool) -> Result<WatchEngine, String> {
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
    let mut files = BTreeMap::new();
    if inputs.has_own_device() {
        let file = DeviceFile::of(&inputs.device, inputs.copy_of.map(|base| &*base.key)).to_json();
        files.insert(DEVICE_FILE.to_owned(), file.to_string());
    }
    if let Some(own) = inputs.own.as_ref().and_then(|own| lines::read(&own.lines)) {
        fields.insert("calibration".to_owned(), CALIBRATION_FILE.to_owned());
        files.insert(CALIBRATION_FILE.to_owned(), calibration_file::write(&own));
    }
    Ok(WatchEngine { url: url.trim().to_owned(), fields, files })
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
    use protocol::scope::Scope;

    use super::*;
    use crate::state::url;

    #[test]
    fn the_order_names_the_device_and_the_model_of_plan_only_if_asked() {
        let (inputs, _) = url::read("?d=rtx_4090&model=qwen3-8b&ctx=4096");
        let served = order(&inputs, " http://127.0.0.1:1 ", false).expect("an order");
        assert_eq!((&*served.url, served.fields.len()), ("http://127.0.0.1:1", 1));
        assert_eq!(served.fields["hardware"], "rtx_4090");
        let of_plan = order(&inputs, USUAL, true).expect("an order");
        assert_eq!(of_plan.fields["model"], "qwen3-8b");
        for told in TOLD {
            assert!(!of_plan.fields.contains_key(&told.replace('-', "_")), "{told}");
        }
        let (hosted, _) = url::read("?d=rtx_4090&model=gpt-oss-120b&host=ddr5&hostgb=96&tp=2");
        let of_plan = order(&hosted, USUAL, true).expect("an order");
        let (host, split) = (of_plan.fields.get("host"), of_plan.fields.get("tensor_parallel"));
        assert_eq!((host.is_some(), split.map(String::as_str)), (true, Some("2")));
        let served = order(&hosted, USUAL, false).expect("an order");
        assert_eq!(served.fields.get("tensor_parallel").map(String::as_str), Some("2"));
        assert!(!served.fields.contains_key("host"));
        assert!(of_plan.files.is_empty());
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
