/* test_quoted.h -- for tests: JSON that is written with ' in place of each quote. */
#ifndef WR_LAB_TEST_QUOTED_H
#define WR_LAB_TEST_QUOTED_H

#include <string.h>

#include "base/arena.h"

static inline weir_span quoted(struct wr_arena *arena, const char *text)
{
    char *copy = wr_arena_alloc(arena, strlen(text) + 1);
    for (size_t i = 0; i <= strlen(text); i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    return (weir_span){copy, strlen(text)};
}

#endif
