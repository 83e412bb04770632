// Stored numbers. Of packed weights: how a thread reads a piece of a row and what numbers it holds. The layouts are those of kernels/src/pack.
//
// A piece is what a thread loads at once: 16 bytes of codes, or one block of GGUF. K is a multiple of the elements of a piece and of the
// block that shares a scale. Each format has
//   PIECE   elements of a piece
//   Raw     its registers
//   load    reads piece `p` of a row
//   decode  its numbers in FP32, exact but for one rounding of a product with the scale
#pragma once
#include "device.cuh"

// The planes of one row, and the numbers of the whole tensor.
struct Row {
    const u8 *codes;
    const u8 *scales;
    const u8 *zeros;
    // The sixteen numbers of NF4.
    const float *table;
};

// A matrix of N rows. Strides are bytes from row to row of a plane.
struct Matrix {
    const u8 *codes, *scales, *zeros;
    const float *table;
    u64 code_stride, scale_stride, zero_stride;

    __device__ __forceinline__ Row row(u64 r) const {
        return Row{codes + r * code_stride, scales + r * scale_stride, zeros + r * zero_stride, table};
    }
};

__device__ __forceinline__ u32 word_of(const uint4 &v, int i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }
__device__ __forceinline__ u16 half_at(const u8 *plane, int i) { return reinterpret_cast<const u16 *>(plane)[i]; }
__device__ __forceinline__ int byte_of(u32 word, int i) { return int(word << (24 - 8 * i)) >> 24; }

// E4M3 as FP16 with an exponent that is 8 too small: the value is 256 times as large.
__device__ __forceinline__ u16 e4m3_as_half(u32 code) { return u16((code & 0x80u) << 8 | (code & 0x7fu) << 7); }
__device__ __forceinline__ float of_e4m3(u32 code) { return of_half(e4m3_as_half(code)) * 256.0f; }
// E2M1 as FP16 with an exponent that is 14 too small.
__device__ __forceinline__ float of_e2m1(u32 code) { return of_half(u16((code & 8u) << 12 | (code & 7u) << 9)) * 16384.0f; }
// E8M0: 2^(code - 127); the smallest one is subnormal.
__device__ __forceinline__ float of_e8m0(u32 code) { return code == 0 ? of_bits(0x00400000u) : of_bits(code << 23); }

// Numbers one by one, as caches, tables and arrays between operators store them.
struct AsFp32 {
    typedef float Stored;
    static __device__ __forceinline__ float of(float value) { return value; }
    static __device__ __forceinline__ float to(float value) { return value; }
};
struct AsFp16 {
    typedef u16 Stored;
    static __device__ __forceinline__ float of(u16 bits) { return of_half(bits); }
    static __device__ __forceinline__ u16 to(float value) { return to_half(value); }
};
struct AsBf16 {
    typedef u16 Stored;
    static __device__ __forceinline__ float of(u16 bits) { return of_bf16(bits); }
};
struct AsFp8E4m3 {
    typedef u8 Stored;
    static __device__ __forceinline__ float of(u8 code) { return of_e4m3(code); }
};

struct Sixteen {
    typedef uint4 Raw;
    static __device__ __forceinline__ Raw load(const u8 *codes, int piece) { return load_once(codes + 16ull * piece); }
};

struct Fp32 : Sixteen {
    enum { PIECE = 4 };
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &, int, float (&w)[PIECE]) {
#pragma unroll
        for (int i = 0; i < PIECE; ++i) w[i] = of_bits(word_of(raw, i));
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};

struct Fp16 : Sixteen {
    enum { PIECE = 8 };
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &, int, float (&w)[PIECE]) {
#pragma unroll
        for (int i = 0; i < PIECE; ++i) w[i] = of_half(u16(word_of(raw, i / 2) >> (16 * (i % 2))));
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};

struct Bf16 : Sixteen {
    enum { PIECE = 8 };
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &, int, float (&w)[PIECE]) {
#pragma unroll
        for (int i = 0; i < PIECE; ++i) w[i] = of_bf16(u16(word_of(raw, i / 2) >> (16 * (i % 2))));
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};

struct Fp8E4m3 : Sixteen {
    enum { PIECE = 16 };
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &, int, float (&w)[PIECE]) {
#pragma unroll
        for (int i = 0; i < PIECE; ++i) w[i] = of_e4m3(word_of(raw, i / 4) >> (8 * (i % 4)) & 0xffu);
    }
    static __device__ __forceinline__ float factor(const Row &, float tensor) { return tensor; }
};

struct Int8 : Sixteen {
    enum { PIECE = 16 };
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &, int, float (&w)[PIECE]) {
#pragma unroll
        for (int i = 0; i < PIECE; ++i) w[i] = float(byte_of(word_of(raw, i / 4), i % 4));
    }
    static __device__ __forceinline__ float factor(const Row &row, float) {
        return *reinterpret_cast<const float *>(row.scales);
    }
};

// A BF16 scale and a BF16 zero point per GROUP elements; w = (q - z)·s.
template <int GROUP> struct Int4 : Sixteen {
    enum { PIECE = 32 };
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &row, int piece, float (&w)[PIECE]) {
        const int group = piece * PIECE / GROUP;
        const float scale = of_bf16(half_at(row.scales, group)), zero = of_bf16(half_at(row.zeros, group));
#pragma unroll
        for (int i = 0; i < PIECE; ++i) w[i] = (float(word_of(raw, i / 8) >> (4 * (i % 8)) & 15u) - zero) * scale;
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};

// As Int4, with 8 for every zero point.
template <int GROUP> struct Int4Sym : Sixteen {
    enum { PIECE = 32 };
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &row, int piece, float (&w)[PIECE]) {
        const float scale = of_bf16(half_at(row.scales, piece * PIECE / GROUP));
#pragma unroll
        for (int i = 0; i < PIECE; ++i) w[i] = (float(word_of(raw, i / 8) >> (4 * (i % 8)) & 15u) - 8.0f) * scale;
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};

// The high nibble of a byte is the first element; an FP32 maximum per 64.
struct Nf4 : Sixteen {
    enum { PIECE = 32 };
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &row, int piece, float (&w)[PIECE]) {
        const float scale = reinterpret_cast<const float *>(row.scales)[piece / 2];
#pragma unroll
        for (int i = 0; i < PIECE; ++i) w[i] = row.table[word_of(raw, i / 8) >> (4 * (i % 8 ^ 1)) & 15u] * scale;
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};

struct Mxfp4 : Sixteen {
    enum { PIECE = 32 };
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &row, int piece, float (&w)[PIECE]) {
        const float scale = of_e8m0(row.scales[piece]);
#pragma unroll
        for (int i = 0; i < PIECE; ++i) w[i] = of_e2m1(word_of(raw, i / 8) >> (4 * (i % 8)) & 15u) * scale;
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};

// The scale of the tensor divides.
struct Nvfp4 : Sixteen {
    enum { PIECE = 32 };
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &row, int piece, float (&w)[PIECE]) {
        const u32 codes = half_at(row.scales, piece);
#pragma unroll
        for (int i = 0; i < PIECE; ++i) {
            const float scale = of_e4m3(i < 16 ? codes & 0xffu : codes >> 8);
            w[i] = of_e2m1(word_of(raw, i / 8) >> (4 * (i % 8)) & 15u) * scale;
        }
    }
    static __device__ __forceinline__ float factor(const Row &, float tensor) { return 1.0f / tensor; }
};

// A block of GGUF begins at an even address: it is read in steps of two bytes.
template <int WORDS> struct Block {
    u32 scale;
    u32 words[WORDS];
};

template <int WORDS> __device__ __forceinline__ Block<WORDS> load_block(const u8 *codes, int block) {
    const u16 *data = reinterpret_cast<const u16 *>(codes + (2 + 4 * WORDS) * u64(block));
    Block<WORDS> raw;
    raw.scale = data[0];
#pragma unroll
    for (int i = 0; i < WORDS; ++i) raw.words[i] = u32(data[1 + 2 * i]) | u32(data[2 + 2 * i]) << 16;
    return raw;
}

struct GgufQ8_0 {
    enum { PIECE = 32 };
    typedef Block<8> Raw;
    static __device__ __forceinline__ Raw load(const u8 *codes, int piece) { return load_block<8>(codes, piece); }
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &, int, float (&w)[PIECE]) {
        const float scale = of_half(u16(raw.scale));
#pragma unroll
        for (int i = 0; i < PIECE; ++i) w[i] = float(byte_of(raw.words[i / 4], i % 4)) * scale;
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};

struct GgufQ4_0 {
    enum { PIECE = 32 };
    typedef Block<4> Raw;
    static __device__ __forceinline__ Raw load(const u8 *codes, int piece) { return load_block<4>(codes, piece); }
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &, int, float (&w)[PIECE]) {
        const float scale = of_half(u16(raw.scale));
#pragma unroll
        for (int i = 0; i < PIECE; ++i) {
            const u32 byte = raw.words[i % 16 / 4] >> (8 * (i % 4)) & 0xffu;
            w[i] = (float(i < 16 ? byte & 15u : byte >> 4) - 8.0f) * scale;
        }
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};

// A block of Q4_K has 144 bytes: d, dmin, 12 bytes with a scale and a minimum of 6 bits per 32 elements, 128 bytes of codes. A piece are
// 64 elements: the low nibbles of 32 bytes, then the high ones.
struct GgufQ4K {
    enum { PIECE = 64 };
    struct Raw {
        uint4 head, codes[2];
    };
    static __device__ __forceinline__ Raw load(const u8 *codes, int piece) {
        const u8 *block = codes + 144ull * (piece / 4);
        const u8 *mine = block + 16 + 32 * (piece % 4);
        return Raw{load_once(block), {load_once(mine), load_once(mine + 16)}};
    }
    // The two scales of a piece, 6 bits each, in the lower bytes, and its minima.
    static __device__ __forceinline__ void factors(const uint4 &head, int piece, u32 &scales, u32 &minima) {
        const int at = 16 * (piece % 2);
        const u32 s = head.y >> at, m = head.z >> at, both = head.w >> at;
        const bool is_late = piece % 4 >= 2;
        scales = is_late ? (both & 0x0f0fu) | (s >> 2 & 0x3030u) : s & 0x3f3fu;
        minima = is_late ? (both >> 4 & 0x0f0fu) | (m >> 2 & 0x3030u) : m & 0x3f3fu;
    }
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &, int piece, float (&w)[PIECE]) {
        u32 scales, minima;
        factors(raw.head, piece, scales, minima);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float scale = of_half(u16(raw.head.x)) * float(scales >> (8 * half) & 63u);
            const float minimum = of_half(u16(raw.head.x >> 16)) * float(minima >> (8 * half) & 63u);
#pragma unroll
            for (int i = 0; i < 32; ++i) {
                const u32 code = word_of(raw.codes[i / 16], i % 16 / 4) >> (8 * (i % 4) + 4 * half) & 15u;
                w[32 * half + i] = float(code) * scale - minimum;
            }
        }
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};

// A block of Q6_K has 210 bytes: 128 with the lower 4 bits, 64 with the upper 2, a scale of 8 bits per 16 elements, d. Of each 128 elements
// the first and third 32 share bytes, and so do the second and fourth. A piece are the 16 elements of a scale.
struct GgufQ6K {
    enum { PIECE = 16 };
    struct Raw {
        u32 low[4], high[4];
        u32 d;
        int scale;
    };
    static __device__ __forceinline__ Raw load(const u8 *codes, int piece) {
        const u8 *block = codes + 210ull * (piece / 16);
        const int part = piece % 16, of_128 = part / 8, quarter = part % 8 / 2, half = part % 2;
        const u16 *low = reinterpret_cast<const u16 *>(block + 64 * of_128 + 32 * (quarter % 2) + 16 * half);
        const u16 *high = reinterpret_cast<const u16 *>(block + 128 + 32 * of_128 + 16 * half);
        Raw raw;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            raw.low[i] = u32(low[2 * i]) | u32(low[2 * i + 1]) << 16;
            raw.high[i] = u32(high[2 * i]) | u32(high[2 * i + 1]) << 16;
        }
        raw.d = half_at(block, 104);
        raw.scale = byte_of(block[192 + part], 0);
        return raw;
    }
    static __device__ __forceinline__ void decode(const Raw &raw, const Row &, int piece, float (&w)[PIECE]) {
        const int quarter = piece % 8 / 2;
        const float scale = of_half(u16(raw.d)) * float(raw.scale);
#pragma unroll
        for (int i = 0; i < PIECE; ++i) {
            const u32 low = raw.low[i / 4] >> (8 * (i % 4)) >> (4 * (quarter / 2)) & 15u;
            const u32 high = raw.high[i / 4] >> (8 * (i % 4)) >> (2 * quarter) & 3u;
            w[i] = (float(low | high << 4) - 32.0f) * scale;
        }
    }
    static __device__ __forceinline__ float factor(const Row &, float) { return 1.0f; }
};
