//! Tests of the exploration against the rows of the adviser.

use super::*;
use crate::calibration::Calibration;
use crate::catalog;
use crate::estimate::EstimateRequest;
use crate::precision::PrecisionChoice;
use crate::recommend::{ModelTask, recommend};
use crate::units::{Seconds, TokensPerSec};
use crate::workload::Workload;

const BATCHES: &[u64] = &[1, 2, 5, 16];
const PROMPTS: &[u64] = &[256, 2048, 16_384];

fn task(device: &'static Device, new_tokens: u64) -> Task<'static> {
    task_of(catalog::model("llama-3.1-8b").expect("catalog key"), device, new_tokens)
}

fn task_of(
    model: &'static catalog::models::CatalogModel,
    device: &'static Device,
    new_tokens: u64,
) -> Task<'static> {
    Task::Model(ModelTask::new(
        EstimateRequest {
            device,
            mode: None,
            memory_limit: None,
            model: &model.arch,
            precision: PrecisionChoice::weights(&catalog::formats::FP16),
            workload: Workload { new_tokens, ..Workload::new(1, 512) },
            weight_size: None,
            draft: None,
            engine: None,
            calibration: &Calibration::FITTED,
            host: None,
            cards: None,
        },
        model.stored.choice(),
    ))
}

fn request(
    device: &'static Device,
    new_tokens: u64,
    criteria: [Criterion; 2],
) -> ExploreRequest<'static> {
    ExploreRequest {
        task: task(device, new_tokens),
        modes: Modes::All,
        bounds: Bounds::default(),
        power_cap: None,
        criteria,
        batches: BATCHES,
        prompts: PROMPTS,
    }
}

/// The front of all rows of the adviser, in every mode and at every batch and prompt.
fn by_adviser(request: &ExploreRequest<'static>, device: &'static Device) -> Vec<Costs> {
    let mut all = Vec::new();
    for mode in modes(request, device) {
        for (&batch, &prompt) in
            BATCHES.iter().flat_map(|batch| PROMPTS.iter().map(move |prompt| (batch, prompt)))
        {
            let task = request.task.on(device, mode);
            let task = task.at(Axis::Batch, batch).at(Axis::Prompt, prompt);
            let (objective, part) = (Objective::Latency, RankedPart::Decode);
            let bounds = request.bounds;
            let answer = recommend(&RecommendRequest { task, objective, part, bounds });
            for row in answer.expect("an answer").ranked {
                let cost = |by: Criterion| by.cost(batch, &row.outcome, &row.quality);
                let [first, second] = request.criteria.map(cost);
                all.push([first.expect("known power"), second.expect("known power")]);
            }
        }
    }
    front(&all).into_iter().map(|index| all[index]).collect()
}

fn explored(request: &ExploreRequest<'static>, device: &'static Device) -> Vec<Costs> {
    let found = explore(request, device).expect("explored");
    let costs: Vec<Costs> = found.front.iter().map(|found| found.costs).collect();
    front(&costs).into_iter().map(|index| costs[index]).collect()
}

/// Two points that differ by a rounding error may both stay, or one of them.
fn assert_same(found: &[Costs], expected: &[Costs], about: &str) {
    let near = |a: &Costs, b: &Costs| {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()))
    };
    for (one, other) in [(found, expected), (expected, found)] {
        for costs in one {
            let is_there = other.iter().any(|other| near(costs, other));
            assert!(is_there, "{about}: {costs:?} is in one of\n{found:?}\n{expected:?}");
        }
    }
}

#[test]
fn what_is_left_is_what_no_row_of_the_adviser_beats() {
    use Criterion::{Energy, Memory, Quality, Rate, Throughput, Whole};
    for (device, new_tokens, criteria) in [
        ("jetson_orin_nano_8gb_super", 128, [Rate, Energy]),
        ("jetson_orin_nano_8gb_super", 1, [Throughput, Memory]),
        ("h100_sxm", 600, [Whole, Quality]),
        ("h100_sxm", 16, [Throughput, Rate]),
    ] {
        let device = catalog::device(device).expect("catalog key");
        let request = request(device, new_tokens, criteria);
        let found = explored(&request, device);
        let about = alloc::format!("{criteria:?} on {}", device.key);
        assert!(found.len() > 1, "{about}: {found:?}");
        assert_same(&found, &by_adviser(&request, device), &about);
    }
}

#[test]
fn every_bound_holds() {
    let device = catalog::device("h100_sxm").expect("catalog key");
    let usual = Bounds::default();
    for bounds in [
        Bounds { ttft: Some(Seconds::new(0.05)), ..usual },
        Bounds { tpot: Some(Seconds::new(0.004)), ..usual },
        Bounds { rate: Some(TokensPerSec::new(900.0)), ..usual },
        Bounds { quality: 0.1, ..usual },
    ] {
        let criteria = [Criterion::Throughput, Criterion::Energy];
        let request = ExploreRequest { bounds, ..request(device, 64, criteria) };
        let about = alloc::format!("{bounds:?}");
        assert_same(&explored(&request, device), &by_adviser(&request, device), &about);
    }
}

#[test]
fn a_power_cap_leaves_out_modes_and_devices_of_unknown_power() {
    let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
    let usual = request(device, 64, [Criterion::Rate, Criterion::Energy]);
    let capped = ExploreRequest { power_cap: Some(Watts::new(15.0)), ..usual };
    let found = explore(&capped, device).expect("explored");
    let budgets: Vec<_> = found.front.iter().map(|found| found.mode?.watts).collect();
    assert!(!budgets.is_empty());
    assert!(budgets.iter().all(|watts| watts.is_some_and(|watts| watts.get() <= 15.0)));
    let none = ExploreRequest { power_cap: Some(Watts::new(1.0)), ..usual };
    let found = explore(&none, device).expect("explored");
    assert_eq!((found.front.len(), found.points), (0, 0));
    for watts in [0.0, -1.0, f64::NAN] {
        let wrong = ExploreRequest { power_cap: Some(Watts::new(watts)), ..usual };
        assert!(explore(&wrong, device).is_err(), "{watts}");
    }
}

#[test]
fn one_mode_is_that_of_the_task_and_no_prompt_is_longer_than_the_model_takes() {
    let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
    let mode = device.power_modes.iter().find(|mode| Roofs::new(device, Some(mode)).is_ok());
    let usual = request(device, 64, [Criterion::Rate, Criterion::Memory]);
    let task = usual.task.on(device, mode);
    let request =
        ExploreRequest { task, modes: Modes::OfTask, prompts: &[512, 100_000_000], ..usual };
    let found = explore(&request, device).expect("explored");
    assert!(!found.front.is_empty() && found.front.iter().all(|found| found.mode == mode));
    assert!(found.front.iter().all(|found| found.prompt == 512));
    let one = ExploreRequest { prompts: &[512], ..request };
    assert_eq!(explore(&one, device).expect("explored").points, found.points);
}

/// The search leaves out longer prompts than one whose first step is too slow already.
#[test]
fn a_longer_context_is_never_faster() {
    let mut tried = 0;
    for device in catalog::devices::all() {
        let usual = request(device, 64, [Criterion::Rate, Criterion::Energy]);
        // With chunks a longer context can be faster; the search knows.
        for model in catalog::models::all().filter(|model| !model.arch.is_chunked()) {
            let usual = ExploreRequest { task: task_of(model, device, 64), ..usual };
            let chooser = chooser(&usual, device, None).expect("a chooser");
            for scheme in SCHEMES.iter().step_by(5) {
                let Some(request) = chooser.estimate_request(scheme, 1) else { continue };
                let Ok(mut plan) = crate::plan::Plan::new(request) else { continue };
                for batch in [1, 6, 100] {
                    plan.set_workload(Workload { batch, ..Workload::new(1, 512) });
                    let contexts =
                        (3..21).flat_map(|log| [1 << log, (1 << log) + (1 << (log - 1))]);
                    let times = contexts.map(|cached| {
                        let found = plan.attention_of_token(None, cached);
                        (found.expected.time.get(), found.ideal.get())
                    });
                    let times: Vec<_> = times.collect();
                    assert!(
                        times.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1),
                        "{} on {} in {} at batch {batch}: {times:?}",
                        model.key,
                        device.key,
                        scheme.key
                    );
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}
