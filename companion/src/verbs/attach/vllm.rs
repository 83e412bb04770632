//! Answers of vLLM at `/version`, `/v1/models` and `/metrics`.

use serde_json::Value;

use super::prometheus::Samples;
use super::reading::{
    DraftCounters, Generated, HistogramTotal, Identity, Server, ServerReading, whole,
};

/// The server by `/version` and `/v1/models`.
pub(super) fn identity(version: &Value, models: &Value) -> Identity {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let first = &models["data"][0];
    Identity {
        server: Server::Vllm,
        version: text(&version["version"]),
        model: text(&first["id"]),
        path: text(&first["root"]),
        parameters: None,
        tensor_parallel: None,
    }
}

/// One reading. Counters grow with every step.
pub(super) fn reading(metrics: Option<&Samples>) -> ServerReading {
    let Some(metrics) = metrics.filter(|metrics| metrics.has_prefix("vllm:")) else {
        let why = "tokens and requests: start vLLM without --disable-log-stats, which turns its counters off";
        return ServerReading { notes: vec![why.to_owned()], ..ServerReading::default() };
    };
    // Names of versions 1 and 0.
    let usage = ["vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"];
    let times = ["vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"];
    let info = ["num_gpu_blocks", "block_size"];
    let cached =
        usage.iter().find_map(|name| metrics.times_labels(name, "vllm:cache_config_info", info));
    let mut notes = Vec::new();
    if cached.is_none() {
        notes.push("context in use: this vLLM does not tell the size of its KV cache".to_owned());
    }
    let total = |name: &&str| {
        let seconds = metrics.sum(&format!("{name}_sum"))?;
        Some(HistogramTotal { seconds, count: metrics.sum(&format!("{name}_count"))? })
    };
    ServerReading {
        generated: metrics.sum("vllm:generation_tokens_total").map(Generated::Total),
        prompt: metrics.sum("vllm:prompt_tokens_total"),
        running: metrics.sum("vllm:num_requests_running").and_then(whole),
        waiting: metrics.sum("vllm:num_requests_waiting").and_then(whole),
        cached,
        cache_usage: usage.iter().find_map(|name| metrics.mean(name)),
        token_times: times.iter().find_map(total),
        drafts: metrics
            .sum("vllm:spec_decode_num_draft_tokens_total")
            .zip(metrics.sum("vllm:spec_decode_num_accepted_tokens_total"))
            .map(|(drafted, accepted)| DraftCounters { drafted, accepted }),
        machine: None,
        notes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::attach::reading::Live;

    // Written after vLLM's documentation of its metrics and of its API.
    const METRICS: [&str; 2] = [
        include_str!("../../../tests/attach/vllm/metrics-1.txt"),
        include_str!("../../../tests/attach/vllm/metrics-2.txt"),
    ];
    const MODELS: &str = include_str!("../../../tests/attach/vllm/models.json");

    #[test]
    fn counters_give_rates_batch_and_context() {
        let [before, after] = METRICS.map(|text| reading(Some(&Samples::parse(text))));
        let live = Live::between(&before, &after, 2.0);
        assert_eq!((live.rate, live.prompt_rate), (Some(1600.0), Some(512.0)));
        assert_eq!((live.running, live.waiting), (Some([32, 32]), Some(1)));
        // 10 % and 12 % of 20,000 blocks of 16 tokens, over 32 requests.
        assert!(live.context.is_some_and(|context| (context - 1100.0).abs() < 1e-6), "{live:?}");
        assert_eq!(live.token_time.map(|time| (time * 1e6).round()), Some(20_000.0));
        assert_eq!(live.drafts, Some(DraftCounters { drafted: 300.0, accepted: 210.0 }));
        assert!(live.notes.is_empty(), "{live:?}");
    }

    /// Figures that users of vLLM have recorded: github.com/IBM/vllm/pull/18, and an idle server of
    /// github.com/vllm-project/production-stack/issues/318.
    #[test]
    fn recorded_servers_are_read() {
        let busy = r#"vllm:cpu_cache_usage_perc{model_name="bigscience/bloom-560m"} 0.0
vllm:prompt_tokens_total{model_name="bigscience/bloom-560m"} 1196.0
vllm:generation_tokens_total{model_name="bigscience/bloom-560m"} 218152.0
vllm:time_to_first_token_seconds_bucket{le="0.02",model_name="bigscience/bloom-560m"} 112.0
vllm:time_to_first_token_seconds_bucket{le="0.04",model_name="bigscience/bloom-560m"} 211.0
"#;
        let found = reading(Some(&Samples::parse(busy)));
        assert_eq!(found.generated, Some(Generated::Total(218_152.0)));
        assert_eq!((found.prompt, found.running, found.token_times), (Some(1196.0), None, None));
        let idle = r#"process_cpu_seconds_total 439.71999999999997
vllm:num_requests_running{model_name="Qwen/Qwen2.5-Coder-32B-Instruct"} 0.0
vllm:num_requests_waiting{model_name="Qwen/Qwen2.5-Coder-32B-Instruct"} 0.0
vllm:gpu_cache_usage_perc{model_name="Qwen/Qwen2.5-Coder-32B-Instruct"} 0.0
vllm:request_params_max_tokens_bucket{le="20.0",model_name="Qwen/Qwen2.5-Coder-32B-Instruct"} 5.0
"#;
        let found = reading(Some(&Samples::parse(idle)));
        assert_eq!((found.running, found.waiting), (Some(0), Some(0)));
        assert_eq!((found.cache_usage, found.generated), (Some(0.0), None));
    }

    #[test]
    fn the_names_of_version_0_are_read_too() {
        let old = METRICS.map(|text| {
            let text = text.replace("kv_cache_usage_perc", "gpu_cache_usage_perc");
            text.replace("inter_token_latency_seconds", "time_per_output_token_seconds")
        });
        let [before, after] = old.map(|text| reading(Some(&Samples::parse(&text))));
        let live = Live::between(&before, &after, 2.0);
        assert!(live.context.is_some() && live.token_time.is_some(), "{live:?}");
    }

    #[test]
    fn without_counters_the_flag_is_named() {
        for metrics in [None, Some(Samples::parse("python_info 1\n"))] {
            let found = reading(metrics.as_ref());
            assert_eq!(found.generated, None);
            assert!(found.notes[0].contains("--disable-log-stats"), "{found:?}");
        }
    }

    #[test]
    fn a_served_model_has_a_name_and_a_root() {
        let models = serde_json::from_str(MODELS).expect("JSON");
        let version = serde_json::json!({"version": "0.11.0"});
        let found = identity(&version, &models);
        assert_eq!(found.model.as_deref(), Some("assistant"));
        assert_eq!(found.path.as_deref(), Some("meta-llama/Llama-3.1-8B-Instruct"));
        assert_eq!(identity(&Value::Null, &Value::Null).model, None);
    }
}
