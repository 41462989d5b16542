/* clock.h -- timing for the benches: the best of several rounds, because other work on the machine
 * only ever makes a round slower. Figures are printed as ratios within one run. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <time.h>

typedef void bench_fn(void *user);

static inline double bench_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Seconds of the fastest of `rounds` calls. */
static inline double bench_best_s(bench_fn *fn, void *user, int rounds)
{
    double best_s = 1e9;
    for (int i = 0; i < rounds; i++) {
        double start_s = bench_now_s();
        fn(user);
        double took_s = bench_now_s() - start_s;
        if (took_s < best_s)
            best_s = took_s;
    }
    return best_s;
}

#endif
