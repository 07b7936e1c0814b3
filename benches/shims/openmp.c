/* OpenMP, as its users write it. Compiled by gcc for libgomp and by clang for libomp.
 *
 * Schedules: 0 static, 1 dynamic, 2 guided. Static hands one block to each thread; the others hand out pieces of
 * `grain` iterations, so that a callback costs little beside its piece. */
#define _GNU_SOURCE /* dladdr */
#include "shim.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

static int width;

int shim_init(size_t threads, int pin) {
    (void)pin; /* OMP_PROC_BIND is set before the process starts */
    width = (int)threads;
    omp_set_dynamic(0);
    return 0;
}

/* The compiler, and the file that the runtime came from: it may be of another release. */
const char *shim_version(void) {
    static char text[256];
    char *file = NULL;
    Dl_info info;
    if (dladdr((void *)omp_get_max_threads, &info) && info.dli_fname)
        file = realpath(info.dli_fname, NULL);
    const char *slash = file ? strrchr(file, '/') : NULL;
#if defined(__clang__)
    const char *compiler = "clang " __clang_version__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
    snprintf(text, sizeof text, "%s, %s, OpenMP " TEXT(_OPENMP), compiler,
             slash ? slash + 1 : "runtime of unknown file");
    free(file);
    return text;
}

static size_t min(size_t a, size_t b) { return a < b ? a : b; }

void shim_for(int how, size_t n, size_t grain, shim_chunk chunk, void *context) {
    size_t pieces = (n + grain - 1) / grain;
    size_t blocks = min((size_t)width, n);
    switch (how) {
    case 0:
#pragma omp parallel for schedule(static) num_threads(width)
        for (size_t b = 0; b < blocks; b++)
            chunk(context, n * b / blocks, n * (b + 1) / blocks);
        break;
    case 1:
#pragma omp parallel for schedule(dynamic) num_threads(width)
        for (size_t p = 0; p < pieces; p++)
            chunk(context, p * grain, min(n, (p + 1) * grain));
        break;
    default:
#pragma omp parallel for schedule(guided) num_threads(width)
        for (size_t p = 0; p < pieces; p++)
            chunk(context, p * grain, min(n, (p + 1) * grain));
        break;
    }
}

uint64_t shim_reduce(int how, size_t n, size_t grain, shim_sum sum, void *context) {
    size_t pieces = (n + grain - 1) / grain;
    size_t blocks = min((size_t)width, n);
    uint64_t total = 0;
    switch (how) {
    case 0:
#pragma omp parallel for schedule(static) num_threads(width) reduction(+ : total)
        for (size_t b = 0; b < blocks; b++)
            total += sum(context, n * b / blocks, n * (b + 1) / blocks);
        break;
    case 1:
#pragma omp parallel for schedule(dynamic) num_threads(width) reduction(+ : total)
        for (size_t p = 0; p < pieces; p++)
            total += sum(context, p * grain, min(n, (p + 1) * grain));
        break;
    default:
#pragma omp parallel for schedule(guided) num_threads(width) reduction(+ : total)
        for (size_t p = 0; p < pieces; p++)
            total += sum(context, p * grain, min(n, (p + 1) * grain));
        break;
    }
    return total;
}
