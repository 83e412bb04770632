// A library cuBLASLt for tests: libcublasLt.so.12 that multiplies on the processor, by the stream of the driver of tests (libcuda.cpp), and
// refuses what the real one refuses by its manual. Words of the driver (see there) that are about it:
//
//   lt=N            its version, as 120901 (120901)        lt_none         no algorithm for any product
//   lt_fails        it does not start                      lt_refuses=N    algorithms before the Nth do not run (from 0)
//   lt_tf32         FP32 runs in TF32                      lt_in_half      half of the result is left unwritten
//   lt_slow=N       algorithms before the Nth take long
//   lt_status=N     no algorithm runs, with this answer, and the GPU works on
//   lt_cold=N       the first N products take long, as with the clock of a GPU that rested
//   lt_best=N       algorithms other than the Nth take somewhat longer
//   lt_hiccup=N     the Nth product by that one takes very long
//   lt_gives_up=N   the Nth algorithm does not run any more after another one ran
//   lt_no_graph=N   no algorithm for N tokens runs in a graph, that is, while it is timed, and the GPU works on
//   lt_wide=N       bytes of the attributes of an algorithm (4)
//
// A copy of it by the name of version 13 has that version, and like CUDA 13 no algorithm for architectures before 7.5, where it starts.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include <dlfcn.h>

extern "C" int emulated_start(void *stream, const std::function<void()> *work);
extern "C" int emulated_has(uint64_t address, size_t bytes);
extern "C" int emulated_captures(void *stream);
extern "C" long long emulated_word(const char *name, long long otherwise);

namespace {

typedef int Status;

constexpr Status SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13, INTERNAL_ERROR = 14, NOT_SUPPORTED = 15;
constexpr int R_32F = 0, R_16F = 2, R_8I = 3, R_32I = 10, R_16BF = 14, R_8F_E4M3 = 28;
constexpr int COMPUTE_32F = 68, COMPUTE_32I = 72, COMPUTE_32F_FAST_TF32 = 77;
/// Algorithms of each product, the last one with two parts of each sum in the workspace.
constexpr int ALGORITHMS = 5;
constexpr uint64_t MAGIC = 0x616c676f;

struct Product {
    int compute, factor;
    int transposes_a = 0, transposes_b = 0;
};

struct Layout {
    int type;
    uint64_t rows, columns;
    int64_t distance;
};

struct Wish {
    uint64_t workspace = 0;
    uint32_t reduction = 7;
};

struct Algorithm {
    uint64_t magic, number, parts, unused[5];
};

struct Found {
    Algorithm algorithm;
    size_t workspace;
    Status state;
    float waves;
    int reserved[4];
};

size_t size_of(int type) {
    switch (type) {
    case R_32F:
    case R_32I: return 4;
    case R_16F:
    case R_16BF: return 2;
    default: return 1;
    }
}

float from_bits(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

/// A float of fewer bits: sign, exponent, mantissa.
float small_float(uint32_t code, int exponent_bits, int mantissa_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = int(code >> mantissa_bits) & ((1 << exponent_bits) - 1);
    const int mantissa = int(code) & ((1 << mantissa_bits) - 1);
    const float magnitude = exponent == 0 ? std::ldexp(float(mantissa), 1 - bias - mantissa_bits)
                                          : std::ldexp(float(mantissa + (1 << mantissa_bits)), exponent - bias - mantissa_bits);
    return code >> (exponent_bits + mantissa_bits) & 1 ? -magnitude : magnitude;
}

/// Drops bits of the mantissa, ties to even.
float rounded(float value, int dropped) {
    const uint32_t bits = bits_of(value);
    return from_bits((bits + ((1u << (dropped - 1)) - 1) + (bits >> dropped & 1)) & ~((1u << dropped) - 1));
}

uint16_t half_of(float value) {
    const uint32_t sign = bits_of(value) >> 16 & 0x8000;
    const float magnitude = std::fabs(value);
    if (magnitude < from_bits(113u << 23)) return uint16_t(sign | uint32_t(std::nearbyint(std::ldexp(magnitude, 24))));
    const uint32_t bits = bits_of(rounded(magnitude, 13));
    return uint16_t(sign | (((bits >> 23) - 112) << 10) | (bits >> 13 & 0x3ff));
}

float read(const char *from, int type, bool as_tf32) {
    uint32_t word = 0;
    std::memcpy(&word, from, size_of(type));
    switch (type) {
    case R_32F: return as_tf32 ? rounded(from_bits(word), 13) : from_bits(word);
    case R_16F: return small_float(word, 5, 10);
    case R_16BF: return from_bits(word << 16);
    case R_8F_E4M3: return small_float(word, 4, 3);
    default: return float(int8_t(word));
    }
}

void write(char *to, int type, float sum) {
    switch (type) {
    case R_32F: std::memcpy(to, &sum, 4); break;
    case R_16F: {
        const uint16_t code = half_of(sum);
        std::memcpy(to, &code, 2);
        break;
    }
    default: {
        const uint16_t code = uint16_t(bits_of(rounded(sum, 16)) >> 16);
        std::memcpy(to, &code, 2);
    }
    }
}

/// Types that the library multiplies, and its rules for them.
bool is_possible(const Product &product, const Layout &a, const Layout &b, const Layout &d) {
    if (a.type != b.type || !product.transposes_a || product.transposes_b) return false;
    if (a.rows != b.rows || a.columns != d.rows || b.columns != d.columns) return false;
    for (const Layout *it : {&a, &b, &d})
        if (it->distance < int64_t(it->rows)) return false;
    const bool is_float = product.compute == COMPUTE_32F && product.factor == R_32F;
    const bool has_rows_of_16 = a.rows % 16 == 0 && d.rows % 16 == 0;
    switch (a.type) {
    case R_32F: return (is_float || (product.compute == COMPUTE_32F_FAST_TF32 && product.factor == R_32F)) && d.type == R_32F;
    case R_16F: return is_float && d.type == R_16F;
    case R_16BF: return is_float && d.type == R_16BF;
    case R_8F_E4M3: return is_float && d.type == R_16BF && has_rows_of_16;
    case R_8I: return product.compute == COMPUTE_32I && product.factor == R_32I && d.type == R_32I && has_rows_of_16;
    default: return false;
    }
}

/// Sum of products, in several sums because that is faster than in one.
template <typename Sum> Sum dot(const float *w, const float *x, uint64_t count) {
    Sum sums[8] = {};
    uint64_t k = 0;
    for (; k + 8 <= count; k += 8)
        for (int i = 0; i < 8; ++i) sums[i] += Sum(w[k + i]) * Sum(x[k + i]);
    for (; k < count; ++k) sums[0] += Sum(w[k]) * Sum(x[k]);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

struct Operands {
    const char *a, *b;
    char *d;
};

void multiply(const Product &product, const Layout &a, const Layout &b, const Layout &d, Operands at, uint64_t columns) {
    const bool as_tf32 = product.compute == COMPUTE_32F_FAST_TF32 || (product.compute == COMPUTE_32F && emulated_word("lt_tf32", 0));
    const auto numbers = [&](const char *from, const Layout &of) {
        std::vector<float> all(of.rows * of.columns);
        for (uint64_t column = 0; column < of.columns; ++column)
            for (uint64_t row = 0; row < of.rows; ++row)
                all[column * of.rows + row] = read(from + (column * of.distance + row) * size_of(of.type), of.type, as_tf32);
        return all;
    };
    const std::vector<float> left = numbers(at.a, a), right = numbers(at.b, b);
    for (uint64_t column = 0; column < columns; ++column)
        for (uint64_t row = 0; row < d.rows; ++row) {
            const float *w = &left[row * a.rows], *x = &right[column * b.rows];
            char *to = at.d + (column * d.distance + row) * size_of(d.type);
            if (a.type == R_8I) {
                const int32_t sum = dot<int32_t>(w, x, a.rows);
                std::memcpy(to, &sum, sizeof sum);
            } else {
                write(to, d.type, dot<float>(w, x, a.rows));
            }
        }
}

} // namespace

#define LT extern "C" __attribute__((visibility("default")))

static bool is_13() {
    Dl_info own;
    return dladdr(reinterpret_cast<void *>(&is_13), &own) && std::strstr(own.dli_fname, "libcublasLt.so.13");
}

LT size_t cublasLtGetVersion() { return size_t(emulated_word("lt", is_13() ? 130000 : 120901)); }

LT Status cublasLtCreate(void **handle) {
    if (emulated_word("lt_fails", 0)) return NOT_INITIALIZED;
    *handle = new int(0);
    return SUCCESS;
}

LT Status cublasLtDestroy(int *handle) {
    delete handle;
    return SUCCESS;
}

LT Status cublasLtMatmulDescCreate(Product **made, int compute, int factor) {
    *made = new Product{compute, factor};
    return SUCCESS;
}

LT Status cublasLtMatmulDescSetAttribute(Product *product, int attribute, const void *value, size_t bytes) {
    if (bytes != sizeof(int)) return INVALID_VALUE;
    if (attribute == 3) std::memcpy(&product->transposes_a, value, bytes);
    else if (attribute == 4) std::memcpy(&product->transposes_b, value, bytes);
    else return INVALID_VALUE;
    return SUCCESS;
}

LT Status cublasLtMatmulDescDestroy(Product *product) {
    delete product;
    return SUCCESS;
}

LT Status cublasLtMatrixLayoutCreate(Layout **made, int type, uint64_t rows, uint64_t columns, int64_t distance) {
    *made = new Layout{type, rows, columns, distance};
    return SUCCESS;
}

LT Status cublasLtMatrixLayoutDestroy(Layout *layout) {
    delete layout;
    return SUCCESS;
}

LT Status cublasLtMatmulPreferenceCreate(Wish **made) {
    *made = new Wish;
    return SUCCESS;
}

LT Status cublasLtMatmulPreferenceSetAttribute(Wish *wish, int attribute, const void *value, size_t bytes) {
    if (attribute == 1 && bytes == sizeof wish->workspace) std::memcpy(&wish->workspace, value, bytes);
    else if (attribute == 3 && bytes == sizeof wish->reduction) std::memcpy(&wish->reduction, value, bytes);
    else return INVALID_VALUE;
    return SUCCESS;
}

LT Status cublasLtMatmulPreferenceDestroy(Wish *wish) {
    delete wish;
    return SUCCESS;
}

LT Status cublasLtMatmulAlgoGetHeuristic(void *handle, const Product *product, const Layout *a, const Layout *b, const Layout *c, const Layout *d,
                                         const Wish *wish, int most, Found *found, int *count) {
    *count = 0;
    if (!handle || most < 1 || c->type != d->type) return INVALID_VALUE;
    if (is_13() && emulated_word("capability", 90) < 75) return NOT_SUPPORTED;
    if (emulated_word("lt_none", 0) || !is_possible(*product, *a, *b, *d)) return NOT_SUPPORTED;
    for (int number = 0; number < ALGORITHMS && *count < most; ++number) {
        const bool splits = number == ALGORITHMS - 1;
        const size_t workspace = splits ? 8 * d->rows * d->columns : 0;
        // Parts that are added in the type of the result are what nobody asked for.
        if (workspace > wish->workspace || (splits && wish->reduction != 2)) continue;
        found[(*count)++] = {{MAGIC, uint64_t(number), splits ? 2u : 1u, {}}, workspace, SUCCESS, 1, {}};
    }
    return SUCCESS;
}

LT Status cublasLtMatmulAlgoConfigGetAttribute(const Algorithm *algorithm, int attribute, void *value, size_t bytes, size_t *written) {
    const size_t needed = size_t(emulated_word("lt_wide", sizeof(uint32_t)));
    if (algorithm->magic != MAGIC || (bytes != 0 && bytes < needed)) return INVALID_VALUE;
    *written = needed;
    if (bytes == 0) return SUCCESS;
    uint64_t number = 0;
    switch (attribute) {
    case 0: number = uint32_t(60 + algorithm->number); break; // its number
    case 1: number = 20; break;                               // its tile
    case 2: number = uint32_t(algorithm->parts); break;
    case 6: number = 4; break; // its stages
    default: return INVALID_VALUE;
    }
    std::memcpy(value, &number, needed);
    return SUCCESS;
}

LT Status cublasLtMatmul(void *handle, const Product *product, const void *alpha, uint64_t a_at, const Layout *a, uint64_t b_at, const Layout *b,
                         const void *beta, uint64_t c_at, const Layout *c, uint64_t d_at, const Layout *d, const Algorithm *algorithm,
                         uint64_t workspace, size_t workspace_bytes, void *stream) {
    if (!handle || !stream || algorithm->magic != MAGIC || c_at != d_at || c->type != d->type) return INVALID_VALUE;
    if (!is_possible(*product, *a, *b, *d)) return NOT_SUPPORTED;
    uint32_t factors[2];
    std::memcpy(&factors[0], alpha, 4);
    std::memcpy(&factors[1], beta, 4);
    if (factors[0] != (product->factor == R_32I ? 1 : bits_of(1)) || factors[1] != 0) return INVALID_VALUE;
    const auto bytes = [](const Layout &of) { return (of.distance * (of.columns - 1) + of.rows) * size_of(of.type); };
    if (!emulated_has(a_at, bytes(*a)) || !emulated_has(b_at, bytes(*b)) || !emulated_has(d_at, bytes(*d))) return EXECUTION_FAILED;
    const size_t needed = algorithm->parts > 1 ? 8 * d->rows * d->columns : 0;
    if (workspace_bytes < needed || (needed && (workspace % 256 != 0 || !emulated_has(workspace, needed)))) return INVALID_VALUE;
    const long long number = (long long)(algorithm->number);
    if (number < emulated_word("lt_refuses", 0)) return NOT_SUPPORTED;
    if (const Status told = Status(emulated_word("lt_status", 0))) return told;
    if (emulated_captures(stream) && (long long)d->columns == emulated_word("lt_no_graph", -1)) return INTERNAL_ERROR;
    static long long last = -1;
    static bool has_begun = false, has_ended = false;
    if (number == emulated_word("lt_gives_up", -1)) {
        has_ended |= has_begun && last != number;
        has_begun = true;
        if (has_ended) return EXECUTION_FAILED;
    }
    last = number;
    static long long products = 0;
    ++products;
    const bool is_slow = number < emulated_word("lt_slow", 0) || products <= emulated_word("lt_cold", 0);
    const long long best = emulated_word("lt_best", -1);
    static long long of_best = 0;
    of_best += number == best;
    const bool hiccups = number == best && of_best == emulated_word("lt_hiccup", 0);
    const int milliseconds = hiccups ? 300 : is_slow ? 20 : best >= 0 && number != best ? 3 : 0;
    const uint64_t columns = emulated_word("lt_in_half", 0) ? d->columns / 2 : d->columns;
    const Operands at = {reinterpret_cast<const char *>(a_at), reinterpret_cast<const char *>(b_at), reinterpret_cast<char *>(d_at)};
    const std::function<void()> work = [product = *product, a = *a, b = *b, d = *d, at, columns, milliseconds] {
        if (milliseconds) std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        multiply(product, a, b, d, at, columns);
    };
    return emulated_start(stream, &work) == 0 ? SUCCESS : EXECUTION_FAILED;
}
