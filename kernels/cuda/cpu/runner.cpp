// Runs kernels on the processor as the tests ask on the standard input, and answers with the contents of the buffers.
//
// A call is a line `NAME GX GY GZ BX BY BZ SHARED ARGUMENTS`, then per argument a line `b BYTES` and the bytes of a buffer,
// or `i BITS` for a number. The answer is a byte and the bytes of all buffers, in order.
#include "all.hpp"
#include "mma_check.hpp"

#include <memory>

int main() {
    std::string name;
    dim3 grid, size;
    size_t shared, count;
    char word[128];
    while (std::scanf("%127s %u %u %u %u %u %u %zu %zu", word, &grid.x, &grid.y, &grid.z, &size.x, &size.y, &size.z, &shared, &count) == 9) {
        // Each buffer is an allocation of its own, so that the address sanitizer sees its ends.
        std::vector<std::pair<std::unique_ptr<char[]>, size_t>> buffers;
        std::vector<uint64_t> values(count);
        std::vector<void *> arguments(count);
        for (size_t i = 0; i < count; ++i) {
            char kind;
            unsigned long long number;
            if (std::scanf(" %c %llu", &kind, &number) != 2) return 65;
            if (std::getchar() != '\n') return 65;
            values[i] = number;
            if (kind == 'b') {
                buffers.emplace_back(new char[number], number);
                char *data = buffers.back().first.get();
                if (std::fread(data, 1, number, stdin) != number) return 65;
                values[i] = uint64_t(reinterpret_cast<uintptr_t>(data));
            }
            arguments[i] = &values[i];
        }
        cpu::launch(word, grid, size, shared, arguments.data());
        std::putchar('.');
        for (const auto &[data, bytes] : buffers) std::fwrite(data.get(), 1, bytes, stdout);
        std::fflush(stdout);
    }
    return 0;
}
