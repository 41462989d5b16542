#include "lab/floor.h"

#include "lab/evidence_tally.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "models/registry.h"
#include "lab/session.h"
#include "tests/made_sessions.h"
#include "api/api.h"

enum { SESSIONS = 9, POLICIES = 6, NUMBERS_MAX = 4096, REQUESTS_MAX = 512, OVERHEAD = 4 };

static uint64_t count_tokens(void *user, weir_span text)
{
    (void)user;
    return (text.len + 3) / 4;
}

/* A session gone through once: every segment as it came, every request, the clairvoyant. */
struct played {
    struct wr_arena arena;
    struct made_session made;
    struct wr_evidence evidence;
    struct wr_floor floor;
    struct wr_cache_block blocks[NUMBERS_MAX]; /* as they came, by number */
    weir_span texts[NUMBERS_MAX];              /* of results */
    struct wr_evidence_at requests[REQUESTS_MAX];
    struct wr_evidence_items found[REQUESTS_MAX];
    uint32_t requests_count, numbers_count;
};

static void measure(const struct wr_transcript *t, struct wr_arena *arena, uint64_t *tokens,
                    uint32_t *overheads)
{
    for (uint32_t i = 0; i < t->segments_count; i++) {
        tokens[i] = count_tokens(NULL, wr_segment_text(t, &t->segments[i], arena));
        overheads[i] = OVERHEAD;
    }
}

static void play_request(struct played *p, const struct wr_session *session, uint32_t n)
{
    static const struct wr_api_options options = {.dialect = "chat", .structure_only = true};
    struct wr_session_request request = {
        .dialect = WEIR_DIALECT_CHAT, .messages_count = session->requests[n], .model = "m"};
    struct wr_transcript t;
    struct wr_json doc;
    struct wr_buf body;
    struct wr_evidence_at *at = &p->requests[n];
    wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
    wr_session_write(session, &request, &body);
    weir_span text = wr_arena_copy(&p->arena, wr_buf_view(&body));
    wr_buf_release(&body);
    assert_int_equal(wr_json_parse(&doc, &p->arena, text, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_api_read(&t, &p->arena, &doc, &options, NULL), WEIR_OK);
    assert_int_equal(wr_evidence_note(&p->evidence, &t, at), WEIR_OK);
    assert_int_equal(wr_evidence_find(&p->evidence, at, &session->messages[session->requests[n]],
                                      &p->arena, &p->found[n]),
                     WEIR_OK);
    uint64_t *tokens = WR_ARENA_ARRAY(&p->arena, uint64_t, t.segments_count);
    uint32_t *overheads = WR_ARENA_ARRAY(&p->arena, uint32_t, t.segments_count);
    assert_true(tokens && overheads && at->base + t.segments_count <= NUMBERS_MAX);
    measure(&t, &p->arena, tokens, overheads);
    wr_cache_blocks(&t, tokens, overheads, p->blocks + at->base);
    for (uint32_t i = 0; i < t.segments_count; i++)
        if (t.segments[i].kind == WEIR_KIND_TOOL_RESULT)
            p->texts[at->base + i] = wr_segment_text(&t, &t.segments[i], &p->arena);
    p->numbers_count = at->base + t.segments_count;
    assert_int_equal(
        wr_floor_note(&p->floor, &t, at, p->blocks + at->base, overheads, &p->found[n]), WEIR_OK);
}

static struct played *play_with(uint64_t seed, bool with_words)
{
    struct played *p = calloc(1, sizeof(*p));
    struct wr_session session;
    assert_non_null(p);
    wr_arena_init(&p->arena, WR_ARENA_BYTES_MAX);
    made_session_new(&p->made, seed);
    assert_int_equal(wr_session_read(&session, &p->arena, wr_buf_view(&p->made.lines), NULL),
                     WEIR_OK);
    assert_int_equal(wr_evidence_init(&p->evidence, &p->arena), WEIR_OK);
    wr_floor_init(&p->floor, &p->arena, count_tokens, NULL, with_words);
    for (uint32_t n = 0; n < session.requests_count; n++)
        play_request(p, &session, n);
    p->requests_count = session.requests_count;
    assert_int_equal(wr_floor_finish(&p->floor), WEIR_OK);
    return p;
}

static struct played *play(uint64_t seed)
{
    return play_with(seed, false);
}

static void stop(struct played *p)
{
    wr_evidence_release(&p->evidence);
    made_session_free(&p->made);
    wr_arena_release(&p->arena);
    free(p);
}

/* ---- policies that edit only results, only on arrival ---- */

static bool has_line(weir_span text, weir_span line)
{
    weir_span other;
    while (wr_span_line(&text, &other))
        if (wr_span_eq(other, line))
            return true;
    return false;
}

/* Keeps the lines that will be used, and of the others a share that hangs on the policy. */
static weir_span keep_some(struct played *p, uint32_t number, uint32_t policy)
{
    weir_span rest = p->texts[number], line, kept = wr_floor_kept(&p->floor, number);
    struct wr_buf out;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    for (uint32_t n = 0; wr_span_line(&rest, &line); n++) {
        uint64_t dice = wr_hash64_seeded(line, ((uint64_t)number << 32 | n) + policy) % POLICIES;
        if (dice >= policy && !has_line(kept, line))
            continue;
        if (out.len)
            wr_buf_byte(&out, '\n');
        wr_buf_append(&out, line);
    }
    weir_span text = wr_arena_copy(&p->arena, wr_buf_view(&out));
    wr_buf_release(&out);
    return text;
}

static uint64_t price(struct played *p, const struct wr_model *model, struct wr_cache_block *blocks,
                      uint64_t *tokens)
{
    struct wr_cache cache;
    uint64_t sum = 0;
    assert_int_equal(wr_cache_init(&cache, &p->arena, model, NULL), WEIR_OK);
    for (uint32_t n = 0; n < p->requests_count; n++) {
        struct wr_cache_prompt prompt = {.blocks = blocks + p->requests[n].base,
                                         .blocks_count = p->requests[n].segments_count,
                                         .output_tokens = 100};
        struct wr_cache_usage usage;
        wr_cache_mark_like_agents(blocks + p->requests[n].base, prompt.blocks_count, WR_MARK_SHORT);
        assert_int_equal(wr_cache_request(&cache, &prompt, 0, &usage), WEIR_OK);
        tokens[n] = usage.read_tokens + usage.written_tokens + usage.uncached_tokens;
        sum += usage.cost.micro_usd;
    }
    return sum;
}

static void check_policy(struct played *p, const struct wr_model *model, uint32_t policy)
{
    static struct wr_cache_block blocks[NUMBERS_MAX];
    uint64_t floor_tokens[REQUESTS_MAX], tokens[REQUESTS_MAX];
    /* Rounding down to steps may give the longer prompt a little more from the cache. */
    uint64_t slack = model->cache->step_tokens > 1
                         ? (uint64_t)p->requests_count * (1 + (uint64_t)model->cache->step_tokens *
                                                                  model->prices.input / 1000000)
                         : p->requests_count;
    for (uint32_t i = 0; i < p->numbers_count; i++) {
        blocks[i] = p->blocks[i];
        if (!p->texts[i].ptr || policy == POLICIES)
            continue;
        weir_span text = keep_some(p, i, policy);
        uint64_t after = (text.len ? count_tokens(NULL, text) : 0) + OVERHEAD;
        if (after < blocks[i].tokens)
            blocks[i] = wr_cache_block_of(&blocks[i], text, after);
    }
    uint64_t least = price(p, model, wr_floor_request(&p->floor, &p->requests[0]), floor_tokens);
    uint64_t cost = price(p, model, blocks, tokens);
    for (uint32_t n = 0; n < p->requests_count; n++)
        assert_true(tokens[n] >= floor_tokens[n]);
    if (cost + slack < least)
        fail_msg("a policy is cheaper than the floor: %llu < %llu", (unsigned long long)cost,
                 (unsigned long long)least);
}

static void no_policy_on_arrival_that_keeps_what_is_used_is_cheaper(void **state)
{
    static const char *const names[] = {"claude-sonnet-5-5", "gpt-6.1-sol", "gpt-5.4"};
    struct wr_models *models;
    (void)state;
    assert_int_equal(wr_models_new(&models, NULL, NULL), WEIR_OK);
    for (uint64_t seed = 1; seed <= SESSIONS; seed++) {
        struct played *p = play(seed);
        for (size_t m = 0; m < WR_COUNT_OF(names); m++)
            for (uint32_t policy = 0; policy <= POLICIES; policy++)
                check_policy(p, wr_models_find(models, wr_span_of(names[m])), policy);
        stop(p);
    }
    wr_models_free(models);
}

/* The clairvoyant's own prompt supports everything that counts. */
static void the_floor_supports_every_answer(void **state)
{
    uint64_t supported = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SESSIONS; seed++) {
        struct played *p = play(seed);
        static struct wr_shown shown[NUMBERS_MAX];
        for (uint32_t i = 0; i < p->numbers_count; i++)
            shown[i] = (struct wr_shown){.is_whole = !p->texts[i].ptr,
                                         .text = wr_floor_kept(&p->floor, i)};
        for (uint32_t n = 0; n < p->requests_count; n++) {
            struct wr_evidence_judged judged[256];
            struct wr_evidence_tally tally = {0};
            struct wr_evidence_view view = {.segments = shown + p->requests[n].base,
                                            .segments_count = p->requests[n].segments_count};
            assert_true(p->found[n].count <= 256);
            wr_evidence_judge(&p->evidence, &p->requests[n], &p->found[n], &view, NULL, judged);
            wr_evidence_count(&tally, &p->found[n], judged);
            assert_int_equal(tally.all[WR_EVIDENCE_LOST] + tally.all[WR_EVIDENCE_RECALLABLE], 0);
            supported += tally.all[WR_EVIDENCE_SUPPORTED];
        }
        stop(p);
    }
    assert_true(supported > 100);
}

static void only_lines_that_are_used_are_kept(void **state)
{
    struct played *p = play(3);
    uint64_t before = 0, after = 0;
    (void)state;
    for (uint32_t i = 0; i < p->numbers_count; i++) {
        weir_span kept = wr_floor_kept(&p->floor, i), line;
        if (!p->texts[i].ptr)
            continue;
        before += p->texts[i].len;
        after += kept.len;
        while (wr_span_line(&kept, &line))
            assert_true(has_line(p->texts[i], line));
    }
    assert_true(after > 0 && after < before / 2);
    stop(p);
}

/* The lower floor keeps the results as the other does, and of the model's words only what it said
 * again: every such line is still there. */
static void the_lower_floor_leaves_out_words_that_are_not_used(void **state)
{
    uint64_t floor_tokens = 0, all_tokens = 0;
    uint32_t said_count = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SESSIONS; seed++) {
        struct played *floor = play_with(seed, false), *all = play_with(seed, true);
        for (uint32_t i = 0; i < floor->numbers_count; i++) {
            floor_tokens += floor->floor.blocks[i].tokens;
            all_tokens += all->floor.blocks[i].tokens;
            assert_true(all->floor.blocks[i].tokens <= floor->floor.blocks[i].tokens);
            if (floor->texts[i].ptr)
                assert_true(
                    wr_span_eq(wr_floor_kept(&floor->floor, i), wr_floor_kept(&all->floor, i)));
        }
        for (uint32_t n = 0; n < all->requests_count; n++)
            for (uint32_t k = 0; k < all->found[n].said_count; k++, said_count++)
                assert_true(wr_floor_kept(&all->floor, all->found[n].said[k].number).len > 0);
        stop(floor);
        stop(all);
    }
    assert_true(said_count > 10);
    assert_true(all_tokens < floor_tokens);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_lines_that_are_used_are_kept),
        cmocka_unit_test(the_floor_supports_every_answer),
        cmocka_unit_test(the_lower_floor_leaves_out_words_that_are_not_used),
        cmocka_unit_test(no_policy_on_arrival_that_keeps_what_is_used_is_cheaper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
