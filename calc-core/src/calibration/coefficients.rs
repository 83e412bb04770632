//! The constants behind expected times, each with a physical meaning. Their values are in `fitted`; the program
//! `fit` of the crate `validation` writes them. Derivation: `docs/theory/expected.md`.

macro_rules! coefficients {
    ($($name:ident $start:literal $low:literal $high:literal $sigma:literal $doc:literal,)*) => {
        /// The constants of the model of expected times.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct Coefficients {
            $(#[doc = $doc] pub $name: f64,)*
        }

        /// Range and prior of a constant in a fit.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct Prior {
            pub name: &'static str,
            /// Starting value, and the value kept without data.
            pub start: f64,
            pub low: f64,
            pub high: f64,
            /// Standard deviation of the constant's logarithm around `start`.
            pub sigma: f64,
            pub meaning: &'static str,
        }

        impl Coefficients {
            /// All constants, in the order of [`Coefficients::values`].
            pub const PRIORS: &'static [Prior] = &[$(Prior {
                name: stringify!($name), start: $start, low: $low, high: $high, sigma: $sigma, meaning: $doc,
            },)*];

            /// The starting values of a fit.
            pub const START: Self = Self { $($name: $start,)* };

            /// The values, in the order of [`Self::PRIORS`].
            pub fn values(&self) -> [f64; Self::PRIORS.len()] {
                [$(self.$name,)*]
            }

            /// Builds the constants from values in the order of [`Self::PRIORS`].
            pub fn of(values: &[f64; Self::PRIORS.len()]) -> Self {
                let [$($name,)*] = *values;
                Self { $($name,)* }
            }
        }
    };
}

coefficients! {
    read_unified 0.92 0.8 1.0 0.05 "Share of the DRAM bandwidth that a read reaches where host and GPU share LPDDR.",
    read_gddr 0.92 0.8 1.0 0.05 "The same with GDDR.",
    read_hbm 0.90 0.75 1.0 0.05 "The same with HBM.",
    weights_int4 0.95 0.5 1.1 0.1 "Share of that which weights of less than 7.5 bits reach: unpacking costs.",
    weights_fp4 0.85 0.4 1.1 0.2 "The same where FP4 is multiplied natively.",
    cache_8bit 0.95 0.4 1.2 0.2 "The same for a KV cache of less than 12 bits.",
    alone_product 4.0 0.5 15.0 0.7 "Floor of a matrix product that is timed alone [us].",
    alone_unpacking 8.0 0.5 30.0 0.7 "What the floor grows by with weight-only formats [us].",
    alone_quantizing 2.0 0.1 20.0 0.7 "What it grows by where the input is quantized [us].",
    alone_quantizing_trt 8.0 0.5 30.0 0.7 "The same in TensorRT-LLM's plugins [us].",
    alone_attention 14.0 2.0 40.0 0.7 "Floor of attention that is timed alone [us].",
    host_small 60.0 10.0 300.0 1.0 "Least time between block-scaled FP8 products of vLLM below 32 rows: the host launches no faster [us].",
    host_large 90.0 10.0 300.0 1.0 "The same from 32 rows on [us].",
    peak_unified 0.75 0.4 1.0 0.15 "Share of the 16-bit peak that a large product reaches where nobody measured it: unified memory.",
    peak_gddr 0.85 0.4 1.2 0.15 "The same with GDDR.",
    peak_hbm 0.8 0.4 1.0 0.15 "The same with HBM.",
    peak_8bit 0.9 0.4 1.2 0.2 "Share of that which 8-bit products reach of their peak.",
    peak_4bit 0.7 0.3 1.2 0.2 "The same with 4 bits.",
    measured_narrow 0.95 0.5 1.3 0.1 "Share of a measured ceiling of 8 or 4 bits that engines reach.",
    unpacking 0.9 0.2 1.1 0.3 "Share of the 16-bit rate left where weights are unpacked to 16 bits.",
    block_int8 0.5 0.05 1.1 0.5 "Share of the INT8 rate that llama.cpp's block-quantized products reach.",
    old_instructions 0.55 0.15 1.0 0.2 "What is left of both where the full rate needs newer instructions than these kernels use (Hopper, B200, Thor).",
    reread 0.5 0.001 1.5 1.0 "Share of the inputs that unpacking kernels read again for each column of tiles when L2 cannot hold them.",
    attention 0.65 0.2 1.1 0.3 "Share of the rate of large products that attention reaches.",
    experts 0.6 0.1 1.2 0.5 "Share that products of experts reach.",
    experts_block_int8 0.6 0.05 2.0 0.5 "The same with llama.cpp's block-quantized products.",
    head_size 0.8 0.01 2.0 1.0 "Power by which llama.cpp's attention slows for every doubling or halving of a head of 128.",
    scan 0.05 0.0005 1.0 1.0 "Share of the peak that a recurrence reaches.",
    kernel 6.0 0.2 30.0 0.7 "Floor of every product and attention inside a model, at 1.8 GHz [us].",
    kernel_batched 1.5 0.3 10.0 0.5 "By how much llama.cpp's floor grows beyond a single token.",
    sequence 5.0 0.1 100.0 1.0 "What every further sequence adds to a decode step [us].",
    step_vllm 1500.0 10.0 20000.0 1.0 "What a step of vLLM costs outside the kernels [us].",
    memory_vllm 1.0 0.4 1.4 0.12 "Bandwidth that vLLM's kernels reach inside a model, against the class.",
    memory_mlc 1.0 0.4 1.4 0.12 "The same of MLC.",
    memory_gpt_fast 1.0 0.4 1.4 0.12 "The same of gpt-fast.",
    compute_vllm 1.0 0.2 2.5 0.4 "Rate that vLLM's kernels reach inside a model, against the class.",
    compute_tensorrt_llm 1.0 0.2 2.5 0.4 "The same of TensorRT-LLM.",
    floor_llama_cpp 1.0 0.1 20.0 0.5 "Floors of llama.cpp, against the class.",
    floor_tensorrt_llm 1.0 0.1 20.0 0.5 "The same of TensorRT-LLM.",
}
