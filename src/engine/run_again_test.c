/* A projection that comes in again leaves as it came: on sessions made by chance, of runs, reads of
 * a few files, edits that failed and that did not, completed loops and pauses; under every preset,
 * and under policies whose stages no preset has. And a fold that goes on from the request before is
 * as one from the start, where half of the session came in projected. */
#include "engine/run.h"

#include "base/span.h"
#include "tests/test_run.h"
#include "policy/fold.h"

enum { SEEDS = 60, CALLS_MAX = 95, TURNS_MAX = 2 * CALLS_MAX, BODY_BYTES_MAX = 1 << 24 };

static const char *const policies[] = {
    /* Without its last resort: what that left no longer presses when it comes in again. */
    "policies: {p: {stages: [{stage: fold_loops}, {stage: summarise_active}]}}",
    "policies: {p: {like: compress}}",
    "policies: {p: {like: layers}}",
    "policies: {p: {like: tiered}}",
    "policies: {p: {like: smart}}",
    "policies: {p: {like: auto}}",
    "policies: {p: {like: lean}}",
    "policies: {p: {like: careful}}",
    "policies: {p: {stages: [{stage: prune_arguments, at_bp: 2000, older_turns: 3}, "
    "{stage: clear, at_bp: 5000, tools: {Read: exact}}]}}",
    "policies: {p: {stages: [{stage: reference}, {stage: cap, max_tokens: 500, keep: both}, "
    "{stage: prune_arguments, at_bp: 3000}, {stage: fold_loops}, {stage: summarise_active}]}}",
};

/* ---- sessions ---- */

struct chance {
    uint64_t state;
};

static uint32_t below(struct chance *c, uint32_t count)
{
    c->state ^= c->state << 13;
    c->state ^= c->state >> 7;
    c->state ^= c->state << 17;
    return (uint32_t)((c->state >> 11) % count);
}

/* `end` is the line's, as it is escaped where it stands. */
static void write_lines(struct wr_buf *out, uint32_t id, uint32_t tokens, const char *end)
{
    for (uint32_t i = 0; i < tokens / 10; i++)
        wr_buf_printf(out, "row %04u/%04u: the waters here are calm%s", id, i, end);
}

static void write_call(struct wr_buf *out, uint32_t id, const char *tool)
{
    wr_buf_printf(out,
                  ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%u\","
                  "\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":\"{",
                  id, tool);
}

static void write_answer(struct wr_buf *out, uint32_t id)
{
    wr_buf_printf(out, "}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"", id);
}

static void write_run(struct wr_buf *out, struct chance *c, uint32_t id, uint32_t tokens)
{
    write_call(out, id, "Bash");
    wr_buf_printf(out, "\\\"command\\\":\\\"./step %u\\\"", id);
    write_answer(out, id);
    write_lines(out, below(c, 5) ? id : 1, tokens, "\\n");
}

static void write_read(struct wr_buf *out, uint32_t id, uint32_t file, uint32_t tokens)
{
    write_call(out, id, "Read");
    wr_buf_printf(out, "\\\"file_path\\\":\\\"/w/%u.c\\\"", file);
    write_answer(out, id);
    write_lines(out, id, tokens, "\\n");
}

static void write_edit(struct wr_buf *out, struct chance *c, uint32_t id, uint32_t file,
                       uint32_t tokens)
{
    write_call(out, id, "Edit");
    wr_buf_printf(out,
                  "\\\"file_path\\\":\\\"/w/%u.c\\\",\\\"old_string\\\":\\\"x\\\","
                  "\\\"new_string\\\":\\\"",
                  file);
    write_lines(out, id, tokens, "\\\\n");
    wr_buf_text(out, "\\\"");
    write_answer(out, id);
    if (below(c, 3)) {
        wr_buf_printf(out, "The file /w/%u.c has been updated.", file);
        return;
    }
    wr_buf_text(out, "<tool_use_error>String to replace not found in file.</tool_use_error>");
    write_lines(out, id, 200, "\\n");
}

static void write_instructions(struct wr_buf *out, uint32_t id, uint32_t tokens)
{
    write_call(out, id, "Read");
    wr_buf_printf(out, "\\\"file_path\\\":\\\"/w/%u/AGENTS.md\\\"", id);
    write_answer(out, id);
    write_lines(out, id, tokens, "\\n");
}

static void write_session(struct wr_buf *out, struct chance *c, bool has_instructions)
{
    uint32_t calls = 5 + below(c, CALLS_MAX - 5), size = 50 + below(c, 900);
    uint32_t files = below(c, 2) ? 6 : calls, loop_calls = 3 + below(c, 40);

    wr_buf_text(out, "{\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weir_recall\"}}],"
                     "\"messages\":[{\"role\":\"user\",\"content\":\"go\"}");
    for (uint32_t i = 1; i <= calls; i++) {
        uint32_t what = below(c, 10), tokens = below(c, below(c, 4) ? size : 4 * size);
        if (what < 5)
            write_run(out, c, i, tokens);
        else if (what < 8)
            write_read(out, i, below(c, files), tokens);
        else if (has_instructions && !below(c, 3))
            write_instructions(out, i, tokens);
        else
            write_edit(out, c, i, below(c, files), tokens);
        wr_buf_text(out, "\"}");
        if (i % loop_calls == 0)
            wr_buf_text(out, ",{\"role\":\"assistant\",\"content\":\"done\"},{\"role\":\"user\","
                             "\"content\":\"go on\"}");
    }
    wr_buf_text(out, "]}");
}

/* ---- twice ---- */

struct twice {
    struct wr_odds odds;
    struct wr_fold_turn pauses[TURNS_MAX], nothing[TURNS_MAX];
    struct test_run_facts facts;
};

static void prepare(struct twice *t, struct chance *c)
{
    uint32_t every = below(c, 3) ? 3 + below(c, 30) : TURNS_MAX;

    *t = (struct twice){.facts = {.window_tokens = 4000 + below(c, 28) * (uint64_t)1000}};
    assert_int_equal(wr_odds_read(&t->odds, wr_odds_embedded(), NULL), WEIR_OK);
    t->facts.odds = &t->odds;
    for (uint32_t i = every; i < TURNS_MAX; i += every)
        t->pauses[i].is_cold = true;
}

/* The session's marks are not known of what comes in again: it is another session. */
static bool is_same_again(struct twice *t, weir_span body, const char *yaml, bool *is_changed)
{
    struct test_run first, again;

    t->facts.turns = t->pauses;
    test_run_open_with(&first, body, yaml, &t->facts);
    t->facts.turns = t->nothing;
    test_run_open_with(&again, first.run.settled.body, yaml, &t->facts);
    bool is_same = wr_span_eq(first.run.settled.body, again.run.settled.body);
    *is_changed = !wr_span_eq(first.run.settled.body, body);
    test_run_close(&again);
    test_run_close(&first);
    return is_same;
}

static uint32_t seed_at(uint32_t index)
{
    static const uint32_t rare[] = {473, 676}; /* what only one session in hundreds runs into */
    return index < SEEDS ? index + 1 : rare[index - SEEDS];
}

static void a_projection_that_comes_in_again_leaves_as_it_came(void **state)
{
    uint32_t changed = 0, broken = 0;
    (void)state;

    for (uint32_t n = 0; n < SEEDS + 2; n++) {
        struct chance c = {seed_at(n) * 0x9E3779B97F4A7C15ULL};
        struct wr_buf body;
        struct twice t;
        prepare(&t, &c);
        wr_buf_init(&body, BODY_BYTES_MAX);
        write_session(&body, &c, false);
        for (size_t i = 0; i < WR_COUNT_OF(policies); i++) {
            bool is_changed;
            if (!is_same_again(&t, wr_buf_view(&body), policies[i], &is_changed)) {
                print_error("seed %u, window %llu: another projection under %s\n", seed_at(n),
                            (unsigned long long)t.facts.window_tokens, policies[i]);
                broken++;
            }
            changed += is_changed;
        }
        wr_buf_release(&body);
    }
    assert_int_equal(broken, 0);
    assert_true(changed > SEEDS); /* or nothing was tried here */
}

/* ---- going on ---- */

#define DEEPEN                                                                                     \
    "policies: {p: {stages: [{stage: reference}, {stage: deepen, keep_turns: 3, quiet_turns: 2}, " \
    "{stage: fit}]}}"

static bool ends_request(const struct wr_transcript *t, uint32_t i)
{
    bool is_last = i + 1 == t->segments_count;
    return t->segments[i].array != WR_JSON_NONE && !t->segments[i].from_model &&
           (is_last || t->segments[i + 1].from_model);
}

/* Bytes of a body up to the end of a segment's message. */
static size_t end_of(const struct wr_transcript *t, weir_span body, uint32_t segment)
{
    weir_span message = wr_json_raw(t->doc, t->segments[segment].message);
    return (size_t)(message.ptr + message.len - body.ptr);
}

static void write_front(struct wr_buf *out, weir_span body, size_t bytes)
{
    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_append(out, (weir_span){body.ptr, bytes});
    wr_buf_text(out, "]}");
}

/* The session with its first half as it was projected. */
static void write_half_projected(struct wr_buf *out, struct twice *t, weir_span body,
                                 const char *yaml)
{
    struct test_transcript test;
    struct test_run run;
    struct wr_buf front;
    size_t end = 0;

    test_transcript_open(&test, body);
    for (uint32_t i = 0; i < test.transcript.segments_count / 2; i++)
        if (ends_request(&test.transcript, i))
            end = end_of(&test.transcript, body, i);
    test_transcript_close(&test);
    assert_true(end);
    write_front(&front, body, end);
    test_run_open_with(&run, wr_buf_view(&front), yaml, &t->facts);
    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_append(out, wr_span_cut(run.run.settled.body, 0, run.run.settled.body.len - 2));
    wr_buf_append(out, (weir_span){body.ptr + end, body.len - end});
    test_run_close(&run);
    wr_buf_release(&front);
}

static bool is_same_fold(const struct wr_fold *a, const struct wr_fold *b)
{
    bool is_same = a->total_tokens == b->total_tokens && a->inserts_count == b->inserts_count &&
                   a->steps_count == b->steps_count;
    for (uint32_t i = 0; i < a->transcript->segments_count && is_same; i++) {
        const struct wr_fold_segment *x = &a->segments[i], *y = &b->segments[i];
        bool has_text = x->form != WR_FORM_EXACT && x->form != WR_FORM_DROPPED;
        is_same = x->form == y->form && (!has_text || wr_span_eq(x->text, y->text));
    }
    return is_same;
}

/* Folds from the start, and on from `state`, which becomes the next request's. */
static bool goes_on_the_same(struct twice *t, weir_span body, const char *yaml,
                             struct wr_fold_state **state)
{
    struct wr_fold_state *next;
    struct wr_fold resumed;
    struct test_run run;

    test_run_open_with(&run, body, yaml, &t->facts);
    struct wr_fold_input input = run.input;
    input.from = *state;
    assert_int_equal(wr_fold_run(&resumed, &run.test.arena, &input), WEIR_OK);
    assert_int_equal(wr_fold_state_new(&next, &resumed), WEIR_OK);
    bool is_same = is_same_fold(&resumed, &run.run.fold);
    wr_fold_state_free(*state);
    *state = next;
    test_run_close(&run);
    return is_same;
}

static bool goes_on_through(struct twice *t, weir_span body, const char *yaml)
{
    struct wr_fold_state *state = NULL;
    struct test_transcript test;
    bool is_same = true;

    test_transcript_open(&test, body);
    for (uint32_t i = 0; i < test.transcript.segments_count && is_same; i++) {
        struct wr_buf front;
        if (!ends_request(&test.transcript, i))
            continue;
        write_front(&front, body, end_of(&test.transcript, body, i));
        is_same = goes_on_the_same(t, wr_buf_view(&front), yaml, &state);
        wr_buf_release(&front);
    }
    wr_fold_state_free(state);
    test_transcript_close(&test);
    return is_same;
}

static void a_fold_that_goes_on_is_as_one_from_the_start(void **state)
{
    static const uint32_t seeds[] = {5, 92, 147};
    static const char *const tried[] = {DEEPEN, "policies: {p: {like: auto}}",
                                        "policies: {p: {like: smart}}"};
    uint32_t broken = 0;
    (void)state;

    for (size_t n = 0; n < WR_COUNT_OF(seeds); n++) {
        struct chance c = {seeds[n] * 0x9E3779B97F4A7C15ULL};
        struct wr_buf body, half;
        struct twice t;
        prepare(&t, &c);
        t.facts.turns = t.pauses;
        t.facts.prices = (struct wr_fold_prices){125, 10, 500, 0};
        wr_buf_init(&body, BODY_BYTES_MAX);
        write_session(&body, &c, true);
        for (size_t i = 0; i < WR_COUNT_OF(tried); i++) {
            write_half_projected(&half, &t, wr_buf_view(&body), tried[i]);
            if (!goes_on_through(&t, wr_buf_view(&half), tried[i])) {
                print_error("seed %u: another fold under %s\n", seeds[n], tried[i]);
                broken++;
            }
            wr_buf_release(&half);
        }
        wr_buf_release(&body);
    }
    assert_int_equal(broken, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_projection_that_comes_in_again_leaves_as_it_came),
        cmocka_unit_test(a_fold_that_goes_on_is_as_one_from_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
