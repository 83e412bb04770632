// Peaks: arithmetic in registers, per class.
//
// what       independent chains of multiply-adds: FP32 units, INT8 dot products of four, tensor cores in FP16, BF16, TF32, INT8, E4M3
// formula    flops of a thread of `rounds`: 2 · CHAINS (FP32), 8 · CHAINS (dot); of a warp: 2 · 16 · 8 · K · CHAINS (tensor cores,
//            K = 16 for FP16 and BF16, 8 for TF32, 32 for INT8 and E4M3)
// tile       8 chains a thread; enough blocks fill every multiprocessor
// arch       >=70; tensor cores >=80; E4M3 >=89
// registers  by `cargo xtask kernels`
// limit      the issue rate; on architecture 9.0 `mma` reaches about 0.6 of the peak of `wgmma`, which is not used here, and E4M3 is
//            native in `mma` on 8.9 and 12 only (the backend asks no other for it). Not measured on
//            a GPU yet.
#include "device.cuh"

#define CHAINS 8

extern "C" __global__ void __launch_bounds__(256) fma_fp32_v1(float *out, float a, float b, int rounds) {
    float chain[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) chain[i] = float(threadIdx.x) + float(i);
#pragma unroll 16
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < CHAINS; ++i) chain[i] = chain[i] * a + b;
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) sum += chain[i];
    out[u64(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}
KERNEL_NAME(fma_fp32_v1)

extern "C" __global__ void __launch_bounds__(256) dot_int8_v1(int *out, int a, int b, int rounds) {
    int chain[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) chain[i] = int(threadIdx.x) + i;
#pragma unroll 16
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int i = 0; i < CHAINS; ++i) chain[i] = dot4(a, b, chain[i]);
    }
    int sum = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) sum += chain[i];
    out[u64(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}
KERNEL_NAME(dot_int8_v1)

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
// Every element of A and B is the same number; each result is rounds · K · a · b a chain. Chains begin anew every REST rounds, because
// accumulators of some tensor cores have fewer bits than FP32 and would stop growing.
#define REST 256
#define PEAK(name, number, mma)                                                                         \
    extern "C" __global__ void __launch_bounds__(256) name##_v1(number *out, u32 a, u32 b, int rounds) { \
        number sum = 0;                                                                                 \
        const u32 left[4] = {a, a, a, a}, right[2] = {b, b};                                            \
        for (int done = 0; done < rounds; done += REST) {                                               \
            number chain[CHAINS][4] = {};                                                               \
            const int some = min(REST, rounds - done);                                                  \
            for (int round = 0; round < some; ++round) {                                                \
                _Pragma("unroll") for (int i = 0; i < CHAINS; ++i) mma(chain[i], left, right);          \
            }                                                                                           \
            _Pragma("unroll") for (int i = 0; i < CHAINS; ++i) sum += chain[i][0] + chain[i][3];        \
        }                                                                                               \
        out[u64(blockIdx.x) * blockDim.x + threadIdx.x] = sum;                                          \
    }                                                                                                   \
    KERNEL_NAME(name##_v1)

PEAK(mma_fp16, float, mma_half)
PEAK(mma_bf16, float, mma_bf16)
PEAK(mma_tf32, float, mma_tf32)
PEAK(mma_int8, int, mma_int8)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
PEAK(mma_fp8_e4m3, float, mma_e4m3)
#endif
#endif
