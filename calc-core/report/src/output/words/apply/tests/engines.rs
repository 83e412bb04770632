//! Every command is of the engine that its scheme is timed with, and serves what a line before it made.

use super::*;
use crate::input::named_model::{NamedModel, is_half};
use calc_core::catalog::devices;
use calc_core::scheme::reads_cache;

/// Program in the serve command of each engine that has one.
const PROGRAMS: [(Engine, &str); 6] = [
    (Engine::Vllm, "vllm serve "),
    (Engine::Sglang, "python -m sglang.launch_server --model-path "),
    (Engine::TensorRtLlm, "trtllm-serve "),
    (Engine::ExLlamaV2, "python main.py --model-dir models --model-name "),
    (Engine::LlamaCpp, "llama-server "),
    (Engine::Ollama, "ollama run "),
];

fn program(engine: Engine) -> Option<&'static str> {
    PROGRAMS.iter().find(|(other, _)| *other == engine).map(|(_, program)| *program)
}

fn is_reason(text: &str) -> bool {
    text.starts_with("# ") && !text.contains('\n')
}

#[test]
fn commands_are_of_the_engine_that_is_timed() {
    let workload = Workload::new(4, 512);
    for device in devices::all() {
        for scheme in schemes::SCHEMES {
            let engines = Engine::ALL.iter().map(|(_, engine)| Some(*engine));
            for engine in engines.chain([None]) {
                let to = Deployment { engine, ..deployment(&device.key, &workload, REPOSITORIES) };
                let found = super::super::apply(scheme, &to);
                let case = format!("{} {} {engine:?}: {found:?}", device.key, scheme.key);
                assert!(engine.is_none_or(|engine| found.timed == engine), "{case}");
                assert!(engine.is_none() || found.serve.len() == 1, "{case}");
                let is_timed = found.serve.iter().position(|serve| serve.engine == found.timed);
                assert!(is_timed.is_none_or(|place| place == 0), "{case}");
                for serve in &found.serve {
                    assert!(engine.is_none_or(|engine| serve.engine == engine), "{case}");
                    let own = program(serve.engine);
                    let last = serve.text.lines().last().unwrap_or_default();
                    let is_served = own.is_some_and(|own| last.starts_with(own));
                    assert!(is_served || is_reason(&serve.text), "{case}");
                    for (_, other) in PROGRAMS.iter().filter(|(other, _)| *other != serve.engine) {
                        assert!(!serve.text.contains(other), "{case}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_a_command_serves_from_disk_was_made_by_a_line_before_it() {
    let speculation = Some(Speculation { draft_tokens: 4, acceptance: 0.7, own_layers: false });
    let drafts = Workload { speculation, ..Workload::new(1, 512) };
    let mut made = 0;
    for device in ["h100_sxm", "rtx_4090", "gb10", "apple_m4_max", "epyc_9654"] {
        for (scheme, workload) in schemes::SCHEMES
            .iter()
            .flat_map(|scheme| [(scheme, Workload::new(4, 512)), (scheme, drafts)])
        {
            let engines = Engine::ALL.iter().map(|(_, engine)| Some(*engine));
            for engine in engines.chain([None]) {
                let to = Deployment { engine, ..deployment(device, &workload, REPOSITORIES) };
                for serve in super::super::apply(scheme, &to).serve {
                    made += check_made(&serve.text);
                }
            }
        }
    }
    assert!(made > 100, "{made}");
}

/// Number of local files in the last line of commands, each of which an earlier line must name as its output.
fn check_made(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let Some((serve, before)) = lines.split_last() else { return 0 };
    let words: Vec<&str> = serve.split(' ').collect();
    let is_local = |word: &str| word.starts_with("./") || word.contains(".gguf");
    let model = words.iter().position(|word| *word == "--model-name").map(|at| words[at + 1]);
    let files = words.iter().copied().filter(|word| is_local(word)).chain(model);
    let mut found = 0;
    for file in files {
        let outputs = [
            "--outfile ",
            "-f16.gguf ",
            "--export_path ",
            "--local-dir models/",
            "output_dir=\"",
            "save_pretrained(\"models/",
        ];
        let is_output =
            |line: &&str| outputs.iter().any(|output| line.contains(&format!("{output}{file}")));
        assert!(before.iter().any(is_output), "{file} is made by no line:\n{text}");
        found += 1;
    }
    found
}

fn text(scheme: &str, engine: Engine, model: &str, workload: &Workload) -> String {
    let arch = &catalog::model(model).expect("catalog key").arch;
    let to = Deployment {
        served: Some((arch, workload)),
        engine: Some(engine),
        ..deployment("h100_sxm", workload, REPOSITORIES)
    };
    let found = super::super::apply(schemes::scheme(scheme).expect("a scheme"), &to);
    found.of(engine).expect("text").to_owned()
}

#[test]
fn quantized_weights_are_not_served_as_another_scheme() {
    let one = Workload::new(1, 512);
    let repositories = Repositories { has_half: false, ..REPOSITORIES };
    for scheme in schemes::SCHEMES.iter().filter(|scheme| scheme.key != "as_published") {
        for engine in Engine::ALL.map(|(_, engine)| Some(engine)).into_iter().chain([None]) {
            let to = Deployment { engine, ..deployment("h100_sxm", &one, repositories) };
            for serve in super::super::apply(scheme, &to).serve {
                let is_gguf = serve.text.contains("llama-quantize");
                assert!(is_gguf || is_reason(&serve.text), "{}: {serve:?}", scheme.key);
            }
        }
    }
    for (model, expected) in
        [("gpt-oss-20b", false), ("deepseek-v3", false), ("llama-3.1-8b", true)]
    {
        let model = catalog::model(model).expect("catalog key");
        assert_eq!(is_half(&model.stored.choice()), expected, "{}", model.key);
    }
}

#[test]
fn other_engines_have_their_own_options() {
    let two = Workload {
        parallel: Parallel { tensor: 2, ..Parallel::default() },
        ..Workload::new(8, 512)
    };
    let found = |scheme, engine| text(scheme, engine, "qwen3-8b", &two);
    assert_eq!(
        found("fp8_w8a8", Engine::Sglang),
        "python -m sglang.launch_server --model-path org/Model-8B --quantization fp8 --context-length 513 --max-running-requests 8 --tp 2"
    );
    assert_eq!(
        found("half", Engine::TensorRtLlm),
        "trtllm-serve org/Model-8B --max_seq_len 513 --max_batch_size 8 --tp_size 2"
    );
    let quantized = found("nvfp4_w4a4", Engine::TensorRtLlm);
    let line = "\npython hf_ptq.py --pyt_ckpt_path org/Model-8B --qformat nvfp4 --kv_cache_qformat none --export_path ./Model-8B-NVFP4\ntrtllm-serve ./Model-8B-NVFP4 ";
    assert!(quantized.contains(line), "{quantized}");
    let tabby = found("half", Engine::ExLlamaV2);
    let line = "--max-seq-len 513 --cache-size 4352 --max-batch-size 8 --tensor-parallel true";
    assert!(tabby.ends_with(line), "{tabby}");
    assert!(is_reason(&found("fp8_w8a8", Engine::ExLlamaV2)));
    assert!(found("int4_g128_gptq", Engine::ExLlamaV2).contains("--model-name Model-8B-GPTQ "));
    assert!(is_reason(&found("gguf_q4_k", Engine::Ollama)), "Ollama splits as it likes");
    let one = Workload::new(4, 512);
    assert_eq!(
        text("gguf_q4_k", Engine::Ollama, "qwen3-8b", &one),
        "python convert_hf_to_gguf.py --remote org/Model-8B --outtype f16 --outfile Model-8B-f16.gguf\n\
         llama-quantize Model-8B-f16.gguf Model-8B-Q4_K_M.gguf Q4_K_M\n\
         echo 'FROM ./Model-8B-Q4_K_M.gguf' > Modelfile\n\
         OLLAMA_CONTEXT_LENGTH=513 OLLAMA_NUM_PARALLEL=4 ollama serve &\n\
         ollama create model-8b-q4_k_m -f Modelfile\n\
         ollama run model-8b-q4_k_m"
    );
    for engine in [Engine::TensorRtEdgeLlm, Engine::GptFast, Engine::Mlc, Engine::IdealKernels] {
        assert!(is_reason(&text("half", engine, "qwen3-8b", &one)), "{engine:?}");
    }
}

#[test]
fn weights_that_do_not_fit_in_16_bits_are_quantized_before_they_are_served() {
    let split = |tensor| Workload {
        parallel: Parallel { tensor, ..Parallel::default() },
        ..Workload::new(1, 512)
    };
    for engine in [Engine::Vllm, Engine::Sglang] {
        let one = text("fp8_w8a8", engine, "llama-3.1-70b", &split(1));
        assert!(!one.contains("--quantization"), "{one}");
        assert!(
            one.starts_with("# the 16-bit weights (141\u{202f}GB) do not fit on this device"),
            "{one}"
        );
        assert!(
            one.contains(r#"scheme="FP8_DYNAMIC""#) && one.contains(" ./Model-8B-FP8-Dynamic "),
            "{one}"
        );
        let four = text("fp8_w8a8", engine, "llama-3.1-70b", &split(4));
        assert!(
            four.contains(" org/Model-8B --quantization fp8 ") && !four.contains('#'),
            "{four}"
        );
    }
    let small = text("fp8_w8a8", Engine::Vllm, "llama-3.1-8b", &split(1));
    assert!(small.starts_with("vllm serve org/Model-8B --quantization fp8 "), "{small}");
}

/// The ways of a scheme for a model by its name, with the named engine.
fn by_name(name: &str, scheme: &str, engine: Option<Engine>) -> Apply {
    let model = NamedModel::from_name(name).expect("a known name");
    let one = Workload::new(1, 512);
    let to = Deployment { engine, ..deployment("h100_sxm", &one, Repositories::of(&model, None)) };
    super::super::apply(schemes::scheme(scheme).expect("a scheme"), &to)
}

#[test]
fn a_tag_of_ollama_is_run_by_ollama_and_made_for_others() {
    let text = |scheme, engine| by_name("llama3.1:8b", scheme, Some(engine)).serve[0].text.clone();
    assert!(text("as_published", Engine::Ollama).ends_with("\nollama run llama3.1:8b"));
    let made = text("as_published", Engine::LlamaCpp);
    assert!(made.contains("--remote meta-llama/Llama-3.1-8B-Instruct "), "{made}");
    assert!(made.contains("llama-server -m Llama-3.1-8B-Instruct-Q4_K_M.gguf"), "{made}");
    let fp8 = text("fp8_w8a8", Engine::Vllm);
    assert!(
        fp8.starts_with("vllm serve meta-llama/Llama-3.1-8B-Instruct --quantization fp8"),
        "{fp8}"
    );
}

#[test]
fn a_gguf_repository_of_mxfp4_experts_is_served_by_llama_cpp_alone() {
    let served = by_name("ggml-org/gpt-oss-20b-GGUF", "as_published", None).serve;
    assert_eq!(served.len(), 1, "{served:?}");
    assert!(
        served[0].text.starts_with("llama-server -hf ggml-org/gpt-oss-20b-GGUF -c "),
        "{served:?}"
    );
}

#[test]
fn a_gguf_file_of_mxfp4_experts_keeps_them() {
    for (name, is_kept) in [("gpt-oss-20b", true), ("llama-3.1-8b", false)] {
        let ways = by_name(name, "gguf_q4_k", Some(Engine::LlamaCpp));
        let text = &ways.serve[0].text;
        assert!(text.contains("llama-quantize "), "{text}");
        assert_eq!(text.contains("llama-quantize --tensor-type exps=mxfp4 "), is_kept, "{text}");
    }
}

#[test]
fn a_scheme_that_no_tool_makes_from_quantized_weights_says_so() {
    let ways = by_name("gpt-oss-20b", "nvfp4_w4a4", Some(Engine::Vllm));
    assert!(ways.serve[0].text.contains("no command is known here that makes"), "{ways:?}");
    assert_eq!(ways.torchao, None);
    let nothing = by_name("gpt-oss-20b", "half", None);
    assert!(!nothing.serve.is_empty());
}

#[test]
fn vllm_is_not_asked_for_more_than_a_device_has() {
    let one = Workload::new(1, 512);
    let memory = Bytes::from_gb(85.8);
    let to = Deployment { memory, ..deployment("h100_sxm", &one, REPOSITORIES) };
    let ways = super::super::apply(schemes::scheme("half").expect("a scheme"), &to);
    assert!(
        ways.of(Engine::Vllm).is_some_and(|text| text.starts_with("# vLLM takes at most 97 %"))
    );
}

#[test]
fn commands_refuse_the_kv_caches_that_the_ranking_refuses() {
    let workload = Workload::new(1, 512);
    for (engine, scheme) in [
        (Engine::Vllm, "half"),
        (Engine::Sglang, "half"),
        (Engine::TensorRtLlm, "half"),
        (Engine::ExLlamaV2, "half"),
        (Engine::LlamaCpp, "gguf_q4_k"),
        (Engine::Ollama, "gguf_q4_k"),
    ] {
        let scheme = schemes::scheme(scheme).expect("a scheme");
        for format in calc_core::catalog::formats::FORMATS {
            let own = deployment("h100_sxm", &workload, REPOSITORIES);
            let to = Deployment { engine: Some(engine), kv_cache: Some(format), ..own };
            let found = super::super::apply(scheme, &to);
            let text = found.of(engine).expect("a command or a reason");
            let is_served = !is_reason(text);
            assert_eq!(is_served, reads_cache(engine, format), "{engine:?} {}: {text}", format.key);
        }
    }
}

#[test]
fn a_quantized_file_is_served_as_it_is_and_made_into_nothing_else() {
    let stored = PrecisionChoice::weights(catalog::format("gguf_q4_k").expect("catalog key"));
    let repositories = Repositories {
        model: "MODEL",
        published: "MODEL",
        stored: Some(stored),
        has_half: false,
        draft: None,
        file: Some("/models/own.gguf"),
        ..REPOSITORIES
    };
    let workload = Workload { new_tokens: 128, ..Workload::new(1, 512) };
    let to = deployment("rtx_4090", &workload, repositories);
    let told = |scheme: &str| {
        let scheme = schemes::scheme(scheme).expect("a scheme");
        apply(scheme, &to).llama_cpp.expect("a line")
    };
    let own = told("as_published");
    assert!(own.starts_with("llama-server -m /models/own.gguf -c "), "{own}");
    let other = told("gguf_q5_k");
    assert!(other.starts_with("# llama.cpp: /models/own.gguf is quantized already"), "{other}");
    assert!(!other.contains("llama-quantize"), "{other}");
}

#[test]
fn devices_that_are_machines_of_their_own_are_joined_first() {
    let spark = |tensor, pipeline| {
        let parallel = Parallel { tensor, pipeline: Pipeline::of(pipeline), expert: 1 };
        Workload { parallel, ..Workload::new(1, 512) }
    };
    let (tensors, layers) = (spark(2, 1), spark(1, 2));
    let told = |workload, scheme: &str| {
        let to = deployment("gb10", workload, Repositories { draft: None, ..REPOSITORIES });
        apply(schemes::scheme(scheme).expect("a scheme"), &to)
    };
    let vllm = told(&tensors, "half").vllm.expect("a line");
    assert!(vllm.contains("ray start --head") && vllm.ends_with("-backend ray"), "{vllm}");
    let split = told(&tensors, "gguf_q4_k").llama_cpp.expect("a reason");
    assert!(split.contains("matrices over the devices of one machine only"), "{split}");
    let staged = told(&layers, "gguf_q4_k").llama_cpp.expect("a line");
    assert!(staged.contains("rpc-server") && staged.contains(" --rpc ADDRESS1:50052"), "{staged}");
    let cards = deployment("rtx_3090", &tensors, Repositories { draft: None, ..REPOSITORIES });
    let one = apply(schemes::scheme("half").expect("a scheme"), &cards);
    assert!(!one.vllm.expect("a line").contains("ray"), "two cards are in one machine");
    for device in ["mi300a", "epyc_9654"] {
        let sockets = deployment(device, &tensors, Repositories { draft: None, ..REPOSITORIES });
        let told = apply(schemes::scheme("half").expect("a scheme"), &sockets);
        assert!(!told.vllm.expect("a line").contains("ray"), "{device}: sockets of one board");
        let llama_cpp = told.llama_cpp.filter(|_| device == "mi300a");
        assert!(llama_cpp.is_none_or(|line| line.contains("--split-mode tensor")), "{device}");
    }
}
