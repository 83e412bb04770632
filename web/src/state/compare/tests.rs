//! The comparison as it is shown: sentences, rows, and what is said of columns that do not run.

use super::*;
use report::number_text::SPACE;

fn compared(query: &str) -> CompareShown {
    let (inputs, _) = url::read(query);
    next(None, &inputs)
}

fn plain(text: &str) -> String {
    text.replace([SPACE, '\u{a0}'], " ")
}

const ORINS: &str =
    "?view=compare&c=d:jetson_orin_nano_8gb_super,prompt:4096&c=d:jetson_agx_orin_64gb,prompt:4096";

#[test]
fn orin_nano_against_agx_orin_says_who_wins_and_why() {
    let shown = compared(ORINS);
    assert_eq!(shown.faults, Vec::<String>::new());
    let sentence = plain(&shown.sentence);
    assert!(
        sentence.starts_with("Jetson AGX Orin 64GB") && sentence.contains("× faster"),
        "{sentence}"
    );
    assert!(shown.line.contains("the prompt waits for arithmetic"), "{}", shown.line);
    let short = compared(&ORINS.replace("prompt:4096", "prompt:64"));
    let line = plain(&short.line);
    assert!(line.contains("204.8 GB/s instead of 102.4 GB/s (2 × as much)"), "{line}");
    assert!(shown.common.starts_with("Llama-3.1 8B on … "), "{}", shown.common);
    let rate = shown.rows.iter().find(|row| row.name == rows::RATE).expect("a row");
    assert!(rate.differs && rate.cells[0].delta.is_none());
    assert!(rate.cells[1].delta.as_ref().is_some_and(|delta| delta.tone == Tone::Better));
    assert!(shown.chart.rows.iter().all(|row| row.time.is_ok()));
    assert!(shown.spoken(Some("1")).starts_with("Jetson AGX Orin 64GB: Whole answer "));
    assert_eq!(shown.spoken(None), "");
    assert_eq!(shown.shown_rows(false).iter().find(|row| !row.differs), None);
    assert!(shown.shown_rows(true).len() > shown.shown_rows(false).len());
}

#[test]
fn what_does_not_fit_shows_no_speed() {
    let shown = compared(
        "?view=compare&c=d:jetson_orin_nano_8gb_super&c=d:jetson_orin_nano_8gb_super,scheme:half",
    );
    let name = &shown.columns[1].name;
    assert_eq!(name, "16 bits");
    let sentence = plain(&shown.sentence);
    assert!(sentence.starts_with("16 bits does not fit, the best scheme does: "), "{sentence}");
    for row in shown.rows.iter().filter(|row| {
        [rows::RATE, "First token", "Whole answer", rows::WHOLE_ENERGY].contains(&row.name)
    }) {
        assert_eq!(row.cells[1].text, "", "{row:?}");
    }
    let fits = shown.rows.iter().find(|row| row.name == "Fits").expect("a row");
    assert!(fits.cells[1].text.starts_with("Does not fit: "), "{fits:?}");
    assert_eq!(fits.cells[1].delta.as_ref().map(|delta| delta.tone), Some(Tone::Worse));
    assert!(shown.chart.rows[1].time.is_err());
}

fn row<'a>(shown: &'a CompareShown, name: &str) -> &'a CompareRow {
    shown.rows.iter().find(|row| row.name == name).expect("a row of this name")
}

#[test]
fn energy_is_of_the_whole_answer_and_a_trade_is_not_judged() {
    let shown = compared(
        "?view=compare&c=d:jetson_orin_nano_8gb_super,prompt:64&c=d:jetson_agx_orin_64gb,prompt:64,scheme:half",
    );
    let energy = row(&shown, rows::WHOLE_ENERGY);
    let answered = shown.columns[0].answered.as_ref().expect("readable");
    let outcome = answered.in_cards().expect("a scheme").outcome;
    let decode = outcome.token.energy.expect("a known power").per_token.get();
    let whole = answered.energy().expect("a known power").value;
    assert!(whole > 128.0 * decode, "{whole} J of 128 tokens of {decode} J and the prompt");
    assert!(energy.cells[0].beside.ends_with(", prompt and answer"), "{energy:?}");
    let modes = compared(
        "?view=compare&c=d:jetson_orin_nano_8gb_super,pm:15W,prompt:512&c=d:jetson_orin_nano_8gb_super,pm:7W,prompt:512",
    );
    let delta = row(&modes, rows::WHOLE_ENERGY).cells[1].delta.as_ref().expect("a difference");
    assert!(delta.text.contains(" less, but ") && delta.text.ends_with(" slower"), "{delta:?}");
    assert_eq!(delta.tone, Tone::Plain);
    assert!(modes.line.contains("7W takes less energy for the whole answer"), "{}", modes.line);
    let long = compared(
        "?view=compare&c=d:jetson_orin_nano_8gb_super,pm:15W,prompt:4096&c=d:jetson_orin_nano_8gb_super,pm:7W,prompt:4096",
    );
    let delta = row(&long, rows::WHOLE_ENERGY).cells[1].delta.as_ref().expect("a difference");
    assert_eq!(delta.tone, Tone::Unclear, "the prompt takes three times as long: {delta:?}");
}

#[test]
fn more_memory_is_not_worse_while_there_is_room() {
    let fits = row(&compared(ORINS), "Fits").cells[1].delta.clone().expect("a difference");
    assert_eq!((fits.tone, fits.text.contains("worse")), (Tone::Plain, false), "{fits:?}");
}

#[test]
fn users_that_do_not_fit_are_told_how_many_do() {
    let shown = compared(
        "?view=compare&c=d:jetson_orin_nano_8gb_super,prompt:4096&c=d:jetson_orin_nano_8gb_super,prompt:4096,batch:16",
    );
    let sentence = plain(&shown.sentence);
    assert!(sentence.starts_with("16 users do not fit, 1 user does: "), "{sentence}");
    let line = plain(&shown.line);
    let says = "GGUF Q4_K_M has room for 4 users with 4 223 tokens each.";
    assert!(line.starts_with(says), "{line}");
    let users: Vec<_> =
        row(&shown, "Users that fit").cells.iter().map(|cell| cell.text.as_str()).collect();
    assert_eq!(users, ["4", "4"]);
    assert_eq!(row(&shown, "Fits").cells[1].text, "Does not fit");
}

#[test]
fn three_columns_are_all_in_the_sentence_with_the_winners_of_the_rows() {
    let shown = compared(&format!("{ORINS}&c=d:h100_sxm,prompt:4096"));
    let sentence = plain(&shown.sentence);
    assert!(sentence.starts_with("H100 SXM5 80GB is the fastest: "), "{sentence}");
    for name in ["for Jetson AGX Orin 64GB", "for Jetson Orin Nano 8GB Super"] {
        assert!(sentence.contains(name), "{name}: {sentence}");
    }
    assert!(shown.line.contains("No clear winner in energy for the whole answer."));
    assert!(shown.line.contains("Least loss: "), "{}", shown.line);
    let several = compared(&format!("{ORINS}&c=d:t4,prompt:4096,batch:8"));
    let sentence = plain(&several.sentence);
    assert!(sentence.starts_with("Tesla T4 · 8 users get the most tokens in all: "));
    assert!(sentence.contains("a user gets the most with "), "{sentence}");
}

#[test]
fn different_schemes_are_said_and_a_click_holds_one() {
    let (mut inputs, _) = url::read(ORINS);
    let shown = next(None, &inputs);
    assert!(shown.sentence.ends_with(", each in the scheme that is best for it."));
    assert!(shown.line.contains("Jetson AGX Orin 64GB with GGUF Q5_K_M."), "{}", shown.line);
    let hold = shown.hold.expect("a scheme that both run");
    assert_eq!(hold.label, "Same scheme in all: GGUF Q4_K_M");
    schemes::set(&mut inputs, hold.scheme);
    let held = next(None, &inputs);
    assert!(held.sentence.ends_with(" for the whole answer."), "{}", held.sentence);
    assert!(!row(&held, "Scheme").differs);
    let back = held.hold.expect("the way back");
    assert_eq!(back.label, "The best scheme for each");
    schemes::set(&mut inputs, back.scheme);
    assert_eq!(next(None, &inputs).sentence, shown.sentence);
    // The reader asked for different ones.
    let picked = compared("?view=compare&c=d:h100_sxm&c=d:h100_sxm,scheme:half");
    assert_eq!((picked.hold, picked.sentence.contains("scheme that is best")), (None, false));
}

#[test]
fn one_user_against_sixteen_says_what_all_and_what_each_get() {
    let shown = compared("?view=compare&c=d:h100_sxm&c=d:h100_sxm,batch:16");
    assert_eq!(shown.columns[1].name, "16 users");
    let sentence = plain(&shown.sentence);
    assert!(sentence.starts_with("16 users get ") && sentence.contains(" each"), "{sentence}");
}

#[test]
fn unreadable_lonely_and_equal_columns_are_said() {
    let gone = compared("?view=compare&c=d:gone&c=d:t4");
    assert!(gone.columns[0].answered.as_ref().is_err_and(|text| text.contains("no device")));
    assert_eq!(gone.columns[0].name, "Column 1");
    assert!(gone.faults[0].contains("one scenario so far"), "{:?}", gone.faults);
    assert!(gone.rows.iter().all(|row| row.cells[0].text.is_empty()));
    let nothing = compared("?view=compare&c=%F0%9F%92%A9&c=,,,:");
    assert!(nothing.faults[0].contains("can be read"), "{:?}", nothing.faults);
    let same = compared("?view=compare&c=d:t4&c=d:t4");
    assert!(same.faults[0].contains("Column 2 is the same scenario as column 1"));
    assert_eq!(same.columns[1].name, "Column 2");
    let wrong = compared("?view=compare&c=d:t4,batch:0&c=d:t4,loss:x");
    let errors: Vec<_> =
        wrong.columns.iter().map(|column| column.answered.as_ref().err()).collect();
    assert!(errors.iter().all(|error| error.is_some_and(|text| !text.is_empty())), "{errors:?}");
    let alone = compared("?view=compare&d=t4");
    assert_eq!((alone.columns.len(), alone.faults.len()), (1, 1));
}

#[test]
fn answers_are_kept_while_columns_move() {
    let (mut inputs, _) = url::read(ORINS);
    let before = next(None, &inputs);
    inputs.pins.list.reverse();
    let after = next(Some(&before), &inputs);
    let [a, b] = [&before.columns[0], &after.columns[1]].map(|column| column.answered.as_ref());
    assert!(Arc::ptr_eq(a.expect("readable"), b.expect("readable")));
}

#[test]
fn every_device_beside_the_default_one_has_a_sentence() {
    for device in calc_core::catalog::devices::all().step_by(3) {
        let shown =
            compared(&format!("?view=compare&c=d:jetson_orin_nano_8gb_super&c=d:{}", device.key));
        assert!(!shown.sentence.is_empty(), "{}", device.key);
    }
}

#[test]
fn a_host_is_named_as_what_is_waited_for() {
    let shown = compared(
        "?view=compare&c=model:gpt-oss-120b,d:rtx_4090,host:ddr5,hostgb:96,generate:512&c=model:gpt-oss-120b,d:h100_sxm,generate:512",
    );
    assert_eq!(shown.faults, Vec::<String>::new());
    let sentence = plain(&shown.sentence);
    assert!(sentence.contains("than GeForce RTX 4090 with 96 GB of DDR5"), "{sentence}");
    assert!(shown.line.contains("waits for the host of the card"), "{}", shown.line);
    let row = shown.rows.iter().find(|row| row.name == "Decode waits for").expect("a row");
    assert_eq!(row.cells[0].text, "the host of the card");
}

#[test]
fn a_device_with_disturbed_roofs_is_named_above_the_comparison() {
    let file = |disturbed: &str| {
        format!(
            r#"{{"key": "here", "name": "A chip", "class": "cpu", "memory_gib": 64, "bandwidth_gb_s": 50,
                "measured_bandwidth_gb_s": 50, "dense_peaks_tflops": {{"fp32": 1}}{disturbed}}}"#
        )
    };
    let said = |disturbed: &str| {
        let device = report::input::device_file::parse(&file(disturbed)).expect("a device");
        let mut inputs = Inputs::default();
        inputs.set_device(std::borrow::Cow::Owned(device));
        next(None, &inputs).warnings
    };
    assert_eq!(said(""), [""; 0]);
    let said = said(r#", "disturbed_roofs": ["bandwidth"]"#);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("A chip: 1 of 1 measured roof (bandwidth) was "), "{said:?}");
}
