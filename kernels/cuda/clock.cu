// Clock of the multiprocessors.
//
// what       per block the cycles of its multiprocessor while the device's timer advances by a given time
// formula    clock = cycles / nanoseconds
// tile       a warp per multiprocessor, of which one thread waits
// arch       >=70
// registers  by `cargo xtask kernels`
// limit      the timer's step, 1 microsecond or less, over the time that is waited. Not measured on a GPU yet.
#include "device.cuh"

// Cycles after which it ends whatever the timer says.
#define LONGEST (1ull << 31)

extern "C" __global__ void __launch_bounds__(32) clock_v1(u64 *out, u64 nanoseconds) {
    if (threadIdx.x != 0) return;
    // The timer may advance in coarse steps, so the first one is waited for; a timer that stands still ends nothing but this kernel.
    const u64 before = timer_nanoseconds(), start = clock_cycles();
    u64 begin = before;
    while (begin == before && clock_cycles() - start < LONGEST) begin = timer_nanoseconds();
    const u64 cycles = clock_cycles();
    u64 passed = 0;
    while (passed < nanoseconds && clock_cycles() - cycles < LONGEST) passed = timer_nanoseconds() - begin;
    out[2 * u64(blockIdx.x)] = clock_cycles() - cycles;
    out[2 * u64(blockIdx.x) + 1] = passed;
}
KERNEL_NAME(clock_v1)
