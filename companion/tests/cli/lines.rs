//! Requests line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use crate::run::{Ends, answer, model_file, program, run, with_stdin};

const GOOD: &str = r#"{"hardware":"t4","m":1,"n":4096,"k":4096,"weights":"fp16"}"#;

fn answers(words: &str, input: &str) -> Vec<Value> {
    let ended = with_stdin(words, input.as_bytes());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    ended.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn malformed_lines_are_answered_in_their_place() {
    let too_long = format!("{{\"x\":\"{}\"}}", "y".repeat(1_100_000));
    let lines = [
        (GOOD, None),
        ("", Some("not a JSON object")),
        ("{\"hardware\":\"t4\"", Some("not a JSON object")),
        ("[1,2]", Some("not a JSON object")),
        (r#"{"hardware":"h10","m":1,"n":1,"k":1,"weights":"fp16"}"#, Some("did you mean h100")),
        (r#"{"hardware":"t4","m":0,"n":1,"k":1,"weights":"fp16"}"#, Some("m must be from 1 to")),
        (
            r#"{"hardware":"t4","m":1.5,"n":1,"k":1,"weights":"fp16"}"#,
            Some("m must be a whole number"),
        ),
        (
            r#"{"hardware":"t4","m":1,"n":1,"k":1,"weights":"fp16","colour":1}"#,
            Some("unknown field `colour`"),
        ),
        (r#"{"hardware":5,"m":1,"n":1,"k":1,"weights":"fp16"}"#, Some("hardware must be a name")),
        (r#"{"m":1}"#, Some("hardware is missing")),
        (
            r#"{"hardware":"t4","m":1,"n":1,"k":1,"weights":"fp16","m":8}"#,
            Some("not a JSON object: `m` is given twice at line 1 column"),
        ),
        (too_long.as_str(), Some("longer than 1000000")),
        (GOOD, None),
    ];
    let input: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
    let found = answers("analyze --jsonl", &input);
    assert_eq!(found.len(), lines.len());
    for ((line, error), answer) in lines.iter().zip(&found) {
        match error {
            None => assert!(
                answer["error"].is_null() && answer["ideal_s"].is_number(),
                "{line}: {answer}"
            ),
            Some(expected) => {
                assert!(
                    answer["error"].as_str().is_some_and(|error| error.contains(expected)),
                    "{line:.90}: {answer}"
                );
                assert_eq!(answer.as_object().map(serde_json::Map::len), Some(1));
            }
        }
    }
}

#[test]
fn a_line_gets_the_same_answer_as_flags() {
    let flags = answer("analyze --hardware t4 -m 1 -n 4096 -k 4096 --weights fp16 -o jsonl");
    assert_eq!(
        with_stdin("analyze --jsonl", GOOD.as_bytes()).stdout,
        flags,
        "also without a line end"
    );
    let rest = br#"{"m":1,"k":4096}"#;
    let filled =
        with_stdin("analyze --jsonl --hardware t4 -n 4096 -k 1 --weights fp16 -o jsonl", rest);
    assert_eq!(
        filled.stdout, flags,
        "flags fill what the line leaves out, and the line has the last word"
    );
}

#[test]
fn files_are_read_for_lines_too() {
    let line =
        format!("{{\"hardware\":\"l4\",\"model\":{:?},\"batch\":1,\"prompt\":64}}\n", model_file());
    let found = answers("estimate --jsonl", &line.repeat(3));
    assert_eq!(found[0]["precision"]["weights"], "bf16");
    assert_eq!(found[0], found[2]);
}

#[test]
fn numbers_are_read_alike_from_flags_and_lines() {
    let estimate = "estimate --hardware h100 --model llama-3.1-8b";
    let from_flags: Value = serde_json::from_str(&answer(&format!(
        "{estimate} --batch 1_0 --prompt 8k --context 128k --new-tokens 1e3 --weight-gb 1.6e1 -o json"
    )))
    .expect("JSON");
    let workload = &from_flags["workload"];
    for (key, taken) in
        [("batch", 10), ("prompt", 8192), ("context", 131_072), ("new_tokens", 1000)]
    {
        assert_eq!(workload[key], taken, "{key}");
    }
    let line =
        r#"{"batch":"10","prompt":"8,192","context":"128K","new_tokens":1e3,"weight_gb":16}"#;
    assert_eq!(answers(&format!("{estimate} --jsonl"), line), [from_flags]);
    let sweep = "sweep --hardware h100 --model llama-3.1-8b --batch 1 --prompt 1k..8kx2 -o jsonl";
    let rows: Vec<Value> =
        answer(sweep).lines().map(|row| serde_json::from_str(row).expect("JSON")).collect();
    let prompts: Vec<u64> = rows.iter().filter_map(|row| row["prompt"].as_u64()).collect();
    assert_eq!(prompts, [1024, 2048, 4096, 8192]);
    for (prompt, said) in [
        ("1.5", "prompt must be a whole number; got 1.5"),
        ("8kB", "prompt must be a number; got `8kB`; write the number alone"),
        ("1.5 tokens", "write the number alone, such as 4096, 8k or 1e6"),
        ("0.3k", "prompt must be a whole number; got 0.3k"),
        ("1e30", "prompt must be from 1 to"),
    ] {
        let ended = run(estimate.split(' ').chain(["--batch", "1", "--prompt", prompt]));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{prompt}");
        assert!(ended.stderr.contains(said), "{prompt}: {}", ended.stderr);
    }
}

#[test]
fn other_output_forms_are_refused() {
    let ended = with_stdin("analyze --jsonl -o csv", b"");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
}

#[test]
fn an_answer_comes_before_the_next_question() {
    let mut child = Ends(
        program()
            .args(["analyze", "--jsonl"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts"),
    );
    let mut stdin = child.0.stdin.take().expect("piped");
    let mut stdout = BufReader::new(child.0.stdout.take().expect("piped"));
    for _ in 0..2 {
        writeln!(stdin, "{GOOD}").expect("it reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it answers while stdin stays open");
        assert!(line.contains("ideal_s"));
    }
}

#[test]
fn claims_are_checked_line_by_line() {
    let input = concat!(
        r#"{"hardware":"t4","m":1,"n":4096,"k":4096,"weights":"fp16","time_us":50}"#,
        "\n",
        r#"{"hardware":"t4","m":1,"n":4096,"k":4096,"weights":"fp16"}"#,
        "\n",
        r#"{"hardware":"t4","model":"llama-3.1-8b","weights":"int8","prompt":64,"tokens_per_s":20,"per_user":true}"#,
        "\n",
        r#"{"hardware":"t4","m":1,"n":4096,"k":4096,"weights":"fp16","time_us":50,"tme":1}"#,
    );
    let found = answers("check --jsonl", input);
    let verdicts: Vec<Option<&str>> = found.iter().map(|it| it["verdict"].as_str()).collect();
    assert_eq!(verdicts, [Some("above the roof"), None, Some("possible"), None]);
    for (index, expected) in
        [(1, "tokens_per_s, time_us or seconds is missing"), (3, "did you mean m, time_us")]
    {
        let error = found[index]["error"].as_str().expect("an error");
        assert!(error.contains(expected), "{error}");
    }
    assert!(found[0]["share"]["of_datasheet"].as_f64().is_some_and(|share| share > 2.0));
    let explained = found[0]["explanations"].as_array().expect("a list");
    assert!(explained.iter().all(|it| it["kind"].is_string() && it["text"].is_string()));
}
