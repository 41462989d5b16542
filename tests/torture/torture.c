#include "tests/torture/torture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>

#include "base/arena.h"

enum { TOLD_BYTES_MAX = 64 * 1024, REQUESTS_MAX = 100 * 1000, CASES_MAX = 256 };

struct telling {
    char bytes[TOLD_BYTES_MAX];
    size_t len;
    bool is_cut;
};

/* The state of the run. It is global because malloc has no argument that could carry it. */
static const struct torture_case *current;
static uint32_t refuse_from, requests_count, refusals_count; /* refuse_from 0: nothing is refused */
static bool refuse_all_after;
static struct telling *telling;
static uint64_t tries_count;

static bool is_refused(void)
{
    requests_count++;
    if (!refuse_from || requests_count < refuse_from)
        return false;
    if (requests_count > refuse_from && !refuse_all_after)
        return false;
    refusals_count++;
    return true;
}

/* The linker sends the library's calls of NAME to __wrap_NAME (see WRAPPED in the Makefile). */
#define WRAP(type, name, parameters, arguments)                    \
    type __real_##name parameters;                                 \
    type __wrap_##name parameters;                                 \
    type __wrap_##name parameters                                  \
    {                                                              \
        return is_refused() ? (type){0} : __real_##name arguments; \
    }

#define WRAP_ARENA(type, name, parameters, arguments) \
    type __real_##name parameters;                    \
    type __wrap_##name parameters;                    \
    type __wrap_##name parameters                     \
    {                                                 \
        if (!is_refused())                            \
            return __real_##name arguments;           \
        if (!arena->status)                           \
            arena->status = WEIR_NOMEM;               \
        return (type){0};                             \
    }

WRAP(void *, malloc, (size_t bytes), (bytes))
WRAP(void *, calloc, (size_t count, size_t bytes), (count, bytes))
WRAP(void *, realloc, (void *ptr, size_t bytes), (ptr, bytes))
WRAP(void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t bytes_max), (text, bytes_max))
WRAP_ARENA(void *, wr_arena_alloc, (struct wr_arena * arena, size_t bytes), (arena, bytes))
WRAP_ARENA(void *, wr_arena_zalloc, (struct wr_arena * arena, size_t bytes), (arena, bytes))
WRAP_ARENA(void *, wr_arena_grow,
           (struct wr_arena * arena, void *ptr, size_t bytes_old, size_t bytes_new),
           (arena, ptr, bytes_old, bytes_new))
WRAP_ARENA(weir_span, wr_arena_copy, (struct wr_arena * arena, weir_span bytes), (arena, bytes))

void torture_tell(weir_span bytes)
{
    if (bytes.len > TOLD_BYTES_MAX - telling->len) {
        telling->is_cut = true;
        return;
    }
    memcpy(telling->bytes + telling->len, bytes.ptr, bytes.len);
    telling->len += bytes.len;
}

static weir_status try_once(struct telling *told, uint32_t from, bool all_after)
{
    told->len = 0;
    told->is_cut = false;
    telling = told;
    refuse_from = from;
    refuse_all_after = all_after;
    requests_count = refusals_count = 0;
    tries_count++;

    weir_status status = current->run();
    refuse_from = 0;
    return status;
}

static void print_where(void)
{
    if (current)
        fprintf(stderr, "torture: %s: request %u of memory refused%s\n", current->behaviour,
                refuse_from, refuse_all_after ? ", and all after it" : "");
}

static void refuse(const char *what, uint32_t from, weir_status status)
{
    fail_msg("%s: request %u of memory refused%s: %s (status: %s)", current->behaviour, from,
             refuse_all_after ? ", and all after it" : "", what, weir_status_text(status));
}

static void check_refused(weir_status status, uint32_t from, const struct telling *told,
                          const struct telling *whole)
{
    if (status == WEIR_NOMEM) {
        if (told->len)
            refuse("failed, but told something", from, status);
        return;
    }
    if (status != WEIR_OK)
        refuse("failed for another reason", from, status);
    if (!current->may_recover)
        refuse("succeeded all the same", from, status);
    if (told->len != whole->len || memcmp(told->bytes, whole->bytes, whole->len))
        refuse("succeeded, but told something else", from, status);
}

static void torture(bool all_after)
{
    static struct telling whole, told;
    weir_status status = try_once(&whole, 0, false);
    if (status != WEIR_OK || whole.is_cut)
        refuse(whole.is_cut ? "told too much" : "failed with no refusal", 0, status);
    if (!requests_count)
        refuse("asked for no memory, so nothing was tested", 0, status);

    for (uint32_t from = 1; from < REQUESTS_MAX; from++) {
        status = try_once(&told, from, all_after);
        if (!refusals_count)
            return;
        check_refused(status, from, &told, &whole);
    }
    fail_msg("%s: more than %d requests of memory", current->behaviour, REQUESTS_MAX);
}

static void test_case(void **state)
{
    current = *state;
    torture(false);
    torture(true);
    if (__lsan_do_recoverable_leak_check())
        fail_msg("%s: memory was lost; see above", current->behaviour);
}

int main(void)
{
    static struct CMUnitTest tests[CASES_MAX];
    size_t count = 0;

    __sanitizer_set_death_callback(print_where);
    for (; torture_cases[count].run && count < CASES_MAX; count++) {
        tests[count].name = torture_cases[count].behaviour;
        tests[count].test_func = test_case;
        /* cmocka hands this on untouched; the row is only read. */
        tests[count].initial_state = (void *)(uintptr_t)&torture_cases[count];
    }
    int failed = _cmocka_run_group_tests("torture", tests, count, NULL, NULL);
    printf("note: %llu runs of %zu cases\n", (unsigned long long)tries_count, count);
    return failed;
}
