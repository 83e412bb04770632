// CUDA kernels on a processor, for tests: one block at a time, each thread a fiber, the same sources as on a GPU.
//
// It checks what a GPU leaves undefined: a barrier that some threads do not reach, lanes that wait at different warp operations, and,
// by its memory, reads beyond a buffer (address sanitizer) and shared memory that was not written (it is filled with NaN).
// With CUDA_ON_CPU_REVERSE=1 threads run in the other order, which finds most missing barriers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __align__(n) alignas(n)

struct uint4 { unsigned x, y, z, w; };
struct uint2 { unsigned x, y; };
struct float4 { float x, y, z, w; };
struct dim3 { unsigned x, y, z; };

namespace cpu {

[[noreturn]] inline void stop(const char *what, const char *file, int line) {
    std::fprintf(stderr, "%s at %s:%d\n", what, file, line);
    std::fflush(stderr);
    std::_Exit(70);
}

constexpr unsigned WARP_LANES = 32;
constexpr size_t STACK = 256 * 1024;

/// A meeting of threads: a barrier of the block, or an operation of a warp. Values are kept in two sets in turn, so that a lane that is
/// late still reads those of its own meeting.
struct Meeting {
    unsigned long generation = 0;
    unsigned arrived = 0;
    const char *file = nullptr;
    int line = 0;
    uint64_t values[2][WARP_LANES] = {};
    // Fragments of a matrix product, by lane.
    uint32_t fragments[2][WARP_LANES][6] = {};
};

/// A copy that is under way: 16 bytes, and how many groups ended before it.
struct Copy {
    void *to;
    const void *from;
    unsigned group;
};

struct Fiber {
    ucontext_t context;
    std::vector<Copy> copies;
    unsigned groups = 0;
    std::vector<char> stack = std::vector<char>(STACK);
    unsigned index = 0;
    dim3 thread{};
    bool is_done = false;
    void *fake_stack = nullptr;
};

/// The block that runs.
struct Block {
    dim3 grid{}, size{}, index{};
    std::vector<Fiber> fibers;
    std::vector<Meeting> warps;
    Meeting barrier;
    std::vector<char> shared;
    unsigned current = 0, alive = 0;
    bool is_reverse = false;
    unsigned long progress = 0;
    ucontext_t scheduler{};
    void *scheduler_fake = nullptr;
    const void *scheduler_stack = nullptr;
    size_t scheduler_size = 0;
    std::function<void()> body;
};

inline Block block;

inline void into(ucontext_t &from, ucontext_t &to, void **save, const void *stack, size_t size) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(save, stack, size);
#else
    (void)save, (void)stack, (void)size;
#endif
    swapcontext(&from, &to);
}

inline void arrive_at_fiber(void *fake) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, &block.scheduler_stack, &block.scheduler_size);
#else
    (void)fake;
#endif
}

inline void yield() {
    Fiber &fiber = block.fibers[block.current];
    into(fiber.context, block.scheduler, &fiber.fake_stack, block.scheduler_stack, block.scheduler_size);
    arrive_at_fiber(fiber.fake_stack);
}

inline void enter() {
    arrive_at_fiber(nullptr);
    block.body();
    Fiber &fiber = block.fibers[block.current];
    fiber.is_done = true;
    --block.alive;
    ++block.progress;
    into(fiber.context, block.scheduler, nullptr, block.scheduler_stack, block.scheduler_size);
}

/// Waits until `expected()` threads are at this meeting; returns the set of values that belongs to it.
inline unsigned meet(Meeting &meeting, unsigned expected, const char *file, int line,
                     const std::function<void(unsigned)> &give) {
    if (meeting.arrived > 0 && (meeting.line != line || std::strcmp(meeting.file, file) != 0)) {
        std::fprintf(stderr, "threads wait at %s:%d, too\n", meeting.file, meeting.line);
        stop("threads of a warp or a block wait at different places", file, line);
    }
    meeting.file = file;
    meeting.line = line;
    const unsigned long mine = meeting.generation;
    const unsigned set = mine & 1u;
    give(set);
    ++meeting.arrived;
    ++block.progress;
    if (meeting.arrived == expected) {
        meeting.arrived = 0;
        ++meeting.generation;
    } else {
        while (meeting.generation == mine) yield();
    }
    return set;
}

inline unsigned lane() { return block.fibers[block.current].index % WARP_LANES; }
inline Meeting &warp() { return block.warps[block.fibers[block.current].index / WARP_LANES]; }
inline unsigned lanes_of_warp() {
    const unsigned first = block.fibers[block.current].index / WARP_LANES * WARP_LANES;
    return std::min<unsigned>(WARP_LANES, unsigned(block.fibers.size()) - first);
}

inline void barrier(const char *file, int line) {
    meet(block.barrier, unsigned(block.fibers.size()), file, line, [](unsigned) {});
}

template <class T> T exchange(T value, unsigned source, const char *file, int line) {
    static_assert(sizeof(T) <= 8, "a register");
    Meeting &here = warp();
    uint64_t raw = 0;
    std::memcpy(&raw, &value, sizeof value);
    const unsigned me = lane();
    const unsigned set = meet(here, lanes_of_warp(), file, line, [&](unsigned set) { here.values[set][me] = raw; });
    T got;
    std::memcpy(&got, &here.values[set][source % WARP_LANES], sizeof got);
    return got;
}

inline void check_mask(unsigned mask, const char *file, int line) {
    if (mask != 0xffffffffu) stop("a warp operation of some lanes only", file, line);
}

inline float of_bits(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float decoded_half(uint16_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const float sign = half >> 15 ? -1.0f : 1.0f;
    if (exponent == 31) return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? std::ldexp(1.0f + float(fraction) / 1024.0f, exponent - 15) : std::ldexp(float(fraction), -24));
}

inline float of_half(uint16_t half) {
    static const std::vector<float> all = [] {
        std::vector<float> all(65536);
        for (unsigned bits = 0; bits < all.size(); ++bits) all[bits] = decoded_half(uint16_t(bits));
        return all;
    }();
    return all[half];
}

inline uint16_t to_half(float value) {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const float size = std::fabs(value);
    if (std::isnan(value)) return 0x7fff;
    if (size >= 65520.0f) return sign | 0x7c00;
    int exponent;
    std::frexp(size, &exponent);
    // One unit in the last place of FP16 at this size; nearbyint rounds ties to even.
    const int unit = std::max(exponent - 11, -24);
    const float steps = std::nearbyint(std::ldexp(size, -unit));
    const float rounded = std::ldexp(steps, unit);
    if (rounded < 0x1p-14f) return sign | uint16_t(std::ldexp(rounded, 24));
    std::frexp(rounded, &exponent);
    return sign | uint16_t((exponent + 14) << 10) | (uint16_t(std::ldexp(rounded, 11 - exponent)) & 1023);
}

inline float of_bf16(uint16_t bits) { return of_bits(uint32_t(bits) << 16); }
inline float times(float a, float b) { return a * b; }
inline float minus(float a, float b) { return a - b; }

inline uint32_t pairwise(uint32_t a, uint32_t b, float (*op)(float, float)) {
    const uint32_t low = to_half(op(of_half(uint16_t(a)), of_half(uint16_t(b))));
    const uint32_t high = to_half(op(of_half(uint16_t(a >> 16)), of_half(uint16_t(b >> 16))));
    return high << 16 | low;
}

/// Two numbers of FP16 times two others plus two others. FP64 has the sum of a product with a number of FP16 exactly, and FP32 the sums
/// that kernels take.
inline uint32_t multiply_add(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t both = 0;
    for (unsigned shift : {0u, 16u}) {
        const double product = double(of_half(uint16_t(a >> shift))) * of_half(uint16_t(b >> shift));
        both |= uint32_t(to_half(float(product + of_half(uint16_t(c >> shift))))) << shift;
    }
    return both;
}

inline uint4 load16(const void *address) {
    if (reinterpret_cast<uintptr_t>(address) % 16 != 0) stop("a load of 16 bytes from an address that is no multiple of 16", __FILE__, __LINE__);
    uint4 value;
    std::memcpy(&value, address, sizeof value);
    return value;
}

inline int dot4(int a, int b, int sum) {
    for (int i = 0; i < 4; ++i) sum += int(int8_t(a >> 8 * i)) * int(int8_t(b >> 8 * i));
    return sum;
}

/// Nanoseconds since the start of the machine; the emulated multiprocessor has a clock of 1 GHz.
inline uint64_t timer_nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}
inline uint64_t clock_cycles() { return timer_nanoseconds(); }

inline float exponential(float x) { return std::exp(x); }
inline float root(float x) { return std::sqrt(x); }
inline float power_of_two(float x) { return std::exp2(x); }

inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = uint64_t(b) << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) result |= uint32_t(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return result;
}

} // namespace cpu

#include "tensor_cores.hpp"

namespace cpu {

/// A kernel by its name: takes its arguments as the driver does, each by its address.
using Entry = std::function<void(void **)>;

inline std::map<std::string, Entry> &kernels() {
    static std::map<std::string, Entry> all;
    return all;
}

template <class... A, size_t... I> void call(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_reference_t<A> *>(arguments[I])...);
}

/// Arguments of each kernel, by its name.
inline std::map<std::string, size_t> &arguments() {
    static std::map<std::string, size_t> all;
    return all;
}

template <class... A> bool add(const char *name, void (*kernel)(A...)) {
    arguments()[name] = sizeof...(A);
    kernels()[name] = [kernel](void **arguments) { call(kernel, arguments, std::index_sequence_for<A...>{}); };
    return true;
}

/// Runs a thread until it waits.
inline void run_fiber(unsigned index) {
    Fiber &fiber = block.fibers[index];
    if (fiber.is_done) return;
    block.current = index;
    into(block.scheduler, fiber.context, &block.scheduler_fake, fiber.stack.data(), fiber.stack.size());
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(block.scheduler_fake, nullptr, nullptr);
#endif
}

inline void run_block(const Entry &entry, void **arguments) {
    const unsigned threads = block.size.x * block.size.y * block.size.z;
    std::fill(block.shared.begin(), block.shared.end(), char(0xff)); // NaN as any float
    block.warps.assign((threads + WARP_LANES - 1) / WARP_LANES, Meeting{});
    block.barrier = Meeting{};
    block.alive = threads;
    block.body = [&] { entry(arguments); };
    for (unsigned i = 0; i < threads; ++i) {
        Fiber &fiber = block.fibers[i];
        fiber.index = i;
        fiber.thread = {i % block.size.x, i / block.size.x % block.size.y, i / block.size.x / block.size.y};
        fiber.is_done = false;
        fiber.copies.clear();
        fiber.groups = 0;
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.data();
        fiber.context.uc_stack.ss_size = fiber.stack.size();
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, enter, 0);
    }
    // Each warp runs until it waits for others, so that warps are as far apart as barriers let them be.
    const unsigned warps = unsigned(block.warps.size());
    while (block.alive > 0) {
        const unsigned long before = block.progress;
        for (unsigned i = 0; i < warps; ++i) {
            const unsigned first = (block.is_reverse ? warps - 1 - i : i) * WARP_LANES, count = std::min(WARP_LANES, threads - first);
            for (unsigned long progress = block.progress + 1; progress != block.progress;) {
                progress = block.progress;
                for (unsigned j = 0; j < count; ++j) run_fiber(first + (block.is_reverse ? count - 1 - j : j));
            }
        }
        if (block.progress == before) {
            const Meeting &where = block.barrier;
            stop("deadlock: some threads never reach the barrier or the warp operation of the others", where.file ? where.file : "?", where.line);
        }
    }
}

inline void launch(const std::string &name, dim3 grid, dim3 size, size_t shared, void **arguments) {
    const auto found = kernels().find(name);
    if (found == kernels().end()) stop(("no kernel " + name).c_str(), __FILE__, __LINE__);
    const char *order = std::getenv("CUDA_ON_CPU_REVERSE");
    block.is_reverse = order && *order == '1';
    block.grid = grid;
    block.size = size;
    block.shared.assign(shared, 0);
    block.fibers.resize(size.x * size.y * size.z);
    for (unsigned z = 0; z < grid.z; ++z)
        for (unsigned y = 0; y < grid.y; ++y)
            for (unsigned x = 0; x < grid.x; ++x) {
                block.index = {x, y, z};
                run_block(found->second, arguments);
            }
}

} // namespace cpu

#define threadIdx (cpu::block.fibers[cpu::block.current].thread)
#define blockIdx (cpu::block.index)
#define blockDim (cpu::block.size)
#define gridDim (cpu::block.grid)
#define __syncthreads() cpu::barrier(__FILE__, __LINE__)
#define __syncwarp() cpu::exchange(0, 0, __FILE__, __LINE__)
#define __shfl_xor_sync(mask, value, offset) \
    (cpu::check_mask(mask, __FILE__, __LINE__), cpu::exchange(value, cpu::lane() ^ unsigned(offset), __FILE__, __LINE__))
#define __shfl_sync(mask, value, source) \
    (cpu::check_mask(mask, __FILE__, __LINE__), cpu::exchange(value, unsigned(source), __FILE__, __LINE__))
#define KERNEL_NAME(name) static const bool name##_is_known = cpu::add(#name, name);
#define SHARED(type, name) type *name = reinterpret_cast<type *>(cpu::block.shared.data())

using std::max;
using std::min;
