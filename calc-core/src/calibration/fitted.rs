//! Written by `cargo xtask fit` from the published measurements in `calc-core/validation/data`; not by hand.

use super::coefficients::Coefficients;
use super::{DeviceScale, Interval, Intervals};
use crate::text::Text;

/// The constants.
pub const CONSTANTS: Coefficients = Coefficients {
    read_unified: 0.8946,
    read_gddr: 0.9332,
    read_hbm: 0.8418,
    weights_int4: 0.9577,
    weights_fp4: 0.8611,
    cache_8bit: 0.9599,
    skew: 0.7903,
    alone_product: 4.513,
    alone_unpacking: 11.01,
    alone_quantizing: 2.508,
    alone_quantizing_trt: 9.851,
    alone_attention: 15.08,
    host_small: 77.97,
    host_large: 108.8,
    peak_unified: 0.6718,
    peak_gddr: 0.8612,
    peak_hbm: 0.7413,
    peak_8bit: 0.8989,
    peak_4bit: 0.7301,
    measured_narrow: 0.8406,
    unpacking: 0.9554,
    block_int8: 0.3816,
    old_instructions: 0.4317,
    waves: 0.4116,
    overlap: 4.286,
    reread: 1.165,
    attention: 0.6527,
    experts: 0.365,
    experts_block_int8: 0.5608,
    head_size: 0.5764,
    scan: 0.01233,
    kernel: 8.103,
    kernel_batched: 2.334,
    sequence: 4.287,
    step_vllm: 940.1,
    memory_vllm: 0.8782,
    memory_mlc: 0.9044,
    memory_gpt_fast: 0.9153,
    compute_vllm: 0.5907,
    compute_tensorrt_llm: 0.8132,
    floor_llama_cpp: 1.635,
    floor_tensorrt_llm: 1.317,
};

/// Devices of the fit, each with the number of its rows.
pub static DEVICES: [DeviceScale; 18] = [
    // 172 rows
    DeviceScale {
        device: Text::Borrowed("a100_80gb_sxm"),
        memory: 0.9428,
        compute: 0.9973,
        host: 1.0,
    },
    // 379 rows
    DeviceScale { device: Text::Borrowed("b200"), memory: 0.9699, compute: 0.9077, host: 1.768 },
    // 1 row
    DeviceScale { device: Text::Borrowed("b300"), memory: 1.0, compute: 1.02, host: 1.0 },
    // 105 rows
    DeviceScale { device: Text::Borrowed("gb10"), memory: 0.9867, compute: 0.8324, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("gb200"), memory: 1.001, compute: 1.18, host: 1.0 },
    // 291 rows
    DeviceScale { device: Text::Borrowed("h100_sxm"), memory: 1.044, compute: 1.038, host: 0.8021 },
    // 126 rows
    DeviceScale {
        device: Text::Borrowed("h200_sxm"),
        memory: 0.9794,
        compute: 1.038,
        host: 0.7894,
    },
    // 12 rows
    DeviceScale {
        device: Text::Borrowed("jetson_agx_orin_64gb"),
        memory: 0.9724,
        compute: 0.9569,
        host: 1.0,
    },
    // 6 rows
    DeviceScale {
        device: Text::Borrowed("jetson_orin_nano_8gb"),
        memory: 0.9953,
        compute: 1.007,
        host: 1.0,
    },
    // 8 rows
    DeviceScale {
        device: Text::Borrowed("jetson_orin_nano_8gb_super"),
        memory: 0.983,
        compute: 0.719,
        host: 1.0,
    },
    // 31 rows
    DeviceScale {
        device: Text::Borrowed("jetson_t5000"),
        memory: 0.9948,
        compute: 0.9313,
        host: 1.0,
    },
    // 5 rows
    DeviceScale { device: Text::Borrowed("l40s"), memory: 0.9595, compute: 1.067, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("rtx_3060_12gb"), memory: 1.006, compute: 1.0, host: 1.0 },
    // 36 rows
    DeviceScale { device: Text::Borrowed("rtx_4090"), memory: 1.046, compute: 1.005, host: 1.0 },
    // 6 rows
    DeviceScale { device: Text::Borrowed("rtx_5070"), memory: 0.9776, compute: 1.0, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("rtx_5090"), memory: 1.002, compute: 1.044, host: 1.0 },
    // 126 rows
    DeviceScale {
        device: Text::Borrowed("rtx_pro_6000_blackwell"),
        memory: 1.034,
        compute: 0.9449,
        host: 1.0,
    },
    // 1 row
    DeviceScale { device: Text::Borrowed("t4"), memory: 0.9923, compute: 1.0, host: 1.0 },
];

/// Where about 80 % of the left-out measurements lay: with the device in the fit, and without.
pub const INTERVALS: Intervals = Intervals {
    decode: [Interval { low: 0.8954, high: 1.123 }, Interval { low: 0.911, high: 1.145 }],
    batched: [Interval { low: 0.8645, high: 1.163 }, Interval { low: 0.841, high: 1.131 }],
    prefill: [Interval { low: 0.844, high: 1.552 }, Interval { low: 0.8607, high: 1.789 }],
    alone: [Interval { low: 0.8843, high: 1.188 }, Interval { low: 0.8235, high: 1.284 }],
};
