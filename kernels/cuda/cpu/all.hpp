// All kernels, compiled for the processor.
#pragma once
#include "cuda_on_cpu.hpp"

// A test of a changed source compiles that source alone, with ONLY_ and its name.
#if defined(ONLY_ATTENTION) || defined(ONLY_ATTENTION_MMA) || defined(ONLY_CLOCK) || defined(ONLY_GEMV) || defined(ONLY_GEMV_8BIT) || defined(ONLY_GEMV_MMA) || defined(ONLY_LAYER) || defined(ONLY_PEAK) || defined(ONLY_QUANTIZE) || defined(ONLY_STREAM)
#define ONLY
#endif
#if !defined(ONLY) || defined(ONLY_ATTENTION)
#include "../attention.cu"
#endif
#if !defined(ONLY) || defined(ONLY_ATTENTION_MMA)
#include "../attention_mma.cu"
#endif
#if !defined(ONLY) || defined(ONLY_CLOCK)
#include "../clock.cu"
#endif
#if !defined(ONLY) || defined(ONLY_GEMV)
#include "../gemv.cu"
#endif
#if !defined(ONLY) || defined(ONLY_GEMV_8BIT)
#include "../gemv_8bit.cu"
#endif
#if !defined(ONLY) || defined(ONLY_GEMV_MMA)
#include "../gemv_mma.cu"
#endif
#if !defined(ONLY) || defined(ONLY_LAYER)
#include "../layer.cu"
#endif
#if !defined(ONLY) || defined(ONLY_PEAK)
#include "../peak.cu"
#endif
#if !defined(ONLY) || defined(ONLY_QUANTIZE)
#include "../quantize.cu"
#endif
#if !defined(ONLY) || defined(ONLY_STREAM)
#include "../stream.cu"
#endif
