// Activations in 8 bits, and products of INT8 weights with them.
//
// what       quantize: x in FP16 to INT8 or E4M3 with an FP32 scale per token (largest magnitude / 127, / 448); w8a8: y = (W·x)·s_w·s_x
//            with exact integer sums
// formula    quantize: bytes = 3·m·k + 4·m; w8a8: bytes = n·k + 4·n + m·k + 4·m + 4·m·n, flops = 2·m·n·k
// tile       quantize: a block per token; w8a8: a warp per row, 16 bytes a lane, four products of four bytes each
// arch       >=70
// registers  by `cargo xtask kernels`
// limit      memory; a launch is longer than the work of `quantize` for few tokens. Not measured on a GPU yet.
#include "formats.cuh"

// The code of E4M3 that is nearest to a value from -448 to 448, ties to even.
__device__ __forceinline__ u8 to_e4m3(float value) {
    const u32 sign = bits_of(value) >> 24 & 0x80u;
    const float size = fabsf(value);
    // Below the smallest normal number, 2^-6, codes are multiples of 2^-9.
    if (size < 0.015625f) return u8(sign | u32(rintf(size * 512.0f)));
    const u32 bits = bits_of(size);
    const u32 rounded = bits + 0x0007ffffu + (bits >> 20 & 1u);
    return u8(sign | min((rounded >> 20) - (120u << 3), 126u));
}

template <bool IS_FLOAT>
__device__ __forceinline__ void quantize(const u16 *x, u8 *codes, float *scales, int k, float most) {
    SHARED(float, part);
    const u16 *token = x + u64(blockIdx.x) * k;
    float largest = 0.0f;
    for (int i = threadIdx.x; i < k; i += blockDim.x) largest = fmaxf(largest, fabsf(of_half(token[i])));
    largest = warp_largest(largest);
    if (threadIdx.x % WARP == 0) part[threadIdx.x / WARP] = largest;
    __syncthreads();
    for (int warp = 0; warp < int(blockDim.x) / WARP; ++warp) largest = fmaxf(largest, part[warp]);
    const float scale = largest / most;
    const float inverse = scale > 0.0f ? 1.0f / scale : 0.0f;
    for (int i = threadIdx.x; i < k; i += blockDim.x) {
        const float value = fminf(fmaxf(of_half(token[i]) * inverse, -most), most);
        codes[u64(blockIdx.x) * k + i] = IS_FLOAT ? to_e4m3(value) : u8(int(rintf(value)));
    }
    if (threadIdx.x == 0) scales[blockIdx.x] = scale;
}

extern "C" __global__ void __launch_bounds__(256) quantize_int8_v1(const u16 *x, u8 *codes, float *scales, int k) {
    quantize<false>(x, codes, scales, k, 127.0f);
}
KERNEL_NAME(quantize_int8_v1)

extern "C" __global__ void __launch_bounds__(256) quantize_fp8_e4m3_v1(const u16 *x, u8 *codes, float *scales, int k) {
    quantize<true>(x, codes, scales, k, 448.0f);
}
KERNEL_NAME(quantize_fp8_e4m3_v1)

template <int M>
__device__ __forceinline__ void w8a8(const u8 *codes, const float *row_scales, const u8 *x, const float *token_scales, float *y, int n,
                                     int k, int tokens) {
    const int lane = threadIdx.x % WARP;
    const int r = int(blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP);
    if (r >= n) return; // the whole warp
    const u8 *row = codes + u64(r) * k;
    int sums[M] = {};
    for (int piece = lane; piece < k / 16; piece += WARP) {
        const uint4 w = load_once(row + 16ull * piece);
#pragma unroll
        for (int m = 0; m < M; ++m) {
            if (m < tokens) {
                const uint4 v = *reinterpret_cast<const uint4 *>(x + u64(m) * k + 16ull * piece);
#pragma unroll
                for (int i = 0; i < 4; ++i) sums[m] = dot4(int(word_of(w, i)), int(word_of(v, i)), sums[m]);
            }
        }
    }
#pragma unroll
    for (int m = 0; m < M; ++m) {
        int sum = sums[m];
        for (int offset = WARP / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, offset);
        if (lane == 0 && m < tokens) y[u64(m) * n + r] = float(sum) * row_scales[r] * token_scales[m];
    }
}

#define W8A8(m)                                                                                                         \
    extern "C" __global__ void __launch_bounds__(128) gemv_w8a8_v2_m##m(                                                \
        const u8 *codes, const float *row_scales, const u8 *x, const float *token_scales, float *y, int n, int k, int tokens) { \
        w8a8<m>(codes, row_scales, x, token_scales, y, n, k, tokens);                                                   \
    }                                                                                                                   \
    KERNEL_NAME(gemv_w8a8_v2_m##m)

W8A8(1)
W8A8(2)
W8A8(4)
W8A8(8)
W8A8(16)
