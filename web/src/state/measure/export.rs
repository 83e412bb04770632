//! Exports of records: JSON as the daemon and `ridgepoint bench` write it, and CSV in base units.

use protocol::bench::BenchRecord;
use report::output::table::csv_cell;

/// The records as JSON.
pub fn json(records: &[BenchRecord]) -> String {
    serde_json::to_string_pretty(records).map(|text| text + "\n").unwrap_or_default()
}

/// CSV, one row per record; values that the machine cannot report are empty.
pub fn csv(records: &[BenchRecord]) -> String {
    let mut text = String::from(
        "kernel,route,backend,index,device,m,n,k,sizes,weights,activations,cache,bytes,flops,median_s,low_s,high_s,samples,byte_per_s,flop_per_s,energy_j,check_passed,flags\n",
    );
    for it in records {
        let size = |of: fn(&protocol::bench::Shape) -> u64| {
            it.shape.as_ref().map_or_else(String::new, |shape| of(shape).to_string())
        };
        let cells = [
            csv_cell(&it.kernel),
            csv_cell(&it.route),
            csv_cell(&it.backend),
            it.index.to_string(),
            csv_cell(&it.device),
            size(|shape| shape.m),
            size(|shape| shape.n),
            size(|shape| shape.k),
            csv_cell(&sizes(it)),
            csv_cell(it.precision.as_ref().map_or("", |formats| &formats.weights)),
            csv_cell(it.precision.as_ref().map_or("", |formats| &formats.activations)),
            csv_cell(&it.cache),
            it.bytes.to_string(),
            it.flops.to_string(),
            it.time_s.median.to_string(),
            it.time_s.low.to_string(),
            it.time_s.high.to_string(),
            it.time_s.n.to_string(),
            number(it.byte_per_s),
            number(it.flop_per_s),
            number(it.energy_j),
            it.check.passed.to_string(),
            csv_cell(&it.flags.join(" ")),
        ];
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// Sizes by name, as in `heads=32 kv_heads=8`.
fn sizes(record: &BenchRecord) -> String {
    let each = record.sizes.iter().map(|(name, size)| format!("{name}={size}"));
    each.collect::<Vec<_>>().join(" ")
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden(name: &str) -> BenchRecord {
        let path = format!("../companion/protocol/tests/golden/v1/server_event_{name}.json");
        let text = std::fs::read_to_string(path).expect("a golden file");
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        serde_json::from_value(value["say"]["event"]["record"].clone()).expect("a record")
    }

    #[test]
    fn both_forms_have_all_records() {
        let records = vec![golden("result"), golden("result_attention")];
        let back: Vec<BenchRecord> = serde_json::from_str(&json(&records)).expect("JSON");
        assert_eq!(back, records);
        let csv = csv(&records);
        let widths: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(widths, [23, 23, 23]);
        let second = BenchRecord { index: 1, ..records[0].clone() };
        let [first, second] =
            [&records[0], &second].map(|it| super::csv(core::slice::from_ref(it)));
        assert_ne!(first, second, "two devices of one backend");
        assert!(second.contains(",cpu,1,"), "{second}");
        assert!(csv.contains(",0.001,0.0009,0.0012,3,") && csv.ends_with(",true,contended\n"));
        let sizes = "batch=1 context=4096 head_dim=128 heads=32 kv_heads=8 new=1";
        assert!(csv.contains(&format!(",,,,{sizes},fp16,fp32,")), "{csv}");
    }
}
