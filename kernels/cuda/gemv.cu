// Products with packed weights, Y = X·Wᵀ with 1 to 16 tokens: weights are decoded in registers and multiplied in FP32.
//
// what       y[m][n] = Σ_k x[m][k] · w[n][k], weights in any packed layout, x in FP16, y in FP32; weight-only
// formula    bytes = weights as stored + 2·m·k + 4·m·n; flops = 2·m·n·k
// tile       v1: a thread per row; v2: a warp per row, lanes share K in pieces of 16 bytes, four loads ahead, 4 rows a block; more than
//            4 tokens in groups of 4, each of which reads the weights again
// arch       >=70
// registers  by `cargo xtask kernels`
// limit      v2 decodes and multiplies each weight in FP32: near the bandwidth for wide formats and one token, below it for 4 bits
//            and for many tokens, where gemv_mma.cu takes over. Not measured on a GPU yet.
#include "formats.cuh"

struct Pair {
    float x, y;
};

// Two FP16 inputs from an address that is a multiple of 4.
__device__ __forceinline__ Pair pair_at(const u16 *x) {
    const u32 pair = *reinterpret_cast<const u32 *>(x);
    return Pair{of_half(u16(pair)), of_half(u16(pair >> 16))};
}

template <class F, int M>
__device__ __forceinline__ void add_piece(float (&sums)[M], const float (&w)[F::PIECE], const u16 *x, int first, u64 k, int tokens) {
#pragma unroll
    for (int m = 0; m < M; ++m) {
        if (m < tokens) {
            const u16 *inputs = x + m * k + first;
#pragma unroll
            for (int i = 0; i < F::PIECE; i += 2) {
                const Pair two = pair_at(inputs + i);
                sums[m] += w[i] * two.x;
                sums[m] += w[i + 1] * two.y;
            }
        }
    }
}

// v1: a thread computes a row.
template <class F>
__device__ __forceinline__ void gemv_by_thread(const Matrix &w, const u16 *x, float *y, float tensor, int n, int k, int tokens) {
    const int r = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (r >= n) return;
    const Row row = w.row(r);
    for (int m = 0; m < tokens; ++m) {
        float sum[1] = {0.0f};
        for (int piece = 0; piece < k / F::PIECE; ++piece) {
            float values[F::PIECE];
            F::decode(F::load(row.codes, piece), row, piece, values);
            add_piece<F, 1>(sum, values, x + u64(m) * k, piece * F::PIECE, k, 1);
        }
        y[u64(m) * n + r] = sum[0] * F::factor(row, tensor);
    }
}

// v2: a warp computes a row for up to M tokens; blockIdx.y is the group of tokens.
template <class F, int M>
__device__ __forceinline__ void gemv_by_warp(const Matrix &w, const u16 *x, float *y, float tensor, int n, int k, int tokens) {
    enum { AHEAD = M == 1 ? 4 : 2 };
    const int lane = threadIdx.x % WARP;
    const int r = int(blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP);
    if (r >= n) return; // the whole warp
    const Row row = w.row(r);
    x += u64(blockIdx.y) * M * k;
    y += u64(blockIdx.y) * M * n;
    tokens -= int(blockIdx.y) * M;
    const int pieces = k / F::PIECE;
    float sums[M] = {};
    for (int first = lane; first < pieces; first += WARP * AHEAD) {
        typename F::Raw raw[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            if (first + i * WARP < pieces) raw[i] = F::load(row.codes, first + i * WARP);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int piece = first + i * WARP;
            if (piece < pieces) {
                float values[F::PIECE];
                F::decode(raw[i], row, piece, values);
                add_piece<F, M>(sums, values, x, piece * F::PIECE, k, tokens);
            }
        }
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
        const float sum = warp_sum(sums[m]);
        if (lane == 0 && m < tokens) y[u64(m) * n + r] = sum * F::factor(row, tensor);
    }
}

#define ARGUMENTS                                                                                                            \
    const u8 *codes, const u8 *scales, const u8 *zeros, const float *table, u64 code_stride, u64 scale_stride, u64 zero_stride, \
        const u16 *x, float *y, float tensor, int n, int k, int tokens
#define MATRIX Matrix{codes, scales, zeros, table, code_stride, scale_stride, zero_stride}

#define BY_WARP(key, format, m)                                                                   \
    extern "C" __global__ void __launch_bounds__(128, 1) gemv_v2_##key##_m##m(ARGUMENTS) {           \
        gemv_by_warp<format, m>(MATRIX, x, y, tensor, n, k, tokens);                              \
    }                                                                                             \
    KERNEL_NAME(gemv_v2_##key##_m##m)

#define GEMV(key, format)                                                                         \
    extern "C" __global__ void __launch_bounds__(128, 1) gemv_v1_##key(ARGUMENTS) {                  \
        gemv_by_thread<format>(MATRIX, x, y, tensor, n, k, tokens);                               \
    }                                                                                             \
    KERNEL_NAME(gemv_v1_##key)                                                                    \
    BY_WARP(key, format, 1)                                                                       \
    BY_WARP(key, format, 4)

GEMV(fp32, Fp32)
GEMV(fp16, Fp16)
GEMV(bf16, Bf16)
GEMV(fp8_e4m3, Fp8E4m3)
GEMV(int8, Int8)
GEMV(int4_g32, Int4<32>)
GEMV(int4_g32_sym, Int4Sym<32>)
GEMV(int4_g128, Int4<128>)
GEMV(int4_g128_sym, Int4Sym<128>)
GEMV(nf4, Nf4)
GEMV(mxfp4, Mxfp4)
GEMV(nvfp4, Nvfp4)
GEMV(gguf_q8_0, GgufQ8_0)
GEMV(gguf_q6_k, GgufQ6K)
GEMV(gguf_q4_k, GgufQ4K)
GEMV(gguf_q4_0, GgufQ4_0)
