// Products with packed weights, Y = X·Wᵀ with 1 to 16 tokens, on tensor cores: weights become FP16 (BF16 for BF16) in registers.
//
// what       as gemv.cu; sums in FP32. BF16 weights take x in BF16, all others in FP16
// formula    bytes = weights as stored + 2·m·k + 4·m·n; flops = 2·m·n·k
// tile       a block of 4 warps computes 16 rows; the warps share K. A lane loads 16 bytes of rows g and g + 8 and the same inputs of
//            token g, so the fragments of m16n8k16 need no exchange: a sum over K may take K in any order that both operands share
// arch       >=80
// registers  by `cargo xtask kernels`
// limit      instructions per byte of weights, in the loop over K for 9.0 and up to 8 tokens: 5 in INT4 with groups of 128, 6 in Q4_K and
//            Q6_K; with up to 16 tokens 7 in the first two. 132 multiprocessors at 1.8 GHz issue 6 in the time of a byte at 4.8 TB/s
//            (H200), so these formats are at the bandwidth or somewhat below it there; wider ones and smaller GPUs have room. Not
//            measured on a GPU yet.
//
// Scales. A scale of the row, of the tensor, of 128 elements (INT4) or of a block of 256 (Q4_K, Q6_K) multiplies sums in FP32. Scales of
// smaller blocks multiply the weights in FP16: they are divided by the largest one of the tensor first, so that none overflows, and each
// such weight has two roundings of 2^-11. NVFP4, whose products have 6 bits, stays exact, and so does Q4_K, whose scales are integers.
#include "formats.cuh"

// Pairs of FP16 in registers hold neighbors, or elements that are 4 or 2 apart: where a mask of nibbles finds them.
enum Pairing { NEIGHBORS, BY_FOUR, BY_TWO };

__device__ __forceinline__ u32 twice(u16 half) { return u32(half) << 16 | half; }
// A byte of a word without a sign, exact, in both halves.
__device__ __forceinline__ u32 byte_as_half(u32 word, int i) {
    return half2_subtract(permute(word, 0x64646464u, i == 0 ? 0x4040u : 0x4141u), 0x64006400u);
}

// Nibbles j and j + 4 of a word, each as 1024 + q in FP16.
__device__ __forceinline__ u32 nibbles_above_1024(u32 word, int j) { return masked_or(word >> (4 * j), 0x000f000fu, 0x64006400u); }
// The same nibbles as E2M1 in FP16, 2^14 times too small.
__device__ __forceinline__ u32 nibbles_as_e2m1(u32 word, int j) {
    const u32 codes = word >> (4 * j) & 0x000f000fu;
    return (codes & 0x00070007u) << 9 | (codes & 0x00080008u) << 12;
}
// Bytes 2j and 2j + 1 of a word in two's complement, exact in FP16: (1024 + 128 + q) - 1152.
__device__ __forceinline__ u32 bytes_as_half(u32 word, int j) {
    const u32 raised = permute(word ^ 0x80808080u, 0x64646464u, j == 0 ? 0x4140u : 0x4342u);
    return half2_subtract(raised, 0x64806480u);
}

// A format on tensor cores: `halves` gives the numbers of a piece in pairs, `factor` what multiplies the sums of a row, `step_scale` what
// multiplies those of a step of a warp, which is four pieces.
struct MmaPlain : Sixteen {
    enum { PIECE = 8, PAIRING = NEIGHBORS, HAS_STEP_SCALE = 0, HAS_MINIMA = 0, IS_BF16 = 0 };
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &, int, const u32 *, float, u32 (&h)[PIECE / 2]) {
#pragma unroll
        for (int i = 0; i < 4; ++i) h[i] = word_of(raw, i);
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};

struct MmaBf16 : MmaPlain {
    enum { IS_BF16 = 1 };
};

struct MmaFp8E4m3 : MmaPlain {
    enum { PIECE = 16 };
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &, int, const u32 *, float, u32 (&h)[PIECE / 2]) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            // Two codes in the upper bytes of the halves; 256 times too small.
            const u32 codes = permute(word_of(raw, i / 2), 0u, i % 2 == 0 ? 0x1404u : 0x3424u);
            h[i] = (codes & 0x80008000u) | (codes & 0x7f007f00u) >> 1;
        }
    }
    static __device__ __forceinline__ float factor(const Row &, float tensor) { return 256.0f * tensor; }
};

struct MmaInt8 : MmaPlain {
    enum { PIECE = 16 };
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &, int, const u32 *, float, u32 (&h)[PIECE / 2]) {
#pragma unroll
        for (int i = 0; i < 8; ++i) h[i] = bytes_as_half(word_of(raw, i / 2), i % 2);
    }
    static __device__ __forceinline__ float factor(const Row &row, float) { return *reinterpret_cast<const float *>(row.scales); }
};

// INT4 with groups of 128, which are the 128 elements of a step of a warp.
template <bool SYMMETRIC> struct MmaInt4G128 : MmaPlain {
    enum { PIECE = 32, PAIRING = BY_FOUR, HAS_STEP_SCALE = 1 };
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &row, int piece, const u32 *, float, u32 (&h)[PIECE / 2]) {
        const float zero = SYMMETRIC ? 8.0f : of_bf16(half_at(row.zeros, piece / 4));
        const u32 raised = twice(to_half(1024.0f + zero));
#pragma unroll
        for (int i = 0; i < 16; ++i) h[i] = half2_subtract(nibbles_above_1024(word_of(raw, i / 4), i % 4), raised);
    }
    static __device__ __forceinline__ float step_scale(const Raw &, const Row &row, int piece) { return of_bf16(half_at(row.scales, piece / 4)); }
};

template <bool SYMMETRIC> struct MmaInt4G32 : MmaPlain {
    enum { PIECE = 32, PAIRING = BY_FOUR };
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &row, int piece, const u32 *, float inverse, u32 (&h)[PIECE / 2]) {
        const float zero = SYMMETRIC ? 8.0f : of_bf16(half_at(row.zeros, piece));
        const u32 raised = twice(to_half(1024.0f + zero));
        const u32 scale = twice(to_half(of_bf16(half_at(row.scales, piece)) * inverse));
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            h[i] = half2_multiply(half2_subtract(nibbles_above_1024(word_of(raw, i / 4), i % 4), raised), scale);
        }
    }
    static __device__ __forceinline__ float factor(const Row &, float tensor) { return tensor; }
};

struct MmaNf4 : MmaPlain {
    enum { PIECE = 32 };
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &row, int piece, const u32 *pairs, float inverse, u32 (&h)[PIECE / 2]) {
        const u32 scale = twice(to_half(reinterpret_cast<const float *>(row.scales)[piece / 2] * inverse));
#pragma unroll
        for (int i = 0; i < 16; ++i) h[i] = half2_multiply(pairs[word_of(raw, i / 4) >> (8 * (i % 4)) & 0xffu], scale);
    }
    static __device__ __forceinline__ float factor(const Row &, float tensor) { return tensor; }
};

struct MmaMxfp4 : MmaPlain {
    enum { PIECE = 32, PAIRING = BY_FOUR };
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &row, int piece, const u32 *, float inverse, u32 (&h)[PIECE / 2]) {
        const u32 scale = twice(to_half(of_e8m0(row.scales[piece]) * inverse * 16384.0f));
#pragma unroll
        for (int i = 0; i < 16; ++i) h[i] = half2_multiply(nibbles_as_e2m1(word_of(raw, i / 4), i % 4), scale);
    }
    static __device__ __forceinline__ float factor(const Row &, float tensor) { return tensor; }
};

struct MmaNvfp4 : MmaPlain {
    enum { PIECE = 32, PAIRING = BY_FOUR };
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &row, int piece, const u32 *, float, u32 (&h)[PIECE / 2]) {
        const u32 codes = half_at(row.scales, piece);
        // The scales, 2^8 times too small, times 2^14: products with E2M1, 2^14 too small, are 2^8 too small.
        u32 scales[2];
        scales[0] = half2_multiply(twice(e4m3_as_half(codes & 0xffu)), 0x74007400u);
        scales[1] = half2_multiply(twice(e4m3_as_half(codes >> 8)), 0x74007400u);
#pragma unroll
        for (int i = 0; i < 16; ++i) h[i] = half2_multiply(nibbles_as_e2m1(word_of(raw, i / 4), i % 4), scales[i / 8]);
    }
    static __device__ __forceinline__ float factor(const Row &, float tensor) { return 256.0f / tensor; }
};

struct MmaGgufQ8_0 : MmaPlain {
    enum { PIECE = 32 };
    typedef Block<8> Raw;
    static __device__ __forceinline__ Raw load(const u8 *codes, int piece) { return load_block<8>(codes, piece); }
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &, int, const u32 *, float, u32 (&h)[PIECE / 2]) {
        const u32 scale = twice(u16(raw.scale));
#pragma unroll
        for (int i = 0; i < 16; ++i) h[i] = half2_multiply(bytes_as_half(raw.words[i / 2], i % 2), scale);
    }
};

struct MmaGgufQ4_0 : MmaPlain {
    enum { PIECE = 32, PAIRING = BY_TWO };
    typedef Block<4> Raw;
    static __device__ __forceinline__ Raw load(const u8 *codes, int piece) { return load_block<4>(codes, piece); }
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &, int, const u32 *, float, u32 (&h)[PIECE / 2]) {
        const u32 scale = twice(u16(raw.scale));
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            // Low nibbles are the elements 0 to 15. Bytes 0 and 2 of a word first, then 1 and 3.
            const u32 raised = nibbles_above_1024(raw.words[i % 8 / 2], 2 * (i % 2) + i / 8);
            h[i] = half2_multiply(half2_subtract(raised, 0x64086408u), scale);
        }
    }
};

// A block of Q4_K is a step of a warp: d and dmin multiply sums. Codes times their scale of 6 bits are exact in FP16, as (1024 + q)·s -
// 1024·s, and the minima of 6 bits are products of their own with the same inputs.
struct MmaGgufQ4K : MmaPlain {
    enum { PIECE = 64, PAIRING = BY_TWO, HAS_STEP_SCALE = 1, HAS_MINIMA = 1 };
    typedef GgufQ4K::Raw Raw;
    static __device__ __forceinline__ Raw load(const u8 *codes, int piece) { return GgufQ4K::load(codes, piece); }
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &, int piece, const u32 *, float, u32 (&h)[PIECE / 2]) {
        u32 scales, minima;
        GgufQ4K::factors(raw.head, piece, scales, minima);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const u32 scale = byte_as_half(scales, half), raised = half2_multiply(scale, 0xe400e400u);
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                // Bytes 0 and 2 of a word first, then 1 and 3.
                h[16 * half + i] = half2_multiply_add(nibbles_above_1024(word_of(raw.codes[i / 8], i % 8 / 2), 2 * (i % 2) + half), scale, raised);
            }
        }
    }
    // The minima of the first and the last 32 elements, each in both halves.
    static __device__ __forceinline__ void minima_of(const Raw &raw, int piece, u32 (&m)[2]) {
        u32 scales, minima;
        GgufQ4K::factors(raw.head, piece, scales, minima);
        m[0] = byte_as_half(minima, 0), m[1] = byte_as_half(minima, 1);
    }
    static __device__ __forceinline__ float step_scale(const Raw &raw, const Row &, int) { return of_half(u16(raw.head.x)); }
    static __device__ __forceinline__ float minimum_scale(const Raw &raw) { return of_half(u16(raw.head.x >> 16)); }
};

// Q6_K likewise, without minima. Codes less 32 times their scale of 8 bits have up to 13 bits: those beyond 11 are rounded, once. A piece
// are the 64 elements that share 16 bytes of upper bits: 16 of each 32 elements of a half of the block.
struct MmaGgufQ6K : MmaPlain {
    enum { PIECE = 64, HAS_STEP_SCALE = 1 };
    struct Raw {
        u32 low[2][4], high[4];
        // Of each 16 elements, a byte.
        u32 scales;
        u16 d;
    };
    static __device__ __forceinline__ int eight(int piece, int i) {
        return piece / 4 * 256 + piece % 4 / 2 * 128 + piece % 2 * 16 + i / 2 * 32 + i % 2 * 8;
    }
    // 16 bytes from an even address, in words; up to 4 bytes before or after them are read, too.
    static __device__ __forceinline__ void load_even(const u8 *bytes, u32 (&words)[4]) {
        const u32 rest = u32(reinterpret_cast<u64>(bytes)) & 2u;
        const u32 *aligned = reinterpret_cast<const u32 *>(bytes - rest);
        const u32 selector = rest ? 0x5432u : 0x3210u;
        u32 w[5];
#pragma unroll
        for (int i = 0; i < 5; ++i) w[i] = aligned[i];
#pragma unroll
        for (int i = 0; i < 4; ++i) words[i] = permute(w[i], w[i + 1], selector);
    }
    static __device__ __forceinline__ Raw load(const u8 *codes, int piece) {
        const u8 *block = codes + 210ull * (piece / 4);
        const int of_128 = piece % 4 / 2, half = piece % 2;
        Raw raw;
        load_even(block + 64 * of_128 + 16 * half, raw.low[0]);
        load_even(block + 64 * of_128 + 32 + 16 * half, raw.low[1]);
        load_even(block + 128 + 32 * of_128 + 16 * half, raw.high);
        raw.scales = 0;
#pragma unroll
        for (int quarter = 0; quarter < 4; ++quarter) raw.scales |= u32(block[192 + 8 * of_128 + 2 * quarter + half]) << (8 * quarter);
        raw.d = half_at(block, 104);
        return raw;
    }
    static __device__ __forceinline__ void halves(const Raw &raw, const Row &, int, const u32 *, float, u32 (&h)[PIECE / 2]) {
#pragma unroll
        for (int quarter = 0; quarter < 4; ++quarter) {
            const u32 scale = half2_subtract(twice(u16(0x6400u | ((raw.scales >> (8 * quarter) & 0xffu) ^ 0x80u))), 0x64806480u);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const u32 upper = quarter < 2 ? raw.high[i] << (4 - 2 * quarter) : raw.high[i] >> (2 * quarter - 4);
                const u32 codes = masked_or(upper, 0x30303030u, raw.low[quarter % 2][i] >> (4 * (quarter / 2)) & 0x0f0f0f0fu);
                // 1024 + q, less 1056.
                h[8 * quarter + 2 * i] = half2_multiply(half2_subtract(permute(codes, 0x64646464u, 0x4140u), 0x64206420u), scale);
                h[8 * quarter + 2 * i + 1] = half2_multiply(half2_subtract(permute(codes, 0x64646464u, 0x4342u), 0x64206420u), scale);
            }
        }
    }
    static __device__ __forceinline__ float step_scale(const Raw &raw, const Row &, int) { return of_half(raw.d); }
};

// Where the i-th eight elements of a piece begin in a row.
template <class F> __device__ __forceinline__ int eight_of_piece(int piece, int i) { return piece * F::PIECE + 8 * i; }
template <> __device__ __forceinline__ int eight_of_piece<MmaGgufQ6K>(int piece, int i) { return MmaGgufQ6K::eight(piece, i); }

// The inputs of a piece in the pairs of its weights; zero for a lane without a token.
template <class F> __device__ __forceinline__ void inputs_of(const u16 *x, int piece, bool has, u32 (&b)[F::PIECE / 2]) {
#pragma unroll
    for (int i = 0; i < F::PIECE / 8; ++i) {
        uint4 v = uint4{0, 0, 0, 0};
        if (has) v = *reinterpret_cast<const uint4 *>(x + eight_of_piece<F>(piece, i));
        if (int(F::PAIRING) == int(NEIGHBORS)) {
            b[4 * i] = v.x, b[4 * i + 1] = v.y, b[4 * i + 2] = v.z, b[4 * i + 3] = v.w;
        } else if (int(F::PAIRING) == int(BY_FOUR)) {
            b[4 * i] = permute(v.x, v.z, 0x5410u), b[4 * i + 1] = permute(v.x, v.z, 0x7632u);
            b[4 * i + 2] = permute(v.y, v.w, 0x5410u), b[4 * i + 3] = permute(v.y, v.w, 0x7632u);
        } else {
            b[4 * i] = permute(v.x, v.y, 0x5410u), b[4 * i + 1] = permute(v.x, v.y, 0x7632u);
            b[4 * i + 2] = permute(v.z, v.w, 0x5410u), b[4 * i + 3] = permute(v.z, v.w, 0x7632u);
        }
    }
}

template <class F, int TILES>
__device__ __forceinline__ void step_of(const typename F::Raw &raw_low, const typename F::Raw &raw_high, const Row &low, const Row &high,
                                        int piece, bool is_inside, const u16 *x, const u32 *pairs, float inverse, u64 k, int tokens,
                                        float (&sums)[TILES][4]) {
    const int token = threadIdx.x % WARP / 4;
    u32 of_low[F::PIECE / 2], of_high[F::PIECE / 2];
    F::halves(raw_low, low, piece, pairs, inverse, of_low);
    F::halves(raw_high, high, piece, pairs, inverse, of_high);
    u32 min_low[2] = {}, min_high[2] = {};
    if constexpr (F::HAS_MINIMA) {
        F::minima_of(raw_low, piece, min_low);
        F::minima_of(raw_high, piece, min_high);
    }
#pragma unroll
    for (int tile = 0; tile < TILES; ++tile) {
        const int mine = token + 8 * tile;
        u32 b[F::PIECE / 2];
        inputs_of<F>(x + mine * k, piece, is_inside && mine < tokens, b);
        float step[4] = {}, below[4] = {};
        float(&into)[4] = F::HAS_STEP_SCALE ? step : sums[tile];
#pragma unroll
        for (int i = 0; i < F::PIECE / 4; ++i) {
            const u32 a[4] = {of_low[2 * i], of_high[2 * i], of_low[2 * i + 1], of_high[2 * i + 1]};
            const u32 both[2] = {b[2 * i], b[2 * i + 1]};
            if (F::IS_BF16) mma_bf16(into, a, both);
            else mma_half(into, a, both);
            if constexpr (F::HAS_MINIMA) {
                const int half = i / (F::PIECE / 8);
                const u32 minima[4] = {min_low[half], min_high[half], min_low[half], min_high[half]};
                mma_half(below, minima, both);
            }
        }
        if constexpr (F::HAS_STEP_SCALE) {
            const float of[2] = {F::step_scale(raw_low, low, piece), F::step_scale(raw_high, high, piece)};
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[tile][i] += of[i / 2] * step[i];
        }
        if constexpr (F::HAS_MINIMA) {
            const float of[2] = {F::minimum_scale(raw_low), F::minimum_scale(raw_high)};
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[tile][i] -= of[i / 2] * below[i];
        }
    }
}

// Up to 8·TILES tokens. Shared memory: 256 pairs of NF4, then 4·TILES·32 floats per warp.
template <class F, int TILES>
__device__ __forceinline__ void gemv_by_mma(const Matrix &w, const u16 *x, float *y, float tensor, float inverse, int n, int k, int tokens) {
    enum { AHEAD = 2 };
    SHARED(u32, pairs);
    float *parts = reinterpret_cast<float *>(pairs + 256);
    if (w.table) {
        for (int i = threadIdx.x; i < 256; i += blockDim.x) pairs[i] = u32(to_half(w.table[i & 15])) << 16 | to_half(w.table[i >> 4]);
        __syncthreads();
    }
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const int first_row = blockIdx.x * 16;
    // Rows beyond the last one repeat it, and are not written.
    const Row low = w.row(min(first_row + lane / 4, n - 1)), high = w.row(min(first_row + lane / 4 + 8, n - 1));
    const int pieces = k / F::PIECE, steps = (pieces + 3) / 4;
    float sums[TILES][4] = {};
    for (int first = warp; first < steps; first += warps * AHEAD) {
        typename F::Raw raw_low[AHEAD], raw_high[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int piece = (first + i * warps) * 4 + lane % 4;
            // A lane without a piece reads the first one, and multiplies it by zero.
            const int read = piece < pieces ? piece : 0;
            raw_low[i] = F::load(low.codes, read);
            raw_high[i] = F::load(high.codes, read);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int piece = (first + i * warps) * 4 + lane % 4;
            const bool is_inside = piece < pieces;
            if (first + i * warps < steps) {
                step_of<F, TILES>(raw_low[i], raw_high[i], low, high, is_inside ? piece : 0, is_inside, x, pairs, inverse, k, tokens, sums);
            }
        }
    }
#pragma unroll
    for (int tile = 0; tile < TILES; ++tile) {
#pragma unroll
        for (int i = 0; i < 4; ++i) parts[((warp * TILES + tile) * 4 + i) * WARP + lane] = sums[tile][i];
    }
    __syncthreads();
    // Each thread sums the parts of one result: 16 rows and 8·TILES tokens.
    for (int at = threadIdx.x; at < TILES * 4 * WARP; at += blockDim.x) {
        const int of_lane = at % WARP, i = at / WARP % 4, tile = at / WARP / 4;
        float sum = 0.0f;
        for (int other = 0; other < warps; ++other) sum += parts[other * TILES * 4 * WARP + at];
        const int r = first_row + of_lane / 4 + i / 2 * 8, token = of_lane % 4 * 2 + i % 2 + 8 * tile;
        if (r < n && token < tokens) y[u64(token) * n + r] = sum * F::factor(w.row(r), tensor);
    }
}

#define BY_MMA(key, format, m, tiles)                                                                                        \
    extern "C" __global__ void __launch_bounds__(128, 1) gemv_v3_##key##_m##m(                                                  \
        const u8 *codes, const u8 *scales, const u8 *zeros, const float *table, u64 code_stride, u64 scale_stride,           \
        u64 zero_stride, const u16 *x, float *y, float tensor, float inverse, int n, int k, int tokens) {                    \
        gemv_by_mma<format, tiles>(Matrix{codes, scales, zeros, table, code_stride, scale_stride, zero_stride}, x, y, tensor, \
                                   inverse, n, k, tokens);                                                                   \
    }                                                                                                                        \
    KERNEL_NAME(gemv_v3_##key##_m##m)
#define GEMV_MMA(key, format) BY_MMA(key, format, 8, 1) BY_MMA(key, format, 16, 2)

GEMV_MMA(fp16, MmaPlain)
GEMV_MMA(bf16, MmaBf16)
GEMV_MMA(fp8_e4m3, MmaFp8E4m3)
GEMV_MMA(int8, MmaInt8)
GEMV_MMA(int4_g32, MmaInt4G32<false>)
GEMV_MMA(int4_g32_sym, MmaInt4G32<true>)
GEMV_MMA(int4_g128, MmaInt4G128<false>)
GEMV_MMA(int4_g128_sym, MmaInt4G128<true>)
GEMV_MMA(nf4, MmaNf4)
GEMV_MMA(mxfp4, MmaMxfp4)
GEMV_MMA(nvfp4, MmaNvfp4)
GEMV_MMA(gguf_q8_0, MmaGgufQ8_0)
GEMV_MMA(gguf_q6_k, MmaGgufQ6K)
GEMV_MMA(gguf_q4_k, MmaGgufQ4K)
GEMV_MMA(gguf_q4_0, MmaGgufQ4_0)
