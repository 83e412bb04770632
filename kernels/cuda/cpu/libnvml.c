// NVIDIA's management library for tests: a library libnvidia-ml.so.1 of one card, which answers and fails as it is told.
//
// All values are assumed; none was read of a card. FAKE_NVML, or the file fake_nvml beside the library, because few variables reach a
// worker, has words with commas. They are read anew at every call, so that a test can change them while a program runs:
//
//   none            no device                       orin        supports nothing but its name
//   mismatch        driver and kernel module differ thor        supports utilization alone
//   unloaded        the driver is not loaded        gb10        supports neither memory nor limit nor energy
//   denied          no right to any question        mig, vgpu   a divided card, a share of a card
//   fails_at=N      the Nth question fails, and no other one
//   lost_at=N       at the Nth question the card falls off the bus, and every later one fails
//   hangs_at=N      the Nth question is never answered
//   watts=N         power of now (200)              counter=N   percent of the power that the counter of energy counts (100)
//   reasons=N       bits of reasons for low clocks (0)
//   others=N        other processes that compute, each with 1 GB: the parent of this one, process 1, and more by numbers of no process (0)
//   own             this process computes, too
//   xid=N           one event with this error
//   no_instant      instant power is not told apart
//   step=N          the counter of energy advances every N ms alone (it does at every question)
//   burst=N         every N ms the power of now falls to a quarter, or rises again; the counter does not see it
//   cold_memory     the thermometer of the memory shows 0
//   bus=N           the card is on bus N of PCI (1), by which a list of all cards names it
//   calls           each start and end of the library is a line of the file fake_nvml_calls beside it
//   heat_at=N       the Nth question about reasons, and no other one, has heat as its answer
//
// Built with OLD_DRIVER, the library lacks the functions of drivers since 510. A function that is missing is a missing symbol.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NVML __attribute__((visibility("default"))) int

enum { SUCCESS = 0, INVALID = 2, UNSUPPORTED = 3, DENIED = 4, NOT_FOUND = 6, TOO_SMALL = 7, UNLOADED = 9, TIMED_OUT = 10, LOST = 15, MISMATCH = 18, UNKNOWN = 999 };

typedef unsigned long long u64;
typedef struct { unsigned field, scope; long long at, latency; int type, result; union { double real; unsigned small; u64 large; } value; } Field;
typedef struct { unsigned version; u64 total, reserved, free, used; } Memory;
typedef struct { unsigned id; u64 bytes; unsigned instance, compute_instance; } Process;
typedef struct { char old_address[16]; unsigned domain, bus, device, number, board; char address[32]; } Pci;
typedef struct { void *device; u64 type, data; unsigned instance, compute_instance; } Event;

static int card; // Its address is the handle.
static int questions, is_lost, xids_told;

// The file of a name beside the library.
static FILE *beside(const char *name, const char *mode) {
    Dl_info own;
    char path[4096];
    if (!dladdr(&card, &own) || !strrchr(own.dli_fname, '/')) return NULL;
    snprintf(path, sizeof path, "%.*s/%s", (int)(strrchr(own.dli_fname, '/') - own.dli_fname), own.dli_fname, name);
    return fopen(path, mode);
}

static void told(char *words, size_t size) {
    const char *variable = getenv("FAKE_NVML");
    words[0] = 0;
    if (variable) {
        snprintf(words, size, "%s", variable);
    } else {
        FILE *file = beside("fake_nvml", "r");
        if (file && !fgets(words, (int)size, file)) words[0] = 0;
        if (file) fclose(file);
    }
    words[strcspn(words, "\n")] = 0;
}

// The value of a word, or `otherwise`.
static long long word(const char *name, long long otherwise) {
    char words[256];
    told(words, sizeof words);
    char *rest = words, *one;
    while ((one = strsep(&rest, ","))) {
        const size_t size = strlen(name);
        if (strncmp(one, name, size) != 0) continue;
        if (one[size] == 0) return 1;
        if (one[size] == '=') return atoll(one + size + 1);
    }
    return otherwise;
}

static int is(const char *name) { return word(name, 0) != 0; }

// The result of a question about the card, before its answer.
static int asked(void) {
    const int number = ++questions;
    if (number == word("hangs_at", 0)) {
        for (;;) pause();
    }
    if (is("denied")) return DENIED;
    if (word("lost_at", 0) && number >= word("lost_at", 0)) is_lost = 1;
    if (is_lost) return LOST;
    return number == word("fails_at", 0) ? UNKNOWN : SUCCESS;
}

// The same for what boards do not support.
static int asked_of(int on_thor, int on_gb10) {
    const int result = asked();
    if (result != SUCCESS) return result;
    const int lacks = is("orin") || (is("thor") && !on_thor) || (is("gb10") && !on_gb10);
    return lacks ? UNSUPPORTED : SUCCESS;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void called(const char *what) {
    FILE *file = is("calls") ? beside("fake_nvml_calls", "a") : NULL;
    if (!file) return;
    fprintf(file, "%s\n", what);
    fclose(file);
}

NVML nvmlInit_v2(void) {
    if (is("mismatch")) return MISMATCH;
    if (is("unloaded")) return UNLOADED;
    called("init");
    return SUCCESS;
}

NVML nvmlShutdown(void) {
    called("shutdown");
    return SUCCESS;
}

NVML nvmlSystemGetDriverVersion(char *text, unsigned size) {
    snprintf(text, size, "%s", "580.65.06");
    return SUCCESS;
}

NVML nvmlSystemGetCudaDriverVersion_v2(int *version) {
    *version = 13000;
    return SUCCESS;
}

NVML nvmlDeviceGetCount_v2(unsigned *count) {
    const int result = asked();
    *count = !is("none");
    return result;
}

NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = &card;
    return index == 0 ? asked() : INVALID;
}

NVML nvmlDeviceGetPciInfo_v3(void *device, Pci *pci) {
    (void)device;
    pci->bus = (unsigned)word("bus", 1);
    snprintf(pci->address, sizeof pci->address, "00000000:%02X:00.0", pci->bus);
    return SUCCESS;
}

NVML nvmlDeviceGetName(void *device, char *text, unsigned size) {
    (void)device;
    snprintf(text, size, "%s", "NVIDIA GeForce RTX 4090");
    return SUCCESS;
}

NVML nvmlDeviceGetUUID(void *device, char *text, unsigned size) {
    (void)device;
    snprintf(text, size, "%s", "GPU-1");
    return SUCCESS;
}

NVML nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device) {
    const int result = asked();
    if (result != SUCCESS) return result;
    if (is("none") || strlen(address) < 12) return NOT_FOUND;
    *device = &card;
    return SUCCESS;
}

NVML nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *later) {
    (void)device;
    *now = *later = (unsigned)is("mig");
    return SUCCESS;
}

NVML nvmlDeviceGetVirtualizationMode(void *device, unsigned *mode) {
    (void)device;
    *mode = is("vgpu") ? 2 : 0;
    return SUCCESS;
}

// Power of now [mW].
static unsigned power(void) {
    const long long burst = word("burst", 0);
    const int is_low = burst && (long long)(seconds() * 1e3) / burst % 2;
    return (unsigned)word("watts", 200) * (is_low ? 250 : 1000);
}

NVML nvmlDeviceGetFieldValues(void *device, int count, Field *fields) {
    (void)device;
    const int result = asked_of(0, 1);
    if (result != SUCCESS && result != UNSUPPORTED) return result;
    for (int at = 0; at < count; at++) {
        Field *field = &fields[at];
        field->type = 1;
        field->result = result;
        switch (field->field) {
        case 185: field->value.small = (unsigned)word("watts", 200) * 1000 - 5000; break; // average power
        case 186: field->value.small = power(); break;                                      // instant power
        case 82: field->value.small = is("cold_memory") ? 0 : 71; if (is("gb10")) field->result = UNSUPPORTED; break; // temperature of the memory
        default: field->result = UNSUPPORTED;
        }
        if (is("no_instant") && field->field != 82) field->result = UNSUPPORTED;
    }
    return SUCCESS;
}

NVML nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
    (void)device;
    *milliwatts = (unsigned)word("watts", 200) * 1000 - 5000;
    return asked_of(0, 1);
}

NVML nvmlDeviceGetTotalEnergyConsumption(void *device, u64 *millijoules) {
    (void)device;
    static double begin;
    if (begin == 0) begin = seconds();
    const double passed = seconds() - begin, step = (double)word("step", 0) * 1e-3;
    const double counted = step > 0 ? step * (double)(long long)(passed / step) : passed;
    *millijoules = (u64)(5e6 + counted * 10. * (double)word("watts", 200) * (double)word("counter", 100));
    return asked_of(0, 0);
}

NVML nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts) {
    (void)device;
    *milliwatts = 700000;
    return asked_of(0, 0);
}

NVML nvmlDeviceGetClockInfo(void *device, int kind, unsigned *megahertz) {
    (void)device;
    *megahertz = kind == 2 ? 2619 : 1755;
    return asked_of(0, kind != 2);
}

NVML nvmlDeviceGetUtilizationRates(void *device, unsigned *percent) {
    (void)device;
    percent[0] = 97;
    percent[1] = 40;
    return asked_of(1, 1);
}

NVML nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius) {
    (void)device;
    *celsius = 63;
    return sensor == 0 ? asked_of(0, 1) : INVALID;
}

NVML nvmlDeviceGetCurrentClocksThrottleReasons(void *device, u64 *bits) {
    (void)device;
    static int number;
    *bits = (u64)word("reasons", 0) | (++number == word("heat_at", 0) ? 0x40 : 0);
    return asked_of(0, 1);
}

NVML nvmlEventSetCreate(void **set) {
    *set = &card;
    return SUCCESS;
}

NVML nvmlEventSetFree(void *set) { return set == &card ? SUCCESS : INVALID; }

NVML nvmlDeviceRegisterEvents(void *device, u64 types, void *set) {
    (void)device, (void)set;
    return types == 8 && !is("orin") && !is("thor") ? SUCCESS : UNSUPPORTED;
}

NVML nvmlEventSetWait_v2(void *set, Event *event, unsigned milliseconds) {
    (void)set, (void)milliseconds;
    if (xids_told || !word("xid", 0)) return TIMED_OUT;
    xids_told = 1;
    *event = (Event){ &card, 8, (u64)word("xid", 0), 0xffffffff, 0xffffffff };
    return SUCCESS;
}

static unsigned other(unsigned at) {
    return at == 0 ? (unsigned)getppid() : at == 1 ? 1 : 4000001 + at;
}

static int processes(unsigned *count, Process *list) {
    const unsigned others = (unsigned)word("others", 0), own = (unsigned)is("own"), room = *count;
    const int result = asked_of(0, 1);
    if (result != SUCCESS) return result;
    *count = others + own;
    if (room < *count) return TOO_SMALL;
    for (unsigned at = 0; at < *count; at++) {
        list[at] = (Process){ at < others ? other(at) : (unsigned)getpid(), 1000000000, 0xffffffff, 0xffffffff };
    }
    return SUCCESS;
}

NVML nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count, Process *list) {
    (void)device;
    return processes(count, list);
}

#ifndef OLD_DRIVER
NVML nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, Process *list) {
    (void)device;
    return processes(count, list);
}

NVML nvmlDeviceGetMemoryInfo_v2(void *device, Memory *memory) {
    (void)device;
    memory->total = 80000000000, memory->used = 3000000000, memory->free = 76500000000, memory->reserved = 500000000;
    return asked_of(0, 0);
}
#endif
