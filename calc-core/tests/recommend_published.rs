//! Where the adviser ranks a model in the formats in which it is published.

#[path = "tasks/answers.rs"]
mod answers;
mod tasks;

use answers::{answer, device, ranked};
use calc_core::recommend::{Ranked, RankedPart};
use calc_core::workload::Workload;
use tasks::model_task;

/// The best of all, NVFP4 on vLLM, decided with whom as published was compared: not with the GGUF file that came first.
#[test]
fn as_published_is_not_beaten_by_another_file_of_its_engine_of_the_same_speed() {
    for prompt in [32, 512, 2048] {
        let workload = Workload { new_tokens: 128, ..Workload::new(1, prompt) };
        let task = model_task(device("gb10"), "gpt-oss-120b", workload);
        let answer = answer(&task, RankedPart::Whole);
        let first = &answer.ranked[0];
        assert_eq!(first.scheme.key, "as_published", "{prompt}: {:?}", answer.first_by);
    }
}

/// llama.cpp's file of gpt-oss keeps the experts in MXFP4 and has the rest in Q8_0: the file as published.
#[test]
fn one_file_has_one_loss_and_on_one_engine_one_row() {
    let workload = Workload { new_tokens: 256, ..Workload::new(1, 2048) };
    for (key, rows) in [("gb10", 1), ("h100_sxm", 2)] {
        let answer = answer(&model_task(device(key), "gpt-oss-120b", workload), RankedPart::Whole);
        let is_file = |row: &&Ranked| ["as_published", "gguf_q8_0"].contains(&row.scheme.key);
        let files: Vec<_> = answer.ranked.iter().filter(is_file).collect();
        let engines: Vec<_> = files.iter().map(|row| row.standing.engine).collect();
        assert_eq!(files.len(), rows, "{key}: {engines:?}");
        assert!(files.iter().all(|row| row.quality.high <= 0.0), "{key}");
        assert!(is_file(&&answer.ranked[0]), "{key}: {}", answer.ranked[0].scheme.key);
    }
}

/// The padding of NVIDIA's tiles made each token of GGUF experts wait for arithmetic, and 16 bits in 3 times the memory first.
#[test]
fn experts_as_published_are_not_slower_than_16_bits_on_metal() {
    let workload = Workload { new_tokens: 256, ..Workload::new(1, 2048) };
    for key in ["apple_m4_max", "apple_m2_ultra"] {
        let answer = answer(&model_task(device(key), "gpt-oss-20b", workload), RankedPart::Whole);
        let (own, half) = (ranked(&answer, "as_published"), &answer.baseline);
        // llama.cpp generates about 100 token/s on M4 Max and more.
        let token = own.outcome.token.expected;
        assert!(token.time * 1.3 < half.token.expected.time, "{key}: {token:?}");
        assert_eq!(answer.ranked[0].scheme.key, "as_published", "{key}");
    }
}
