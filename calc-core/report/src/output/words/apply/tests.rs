//! Commands for schemes, devices, splits and names.

mod engines;

use super::*;
use calc_core::catalog::{self, schemes};
use calc_core::parallel::{Parallel, Pipeline};
use calc_core::scheme::Kernels;
use calc_core::workload::Speculation;

const REPOSITORIES: Repositories<'_> = Repositories {
    tag: None,
    model: "org/Model-8B",
    published: "org/Model-8B",
    stored: None,
    has_half: true,
    draft: Some("org/Model-1B"),
    file: None,
};

fn deployment<'a>(
    device: &str,
    workload: &'a Workload,
    repositories: Repositories<'a>,
) -> Deployment<'a> {
    Deployment {
        repositories,
        device: catalog::device(device).expect("catalog key"),
        served: Some((&catalog::model("qwen3-8b").expect("catalog key").arch, workload)),
        kv_cache: None,
        memory: Bytes::from_gb(3.0),
        limit: None,
        engine: None,
        placement: None,
    }
}

/// Commands of the two engines that a request without an engine is answered for.
struct Ways {
    torchao: Option<Torchao>,
    vllm: Option<String>,
    llama_cpp: Option<String>,
}

fn apply(scheme: &Scheme, to: &Deployment<'_>) -> Ways {
    let found = super::apply(scheme, to);
    let text = |engine| found.of(engine).map(str::to_owned);
    Ways { torchao: found.torchao, vllm: text(Engine::Vllm), llama_cpp: text(Engine::LlamaCpp) }
}

fn ways(scheme: &str, device: &str, workload: &Workload, kv: Option<&str>) -> Ways {
    let kv_cache = kv.map(|key| catalog::format(key).expect("catalog key"));
    let to = Deployment { kv_cache, ..deployment(device, workload, REPOSITORIES) };
    apply(schemes::scheme(scheme).expect("a scheme"), &to)
}

fn split(tensor: u64, pipeline: u64, expert: u64) -> Workload {
    let pipeline = Pipeline::of(pipeline);
    Workload { parallel: Parallel { tensor, pipeline, expert }, ..Workload::new(4, 512) }
}

#[test]
fn every_scheme_that_torch_or_llama_runs_has_a_way() {
    for scheme in schemes::SCHEMES {
        let ways = ways(scheme.key, "h100_sxm", &Workload::new(4, 512), None);
        let any = ways.torchao.is_some() || ways.vllm.is_some() || ways.llama_cpp.is_some();
        // bitsandbytes quantizes to plain NF4 while it loads a model; torchao quantizes the scales, too.
        assert!(any || scheme.key == "nf4", "{}", scheme.key);
        let gguf = scheme.kernels() == Kernels::LlamaCpp;
        assert_eq!(gguf, ways.llama_cpp.is_some_and(|text| text.contains("llama-quantize")));
    }
}

#[test]
fn commands_carry_the_workload() {
    let four = Workload::new(4, 512);
    let text = ways("gguf_q4_k", "h100_sxm", &four, None).llama_cpp.expect("text");
    assert_eq!(
        text,
        "python convert_hf_to_gguf.py --remote org/Model-8B --outtype f16 --outfile Model-8B-f16.gguf\n\
         llama-quantize Model-8B-f16.gguf Model-8B-Q4_K_M.gguf Q4_K_M\n\
         llama-server -m Model-8B-Q4_K_M.gguf -c 2052 -np 4 -ngl 37"
    );
    let text = ways("fp8_w8a8", "h100_sxm", &four, None).vllm.expect("text");
    assert!(text.contains("--quantization fp8 --max-model-len 513 --max-num-seqs 4"), "{text}");
}

#[test]
fn a_context_beyond_the_model_has_no_command() {
    let long = Workload { context: 131_072, ..Workload::new(2, 512) };
    let ways = ways("half", "h100_sxm", &long, None);
    let reason = "at most 40\u{202f}960 tokens of this model, and 131\u{202f}072 are asked";
    for text in [ways.llama_cpp.expect("text"), ways.vllm.expect("text")] {
        assert!(text.starts_with('#') && text.contains(reason), "{text}");
    }
    let full = Workload { context: 40_960, ..Workload::new(1, 512) };
    let vllm = self::ways("half", "h100_sxm", &full, None).vllm;
    assert!(vllm.is_some_and(|text| text.contains("--max-model-len 40960 ")));
}

#[test]
fn names_from_links_stay_words_of_the_command() {
    for (name, word) in [
        ("org/Model-8B", "org/Model-8B"),
        ("my models/a", "'my models/a'"),
        ("$(reboot)", "'$(reboot)'"),
        ("a'; b", r"'a'\''; b'"),
        ("--trust-remote-code", "'./--trust-remote-code'"),
        ("a\nreboot", "MODEL"),
    ] {
        assert_eq!(argument(name), word);
    }
    let one = Workload::new(1, 512);
    let repositories = Repositories {
        model: "x/$(reboot)",
        published: "`reboot`",
        draft: Some("; reboot"),
        ..REPOSITORIES
    };
    for scheme in ["half", "as_published", "fp8_w8a8", "int8_w8a16", "gguf_q4_k"] {
        let to = deployment("h100_sxm", &one, repositories);
        let ways = apply(schemes::scheme(scheme).expect("a scheme"), &to);
        for text in [ways.vllm, ways.llama_cpp].into_iter().flatten() {
            let unquoted: String = text.split('\'').step_by(2).collect();
            assert!(!unquoted.contains(['$', '`', ';', '(']), "{text}");
        }
    }
}

#[test]
fn commands_name_the_draft_model() {
    let speculation = Some(Speculation { draft_tokens: 4, acceptance: 0.7, own_layers: false });
    let drafts = Workload { speculation, ..Workload::new(1, 512) };
    let found = ways("half", "h100_sxm", &drafts, None);
    let vllm = "--speculative-config '{\"model\": \"org/Model-1B\", \"num_speculative_tokens\": 4, \"method\": \"draft_model\"}'";
    assert!(found.vllm.is_some_and(|text| text.contains(vllm)));
    let llama_cpp = "-md Model-1B-f16.gguf --spec-draft-n-max 4";
    assert!(found.llama_cpp.is_some_and(|text| text.contains(llama_cpp)));
    let without = ways("half", "h100_sxm", &Workload::new(1, 512), None);
    assert!(without.vllm.is_some_and(|text| !text.contains("Model-1B")));
}

#[test]
fn published_formats_are_served_from_their_own_repository() {
    let one = Workload::new(1, 512);
    let published = |id, format| {
        let stored = Some(catalog::format(format).expect("catalog key"));
        let repositories = Repositories {
            published: id,
            stored: stored.map(PrecisionChoice::weights),
            ..REPOSITORIES
        };
        let to = deployment("h100_sxm", &one, repositories);
        apply(schemes::scheme("as_published").expect("a scheme"), &to)
    };
    let awq = published("org/Model-8B-AWQ", "awq");
    assert!(awq.vllm.is_some_and(|text| text.starts_with("vllm serve org/Model-8B-AWQ ")));
    assert_eq!(awq.llama_cpp, None);
    let gguf = published("org/Model-8B-GGUF", "q4_k_m");
    let command = "llama-server -hf org/Model-8B-GGUF:Q4_K_M -c 513 ";
    assert!(gguf.llama_cpp.is_some_and(|text| text.starts_with(command)));
    assert_eq!(gguf.vllm, None);
}

/// vLLM reads the inputs of MXFP4 experts in 16 bits unless it is asked for MXFP8, of which the times are.
#[test]
fn mxfp4_experts_are_served_by_the_kernels_that_are_timed() {
    let gpt_oss = catalog::model("gpt-oss-120b").expect("catalog key");
    let one = Workload::new(1, 512);
    let served_by = |engine, device| {
        let stored = Some(gpt_oss.stored.choice());
        let id = gpt_oss.hf_id;
        let repositories = Repositories {
            model: id,
            published: id,
            stored,
            has_half: false,
            draft: None,
            tag: None,
            file: None,
        };
        apply(
            schemes::scheme("as_published").expect("a scheme"),
            &Deployment { engine, ..deployment(device, &one, repositories) },
        )
    };
    let served = |device| served_by(None, device);
    let flag = " --moe-backend flashinfer_trtllm_afp8";
    assert!(served("b200").vllm.is_some_and(|text| text.ends_with(flag)));
    assert!(served("h100_sxm").vllm.is_some_and(|text| !text.contains("moe-backend")));
    for device in ["v100_sxm2_32gb", "rx_7900_xtx", "epyc_9654"] {
        let found = served(device);
        assert!(found.vllm.is_none() && found.llama_cpp.is_some(), "{device}: {:?}", found.vllm);
    }
    let small = served("gb10");
    assert!(
        small.vllm.is_some_and(|text| text.starts_with("vllm serve ")),
        "the times are llama.cpp's"
    );
    let named = served_by(Some(Engine::Vllm), "gb10").vllm;
    assert!(named.is_some_and(|text| text.contains("CUTLASS") && !text.contains(flag)));
    let file = "gpt-oss-120b-MXFP4_MOE.gguf";
    let made = format!("{file} MXFP4_MOE\n");
    assert!(small.llama_cpp.is_some_and(|text| {
        text.contains(&made) && text.contains(&format!("llama-server -m {file}"))
    }));
}

#[test]
fn memory_above_the_default_share_of_vllm_is_asked_for() {
    let one = Workload::new(1, 512);
    let share = |gigabytes| {
        let memory = Bytes::from_gb(gigabytes);
        let to = Deployment { memory, ..deployment("rtx_4090", &one, REPOSITORIES) };
        apply(schemes::scheme("half").expect("a scheme"), &to).vllm.expect("text")
    };
    assert!(!share(20.0).contains("--gpu-memory-utilization"));
    assert!(share(23.5).contains("--gpu-memory-utilization 0.92"));
}

#[test]
fn commands_are_those_of_the_device() {
    let one = Workload::new(1, 512);
    for (device, vllm, llama_cpp) in [
        ("h100_sxm", Some("vllm serve org/Model-8B "), Some("-ngl 37")),
        ("jetson_orin_nano_8gb_super", Some("vllm serve org/Model-8B "), Some("-ngl 37")),
        ("mi300x", Some("vllm serve org/Model-8B "), Some("-ngl 37")),
        ("strix_halo", Some("vllm serve org/Model-8B "), Some("-ngl 37")),
        ("arc_b580", Some("XPU build"), Some("-ngl 37")),
        ("gaudi3", Some("plugin"), None),
        ("tpu_v5e", Some("plugin"), None),
        ("apple_m4", None, Some("-ngl 37")),
        ("jetson_nano", None, Some("-ngl 37")),
        ("epyc_9654", Some("CPU build"), Some("-np 1")),
        ("raspberry_pi_5", None, Some("-np 1")),
    ] {
        let ways = ways("half", device, &one, None);
        for (found, wanted) in [(&ways.vllm, vllm), (&ways.llama_cpp, llama_cpp)] {
            assert_eq!(found.is_some(), wanted.is_some(), "{device}: {found:?}");
            let holds = found.as_ref().zip(wanted).is_none_or(|(text, part)| text.contains(part));
            assert!(holds, "{device}: {found:?}");
        }
    }
    for device in ["epyc_9654", "xeon_8592plus", "raspberry_pi_5"] {
        let ways = ways("gguf_q4_k", device, &one, None);
        assert!(ways.llama_cpp.is_some_and(|text| !text.contains("-ngl")), "{device}");
        assert_eq!(ways.vllm, None);
    }
}

#[test]
fn commands_split_the_model_as_the_estimate_did_or_say_that_they_cannot() {
    let llama = |device, workload: Workload| {
        ways("gguf_q4_k", device, &workload, None).llama_cpp.expect("text")
    };
    assert!(llama("h100_sxm", split(2, 1, 1)).contains("--split-mode tensor -fa on -fit off"));
    assert!(llama("h100_sxm", split(1, 2, 1)).contains("--split-mode layer"));
    for (device, workload) in [
        ("h100_sxm", split(2, 2, 1)),
        ("h100_sxm", split(1, 1, 2)),
        ("apple_m4_max", split(2, 1, 1)),
        ("epyc_9654", split(2, 1, 1)),
        ("arc_b580", split(2, 1, 1)),
    ] {
        let text = llama(device, workload);
        assert!(text.starts_with("# llama.cpp") && !text.contains("llama-server"), "{text}");
    }
    let vllm = |workload: Workload| ways("half", "h100_sxm", &workload, None).vllm.expect("text");
    let text = vllm(split(2, 2, 1));
    assert!(text.contains("--tensor-parallel-size 2 --pipeline-parallel-size 2"), "{text}");
    let text = vllm(split(1, 1, 2));
    assert!(text.starts_with("# vLLM") && !text.contains("vllm serve"), "{text}");
}

#[test]
fn commands_name_the_format_of_the_kv_cache() {
    let of = |kv, workload: &Workload| {
        let ways = ways("half", "h100_sxm", workload, Some(kv));
        (ways.vllm.expect("text"), ways.llama_cpp.expect("text"))
    };
    let one = Workload::new(1, 512);
    let (vllm, llama) = of("fp8_e4m3", &one);
    assert!(vllm.contains("--kv-cache-dtype fp8_e4m3"), "{vllm}");
    assert!(llama.starts_with("# llama.cpp has no KV cache in FP8"), "{llama}");
    let (vllm, llama) = of("gguf_q8_0", &one);
    assert!(vllm.starts_with("# vLLM has no KV cache in"), "{vllm}");
    assert!(llama.contains("-fa on -ctk q8_0 -ctv q8_0"), "{llama}");
    let (vllm, llama) = of("bf16", &one);
    assert!(vllm.contains("--kv-cache-dtype bfloat16"), "{vllm}");
    assert!(llama.contains("-ctk bf16 -ctv bf16"), "{llama}");
    let (_, llama) = of("gguf_q8_0", &split(2, 1, 1));
    assert!(llama.starts_with("# llama.cpp") && !llama.contains("llama-server"), "{llama}");
}
