/* core_laws.h -- what must hold for every request of every session, checked by the quick test on
 * some sessions and by the long one on all. */
#ifndef TESTS_CORE_LAWS_H
#define TESTS_CORE_LAWS_H

#include "weir/weir.h"

struct core_laws_counts {
    uint64_t requests, segments, parts, edits, drops, bytes;
};

/* Runs all checks on one body; false with a line on stdout that says what broke. */
bool core_laws_hold(weir_span body, weir_dialect dialect, struct core_laws_counts *counts);

#endif
