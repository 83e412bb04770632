// The kernels of a layer beside its products and attention.
//
// what       norm: residual += branch, y = residual / rms · weight; rope: rotation of the halves of a head, in place; gate: SiLU(gate) · up;
//            embedding: rows of a table in any float, as FP32. Numbers between operators in FP32 or FP16, all arithmetic in FP32
// formula    bytes = 4 · tokens · width (norm), 2 · tokens · heads · width (rope), 3 · tokens · width (gate) numbers; tokens · width
//            numbers of the table and of FP32 (embedding)
// tile       a block per token (norm, embedding), a thread per pair or element (rope, gate)
// arch       >=70
// registers  by `cargo xtask kernels`
// limit      memory from some hundred tokens on, the launch below. Not measured on a GPU yet.
#include "formats.cuh"

template <class C>
__device__ __forceinline__ void add_norm(typename C::Stored *residual, const typename C::Stored *branch, const float *weight,
                                         typename C::Stored *y, int width, float epsilon) {
    SHARED(float, part);
    const u64 first = u64(blockIdx.x) * width;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        // The sum is rounded as it is stored, so that the norm is that of the stored residual.
        const typename C::Stored stored = C::to(C::of(residual[first + i]) + C::of(branch[first + i]));
        residual[first + i] = stored;
        squares += C::of(stored) * C::of(stored);
    }
    squares = block_sum(squares, part);
    const float factor = 1.0f / root(squares / float(width) + epsilon);
    for (int i = threadIdx.x; i < width; i += blockDim.x) y[first + i] = C::to(C::of(residual[first + i]) * factor * weight[i]);
}

template <class C>
__device__ __forceinline__ void rope(typename C::Stored *x, const float *cosines, const float *sines, int heads, int width, u64 pairs) {
    const u64 at = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= pairs) return;
    const int half = width / 2, i = int(at % half);
    const u64 head = at / half, token = head / heads;
    typename C::Stored *a = x + head * width + i, *b = a + half;
    const float cosine = cosines[token * half + i], sine = sines[token * half + i];
    const float left = C::of(*a), right = C::of(*b);
    *a = C::to(left * cosine - right * sine);
    *b = C::to(right * cosine + left * sine);
}

template <class C>
__device__ __forceinline__ void gate(const typename C::Stored *gates, const typename C::Stored *ups, typename C::Stored *y, u64 count) {
    const u64 at = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= count) return;
    const float g = C::of(gates[at]);
    y[at] = C::to(g / (1.0f + exponential(-g)) * C::of(ups[at]));
}

#define LAYER(key, C)                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(256)                                                                                 \
        norm_##key##_v1(C::Stored *residual, const C::Stored *branch, const float *weight, C::Stored *y, int width, float epsilon) {  \
        add_norm<C>(residual, branch, weight, y, width, epsilon);                                                                     \
    }                                                                                                                                 \
    KERNEL_NAME(norm_##key##_v1)                                                                                                      \
    extern "C" __global__ void __launch_bounds__(256)                                                                                 \
        rope_##key##_v1(C::Stored *x, const float *cosines, const float *sines, int heads, int width, u64 pairs) {                    \
        rope<C>(x, cosines, sines, heads, width, pairs);                                                                              \
    }                                                                                                                                 \
    KERNEL_NAME(rope_##key##_v1)                                                                                                      \
    extern "C" __global__ void __launch_bounds__(256) gate_##key##_v1(const C::Stored *gates, const C::Stored *ups, C::Stored *y, u64 count) { \
        gate<C>(gates, ups, y, count);                                                                                                \
    }                                                                                                                                 \
    KERNEL_NAME(gate_##key##_v1)

LAYER(fp32, AsFp32)
LAYER(fp16, AsFp16)

// Rows of a table in FP32. A token beyond the table gives zeros.
template <class C>
__device__ __forceinline__ void embedding(const typename C::Stored *table, const u32 *tokens, float *y, int width, u32 vocabulary) {
    const u32 token = tokens[blockIdx.x];
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        y[u64(blockIdx.x) * width + i] = token < vocabulary ? C::of(table[u64(token) * width + i]) : 0.0f;
    }
}

#define EMBEDDING(key, C)                                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                      \
        embedding_##key##_v1(const C::Stored *table, const u32 *tokens, float *y, int width, u32 vocabulary) { \
        embedding<C>(table, tokens, y, width, vocabulary);                                                 \
    }                                                                                                      \
    KERNEL_NAME(embedding_##key##_v1)

EMBEDDING(fp32, AsFp32)
EMBEDDING(fp16, AsFp16)
EMBEDDING(bf16, AsBf16)
EMBEDDING(fp8_e4m3, AsFp8E4m3)
