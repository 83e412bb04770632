//! Written by `cargo xtask fit` from the published measurements in `calc-core/validation/data`; not by hand.

use super::coefficients::Coefficients;
use super::{DeviceScale, Interval, Intervals};
use crate::text::Text;

/// The constants.
pub const CONSTANTS: Coefficients = Coefficients {
    read_unified: 0.895,
    read_gddr: 0.9351,
    read_hbm: 0.8415,
    weights_int4: 0.9561,
    weights_fp4: 0.86,
    cache_8bit: 0.9591,
    skew: 0.7896,
    alone_product: 4.474,
    alone_unpacking: 10.33,
    alone_quantizing: 2.438,
    alone_quantizing_trt: 9.815,
    alone_attention: 15.07,
    host_small: 77.97,
    host_large: 108.8,
    peak_unified: 0.6731,
    peak_gddr: 0.8761,
    peak_hbm: 0.745,
    peak_8bit: 0.8981,
    peak_4bit: 0.7252,
    measured_narrow: 0.8442,
    unpacking: 0.9586,
    block_int8: 0.3823,
    old_instructions: 0.4308,
    reread: 1.156,
    attention: 0.6516,
    experts: 0.3639,
    experts_block_int8: 0.561,
    head_size: 0.5771,
    scan: 0.01234,
    kernel: 8.047,
    kernel_batched: 2.316,
    sequence: 3.931,
    step_vllm: 902.5,
    memory_vllm: 0.8785,
    memory_mlc: 0.9086,
    memory_gpt_fast: 0.9144,
    compute_vllm: 0.5921,
    compute_tensorrt_llm: 0.8041,
    floor_llama_cpp: 1.641,
    floor_tensorrt_llm: 1.317,
};

/// Devices of the fit, each with the number of its rows.
pub static DEVICES: [DeviceScale; 18] = [
    // 172 rows
    DeviceScale {
        device: Text::Borrowed("a100_80gb_sxm"),
        memory: 0.9435,
        compute: 0.9992,
        host: 1.0,
    },
    // 379 rows
    DeviceScale { device: Text::Borrowed("b200"), memory: 0.9686, compute: 0.9122, host: 1.768 },
    // 1 row
    DeviceScale { device: Text::Borrowed("b300"), memory: 1.0, compute: 1.021, host: 1.0 },
    // 105 rows
    DeviceScale { device: Text::Borrowed("gb10"), memory: 0.9866, compute: 0.8331, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("gb200"), memory: 1.001, compute: 1.179, host: 1.0 },
    // 291 rows
    DeviceScale { device: Text::Borrowed("h100_sxm"), memory: 1.045, compute: 1.042, host: 0.8021 },
    // 126 rows
    DeviceScale {
        device: Text::Borrowed("h200_sxm"),
        memory: 0.9784,
        compute: 1.037,
        host: 0.7894,
    },
    // 12 rows
    DeviceScale {
        device: Text::Borrowed("jetson_agx_orin_64gb"),
        memory: 0.9728,
        compute: 0.9559,
        host: 1.0,
    },
    // 6 rows
    DeviceScale {
        device: Text::Borrowed("jetson_orin_nano_8gb"),
        memory: 0.9952,
        compute: 1.009,
        host: 1.0,
    },
    // 8 rows
    DeviceScale {
        device: Text::Borrowed("jetson_orin_nano_8gb_super"),
        memory: 0.9838,
        compute: 0.719,
        host: 1.0,
    },
    // 31 rows
    DeviceScale {
        device: Text::Borrowed("jetson_t5000"),
        memory: 0.9946,
        compute: 0.9326,
        host: 1.0,
    },
    // 5 rows
    DeviceScale { device: Text::Borrowed("l40s"), memory: 0.96, compute: 1.064, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("rtx_3060_12gb"), memory: 1.006, compute: 1.0, host: 1.0 },
    // 36 rows
    DeviceScale { device: Text::Borrowed("rtx_4090"), memory: 1.048, compute: 1.017, host: 1.0 },
    // 6 rows
    DeviceScale { device: Text::Borrowed("rtx_5070"), memory: 0.9772, compute: 1.0, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("rtx_5090"), memory: 1.002, compute: 1.048, host: 1.0 },
    // 126 rows
    DeviceScale {
        device: Text::Borrowed("rtx_pro_6000_blackwell"),
        memory: 1.034,
        compute: 0.9524,
        host: 1.0,
    },
    // 1 row
    DeviceScale { device: Text::Borrowed("t4"), memory: 0.9923, compute: 1.0, host: 1.0 },
];

/// Where about 80 % of the left-out measurements lay: with the device in the fit, and without.
pub const INTERVALS: Intervals = Intervals {
    decode: [Interval { low: 0.8946, high: 1.132 }, Interval { low: 0.9069, high: 1.144 }],
    batched: [Interval { low: 0.8624, high: 1.166 }, Interval { low: 0.8411, high: 1.129 }],
    prefill: [Interval { low: 0.8526, high: 1.572 }, Interval { low: 0.8568, high: 1.802 }],
    alone: [Interval { low: 0.8784, high: 1.187 }, Interval { low: 0.8235, high: 1.273 }],
};
