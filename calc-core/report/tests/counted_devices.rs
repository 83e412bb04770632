//! A number of devices in the name of the hardware.

use report::input::request::{EstimateInputs, Fields, Library};

#[test]
fn hardware_may_count_devices() {
    let parsed = |line: &str| {
        let fields = Fields::from_line(line).expect("JSON");
        EstimateInputs::parse(fields, &Library::CATALOGS).map_err(|error| error.to_string())
    };
    for (hardware, key, ways) in [
        ("8 H200", "h200_sxm", 8),
        ("2 x dgx spark", "gb10", 2),
        ("2 dgx sparks", "gb10", 2),
        ("1 x rtx 4090", "rtx_4090", 1),
        ("rtx 4090", "rtx_4090", 1),
        ("8 GB Orin Nano Super", "jetson_orin_nano_8gb_super", 1),
    ] {
        let inputs = parsed(&format!(r#"{{"hardware":"{hardware}","model":"qwen3-8b"}}"#));
        let inputs = inputs.expect(hardware);
        assert_eq!((&*inputs.device.key, inputs.workload.parallel.tensor), (key, ways));
        let is_said = inputs.taken.iter().any(|note| note.contains("tensor_parallel"));
        assert_eq!(is_said, ways > 1, "{hardware}: {:?}", inputs.taken);
    }
    let split = parsed(r#"{"hardware":"2 x gb10","model":"qwen3-8b","pipeline_parallel":2}"#);
    assert_eq!(split.expect("a split").workload.parallel.pipeline.stages(), 2);
    let wrong = parsed(r#"{"hardware":"2 x gb10","model":"qwen3-8b","tensor_parallel":4}"#);
    assert!(wrong.expect_err("another number").contains("must be from 2 to 2; got 4"));
    let unknown = parsed(r#"{"hardware":"2 x h10o","model":"qwen3-8b"}"#);
    assert!(unknown.expect_err("no device").contains("unknown hardware"));
}
