//! Answers of llama-server at `/props`, `/v1/models`, `/slots` and `/metrics`.

use serde_json::Value;

use super::prometheus::Samples;
use super::reading::{DraftCounters, Generated, Identity, Server, ServerReading, whole};

/// Whether an answer to `/props` is that of llama-server.
pub(super) fn is_props(props: &Value) -> bool {
    props["total_slots"].is_u64() && props["default_generation_settings"].is_object()
}

/// The server by `/props`, with the parameters of `/v1/models`.
pub(super) fn identity(props: &Value, models: &Value) -> Identity {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let path = text(&props["model_path"]);
    let of_path = || path.as_deref()?.rsplit(['/', '\\']).next().map(str::to_owned);
    Identity {
        server: Server::LlamaCpp,
        version: text(&props["build_info"]),
        model: text(&props["model_alias"]).or_else(of_path),
        parameters: models["data"][0]["meta"]["n_params"].as_u64().filter(|count| *count > 0),
        path,
        tensor_parallel: None,
    }
}

/// One reading. The counters of `/metrics` grow when a request ends, so the tokens of running requests are those of `/slots`.
pub(super) fn reading(metrics: Option<&Samples>, slots: Option<&Value>) -> ServerReading {
    let mut reading = ServerReading::default();
    let counters = metrics.filter(|metrics| metrics.has_prefix("llamacpp:"));
    if counters.is_none() {
        reading.notes.push(
            "prompt rate, waiting requests: start llama-server with --metrics, which turns its counters on"
                .to_owned(),
        );
    }
    let slots = slots.and_then(Value::as_array);
    if slots.is_none() {
        reading.notes.push(
            "context in use, tokens of running requests: start llama-server with --slots (on by default, --no-slots turns it off)"
                .to_owned(),
        );
    }
    let sum = |name: &str| counters?.sum(name);
    let ended = sum("llamacpp:tokens_predicted_total");
    reading.prompt = sum("llamacpp:prompt_tokens_total");
    reading.waiting = sum("llamacpp:requests_deferred").and_then(whole);
    reading.running = sum("llamacpp:requests_processing").and_then(whole);
    reading.drafts = sum("llamacpp:spec_decode_num_draft_tokens_total")
        .zip(sum("llamacpp:spec_decode_num_accepted_tokens_total"))
        .map(|(drafted, accepted)| DraftCounters { drafted, accepted });
    let Some(slots) = slots else {
        reading.generated = ended.map(Generated::AtEnd);
        return reading;
    };
    let busy: Vec<&Value> = slots.iter().filter(|slot| slot["is_processing"] == true).collect();
    let tokens = |slot: &&Value| Some((slot["id_task"].as_u64()?, decoded(slot)?));
    reading.running = Some(busy.len() as u64);
    reading.cached = busy.iter().map(|slot| cached(slot)).sum();
    let room: Option<f64> = slots.iter().map(|slot| slot["n_ctx"].as_f64()).sum();
    reading.cache_usage = reading.cached.zip(room.filter(|room| *room > 0.0)).map(|(a, b)| a / b);
    let running: Option<Vec<(u64, f64)>> = busy.iter().map(tokens).collect();
    reading.generated = match (ended, running) {
        (Some(ended), Some(running)) => {
            Some(Generated::Total(ended + running.iter().map(|(_, tokens)| tokens).sum::<f64>()))
        }
        (None, Some(running)) => Some(Generated::Running(running.into_iter().collect())),
        (Some(ended), None) => Some(Generated::AtEnd(ended)),
        (None, None) => None,
    };
    reading
}

/// Tokens that a slot has generated for its request; older servers have an object where later ones have a list.
fn decoded(slot: &Value) -> Option<f64> {
    let next = &slot["next_token"];
    let count = if next.is_array() { &next[0]["n_decoded"] } else { &next["n_decoded"] };
    count.as_u64().map(|count| count as f64)
}

/// Tokens in the cache of a slot. In later servers the prompt grows with the answer.
fn cached(slot: &Value) -> Option<f64> {
    let of = |key: &str| slot[key].as_u64().map(|count| count as f64);
    let parts = of("n_prompt_tokens_processed")
        .map(|new| new + of("n_prompt_tokens_cache").unwrap_or(0.0) + decoded(slot).unwrap_or(0.0));
    let known = [of("n_past"), of("n_prompt_tokens"), parts];
    known.into_iter().flatten().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::attach::reading::Live;

    // The answers were recorded from a llama.cpp server (xllamacpp 2026.10) with a model of random weights; chat template and
    // sampling parameters are left out.
    const PROPS: &str = include_str!("../../../tests/attach/llama_cpp/props.json");
    const MODELS: &str = include_str!("../../../tests/attach/llama_cpp/models.json");
    const SLOTS: [&str; 2] = [
        include_str!("../../../tests/attach/llama_cpp/slots-1.json"),
        include_str!("../../../tests/attach/llama_cpp/slots-2.json"),
    ];
    const METRICS: [&str; 2] = [
        include_str!("../../../tests/attach/llama_cpp/metrics-1.txt"),
        include_str!("../../../tests/attach/llama_cpp/metrics-2.txt"),
    ];

    fn json(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn a_server_names_its_model_and_its_file() {
        let props = json(PROPS);
        assert!(is_props(&props) && !is_props(&json(MODELS)));
        let found = identity(&props, &json(MODELS));
        assert_eq!(found.server, Server::LlamaCpp);
        assert_eq!(found.model.as_deref(), Some("r.gguf"));
        assert_eq!(found.path.as_deref(), Some("models/r.gguf"));
        assert_eq!(found.parameters, Some(143_680_512));
        let found =
            identity(&json(r#"{"model_path": "C:\\m\\a.gguf", "model_alias": 7}"#), &Value::Null);
        assert_eq!((found.model.as_deref(), found.parameters), (Some("a.gguf"), None));
    }

    #[test]
    fn tokens_of_running_requests_count_before_they_end() {
        let [before, after] =
            [0, 1].map(|at| reading(Some(&Samples::parse(METRICS[at])), Some(&json(SLOTS[at]))));
        assert_eq!(before.generated, Some(Generated::Total(2.0 * 63.0)));
        assert_eq!(after.generated, Some(Generated::Total(2.0 * 153.0)));
        let live = Live::between(&before, &after, 2.0);
        assert_eq!((live.rate, live.prompt_rate, live.batch()), (Some(90.0), Some(0.0), Some(2)));
        assert_eq!(live.context, Some(129.0));
        assert!(live.notes.is_empty(), "{live:?}");
    }

    #[test]
    fn without_metrics_the_slots_tell_the_rate_and_the_flag_is_named() {
        let [before, after] = [0, 1].map(|at| reading(None, Some(&json(SLOTS[at]))));
        let live = Live::between(&before, &after, 2.0);
        assert_eq!((live.rate, live.prompt_rate), (Some(90.0), None));
        assert!(live.notes.len() == 1 && live.notes[0].contains("--metrics"), "{live:?}");
        let both = reading(None, None);
        assert_eq!((both.generated.as_ref(), both.running), (None, None));
        assert!(both.notes[1].contains("--slots"), "{both:?}");
    }

    #[test]
    fn without_slots_the_rate_is_that_of_ended_requests() {
        let text = METRICS[1].replace("tokens_predicted_total 0", "tokens_predicted_total 1300");
        let after = reading(Some(&Samples::parse(&text)), None);
        let live = Live::between(&reading(Some(&Samples::parse(METRICS[0])), None), &after, 2.0);
        assert_eq!((live.rate, live.running), (Some(650.0), Some([2, 2])));
        assert!(live.notes.iter().any(|note| note.contains("when the request ends")), "{live:?}");
    }

    #[test]
    fn counters_of_prompts_alone_give_no_rate() {
        let only_prompts = METRICS.map(|text| {
            let lines = text.lines().filter(|line| !line.contains("predicted"));
            Samples::parse(&(lines.collect::<Vec<_>>().join("\n") + "\n"))
        });
        let [before, after] = only_prompts.map(|metrics| reading(Some(&metrics), None));
        let live = Live::between(&before, &after, 2.0);
        assert_eq!((live.rate, live.prompt_rate), (None, Some(0.0)));
        assert!(live.notes.iter().any(|note| note.contains("prompt tokens alone")), "{live:?}");
    }

    #[test]
    fn an_older_server_has_one_token_per_slot() {
        let slots = json(
            r#"[{"id":0,"id_task":4,"is_processing":true,"n_ctx":100,"n_past":60,"next_token":{"n_decoded":25}}]"#,
        );
        let found = reading(None, Some(&slots));
        assert_eq!((found.cached, found.cache_usage), (Some(60.0), Some(0.6)));
        assert_eq!(found.generated, Some(Generated::Running([(4, 25.0)].into())));
    }

    #[test]
    fn hostile_slots_give_no_value_and_no_panic() {
        for text in [
            "{}",
            "[]",
            "[1]",
            "[null]",
            "\"x\"",
            r#"[{"is_processing":true}]"#,
            r#"[{"is_processing":true,"id_task":-1,"n_ctx":-5,"next_token":[]}]"#,
            r#"[{"is_processing":true,"id_task":1,"next_token":[{"n_decoded":-7}]}]"#,
            r#"[{"is_processing":true,"id_task":1e300,"next_token":{"n_decoded":1e300}}]"#,
        ] {
            let found = reading(None, Some(&json(text)));
            let rate = Live::between(&found, &found, 1.0).rate;
            assert!(rate.is_none_or(|rate| rate == 0.0), "{text}: {found:?}");
        }
    }
}
