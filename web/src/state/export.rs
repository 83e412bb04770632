//! Exports of an answer: the table as CSV and Markdown, the published JSON, and the formulas. Generated on demand from the
//! address, which holds all inputs.

mod compare;
mod model;
mod tiles;

pub use tiles::tiles;

use report::input::request::AnalyzeInputs;
use report::output::json;
use report::output::table::{Align, Table, csv_cell};
use report::output::work;

use super::derived::{self, RowState};
use super::fragment::{self, Carried, understand};
use super::inputs::{Inputs, View};
use super::plan;
use super::url;

/// Restores the inputs from an address: its query, and the unpacked text of its fragment.
fn inputs(query: &str, carried: &str) -> Inputs {
    fragment::arrive();
    let carried = if carried.is_empty() { Carried::Nothing } else { understand(carried) };
    url::read_beside(query, &carried).0
}

/// Content of an export; empty for an unknown kind.
pub fn export(kind: &str, query: &str, carried: &str) -> String {
    let inputs = inputs(query, carried);
    match (inputs.view, kind) {
        (View::Plan | View::Model, _) => {
            model::export(&plan::shown_inputs(&inputs), kind).unwrap_or_default()
        }
        (View::Compare, _) => compare::export(&inputs, kind).unwrap_or_default(),
        (_, kind) => of_operator(&inputs, kind),
    }
}

fn of_operator(inputs: &Inputs, kind: &str) -> String {
    match kind {
        "csv" => csv(inputs),
        "md" => markdown(inputs),
        "json" => json(inputs),
        _ => String::new(),
    }
}

/// CSV, one row per format, in base units.
fn csv(inputs: &Inputs) -> String {
    let mut text =
        String::from("format,compute,bytes,flop_per_byte,ideal_s,expected_s,low_s,high_s,error\n");
    for (format, answer) in derived::answers(inputs).unwrap_or_default() {
        text += &match answer {
            Ok(answer) => format!(
                "{},{},{},{},{},{},{},{},\n",
                format.key,
                answer.path.class.key(),
                answer.cost.traffic.total().get(),
                answer.cost.intensity().get(),
                answer.ideal.get(),
                answer.expected.time.get(),
                answer.expected.low.get(),
                answer.expected.high.get()
            ),
            Err(error) => {
                format!("{},,,,,,,,{}\n", format.key, csv_cell(&derived::refusal(&error)))
            }
        };
    }
    text
}

/// Markdown, with the numbers as the page shows them.
fn markdown(inputs: &Inputs) -> String {
    let Ok(kernel) = derived::derive(inputs) else { return String::new() };
    let mut table = Table::new(&[
        ("format", Align::Left),
        ("bytes", Align::Right),
        ("FLOP/B", Align::Right),
        ("ideal", Align::Right),
        ("expected", Align::Right),
        ("interval", Align::Right),
        (&format!("vs {}", kernel.baseline), Align::Right),
    ]);
    for row in &kernel.rows {
        table.push(match &row.state {
            RowState::Runs { cells, interval, .. } => {
                let [bytes, intensity, ideal, expected, speedup] =
                    cells.clone().map(|cell| cell.text);
                vec![row.name.clone(), bytes, intensity, ideal, expected, interval.clone(), speedup]
            }
            RowState::Refused { reason } => vec![row.name.clone(), reason.clone()],
        });
    }
    let title = derived::inputs_summary(inputs);
    format!("# {title}\n\n{} {}\n\n{}", kernel.sentence, kernel.line, table.to_markdown())
}

/// Published JSON of the analysis of the chosen format, or of the error.
fn json(inputs: &Inputs) -> String {
    let Ok(operator) = inputs.operator() else { return String::new() };
    let asked = AnalyzeInputs {
        taken: Vec::new(),
        device: inputs.device.clone(),
        power_mode: inputs.mode.as_ref().map(ToString::to_string),
        operator,
        precision: inputs.precision(inputs.format()),
        engine: None,
        calibration: inputs.own.as_ref().map(|own| own.calibration.clone()),
    };
    json::analyze::pretty(&asked)
}

/// All formulas behind the chosen format, as HTML with MathML.
pub fn show_work(query: &str, carried: &str) -> String {
    let inputs = inputs(query, carried);
    let Ok(operator) = inputs.operator() else { return String::new() };
    match derived::chosen(&inputs, operator) {
        Ok(answer) => {
            let steps = work::steps(&operator, &answer);
            let step = |step: &work::Step| {
                let title = work::expression::escaped(&step.title);
                format!("<h3>{title}</h3>{}", step.mathml())
            };
            steps.iter().map(step).collect()
        }
        Err(error) => {
            let why = work::expression::escaped(&derived::refusal(&error));
            format!("<p>{} does not run here: {why}</p>", inputs.format().short_name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::export_kinds::kinds;
    use crate::state::operator::Op;

    const QUERY: &str = "?d=t4&m=8&w=fp16&v=1";

    #[test]
    fn every_kind_has_content_for_every_operator() {
        for op in Op::ALL {
            let query = format!("?op={}&pt=a~1~0.01&v=1", op.key());
            for (kind, _) in kinds(View::Kernel) {
                assert!(export(kind, &query, "").len() > 200, "{op:?} {kind}");
            }
            assert!(show_work(&query, "").contains("<h3>Ideal time"), "{op:?}");
        }
        assert_eq!(export("exe", QUERY, ""), "");
    }

    #[test]
    fn csv_and_json_say_the_same() {
        let json = export("json", QUERY, "");
        let ideal = json.lines().find_map(|line| line.trim().strip_prefix("\"ideal_s\": "));
        let ideal = ideal.expect("a time").trim_end_matches(',');
        let csv = export("csv", QUERY, "");
        let row: Vec<&str> =
            csv.lines().find(|line| line.starts_with("fp16,")).expect("a row").split(',').collect();
        assert!(json.contains("\"key\": \"t4\""), "{json}");
        assert_eq!(row[4].parse::<f64>(), ideal.parse::<f64>());
        assert_eq!(csv.lines().next().map(|head| head.split(',').count()), Some(row.len()));
    }

    #[test]
    fn a_refused_format_is_saved_with_its_reason() {
        let query = "?w=fp64&v=1";
        assert!(export("csv", query, "").contains("no fp64 peak"));
        assert!(export("json", query, "").contains("error"));
        assert!(export("md", query, "").contains("no fp64 peak"));
        assert!(show_work(query, "").contains("does not run"));
    }

    #[test]
    fn a_device_of_ones_own_is_carried_along() {
        let mut inputs = Inputs::default();
        crate::state::editor::Draft::of(&inputs).apply(&mut inputs);
        let (query, carried) = (url::write(&inputs), crate::state::fragment::text(&inputs));
        assert!(export("json", &query, &carried).contains("jetson_orin_nano_8gb_super_copy"));
    }
}
