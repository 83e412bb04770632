//! Written by `cargo xtask fit` from the published measurements in `calc-core/validation/data`; not by hand.

use super::coefficients::Coefficients;
use super::{DeviceScale, Interval, Intervals, PairRatios};
use crate::text::Text;

/// The constants.
pub const CONSTANTS: Coefficients = Coefficients {
    read_unified: 0.8962,
    read_gddr: 0.9407,
    read_hbm: 0.8414,
    weights_int4: 0.9475,
    weights_fp4: 0.8657,
    cache_8bit: 0.957,
    alone_product: 4.47,
    alone_unpacking: 10.21,
    alone_quantizing: 2.442,
    alone_quantizing_trt: 9.83,
    alone_attention: 15.08,
    host_small: 77.97,
    host_large: 108.8,
    peak_unified: 0.676,
    peak_gddr: 0.8707,
    peak_hbm: 0.7449,
    peak_8bit: 0.898,
    peak_4bit: 0.7254,
    measured_narrow: 0.8442,
    unpacking: 0.9588,
    block_int8: 0.3794,
    old_instructions: 0.4307,
    reread: 1.168,
    attention: 0.652,
    experts: 0.3621,
    experts_block_int8: 0.5704,
    head_size: 0.6746,
    scan: 0.01226,
    kernel: 8.038,
    kernel_batched: 1.927,
    sequence: 4.166,
    step_vllm: 881.5,
    memory_vllm: 0.879,
    memory_mlc: 0.9115,
    memory_gpt_fast: 0.9149,
    compute_vllm: 0.5939,
    compute_tensorrt_llm: 0.8207,
    floor_llama_cpp: 1.659,
    floor_tensorrt_llm: 1.797,
};

/// Devices of the fit, each with the number of its rows.
pub static DEVICES: [DeviceScale; 18] = [
    // 172 rows
    DeviceScale {
        device: Text::Borrowed("a100_80gb_sxm"),
        memory: 0.9441,
        compute: 0.9989,
        host: 1.0,
    },
    // 379 rows
    DeviceScale { device: Text::Borrowed("b200"), memory: 0.9649, compute: 0.9121, host: 1.768 },
    // 1 row
    DeviceScale { device: Text::Borrowed("b300"), memory: 1.0, compute: 1.021, host: 1.0 },
    // 105 rows
    DeviceScale { device: Text::Borrowed("gb10"), memory: 0.9876, compute: 0.843, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("gb200"), memory: 1.001, compute: 1.179, host: 1.0 },
    // 291 rows
    DeviceScale { device: Text::Borrowed("h100_sxm"), memory: 1.048, compute: 1.042, host: 0.8021 },
    // 126 rows
    DeviceScale {
        device: Text::Borrowed("h200_sxm"),
        memory: 0.9784,
        compute: 1.038,
        host: 0.7894,
    },
    // 12 rows
    DeviceScale {
        device: Text::Borrowed("jetson_agx_orin_64gb"),
        memory: 0.9741,
        compute: 0.9532,
        host: 1.0,
    },
    // 6 rows
    DeviceScale {
        device: Text::Borrowed("jetson_orin_nano_8gb"),
        memory: 0.9961,
        compute: 1.006,
        host: 1.0,
    },
    // 8 rows
    DeviceScale {
        device: Text::Borrowed("jetson_orin_nano_8gb_super"),
        memory: 0.9842,
        compute: 0.7191,
        host: 1.0,
    },
    // 31 rows
    DeviceScale {
        device: Text::Borrowed("jetson_t5000"),
        memory: 1.004,
        compute: 0.9328,
        host: 1.0,
    },
    // 5 rows
    DeviceScale { device: Text::Borrowed("l40s"), memory: 0.9614, compute: 1.061, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("rtx_3060_12gb"), memory: 1.007, compute: 1.0, host: 1.0 },
    // 36 rows
    DeviceScale { device: Text::Borrowed("rtx_4090"), memory: 1.043, compute: 1.008, host: 1.0 },
    // 6 rows
    DeviceScale { device: Text::Borrowed("rtx_5070"), memory: 0.9901, compute: 1.0, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("rtx_5090"), memory: 1.002, compute: 1.049, host: 1.0 },
    // 126 rows
    DeviceScale {
        device: Text::Borrowed("rtx_pro_6000_blackwell"),
        memory: 1.028,
        compute: 0.958,
        host: 1.0,
    },
    // 1 row
    DeviceScale { device: Text::Borrowed("t4"), memory: 0.9924, compute: 1.0, host: 1.0 },
];

/// Where about 80 % of the left-out measurements lay: with the device in the fit, and without.
pub const INTERVALS: Intervals = Intervals {
    decode: [Interval { low: 0.9081, high: 1.134 }, Interval { low: 0.8987, high: 1.142 }],
    batched: [Interval { low: 0.7355, high: 1.11 }, Interval { low: 0.7367, high: 1.116 }],
    prefill: [Interval { low: 0.8678, high: 1.58 }, Interval { low: 0.9128, high: 1.803 }],
    alone: [Interval { low: 0.8782, high: 1.185 }, Interval { low: 0.8228, high: 1.272 }],
    pairs: PairRatios { decode: 1.194, prefill: 1.507, alone: 1.658 },
};
