#include "engine/steer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "engine/engine.h"
#include "engine/record.h"
#include "tests/test_dir.h"
#include "tests/test_session.h"
#include "weir/weir.h"

/* ---- said ---- */

static weir_status say(struct weir_store *store, const char *session, const char *line,
                       struct wr_order_head *head)
{
    struct wr_order order;
    assert_true(wr_order_read(wr_span_of(line), &order));
    struct wr_order_said said = {.tenant = WR_LIT("t"),
                                 .session = wr_span_of(session),
                                 .orders = &order,
                                 .orders_count = 1,
                                 .now_ms = 1000};
    return wr_order_say(store, &said, head, NULL);
}

static void expect_pins(struct weir_store *store, const char *session, const char *wanted)
{
    struct wr_order_head head;
    struct wr_arena arena;
    struct wr_buf pins;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&pins, 4096);
    assert_int_equal(wr_order_head_read(store, WR_LIT("t"), wr_span_of(session), &head), WEIR_OK);
    assert_int_equal(
        wr_order_pins(store, WR_LIT("t"), wr_span_of(session), head.count, &arena, &pins), WEIR_OK);
    assert_true(wr_span_is(wr_buf_view(&pins), wanted));
    wr_buf_release(&pins);
    wr_arena_release(&arena);
}

static void what_is_said_is_counted_and_kept(void **state)
{
    struct weir_store *store;
    struct wr_order_head head;
    (void)state;

    assert_int_equal(weir_store_new_memory(0, &store), WEIR_OK);
    assert_int_equal(wr_order_head_read(store, WR_LIT("t"), WR_LIT("s"), &head), WEIR_OK);
    assert_int_equal(head.count, 0);
    assert_int_equal(say(store, "s", "pin tool Read", &head), WEIR_OK);
    assert_int_equal(say(store, "s", "pin path a.c", &head), WEIR_OK);
    assert_int_equal(say(store, "s", "exact", &head), WEIR_OK);
    assert_true(head.count == 3 && head.is_exact);
    assert_int_equal(say(store, "s", "unpin tool Read", &head), WEIR_OK);
    assert_true(head.count == 4 && head.is_exact);
    assert_int_equal(say(store, "s", "resume", &head), WEIR_OK);
    assert_false(head.is_exact);
    expect_pins(store, "s", "pin path a.c\n");
    expect_pins(store, "another", "");
    weir_store_close(store);
}

/* Two processes: neither takes the other's number. */
static void two_who_speak_at_once_are_both_heard(void **state)
{
    struct weir_store *stores[2];
    struct wr_order_head head;
    struct wr_test_dir dir = wr_test_dir_fast();
    char line[64];
    (void)state;

    for (int i = 0; i < 2; i++)
        assert_int_equal(weir_store_open(dir.path, NULL, &stores[i], NULL, NULL), WEIR_OK);
    for (int i = 0; i < 6; i++) {
        (void)snprintf(line, sizeof(line), "pin path %d.c", i);
        assert_int_equal(say(stores[i % 2], "s", line, &head), WEIR_OK);
    }
    assert_int_equal(head.count, 6);
    expect_pins(stores[0], "s",
                "pin path 0.c\npin path 1.c\npin path 2.c\npin path 3.c\npin path 4.c\n"
                "pin path 5.c\n");
    for (int i = 0; i < 2; i++)
        weir_store_close(stores[i]);
    wr_test_dir_remove(&dir);
}

static void a_session_has_so_many_pins_at_most(void **state)
{
    struct weir_store *store;
    struct wr_order_head head;
    weir_status status = WEIR_OK;
    char line[64];
    int i = 0;
    (void)state;

    assert_int_equal(weir_store_new_memory(0, &store), WEIR_OK);
    for (; i <= WR_ORDER_PINS_MAX && !status; i++) {
        (void)snprintf(line, sizeof(line), "pin path %d.c", i);
        status = say(store, "s", line, &head);
    }
    assert_int_equal(status, WEIR_LIMIT);
    assert_int_equal(i, WR_ORDER_PINS_MAX + 1);
    assert_int_equal(say(store, "s", "unpin path 3.c", &head), WEIR_OK);
    assert_int_equal(say(store, "s", "pin path new.c", &head), WEIR_OK);
    weir_store_close(store);
}

/* A store in which somebody else says something between what is read and what is written. */
struct rivals {
    struct test_store store;
    struct weir_store_ops ops;
    int left; /* times */
};

static weir_status commit_behind_rivals(struct weir_store *store, struct weir_batch *batch,
                                        struct weir_err *err)
{
    struct rivals *r = (struct rivals *)store;
    struct wr_order_head head;
    if (r->left > 0) {
        r->left--;
        assert_int_equal(say(r->store.inner, "s", "now", &head), WEIR_OK);
    }
    return test_store_commit(store, batch, err);
}

/* A number that is taken is no failure, unless somebody is always faster. */
static void who_is_outrun_tries_again(void **state)
{
    enum { TRIES = 16 };
    (void)state;
    for (int times = TRIES - 2; times <= TRIES; times++) {
        struct rivals r = {.left = times};
        struct wr_order_head head = {0};
        test_store_open(&r.store, NULL);
        r.ops = *r.store.store.ops;
        r.ops.commit = commit_behind_rivals;
        r.store.store.ops = &r.ops;
        weir_status status = say(&r.store.store, "s", "pin tool Read", &head);
        assert_int_equal(status, times < TRIES ? WEIR_OK : WEIR_INVALID);
        if (!status)
            assert_int_equal(head.count, times + 1);
        expect_pins(r.store.inner, "s", status ? "" : "pin tool Read\n");
        test_store_close(&r.store.store);
    }
}

/* Several orders are said together or not at all. */
static void so_many_orders_are_said_at_once(void **state)
{
    struct wr_order orders[5];
    struct wr_order_head head;
    struct weir_store *store;
    struct weir_err err;
    (void)state;
    assert_int_equal(weir_store_new_memory(0, &store), WEIR_OK);
    for (size_t i = 0; i < WR_COUNT_OF(orders); i++)
        orders[i] = (struct wr_order){.kind = WR_ORDER_PIN,
                                      .pin = WR_PIN_TOOL,
                                      .name = wr_span_cut(WR_LIT("abcde"), i, i + 1),
                                      .of = {"", 0}};
    struct wr_order_said said = {.tenant = WR_LIT("t"), .session = WR_LIT("s"), .orders = orders};
    assert_int_equal(wr_order_say(store, &said, &head, &err), WEIR_INVALID);
    said.orders_count = 5;
    assert_int_equal(wr_order_say(store, &said, &head, &err), WEIR_INVALID);
    expect_pins(store, "s", "");
    said.orders_count = 4;
    assert_int_equal(wr_order_say(store, &said, &head, &err), WEIR_OK);
    assert_int_equal(head.count, 4);
    expect_pins(store, "s", "pin tool a\npin tool b\npin tool c\npin tool d\n");
    orders[0].name = WR_LIT("two\nlines"); /* would be two orders when it is read */
    said.orders_count = 1;
    assert_int_equal(wr_order_say(store, &said, &head, &err), WEIR_INVALID);
    weir_store_close(store);
}

/* ---- foretold ---- */

/* A plan against what then happens: the request that hears `now`, `undo` or `exact` is sent as the
 * plan before it said, to the token; and so is a session that rules and learning had words for. */

enum { LINES = 150, BODY_BYTES_MAX = 1 << 20, READS_MAX = 12 };

static const char yaml[] =
    "policies: {patient: {stages: [{stage: deepen, keep_turns: 1, over: 50, margin_pct: 100000, "
    "quiet_turns: 100000, gain_bp: 10000}]}, drops: {stages: [{stage: drop_groups}]}}";

struct talk {
    struct weir_engine *engine;
    struct weir_store *store;
    const char *tools, *model, *policy;
    uint32_t window_tokens; /* 0: the model's own */
    int reads;
    int loop_at;     /* the user says something more before this read; 0: nothing */
    bool by_command; /* the model runs a command instead of reading a file */
    int64_t now_ms;
    struct wr_arena arena; /* of the plan */
    struct wr_json plan;
    struct wr_buf plan_text, body;
    struct wr_record record;
};

static void new_engine(struct talk *t)
{
    struct weir_err err = {0};
    assert_int_equal(weir_engine_new(&t->engine, NULL), WEIR_OK);
    if (weir_engine_load_policies(t->engine, wr_span_of(yaml), &err))
        fail_msg("%s", err.text);
}

static void open_talk(struct talk *t, const char *tools)
{
    *t = (struct talk){
        .tools = tools, .model = "gpt-5", .policy = "patient", .now_ms = 1750000000000};
    new_engine(t);
    assert_int_equal(weir_store_new_memory(0, &t->store), WEIR_OK);
    wr_arena_init(&t->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&t->plan_text, WR_LEDGER_NOTE_BYTES_MAX);
    wr_buf_init(&t->body, BODY_BYTES_MAX);
}

static void close_talk(struct talk *t)
{
    wr_buf_release(&t->body);
    wr_buf_release(&t->plan_text);
    wr_arena_release(&t->arena);
    weir_store_close(t->store);
    weir_engine_free(t->engine);
}

static void write_body(const struct talk *t, struct wr_buf *out)
{
    wr_buf_init(out, BODY_BYTES_MAX);
    wr_buf_printf(out,
                  "{\"model\":\"%s\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
                  "\"weir_recall\"}}],\"messages\":[{\"role\":\"user\",\"content\":\"go\"}",
                  t->model);
    for (int i = 0; i < t->reads; i++) {
        if (i && i == t->loop_at)
            wr_buf_text(out, ",{\"role\":\"assistant\",\"content\":\"done\"},"
                             "{\"role\":\"user\",\"content\":\"and now?\"}");
        wr_buf_printf(out,
                      ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%d\","
                      "\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":"
                      "\"{\\\"%s%d%s\\\"}\"}}]},"
                      "{\"role\":\"tool\",\"tool_call_id\":\"c%d\",\"content\":\"",
                      i, t->by_command ? "Bash" : "Read",
                      t->by_command ? "command\\\":\\\"make f" : "file_path\\\":\\\"src/f", i,
                      t->by_command ? "" : ".c", i);
        for (int line = 0; line < LINES; line++)
            wr_buf_printf(out, "int f_%d_%03d; /* the waters are calm */\\n", i, line);
        wr_buf_text(out, "\"}");
    }
    wr_buf_text(out, "]}");
}

/* The next request, by a process that may be another one, and the plan behind it. */
static void ask(struct talk *t, bool is_another)
{
    struct weir_project_options options = {.policy_default = t->policy,
                                           .window_tokens = t->window_tokens,
                                           .store = t->store,
                                           .session = WR_LIT("s"),
                                           .tools = t->tools,
                                           .now_ms = t->now_ms += 1000};
    struct weir_projected projected;
    struct weir_request *request;
    struct wr_buf body;

    if (is_another) {
        weir_engine_free(t->engine);
        new_engine(t);
    }
    t->reads++;
    write_body(t, &body);
    assert_int_equal(weir_engine_request(t->engine, wr_buf_view(&body), NULL, &request, NULL),
                     WEIR_OK);
    wr_record_init(&t->record);
    assert_int_equal(wr_engine_project(t->engine, request, &options, &t->record, &projected, NULL),
                     WEIR_OK);
    wr_buf_reset(&t->body);
    wr_buf_append(&t->body, projected.body);
    t->record.changes = NULL; /* they live as long as the request */
    t->record.inserts = NULL;
    wr_buf_reset(&t->plan_text);
    wr_arena_reset(&t->arena);
    assert_int_equal(wr_engine_foretell(request, &t->plan_text), WEIR_OK);
    assert_int_equal(wr_json_parse(&t->plan, &t->arena, wr_buf_view(&t->plan_text), NULL, NULL),
                     WEIR_OK);
    weir_request_free(request);
    wr_buf_release(&body);
}

static void foretold_say(struct talk *t, enum wr_order_kind kind, const char *path)
{
    struct wr_order order = {
        .kind = kind, .pin = WR_PIN_PATH, .name = wr_span_of(path), .of = {"", 0}};
    struct wr_order_said said = {.tenant = WR_LIT(WEIR_TENANT_DEFAULT),
                                 .session = WR_LIT("s"),
                                 .orders = &order,
                                 .orders_count = 1,
                                 .now_ms = t->now_ms};
    struct wr_order_head head;
    assert_int_equal(wr_order_say(t->store, &said, &head, NULL), WEIR_OK);
}

static int64_t number_in(const struct talk *t, const char *part, const char *name)
{
    wr_json_id object = wr_json_find(&t->plan, 0, part);
    int64_t number = -1;
    if (wr_json_is(&t->plan, object, WR_JSON_OBJECT))
        (void)wr_json_i64(&t->plan, wr_json_find(&t->plan, object, name), &number);
    return number;
}

static bool is_whole(const struct talk *t, int read)
{
    char line[64];
    (void)snprintf(line, sizeof(line), "int f_%d_075;", read);
    return wr_span_find(wr_buf_view(&t->body), wr_span_of(line), 0) != SIZE_MAX;
}

/* What one more read adds to a prompt, as it is whole when it comes. */
static int64_t tokens_of_a_read(struct talk *t)
{
    int64_t before = (int64_t)t->record.tokens_before;
    ask(t, false);
    return (int64_t)t->record.tokens_before - before;
}

static void what_is_foretold_comes_true(void **state)
{
    static const struct {
        enum wr_order_kind order;
        const char *part, *reason;
    } rows[] = {{WR_ORDER_NOW, "next", "asked"},
                {WR_ORDER_UNDO, "undo", "undone"},
                {WR_ORDER_NOW, "next", "asked"},
                {WR_ORDER_EXACT, "exact", "policy"}};
    struct talk t;
    (void)state;
    open_talk(&t, NULL);
    for (int i = 0; i < 5; i++)
        ask(&t, false);
    assert_int_equal(number_in(&t, "undo", "tokens_after"), -1); /* nothing to take back */
    int64_t read = tokens_of_a_read(&t);
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        int64_t after = number_in(&t, rows[i].part, "tokens_after");
        int64_t again = number_in(&t, rows[i].part, "rewrites_tokens");
        int64_t cost = number_in(&t, rows[i].part, "cost_micro_usd");
        assert_true(after > 0 && again > 0 && cost > 0);
        /* What comes back is written too, ten times as dear as reading it. */
        int64_t back = number_in(&t, rows[i].part, "once_micro_usd") - cost;
        int64_t a_request = number_in(&t, rows[i].part, "a_request_micro_usd");
        if (a_request > 0 && (back < 10 * a_request - 10 || back > 10 * a_request + 10))
            fail_msg("%s: %lld for what comes back, %lld to read it", rows[i].part, (long long)back,
                     (long long)a_request);
        foretold_say(&t, rows[i].order, "");
        ask(&t, i % 2);
        assert_true(t.record.is_step);
        assert_string_equal(t.record.step_reason.ptr, rows[i].reason);
        if ((int64_t)t.record.tokens_after != after + read)
            fail_msg("%s: %lld tokens, not %lld", rows[i].part, (long long)t.record.tokens_after,
                     (long long)(after + read));
        /* A step that a stage takes says itself what it writes again; the provider counts its
         * cache in whole steps of 128. */
        int64_t told = (int64_t)t.record.step_rewrites_tokens;
        if (rows[i].order == WR_ORDER_NOW && (told < again || told > again + 2 * 128))
            fail_msg("%s: %lld are written again, not %lld", rows[i].part, (long long)told,
                     (long long)again);
    }
    close_talk(&t);
}

/* Of what the next step would take each piece has its name and its money; together that is the
 * step's. */
static void each_piece_has_its_money(void **state)
{
    int64_t sum = 0, count = 0, one;
    struct talk t;
    (void)state;
    open_talk(&t, NULL);
    for (int i = 0; i < 6; i++)
        ask(&t, false);
    wr_json_id next = wr_json_find(&t.plan, 0, "next");
    wr_json_id pieces = wr_json_find(&t.plan, next, "pieces");
    for (wr_json_id i = wr_json_first(&t.plan, pieces); i != WR_JSON_NONE;
         i = wr_json_next(&t.plan, pieces, i), count++) {
        assert_true(wr_json_text_is(&t.plan, wr_json_find(&t.plan, i, "tool"), "Read"));
        assert_true(wr_json_i64(&t.plan, wr_json_find(&t.plan, i, "a_request_micro_usd"), &one));
        assert_true(one < 0);
        sum += one;
    }
    int64_t all = number_in(&t, "next", "a_request_micro_usd");
    assert_true(count > 2);
    if (sum < all - count || sum > all + count) /* each is rounded by itself */
        fail_msg("%lld pieces: %lld, not %lld", (long long)count, (long long)sum, (long long)all);
    close_talk(&t);
}

/* A cache is written at its own price where the provider has one, at that of input elsewhere. */
static void what_is_written_again_has_its_price(void **state)
{
    static const struct {
        const char *model;
        int64_t writes_and_reads;      /* what writing costs more than reading, per 1,000 tokens */
    } rows[] = {{"gpt-5", 1250 - 125}, /* plain input */
                {"gpt-6.1-sol", 2500 - 100},        /* kept for half an hour */
                {"claude-fable-5-1", 12500 - 250}}; /* for five minutes */
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct talk t;
        open_talk(&t, NULL);
        t.model = rows[i].model;
        for (int n = 0; n < 6; n++)
            ask(&t, false);
        int64_t again = number_in(&t, "next", "rewrites_tokens");
        int64_t cost = number_in(&t, "next", "cost_micro_usd");
        int64_t expected = again * rows[i].writes_and_reads / 1000;
        assert_true(again > 1000);
        if (cost < expected - 2 || cost > expected + 2)
            fail_msg("%s: %lld tokens cost %lld, not %lld", rows[i].model, (long long)again,
                     (long long)cost, (long long)expected);
        close_talk(&t);
    }
}

/* What is out has its age and the price of one recall: reads of files without end, each of which
 * came one answer after the one before. */
static void each_piece_has_its_age(void **state)
{
    int64_t last = INT64_MAX, count = 0, answers, recall, back;
    struct talk t;
    (void)state;
    open_talk(&t, NULL);
    for (int i = 0; i < 6; i++)
        ask(&t, false);
    foretold_say(&t, WR_ORDER_NOW, "");
    ask(&t, false);
    wr_json_id out = wr_json_find(&t.plan, 0, "out");
    wr_json_id pieces = wr_json_find(&t.plan, out, "pieces");
    for (wr_json_id i = wr_json_first(&t.plan, pieces); i != WR_JSON_NONE;
         i = wr_json_next(&t.plan, pieces, i)) {
        if (!wr_json_i64(&t.plan, wr_json_find(&t.plan, i, "unused_answers"), &answers))
            continue; /* a summary has no one age */
        assert_true(wr_json_i64(&t.plan, wr_json_find(&t.plan, i, "recall_micro_usd"), &recall));
        assert_true(wr_json_i64(&t.plan, wr_json_find(&t.plan, i, "a_request_micro_usd"), &back));
        assert_true(recall > back);
        if (answers < 0 || (count && answers != last - 1))
            fail_msg("%lld answers after one of %lld", (long long)answers, (long long)last);
        last = answers;
        count++;
    }
    assert_true(count > 2);
    close_talk(&t);
}

/* Imagining changes nothing of what is imagined. */
static void a_plan_leaves_no_trace(void **state)
{
    struct wr_buf first;
    struct talk t;
    (void)state;
    open_talk(&t, NULL);
    for (int i = 0; i < 6; i++)
        ask(&t, false);
    wr_buf_init(&first, BODY_BYTES_MAX);
    wr_buf_append(&first, wr_buf_view(&t.body));
    t.reads--;
    ask(&t, true);
    assert_true(wr_span_eq(wr_buf_view(&first), wr_buf_view(&t.body)));
    assert_false(t.record.is_changed);
    wr_buf_release(&first);
    close_talk(&t);
}

/* What rules have for a session is heard with its first request and never again. */
static void words_are_heard_once(void **state)
{
    static const struct {
        const char *behaviour, *tools, *later;
        bool is_kept;
        uint64_t odds_pct;
    } rows[] = {{"nothing", "", "", false, 0},
                {"a path", "-path:src/f1.c", "-path:src/f1.c", true, 0},
                {"a path that weir.yaml has since then", "", "-path:src/f1.c", false, 0},
                {"a path that it has no longer", "-path:f1.c", "", true, 0},
                {"a tool", "-Read", "-Read", true, 0},
                {"a tool that it has since then", "", "-Read", false, 0},
                {"a tool that it has no longer", "-Read", "", true, 0},
                {"odds", "blind:300", "blind:140", false, 300},
                {"odds that came later", "", "blind:300", false, 0},
                {"odds beyond belief", "blind:9000", "", false, 0}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct talk t;
        open_talk(&t, rows[i].tools);
        ask(&t, false);
        t.tools = rows[i].later;
        for (int n = 0; n < 5; n++)
            ask(&t, n == 3);
        foretold_say(&t, WR_ORDER_NOW, "");
        ask(&t, true);
        if (is_whole(&t, 1) != rows[i].is_kept || t.record.blind_odds_pct != rows[i].odds_pct)
            fail_msg("%s: %s, %llu %%", rows[i].behaviour, is_whole(&t, 1) ? "whole" : "out",
                     (unsigned long long)t.record.blind_odds_pct);
        close_talk(&t);
    }
}

/* A rule's pin is taken down like any other, and stays down: it is not heard again. */
static void a_rule_is_unpinned_in_one_session(void **state)
{
    struct talk t;
    (void)state;
    open_talk(&t, "-path:src/f1.c");
    for (int i = 0; i < 6; i++)
        ask(&t, false);
    foretold_say(&t, WR_ORDER_UNPIN, "src/f1.c");
    ask(&t, true);
    foretold_say(&t, WR_ORDER_NOW, "");
    ask(&t, true);
    assert_true(t.record.is_step);
    assert_false(is_whole(&t, 1));
    close_talk(&t);
}

/* A request that is sent again hears what was said since, whatever is remembered of it. */
static void the_same_request_hears_too(void **state)
{
    struct talk t;
    (void)state;
    open_talk(&t, NULL);
    for (int i = 0; i < 6; i++)
        ask(&t, false);
    foretold_say(&t, WR_ORDER_NOW, "");
    t.reads--;
    ask(&t, false);
    assert_true(t.record.is_step);
    assert_false(is_whole(&t, 1));
    close_talk(&t);
}

static int64_t number_of(const struct talk *t, wr_json_id object, const char *name)
{
    int64_t number = -1;
    (void)wr_json_i64(&t->plan, wr_json_find(&t->plan, object, name), &number);
    return number;
}

static bool says(const struct talk *t, wr_json_id object, const char *name, const char *text)
{
    return wr_json_text_is(&t->plan, wr_json_find(&t->plan, object, name), text);
}

static bool is_true(const struct talk *t, wr_json_id object, const char *name)
{
    return wr_json_is(&t->plan, wr_json_find(&t->plan, object, name), WR_JSON_TRUE);
}

static wr_json_id list_in(const struct talk *t, const char *part, const char *name)
{
    return wr_json_find(&t->plan, wr_json_find(&t->plan, 0, part), name);
}

/* The head of a plan is the request's own: when, which model, under what, how far it was heard. */
static void a_plan_says_of_what_it_is(void **state)
{
    static const struct {
        const char *model;
        int64_t cold_after_s; /* as data/models.json has it; -1: it does not */
    } rows[] = {{"gpt-6.1-sol", 1800}, {"claude-fable-5-1", 300}, {"some-local-model", -1}};
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct talk t;
        open_talk(&t, NULL);
        t.model = rows[i].model;
        for (int n = 1; n <= 4; n++) {
            ask(&t, n == 3);
            assert_int_equal(number_of(&t, 0, "time_ms"), t.now_ms);
            assert_true(says(&t, 0, "model", rows[i].model));
            assert_true(says(&t, 0, "policy", "patient"));
            assert_int_equal(number_of(&t, 0, "turns"), n + 1);
            assert_int_equal(number_of(&t, 0, "orders_heard"), n > 2);
            assert_false(is_true(&t, 0, "pending"));
            assert_false(is_true(&t, 0, "bound"));
            assert_int_equal(number_of(&t, 0, "window_tokens"), t.record.budget.window_tokens);
            assert_int_equal(number_of(&t, 0, "cold_after_s"), rows[i].cold_after_s);
            assert_int_equal(number_in(&t, "out", "tokens_before"), t.record.tokens_before);
            assert_int_equal(number_in(&t, "out", "tokens_after"), t.record.tokens_after);
            if (n == 2)
                foretold_say(&t, WR_ORDER_PIN, "src/none.c");
        }
        close_talk(&t);
    }
}

/* A stub is the result of a read or a command: it has its place, its name, what it had and has, and
 * the handle that stands in the prompt. */
static void what_is_out_has_a_name(void **state)
{
    (void)state;
    for (int by_command = 0; by_command < 2; by_command++) {
        struct talk t;
        int64_t count = 0;
        open_talk(&t, NULL);
        t.by_command = by_command;
        for (int i = 0; i < 6; i++)
            ask(&t, false);
        foretold_say(&t, WR_ORDER_NOW, "");
        ask(&t, false);
        wr_json_id pieces = list_in(&t, "out", "pieces");
        for (wr_json_id i = wr_json_first(&t.plan, pieces); i != WR_JSON_NONE;
             i = wr_json_next(&t.plan, pieces, i), count++) {
            char name[32];
            /* Behind the tools and the user's words, a call and a result each. */
            int64_t read = (number_of(&t, i, "segment") - 3) / 2;
            weir_span handle = wr_json_inner(&t.plan, wr_json_find(&t.plan, i, "handle"));
            (void)snprintf(name, sizeof(name), by_command ? "make f%d" : "src/f%d.c", (int)read);
            assert_true(says(&t, i, by_command ? "name" : "path", name));
            assert_int_equal(wr_json_find(&t.plan, i, by_command ? "path" : "name"), WR_JSON_NONE);
            assert_true(says(&t, i, "tool", by_command ? "Bash" : "Read"));
            assert_true(says(&t, i, "kind", "tool_result"));
            assert_true(says(&t, i, "form", "cleared"));
            assert_true(says(&t, i, "stage", "deepen"));
            assert_true(handle.len && wr_span_has(wr_buf_view(&t.body), handle));
            assert_int_equal(number_of(&t, i, "turn"), read + 1);
            assert_true(number_of(&t, i, "tokens_left") < number_of(&t, i, "tokens"));
            assert_true(number_of(&t, i, "rewrites_tokens") > 0);
            assert_false(is_true(&t, i, "pinned"));
            assert_false(is_whole(&t, (int)read));
        }
        assert_true(count > 2);
        assert_int_equal(number_in(&t, "out", "pieces_count"), count);
        close_talk(&t);
    }
}

/* A loop that was folded holds all of its results, each by its name: the first and the last too. */
static void a_summary_names_what_it_holds(void **state)
{
    enum { LOOP = 4 };
    struct talk t;
    int64_t tokens = 0, summaries = 0, held = 0;
    (void)state;
    open_talk(&t, NULL);
    t.loop_at = LOOP;
    for (int i = 0; i < 7; i++)
        ask(&t, false);
    foretold_say(&t, WR_ORDER_NOW, "");
    ask(&t, false);
    wr_json_id pieces = list_in(&t, "out", "pieces");
    for (wr_json_id i = wr_json_first(&t.plan, pieces); i != WR_JSON_NONE;
         i = wr_json_next(&t.plan, pieces, i)) {
        wr_json_id holds = wr_json_find(&t.plan, i, "holds");
        if (holds == WR_JSON_NONE)
            continue;
        summaries++;
        assert_true(says(&t, i, "kind", "messages"));
        assert_true(says(&t, i, "form", "loop summarised"));
        assert_true(says(&t, i, "stage", "deepen"));
        assert_int_equal(number_of(&t, i, "segment"), 2);
        assert_true(number_of(&t, i, "last_segment") >= 2 * LOOP + 1);
        for (wr_json_id one = wr_json_first(&t.plan, holds); one != WR_JSON_NONE;
             one = wr_json_next(&t.plan, holds, one), held++) {
            char path[32];
            (void)snprintf(path, sizeof(path), "src/f%d.c", (int)held);
            assert_int_equal(number_of(&t, one, "segment"), 3 + 2 * held);
            assert_true(says(&t, one, "path", path));
            /* To write it costs ten times what it costs to read it. */
            int64_t write = number_of(&t, one, "write_micro_usd");
            int64_t read = number_of(&t, one, "a_request_micro_usd");
            assert_true(read > 0 && write >= 10 * read - 10 && write <= 10 * read + 10);
            tokens += number_of(&t, one, "tokens");
        }
        assert_true(number_of(&t, i, "tokens") >= tokens && tokens > 0);
    }
    assert_int_equal(summaries, 1);
    assert_int_equal(held, LOOP);
    close_talk(&t);
}

/* Calls and results that left for a notice are held from the first to the last. */
static void a_notice_names_what_it_holds(void **state)
{
    enum { READS = 6 };
    struct talk t;
    int64_t held = 0, last = -1;
    (void)state;
    open_talk(&t, NULL);
    t.policy = "drops";
    t.window_tokens = 8000; /* a read has some 1,700 */
    for (int i = 0; i < READS; i++)
        ask(&t, false);
    wr_json_id notice = wr_json_first(&t.plan, list_in(&t, "out", "pieces"));
    assert_true(says(&t, notice, "form", "summarised"));
    assert_true(says(&t, notice, "stage", "drop_groups"));
    assert_int_equal(number_of(&t, notice, "segment"), 2);
    wr_json_id holds = wr_json_find(&t.plan, notice, "holds");
    for (wr_json_id one = wr_json_first(&t.plan, holds); one != WR_JSON_NONE;
         one = wr_json_next(&t.plan, holds, one), held++) {
        last = number_of(&t, one, "segment");
        assert_int_equal(last, 3 + 2 * held);
        assert_false(is_whole(&t, (int)held));
    }
    assert_true(held > 1);
    assert_int_equal(last, number_of(&t, notice, "last_segment"));
    for (int i = (int)held; i < READS; i++)
        assert_true(is_whole(&t, i));
    close_talk(&t);
}

/* What is out and pinned costs nothing until it is asked for. */
static void a_pin_is_priced_and_comes_back(void **state)
{
    struct talk t;
    (void)state;
    open_talk(&t, NULL);
    for (int i = 0; i < 6; i++)
        ask(&t, false);
    foretold_say(&t, WR_ORDER_NOW, "");
    ask(&t, false);
    assert_false(is_whole(&t, 1));
    assert_true(number_in(&t, "out", "pieces_count") > 0);
    assert_int_equal(number_in(&t, "out", "pinned_count"), 0);
    foretold_say(&t, WR_ORDER_PIN, "src/f1.c");
    ask(&t, true);
    assert_false(t.record.is_step);
    assert_false(is_whole(&t, 1));
    assert_int_equal(number_in(&t, "out", "pinned_count"), 1);
    foretold_say(&t, WR_ORDER_BACK, "");
    ask(&t, true);
    assert_true(t.record.is_step);
    assert_string_equal(t.record.step_reason.ptr, "pinned");
    assert_true(is_whole(&t, 1));
    assert_false(is_whole(&t, 2));
    assert_int_equal(number_in(&t, "out", "pinned_count"), 0);
    close_talk(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_is_counted_and_kept),
        cmocka_unit_test(two_who_speak_at_once_are_both_heard),
        cmocka_unit_test(a_session_has_so_many_pins_at_most),
        cmocka_unit_test(who_is_outrun_tries_again),
        cmocka_unit_test(so_many_orders_are_said_at_once),
        cmocka_unit_test(what_is_foretold_comes_true),
        cmocka_unit_test(each_piece_has_its_money),
        cmocka_unit_test(what_is_written_again_has_its_price),
        cmocka_unit_test(each_piece_has_its_age),
        cmocka_unit_test(a_plan_leaves_no_trace),
        cmocka_unit_test(words_are_heard_once),
        cmocka_unit_test(the_same_request_hears_too),
        cmocka_unit_test(a_rule_is_unpinned_in_one_session),
        cmocka_unit_test(a_plan_says_of_what_it_is),
        cmocka_unit_test(what_is_out_has_a_name),
        cmocka_unit_test(a_summary_names_what_it_holds),
        cmocka_unit_test(a_notice_names_what_it_holds),
        cmocka_unit_test(a_pin_is_priced_and_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
