//! Answer of `tiling` for people.

use calc_core::tiling::{Feasibility, Reuse, Tiling};

use super::Document;
use crate::number_text as n;
use crate::output::json::tiling::why;
use crate::output::table::{Align, Table};

/// Document of all tilings, best first.
pub fn tilings(title: &str, all: &[Tiling]) -> Document {
    let mut out = Document::default();
    out.heading(title);
    if let Some(best) = all.first() {
        out.line(best_tile(best));
    }
    out.table(tiling_table(all));
    out
}

/// Sentence about the best tiling.
pub fn best_tile(best: &Tiling) -> String {
    let t = best.tile;
    format!("Best: {} × {} × {} with {} stages; {}.", t.m, t.n, t.k, t.stages, why(best))
}

/// Table with a row per tiling.
pub fn tiling_table(all: &[Tiling]) -> Table {
    let mut table = Table::new(&[
        ("tile", Align::Left),
        ("stages", Align::Right),
        ("runs", Align::Left),
        ("tiles", Align::Right),
        ("waves", Align::Right),
        ("time from", Align::Right),
        ("wave eff.", Align::Right),
        ("tile eff.", Align::Right),
        ("traffic from", Align::Right),
        ("to", Align::Right),
        ("wave in L2", Align::Left),
    ]);
    for tiling in all {
        table.push(row(tiling));
    }
    table
}

fn row(tiling: &Tiling) -> Vec<String> {
    let t = tiling.tile;
    let unknown = || "unknown".to_string();
    let runs = match tiling.feasibility {
        Feasibility::Fits { .. } => "yes".into(),
        Feasibility::TooLarge { shared, available } => {
            format!("no: {} > {}", n::bytes(shared), n::bytes(available))
        }
        Feasibility::Unknown { .. } => unknown(),
    };
    let l2 = match tiling.reuse {
        Reuse::InL2 => "yes",
        Reuse::Spills => "no",
        Reuse::Unknown => "unknown",
    };
    vec![
        format!("{}×{}×{}", t.m, t.n, t.k),
        t.stages.to_string(),
        runs,
        n::count(tiling.tiles),
        tiling.waves.map_or_else(unknown, n::count),
        tiling.time.map_or_else(unknown, |time| n::time(time.total())),
        tiling.wave_efficiency.map_or_else(unknown, n::percent),
        n::percent(tiling.quantization_efficiency),
        n::bytes(tiling.bytes_low),
        n::bytes(tiling.bytes_high),
        l2.into(),
    ]
}
