// Tensor cores on a processor: products of fragments, and how matrices get from memory to fragments.
#pragma once

namespace cpu {

/// A copy to shared memory happens as late as it may, when the thread waits for it, or with the other order of threads at once.
inline void copy_later(void *to, const void *from) {
    for (const void *address : {static_cast<const void *>(to), from}) {
        if (reinterpret_cast<uintptr_t>(address) % 16 != 0) stop("a copy of 16 bytes at an address that is no multiple of 16", __FILE__, __LINE__);
    }
    Fiber &fiber = block.fibers[block.current];
    if (block.is_reverse) std::memcpy(to, from, 16);
    else fiber.copies.push_back({to, from, fiber.groups});
}
inline void end_of_copies() { ++block.fibers[block.current].groups; }
inline void wait_for_copies(unsigned late) {
    Fiber &fiber = block.fibers[block.current];
    const auto is_late = [&](const Copy &copy) { return copy.group + late >= fiber.groups; };
    for (const Copy &copy : fiber.copies) {
        if (!is_late(copy)) std::memcpy(copy.to, copy.from, 16);
    }
    fiber.copies.erase(std::remove_if(fiber.copies.begin(), fiber.copies.end(), [&](const Copy &copy) { return !is_late(copy); }), fiber.copies.end());
}

/// Four matrices of 8 × 8 numbers of 16 bits, whose rows the lanes name. Rows of a matrix that share banks would be read one after the
/// other, which ends the run.
inline void load_matrices(uint32_t (&m)[4], const void *row, bool is_transposed) {
    Meeting &here = warp();
    const unsigned me = lane();
    const unsigned set = meet(here, lanes_of_warp(), __FILE__, __LINE__, [&](unsigned set) { here.values[set][me] = reinterpret_cast<uintptr_t>(row); });
    for (unsigned i = 0; i < 4; ++i) {
        const uint64_t *rows = here.values[set] + 8 * i;
        unsigned banks = 0;
        for (unsigned r = 0; r < 8; ++r) banks |= 1u << (rows[r] / 16 % 8);
        if (banks != 255) stop("rows of a matrix share banks of shared memory", __FILE__, __LINE__);
        uint16_t pair[2];
        for (unsigned j = 0; j < 2; ++j) {
            const unsigned r = is_transposed ? me % 4 * 2 + j : me / 4, column = is_transposed ? me / 4 : me % 4 * 2 + j;
            std::memcpy(&pair[j], reinterpret_cast<const char *>(rows[r]) + 2 * column, 2);
        }
        m[i] = uint32_t(pair[1]) << 16 | pair[0];
    }
}

// Elements of a register for tensor cores: how many, the number at a place, and what a sum keeps.
struct Exact {
    template <class N> static N kept(N sum) { return sum; }
};
struct Half : Exact {
    static constexpr unsigned COUNT = 2;
    static float at(uint32_t word, unsigned i) { return of_half(uint16_t(word >> 16 * i)); }
};
struct Bf16 : Exact {
    static constexpr unsigned COUNT = 2;
    static float at(uint32_t word, unsigned i) { return of_bf16(uint16_t(word >> 16 * i)); }
};
struct Tf32 : Exact {
    static constexpr unsigned COUNT = 1;
    static float at(uint32_t word, unsigned) { return of_bits(word & 0xffffe000u); }
};
struct Int8 : Exact {
    static constexpr unsigned COUNT = 4;
    static int at(uint32_t word, unsigned i) { return int8_t(word >> 8 * i); }
};
struct E4m3 {
    static constexpr unsigned COUNT = 4;
    static float at(uint32_t word, unsigned i) {
        const uint32_t code = word >> 8 * i & 255;
        return of_half(uint16_t((code & 0x80) << 8 | (code & 0x7f) << 7)) * 256.0f;
    }
    // Sums of some tensor cores have 13 bits below the first one.
    static float kept(float sum) { return of_bits(bits_of(sum) & 0xfffffc00u); }
};

/// The product of fragments of all lanes, by the layout of PTX.
template <class E, class N> void mma(N (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
    constexpr unsigned HALF = 4 * E::COUNT;
    Meeting &here = warp();
    const unsigned me = lane();
    if (lanes_of_warp() != WARP_LANES) stop("a matrix product of a warp that is not whole", __FILE__, __LINE__);
    const unsigned set = meet(here, WARP_LANES, __FILE__, __LINE__, [&](unsigned set) {
        for (int i = 0; i < 4; ++i) here.fragments[set][me][i] = a[i];
        for (int i = 0; i < 2; ++i) here.fragments[set][me][4 + i] = b[i];
    });
    const unsigned row = me / 4, column = me % 4 * 2;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned of_row = row * 4, of_column = (column + i % 2) * 4;
        N sum = d[i];
        for (unsigned k = 0; k < 2 * HALF; ++k) {
            const unsigned lane = k % HALF / E::COUNT, place = k % E::COUNT;
            const uint32_t left = here.fragments[set][of_row + lane][i / 2 + k / HALF * 2];
            const uint32_t right = here.fragments[set][of_column + lane][4 + k / HALF];
            sum += E::at(left, place) * E::at(right, place);
        }
        d[i] = E::kept(sum);
    }
}

/// The product of 8 × 16 and 16 × 8 codes in INT8: lane 4·g + t has 4·t up to 4·t + 3 of row g and of column g, and the results 2t and
/// 2t + 1 of row g.
inline void mma_quarter(int &d0, int &d1, uint32_t a, uint32_t b) {
    Meeting &here = warp();
    const unsigned me = lane();
    if (lanes_of_warp() != WARP_LANES) stop("a matrix product of a warp that is not whole", __FILE__, __LINE__);
    const unsigned set = meet(here, WARP_LANES, __FILE__, __LINE__, [&](unsigned set) {
        here.fragments[set][me][0] = a;
        here.fragments[set][me][1] = b;
    });
    int *const results[2] = {&d0, &d1};
    for (unsigned i = 0; i < 2; ++i) {
        for (unsigned k = 0; k < 16; ++k) {
            const uint32_t left = here.fragments[set][me / 4 * 4 + k / 4][0];
            const uint32_t right = here.fragments[set][(me % 4 * 2 + i) * 4 + k / 4][1];
            *results[i] += Int8::at(left, k % 4) * Int8::at(right, k % 4);
        }
    }
}

} // namespace cpu
