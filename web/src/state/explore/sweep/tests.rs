//! Tests of the worker, and of its rows against the command line and the Plan view.

use super::*;
use calc_core::catalog;

const QUERY: &str = "?view=explore&batches=1..4x2&v=1";

fn begun(address: &str) -> Sweep {
    Sweep::begin(address, 0.0).expect("a readable address")
}

/// The whole exploration of an address; the simulated clock advances by 1 ms per device or model.
fn explored(address: &str) -> Sweep {
    let mut sweep = begun(address);
    while sweep.done < sweep.candidates.len() {
        sweep.next((sweep.done + 1) as f64).expect("explored");
    }
    sweep.mark_front();
    sweep
}

/// The sweep of one device alone.
fn on_device(address: &str, key: &str) -> Sweep {
    let mut sweep = begun(address);
    sweep
        .candidates
        .retain(|candidate| matches!(candidate, Candidate::Device(device) if *device.key == *key));
    sweep.next(1.0).expect("explored");
    sweep.mark_front();
    sweep
}

#[test]
fn devices_for_a_model_have_a_front_that_no_other_row_beats() {
    let sweep = explored(QUERY);
    assert!(sweep.rows.iter().filter(|row| row.is_on_front).count() > 3);
    let names: Vec<&str> = sweep.rows.iter().map(|row| row.subject.as_str()).collect();
    assert!(names.contains(&"jetson_orin_nano_8gb_super") && names.contains(&"h100_sxm"));
    for row in sweep.rows.iter().filter(|row| row.is_on_front) {
        let beaten = |other: &ExploreRow| calc_core::explore::beats(&other.costs, &row.costs);
        assert!(!sweep.rows.iter().any(beaten), "{row:?}");
    }
    let sentence = sweep.sentence().replace(text::SPACE, " ");
    assert!(sentence.contains("devices run Llama-3.1 8B within the limits"), "{sentence}");
    let took = format!("points in {} ms.", devices::all().count());
    assert!(sentence.ends_with(&took), "{sentence}");
}

#[test]
fn models_for_a_device_keep_its_power_mode() {
    let query = "?view=explore&ask=models&d=jetson_orin_nano_8gb_super&pm=15W&batches=1&ey=memory&draft=3&dm=llama-3.2-1b";
    let sweep = explored(query);
    assert!(sweep.rows.iter().all(|row| row.mode == "15W"), "{:?}", sweep.rows.first());
    let models: Vec<&str> = sweep.rows.iter().map(|row| row.subject.as_str()).collect();
    assert!(models.contains(&"llama-3.1-8b") && !models.contains(&"llama-3.1-405b"));
    assert!(sweep.sentence().contains("models run on Jetson Orin Nano 8GB Super"));
}

#[test]
fn a_million_points_are_compared() {
    let mut sweep = begun("?view=explore&batches=1..128&prompts=1k..32kx2&ey=memory&v=1");
    sweep.candidates.truncate(2);
    while sweep.done < 2 {
        sweep.next(1.0).expect("explored");
    }
    let each = sweep.points / 2;
    assert!(each * devices::all().count() as u64 > 1_000_000, "{each} points for a device");
}

#[test]
fn it_can_be_stopped_saved_and_says_how_far_it_is() {
    let mut sweep = None;
    let mut ask = |function: &str, text: &str, now| answer(&mut sweep, function, text, now);
    let all = devices::all().count();
    assert!(ask("next", "", 0.0).is_err() && ask("rows", "", 0.0).is_err());
    let begun = ask("begin", QUERY, 5.0).expect("begun");
    assert!(begun.starts_with(&format!("0\t{all}\t0 of {all} devices")), "{begun}");
    let said = (6..26).map(|now| ask("next", "", f64::from(now)).expect("explored")).last();
    let said = said.expect("twenty devices");
    let left = format!("{}\u{202f}ms left", all - 20);
    assert!(
        said.starts_with(&format!("20\t{all}\t20 of {all}")) && said.ends_with(&left),
        "{said}"
    );
    let rows = ask("rows", "", 9.0).expect("rows");
    assert!(rows.starts_with(&format!("Stopped with {} devices to go. ", all - 20)), "{rows}");
    let count = rows.lines().count() - 1;
    assert!(count > 10 && rows.lines().skip(1).all(|line| ExploreRow::read(line).is_some()));
    let csv = ask("csv", "", 9.0).expect("a file");
    assert!(csv.starts_with("hardware,power_mode,model,scheme,batch,prompt,ttft_s,"), "{csv}");
    assert_eq!(csv.lines().count(), count + 1);
    let json: Value = serde_json::from_str(&ask("json", "", 9.0).expect("a file")).expect("JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(count));
    assert!(ask("fly", "", 9.0).is_err());
    assert!(ask("begin", "?batches=x", 9.0).is_err() && ask("rows", "", 9.0).is_err());
}

#[test]
fn what_cannot_be_read_is_said() {
    for (query, says) in [
        ("?batches=many", "`many` is not a number"),
        ("?loss=x", "Quality loss must be"),
        ("?layers=0", "Layers"),
        ("?generate=0", "New tokens"),
    ] {
        let said = Sweep::begin(query, 0.0).expect_err(query);
        assert!(said.contains(says), "{query}: {said}");
    }
}

/// The numbers of a row are those of the command that it names, of the page's Plan view, and of `recommend`.
mod same {
    use super::*;
    use crate::state::explore::{command, shown};
    use crate::state::plan;
    use report::input::request::{EstimateInputs, Fields, Library};
    use serde_json::Map;

    fn near(found: f64, expected: f64, about: &str) {
        let allowed = 1e-9 * expected.abs();
        assert!((found - expected).abs() <= allowed, "{about}: {found}, not {expected}");
    }

    /// Fields of a command line without the program's name, with one batch and prompt of its ranges.
    fn fields(command: &str, row: &ExploreRow) -> Fields {
        let mut fields = Map::new();
        let words: Vec<&str> = command.split(" --").skip(1).collect();
        for word in words {
            let (flag, value) = word.split_once(' ').expect("a value");
            let value = value.trim_matches('\'');
            let value = match flag {
                "batch" => row.batch.to_string(),
                "prompt" => row.prompt.to_string(),
                _ => value.to_owned(),
            };
            fields.insert(flag.replace('-', "_"), Value::String(value));
        }
        Fields::new(fields)
    }

    fn check(query: &str, sweep: &Sweep, every: usize) {
        let (inputs, _) = url::read(query);
        assert!(!sweep.rows.is_empty(), "{query}");
        for row in sweep.rows.iter().step_by(every) {
            let command = command::sweep(&inputs, row);
            let asked = EstimateInputs::parse(fields(&command, row), &Library::CATALOGS);
            let answer = asked.expect(&command).estimate().expect(&command);
            near(row.token[0], answer.mean.expected.time.get(), &command);
            near(row.first, answer.ttft.time.get(), &command);
            near(row.whole[0], answer.end_to_end.time.get(), &command);
            near(row.memory[0], answer.memory.total().get(), &command);
            if let Some(energy) = answer.mean.energy {
                near(row.energy, energy.per_token.get(), &command);
            }
            let opened = shown::opened(&inputs, row);
            let (back, notes) = url::read(&url::write(&opened));
            assert_eq!((&back, notes.len()), (&opened, 0));
            let plan = plan::next(None, &back);
            let cards = plan.answer.in_cards.expect("cards");
            assert_eq!((cards.scheme.key, cards.users), (row.scheme.key, row.batch));
            near(row.token[0], cards.outcome.token.expected.time.get(), &command);
            near(row.whole[0], cards.outcome.whole.time.get(), &command);
            near(row.memory[0], cards.outcome.memory.get(), &command);
        }
    }

    #[test]
    fn rows_of_devices_are_those_of_sweep_and_of_plan() {
        for (model, more) in [
            ("llama-3.1-8b", ""),
            ("gpt-oss-20b", "&prompts=512..2048x4"),
            ("qwen3-30b-a3b", "&kv=fp8_e4m3&engine=llama.cpp"),
            ("llama-3.1-70b", "&tp=2&generate=1"),
        ] {
            let query = format!("?view=explore&model={model}&batches=1,8&ex=throughput{more}&v=1");
            for device in ["h100_sxm", "gb10", "jetson_agx_orin_64gb"] {
                let sweep = on_device(&query, device);
                if !sweep.rows.is_empty() {
                    check(&query, &sweep, 2);
                }
            }
            check(&query, &on_device(&query, "h100_sxm"), 3);
        }
    }

    #[test]
    fn rows_of_models_are_those_of_sweep_and_of_plan() {
        let query = "?view=explore&ask=models&d=rtx_4090&batches=2&ey=quality&v=1";
        let sweep = explored(query);
        assert!(sweep.rows.len() > 30, "{}", sweep.rows.len());
        check(query, &sweep, 5);
        assert!(catalog::device("rtx_4090").is_ok());
    }
}
