// oneTBB, as its users write it: parallel_for and parallel_reduce over a blocked_range with the default grain.
//
// Schedules: 0 auto_partitioner, 1 static_partitioner, 2 affinity_partitioner.
#include "shim.h"

#include <memory>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>
#include <tbb/version.h>

#ifdef __linux__
#include <sched.h>
#include <unistd.h>
#endif

namespace {

using Range = tbb::blocked_range<size_t>;

std::unique_ptr<tbb::global_control> limit;
// Only for a width that differs from the default: the implicit arena is the cheaper and more usual way.
std::unique_ptr<tbb::task_arena> arena;
// A thread that launches loops has a partitioner of its own, which remembers where pieces ran.
thread_local tbb::affinity_partitioner affinity;
// An affinity partitioner serves one loop at a time; loops inside it use the automatic one.
thread_local bool affinity_in_use = false;

#ifdef __linux__
// Ties each thread that joins to the CPU of its slot, counted among the CPUs that the process may use.
struct Pin : tbb::task_scheduler_observer {
    cpu_set_t allowed;
    Pin() {
        sched_getaffinity(getpid(), sizeof allowed, &allowed);
        observe(true);
    }
    void on_scheduler_entry(bool worker) override {
        if (!worker)
            return;
        int slot = tbb::this_task_arena::current_thread_index() % CPU_COUNT(&allowed);
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (CPU_ISSET(cpu, &allowed) && slot-- == 0) {
                cpu_set_t one;
                CPU_ZERO(&one);
                CPU_SET(cpu, &one);
                sched_setaffinity(0, sizeof one, &one);
            }
        }
    }
};
std::unique_ptr<Pin> pin_workers;
#endif

template <typename F> void in_arena(const F &f) {
    if (arena)
        arena->execute(f);
    else
        f();
}

struct Sum {
    shim_sum sum;
    void *context;
    uint64_t total = 0;
    Sum(shim_sum sum, void *context) : sum(sum), context(context) {}
    Sum(Sum &other, tbb::split) : sum(other.sum), context(other.context) {}
    void operator()(const Range &r) { total += sum(context, r.begin(), r.end()); }
    void join(const Sum &other) { total += other.total; }
};

// Runs `f` with the thread's affinity partitioner, or with the automatic one inside a loop that has it.
template <typename F> void with_affinity(const F &f) {
    if (affinity_in_use) {
        f(tbb::auto_partitioner{});
        return;
    }
    affinity_in_use = true;
    f(affinity);
    affinity_in_use = false;
}

} // namespace

int shim_init(size_t width, int pin) {
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  width);
    if (width != static_cast<size_t>(tbb::info::default_concurrency()))
        arena = std::make_unique<tbb::task_arena>(static_cast<int>(width));
#ifdef __linux__
    if (pin)
        pin_workers = std::make_unique<Pin>();
#else
    (void)pin;
#endif
    return 0;
}

const char *shim_version(void) { return TBB_runtime_version(); }

void shim_for(int how, size_t n, size_t, shim_chunk chunk, void *context) {
    auto body = [=](const Range &r) { chunk(context, r.begin(), r.end()); };
    Range range(0, n);
    in_arena([&] {
        switch (how) {
        case 0:
            tbb::parallel_for(range, body, tbb::auto_partitioner{});
            break;
        case 1:
            tbb::parallel_for(range, body, tbb::static_partitioner{});
            break;
        default:
            with_affinity([&](auto &&partitioner) { tbb::parallel_for(range, body, partitioner); });
            break;
        }
    });
}

uint64_t shim_reduce(int how, size_t n, size_t, shim_sum sum, void *context) {
    Sum body(sum, context);
    Range range(0, n);
    in_arena([&] {
        switch (how) {
        case 0:
            tbb::parallel_reduce(range, body, tbb::auto_partitioner{});
            break;
        case 1:
            tbb::parallel_reduce(range, body, tbb::static_partitioner{});
            break;
        default:
            with_affinity(
                [&](auto &&partitioner) { tbb::parallel_reduce(range, body, partitioner); });
            break;
        }
    });
    return body.total;
}

// The enqueued job needs a worker: the caller waits outside oneTBB.
void shim_offload(shim_job job, void *context) {
    static tbb::task_arena jobs;
    jobs.enqueue([=] { job(context); });
}
