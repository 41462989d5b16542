/* What may be said of a session, what it costs, and what it waits for: by its plan, which is
 * written down here. */
#include "ledger/steer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_dir.h"
#include "weir/weir.h"

#define LOCAL      WR_LIT("local")
#define SESSION    WR_LIT("codex:abc")
#define HANDLE     "wr_00000000000000000001"
#define IN_SUMMARY "wr_00000000000000000002"

static const char plan[] =
    "{\"orders_heard\":0,\"pending\":false,\"bound\":%s,"
    "\"out\":{\"pieces\":[{\"segment\":3,\"tool\":\"Read\",\"path\":\"src/"
    "a.c\",\"handle\":\"" HANDLE "\",\"rewrites_tokens\":900,\"cost_micro_usd\":90,\"once_micro_"
    "usd\":190,\"a_request_micro_usd\":9},"
    "{\"segment\":9,\"last_segment\":20,\"kind\":\"messages\",\"handle\":\"" IN_SUMMARY
    "\",\"rewrites_tokens\":500,\"cost_micro_usd\":50,\"once_micro_usd\":450,\"a_request_micro_"
    "usd\":40,"
    "\"holds\":[{\"segment\":11,\"tool\":\"Bash\",\"path\":\"b.c\",\"write_micro_usd\":41,\"a_"
    "request_micro_usd\":4},"
    "{\"segment\":12,\"tool\":\"Read\",\"path\":\"src/"
    "a.c\",\"write_micro_usd\":31,\"a_request_micro_usd\":3}]}]},"
    "\"next\":{\"rewrites_tokens\":300,\"cost_micro_usd\":30,\"a_request_micro_usd\":-7},"
    "\"undo\":null,\"exact\":{\"rewrites_tokens\":900,\"cost_micro_usd\":90}}";

struct fixture {
    struct wr_test_dir dir;
    struct wr_ledger *ledger;
    struct weir_store *store;
    struct wr_arena arena;
    struct weir_err err;
};

static void keep_plan(struct fixture *f, const char *is_bound)
{
    char text[2048];
    (void)snprintf(text, sizeof(text), plan, is_bound);
    struct wr_ledger_row row = {.time_ms = 1,
                                .tenant = LOCAL,
                                .session = SESSION,
                                .model = WR_LIT("gpt-5"),
                                .line = WR_LIT("{}")};
    struct wr_ledger_note note = {
        .tenant = LOCAL, .session = SESSION, .time_ms = 1, .data = wr_span_of(text)};
    wr_plan_key(SESSION, note.key);
    assert_int_equal(wr_ledger_keep(f->ledger, &row, 1, &note, 1, NULL), WEIR_OK);
}

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){.dir = wr_test_dir_new()};
    assert_int_equal(wr_ledger_open(f->dir.path, NULL, &f->ledger, NULL, NULL), WEIR_OK);
    assert_int_equal(weir_store_open(f->dir.path, NULL, &f->store, NULL, NULL), WEIR_OK);
    wr_arena_init(&f->arena, WR_ARENA_BYTES_MAX);
    keep_plan(f, "false");
}

static void close_fixture(struct fixture *f)
{
    wr_arena_release(&f->arena);
    weir_store_close(f->store);
    wr_ledger_close(f->ledger);
    wr_test_dir_remove(&f->dir);
}

static weir_status say(struct fixture *f, struct wr_steer_request r, struct wr_steered *d)
{
    r.tenant = LOCAL;
    r.now_ms = 2;
    if (!r.session.len && !r.is_of_all)
        r.session = WR_LIT("abc");
    return wr_steer(f->ledger, f->store, &r, &f->arena, d, &f->err);
}

/* ---- pins ---- */

static const struct {
    const char *behaviour, *word;
    const char *line;     /* that is said; NULL: nothing can be */
    int64_t tokens, cost; /* of what is out of it */
    int64_t once, a_request;
} pins[] = {
    {"a path has the price of all that it names, the dearest way", "src/a.c", "pin path src/a.c",
     900, 90, 221, 12},
    {"a piece by its number is its handle, and the path that was meant", "3",
     "pin handle " HANDLE " src/a.c", 900, 90, 190, 9},
    {"with the sign too", "#3", "pin handle " HANDLE " src/a.c", 900, 90, 190, 9},
    {"inside a summary it is the path", "11", "pin path b.c", 500, 50, 91, 4},
    {"a summary as a whole", IN_SUMMARY, "pin handle " IN_SUMMARY, 500, 50, 450, 40},
    {"what is not out costs nothing", "src/z.c", "pin path src/z.c", 0, 0, 0, 0},
    {"a number that nobody lists", "77", NULL, 0, 0, 0, 0},
};

static void pins_are_named_and_priced(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(pins); i++) {
        struct wr_steer_request r = {.verb = WR_STEER_PIN, .word = wr_span_of(pins[i].word)};
        struct wr_steered d;
        struct fixture f;
        open_fixture(&f);
        weir_status status = say(&f, r, &d);
        assert_int_equal(status, pins[i].line ? WEIR_OK : WEIR_NOTFOUND);
        if (pins[i].line) {
            weir_span rest = d.steering.pins, line = {"", 0};
            (void)wr_span_line(&rest, &line);
            bool is_it = d.is_said && wr_span_is(line, pins[i].line) &&
                         d.price.is_known == (pins[i].tokens > 0) &&
                         d.price.rewrites_tokens == pins[i].tokens &&
                         d.price.cost_micro_usd == pins[i].cost &&
                         d.price.once_micro_usd == pins[i].once &&
                         d.price.a_request_micro_usd == pins[i].a_request;
            if (!is_it)
                fail_msg("%s: '%.*s', %lld tokens, %lld, %lld, %lld", pins[i].behaviour,
                         (int)line.len, line.ptr, (long long)d.price.rewrites_tokens,
                         (long long)d.price.cost_micro_usd, (long long)d.price.once_micro_usd,
                         (long long)d.price.a_request_micro_usd);
        }
        close_fixture(&f);
    }
}

/* What comes back at once has a price, which wants to be known. */
static void now_wants_to_be_confirmed(void **state)
{
    struct wr_steer_request r = {
        .verb = WR_STEER_PIN, .word = WR_LIT("src/a.c"), .brings_back = true};
    struct wr_steered d;
    struct fixture f;
    (void)state;
    open_fixture(&f);
    assert_int_equal(say(&f, r, &d), WEIR_OK);
    assert_false(d.is_said);
    assert_int_equal(d.steering.said.count, 0);
    r.is_confirmed = true;
    assert_int_equal(say(&f, r, &d), WEIR_OK);
    assert_true(d.is_said);
    assert_int_equal(d.steering.said.count, 2); /* the pin, and `back` */
    assert_int_equal(wr_steering_waits(&d.steering), WR_WAIT_REQUEST);
    close_fixture(&f);
}

/* ---- the others ---- */

static const struct {
    const char *behaviour;
    struct wr_steer_request request;
    weir_status status;
    bool is_said;
    int64_t cost;
} verbs[] = {
    {"a step says its price first", {.verb = WR_STEER_NOW}, WEIR_OK, false, 30},
    {"and is said when that is confirmed",
     {.verb = WR_STEER_NOW, .is_confirmed = true},
     WEIR_OK,
     true,
     30},
    {"where no step was taken none is undone", {.verb = WR_STEER_UNDO}, WEIR_NOTFOUND, false, 0},
    {"exact says its price first", {.verb = WR_STEER_EXACT}, WEIR_OK, false, 90},
    {"pause does not ask", {.verb = WR_STEER_PAUSE}, WEIR_OK, true, 0},
    {"nor for all sessions", {.verb = WR_STEER_PAUSE, .is_of_all = true}, WEIR_OK, true, 0},
    {"a pin is of one session",
     {.verb = WR_STEER_PIN, .is_of_all = true, .path = {"a", 1}},
     WEIR_INVALID,
     false,
     0},
    {"and of one thing",
     {.verb = WR_STEER_PIN, .path = {"a", 1}, .tool = {"b", 1}},
     WEIR_INVALID,
     false,
     0},
    {"what is not pinned is not unpinned",
     {.verb = WR_STEER_UNPIN, .path = {"a", 1}},
     WEIR_NOTFOUND,
     false,
     0},
    {"of a session that there is",
     {.verb = WR_STEER_PAUSE, .session = {"nobody", 6}},
     WEIR_NOTFOUND,
     false,
     0},
};

static void verbs_do_what_they_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(verbs); i++) {
        struct wr_steered d = {.is_said = false};
        struct fixture f;
        open_fixture(&f);
        weir_status status = say(&f, verbs[i].request, &d);
        if (status != verbs[i].status || d.is_said != verbs[i].is_said ||
            d.price.cost_micro_usd != verbs[i].cost)
            fail_msg("%s: %d, said %d, %lld", verbs[i].behaviour, (int)status, d.is_said,
                     (long long)d.price.cost_micro_usd);
        close_fixture(&f);
    }
}

static void bound_thinking_is_waited_for(void **state)
{
    struct wr_steer_request now = {.verb = WR_STEER_NOW, .is_confirmed = true};
    struct wr_json_writer w;
    struct wr_steered d;
    struct wr_buf out;
    struct fixture f;
    (void)state;
    open_fixture(&f);
    assert_int_equal(say(&f, (struct wr_steer_request){.verb = WR_STEER_SHOW}, &d), WEIR_OK);
    assert_int_equal(wr_steering_waits(&d.steering), WR_WAIT_NOT);
    keep_plan(&f, "true");
    assert_int_equal(say(&f, now, &d), WEIR_OK);
    assert_int_equal(wr_steering_waits(&d.steering), WR_WAIT_USER);
    wr_buf_init(&out, 1 << 16);
    wr_json_write_init(&w, &out);
    wr_steered_write(&d, &w);
    wr_buf_byte(&out, '\0');
    assert_non_null(strstr(out.bytes, "\"waits_for\":\"user\""));
    wr_buf_release(&out);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pins_are_named_and_priced), cmocka_unit_test(now_wants_to_be_confirmed),
        cmocka_unit_test(verbs_do_what_they_say), cmocka_unit_test(bound_thinking_is_waited_for)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
