//! `validate`: scores, refusals, and exit codes.

use serde_json::Value;

use crate::run::{Folder, line};

const HEAD: &str =
    "id,device_key,engine,model_key,weight_format,phase,batch,context_len,value_ms,source\n";
pub(crate) const GOOD: &str =
    "a,t4,llama.cpp,llama-3.1-8b,gguf_q4_k,decode,1,512,25,https://example.org/a\n";

pub(crate) fn file(folder: &Folder, rows: &str) -> String {
    folder.file("rows.csv", format!("{HEAD}{rows}"))
}

#[test]
fn refused_rows_are_named_by_line_and_others_scored() {
    let folder = Folder::new();
    let name =
        file(&folder, &format!("{GOOD}b,t9,llama.cpp,llama-3.1-8b,gguf_q4_k,decode,1,512,25,\n"));
    let ended = line(&format!("validate {name} -o json"));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let value: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!(value["rows"], 1);
    assert_eq!(value["refused"][0]["line"], 3);
    assert!(value["refused"][0]["reason"].as_str().expect("text").contains("t4"));
    let point = &value["points"][0];
    let (measured, expected) = (&point["measured_s"], &point["expected_s"]);
    let error = expected.as_f64().expect("s") / measured.as_f64().expect("s") - 1.0;
    assert!((point["error"].as_f64().expect("a share") - error).abs() < 1e-12);
    assert_eq!(point["source"], "https://example.org/a");
}

#[test]
fn a_row_faster_than_the_roof_is_scored_and_flagged() {
    let folder = Folder::new();
    let name = file(&folder, &GOOD.replace(",25,", ",2,"));
    let ended = line(&format!("validate {name} -o csv"));
    assert!(ended.stdout.contains(",true,https"), "{}", ended.stdout);
}

#[test]
fn an_unmet_threshold_is_exit_code_4_after_the_answer() {
    let folder = Folder::new();
    let name = file(&folder, GOOD);
    let missed = line(&format!("validate {name} --max-median-percent 1"));
    assert_eq!(missed.code, Some(4));
    assert!(
        missed.stdout.contains("Expected times against")
            && missed.stderr.contains("the limit is 1.0 %")
    );
    assert_eq!(line(&format!("validate {name} --max-p90-percent 90")).code, Some(0));
}

#[test]
fn unusable_files_are_refused_in_one_line() {
    let folder = Folder::new();
    let nothing = file(&folder, "b,t9,llama.cpp,llama-3.1-8b,gguf_q4_k,decode,1,512,25,\n");
    let columns = folder.file("columns.csv", "a,b\n1,2\n");
    let good = folder.file("good.csv", format!("{HEAD}{GOOD}"));
    for (words, says) in [
        (format!("validate {nothing}"), "no row can be scored; line 2: unknown hardware `t9`"),
        (format!("validate {columns}"), "columns are missing: device_key"),
        ("validate missing.csv".to_owned(), "no such file"),
        (format!("validate {good} --max-median-percent -1"), "at least 0"),
        (format!("validate {good} --max-median-percent many"), "a number"),
    ] {
        let ended = line(&words);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words}");
        assert!(ended.stderr.contains(says), "{words}: {}", ended.stderr);
    }
}
