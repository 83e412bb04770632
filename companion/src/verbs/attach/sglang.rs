//! Answers of SGLang at `/get_model_info`, `/get_server_info` and `/metrics`.

use report::number_text as n;
use serde_json::Value;

use super::prometheus::Samples;
use super::reading::{Generated, Identity, Server, ServerReading, whole};

/// Whether an answer to `/get_model_info` is that of SGLang.
pub(super) fn is_model_info(info: &Value) -> bool {
    info["model_path"].is_string()
}

/// The server by `/get_model_info`, `/get_server_info` and `/v1/models`.
pub(super) fn identity(info: &Value, server: &Value, models: &Value) -> Identity {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let path = text(&info["model_path"]);
    Identity {
        server: Server::Sglang,
        version: text(&server["version"]),
        model: text(&models["data"][0]["id"]).or_else(|| path.clone()),
        path,
        parameters: None,
        tensor_parallel: server["tp_size"].as_u64().filter(|size| *size > 1),
    }
}

/// One reading. The counters grow when a request ends, so the rate is the one that the server computes over its last steps.
pub(super) fn reading(metrics: Option<&Samples>) -> ServerReading {
    let Some(metrics) = metrics.filter(|metrics| metrics.has_prefix("sglang:")) else {
        let why =
            "tokens and requests: start SGLang with --enable-metrics, which turns its counters on";
        return ServerReading { notes: vec![why.to_owned()], ..ServerReading::default() };
    };
    let running = metrics.sum("sglang:num_running_reqs").and_then(whole);
    // Without requests the rate may be that of the last ones.
    let rate = metrics.sum("sglang:gen_throughput").filter(|_| running != Some(0));
    let ended = || metrics.sum("sglang:generation_tokens_total").map(Generated::AtEnd);
    ServerReading {
        generated: rate.map(Generated::Rate).or_else(ended),
        // Later versions count the tokens of every step, too.
        prompt: metrics
            .sum_with("sglang:realtime_tokens_total", "mode", "prefill_compute")
            .or_else(|| metrics.sum("sglang:prompt_tokens_total")),
        running,
        waiting: metrics.sum("sglang:num_queue_reqs").and_then(whole),
        // Earlier versions tell only the tokens in the cache, those of prompts in work included.
        cached: metrics
            .sum("sglang:decode_sum_seq_lens")
            .filter(|tokens| *tokens > 0.0)
            .or_else(|| metrics.sum("sglang:num_used_tokens")),
        cache_usage: metrics.mean("sglang:token_usage"),
        token_times: None,
        drafts: None,
        machine: None,
        notes: accepted(metrics).into_iter().collect(),
    }
}

/// A note on speculative decoding, which is on where a step accepts tokens.
fn accepted(metrics: &Samples) -> Option<String> {
    let length = metrics.mean("sglang:spec_accept_length").filter(|length| *length > 0.0)?;
    Some(format!(
        "speculative decoding is on: a step gives {} tokens in the mean; --draft-tokens and --acceptance take it into account",
        n::short(length, 3)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::attach::reading::Live;

    // Written after SGLang's documentation of its metrics and of its API.
    const METRICS: &str = include_str!("../../../tests/attach/sglang/metrics.txt");

    #[test]
    fn the_rate_is_that_of_the_server() {
        let found = reading(Some(&Samples::parse(METRICS)));
        let live = Live::between(&found, &found, 2.0);
        assert_eq!((live.rate, live.batch(), live.context), (Some(1184.5), Some(16), Some(1024.0)));
        assert_eq!((live.prompt_rate, live.waiting), (Some(0.0), Some(2)));
        assert!(live.basis.contains("server's own"), "{live:?}");
    }

    /// The figures of a loaded server that SGLang's page on production metrics shows
    /// (https://docs.sglang.io/docs/references/production_metrics).
    #[test]
    fn a_recorded_server_is_read() {
        let model = "{model_name=\"meta-llama/Llama-3.1-8B-Instruct\"}";
        let lines = [
            ("prompt_tokens_total", "8.128902e+06"),
            ("generation_tokens_total", "7.557572e+06"),
            ("token_usage", "0.28"),
            ("cache_hit_rate", "0.007507552643049313"),
            ("time_to_first_token_seconds_sum", "2.3518979474117756e+06"),
            ("num_running_reqs", "162.0"),
            ("num_used_tokens", "123859.0"),
            ("gen_throughput", "86.50814177726902"),
            ("num_queue_reqs", "2826.0"),
        ];
        let text: String =
            lines.map(|(name, value)| format!("sglang:{name}{model} {value}\n")).concat();
        let found = reading(Some(&Samples::parse(&text)));
        let live = Live::between(&found, &found, 2.0);
        assert_eq!(live.rate, Some(86.508_141_777_269_02));
        assert_eq!((live.batch(), live.waiting), (Some(162), Some(2826)));
        assert!(live.context.is_some_and(|it| (it - 123_859.0 / 162.0).abs() < 1e-9), "{live:?}");
        assert_eq!((found.cache_usage, found.prompt), (Some(0.28), Some(8_128_902.0)));
    }

    #[test]
    fn prompt_tokens_of_unfinished_requests_count_where_they_are_told() {
        let line =
            |tokens| format!("sglang:realtime_tokens_total{{mode=\"prefill_compute\"}} {tokens}\n");
        let [before, after] = [100, 612]
            .map(|tokens| reading(Some(&Samples::parse(&format!("{METRICS}{}", line(tokens))))));
        assert_eq!(Live::between(&before, &after, 2.0).prompt_rate, Some(256.0));
    }

    #[test]
    fn drafts_and_lengths_of_sequences_are_told() {
        let text =
            format!("{METRICS}sglang:decode_sum_seq_lens 8000\nsglang:spec_accept_length 2.5\n");
        let found = reading(Some(&Samples::parse(&text)));
        assert_eq!(found.cached, Some(8000.0));
        assert!(found.notes[0].contains("a step gives 2.5"), "{found:?}");
    }

    #[test]
    fn parts_by_priority_do_not_count_twice() {
        let text = format!("{METRICS}sglang:num_running_reqs{{priority=\"1\"}} 9\n");
        assert_eq!(reading(Some(&Samples::parse(&text))).running, Some(16));
    }

    #[test]
    fn an_idle_server_has_no_rate_of_its_last_requests() {
        let name = "sglang:num_running_reqs{engine_type=\"unified\",model_name=\"Qwen/Qwen3-32B\",pp_rank=\"0\",tp_rank=\"0\"}";
        let text = METRICS.replace(&format!("{name} 16.0"), &format!("{name} 0.0"));
        let found = reading(Some(&Samples::parse(&text)));
        assert_eq!(Live::between(&found, &found, 2.0).rate, Some(0.0));
        assert_eq!(found.running, Some(0));
    }

    #[test]
    fn without_counters_the_flag_is_named() {
        assert!(reading(None).notes[0].contains("--enable-metrics"));
    }

    #[test]
    fn a_split_over_devices_is_told() {
        let info = serde_json::json!({"model_path": "Qwen/Qwen3-32B", "is_generation": true});
        let server = serde_json::json!({"version": "0.5.3", "tp_size": 2});
        assert!(is_model_info(&info) && !is_model_info(&server));
        let found = identity(&info, &server, &Value::Null);
        assert_eq!(
            (found.tensor_parallel, found.model.as_deref()),
            (Some(2), Some("Qwen/Qwen3-32B"))
        );
        let one = serde_json::json!({"tp_size": 1, "version": 5});
        let found = identity(&info, &one, &Value::Null);
        assert_eq!((found.tensor_parallel, found.version), (None, None));
    }
}
