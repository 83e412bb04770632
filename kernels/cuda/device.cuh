// Operations that exist twice: as PTX on a GPU, and as plain C++ on a processor, where the tests run the same kernels.
// All inline PTX of the kernels is here, and no header of NVIDIA's is needed, so that NVRTC compiles the kernels on a machine that has
// nothing but its library.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define WARP 32
#define ALL_LANES 0xffffffffu
#define INFINITY_OF_FP32 of_bits(0x7f800000u)

#ifdef __CUDA_ARCH__
// Registers a kernel by its name, for the processor only.
#define KERNEL_NAME(name)
// The dynamic shared memory of the block.
#define SHARED(type, name)                                    \
    extern __shared__ __align__(16) unsigned char name##_raw[]; \
    type *name = reinterpret_cast<type *>(name##_raw)
#endif

// The bits of a float, and a float from its bits.
__device__ __forceinline__ u32 bits_of(float value) {
#ifdef __CUDA_ARCH__
    return __float_as_uint(value);
#else
    return cpu::bits_of(value);
#endif
}

__device__ __forceinline__ float of_bits(u32 bits) {
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    return cpu::of_bits(bits);
#endif
}

// FP32 from the bits of an FP16 number: exact.
__device__ __forceinline__ float of_half(u16 half) {
#ifdef __CUDA_ARCH__
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
#else
    return cpu::of_half(half);
#endif
}

// The bits of the nearest FP16 number, ties to even.
__device__ __forceinline__ u16 to_half(float value) {
#ifdef __CUDA_ARCH__
    u16 half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
#else
    return cpu::to_half(value);
#endif
}

// FP32 from the bits of a BF16 number, which are its upper half.
__device__ __forceinline__ float of_bf16(u16 bits) { return of_bits(u32(bits) << 16); }

// The bits of the nearest BF16 number of a finite value, ties to even.
__device__ __forceinline__ u16 to_bf16(float value) {
    u32 bits = bits_of(value);
    return u16((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Two FP16 numbers in a register, the first one low: product and difference, each rounded once.
__device__ __forceinline__ u32 half2_multiply(u32 a, u32 b) {
#ifdef __CUDA_ARCH__
    u32 product;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(product) : "r"(a), "r"(b));
    return product;
#else
    return cpu::pairwise(a, b, cpu::times);
#endif
}

__device__ __forceinline__ u32 half2_subtract(u32 a, u32 b) {
#ifdef __CUDA_ARCH__
    u32 difference;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(difference) : "r"(a), "r"(b));
    return difference;
#else
    return cpu::pairwise(a, b, cpu::minus);
#endif
}

// a · b + c, rounded once.
__device__ __forceinline__ u32 half2_multiply_add(u32 a, u32 b, u32 c) {
#ifdef __CUDA_ARCH__
    u32 sum;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    return sum;
#else
    return cpu::multiply_add(a, b, c);
#endif
}

// Bytes of two registers by a selector of four hexadecimal digits, the lowest byte last; digits 4 to 7 are of b.
__device__ __forceinline__ u32 permute(u32 a, u32 b, u32 selector) {
#ifdef __CUDA_ARCH__
    return __byte_perm(a, b, selector);
#else
    return cpu::permute(a, b, selector);
#endif
}

// The bits of a word in a mask, or other bits, in one instruction: compilers make two of it where mask and bits are constants.
__device__ __forceinline__ u32 masked_or(u32 word, u32 mask, u32 bits) {
#ifdef __CUDA_ARCH__
    u32 result;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(result) : "r"(word), "r"(mask), "r"(bits));
    return result;
#else
    return (word & mask) | bits;
#endif
}

// 16 bytes that are read once: they do not stay in the first-level cache. The address is a multiple of 16.
__device__ __forceinline__ uint4 load_once(const void *address) {
#ifdef __CUDA_ARCH__
    uint4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address));
    return v;
#else
    return cpu::load16(address);
#endif
}

// a · b + sum over four bytes of each, two's complement, in 32 bits.
__device__ __forceinline__ int dot4(int a, int b, int sum) {
#ifdef __CUDA_ARCH__
    return __dp4a(a, b, sum);
#else
    return cpu::dot4(a, b, sum);
#endif
}

// e^x to about two units in the last place of FP32.
__device__ __forceinline__ float exponential(float x) {
#ifdef __CUDA_ARCH__
    return expf(x);
#else
    return cpu::exponential(x);
#endif
}

__device__ __forceinline__ float root(float x) {
#ifdef __CUDA_ARCH__
    return sqrtf(x);
#else
    return cpu::root(x);
#endif
}

// Cycles of this multiprocessor, and the device's timer [ns].
__device__ __forceinline__ u64 clock_cycles() {
#ifdef __CUDA_ARCH__
    u64 cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
    return cycles;
#else
    return cpu::clock_cycles();
#endif
}

__device__ __forceinline__ u64 timer_nanoseconds() {
#ifdef __CUDA_ARCH__
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#else
    return cpu::timer_nanoseconds();
#endif
}

// 2^x to a few units in the last place of FP32; numbers below the normal ones become zero.
__device__ __forceinline__ float power_of_two(float x) {
#ifdef __CUDA_ARCH__
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
#else
    return cpu::power_of_two(x);
#endif
}

// Sum over the lanes of a warp; every lane has it.
template <class N> __device__ __forceinline__ N warp_sum(N value) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(ALL_LANES, value, offset);
    }
    return value;
}

__device__ __forceinline__ float warp_largest(float value) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, offset));
    }
    return value;
}

// Sum over the threads of a block, whose number is a multiple of 32; every thread has it. `part` has one number per warp.
template <class N> __device__ __forceinline__ N block_sum(N value, N *part) {
    const int warp = threadIdx.x / WARP;
    value = warp_sum(value);
    if (threadIdx.x % WARP == 0) part[warp] = value;
    __syncthreads();
    N sum = 0;
    for (int other = 0; other < int(blockDim.x) / WARP; ++other) sum += part[other];
    __syncthreads();
    return sum;
}

// D += A·B on tensor cores: A of 16 × K, B of K × 8, by fragments as PTX defines them. K is 8 times the elements E of a register.
// Lane 4·g + t has of A the rows g and g + 8 with columns E·t up to E·t + E - 1 and the same beyond K / 2; of B these rows in column g;
// of D the columns 2t and 2t + 1 of rows g and g + 8. FP16, BF16 and TF32 from architecture 8.0, INT8 from 7.5, E4M3 from 8.9.
#ifdef __CUDA_ARCH__
#define MMA(name, number, shape, types, constraint, emulated)                                                                  \
    __device__ __forceinline__ void name(number(&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {                                \
        asm volatile("mma.sync.aligned." shape ".row.col." types " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                     : constraint(d[0]), constraint(d[1]), constraint(d[2]), constraint(d[3])                                  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                                      \
    }
#else
#define MMA(name, number, shape, types, constraint, emulated)                                          \
    inline void name(number(&d)[4], const u32 (&a)[4], const u32 (&b)[2]) { cpu::mma<emulated>(d, a, b); }
#endif

// A quarter of such a product in INT8: 8 rows and K = 16. All of it by quarters is what architecture 7.5 has.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 750 && __CUDA_ARCH__ < 800
__device__ __forceinline__ void mma_int8_quarter(int &d0, int &d1, u32 a, u32 b) {
#ifdef __CUDA_ARCH__
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(d0), "+r"(d1) : "r"(a), "r"(b));
#else
    cpu::mma_quarter(d0, d1, a, b);
#endif
}
__device__ __forceinline__ void mma_int8_by_quarters(int (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
    mma_int8_quarter(d[0], d[1], a[0], b[0]);
    mma_int8_quarter(d[2], d[3], a[1], b[0]);
    mma_int8_quarter(d[0], d[1], a[2], b[1]);
    mma_int8_quarter(d[2], d[3], a[3], b[1]);
}
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750 && __CUDA_ARCH__ < 800
#define mma_int8 mma_int8_by_quarters
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MMA(mma_half, float, "m16n8k16", "f32.f16.f16.f32", "+f", cpu::Half)
MMA(mma_bf16, float, "m16n8k16", "f32.bf16.bf16.f32", "+f", cpu::Bf16)
MMA(mma_tf32, float, "m16n8k8", "f32.tf32.tf32.f32", "+f", cpu::Tf32)
MMA(mma_int8, int, "m16n8k32", "s32.s8.s8.s32", "+r", cpu::Int8)
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
MMA(mma_e4m3, float, "m16n8k32", "f32.e4m3.e4m3.f32", "+f", cpu::E4m3)
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// Two numbers rounded to FP16 or BF16, ties to even, the first one low.
__device__ __forceinline__ u32 pair_to_half(float low, float high) {
#ifdef __CUDA_ARCH__
    u32 pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return u32(to_half(high)) << 16 | to_half(low);
#endif
}

__device__ __forceinline__ u32 pair_to_bf16(float low, float high) {
#ifdef __CUDA_ARCH__
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return u32(to_bf16(high)) << 16 | to_bf16(low);
#endif
}

// 16 bytes from global to shared memory, both at multiples of 16, which are there when this thread has waited for its copies. The copies
// up to an end are a group.
__device__ __forceinline__ void copy_later(void *shared, const void *global) {
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(u32(__cvta_generic_to_shared(shared))), "l"(global) : "memory");
#else
    cpu::copy_later(shared, global);
#endif
}

__device__ __forceinline__ void end_of_copies() {
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.commit_group;" : : : "memory");
#else
    cpu::end_of_copies();
#endif
}

// Waits until at most LATE groups of this thread, the latest ones, may be under way.
template <int LATE> __device__ __forceinline__ void wait_for_copies() {
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_group %0;" : : "n"(LATE) : "memory");
#else
    cpu::wait_for_copies(LATE);
#endif
}

// Four matrices of 8 × 8 numbers of 16 bits from shared memory. Lane 8·i + r gives the address of row r of matrix i; lane 4·g + t gets the
// numbers 2t and 2t + 1 of row g of each; transposed: of column g.
__device__ __forceinline__ void load_matrices(u32 (&m)[4], const void *row) {
#ifdef __CUDA_ARCH__
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(u32(__cvta_generic_to_shared(row)))
                 : "memory");
#else
    cpu::load_matrices(m, row, false);
#endif
}

__device__ __forceinline__ void load_transposed(u32 (&m)[4], const void *row) {
#ifdef __CUDA_ARCH__
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(u32(__cvta_generic_to_shared(row)))
                 : "memory");
#else
    cpu::load_matrices(m, row, true);
#endif
}
#endif
