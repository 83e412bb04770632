//! Written by `cargo xtask fit` from the published measurements in `calc-core/validation/data`; not by hand.

use super::coefficients::Coefficients;
use super::{DeviceScale, Interval, Intervals};
use crate::text::Text;

/// The constants.
pub const CONSTANTS: Coefficients = Coefficients {
    read_unified: 0.8972,
    read_gddr: 0.9358,
    read_hbm: 0.8413,
    weights_int4: 0.9405,
    weights_fp4: 0.8654,
    cache_8bit: 0.9571,
    alone_product: 4.466,
    alone_unpacking: 10.1,
    alone_quantizing: 2.443,
    alone_quantizing_trt: 9.83,
    alone_attention: 15.08,
    host_small: 77.97,
    host_large: 108.8,
    peak_unified: 0.6763,
    peak_gddr: 0.8708,
    peak_hbm: 0.745,
    peak_8bit: 0.8981,
    peak_4bit: 0.7254,
    measured_narrow: 0.8441,
    unpacking: 0.9587,
    block_int8: 0.3797,
    old_instructions: 0.4309,
    reread: 1.169,
    attention: 0.652,
    experts: 0.3615,
    experts_block_int8: 0.5721,
    head_size: 0.6807,
    scan: 0.01223,
    kernel: 8.02,
    kernel_batched: 2.022,
    sequence: 4.181,
    step_vllm: 885.6,
    memory_vllm: 0.8796,
    memory_mlc: 0.914,
    memory_gpt_fast: 0.9154,
    compute_vllm: 0.5945,
    compute_tensorrt_llm: 0.821,
    floor_llama_cpp: 1.594,
    floor_tensorrt_llm: 1.799,
};

/// Devices of the fit, each with the number of its rows.
pub static DEVICES: [DeviceScale; 18] = [
    // 172 rows
    DeviceScale {
        device: Text::Borrowed("a100_80gb_sxm"),
        memory: 0.9442,
        compute: 0.9988,
        host: 1.0,
    },
    // 379 rows
    DeviceScale { device: Text::Borrowed("b200"), memory: 0.9648, compute: 0.9121, host: 1.768 },
    // 1 row
    DeviceScale { device: Text::Borrowed("b300"), memory: 1.0, compute: 1.021, host: 1.0 },
    // 105 rows
    DeviceScale { device: Text::Borrowed("gb10"), memory: 0.994, compute: 0.8419, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("gb200"), memory: 1.001, compute: 1.179, host: 1.0 },
    // 291 rows
    DeviceScale { device: Text::Borrowed("h100_sxm"), memory: 1.048, compute: 1.043, host: 0.8021 },
    // 126 rows
    DeviceScale {
        device: Text::Borrowed("h200_sxm"),
        memory: 0.9783,
        compute: 1.038,
        host: 0.7894,
    },
    // 12 rows
    DeviceScale {
        device: Text::Borrowed("jetson_agx_orin_64gb"),
        memory: 0.9752,
        compute: 0.9529,
        host: 1.0,
    },
    // 6 rows
    DeviceScale {
        device: Text::Borrowed("jetson_orin_nano_8gb"),
        memory: 0.9968,
        compute: 1.005,
        host: 1.0,
    },
    // 8 rows
    DeviceScale {
        device: Text::Borrowed("jetson_orin_nano_8gb_super"),
        memory: 0.9846,
        compute: 0.7192,
        host: 1.0,
    },
    // 31 rows
    DeviceScale {
        device: Text::Borrowed("jetson_t5000"),
        memory: 1.004,
        compute: 0.9333,
        host: 1.0,
    },
    // 5 rows
    DeviceScale { device: Text::Borrowed("l40s"), memory: 0.9615, compute: 1.061, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("rtx_3060_12gb"), memory: 1.007, compute: 1.0, host: 1.0 },
    // 36 rows
    DeviceScale { device: Text::Borrowed("rtx_4090"), memory: 1.044, compute: 1.008, host: 1.0 },
    // 6 rows
    DeviceScale { device: Text::Borrowed("rtx_5070"), memory: 0.9802, compute: 1.0, host: 1.0 },
    // 1 row
    DeviceScale { device: Text::Borrowed("rtx_5090"), memory: 1.002, compute: 1.048, host: 1.0 },
    // 126 rows
    DeviceScale {
        device: Text::Borrowed("rtx_pro_6000_blackwell"),
        memory: 1.032,
        compute: 0.9579,
        host: 1.0,
    },
    // 1 row
    DeviceScale { device: Text::Borrowed("t4"), memory: 0.9921, compute: 1.0, host: 1.0 },
];

/// Where about 80 % of the left-out measurements lay: with the device in the fit, and without.
pub const INTERVALS: Intervals = Intervals {
    decode: [Interval { low: 0.8988, high: 1.133 }, Interval { low: 0.9015, high: 1.14 }],
    batched: [Interval { low: 0.7343, high: 1.107 }, Interval { low: 0.7359, high: 1.118 }],
    prefill: [Interval { low: 0.8683, high: 1.581 }, Interval { low: 0.9108, high: 1.801 }],
    alone: [Interval { low: 0.8782, high: 1.185 }, Interval { low: 0.8229, high: 1.272 }],
};
