// Causal attention over a KV cache with grouped query heads: decode of one token, or prefill of several.
//
// what       o = softmax(q·Kᵀ / √d)·V for the last `fresh` of `context` tokens of each sequence; queries and output in FP32, keys and
//            values in FP32, FP16, BF16 or E4M3 without a scale, as [sequence][KV head][token][d]; d a multiple of 32 up to 256
// formula    bytes = keys and values once per KV head + 8 · queries · d; flops = 4 · pairs of query and key · d
// tile       v1: a warp per query, which goes over all its keys. v2: a block of 4 warps per KV head and token, which share the keys; all
//            query heads of a group use a key while it is in registers; the parts are merged in shared memory
// arch       >=70
// registers  by `cargo xtask kernels`
// limit      v2 reads every key once, with a few sequences too few blocks fill a large GPU; prefill does not use tensor cores here but in
//            attention_mma.cu. Not measured on a GPU yet.
#include "formats.cuh"

// Softmax so far of one query: the largest score, the sum of weights, and this lane's part of the weighted values.
template <int DIMS> struct Running {
    float largest, sum, out[DIMS];

    __device__ __forceinline__ void start() {
        largest = -INFINITY_OF_FP32;
        sum = 0.0f;
#pragma unroll
        for (int i = 0; i < DIMS; ++i) out[i] = 0.0f;
    }

    __device__ __forceinline__ void add(float score, const float (&value)[DIMS]) {
        const float now = fmaxf(largest, score);
        const float old = exponential(largest - now), weight = exponential(score - now);
        largest = now;
        sum = sum * old + weight;
#pragma unroll
        for (int i = 0; i < DIMS; ++i) out[i] = out[i] * old + weight * value[i];
    }
};

// Element `lane + 32·i` of a head.
template <class C, int DIMS> __device__ __forceinline__ void load_head(const typename C::Stored *head, int lane, float (&value)[DIMS]) {
#pragma unroll
    for (int i = 0; i < DIMS; ++i) value[i] = C::of(head[lane + WARP * i]);
}

template <int DIMS> __device__ __forceinline__ float score_of(const float (&query)[DIMS], const float (&key)[DIMS], float scale) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < DIMS; ++i) sum += query[i] * key[i];
    return warp_sum(sum) * scale;
}

// GROUP query heads of one KV head and one token: blockIdx.x is the token, .y the KV head and the part of its group, .z the sequence.
// Shared memory: GROUP · (2 + d) floats per warp.
template <class C, int DIMS, int GROUP>
__device__ __forceinline__ void attend(const float *queries, const typename C::Stored *keys, const typename C::Stored *values, float *out,
                                       int heads, int kv_heads, int context, int fresh) {
    enum { D = DIMS * WARP };
    SHARED(float, parts);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const int group = heads / kv_heads, blocks_of_group = (group + GROUP - 1) / GROUP;
    const int kv_head = blockIdx.y / blocks_of_group, first = blockIdx.y % blocks_of_group * GROUP;
    const u64 sequence = blockIdx.z;
    const int token = blockIdx.x, seen = context - fresh + token + 1;
    const u64 head_of_cache = (sequence * kv_heads + kv_head) * context * D;
    const u64 query = ((sequence * fresh + token) * heads + u64(kv_head) * group + first) * D;
    const float scale = 1.0f / root(float(D));
    float q[GROUP][DIMS];
    Running<DIMS> running[GROUP];
#pragma unroll
    for (int g = 0; g < GROUP; ++g) {
        running[g].start();
#pragma unroll
        for (int i = 0; i < DIMS; ++i) q[g][i] = first + g < group ? queries[query + u64(g) * D + lane + WARP * i] : 0.0f;
    }
    for (int t = warp; t < seen; t += warps) {
        float key[DIMS], value[DIMS];
        load_head<C, DIMS>(keys + head_of_cache + u64(t) * D, lane, key);
        load_head<C, DIMS>(values + head_of_cache + u64(t) * D, lane, value);
#pragma unroll
        for (int g = 0; g < GROUP; ++g) running[g].add(score_of<DIMS>(q[g], key, scale), value);
    }
    // Parts by warp and query: largest score, sum, and d weighted values.
#pragma unroll
    for (int g = 0; g < GROUP; ++g) {
        float *part = parts + (warp * GROUP + g) * (2 + D);
        if (lane == 0) part[0] = running[g].largest, part[1] = running[g].sum;
#pragma unroll
        for (int i = 0; i < DIMS; ++i) part[2 + lane + WARP * i] = running[g].out[i];
    }
    __syncthreads();
    for (int at = threadIdx.x; at < GROUP * D; at += blockDim.x) {
        const int g = at / D, i = at % D;
        if (first + g >= group) continue;
        float largest = -INFINITY_OF_FP32;
        for (int other = 0; other < warps; ++other) largest = fmaxf(largest, parts[(other * GROUP + g) * (2 + D)]);
        float sum = 0.0f, value = 0.0f;
        for (int other = 0; other < warps; ++other) {
            const float *part = parts + (other * GROUP + g) * (2 + D);
            // A warp without a key has a sum of zero.
            const float weight = part[1] > 0.0f ? exponential(part[0] - largest) : 0.0f;
            sum += part[1] * weight;
            value += part[2 + i] * weight;
        }
        out[query + at] = value / sum;
    }
}

#define ATTENTION(version, key, C, d, dims, group)                                                                            \
    extern "C" __global__ void __launch_bounds__(128) attention_##version##_##key##_d##d(                                     \
        const float *queries, const C::Stored *keys, const C::Stored *values, float *out, int heads, int kv_heads, int context, int fresh) { \
        attend<C, dims, group>(queries, keys, values, out, heads, kv_heads, context, fresh);                                  \
    }                                                                                                                         \
    KERNEL_NAME(attention_##version##_##key##_d##d)
// v1 has one warp and one query a block; v2 has 4 warps and up to 4 queries.
#define BOTH(key, C, d, dims) ATTENTION(v1, key, C, d, dims, 1) ATTENTION(v2, key, C, d, dims, 4)
#define CACHE(key, C) BOTH(key, C, 64, 2) BOTH(key, C, 96, 3) BOTH(key, C, 128, 4) BOTH(key, C, 256, 8)

CACHE(fp32, AsFp32)
CACHE(fp16, AsFp16)
CACHE(bf16, AsBf16)
CACHE(fp8_e4m3, AsFp8E4m3)
