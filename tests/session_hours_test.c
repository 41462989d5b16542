/* A session of a working day: 8 hours by a clock that is moved, a turn every 7.2 seconds, through
 * the calls of the sidecar (each opens the session and closes it, as a server does).
 *
 * With WEIR_LONG it is all 4,000 turns, and what they cost at the end is compared with what they
 * cost at the beginning; else a tenth, and nothing of time is asserted. */
#include <sys/resource.h>

#include "base/limits.h"
#include "json/json.h"
#include "proxy/sidecar.h"
#include "tests/test_agent.h"

enum {
    TURNS_LONG = 4000,
    TURNS_SHORT = 400,
    TURN_MS = 7200, /* 4,000 of them are 8 hours */
    TURNS_A_MESSAGE = 40,
    WINDOW_TOKENS = 16000,
    RESULT_LINES = 40,
    /* Over the whole day, behind its first tenth. What left is summarised in parts of 16 MB, and
     * each is held a few times over: as lines, as text, as facts. */
    GROWTH_KB_MAX = 128 * 1024,
    SLOWER_MAX = 4,
};

/* The sanitizer keeps what was freed for a while, so its memory says nothing here. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEEPS_FREED true
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(KEEPS_FREED)
#define KEEPS_FREED true
#endif
#ifndef KEEPS_FREED
#define KEEPS_FREED false
#endif

struct day {
    struct test_agent files;
    struct wr_sidecar sidecar;
    struct wr_buf body, answer;
    int64_t now_ms;
};

#define AT "/weir/v1/sessions"

static int ask(struct day *d, const char *method, const char *path)
{
    struct wr_sidecar_call call = {.tenant = WR_LIT("local"),
                                   .method = wr_span_of(method),
                                   .path = wr_span_of(path),
                                   .body = wr_buf_view(&d->body),
                                   .now_ms = d->now_ms};

    wr_buf_reset(&d->answer);
    int status = wr_sidecar_answer(&d->sidecar, &call, &d->answer);
    wr_buf_reset(&d->body);
    return status;
}

static void expect(struct day *d, const char *method, const char *path, int wanted, int turn)
{
    int status = ask(d, method, path);
    if (status != wanted)
        fail_msg("turn %d, %s: %d %.300s", turn, path, status, d->answer.bytes);
}

static uint64_t number_of(const struct day *d, const char *key)
{
    struct wr_arena arena;
    struct wr_json doc;
    int64_t number = 0;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&d->answer), NULL, NULL), WEIR_OK);
    assert_true(wr_json_i64(&doc, wr_json_find(&doc, 0, key), &number));
    wr_arena_release(&arena);
    return (uint64_t)number;
}

static void put_result(struct day *d, int turn)
{
    wr_buf_printf(&d->body,
                  "{\"events\":[{\"kind\":\"assistant\",\"calls\":[{\"id\":\"c%d\",\"name\":"
                  "\"read_file\",\"arguments\":\"{\\\"path\\\":\\\"src/f%d.c\\\"}\"}]},"
                  "{\"kind\":\"result\",\"call_id\":\"c%d\",\"text\":\"",
                  turn, turn % 300, turn);
    for (int i = 0; i < RESULT_LINES; i++)
        wr_buf_printf(&d->body, "int value_%d_%d = %d; /* of file %d */\\n", turn, i, turn * i,
                      turn % 300);
    wr_buf_text(&d->body, "\"}]}");
}

static void take_turn(struct day *d, int turn)
{
    d->now_ms += TURN_MS;
    if (turn % TURNS_A_MESSAGE == 0) {
        wr_buf_printf(&d->body, "{\"events\":[{\"kind\":\"user\",\"text\":\"Task %d.\"}]}", turn);
        expect(d, "POST", AT "/day/events", 200, turn);
    }
    wr_buf_text(&d->body, "{\"dialect\":\"chat\"}");
    expect(d, "POST", AT "/day/render", 200, turn);
    uint64_t sent = number_of(d, "tokens_after");
    if (sent > WINDOW_TOKENS)
        fail_msg("turn %d: %llu tokens were sent", turn, (unsigned long long)sent);
    if (turn % TURNS_A_MESSAGE == TURNS_A_MESSAGE - 1)
        wr_buf_text(&d->body, "{\"events\":[{\"kind\":\"assistant\",\"text\":\"Done.\"}]}");
    else
        put_result(d, turn);
    expect(d, "POST", AT "/day/events", 200, turn);
    if (turn % TURNS_A_MESSAGE != 0)
        return;
    expect(d, "GET", AT "/day/context", 200, turn); /* what was sent, and what came since */
    uint64_t total = number_of(d, "total_tokens");
    assert_true(total >= sent && total < sent + 2 * WINDOW_TOKENS / 10);
}

static double used_seconds(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
           (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static long largest_kb(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static weir_status count_results(void *user, const struct weir_event *event)
{
    *(int *)user += !strcmp(event->kind, "result");
    return WEIR_OK;
}

static void begin_day(struct day *d)
{
    *d = (struct day){.now_ms = 1790000000000};
    test_agent_init(&d->files);
    weir_store_close(d->files.store);
    d->files.store = NULL;
    assert_int_equal(weir_store_open(d->files.root, NULL, &d->sidecar.store, NULL, &d->files.err),
                     WEIR_OK);
    assert_int_equal(weir_session_host_new(&d->sidecar.host, &d->files.err), WEIR_OK);
    d->sidecar.dir = d->files.root;
    wr_buf_init(&d->body, WR_SIDECAR_BODY_BYTES_MAX);
    wr_buf_init(&d->answer, WR_SIDECAR_ANSWER_BYTES_MAX);
    wr_buf_printf(
        &d->body,
        "{\"id\":\"day\",\"model\":\"gpt-5\",\"window_tokens\":%d,\"system\":\"You read.\","
        "\"tools\":[{\"name\":\"read_file\"},{\"name\":\"weir_recall\"}]}",
        WINDOW_TOKENS);
    expect(d, "POST", AT, 201, 0);
}

static void end_day(struct day *d)
{
    weir_session_host_free(d->sidecar.host);
    weir_store_close(d->sidecar.store);
    wr_buf_release(&d->body);
    wr_buf_release(&d->answer);
    test_agent_release(&d->files);
}

static void a_session_of_eight_hours(void **state)
{
    bool is_long = getenv("WEIR_LONG") != NULL;
    int turns = is_long ? TURNS_LONG : TURNS_SHORT, results = 0;
    double first_s = 0, last_s = 0;
    long first_kb = 0;
    struct day d;
    char path[300];
    (void)state;

    begin_day(&d);
    for (int turn = 0; turn < turns; turn++) {
        double before = used_seconds();
        take_turn(&d, turn);
        first_s += turn >= turns / 10 && turn < turns / 5 ? used_seconds() - before : 0;
        last_s += turn >= turns - turns / 10 ? used_seconds() - before : 0;
        if (turn == turns / 10)
            first_kb = largest_kb();
    }
    (void)snprintf(path, sizeof(path), "%s/sessions/day", d.files.root);
    assert_int_equal(weir_journal_read(path, count_results, &results, &d.files.err), WEIR_OK);
    assert_int_equal(results, turns - turns / TURNS_A_MESSAGE); /* all is there, whole */
    long growth_kb = largest_kb() - first_kb;
    printf("note: %d turns, %.1f hours; CPU of a turn %.1f ms at first, %.1f ms at the end; "
           "%ld KB at first, %ld KB more at the end\n",
           turns, (double)turns * TURN_MS / 3600000, first_s * 10000 / turns,
           last_s * 10000 / turns, first_kb, growth_kb);
    assert_true(KEEPS_FREED || growth_kb < GROWTH_KB_MAX);
    if (is_long)
        assert_true(last_s < first_s * SLOWER_MAX);
    end_day(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_session_of_eight_hours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
