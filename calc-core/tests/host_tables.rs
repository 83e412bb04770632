//! Tables of the input that llama.cpp and Ollama keep beside a card.

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog;
use calc_core::footprint::{MemoryFootprint, WeightRole};
use calc_core::model_arch::{ModelArch, Table};
use calc_core::plan::{EstimateRequest, Plan};
use calc_core::precision::PrecisionChoice;
use calc_core::units::Bytes;
use calc_core::weight_size::{PartBytes, WeightSize};
use calc_core::workload::Workload;

fn request<'a>(device: &str, model: &'a ModelArch, engine: Engine) -> EstimateRequest<'a> {
    EstimateRequest {
        device: catalog::device(device).expect("catalog key"),
        mode: None,
        memory_limit: None,
        model,
        precision: PrecisionChoice::weights(catalog::format("gguf_q4_k").expect("catalog key")),
        workload: Workload::new(1, 512),
        weight_size: None,
        draft: None,
        engine: Some(engine),
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    }
}

fn memory(device: &str, model: &ModelArch, engine: Engine) -> MemoryFootprint {
    Plan::new(request(device, model, engine)).expect("a valid request").footprint()
}

fn close(a: Bytes, b: Bytes) -> bool {
    (a - b).get().abs() <= 1e-12 * b.get().abs()
}

#[test]
fn the_embedding_is_that_of_published_logs() {
    // `CPU_Mapped model buffer size` of Q4_K_M files with all layers on the card [MiB].
    for (key, printed) in
        [("qwen3-30b-a3b", 166.92), ("qwen3.5-35b-a3b", 272.81), ("qwen3.5-27b", 682.03)]
    {
        let model = &catalog::model(key).expect("catalog key").arch;
        let tables = memory("rtx_4090", model, Engine::LlamaCpp).tables_on_host;
        assert!((tables.get() / 1_048_576.0 - printed).abs() < 0.005, "{key}: {tables:?}");
    }
}

#[test]
fn a_card_has_the_weights_without_the_tables() {
    for (key, is_tied) in [("qwen3-30b-a3b", false), ("llama-3.2-3b", true)] {
        let model = &catalog::model(key).expect("catalog key").arch;
        // One memory has each table once, and other engines have all of them on the card.
        let all = memory("dgx_spark", model, Engine::LlamaCpp);
        assert_eq!(all.tables_on_host, Bytes::ZERO);
        let vllm = memory("rtx_4090", model, Engine::Vllm);
        assert!(vllm.tables_on_host == Bytes::ZERO && close(vllm.weights, all.weights), "{key}");
        let card = memory("rtx_4090", model, Engine::LlamaCpp);
        let gone = if is_tied { Bytes::ZERO } else { card.tables_on_host };
        assert!(card.tables_on_host > Bytes::ZERO);
        assert!(close(card.weights + gone, all.weights), "{key}: {card:?}");
        let plan = Plan::new(request("rtx_4090", model, Engine::LlamaCpp)).expect("valid");
        let roles = plan.weight_roles();
        let sum = roles.iter().map(|(_, bytes)| *bytes).sum();
        assert!(close(sum, card.weights), "{key}");
        assert!(roles.iter().all(|(role, _)| *role != WeightRole::Embedding), "{roles:?}");
        assert!(roles.iter().any(|(role, _)| *role == WeightRole::LmHead), "{roles:?}");
    }
}

#[test]
fn embeddings_per_layer_leave_the_card_with_llama_cpp_only() {
    let mut model = catalog::model("llama-3.2-3b").expect("catalog key").arch.clone();
    let table = Table { rows: model.vocab_size, cols: 7168, is_split: true };
    model.tables = [table, Table { cols: 256, is_split: false, ..table }].into_iter().collect();
    let [llama, ollama] =
        [Engine::LlamaCpp, Engine::Ollama].map(|engine| memory("rtx_4090", &model, engine));
    let per_layer = llama.tables_on_host - ollama.tables_on_host;
    assert!(close(ollama.weights, llama.weights + per_layer), "{per_layer:?}");
    // 7168 columns in Q6_K, as llama-quantize has the embedding of a tied model, or in another type of at least 4 bits.
    assert!(per_layer.get() >= table.rows as f64 * 7168.0 / 2.0, "{per_layer:?}");
}

#[test]
fn bytes_of_files_leave_the_card_with_the_table() {
    let model = &catalog::model("qwen3-30b-a3b").expect("catalog key").arch;
    let gb = |gb| Bytes::from_gb(gb);
    let files =
        PartBytes { embedding: gb(0.3), lm_head: gb(0.4), layers: gb(1.5), experts: gb(17.0) };
    let asked = EstimateRequest {
        weight_size: Some(WeightSize::Parts(files)),
        ..request("rtx_4090", model, Engine::LlamaCpp)
    };
    let memory = Plan::new(asked).expect("valid").footprint();
    assert!(close(memory.tables_on_host, gb(0.3)) && close(memory.weights, gb(18.9)), "{memory:?}");
}
