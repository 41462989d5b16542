#include "lab/baseline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_file.h"
#include "weir/engine.h"
#include "api/api.h"

static uint64_t count_tokens(void *user, weir_span text)
{
    (void)user;
    return (text.len + 3) / 4;
}

/* A session in short: u a message of the user, a an answer, a number a call and its result of so
 * many thousand tokens; `|` ends a request. What each result shows: w whole, c cleared, s shorter.
 */
static const struct {
    const char *behaviour, *baseline, *session;
    const char *expected; /* one word a request */
} cases[] = {
    {"under 100,000 tokens nothing is cleared", "clear-tool-uses", "u 20 20 20 20 | 10 |",
     "wwww wwwww"},
    {"above it all but three are", "clear-tool-uses", "u 20 20 20 20 | 30 |", "wwww ccwww"},
    {"what is cleared stays so, and the rest grows until it is above again", "clear-tool-uses",
     "u 20 20 20 20 30 | 20 | 20 |", "ccwww ccwwww ccccwww"},
    {"within a loop nothing is pruned", "opencode-prune", "u 30 30 30 | 30 |", "www wwww"},
    {"nor in the two loops before", "opencode-prune", "u 90 a u 90 a u |", "ww"},
    {"older results go beyond 40,000 tokens", "opencode-prune", "u 30 30 30 30 a u 1 a u 1 a u |",
     "cccwww"},
    {"unless that is worth less than 20,000", "opencode-prune", "u 15 20 20 a u 1 a u 1 a u |",
     "wwwww"},
    {"and they stay pruned", "opencode-prune", "u 30 30 30 30 a u 1 a u 1 a u | 5 |",
     "cccwww cccwwww"},
    {"the newest ten stay", "mask-last-10", "u 1 1 1 1 1 1 1 1 1 1 1 | 1 |",
     "cwwwwwwwwww ccwwwwwwwwww"},
    {"large results are cut as they arrive, and stay as they are", "head-tail", "u 3 9 4 | 5 |",
     "wsw wsws"},
};

struct making {
    struct wr_buf body;
    uint32_t results;
};

static void add_message(struct making *m, const char *format, uint32_t id, uint64_t thousands)
{
    if (m->body.len)
        wr_buf_byte(&m->body, ',');
    wr_buf_printf(&m->body, format, id);
    for (uint64_t i = 0; i < thousands * 4 * 1000 / 20; i++)
        wr_buf_text(&m->body, "one line of twenty. ");
    wr_buf_text(&m->body, "\"}");
}

static void add_word(struct making *m, weir_span word)
{
    uint64_t thousands = 0;
    if (wr_span_is(word, "u")) {
        add_message(m, "{\"role\":\"user\",\"content\":\"do it %u", m->results, 0);
    } else if (wr_span_is(word, "a")) {
        add_message(m, "{\"role\":\"assistant\",\"content\":\"done %u", m->results, 0);
    } else {
        assert_true(wr_span_u64(word, &thousands));
        if (m->body.len)
            wr_buf_byte(&m->body, ',');
        wr_buf_printf(
            &m->body,
            "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"%u\","
            "\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]}",
            m->results);
        add_message(m, "{\"role\":\"tool\",\"tool_call_id\":\"%u\",\"content\":\"", m->results++,
                    thousands);
    }
}

static void describe(const struct wr_transcript *t, const struct wr_evidence_view *view,
                     struct wr_buf *out)
{
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_shown *shown = &view->segments[i];
        if (t->segments[i].kind == WEIR_KIND_TOOL_RESULT)
            wr_buf_byte(out, shown->is_whole ? 'w' : shown->text.len < 100 ? 'c' : 's');
    }
}

static void send(struct wr_baseline *baseline, struct wr_arena *arena, weir_span messages,
                 struct wr_buf *out)
{
    static const struct wr_api_options options = {.dialect = "chat", .structure_only = true};
    struct wr_evidence_view view;
    struct wr_transcript t;
    struct wr_json doc;
    struct wr_buf body;
    wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
    wr_buf_text(&body, "{\"model\":\"m\",\"messages\":[");
    wr_buf_append(&body, messages);
    wr_buf_text(&body, "]}");
    weir_span text = wr_arena_copy(arena, wr_buf_view(&body));
    wr_buf_release(&body);
    assert_int_equal(wr_json_parse(&doc, arena, text, NULL, NULL), WEIR_OK);
    assert_int_equal(wr_api_read(&t, arena, &doc, &options, NULL), WEIR_OK);
    uint64_t *tokens = WR_ARENA_ARRAY(arena, uint64_t, t.segments_count);
    struct wr_cache_block *blocks = WR_ARENA_ARRAY(arena, struct wr_cache_block, t.segments_count);
    assert_true(tokens && blocks);
    for (uint32_t i = 0; i < t.segments_count; i++)
        tokens[i] = count_tokens(NULL, wr_segment_text(&t, &t.segments[i], arena));
    struct wr_evidence_at at = {.segments_count = t.segments_count};
    assert_int_equal(wr_baseline_request(baseline, &t, &at, tokens, &view), WEIR_OK);
    wr_cache_blocks(&t, tokens, NULL, blocks);
    wr_baseline_blocks(baseline, NULL, blocks);
    for (uint32_t i = 0; i < t.segments_count; i++)
        assert_true(view.segments[i].is_whole ? blocks[i].tokens == tokens[i]
                                              : blocks[i].tokens < tokens[i]);
    if (out->len)
        wr_buf_byte(out, ' ');
    describe(&t, &view, out);
}

static void baselines_do_what_others_do(void **state)
{
    int failed = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        weir_span rest = wr_span_of(cases[i].session);
        struct making making = {.results = 0};
        struct wr_baseline baseline;
        struct wr_arena arena;
        struct wr_buf out;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&making.body, WR_OUTPUT_BYTES_MAX);
        wr_buf_init(&out, 4096);
        wr_baseline_init(&baseline, &arena, wr_baseline_find(wr_span_of(cases[i].baseline)),
                         count_tokens, NULL);
        while (rest.len) {
            size_t space = wr_span_find(rest, WR_LIT(" "), 0);
            weir_span word = wr_span_cut(rest, 0, space == SIZE_MAX ? rest.len : space);
            rest = wr_span_cut(rest, space == SIZE_MAX ? rest.len : space + 1, rest.len);
            if (wr_span_is(word, "|"))
                send(&baseline, &arena, wr_buf_view(&making.body), &out);
            else
                add_word(&making, word);
        }
        if (!wr_span_is(wr_buf_view(&out), cases[i].expected)) {
            printf("FAILED: %s: %.*s\n", cases[i].behaviour, (int)out.len, out.bytes);
            failed++;
        }
        wr_buf_release(&out);
        wr_buf_release(&making.body);
        wr_arena_release(&arena);
    }
    assert_int_equal(failed, 0);
}

/* Every baseline is modelled here, or is a policy that the engine knows with data/baselines.yaml.
 */
static void every_baseline_can_be_run(void **state)
{
    static const char body[] =
        "{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    struct weir_engine *engine;
    struct wr_buf yaml;
    (void)state;
    wr_buf_init(&yaml, WR_OUTPUT_BYTES_MAX);
    assert_true(wr_test_file("data/baselines.yaml", &yaml));
    assert_int_equal(weir_engine_new(&engine, NULL), WEIR_OK);
    assert_int_equal(weir_engine_load_policies(engine, wr_buf_view(&yaml), NULL), WEIR_OK);
    for (uint32_t i = 0; i < wr_baseline_count(); i++) {
        const struct wr_baseline_def *def = wr_baseline_at(i);
        struct weir_project_options options = {.policy = def->policy};
        struct weir_request *request;
        struct weir_projected projected;
        bool is_run_here = !def->policy && strcmp(def->name, WR_BASELINE_CLAIRVOYANT) != 0 &&
                           strcmp(def->name, WR_BASELINE_CLAIRVOYANT_ALL) != 0;
        assert_int_equal(def->request != NULL, is_run_here);
        if (!def->policy)
            continue;
        assert_int_equal(weir_request_new(wr_span_of(body), NULL, &request, NULL), WEIR_OK);
        assert_int_equal(weir_engine_project(engine, request, &options, &projected, NULL), WEIR_OK);
        weir_request_free(request);
    }
    weir_engine_free(engine);
    wr_buf_release(&yaml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baselines_do_what_others_do),
        cmocka_unit_test(every_baseline_can_be_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
