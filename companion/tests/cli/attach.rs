//! `attach`: engines are told apart, rates are compared with the model, and servers that fail get a sentence. The servers are
//! sockets of the test that answer from the fixtures of the readers' own tests.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::run::{Ends, Folder, answer, line, program, run};
use crate::weight_files::small_gguf;

/// Answers raw bytes to a path; the number says how often this path was asked before.
type Answers = dyn Fn(&str, usize) -> Vec<u8> + Send + Sync;

/// A server for the rest of the test; returns its address.
pub(crate) fn server(answers: impl Fn(&str, usize) -> Vec<u8> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("bound"));
    let answers: Arc<Answers> = Arc::new(answers);
    let metrics = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (answers, metrics) = (Arc::clone(&answers), Arc::clone(&metrics));
            thread::spawn(move || serve(&stream, &*answers, &metrics));
        }
    });
    address
}

/// Answers one request. Nothing but GET may arrive, and no body.
fn serve(mut stream: &TcpStream, answers: &Answers, asked: &AtomicUsize) {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().and_then(Result::ok).unwrap_or_default();
    let mut words = first.split(' ');
    assert_eq!(words.next(), Some("GET"), "{first}");
    let path = words.next().unwrap_or_default().to_owned();
    for header in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        let name = header.split(':').next().unwrap_or_default().to_lowercase();
        assert!(["host", "connection"].contains(&name.as_str()), "{header}");
    }
    let count = match path.as_str() {
        "/metrics" | "/slots" => asked.fetch_add(1, Ordering::SeqCst),
        _ => 0,
    };
    // The client may have left, which some tests want.
    let _ = stream.write_all(&answers(&path, count));
}

fn http(status: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn ok(body: &str) -> Vec<u8> {
    http("200 OK", body)
}

fn not_found() -> Vec<u8> {
    http("404 Not Found", r#"{"detail":"Not Found"}"#)
}

/// llama-server; its metrics are asked twice for a reading, its slots once.
fn llama_cpp(path: &str, asked: usize) -> Vec<u8> {
    let second = asked >= 3;
    ok(match path {
        "/props" => include_str!("../attach/llama_cpp/props.json"),
        "/v1/models" => include_str!("../attach/llama_cpp/models.json"),
        "/slots" if second => include_str!("../attach/llama_cpp/slots-2.json"),
        "/slots" => include_str!("../attach/llama_cpp/slots-1.json"),
        "/metrics" if second => include_str!("../attach/llama_cpp/metrics-2.txt"),
        "/metrics" => include_str!("../attach/llama_cpp/metrics-1.txt"),
        _ => return not_found(),
    })
}

pub(crate) fn vllm(path: &str, asked: usize) -> Vec<u8> {
    match path {
        "/version" => ok(r#"{"version":"0.11.0"}"#),
        "/v1/models" => ok(include_str!("../attach/vllm/models.json")),
        // In chunks, as servers in Python send them.
        "/metrics" => {
            let text = [
                include_str!("../attach/vllm/metrics-1.txt"),
                include_str!("../attach/vllm/metrics-2.txt"),
            ][asked.min(1)];
            let (a, b) = text.split_at(1000);
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            let chunks = format!("{:x}\r\n{a}\r\n{:x}\r\n{b}\r\n0\r\n\r\n", a.len(), b.len());
            format!("{head}{chunks}").into_bytes()
        }
        _ => not_found(),
    }
}

fn sglang(path: &str, _: usize) -> Vec<u8> {
    ok(match path {
        "/get_model_info" => r#"{"model_path":"Qwen/Qwen3-32B","is_generation":true}"#,
        "/get_server_info" => r#"{"version":"0.5.3","tp_size":2}"#,
        "/metrics" => include_str!("../attach/sglang/metrics.txt"),
        _ => return not_found(),
    })
}

fn json(words: &str) -> Value {
    serde_json::from_str(&answer(&format!("{words} --interval 200ms -o json"))).expect("JSON")
}

#[test]
fn llama_cpp_is_read_by_counters_and_slots() {
    let url = server(llama_cpp);
    let value = json(&format!("attach {url}"));
    assert_eq!((&value["engine"], &value["schema"]), (&"llama.cpp".into(), &1.into()));
    assert_eq!(value["model"]["name"], "r.gguf");
    let of = |key: &str| value["live"][key].as_f64().unwrap_or_else(|| panic!("{key}: {value}"));
    // 180 tokens between the readings.
    assert!((of("token_per_s") * of("interval_s") - 180.0).abs() < 1e-6, "{value}");
    assert!((0.2..20.0).contains(&of("interval_s")), "{value}");
    assert_eq!((of("running"), of("context_token"), of("prompt_token_per_s")), (2.0, 129.0, 0.0));
    assert_eq!(value["compared"], Value::Null);
    assert!(value["notes"].to_string().contains("no --hardware"), "{value}");
    // The file is not here, and no catalog has the model.
    let text =
        answer(&format!("attach {} --hardware rtx_4090 --interval 200ms", server(llama_cpp)));
    assert!(text.contains("neither a file that can be read here nor in the catalog"), "{text}");
    let text = answer(&format!(
        "attach {} --hardware rtx_4090 --model llama-3.1-8b --interval 200ms",
        server(llama_cpp)
    ));
    assert!(text.contains("does not serve this model: its model has 143"), "{text}");
}

#[test]
fn a_mode_that_saves_power_is_noted_for_a_server_of_this_machine() {
    let machine = Folder::new();
    machine.file("machine/sys/firmware/acpi/platform_profile", "low-power\n");
    let hooks = serde_json::json!({ "sensors": machine.path("machine") }).to_string();
    let (here, elsewhere) = (server(llama_cpp), server(llama_cpp));
    let noted = |url: &str| {
        let mut program = program();
        program.env("RIDGEPOINT_TEST_HOOKS", &hooks);
        program.args(["attach", url, "--interval", "200ms", "-o", "json"]);
        let ended = program.output().expect("the binary starts");
        let value: Value = serde_json::from_slice(&ended.stdout).expect("JSON");
        value["notes"].to_string()
    };
    let notes = noted(&here);
    assert!(notes.contains("this machine saves power (power mode low-power)"), "{notes}");
    // An address that is not known to be this machine's is another machine.
    let notes = noted(&elsewhere.replace("127.0.0.1", "0.0.0.0"));
    assert!(notes.contains("no --hardware") && !notes.contains("saves power"), "{notes}");
}

#[test]
fn a_named_file_that_is_here_is_the_model() {
    let folder = Folder::new();
    let path = small_gguf(&folder);
    let props = include_str!("../attach/llama_cpp/props.json").replace("models/r.gguf", &path);
    let url = server(move |path, asked| match path {
        "/props" => ok(&props),
        "/metrics" => http("501 Not Implemented", r#"{"error":{"code":501}}"#),
        _ => llama_cpp(path, usize::from(asked >= 3) * 3),
    });
    let value = json(&format!("attach {url} --hardware rtx_4090"));
    let notes = value["notes"].to_string();
    assert!(notes.contains("the model is the file that the server names"), "{value}");
    assert!(notes.contains("start llama-server with --metrics"), "{value}");
}

#[test]
fn a_request_that_ends_while_llama_cpp_is_read_counts_once() {
    // After the slots of the second reading one request ends with 154 tokens; the slots that are asked again have the other one.
    let url = server(|path, asked| {
        let (one, ended) = (asked >= 5, "tokens_predicted_total 154");
        let text = |body: &str| ok(&body.replace("tokens_predicted_total 0", ended));
        match path {
            "/metrics" if one => text(include_str!("../attach/llama_cpp/metrics-2.txt")),
            "/slots" if one => ok(
                r#"[{"id":0,"id_task":3,"is_processing":true,"n_ctx":1024,"n_prompt_tokens":168,"next_token":[{"n_decoded":155}]}]"#,
            ),
            _ => llama_cpp(path, asked),
        }
    });
    let live = &json(&format!("attach {url}"))["live"];
    let tokens =
        live["token_per_s"].as_f64().expect("a rate") * live["interval_s"].as_f64().expect("s");
    assert!((tokens - (154.0 + 155.0 - 126.0)).abs() < 1e-6, "{live}");
    assert_eq!((&live["running_before"], &live["running"]), (&2.into(), &1.into()));
}

#[test]
fn vllm_is_compared_at_its_batch_and_context() {
    let value = json(&format!("attach {} --hardware h100", server(vllm)));
    assert_eq!((&value["engine"], &value["version"]), (&"vllm".into(), &"0.11.0".into()));
    let compared = &value["compared"];
    assert_eq!((&compared["batch"], &compared["context"]), (&32.into(), &1100.into()));
    let of = |key: &str| compared[key].as_f64().unwrap_or_else(|| panic!("{key}: {value}"));
    let (low, expected, high) = (
        of("expected_low_token_per_s"),
        of("expected_token_per_s"),
        of("expected_high_token_per_s"),
    );
    assert!(low < expected && expected < high && high < of("ideal_token_per_s"), "{value}");
    let rate = value["live"]["token_per_s"].as_f64().expect("a rate");
    assert!((of("of_expected") - rate / expected).abs() < 1e-9, "{value}");
    assert!((0.0..9.0).contains(&of("mbu")), "{value}");
    assert_eq!(compared["check"]["subject"]["batch"], 32);
    let notes = value["notes"].to_string();
    assert!(notes.contains("210 of 300 drafted tokens were accepted"), "{notes}");
    assert!(notes.contains("prompts were read between the two readings"), "{notes}");
    let text = answer(&format!("attach {} --hardware h100 --interval 1s", server(vllm)));
    for part in ["vLLM 0.11.0 at http://", "serves assistant", "MBU", "Possible explanations"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = answer(&format!(
        "attach {} --hardware h100 --model qwen3-32b --interval 200ms",
        server(vllm)
    ));
    assert!(text.contains("it serves meta-llama/Llama-3.1-8B-Instruct (Llama-3.1 8B)"), "{text}");
}

#[test]
fn vllm_with_a_key_still_tells_its_counters() {
    let url = server(|path, asked| match path {
        "/v1/models" => http("401 Unauthorized", r#"{"error":"Unauthorized"}"#),
        _ => vllm(path, asked.saturating_sub(1)),
    });
    let value = json(&format!("attach {url} --hardware h100 --model llama-3.1-8b"));
    assert_eq!((&value["engine"], &value["model"]["name"]), (&"vllm".into(), &Value::Null));
    assert_eq!(value["compared"]["batch"], 32);
}

#[test]
fn sglang_tells_its_split() {
    let value = json(&format!("attach {} --hardware h100", server(sglang)));
    assert_eq!((&value["engine"], &value["tensor_parallel"]), (&"sglang".into(), &2.into()));
    assert_eq!(value["live"]["token_per_s"], 1184.5);
    assert_eq!(
        (&value["compared"]["batch"], &value["compared"]["context"]),
        (&16.into(), &1024.into())
    );
}

#[test]
fn watching_appends_lines_until_ctrl_c_and_survives_a_restart_of_the_server() {
    // The counters rise, fall, and rise again.
    let url = server(|path, asked| match path {
        "/metrics" => ok(&format!(
            "vllm:generation_tokens_total {}\nvllm:num_requests_running 1\n",
            [100, 200, 7, 107, 207][asked.min(4)]
        )),
        _ => vllm(path, asked),
    });
    let words = ["attach", &url, "--watch", "--interval", "200ms", "-o", "jsonl"];
    let mut child =
        Ends(program().args(words).stdout(Stdio::piped()).spawn().expect("the binary starts"));
    let lines = BufReader::new(child.0.stdout.take().expect("piped")).lines();
    let rates: Vec<(bool, bool)> = lines
        .take(3)
        .map(|line| {
            let value: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
            let rate = value["live"]["token_per_s"].as_f64();
            (
                rate.is_some_and(|rate| rate > 0.0),
                value["notes"].to_string().contains("started anew"),
            )
        })
        .collect();
    assert_eq!(rates, [(true, false), (false, true), (true, false)]);
    kill_process(Pid::from_child(&child.0), Signal::INT).expect("it runs");
    assert_eq!(child.0.wait().expect("it ends").code(), Some(0));
}

#[test]
fn servers_that_fail_get_a_sentence() {
    let refused = TcpListener::bind("127.0.0.1:0").expect("a port");
    let free = format!("http://{}", refused.local_addr().expect("bound"));
    drop(refused);
    let cases: Vec<(String, &str)> = vec![
        (free, "nothing answers at this port"),
        // A label of 64 letters is refused before anybody on the network is asked.
        (format!("http://{}:8080", "a".repeat(64)), "the host is not known here"),
        (server(|_, _| ok("<html>hello</html>")), "neither llama-server nor vLLM nor SGLang"),
        (server(|_, _| not_found()), "neither llama-server nor vLLM nor SGLang"),
        (server(|_, _| b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()), "the answer is not HTTP"),
        (server(|_, _| Vec::new()), "closed before an answer"),
        (
            server(|_, _| b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"data\":".to_vec()),
            "the answer stopped midway",
        ),
        (
            server(|_, _| {
                b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
                    .to_vec()
            }),
            "does not follow",
        ),
        (server(|_, _| http("401 Unauthorized", "{}")), "the server asks for a key (HTTP 401)"),
        (server(|_, _| http("503 Service Unavailable", "{}")), "perhaps it still loads its model"),
        (
            server(|path, asked| match path {
                "/metrics" => {
                    let mut bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n".to_vec();
                    bytes.resize(9 << 20, b'\n');
                    bytes
                }
                _ => vllm(path, asked),
            }),
            "the answer is longer than the 8388608 bytes",
        ),
        // The engine vanishes after it was recognized.
        (
            server(|path, asked| match path {
                "/metrics" if asked > 0 => Vec::new(),
                _ => vllm(path, asked),
            }),
            "/metrics: the connection was closed before an answer",
        ),
    ];
    for (url, expected) in cases {
        let ended = line(&format!("attach {url} --interval 200ms"));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{expected}");
        assert!(ended.stderr.contains(expected), "{expected}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    }
}

#[test]
fn hostile_answers_are_no_numbers() {
    let deep = "[".repeat(100_000);
    for metrics in [
        "vllm:generation_tokens_total NaN\nvllm:num_requests_running -3\n",
        "vllm:generation_tokens_total +Inf\nvllm:num_requests_running 1e999\n",
        "vllm:num_requests_running{",
        "vllm:a \u{1b}[2J 1\n",
    ] {
        let url = server(move |path, asked| match path {
            "/metrics" => ok(metrics),
            _ => vllm(path, asked),
        });
        let value = json(&format!("attach {url} --hardware h100"));
        assert_eq!(
            (&value["live"]["token_per_s"], &value["compared"]),
            (&Value::Null, &Value::Null)
        );
        assert!(value["notes"].to_string().contains("nothing is compared"), "{value}");
    }
    let url = server(move |path, asked| match path {
        "/slots" => ok(&deep),
        "/props" => ok(
            r#"{"total_slots":1,"default_generation_settings":{},"model_alias":"\u001b[2Jx","model_path":"/dev/zero.gguf"}"#,
        ),
        _ => llama_cpp(path, asked),
    });
    let text = answer(&format!("attach {url} --interval 200ms"));
    assert!(!text.contains('\u{1b}') && text.contains("start llama-server with --slots"), "{text}");
}

#[test]
fn wrong_flags_are_refused_before_the_server_is_asked() {
    for (words, expected) in [
        (vec!["attach"], "<URL>"),
        (vec!["attach", "https://127.0.0.1:8080"], "https is not spoken here"),
        (vec!["attach", "127.0.0.1:8080"], "the address of a server is http://"),
        (vec!["attach", ""], "the address of a server is http://"),
        (vec!["attach", "http://127.0.0.1:8080/v1"], "use http://127.0.0.1:8080 instead"),
        (vec!["attach", "http://127.0.0.1:1", "--interval", "1ms"], "from 200 ms to 3600 s"),
        (vec!["attach", "http://127.0.0.1:1", "--watch", "-o", "csv"], "--watch writes a table"),
    ] {
        let ended = run(&words);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words:?}");
        assert!(ended.stderr.contains(expected), "{words:?}: {}", ended.stderr);
    }
    let ended = line(&format!("attach {} --hardware h101", server(vllm)));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("h101"), "{}", ended.stderr);
}
