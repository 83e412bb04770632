// Streams: memory that is read, copied, or read and written as in STREAM's triad.
//
// what       read: the sum of the words of an array; copy: b = a; triad: a = b + 3·c in FP32
// formula    bytes = array (read), 2 · array (copy), 3 · array (triad)
// tile       a grid of a few blocks per multiprocessor strides over the array; each thread has eight loads of 16 bytes in flight
// arch       >=70
// registers  by `cargo xtask kernels`
// limit      memory; 32 KB in flight per multiprocessor at 4.8 TB/s and 700 ns need 1 block of 256 threads with 8 loads. Not
//            measured on a GPU yet.
#include "device.cuh"

#define AHEAD 8

// Sum of all words modulo 2^32, one partial sum per block: the reads cannot be left out, and the sum shows that each was made.
extern "C" __global__ void __launch_bounds__(256) read_v1(const uint4 *array, u64 count, u32 *sums) {
    SHARED(u32, part);
    u32 sum = 0;
    const u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 first = u64(blockIdx.x) * blockDim.x + threadIdx.x; first < count; first += step * AHEAD) {
        uint4 raw[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            raw[i] = first + i * step < count ? load_once(array + first + i * step) : uint4{0, 0, 0, 0};
        }
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            sum += raw[i].x + raw[i].y + raw[i].z + raw[i].w;
        }
    }
    sum = block_sum(sum, part);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
KERNEL_NAME(read_v1)

extern "C" __global__ void __launch_bounds__(256) copy_v1(const uint4 *from, uint4 *to, u64 count) {
    const u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 first = u64(blockIdx.x) * blockDim.x + threadIdx.x; first < count; first += step * AHEAD) {
        uint4 raw[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            if (first + i * step < count) raw[i] = load_once(from + first + i * step);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            if (first + i * step < count) to[first + i * step] = raw[i];
        }
    }
}
KERNEL_NAME(copy_v1)

__device__ __forceinline__ u32 plus_three_times(u32 b, u32 c) { return bits_of(of_bits(b) + 3.0f * of_bits(c)); }

extern "C" __global__ void __launch_bounds__(256) triad_v1(uint4 *a, const uint4 *b, const uint4 *c, u64 count) {
    const u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 first = u64(blockIdx.x) * blockDim.x + threadIdx.x; first < count; first += step * (AHEAD / 2)) {
        uint4 left[AHEAD / 2], right[AHEAD / 2];
#pragma unroll
        for (int i = 0; i < AHEAD / 2; ++i) {
            if (first + i * step < count) {
                left[i] = load_once(b + first + i * step);
                right[i] = load_once(c + first + i * step);
            }
        }
#pragma unroll
        for (int i = 0; i < AHEAD / 2; ++i) {
            if (first + i * step < count) {
                a[first + i * step] = uint4{
                    plus_three_times(left[i].x, right[i].x), plus_three_times(left[i].y, right[i].y),
                    plus_three_times(left[i].z, right[i].z), plus_three_times(left[i].w, right[i].w)};
            }
        }
    }
}
KERNEL_NAME(triad_v1)

// Nothing: its time is the cost of a launch.
extern "C" __global__ void empty_v1() {}
KERNEL_NAME(empty_v1)
