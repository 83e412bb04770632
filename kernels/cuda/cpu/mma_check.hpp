// Products of whole matrices by the emulated tensor cores: rows of A and columns of B lie in memory one after the other, and each lane
// takes its elements one by one, at the rows and columns of the figures in the section on `mma` of PTX.
#pragma once
#include "../device.cuh"

// The element `i` of lane 4·g + t in A of 16 rows, of which a register holds `count`: i / count is the register.
struct Place {
    unsigned row, column;
};
inline Place place_in_a(unsigned lane, unsigned i, unsigned count) {
    const unsigned g = lane / 4, t = lane % 4, of_register = i / count;
    const bool is_lower_row = of_register == 0 || of_register == 2, is_first_half = of_register < 2;
    return {is_lower_row ? g : g + 8, t * count + i % count + (is_first_half ? 0 : 4 * count)};
}
inline Place place_in_b(unsigned lane, unsigned i, unsigned count) {
    const unsigned g = lane / 4, t = lane % 4;
    return {t * count + i % count + (i < count ? 0 : 4 * count), g};
}
inline Place place_in_d(unsigned lane, unsigned i) {
    const unsigned g = lane / 4, t = lane % 4;
    return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
}

template <class Stored, class N>
inline void multiply_matrices(const Stored *a, const Stored *b, N *d, void (*multiply)(N (&)[4], const u32 (&)[4], const u32 (&)[2])) {
    constexpr unsigned COUNT = 4 / sizeof(Stored), K = 8 * COUNT;
    const unsigned lane = threadIdx.x;
    Stored of_a[4 * COUNT], of_b[2 * COUNT];
    for (unsigned i = 0; i < 4 * COUNT; ++i) of_a[i] = a[place_in_a(lane, i, COUNT).row * K + place_in_a(lane, i, COUNT).column];
    for (unsigned i = 0; i < 2 * COUNT; ++i) of_b[i] = b[place_in_b(lane, i, COUNT).column * K + place_in_b(lane, i, COUNT).row];
    u32 left[4], right[2];
    std::memcpy(left, of_a, sizeof left);
    std::memcpy(right, of_b, sizeof right);
    N sums[4];
    for (unsigned i = 0; i < 4; ++i) sums[i] = d[place_in_d(lane, i).row * 8 + place_in_d(lane, i).column];
    multiply(sums, left, right);
    for (unsigned i = 0; i < 4; ++i) d[place_in_d(lane, i).row * 8 + place_in_d(lane, i).column] = sums[i];
}

#define CHECK(name, Stored, N)                                                                               \
    inline void name##_check(const Stored *a, const Stored *b, N *d) { multiply_matrices(a, b, d, name); } \
    KERNEL_NAME(name##_check)

CHECK(mma_half, u16, float)
CHECK(mma_bf16, u16, float)
CHECK(mma_tf32, u32, float)
CHECK(mma_int8, u8, int)
CHECK(mma_int8_by_quarters, u8, int)
CHECK(mma_e4m3, u8, float)

// Four matrices one after the other, as their lanes get them.
inline void load_matrices_check(const u16 *matrices, u32 *loaded, int is_transposed) {
    u32 m[4];
    const u16 *row = matrices + threadIdx.x * 8;
    if (is_transposed) load_transposed(m, row);
    else load_matrices(m, row);
    for (unsigned i = 0; i < 4; ++i) loaded[threadIdx.x * 4 + i] = m[i];
}
KERNEL_NAME(load_matrices_check)
