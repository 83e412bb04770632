//! `recommend` and `schedule`: what they refuse, their forms, and their lines.

use crate::run::{answer, line, with_stdin};

#[test]
fn goals_that_cannot_be_are_refused_in_one_line() {
    let shape = "--hardware t4 -m 1 -n 4096 -k 4096";
    for (request, word) in [
        (format!("recommend {shape} --objective speed"), "latency, throughput, energy, memory"),
        (format!("recommend {shape} --phase both"), "prefill, decode, whole"),
        (format!("recommend {shape} --max-quality-loss -1"), "max_quality_loss must be from 0"),
        (format!("recommend {shape} --max-tpot-ms soon"), "`soon`"),
        (format!("recommend {shape} --memory-limit-gb 0"), "memory_limit_gb must be from"),
        ("recommend --hardware t4 -n 64 -k 64".into(), "m is missing"),
        ("recommend --hardware t5 -m 1 -n 64 -k 64".into(), "unknown hardware `t5`"),
        (format!("schedule {shape} --objective memory"), "exclude each other"),
        (format!("schedule {shape} --power-cap-w 0"), "power_cap_w must be from"),
        (format!("schedule {shape} --max-batch 0"), "max_batch must be from 1"),
        (
            "schedule --hardware tpu_v5e -m 1 -n 64 -k 64 --power-cap-w 50".into(),
            "power of tpu_v5e",
        ),
    ] {
        let ended = line(&request);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{request}");
        assert_eq!(ended.stderr.lines().count(), 1, "{request}: {}", ended.stderr);
        assert!(ended.stderr.contains(word), "{request}: {}", ended.stderr);
    }
}

#[test]
fn lines_are_answered_in_their_places() {
    let input = "{\"hardware\":\"b10\",\"m\":1,\"n\":4096,\"k\":4096}\n{\"hardware\":\"b10\"}\n";
    let found = with_stdin("recommend --jsonl", input.as_bytes()).stdout;
    let lines: Vec<serde_json::Value> =
        found.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["ranked"][0]["rank"], 1);
    assert!(lines[1]["error"].as_str().is_some_and(|error| error.contains("m is missing")));
}

#[test]
fn named_weights_are_found_in_the_ranking() {
    let found = answer("recommend --hardware gb10 -m 1 -n 4096 -k 4096 --weights int8");
    assert!(found.contains("the weights int8 that were named are first at rank"), "{found}");
}

#[test]
fn csv_has_a_line_for_each_ranked_scheme() {
    let csv = answer("recommend --hardware gb10 -m 1 -n 4096 -k 4096 -o csv");
    assert!(csv.lines().count() > 8, "{csv}");
    assert!(csv.lines().next().is_some_and(|head| head.contains("scheme")), "{csv}");
}
