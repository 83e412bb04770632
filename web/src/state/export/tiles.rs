//! Tiles and waves of a matrix product on the device: all tiles of the model, best first, as HTML.

use calc_core::analysis::Operator;
use calc_core::error::Error;
use calc_core::roofline::Roofs;
use calc_core::tiling::{Tiling, tilings};
use report::output::summary::{best_tile, tiling_table};
use report::output::work::expression::escaped;

use crate::state::derived::refusal;
use crate::state::inputs::Inputs;

/// Table of the tiles with the chosen format; empty if the operator is not a matrix product or an input is invalid.
pub(super) fn tiles(inputs: &Inputs) -> String {
    let Ok(Operator::Gemm(_)) = inputs.operator() else { return String::new() };
    match ranked(inputs) {
        Ok(all) => {
            let best = all.first().map(best_tile).unwrap_or_default();
            format!("<p>{}</p>{}", escaped(&best), tiling_table(&all).to_html())
        }
        Err(error) => format!("<p>{}</p>", escaped(&refusal(&error))),
    }
}

fn ranked(inputs: &Inputs) -> Result<Vec<Tiling>, Error> {
    let Ok(Operator::Gemm(shape)) = inputs.operator() else { return Ok(Vec::new()) };
    let roofs = Roofs::new(&inputs.device, inputs.power_mode())?;
    let precision = inputs.precision(inputs.format()).resolve(&roofs);
    roofs.compute_path(precision.weights, precision.activations)?;
    tilings(&inputs.device, &roofs, shape, &precision)
}

#[cfg(test)]
mod tests {
    use crate::state::export::tests::of;
    use crate::state::export_kinds::Document;

    #[test]
    fn every_tile_has_a_row_with_all_that_is_known() {
        let html = of(Document::Tiles, "?d=a100_80gb_sxm&m=4096&n=4096&k=4096&w=fp16&v=1");
        assert!(html.starts_with("<p>Best: ") && html.contains("of shared memory"), "{html}");
        let rows = html.matches("<tr>").count();
        assert!(rows > 5, "{rows}");
        assert_eq!(html.matches("<td").count(), (rows - 1) * html.matches("<th ").count());
        assert!(!html.contains("unknown"), "{html}");
    }

    #[test]
    fn what_nobody_published_is_unknown_and_what_does_not_run_is_said() {
        let unknown = of(Document::Tiles, "?d=tpu_v5e&w=bf16&v=1");
        assert!(unknown.contains("<td class=\"number\">unknown</td>"), "{unknown}");
        assert!(of(Document::Tiles, "?w=fp64&v=1").contains("no fp64 peak"));
        for query in ["?op=attention&v=1", "?op=norm&v=1"] {
            assert_eq!(of(Document::Tiles, query), "", "{query}");
        }
    }
}
