//! Mistakes of authors of kernels, each in the real source.

use kernels::cuda::call::products::GemvVersion;

use crate::eight_bits;
use crate::layer::{attention, prefill};
use crate::processor::Processor;
use crate::products::products_of;

/// A check that shows that a kernel is wrong.
type Check = fn(&mut Processor) -> Result<(), String>;

fn gemv(processor: &mut Processor) -> Result<(), String> {
    products_of(processor, GemvVersion::Warp)
}

fn gemv_mma(processor: &mut Processor) -> Result<(), String> {
    products_of(processor, GemvVersion::TensorCores)
}

fn gemv_8bit(processor: &mut Processor) -> Result<(), String> {
    eight_bits::on_tensor_cores(processor)
}

fn attention_of_all(processor: &mut Processor) -> Result<(), String> {
    attention(processor, false)
}

/// A file, a text in it, the mistake in its place, and the check that rejects it.
pub(crate) const MISTAKES: [(&str, &str, &str, Check); 27] = [
    (
        "gemv_8bit.cu",
        "mma_int8(sums, second, of_second);",
        "mma_int8(sums, first, of_second), (void)second;",
        gemv_8bit,
    ),
    ("gemv_8bit.cu", "sums[i] += few[i];", "sums[i] = few[i];", gemv_8bit),
    ("gemv_8bit.cu", "8 * i, n - 1)", "8 * (i % 2), n - 1)", gemv_8bit),
    (
        "gemv_8bit.cu",
        "% TILES][i % 4];\n    }\n    __syncthreads();",
        "% TILES][i % 4];\n    }",
        gemv_8bit,
    ),
    ("gemv_8bit.cu", "steps = (pieces + 3) / 4", "steps = pieces / 4", gemv_8bit),
    ("gemv.cu", "const float sum = warp_sum(sums[m]);", "const float sum = sums[m];", gemv),
    (
        "gemv.cu",
        "const int piece = first + i * WARP;",
        "const int piece = first + i * WARP - 1;",
        gemv,
    ),
    ("gemv.cu", "if (piece < pieces) {", "if (piece < pieces - 1) {", gemv),
    (
        "gemv_mma.cu",
        "const int read = piece < pieces ? piece : 0;",
        "const int read = piece;",
        gemv_mma,
    ),
    (
        "gemv_mma.cu",
        "permute(v.x, v.z, 0x5410u), b[4 * i + 1]",
        "permute(v.x, v.z, 0x1054u), b[4 * i + 1]",
        gemv_mma,
    ),
    (
        "gemv_mma.cu",
        "return of_bf16(half_at(row.scales, piece / 4));",
        "return of_bf16(half_at(row.scales, piece / 4 ? piece / 4 - 1 : 0));",
        gemv_mma,
    ),
    (
        "gemv_mma.cu",
        "sums[tile][i];\n    }\n    __syncthreads();",
        "sums[tile][i];\n    }",
        gemv_mma,
    ),
    (
        "attention.cu",
        "running[g].out[i];\n    }\n    __syncthreads();",
        "running[g].out[i];\n    }",
        attention_of_all,
    ),
    ("attention.cu", "context - fresh + token + 1", "context", attention_of_all),
    ("gemv_mma.cu", "m[1] = byte_as_half(minima, 1)", "m[1] = byte_as_half(minima, 0)", gemv_mma),
    ("gemv_mma.cu", "2 * (i % 2) + half), scale", "2 * (i % 2) + 1 - half), scale", gemv_mma),
    ("gemv_mma.cu", "rest ? 0x5432u : 0x3210u", "0x3210u", gemv_mma),
    (
        "gemv_mma.cu",
        "raw.high[i] >> (2 * quarter - 4)",
        "raw.high[i] >> (6 - 2 * quarter)",
        gemv_mma,
    ),
    ("gemv_mma.cu", "8 * of_128 + 2 * quarter + half]", "8 * of_128 + 2 * quarter]", gemv_mma),
    ("attention_mma.cu", "if (key > last_key[i / 2])", "if (key >= last_key[i / 2])", prefill),
    ("attention_mma.cu", "first + KEYS > seen_by_all", "first > seen_by_all", prefill),
    ("attention_mma.cu", "sum[h] *= fading;", "", prefill),
    ("attention_mma.cu", "query % group) * D", "query / fresh) * D", prefill),
    ("attention_mma.cu", "wait_for_copies<1>(); // of the values", "", prefill),
    ("attention_mma.cu", "__syncthreads(); // Every warp has read the keys.", "", prefill),
    ("attention_mma.cu", "__syncthreads(); // Every warp has read the values.", "", prefill),
    ("attention_mma.cu", "(chunk ^ (row & 7)) * 8", "chunk * 8", prefill),
];
