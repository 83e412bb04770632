//! Laws of the memory that engines allot for the KV cache: every model of the catalog, every engine.

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog::{self, formats, models};
use calc_core::footprint::cache_elements;
use calc_core::model_arch::ModelArch;
use calc_core::plan::{EstimateRequest, Plan};
use calc_core::precision::PrecisionChoice;
use calc_core::units::Bytes;
use calc_core::workload::Workload;
use proptest::prelude::*;

fn plan(model: &'static ModelArch, engine: Engine, workload: Workload) -> Plan<'static> {
    Plan::new(EstimateRequest {
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
    })
    .expect("a valid request")
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
        // 6,251 blocks of 16; 65 blocks for each window, and a step of 8,192 tokens once.
        (Engine::Vllm, 4 * 100_016, 4 * 1040 + 8192),
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
