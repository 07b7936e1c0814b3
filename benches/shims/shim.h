/* What a shim offers to the benchmarks: loops over [0, n) whose pieces call back into the one kernel that all peers
 * run. A shim is a shared library of its own, so that two OpenMP runtimes never meet in one process by accident. */
#ifndef LOCSTEAL_SHIM_H
#define LOCSTEAL_SHIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*shim_chunk)(void *context, size_t from, size_t to);
typedef uint64_t (*shim_sum)(void *context, size_t from, size_t to);
typedef void (*shim_job)(void *context);

/* Called once, before anything else. Not 0: the runtime refused. */
int shim_init(size_t width, int pin);
const char *shim_version(void);

/* `how` is an index into the schedules that the shim lists at its top; `grain` iterations are about a microsecond. */
void shim_for(int how, size_t n, size_t grain, shim_chunk chunk, void *context);
uint64_t shim_reduce(int how, size_t n, size_t grain, shim_sum sum, void *context);

/* Has another thread run the job, at any time. Only where the runtime has such a call. */
void shim_offload(shim_job job, void *context);

#ifdef __cplusplus
}
#endif

#endif
