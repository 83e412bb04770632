//! Weight files for people.

use calc_core::units::Bytes;
use weights::files::{Group, sum};
use weights::stored::file_type;

use super::Document;
use crate::input::model_file::word::FileWeights;
use crate::input::weight_file::stated_formats;
use crate::number_text as n;
use crate::output::json::inspect::Inspected;
use crate::output::table::{Align, Table};
use crate::output::words::weights as words;

/// Document of weight files: bytes by role with their types, and what header and config.json state.
pub fn inspect(inspected: &Inspected<'_>) -> Document {
    let weights = &inspected.weights.weights;
    let groups = inspected.weights.groups();
    let all = sum(&groups, |_| true);
    let mut out = Document::default();
    out.heading(inspected.path);
    let files = n::counted(weights.files.len() as u64, "file", "files");
    out.line(format!("format        {}, {files}", inspected.container()));
    if let Some(architecture) = inspected.architecture() {
        out.line(format!("architecture  {architecture}"));
    }
    if let Some(nominal) = file_type(weights) {
        out.line(format!("file type     {}", nominal.name));
    }
    out.line(format!(
        "tensors       {}, {}",
        n::count(all.tensors),
        n::bytes(Bytes::new(all.bytes as f64))
    ));
    out.line(format!("parameters    {}", words::parameter_count(&all)));
    if let Ok(model) = inspected.model {
        out.line(format!("geometry      {} parameters", n::count(model.arch.n_params())));
    }
    out.table(by_role(&groups));
    out.table(stated(inspected));
    if inspected.with_tensors {
        out.table(tensors(inspected));
    }
    out.notes(inspected.notes());
    out
}

fn by_role(groups: &[Group]) -> Table {
    let mut table = Table::new(&[
        ("role", Align::Left),
        ("tensors", Align::Right),
        ("parameters", Align::Right),
        ("bytes", Align::Right),
        ("bits", Align::Right),
        ("types", Align::Left),
    ]);
    for row in words::roles(&FileWeights::of(groups)) {
        table.push(vec![row.role, row.tensors, row.parameters, row.bytes, row.bits, row.types]);
    }
    table
}

fn stated(inspected: &Inspected<'_>) -> Table {
    let mut table = Table::new(&[
        ("role", Align::Left),
        ("by the header", Align::Left),
        ("bits", Align::Right),
        ("as stated", Align::Left),
        ("bits", Align::Right),
        ("agree", Align::Left),
    ]);
    let number = |bits: Option<f64>| bits.map(|bits| n::short(bits, 4)).unwrap_or_default();
    for row in stated_formats(inspected.weights, inspected.model.ok().map(|model| &model.stored)) {
        table.push(vec![
            row.role.key().replace('_', " "),
            row.header.into(),
            number(row.header_bits),
            row.stated.into(),
            number(row.stated_bits),
            if row.agrees { "yes" } else { "no" }.into(),
        ]);
    }
    table
}

fn tensors(inspected: &Inspected<'_>) -> Table {
    let mut table = Table::new(&[
        ("tensor", Align::Left),
        ("role", Align::Left),
        ("shape", Align::Left),
        ("type", Align::Left),
        ("bytes", Align::Right),
        ("offset", Align::Right),
    ]);
    for (tensor, role) in inspected.weights.weights.tensors() {
        let shape: Vec<String> = tensor.shape.iter().map(u64::to_string).collect();
        // A name is from the file; a line break in it must not break the table.
        let name = tensor.name.replace(char::is_control, "\u{fffd}");
        table.push(vec![
            name,
            role.key().replace('_', " "),
            shape.join(" x "),
            tensor.kind.name.into(),
            tensor.bytes.to_string(),
            tensor.offset.to_string(),
        ]);
    }
    table
}
