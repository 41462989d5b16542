/* Whole sessions, made here (tests/made_sessions.h), folded by every preset: the laws hold
 * (tests/fold_laws.h), and a fold that goes on from the state of an earlier request, with a memo
 * of texts, says what a fold from the first turn on says, to the byte. */
#include "policy/fold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "api/api.h"
#include "base/limits.h"
#include "base/span.h"
#include "lab/session.h"
#include "policy/policy.h"
#include "tests/fold_laws.h"
#include "tests/made_sessions.h"
#include "tests/test_transcript.h"

enum { SEED = 3, WINDOW_TOKENS = 8000, REQUESTS = 40, STATE_EVERY = 3, COLD_EVERY = 9 };
enum { OVERHEAD_TOKENS = 5, MEMO_BYTES_MAX = 1 << 24 };

/* Stages that no preset has. */
static const char own_policies[] =
    "policies:\n"
    "  pruned:\n"
    "    stages:\n"
    "      - {stage: reference}\n"
    "      - {stage: prune_arguments, at_bp: 2000, older_turns: 3, min_tokens: 64}\n"
    "      - {stage: clear, at_bp: 5000, older_turns: 2}\n"
    "      - {stage: rehydrate, max_tokens: 2000}\n"
    "      - {stage: drop_groups}\n";

static const weir_dialect dialects[] = {WEIR_DIALECT_CHAT, WEIR_DIALECT_MESSAGES,
                                        WEIR_DIALECT_GEMINI};

struct made {
    struct wr_arena arena;
    struct made_session session;
    struct wr_session messages;
    struct wr_policies *policies;
    struct wr_text_memo *memo; /* of all folds that go on */
    const struct wr_policy *list[32];
    uint32_t count;
};

static void open_made(struct made *m)
{
    struct weir_err err = {0};
    *m = (struct made){0};
    wr_arena_init(&m->arena, WR_ARENA_BYTES_MAX);
    made_session_new(&m->session, SEED);
    assert_int_equal(wr_session_read(&m->messages, &m->arena, wr_buf_view(&m->session.lines), NULL),
                     WEIR_OK);
    if (wr_policies_new(&m->policies, wr_span_of(own_policies), &err))
        fail_msg("%s", err.text);
    assert_int_equal(wr_text_memo_new(&m->memo, MEMO_BYTES_MAX), WEIR_OK);
    m->list[m->count++] = wr_policies_find(m->policies, WR_LIT("pruned"));
    for (uint32_t i = 0; i < wr_policy_count(); i++)
        m->list[m->count++] = wr_policy_at(i);
}

static void close_made(struct made *m)
{
    wr_text_memo_free(m->memo);
    wr_policies_free(m->policies);
    made_session_free(&m->session);
    wr_arena_release(&m->arena);
}

static void the_laws_hold(void **state)
{
    struct fold_laws_counts counts = {0};
    struct made m;
    bool ok = true;
    (void)state;

    open_made(&m);
    for (uint32_t p = 0; p < m.count; p++)
        for (size_t d = 0; d < WR_COUNT_OF(dialects); d++) {
            struct fold_laws_case c = {.session = &m.messages,
                                       .policy = m.list[p],
                                       .dialect = dialects[d],
                                       .window_tokens = WINDOW_TOKENS,
                                       .requests_max = 25};
            ok &= fold_laws_hold(&c, &counts);
        }
    close_made(&m);
    assert_true(ok);
    assert_true(counts.edits > 0 && counts.inserts > 0 && counts.steps > 0);
}

/* ---- going on from a state ---- */

struct folded {
    struct wr_buf body;
    struct wr_arena arena;
    struct wr_json doc;
    struct wr_transcript transcript;
    struct wr_ways ways;
    struct wr_odds odds;
    struct wr_fold_input input;
    struct wr_fold fold;
};

static void fold_request(struct folded *f, const struct made *m, weir_dialect dialect,
                         const struct wr_policy *policy, uint32_t request,
                         const struct wr_fold_state *from, struct wr_text_memo *memo)
{
    struct wr_session_request written = {dialect, m->messages.requests[request], "m", true};
    struct wr_api_options options = {.dialect = weir_dialect_name(dialect)};

    *f = (struct folded){0};
    wr_arena_init(&f->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&f->body, WR_OUTPUT_BYTES_MAX);
    wr_session_write(&m->messages, &written, &f->body);
    assert_int_equal(wr_json_parse(&f->doc, &f->arena, wr_buf_view(&f->body), NULL, NULL), WEIR_OK);
    assert_int_equal(wr_api_read(&f->transcript, &f->arena, &f->doc, &options, NULL), WEIR_OK);
    assert_int_equal(wr_ways_read(&f->ways, &f->arena, &f->transcript), WEIR_OK);
    assert_int_equal(wr_odds_read(&f->odds, wr_odds_embedded(), NULL), WEIR_OK);
    const struct wr_transcript *t = &f->transcript;
    uint64_t *tokens = WR_ARENA_ARRAY(&f->arena, uint64_t, t->segments_count);
    uint32_t *overheads = WR_ARENA_ARRAY(&f->arena, uint32_t, t->segments_count);
    struct wr_fold_turn *turns = WR_ARENA_ARRAY(&f->arena, struct wr_fold_turn, t->turns_count);
    for (uint32_t i = 0; i < t->segments_count; i++) {
        tokens[i] = test_count(NULL, wr_segment_text(t, &t->segments[i], &f->arena));
        overheads[i] = OVERHEAD_TOKENS;
    }
    for (uint32_t i = COLD_EVERY; i < t->turns_count; i += COLD_EVERY)
        turns[i].is_cold = true;
    f->input = (struct wr_fold_input){.transcript = t,
                                      .tokens = tokens,
                                      .overheads = overheads,
                                      .turns = turns,
                                      .message_overhead_tokens = OVERHEAD_TOKENS,
                                      .policy = policy,
                                      .ways = &f->ways,
                                      .odds = &f->odds,
                                      .window_tokens = WINDOW_TOKENS,
                                      .reserve_tokens = WINDOW_TOKENS / 10,
                                      .count = test_count,
                                      .memo = memo,
                                      .from = from};
    if (memo)
        wr_text_memo_begin(memo);
    assert_int_equal(wr_fold_run(&f->fold, &f->arena, &f->input), WEIR_OK);
}

static void release_folded(struct folded *f)
{
    wr_buf_release(&f->body);
    wr_arena_release(&f->arena);
}

static void assert_same_segment(const struct wr_fold_segment *a, const struct wr_fold_segment *b)
{
    assert_int_equal(a->form, b->form);
    assert_int_equal(a->tokens, b->tokens);
    assert_int_equal(a->refers_to, b->refers_to);
    assert_int_equal(a->is_offloaded, b->is_offloaded);
    assert_int_equal(a->members_count, b->members_count);
    for (uint32_t i = 0; i < a->members_count; i++) {
        assert_true(wr_span_eq(a->members[i].text, b->members[i].text));
        assert_true(wr_span_eq(a->members[i].original, b->members[i].original));
    }
    if (a->form != WR_FORM_EXACT && a->form != WR_FORM_DROPPED)
        assert_true(wr_span_eq(a->text, b->text));
}

static void assert_same_insert(struct wr_fold *a, struct wr_fold *b, uint32_t i)
{
    weir_span x, y;
    assert_int_equal(a->inserts[i].is_gone, b->inserts[i].is_gone);
    assert_int_equal(a->inserts[i].before, b->inserts[i].before);
    assert_int_equal(a->inserts[i].turn, b->inserts[i].turn);
    assert_int_equal(a->inserts[i].tokens, b->inserts[i].tokens);
    if (a->inserts[i].is_gone || a->inserts[i].is_rehydrated)
        return;
    assert_true(wr_span_eq(a->inserts[i].text, b->inserts[i].text));
    assert_int_equal(wr_fold_insert_original(a, i, &x), WEIR_OK);
    assert_int_equal(wr_fold_insert_original(b, i, &y), WEIR_OK);
    assert_true(x.len && wr_span_eq(x, y));
}

static void assert_same_fold(struct wr_fold *a, struct wr_fold *b)
{
    assert_int_equal(a->total_tokens, b->total_tokens);
    assert_int_equal(a->inserts_count, b->inserts_count);
    assert_int_equal(a->steps_count, b->steps_count);
    for (uint32_t i = 0; i < a->arrived; i++)
        assert_same_segment(&a->segments[i], &b->segments[i]);
    for (uint32_t i = 0; i < a->inserts_count; i++)
        assert_same_insert(a, b, i);
    assert_memory_equal(a->steps, b->steps, a->steps_count * sizeof(*a->steps));
    assert_memory_equal(&a->window, &b->window, sizeof(a->window));
    assert_memory_equal(&a->chosen, &b->chosen, sizeof(a->chosen));
}

static void walk_from_states(const struct made *m, weir_dialect dialect,
                             const struct wr_policy *policy)
{
    struct wr_fold_state *state = NULL;
    uint32_t resumed = 0;

    for (uint32_t r = 0; r < REQUESTS && r < m->messages.requests_count; r++) {
        struct folded whole, again;
        fold_request(&whole, m, dialect, policy, r, NULL, NULL);
        fold_request(&again, m, dialect, policy, r, state, m->memo);
        assert_int_equal(whole.fold.resumed_count, 0);
        resumed += again.fold.resumed_count > 0;
        assert_same_fold(&whole.fold, &again.fold);
        if (r % STATE_EVERY == 0) {
            struct wr_fold_state *next;
            assert_int_equal(wr_fold_state_new(&next, &again.fold), WEIR_OK);
            assert_in_range(wr_fold_state_bytes(next),
                            again.fold.arrived * sizeof(*again.fold.segments),
                            WR_FOLD_STATE_BYTES_MAX);
            uint32_t turns_count;
            assert_non_null(wr_fold_state_turns(next, &turns_count));
            assert_int_equal(turns_count, again.fold.turn + 1);
            wr_fold_state_free(state);
            state = next;
        }
        release_folded(&whole);
        release_folded(&again);
    }
    wr_fold_state_free(state);
    assert_true(resumed > REQUESTS / 2);
}

static void going_on_from_a_state_changes_nothing(void **state)
{
    struct made m;
    (void)state;
    open_made(&m);
    for (uint32_t p = 0; p < m.count; p++)
        for (size_t d = 0; d < WR_COUNT_OF(dialects); d++)
            walk_from_states(&m, dialects[d], m.list[p]);
    close_made(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_laws_hold),
        cmocka_unit_test(going_on_from_a_state_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
