/* test_run.h -- for tests: a policy in YAML run on a request, to the bytes that would leave. Tokens
 * are four bytes. */
#ifndef WR_TESTS_TEST_RUN_H
#define WR_TESTS_TEST_RUN_H

#include "engine/run.h"
#include "policy/policy.h"
#include "tests/test_transcript.h"

struct test_run {
    struct test_transcript test;
    struct wr_policies *policies;
    struct wr_ways ways;
    struct wr_fold_input input;
    struct wr_run run;
    struct wr_buf out;
};

/* What a policy is told beside the request. All 0: nothing but the window. */
struct test_run_facts {
    uint64_t window_tokens;
    uint32_t overhead_tokens; /* of each segment, beside its text */
    const struct wr_odds *odds;
    const struct wr_fold_turn *turns; /* of each turn */
    struct wr_fold_prices prices;
    const char *tools; /* what the session says of them */
    bool binds_thinking;
    bool keeps_originals; /* there is a store */
};

/* `yaml` defines the policy `p`; `body` outlives the run. */
static inline void test_run_open_with(struct test_run *r, weir_span body, const char *yaml,
                                      const struct test_run_facts *facts)
{
    struct weir_err err = {0};
    *r = (struct test_run){0};
    if (wr_policies_new(&r->policies, wr_span_of(yaml), &err))
        fail_msg("%s", err.text);
    test_transcript_open(&r->test, body);
    const struct wr_transcript *t = &r->test.transcript;
    uint64_t *tokens = WR_ARENA_ARRAY(&r->test.arena, uint64_t, t->segments_count);
    uint32_t *overheads = WR_ARENA_ARRAY(&r->test.arena, uint32_t, t->segments_count);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        tokens[i] = test_count(NULL, wr_segment_text(t, &t->segments[i], &r->test.arena));
        overheads[i] = facts->overhead_tokens;
    }
    assert_int_equal(wr_ways_read(&r->ways, &r->test.arena, t), WEIR_OK);
    r->input = (struct wr_fold_input){.transcript = t,
                                      .tokens = tokens,
                                      .overheads = overheads,
                                      .policy = wr_policies_find(r->policies, WR_LIT("p")),
                                      .ways = &r->ways,
                                      .window_tokens = facts->window_tokens,
                                      .odds = facts->odds,
                                      .turns = facts->turns,
                                      .prices = facts->prices,
                                      .tools = facts->tools,
                                      .binds_thinking = facts->binds_thinking,
                                      .keeps_originals = facts->keeps_originals,
                                      .count = test_count};
    wr_buf_init(&r->out, WR_OUTPUT_BYTES_MAX);
    if (wr_run_policy(&r->run, &r->test.arena, &r->input, NULL, &r->out, &err))
        fail_msg("%s", err.text);
    if (r->run.settled.first.found)
        fail_msg("held back: %s", r->run.settled.first.what);
}

static inline void test_run_open(struct test_run *r, weir_span body, const char *yaml,
                                 uint64_t window_tokens)
{
    struct test_run_facts facts = {.window_tokens = window_tokens};
    test_run_open_with(r, body, yaml, &facts);
}

static inline void test_run_close(struct test_run *r)
{
    wr_buf_release(&r->out);
    test_transcript_close(&r->test);
    wr_policies_free(r->policies);
}

#endif
