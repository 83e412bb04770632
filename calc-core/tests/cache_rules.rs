//! Laws of the memory that engines allot for the KV cache: every model of the catalog, every engine.

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog::{self, formats, models};
use calc_core::footprint::{MemoryFootprint, Pages, cache_elements};
use calc_core::model_arch::{LayerGroup, LayerPart, ModelArch};
use calc_core::parallel::{Parallel, Pipeline, stage_layers};
use calc_core::plan::{Draft, EstimateRequest, Plan};
use calc_core::precision::PrecisionChoice;
use calc_core::units::Bytes;
use calc_core::workload::{Speculation, Workload};
use proptest::prelude::*;

const MIB: f64 = 1_048_576.0;

fn plan(model: &'static ModelArch, engine: Engine, workload: Workload) -> Plan<'static> {
    Plan::new(request(model, engine, workload)).expect("a valid request")
}

fn request(
    model: &'static ModelArch,
    engine: Engine,
    workload: Workload,
) -> EstimateRequest<'static> {
    EstimateRequest {
        device: catalog::device("h100_sxm").expect("catalog key"),
        mode: None,
        memory_limit: None,
        model,
        precision: PrecisionChoice::weights(&formats::BF16),
        workload,
        weight_size: None,
        draft: None,
        engine: Some(engine),
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    }
}

/// KV cache and what is allotted beside it.
fn cache(model: &'static ModelArch, engine: Engine, workload: Workload) -> (Bytes, Bytes) {
    let memory = plan(model, engine, workload).footprint();
    (memory.kv_cache, memory.cache_rounding)
}

#[test]
fn a_cache_by_hand() {
    // Gemma 3 27B: 10 layers of all tokens, 52 with a window of 1,024; 16 × (128 + 128) elements of 2 bytes per token and layer.
    let gemma = &catalog::model("gemma-3-27b").expect("catalog key").arch;
    let row = 16_u64 * (128 + 128) * 2;
    let workload = Workload { context: 100_001, ..Workload::new(4, 1000) };
    for (engine, full, windows) in [
        (Engine::IdealKernels, 4 * 100_001, 4 * 1024),
        // 391 blocks of 256; 1,024 + 512 tokens for each sequence.
        (Engine::LlamaCpp, 4 * 100_096, 4 * 1536),
        (Engine::Ollama, 4 * 100_096, 4 * 4096 + 512),
        (Engine::Sglang, 4 * 100_032, 4 * 100_032),
    ] {
        let (kept, rounding) = cache(gemma, engine, workload);
        let allotted = (10 * full + 52 * windows) * row;
        assert!((kept.get() - ((10 * 400_004 + 52 * 4096) * row) as f64).abs() < 0.5);
        assert!(
            ((kept + rounding).get() - allotted as f64).abs() < 0.5,
            "{engine:?}: {rounding:?}"
        );
    }
}

#[test]
fn groups_of_layers_are_filled_up() {
    // vLLM has 6 groups of 10 windows for 52 of them, as many as there are layers of all tokens: 6,251 blocks of 16; 65 blocks for
    // each window, and a step of 8,192 tokens once.
    let gemma = &catalog::model("gemma-3-27b").expect("catalog key").arch;
    let row = 16_u64 * (128 + 128) * 2;
    let workload = Workload { context: 100_001, ..Workload::new(4, 1000) };
    let (kept, rounding) = cache(gemma, Engine::Vllm, workload);
    let allotted = (10 * 4 * 100_016 + 60 * (4 * 1040 + 8192)) * row;
    assert!(((kept + rounding).get() - allotted as f64).abs() < 0.5, "{rounding:?}");
    // 12 layers of each kind in GPT-OSS 20B need no padding.
    let paged = |key: &str| {
        let model = &catalog::model(key).expect("catalog key").arch;
        paged(model, PrecisionChoice::weights(&formats::BF16)).map(|one| (one.group, one.padding()))
    };
    assert_eq!(paged("gemma-3-27b"), Some((10, 8)));
    assert_eq!(paged("gpt-oss-20b"), Some((12, 0)));
    assert_eq!(
        (paged("llama-3.1-8b"), paged("mistral-7b-v0.1")),
        (None, None),
        "one kind of layer"
    );
    assert_eq!(paged("deepseek-v3"), None);
}

#[test]
fn a_stage_has_pages_of_all_groups_of_the_model() {
    // Gemma 3 27B in stages of 15, 16, 16 and 15 layers: 2 or 3 layers of all tokens, 12 to 14 windows. The model has one group of
    // 10 layers of all tokens and six of its 52 windows, so each stage has at most 3 layers of a group, and takes pages for 3
    // layers of each of the seven.
    let gemma = &catalog::model("gemma-3-27b").expect("catalog key").arch;
    let parallel = Parallel { pipeline: Pipeline::of(4), ..Parallel::default() };
    let workload = Workload { context: 100_001, parallel, ..Workload::new(4, 1000) };
    let (kept, rounding) = cache(gemma, Engine::Vllm, workload);
    let row = 16_u64 * (128 + 128) * 2;
    let allotted = (3 * 4 * 100_016 + 18 * (4 * 1040 + 8192)) * row;
    assert!(((kept + rounding).get() - allotted as f64).abs() < 0.5, "{kept:?} {rounding:?}");
}

#[test]
fn the_largest_group_of_a_stage_is_that_of_layers_in_turn() {
    let attention = |part: &LayerPart| {
        matches!(part.group, LayerGroup::Attention(_) | LayerGroup::Recurrent(_)).then_some(*part)
    };
    for (key, group) in [("gemma-3-27b", 10), ("gpt-oss-20b", 12), ("qwen3.5-27b", 16)] {
        let model = &catalog::model(key).expect("catalog key").arch;
        let order = model.layers_in_order().expect("a known order");
        let kinds: Vec<LayerPart> =
            order.iter().map(|layer| layer.iter().find_map(attention).expect("a cache")).collect();
        for ways in 2..=8 {
            let mut start = 0;
            let most = stage_layers(Engine::Vllm, model.n_layers, ways).into_iter().map(|count| {
                let stage = start..start + usize::try_from(count).expect("few layers");
                start = stage.end;
                let of = |kind: &LayerPart| {
                    let layers = (0..kinds.len()).filter(|layer| kinds[*layer] == *kind);
                    let layers: Vec<usize> = layers.collect();
                    let groups = layers.len().div_ceil(group);
                    let in_group = |first| {
                        let group = layers.iter().skip(first).step_by(groups);
                        group.filter(|layer| stage.contains(layer)).count() as u64
                    };
                    (0..groups).map(in_group).max()
                };
                kinds.iter().filter_map(of).max().expect("groups")
            });
            let most: Vec<u64> = most.collect();
            let parallel = Parallel { pipeline: Pipeline::of(ways), ..Parallel::default() };
            let workload = Workload { parallel, ..Workload::new(1, 512) };
            let pages = plan(model, Engine::Vllm, workload).pages().expect("pages");
            assert!(most.contains(&pages.group), "{key} {ways}: {most:?} {pages:?}");
        }
    }
}

/// The pages of a model in vLLM.
fn paged(model: &'static ModelArch, precision: PrecisionChoice) -> Option<Pages> {
    let request =
        EstimateRequest { precision, ..request(model, Engine::Vllm, Workload::new(1, 1)) };
    Plan::new(request).expect("a valid request").pages()
}

/// The memory of a model and of its own layers that draft.
fn drafting(model: &'static ModelArch, engine: Engine, workload: Workload) -> MemoryFootprint {
    let drafts = model.own_draft().expect("layers that draft");
    let draft = Some(Draft { model: &drafts, files: None });
    let speculation = Some(Speculation { draft_tokens: 2, acceptance: 0.5, own_layers: true });
    let workload = Workload { speculation, ..workload };
    let plan = Plan::new(EstimateRequest { draft, ..request(model, engine, workload) });
    plan.expect("a valid request").footprint()
}

#[test]
fn layers_that_draft_take_pages_of_the_same_pool() {
    // Ten layers of all tokens, 30 with a state, and one that drafts: groups of 11, so 33 layers with a state.
    let model = &catalog::model("qwen3.5-35b-a3b").expect("catalog key").arch;
    let workload = Workload { context: 20_000, ..Workload::new(64, 512) };
    let memory = drafting(model, Engine::Vllm, workload);
    let precision = PrecisionChoice::weights(&formats::BF16);
    let page = paged(model, precision).expect("pages");
    // The state, that at the last block, and one for each of two draft tokens.
    let pages = 64 * (11 * 20_000_u64.div_ceil(page.block) + 33 * 4);
    let error = memory.kv_caches() - page.page * pages as f64;
    assert!(error.get().abs() < 1.0, "{error:?}");
}

#[test]
fn a_draft_never_makes_a_cache_smaller() {
    let drafting_models = models::all().filter(|model| model.arch.own_draft().is_some());
    for model in drafting_models {
        for (name, engine) in Engine::ALL {
            for (batch, context) in [(1, 300), (64, 20_000)] {
                let workload = Workload { context, ..Workload::new(batch, 128) };
                let speculation =
                    Some(Speculation { draft_tokens: 2, acceptance: 0.5, own_layers: false });
                let (kept, rounding) =
                    cache(&model.arch, engine, Workload { speculation, ..workload });
                let with = drafting(&model.arch, engine, workload);
                let its = with.draft.map_or(Bytes::ZERO, |draft| draft.allotted_cache());
                let label = format!("{} {name} {batch} {context}", model.key);
                assert!(with.kv_caches() >= kept + rounding + its, "{label}");
                assert!(its > Bytes::ZERO, "{label}");
            }
        }
    }
}

/// Lines of logs of vLLM 0.28 and of a NVFP4 file of Nemotron with an FP8 cache, which people published.
#[test]
fn pages_of_recurrent_layers_are_those_of_published_logs() {
    // "Setting attention block size to 784 tokens", and 1.14 requests of 262,144 tokens in 18.61 GiB: 335 pages and two states in
    // each of 3 groups of 16 layers.
    let qwen = &catalog::model("qwen3.5-27b").expect("catalog key").arch;
    let own = paged(qwen, PrecisionChoice::weights(&formats::BF16)).expect("pages");
    assert_eq!((own.block, own.group, own.padding()), (784, 16, 0));
    let (kept, rounding) = cache(qwen, Engine::Vllm, Workload::new(1, 262_144));
    assert!(((kept + rounding).get() - (335.0 + 6.0) * 16.0 * own.page.get()).abs() < 0.5);
    let requests = Bytes::from_gib(18.61) / (kept + rounding);
    assert!((requests - 1.14).abs() < 0.005, "{requests}");
    // "Setting attention block size to 4176 tokens", with an FP8 cache.
    let nemotron = &catalog::model("nemotron-3-nano-30b-a3b").expect("catalog key").arch;
    let cache = PrecisionChoice {
        kv_cache: Some(&formats::FP8_E4M3),
        ..PrecisionChoice::weights(&formats::BF16)
    };
    assert_eq!(paged(nemotron, cache).map(|pages| pages.block), Some(4176));
}

#[test]
fn engines_keep_several_states() {
    let qwen = &catalog::model("qwen3.5-27b").expect("catalog key").arch;
    let at = |engine, speculation| {
        cache(qwen, engine, Workload { speculation, ..Workload::new(1, 256) })
    };
    // Keys and values of 256 tokens in 16 layers.
    let keys = Bytes::new(16.0 * MIB);
    // llama.cpp prints 149.62 MiB for one sequence, and 448.88 MiB with two draft tokens.
    let drafts = Speculation { draft_tokens: 2, acceptance: 0.5, own_layers: false };
    for (speculation, states) in [(None, 149.62), (Some(drafts), 448.88)] {
        let (kept, rounding) = at(Engine::LlamaCpp, speculation);
        let printed = (kept + rounding - keys) / Bytes::new(MIB);
        assert!((printed - states).abs() < 0.01, "{printed}");
    }
    let (kept, rounding) = at(Engine::Sglang, None);
    assert!((rounding - (kept - keys) * 2.0).get().abs() < 0.5, "three states: {rounding:?}");
}

#[test]
fn chunks_are_allotted_as_windows_are() {
    let scout = models::all().find(|model| model.key.contains("scout")).expect("Llama 4 Scout");
    let long = Workload::new(1, 100_000);
    let (kept, rounding) = cache(&scout.arch, Engine::LlamaCpp, long);
    // 12 layers of all tokens in 391 blocks of 256, 36 with chunks of 8,192 and a step of 512 tokens; 8 × 256 elements of 2 bytes.
    assert!((kept.get() - (12.0 * 100_000.0 + 36.0 * 8192.0) * 4096.0).abs() < 0.5);
    assert!((rounding.get() - (12.0 * 96.0 + 36.0 * 512.0) * 4096.0).abs() < 0.5, "{rounding:?}");
}

proptest! {
    #[test]
    fn the_allotted_cache_holds_all_that_is_kept_and_grows(
        model in proptest::sample::select(models::all().collect::<Vec<_>>()),
        engine in proptest::sample::select(Engine::ALL.to_vec()),
        batch in 1..300_u64, context in 1..300_000_u64, more in 1..5000_u64,
    ) {
        let (model, engine) = (&model.arch, engine.1);
        let at = |batch, context| cache(model, engine, Workload { context, ..Workload::new(batch, 1) });
        let (kept, rounding) = at(batch, context);
        prop_assert!(rounding >= Bytes::ZERO && rounding.get().is_finite());
        if engine == Engine::IdealKernels {
            prop_assert_eq!(rounding, Bytes::ZERO);
        }
        let elements = cache_elements(model, context).attention * batch;
        prop_assert!((kept + rounding).get() >= elements as f64 * 0.5, "at least 4 bits per element");
        for (batch, context) in [(batch + 1, context), (batch, context + more)] {
            let (larger, its) = at(batch, context);
            prop_assert!(larger + its >= kept + rounding, "{batch} {context}");
        }
        // Limits of context and users are found by the sum alone.
        let plan = plan(model, engine, Workload::new(batch, 1));
        let whole = at(batch, context);
        prop_assert!((plan.kv_caches_at(context) - whole.0 - whole.1).get().abs() <= whole.0.get() * 1e-12);
    }
}
