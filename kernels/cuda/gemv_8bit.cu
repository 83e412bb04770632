// Products of 8-bit weights with 8-bit activations, Y = X·Wᵀ with 1 to 16 tokens, on tensor cores.
//
// what       y = (W·x)·s_w·s_x; s_x is a scale per token, as quantize.cu makes it. INT8: sums are exact integers, s_w is a scale per row.
//            E4M3: s_w is a scale of the tensor; tensor cores sum 64 products, FP32 units the rest, because the sums of some tensor
//            cores have 13 bits in E4M3 (assumed, as reported of 8.9 and 9.0)
// formula    bytes = n·k + m·k + 4·m + 4·m·n, and 4·n for INT8; flops = 2·m·n·k
// tile       a block of 8 warps computes 32 rows; the warps share K. A lane loads 16 bytes of four rows, 8 apart, and the same codes of
//            token g: two products of m16n8k32 for 16 rows, without an exchange between lanes (see gemv_mma.cu); 128 bytes a lane ahead
// arch       >=75, where a product of m16n8k32 is four of m8n8k16; E4M3 >=89, on 9.0 and 10.0 by conversions to FP16 (see peak.cu)
// registers  by `cargo xtask kernels`
// limit      weights stream once for all tokens; nothing is decoded. The codes of the tokens come from the second-level cache for
//            each 32 rows: with 16 tokens half as many bytes as the weights. Not measured on a GPU yet.
#include "formats.cuh"

// Tiles of 16 rows of a block.
enum { ROW_TILES = 2 };

// Products of 16 bytes of rows g and g + 8 with those of a token, 8 bytes at a time.
struct Int8Codes {
    typedef int Sum;
    static __device__ __forceinline__ void add(int (&sums)[4], const uint4 &low, const uint4 &high, const uint4 &x) {
        const u32 first[4] = {low.x, high.x, low.y, high.y}, of_first[2] = {x.x, x.y};
        const u32 second[4] = {low.z, high.z, low.w, high.w}, of_second[2] = {x.z, x.w};
        mma_int8(sums, first, of_first);
        mma_int8(sums, second, of_second);
    }
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
struct E4m3Codes {
    typedef float Sum;
    static __device__ __forceinline__ void add(float (&sums)[4], const uint4 &low, const uint4 &high, const uint4 &x) {
        const u32 first[4] = {low.x, high.x, low.y, high.y}, of_first[2] = {x.x, x.y};
        const u32 second[4] = {low.z, high.z, low.w, high.w}, of_second[2] = {x.z, x.w};
        float few[4] = {};
        mma_e4m3(few, first, of_first);
        mma_e4m3(few, second, of_second);
#pragma unroll
        for (int i = 0; i < 4; ++i) sums[i] += few[i];
    }
};
#endif

// Up to 8·TILES tokens. Shared memory: 16·ROW_TILES·8·TILES sums per warp.
template <class F, int TILES>
__device__ __forceinline__ void product_of_8_bits(const u8 *codes, const float *row_scales, const u8 *x, const float *token_scales,
                                                  float *y, float tensor, int n, int k, int tokens) {
    enum { AHEAD = 2 };
    typedef typename F::Sum Sum;
    SHARED(Sum, parts);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const int first_row = blockIdx.x * 16 * ROW_TILES, pieces = k / 16, steps = (pieces + 3) / 4;
    // Rows and tokens beyond the last one repeat it; what they give is not written.
    const u8 *rows[2 * ROW_TILES], *inputs[TILES];
#pragma unroll
    for (int i = 0; i < 2 * ROW_TILES; ++i) rows[i] = codes + u64(min(first_row + lane / 4 + 8 * i, n - 1)) * k;
#pragma unroll
    for (int tile = 0; tile < TILES; ++tile) inputs[tile] = x + u64(min(lane / 4 + 8 * tile, tokens - 1)) * k;
    Sum sums[ROW_TILES][TILES][4] = {};
    for (int first = warp; first < steps; first += warps * AHEAD) {
        uint4 raw[AHEAD][2 * ROW_TILES];
#pragma unroll
        for (int ahead = 0; ahead < AHEAD; ++ahead) {
            const int piece = (first + ahead * warps) * 4 + lane % 4;
#pragma unroll
            for (int i = 0; i < 2 * ROW_TILES; ++i) {
                if (piece < pieces) raw[ahead][i] = load_once(rows[i] + 16ull * piece);
                else raw[ahead][i] = uint4{0, 0, 0, 0};
            }
        }
#pragma unroll
        for (int ahead = 0; ahead < AHEAD; ++ahead) {
            const int step = first + ahead * warps, piece = step * 4 + lane % 4;
            if (step >= steps) break; // the whole warp
#pragma unroll
            for (int tile = 0; tile < TILES; ++tile) {
                uint4 v = uint4{0, 0, 0, 0};
                if (piece < pieces) v = *reinterpret_cast<const uint4 *>(inputs[tile] + 16ull * piece);
#pragma unroll
                for (int i = 0; i < ROW_TILES; ++i) F::add(sums[i][tile], raw[ahead][2 * i], raw[ahead][2 * i + 1], v);
            }
        }
    }
    // A warp's sums in the order of its registers, each by lane.
    enum { OF_WARP = ROW_TILES * TILES * 4 * WARP };
#pragma unroll
    for (int i = 0; i < ROW_TILES * TILES * 4; ++i) {
        parts[warp * OF_WARP + i * WARP + lane] = sums[i / 4 / TILES][i / 4 % TILES][i % 4];
    }
    __syncthreads();
    for (int at = threadIdx.x; at < OF_WARP; at += blockDim.x) {
        const int of_lane = at % WARP, i = at / WARP % 4, tile = at / WARP / 4 % TILES, row_tile = at / WARP / 4 / TILES;
        Sum sum = 0;
        for (int other = 0; other < warps; ++other) sum += parts[other * OF_WARP + at];
        const int r = first_row + 16 * row_tile + of_lane / 4 + i / 2 * 8, token = of_lane % 4 * 2 + i % 2 + 8 * tile;
        if (r < n && token < tokens) {
            const float scale = row_scales ? row_scales[r] : tensor;
            y[u64(token) * n + r] = float(sum) * scale * token_scales[token];
        }
    }
}

#define PRODUCT(key, codes_of, m, tiles)                                                                                       \
    extern "C" __global__ void __launch_bounds__(256) gemv_8bit_v1_##key##_m##m(                                               \
        const u8 *codes, const float *row_scales, const u8 *x, const float *token_scales, float *y, float tensor, int n, int k, \
        int tokens) {                                                                                                          \
        product_of_8_bits<codes_of, tiles>(codes, row_scales, x, token_scales, y, tensor, n, k, tokens);                                 \
    }                                                                                                                          \
    KERNEL_NAME(gemv_8bit_v1_##key##_m##m)
#define PRODUCTS(key, codes_of) PRODUCT(key, codes_of, 8, 1) PRODUCT(key, codes_of, 16, 2)

PRODUCTS(int8, Int8Codes)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
PRODUCTS(fp8_e4m3, E4m3Codes)
#endif
