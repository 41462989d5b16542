#include "fuzz/policy_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "engine/run.h"

#define MUST(condition) ((condition) ? (void)0 : broken(#condition, __LINE__))

_Noreturn static void broken(const char *condition, int line)
{
    fprintf(stderr, "policy_check.c, line %d: %s does not hold\n", line, condition);
    abort();
}

/* A byte is a token, so that the short texts of these requests fill a window. */
static uint64_t count_bytes(void *user, weir_span text)
{
    (void)user;
    return text.len;
}

static void check_newest_words(const struct wr_fold *fold)
{
    const struct wr_segment *segments = fold->transcript->segments;
    for (uint32_t i = fold->transcript->segments_count; i-- > 0;)
        if (segments[i].role == WEIR_ROLE_USER && segments[i].kind == WEIR_KIND_TEXT) {
            MUST(fold->segments[i].form == WR_FORM_EXACT);
            return;
        }
}

static void check_operator(const struct wr_fold *fold)
{
    bool may_need = fold->input->keeps_originals && !fold->input->ways->recall.len;
    for (uint32_t i = 0; i < fold->transcript->segments_count; i++)
        MUST(!fold->segments[i].needs_operator || may_need);
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        MUST(!fold->inserts[i].needs_operator || may_need);
}

static void check_run(const struct wr_run *run)
{
    struct wr_handle handle;

    check_operator(&run->fold);
    if (run->settled.is_fallback)
        return;
    check_newest_words(&run->fold);
    for (uint32_t i = 0; i < run->artifacts_count; i++) {
        MUST(!wr_handle_of(run->artifacts[i].text, &handle));
        MUST(!strcmp(handle.text, run->artifacts[i].handle.text));
        MUST(wr_span_find(run->settled.body, wr_span_of(handle.text), 0) != SIZE_MAX);
    }
}

weir_span policy_check(const struct wr_transcript *t, struct wr_arena *arena, uint8_t flags,
                       uint8_t size, struct wr_buf *out)
{
    static const char *const names[] = {"auto", "smart", "guarded-mid", "layers"};
    struct wr_ways ways;
    struct wr_run run, again;
    struct wr_buf second;
    uint64_t *tokens = WR_ARENA_ARRAY(arena, uint64_t, t->segments_count);

    MUST(tokens && !wr_ways_read(&ways, arena, t));
    for (uint32_t i = 0; i < t->segments_count; i++)
        tokens[i] = wr_segment_text(t, &t->segments[i], arena).len;
    struct wr_fold_input input = {.transcript = t,
                                  .tokens = tokens,
                                  .policy = wr_policy_find(wr_span_of(names[flags >> 2 & 3])),
                                  .ways = &ways,
                                  .window_tokens = 64 + 8U * size,
                                  .binds_thinking = flags & 1,
                                  .keeps_originals = flags & 2,
                                  .count = count_bytes};
    MUST(!wr_run_policy(&run, arena, &input, NULL, out, NULL));
    check_run(&run);
    wr_buf_init(&second, WR_OUTPUT_BYTES_MAX);
    MUST(!wr_run_policy(&again, arena, &input, NULL, &second, NULL));
    MUST(wr_span_eq(run.settled.body, again.settled.body));
    wr_buf_release(&second);
    return run.settled.body;
}
