// Causal attention of several new tokens over a KV cache with grouped query heads, on tensor cores: prefill.
//
// what       as attention.cu, keys and values in FP16 or BF16, d of 64 or 128. Queries and softmax weights are rounded to the format of
//            the cache before they are multiplied; scores, softmax and sums are FP32
// formula    bytes = keys and values once per KV head + 8 · queries · d; flops = 4 · pairs of query and key · d
// tile       a block of 4 warps has 64 queries of a KV head, all query heads of its group token by token, and goes over its keys 64 at
//            a time: scores by m16n8k16, softmax with a running maximum (FlashAttention-2), weights stay in registers. Keys and values
//            are copied to shared memory ahead: the next keys during softmax and values, the values during the scores
// arch       >=80
// registers  by `cargo xtask kernels`
// limit      `mma`, which on 9.0 reaches about 0.6 of the peak of `wgmma`, less the softmax between the products, which other blocks
//            of the multiprocessor overlap; keys and values are read once per 64 queries, of the second-level cache as a rule. The
//            longest blocks start first. Not measured on a GPU yet.
#include "formats.cuh"

// Queries and keys of a tile.
enum { QUERIES = 64, KEYS = 64 };

struct TileFp16 {
    static __device__ __forceinline__ u32 pair(float low, float high) { return pair_to_half(low, high); }
    static __device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) { mma_half(d, a, b); }
};
struct TileBf16 {
    static __device__ __forceinline__ u32 pair(float low, float high) { return pair_to_bf16(low, high); }
    static __device__ __forceinline__ void multiply(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) { mma_bf16(d, a, b); }
};

// Eight elements of a row in shared memory. They are permuted by row, so that eight rows lie in different banks.
template <int D> __device__ __forceinline__ u16 *eight_of(u16 *tile, int row, int chunk) { return tile + row * D + (chunk ^ (row & 7)) * 8; }

// Begins to copy KEYS rows of a head; rows beyond the last one repeat it, and have no weight.
template <int D> __device__ __forceinline__ void copy_tile(u16 *tile, const u16 *head, int first, int context) {
    for (int i = threadIdx.x; i < KEYS * D / 8; i += blockDim.x) {
        const int row = i / (D / 8), chunk = i % (D / 8);
        copy_later(eight_of<D>(tile, row, chunk), head + u64(min(first + row, context - 1)) * D + chunk * 8);
    }
    end_of_copies();
}

// Largest value, or sum, over the four lanes that share a row of a product.
__device__ __forceinline__ float row_largest(float value) {
    value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, 1));
    return fmaxf(value, __shfl_xor_sync(ALL_LANES, value, 2));
}
__device__ __forceinline__ float row_sum(float value) {
    value += __shfl_xor_sync(ALL_LANES, value, 1);
    return value + __shfl_xor_sync(ALL_LANES, value, 2);
}

// blockIdx.x is the tile of queries, the last one first, .y the KV head, .z the sequence. Shared memory: 2·KEYS·D numbers of 16 bits.
template <class C, int D>
__device__ __forceinline__ void attend_tile(const float *queries, const u16 *keys, const u16 *values, float *out, int heads, int kv_heads,
                                            int context, int fresh) {
    SHARED(u16, key_tile);
    u16 *value_tile = key_tile + KEYS * D;
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int group = heads / kv_heads, count = fresh * group, kv_head = blockIdx.y;
    const u64 sequence = blockIdx.z, head_of_cache = (sequence * kv_heads + kv_head) * context * D;
    const int first_query = int(gridDim.x - 1 - blockIdx.x) * QUERIES;
    // Two queries per lane, rows g and g + 8 of a product: their place in memory, and their last key. Queries beyond the last one repeat it.
    u64 place[2];
    int last_key[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const int query = min(first_query + 16 * warp + lane / 4 + 8 * h, count - 1), token = query / group;
        place[h] = ((sequence * fresh + token) * heads + u64(kv_head) * group + query % group) * D;
        last_key[h] = context - fresh + token;
    }
    u32 q[D / 16][4];
#pragma unroll
    for (int s = 0; s < D / 16; ++s) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const float *two = queries + place[i % 2] + 16 * s + i / 2 * 8 + lane % 4 * 2;
            q[s][i] = C::pair(two[0], two[1]);
        }
    }
    // Softmax of scores · scale is a power of two of scores · step.
    const float step = 1.44269504f / root(float(D));
    float o[D / 8][4] = {}, largest[2] = {-INFINITY_OF_FP32, -INFINITY_OF_FP32}, sum[2] = {};
    const int seen_by_all = context - fresh + first_query / group + 1;
    const int seen = context - fresh + min(first_query + QUERIES - 1, count - 1) / group + 1;
    copy_tile<D>(key_tile, keys + head_of_cache, 0, context);
    for (int first = 0; first < seen; first += KEYS) {
        copy_tile<D>(value_tile, values + head_of_cache, first, context);
        wait_for_copies<1>(); // of the keys
        __syncthreads();
        float s[KEYS / 8][4] = {};
#pragma unroll
        for (int dims = 0; dims < D / 16; ++dims) {
#pragma unroll
            for (int j = 0; j < KEYS / 16; ++j) {
                u32 m[4];
                load_matrices(m, eight_of<D>(key_tile, 16 * j + lane / 16 * 8 + lane % 8, 2 * dims + lane / 8 % 2));
                const u32 low[2] = {m[0], m[1]}, high[2] = {m[2], m[3]};
                C::multiply(s[2 * j], q[dims], low);
                C::multiply(s[2 * j + 1], q[dims], high);
            }
        }
        __syncthreads(); // Every warp has read the keys.
        if (first + KEYS < seen) copy_tile<D>(key_tile, keys + head_of_cache, first + KEYS, context);
        else end_of_copies(); // A group of none, so that the values are the latest group but one.
        if (first + KEYS > seen_by_all) {
#pragma unroll
            for (int n = 0; n < KEYS / 8; ++n) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int key = first + 8 * n + lane % 4 * 2 + i % 2;
                    if (key > last_key[i / 2]) s[n][i] = -INFINITY_OF_FP32;
                }
            }
        }
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            // Every query sees the first key of the first tile, so the largest score is a number from then on.
            float most = largest[h];
#pragma unroll
            for (int n = 0; n < KEYS / 8; ++n) most = fmaxf(most, fmaxf(s[n][2 * h], s[n][2 * h + 1]));
            most = row_largest(most);
            const float fading = power_of_two((largest[h] - most) * step), shift = most * step;
            largest[h] = most;
            sum[h] *= fading;
#pragma unroll
            for (int n = 0; n < KEYS / 8; ++n) {
#pragma unroll
                for (int i = 2 * h; i < 2 * h + 2; ++i) {
                    s[n][i] = power_of_two(s[n][i] * step - shift);
                    sum[h] += s[n][i];
                }
            }
#pragma unroll
            for (int n = 0; n < D / 8; ++n) o[n][2 * h] *= fading, o[n][2 * h + 1] *= fading;
        }
        wait_for_copies<1>(); // of the values
        __syncthreads();
#pragma unroll
        for (int k = 0; k < KEYS / 16; ++k) {
            // The results of a product are the left operand of the next one, in the same lanes.
            const u32 p[4] = {C::pair(s[2 * k][0], s[2 * k][1]), C::pair(s[2 * k][2], s[2 * k][3]),
                              C::pair(s[2 * k + 1][0], s[2 * k + 1][1]), C::pair(s[2 * k + 1][2], s[2 * k + 1][3])};
#pragma unroll
            for (int j = 0; j < D / 16; ++j) {
                u32 m[4];
                load_transposed(m, eight_of<D>(value_tile, 16 * k + lane / 8 % 2 * 8 + lane % 8, 2 * j + lane / 16));
                const u32 low[2] = {m[0], m[1]}, high[2] = {m[2], m[3]};
                C::multiply(o[2 * j], p, low);
                C::multiply(o[2 * j + 1], p, high);
            }
        }
        __syncthreads(); // Every warp has read the values.
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const float inverse = 1.0f / row_sum(sum[h]);
        if (first_query + 16 * warp + lane / 4 + 8 * h < count) {
#pragma unroll
            for (int n = 0; n < D / 8; ++n) {
                float *two = out + place[h] + 8 * n + lane % 4 * 2;
                two[0] = o[n][2 * h] * inverse, two[1] = o[n][2 * h + 1] * inverse;
            }
        }
    }
}

#define PREFILL(key, C, d)                                                                                                  \
    extern "C" __global__ void __launch_bounds__(128) attention_v3_##key##_d##d(const float *queries, const u16 *keys,     \
                                                                               const u16 *values, float *out, int heads,  \
                                                                               int kv_heads, int context, int fresh) {    \
        attend_tile<C, d>(queries, keys, values, out, heads, kv_heads, context, fresh);                                    \
    }                                                                                                                      \
    KERNEL_NAME(attention_v3_##key##_d##d)

PREFILL(fp16, TileFp16, 64)
PREFILL(fp16, TileFp16, 128)
PREFILL(bf16, TileBf16, 64)
PREFILL(bf16, TileBf16, 128)
