/* Requests to servers that want user and model to take turns: what leaves does, and the user's own
 * words are as they came. */
#include "engine/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_plan.h"
#include "tests/test_world.h"

/* A new engine reads its tables anew, which takes as long as twenty requests. */
enum {
    LOOPS_MAX = 40,
    RESTART_LOOPS = 12,
    WINDOW_TOKENS = 5000,
    PICTURES_WINDOW_TOKENS = 30000,
    LATE_WORDS = 26
};

/* Pictures take much of a window, and but for a late one these messages have no words. */
enum words { WORDS_PLAIN, WORDS_PARTS, WORDS_PICTURES };

static void write_user(struct wr_buf *out, uint32_t i, enum words words)
{
    wr_buf_text(out, ",{\"role\":\"user\",\"content\":");
    if (words == WORDS_PICTURES && i != LATE_WORDS)
        wr_buf_printf(out, "[{\"type\":\"image_url\",\"image_url\":{\"url\":\"http://x/%u.png\"}}]",
                      i);
    else if (words == WORDS_PARTS)
        wr_buf_printf(out, "[{\"type\":\"text\",\"text\":\"question %u, caf\\u00e9\"}]", i);
    else
        wr_buf_printf(out, "\"question %u, caf\\u00e9\"", i);
    wr_buf_byte(out, '}');
}

/* A session of loops with two calls each, the last one under way. */
static void write_talk(struct wr_buf *out, uint32_t loops, enum words words)
{
    wr_buf_init(out, TEST_BODY_BYTES_MAX);
    wr_buf_text(out,
                "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
                "\"weir_recall\"}}],\"messages\":[{\"role\":\"system\",\"content\":\"be\"}");
    for (uint32_t i = 0; i < loops; i++) {
        write_user(out, i, words);
        for (uint32_t call = 0; call < 2; call++) {
            wr_buf_printf(out,
                          ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":"
                          "\"c%u.%u\",\"type\":\"function\",\"function\":{\"name\":\"run\","
                          "\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c%u.%u\","
                          "\"content\":\"",
                          i, call, i, call);
            for (int line = 0; line < 60; line++)
                wr_buf_printf(out, "result %u.%u line %d: the waters are calm\\n", i, call, line);
            wr_buf_text(out, "\"}");
        }
        if (i + 1 < loops)
            wr_buf_printf(out, ",{\"role\":\"assistant\",\"content\":\"answer %u\"}", i);
    }
    wr_buf_text(out, "]}");
}

/* The strictest template: after the instructions, user and model in turn; calls and results do not
 * count. */
static bool takes_turns(weir_span body)
{
    struct wr_arena arena;
    struct wr_json doc;
    bool wants_user = true, ok = true;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, body, NULL, NULL), WEIR_OK);
    wr_json_id list = wr_json_find(&doc, 0, "messages"), first = wr_json_first(&doc, list);
    for (wr_json_id m = first; m != WR_JSON_NONE; m = wr_json_next(&doc, list, m)) {
        wr_json_id role = wr_json_find(&doc, m, "role");
        if (wr_json_text_is(&doc, role, "system")) {
            ok &= m == first;
            continue;
        }
        if (wr_json_text_is(&doc, role, "tool") ||
            wr_json_find(&doc, m, "tool_calls") != WR_JSON_NONE)
            continue;
        ok &= wr_json_text_is(&doc, role, "user") == wants_user;
        wants_user = !wants_user;
    }
    wr_arena_release(&arena);
    return ok;
}

struct sent {
    uint64_t tokens;
    struct wr_buf body, report;
    bool is_step, is_changed;
    char reason[WORD_BYTES];
};

/* Each policy and kind of words has its session, so that all share an engine. */
static struct sent send_talk(struct world *w, const char *policy, uint32_t loops, bool alternates,
                             enum words words)
{
    char session[WORD_BYTES];
    (void)snprintf(session, sizeof(session), "%s %d", policy, words);
    struct weir_project_options options = {
        .policy = policy,
        .window_tokens = words == WORDS_PICTURES ? PICTURES_WINDOW_TOKENS : WINDOW_TOKENS,
        .store = &w->store.store,
        .session = wr_span_of(session),
        .now_ms = NOON_MS + loops * SECOND_MS,
        .alternates = alternates};
    struct weir_projected p;
    struct weir_request *request;
    struct weir_err err = {0};
    struct wr_buf body;
    struct sent sent = {.is_step = false};

    write_talk(&body, loops, words);
    if (weir_engine_request(w->engine, wr_buf_view(&body), NULL, &request, &err) ||
        weir_engine_project(w->engine, request, &options, &p, &err))
        fail_msg("%s", err.text);
    if (p.held_back)
        fail_msg("%s, %u loops: %s", policy, (unsigned)loops, p.held_back);
    check_recall(w, p.body, options.tenant);
    wr_buf_init(&sent.body, TEST_BODY_BYTES_MAX);
    wr_buf_init(&sent.report, TEST_BODY_BYTES_MAX);
    wr_buf_append(&sent.body, p.body);
    wr_buf_append(&sent.report, p.report);
    sent.is_step = p.is_step;
    sent.is_changed = p.is_changed;
    sent.tokens = p.tokens_after;
    (void)snprintf(sent.reason, WORD_BYTES, "%s", p.step_reason ? p.step_reason : "");
    weir_request_free(request);
    wr_buf_release(&body);
    return sent;
}

static void release(struct sent *sent)
{
    wr_buf_release(&sent->body);
    wr_buf_release(&sent->report);
}

static bool has_text(const struct sent *sent, const char *text)
{
    return wr_span_find(wr_buf_view(&sent->body), wr_span_of(text), 0) != SIZE_MAX;
}

static void user_and_model_take_turns(void **state)
{
    static const char *const names[] = {"compress", "tiered", "layers",     "smart",
                                        "auto",     "lean",   "guarded-mid"};
    struct world *w = open_world(state);
    uint32_t broken = 0, changed = 0;
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        for (enum words words = WORDS_PLAIN; words <= WORDS_PARTS; words++)
            for (uint32_t loops = 2; loops < LOOPS_MAX; loops += 3) {
                struct sent sent = send_talk(w, names[i], loops, true, words);
                changed += sent.is_changed;
                if (!takes_turns(wr_buf_view(&sent.body))) {
                    print_error("%s, %u loops: turns are not taken\n", names[i], (unsigned)loops);
                    broken++;
                }
                release(&sent);
            }
    close_world(w);
    assert_true(changed > 0);
    assert_int_equal(broken, 0);
}

static void a_summary_joins_the_users_message(void **state)
{
    struct world *w = open_world(state);
    struct sent joined = send_talk(w, "compress", 30, true, WORDS_PLAIN);
    struct sent alone = send_talk(w, "compress", 30, false, WORDS_PLAIN);
    assert_true(has_text(&joined, "question 0, caf\xC3\xA9\\n\\n[CONVERSATION SUMMARY]\\n"));
    assert_true(takes_turns(wr_buf_view(&joined.body)));
    assert_true(has_text(&alone, "\"content\":\"[CONVERSATION SUMMARY]\\n"));
    assert_false(takes_turns(wr_buf_view(&alone.body)));
    assert_true(alone.is_step);
    assert_string_equal(alone.reason, "tools");
    release(&joined);
    release(&alone);
    close_world(w);
}

/* What the same engine counts in a body that comes. */
static uint64_t tokens_of(struct world *w, weir_span body)
{
    struct weir_project_options options = {.policy = "exact", .now_ms = NOON_MS};
    struct weir_projected p;
    struct weir_request *request;

    assert_int_equal(weir_engine_request(w->engine, body, NULL, &request, NULL), WEIR_OK);
    assert_int_equal(weir_engine_project(w->engine, request, &options, &p, NULL), WEIR_OK);
    weir_request_free(request);
    return p.tokens_before;
}

/* Law L8: what joined a message has no framing of its own, and what stands for the model's words
 * has. Texts that are joined may be counted a token or two otherwise than apart. */
static void the_tokens_are_those_of_the_body_that_leaves(void **state)
{
    static const char *const names[] = {"compress", "layers", "smart"};
    struct world *w = open_world(state);
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        for (uint32_t loops = 20; loops < LOOPS_MAX; loops += 6) {
            struct sent sent = send_talk(w, names[i], loops, true, WORDS_PLAIN);
            uint64_t counted = tokens_of(w, wr_buf_view(&sent.body));
            assert_true(sent.is_changed);
            if (sent.tokens > counted + 2 || sent.tokens + 2 < counted)
                fail_msg("%s, %u loops: %llu tokens, not %llu", names[i], (unsigned)loops,
                         (unsigned long long)sent.tokens, (unsigned long long)counted);
            release(&sent);
        }
    close_world(w);
}

static uint32_t check_beginnings(struct world *w, const char *policy, enum words words)
{
    struct sent last = send_talk(w, policy, 2, true, words);
    uint32_t steps = 0;

    for (uint32_t loops = 3; loops < LOOPS_MAX; loops++) {
        if (w->is_on_disk && loops % RESTART_LOOPS == 0)
            restart(w);
        struct sent next = send_talk(w, policy, loops, true, words);
        struct wr_arena arena;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        bool is_same = fold_laws_extends(wr_buf_view(&last.body), wr_buf_view(&next.body),
                                         WEIR_DIALECT_CHAT, &arena);
        wr_arena_release(&arena);
        if (is_same == next.is_step || !strcmp(next.reason, "unexplained"))
            fail_msg("%s, %u loops, words %d: %s", policy, (unsigned)loops, words,
                     is_same ? "no step" : "a step");
        steps += next.is_step;
        release(&last);
        last = next;
    }
    release(&last);
    return steps;
}

/* Law L3: the next request begins with the last, also where a message that could be joined comes
 * only later. On disk another process goes on from time to time. */
static void the_next_request_begins_alike(void **state)
{
    static const char *const names[] = {"tiered", "compress", "layers"};
    struct world *w = open_world(state);
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        for (enum words words = WORDS_PLAIN; words <= WORDS_PICTURES; words++)
            assert_true(check_beginnings(w, names[i], words) > 0);
    close_world(w);
}

/* ---- where every server wants turns ---- */

/* The last four came so: two of the user's that meet, and an empty one of the model's. */
static const char came[] = "{'system':[{'text':'0'}],'messages':["
                           "{'role':'user','content':[{'text':'1'}]},"
                           "{'role':'assistant','content':[{'text':'2'}]},"
                           "{'role':'user','content':[{'text':'3'},{'text':'4'}]},"
                           "{'role':'assistant','content':[{'text':'5'}]},"
                           "{'role':'user','content':[{'text':'6'}]},"
                           "{'role':'user','content':[{'text':'7'}]},"
                           "{'role':'assistant','content':[]},"
                           "{'role':'user','content':[{'text':'8'}]}]}";

/* Nothing but what leaves: no message is put in. */
static void a_gap_between_two_of_one_side_is_filled(void **state)
{
    static const struct {
        const char *behaviour;
        struct test_op ops[TEST_OPS_MAX];
        uint32_t lines, before; /* before: the message that the last line comes before */
    } gaps[] = {
        {"a message of the model", {DROP(2)}, 1, 2},
        {"two of them", {DROP(2), DROP(5)}, 2, 4},
        {"a message of the user", {DROP(3), DROP(4)}, 1, 3},
        {"but not one whose last block stays", {DROP(3)}, 0, 0},
        {"or whose first block stays", {DROP(4)}, 0, 0},
        {"or that is changed", {EDIT(2, "x")}, 0, 0},
        {"one of each side leaves no gap", {DROP(2), DROP(3), DROP(4)}, 0, 0},
        {"the first of all", {DROP(1)}, 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(gaps); i++) {
        struct wr_alternation a;
        struct test_plan p;
        test_plan_open(&p, "converse", came);
        test_plan_add_all(&p, gaps[i].ops);
        assert_int_equal(wr_alternate_fill(&a, &p.plan, &p.arena, &p.err), WEIR_OK);
        if (a.lines_count != gaps[i].lines || p.plan.inserts_count != gaps[i].lines)
            fail_msg("%s: %u lines", gaps[i].behaviour, (unsigned)a.lines_count);
        if (a.lines_count &&
            p.plan.inserts[a.lines_count - 1].before != test_message(&p, gaps[i].before))
            fail_msg("%s: the line is elsewhere", gaps[i].behaviour);
        test_plan_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_and_model_take_turns),
        cmocka_unit_test(a_summary_joins_the_users_message),
        BOTH(the_tokens_are_those_of_the_body_that_leaves),
        BOTH(the_next_request_begins_alike),
        cmocka_unit_test(a_gap_between_two_of_one_side_is_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
