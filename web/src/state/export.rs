//! Exports of an answer: the table as CSV and Markdown, the published JSON, the formulas and the tiles. Generated on demand, in
//! a chunk.

mod compare;
mod model;
mod tiles;

use report::input::device_file::DeviceFile;
use report::input::request::AnalyzeInputs;
use report::output::json;
use report::output::table::{Align, Table, csv_cell};
use report::output::work;

use super::derived::{self, RowState};
use super::export_kinds::Document;
use super::fragment::{self, Fragment, parse};
use super::inputs::{Inputs, View};
use super::plan;
use super::url;

/// Content of a document; empty for an unknown kind.
pub fn document(document: Document, inputs: &Inputs) -> String {
    fragment::load_device_codec();
    let inputs = &as_linked(inputs);
    match document {
        Document::Answer(kind) => answer(kind, inputs),
        Document::Work => show_work(inputs),
        Document::Tiles => tiles::tiles(inputs),
        Document::DeviceFile => device_file(inputs),
    }
}

/// The inputs that the page's link opens: a document shows what its link shows, also while a field is invalid.
fn as_linked(inputs: &Inputs) -> Inputs {
    let text = fragment::text(inputs);
    let fragment = if text.is_empty() { Fragment::Empty } else { parse(&text) };
    url::read_beside(&url::write(inputs), &fragment).0
}

fn device_file(inputs: &Inputs) -> String {
    let copy_of = inputs.copy_of.map(|device| &*device.key);
    let file = DeviceFile::of(&inputs.device, copy_of).to_json();
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}

fn answer(kind: &str, inputs: &Inputs) -> String {
    match inputs.view {
        View::Plan | View::Model => {
            model::export(&plan::shown_inputs(inputs).0, kind).unwrap_or_default()
        }
        View::Compare => compare::export(inputs, kind).unwrap_or_default(),
        View::Explore | View::Kernel | View::Trust | View::Measure => of_operator(inputs, kind),
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
fn show_work(inputs: &Inputs) -> String {
    let Ok(operator) = inputs.operator() else { return String::new() };
    match derived::chosen(inputs, operator) {
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

    /// The document of an address.
    pub(super) fn of(document: Document, query: &str) -> String {
        super::document(document, &url::read(query).0)
    }

    /// The answer of an address as a file.
    pub(super) fn export(kind: &'static str, query: &str) -> String {
        of(Document::Answer(kind), query)
    }

    #[test]
    fn every_kind_has_content_for_every_operator() {
        for op in Op::ALL {
            let query = format!("?op={}&pt=a~1~0.01&v=1", op.key());
            for (kind, _) in kinds(View::Kernel) {
                assert!(export(kind, &query).len() > 200, "{op:?} {kind}");
            }
            assert!(of(Document::Work, &query).contains("<h3>Ideal time"), "{op:?}");
        }
        assert_eq!(export("exe", QUERY), "");
    }

    #[test]
    fn csv_and_json_say_the_same() {
        let json = export("json", QUERY);
        let ideal = json.lines().find_map(|line| line.trim().strip_prefix("\"ideal_s\": "));
        let ideal = ideal.expect("a time").trim_end_matches(',');
        let csv = export("csv", QUERY);
        let row: Vec<&str> =
            csv.lines().find(|line| line.starts_with("fp16,")).expect("a row").split(',').collect();
        assert!(json.contains("\"key\": \"t4\""), "{json}");
        assert_eq!(row[4].parse::<f64>(), ideal.parse::<f64>());
        assert_eq!(csv.lines().next().map(|head| head.split(',').count()), Some(row.len()));
    }

    #[test]
    fn a_refused_format_is_saved_with_its_reason() {
        let query = "?w=fp64&v=1";
        assert!(export("csv", query).contains("no fp64 peak"));
        assert!(export("json", query).contains("error"));
        assert!(export("md", query).contains("no fp64 peak"));
        assert!(of(Document::Work, query).contains("does not run"));
    }

    #[test]
    fn a_device_of_ones_own_is_carried_along() {
        let mut inputs = Inputs::default();
        crate::state::editor::Draft::of(&inputs).apply(&mut inputs);
        for kind in [Document::Answer("json"), Document::DeviceFile] {
            assert!(document(kind, &inputs).contains("jetson_orin_nano_8gb_super_copy"));
        }
    }
}
