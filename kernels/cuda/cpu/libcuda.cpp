// A driver of CUDA for tests: a library libcuda.so.1 that runs the kernels of this folder on the processor, and fails as it is told.
//
// It has the functions that the backend calls. Calls run at once, in order; a graph is a list of them. FAKE_CUDA, or the file fake_cuda in
// the first folder of RIDGEPOINT_CUDA_LIBS, has words with commas:
//
//   none            no device                     devices=N     that many devices (1)
//   stub            the stub of a toolkit         capability=N  compute capability, as 90 (90)
//   mismatch        driver and kernel module      integrated    shares the memory of the system
//   denied          no right to the device        memory=N      memory of a device in MB (1024)
//   exclusive       another process has it        no_cubin      refuses every binary
//   full            no memory is left but for little           fails_at=N    the Nth call fails, and everything after it
//   cuda=N          version of CUDA that it knows, as 12090 (12090)
//   lost_at=N       at the Nth call the GPU falls off the bus, and everything after it fails
//   wrong_from=N    from the Nth call on results are not written
//
// The library for products of matrices, libcublaslt.cpp, starts its work by `emulated_start`, and has words of its own.
//
// Only what the backend asks for is here; a function that is missing is a missing symbol, as in an old driver.
#include "all.hpp"

#include <functional>
#include <memory>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

typedef int Result;
typedef uint64_t Address;

constexpr Result SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, STUB = 34, UNAVAILABLE = 46, NO_DEVICE = 100, INVALID_DEVICE = 101,
                 NO_BINARY = 209, NOT_FOUND = 500, LAUNCH_FAILED = 719, NOT_PERMITTED = 800, MISMATCH = 803, UNKNOWN = 999;

/// What the driver is told: by the variable, or by a file beside the library, because few variables reach a worker.
std::string told() {
    if (const char *words = std::getenv("FAKE_CUDA")) return words;
    const char *folder = std::getenv("RIDGEPOINT_CUDA_LIBS");
    std::FILE *file = folder ? std::fopen((std::string(folder).substr(0, std::strcspn(folder, ":")) + "/fake_cuda").c_str(), "r") : nullptr;
    char words[256] = "";
    if (file && !std::fgets(words, sizeof words, file)) words[0] = 0;
    if (file) std::fclose(file);
    return words;
}

/// The value of a word, or `otherwise`.
long long word(const char *name, long long otherwise) {
    static const std::string all = told();
    const std::string text = "," + all + ",";
    const std::string key = std::string(",") + name;
    const size_t at = text.find(key);
    if (at == std::string::npos) return otherwise;
    const char after = text[at + key.size()];
    if (after == ',') return 1;
    return after == '=' ? std::atoll(text.c_str() + at + key.size() + 1) : otherwise;
}

bool is(const char *name) { return word(name, 0) != 0; }

struct Call {
    std::string kernel;
    dim3 grid, size;
    size_t shared;
    std::vector<uint64_t> values;
    /// What a library does in place of a kernel.
    std::function<void()> work;
};

struct Graph {
    std::vector<Call> calls;
};

struct Stream {
    std::unique_ptr<Graph> captured;
};

struct Event {
    uint64_t at = 0;
};

Result sticky = SUCCESS;
long long calls = 0;
size_t allocated = 0;
std::map<Address, size_t> sizes;
int context;

size_t memory() { return size_t(word("memory", 1024)) << 20; }

Result run(const Call &call) {
    if (sticky) return sticky;
    ++calls;
    if (calls == word("fails_at", -1)) return sticky = LAUNCH_FAILED;
    if (calls == word("lost_at", -1)) return sticky = UNKNOWN;
    const long long wrong = word("wrong_from", -1);
    if (wrong >= 0 && calls >= wrong) return SUCCESS;
    if (call.work) {
        call.work();
        return SUCCESS;
    }
    std::vector<uint64_t> values = call.values;
    std::vector<void *> pointers;
    for (uint64_t &value : values) pointers.push_back(&value);
    cpu::launch(call.kernel, call.grid, call.size, call.shared, pointers.data());
    return SUCCESS;
}

/// Runs a call, or adds it to the graph that a stream records.
Result start(Stream *stream, const Call &call) {
    if (stream && stream->captured) {
        stream->captured->calls.push_back(call);
        return SUCCESS;
    }
    return run(call);
}

} // namespace

#define CUDA extern "C" __attribute__((visibility("default"))) Result
// Nothing works after a sticky error.
#define ALIVE \
    if (sticky) return sticky

/// What a real driver does as it starts, and what a sandbox may refuse: it names a thread, and opens a socket that nobody connects to.
static bool starts() {
    const std::string name = "/proc/self/task/" + std::to_string(syscall(SYS_gettid)) + "/comm";
    std::FILE *comm = std::fopen(name.c_str(), "w");
    const bool is_named = comm && std::fputs("cuda-fake", comm) >= 0;
    if (comm) std::fclose(comm);
    const int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "cuda-uvmfd-fake-%d", int(getpid()));
    const bool listens = made >= 0 && bind(made, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0 && listen(made, 1) == 0;
    if (made >= 0) close(made);
    return is_named && listens;
}

CUDA cuInit(unsigned) {
    if (!starts()) return 304;
    if (is("stub")) return STUB;
    if (is("mismatch")) return MISMATCH;
    if (is("denied")) return NOT_PERMITTED;
    return is("none") ? NO_DEVICE : SUCCESS;
}

CUDA cuDriverGetVersion(int *version) {
    *version = int(word("cuda", 12090));
    return SUCCESS;
}

CUDA cuDeviceGetCount(int *count) {
    *count = int(word("devices", 1));
    return SUCCESS;
}

CUDA cuDeviceGet(int *device, int index) {
    if (index < 0 || index >= word("devices", 1)) return INVALID_DEVICE;
    *device = index;
    return SUCCESS;
}

CUDA cuDeviceGetName(char *name, int size, int device) {
    std::snprintf(name, size_t(size), "Emulated GPU %d", device);
    return SUCCESS;
}

CUDA cuDeviceGetPCIBusId(char *text, int size, int device) {
    std::snprintf(text, size_t(size), "0000:%02X:00.0", 10 + device);
    return SUCCESS;
}

CUDA cuDeviceTotalMem_v2(size_t *bytes, int) {
    *bytes = memory();
    return SUCCESS;
}

CUDA cuDeviceGetAttribute(int *value, int attribute, int) {
    const int capability = int(word("capability", 90));
    switch (attribute) {
    case 13: *value = 1000; break;               // clock in kHz: slow, so that little is asked of it
    case 16: *value = 2; break;                  // multiprocessors
    case 18: *value = is("integrated"); break;   // shares the memory of the system
    case 38: *value = 16 << 10; break;           // second-level cache
    case 75: *value = capability / 10; break;
    case 76: *value = capability % 10; break;
    case 115: *value = 0; break;                 // memory pools
    default: *value = 0;
    }
    return SUCCESS;
}

CUDA cuDevicePrimaryCtxRetain(void **made, int) {
    if (is("exclusive")) return UNAVAILABLE;
    *made = &context;
    return SUCCESS;
}

CUDA cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
CUDA cuCtxSetCurrent(void *) { return SUCCESS; }
CUDA cuCtxGetCurrent(void **current) {
    *current = &context;
    return SUCCESS;
}
CUDA cuCtxSynchronize() { return sticky; }

CUDA cuMemGetInfo_v2(size_t *left, size_t *total) {
    ALIVE;
    *total = memory();
    *left = is("full") ? 0 : memory() - allocated;
    return SUCCESS;
}

CUDA cuMemAlloc_v2(Address *address, size_t bytes) {
    ALIVE;
    if ((is("full") && bytes > 4096) || allocated + bytes > memory()) return OUT_OF_MEMORY;
    void *made = nullptr;
    if (posix_memalign(&made, 256, bytes ? bytes : 1) != 0) return OUT_OF_MEMORY;
    // What nobody wrote is NaN as any float.
    std::memset(made, 0xff, bytes);
    *address = Address(reinterpret_cast<uintptr_t>(made));
    sizes[*address] = bytes;
    allocated += bytes;
    return SUCCESS;
}

CUDA cuMemFree_v2(Address address) {
    const auto found = sizes.find(address);
    if (found == sizes.end()) return INVALID_VALUE;
    allocated -= found->second;
    sizes.erase(found);
    std::free(reinterpret_cast<void *>(uintptr_t(address)));
    return SUCCESS;
}

CUDA cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, Stream *) {
    ALIVE;
    std::memcpy(reinterpret_cast<void *>(uintptr_t(to)), from, bytes);
    return SUCCESS;
}

CUDA cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, Stream *) {
    ALIVE;
    std::memcpy(to, reinterpret_cast<const void *>(uintptr_t(from)), bytes);
    return SUCCESS;
}

CUDA cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Stream *) {
    ALIVE;
    std::memmove(reinterpret_cast<void *>(uintptr_t(to)), reinterpret_cast<const void *>(uintptr_t(from)), bytes);
    return SUCCESS;
}

CUDA cuModuleLoadData(void **made, const void *) {
    ALIVE;
    if (is("no_cubin")) return NO_BINARY;
    *made = &context;
    return SUCCESS;
}

CUDA cuModuleUnload(void *) { return SUCCESS; }

CUDA cuModuleGetFunction(const std::string **function, void *, const char *name) {
    ALIVE;
    const auto found = cpu::kernels().find(name);
    if (found == cpu::kernels().end()) return NOT_FOUND;
    *function = &found->first;
    return SUCCESS;
}

CUDA cuLaunchKernel(const std::string *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                    Stream *stream, void **arguments, void **) {
    ALIVE;
    if (gx == 0 || gy == 0 || gz == 0 || gy > 0xffff || gz > 0xffff || bx * by * bz > 1024 || shared > 48 << 10) return INVALID_VALUE;
    Call call{*kernel, {gx, gy, gz}, {bx, by, bz}, shared, {}, {}};
    for (size_t i = 0; i < cpu::arguments()[*kernel]; ++i) {
        uint64_t value;
        std::memcpy(&value, arguments[i], sizeof value);
        call.values.push_back(value);
    }
    return start(stream, call);
}

/// Starts the work of another library of the tests on a stream.
CUDA emulated_start(Stream *stream, const std::function<void()> *work) {
    ALIVE;
    return start(stream, Call{"", {}, {}, 0, {}, *work});
}

/// Whether what is started becomes a part of a graph.
CUDA emulated_captures(Stream *stream) { return stream && stream->captured; }

/// Whether a device has memory of so many bytes from an address on.
CUDA emulated_has(Address address, size_t bytes) {
    const auto after = sizes.upper_bound(address);
    if (after == sizes.begin()) return 0;
    const auto &[begin, size] = *std::prev(after);
    return address + bytes <= begin + size;
}

/// The value of a word for another library of the tests.
extern "C" __attribute__((visibility("default"))) long long emulated_word(const char *name, long long otherwise) {
    return word(name, otherwise);
}

CUDA cuStreamCreate(Stream **made, unsigned) {
    *made = new Stream;
    return SUCCESS;
}

CUDA cuStreamDestroy_v2(Stream *stream) {
    delete stream;
    return SUCCESS;
}

CUDA cuStreamSynchronize(Stream *stream) {
    ALIVE;
    // A stream that records a graph cannot be waited for.
    return stream && stream->captured ? 900 : SUCCESS;
}

CUDA cuStreamBeginCapture_v2(Stream *stream, int) {
    ALIVE;
    stream->captured = std::make_unique<Graph>();
    return SUCCESS;
}

CUDA cuStreamEndCapture(Stream *stream, Graph **made) {
    ALIVE;
    *made = stream->captured.release();
    return SUCCESS;
}

CUDA cuGraphInstantiateWithFlags(Graph **made, Graph *graph, unsigned long long) {
    ALIVE;
    *made = new Graph(*graph);
    return SUCCESS;
}

CUDA cuGraphLaunch(Graph *graph, Stream *) {
    ALIVE;
    for (const Call &call : graph->calls)
        if (const Result failed = run(call)) return failed;
    return SUCCESS;
}

CUDA cuGraphExecDestroy(Graph *graph) {
    delete graph;
    return SUCCESS;
}

CUDA cuGraphDestroy(Graph *graph) {
    delete graph;
    return SUCCESS;
}

CUDA cuEventCreate(Event **made, unsigned) {
    *made = new Event;
    return SUCCESS;
}

CUDA cuEventDestroy_v2(Event *event) {
    delete event;
    return SUCCESS;
}

CUDA cuEventRecord(Event *event, Stream *) {
    ALIVE;
    event->at = cpu::timer_nanoseconds();
    return SUCCESS;
}

CUDA cuEventSynchronize(Event *) { return sticky; }

CUDA cuEventElapsedTime(float *milliseconds, const Event *begin, const Event *end) {
    ALIVE;
    *milliseconds = float(double(end->at - begin->at) * 1e-6);
    return SUCCESS;
}

// A real NVRTC asks for tables that are not documented, and goes on without them.
CUDA cuGetExportTable(const void **table, const void *) {
    *table = nullptr;
    return NOT_FOUND;
}

CUDA cuGetErrorName(Result result, const char **name) {
    static const std::map<Result, const char *> names = {
        {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"}, {STUB, "CUDA_ERROR_STUB_LIBRARY"},     {UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
        {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},         {NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU"}, {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
        {NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED"}, {MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}, {UNKNOWN, "CUDA_ERROR_UNKNOWN"},
    };
    const auto found = names.find(result);
    if (found == names.end()) return INVALID_VALUE;
    *name = found->second;
    return SUCCESS;
}
