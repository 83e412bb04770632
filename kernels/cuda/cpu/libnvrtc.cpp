// A compiler NVRTC for tests: a library libnvrtc.so.12 that checks what it is given and answers with some bytes, which the driver of tests
// takes for a binary. FAKE_NVRTC=refuses makes it fail with a log.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

struct Program {
    std::string source, log;
};

#define NVRTC extern "C" __attribute__((visibility("default"))) int

NVRTC nvrtcVersion(int *major, int *minor) {
    *major = 12;
    *minor = 9;
    return 0;
}

NVRTC nvrtcCreateProgram(Program **made, const char *source, const char *, int headers, const char *const *texts, const char *const *names) {
    for (int i = 0; i < headers; ++i)
        if (std::strlen(texts[i]) < 100 || !std::strstr(names[i], ".cuh")) return 3;
    *made = new Program{source, ""};
    return 0;
}

NVRTC nvrtcCompileProgram(Program *program, int count, const char *const *options) {
    const char *told = std::getenv("FAKE_NVRTC");
    if (told && std::strcmp(told, "refuses") == 0) {
        program->log = "gemv.cu(1): error: scripted refusal\n";
        return 6;
    }
    bool has_architecture = false;
    for (int i = 0; i < count; ++i) has_architecture |= std::strncmp(options[i], "--gpu-architecture=", 19) == 0;
    return has_architecture && program->source.find("__global__") != std::string::npos ? 0 : 5;
}

NVRTC nvrtcGetNumSupportedArchs(int *count) {
    *count = 3;
    return 0;
}

NVRTC nvrtcGetSupportedArchs(int *all) {
    const int known[] = {70, 72, 90};
    std::memcpy(all, known, sizeof known);
    return 0;
}

NVRTC nvrtcGetPTXSize(Program *, size_t *size) {
    *size = 16;
    return 0;
}

NVRTC nvrtcGetPTX(Program *, char *text) {
    std::memset(text, 1, 16);
    return 0;
}

NVRTC nvrtcGetCUBINSize(Program *, size_t *size) {
    *size = 16;
    return 0;
}

NVRTC nvrtcGetCUBIN(Program *, char *image) {
    std::memset(image, 1, 16);
    return 0;
}

NVRTC nvrtcGetProgramLogSize(Program *program, size_t *size) {
    *size = program->log.size() + 1;
    return 0;
}

NVRTC nvrtcGetProgramLog(Program *program, char *log) {
    std::memcpy(log, program->log.c_str(), program->log.size() + 1);
    return 0;
}

NVRTC nvrtcDestroyProgram(Program **program) {
    delete *program;
    *program = nullptr;
    return 0;
}

extern "C" __attribute__((visibility("default"))) const char *nvrtcGetErrorString(int) { return "an error"; }
