/* Markers in what comes in: those of this tenant's store are left alone, look-alikes are text. */
#include "engine/cache_marker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/test_world.h"

enum { LINES = 400, LINES_MANY = 5000, WINDOW_TOKENS = 20000 };

#define FAKE "wr_0123456789abcdef0123"

/* A session of one call after the other; the first result ends with the marker of `handle`. */
static void write_talk(struct wr_buf *out, const char *handle, uint32_t lines, uint32_t results)
{
    wr_buf_init(out, TEST_BODY_BYTES_MAX);
    wr_buf_text(out,
                "{\"model\":\"gpt-5\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
                "\"weir_recall\"}}],\"messages\":[{\"role\":\"user\",\"content\":\"go\"}");
    for (uint32_t i = 0; i < results; i++) {
        wr_buf_printf(
            out,
            ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%u\","
            "\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"{}\"}}]},"
            "{\"role\":\"tool\",\"tool_call_id\":\"c%u\",\"content\":\"",
            i, i);
        for (uint32_t line = 0; line < (i ? LINES : lines); line++)
            wr_buf_printf(out, "result %u line %u: the waters here are calm\\n", i, line);
        if (!i && handle)
            wr_buf_printf(out, "[weir %s: ~9 tokens left out]", handle);
        wr_buf_text(out, "\"}");
    }
    wr_buf_text(out, "]}");
}

struct sent {
    struct wr_buf body;
    bool is_step;
};

static struct sent send_lines(struct world *w, const char *policy, const char *handle,
                              uint32_t lines, uint32_t results)
{
    struct weir_project_options options = {.policy = policy,
                                           .window_tokens = WINDOW_TOKENS,
                                           .store = &w->store.store,
                                           .session = WR_LIT("s"),
                                           .now_ms = NOON_MS + results * SECOND_MS};
    struct weir_projected p;
    struct weir_request *request;
    struct weir_err err = {0};
    struct wr_buf body;
    struct sent sent = {.is_step = false};

    write_talk(&body, handle, lines, results);
    if (weir_engine_request(w->engine, wr_buf_view(&body), NULL, &request, &err) ||
        weir_engine_project(w->engine, request, &options, &p, &err))
        fail_msg("%s", err.text);
    wr_buf_init(&sent.body, TEST_BODY_BYTES_MAX);
    wr_buf_append(&sent.body, p.body);
    sent.is_step = p.is_step;
    weir_request_free(request);
    wr_buf_release(&body);
    return sent;
}

static struct sent send_talk(struct world *w, const char *policy, const char *handle,
                             uint32_t results)
{
    return send_lines(w, policy, handle, LINES, results);
}

static bool has_first_whole(const struct sent *sent)
{
    return wr_span_find(wr_buf_view(&sent->body), WR_LIT("result 0 line 200: "), 0) != SIZE_MAX;
}

/* Whether what a request repeats is as it was: both begin alike up to the shorter one's last call.
 */
static bool begins_alike(const struct sent *a, const struct sent *b)
{
    struct wr_arena arena;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    bool ok =
        fold_laws_extends(wr_buf_view(&a->body), wr_buf_view(&b->body), WEIR_DIALECT_CHAT, &arena);
    wr_arena_release(&arena);
    return ok;
}

static void put_text(struct world *w, const char *tenant, weir_span text, char name[])
{
    struct weir_artifact artifact = {.text = text};
    struct weir_batch batch = {.tenant = wr_span_of(tenant),
                               .session = WR_LIT("other"),
                               .used_ms = NOON_MS,
                               .artifacts = &artifact,
                               .artifacts_count = 1};
    weir_handle handle;
    assert_int_equal(weir_store_commit(w->store.inner, &batch, NULL), WEIR_OK);
    assert_int_equal(weir_handle_of(text, &handle), WEIR_OK);
    weir_handle_format(handle, name);
}

static void a_look_alike_keeps_nothing_whole(void **state)
{
    struct world *w = open_world(state);
    struct sent fake = send_talk(w, "cut", FAKE, 1);
    assert_false(has_first_whole(&fake));
    assert_int_equal(w->store.marks[WEIR_MARK_LOOK_ALIKE], 1);
    wr_buf_release(&fake.body);
    close_world(w);
}

static void nothing_is_put_down_where_there_is_no_marker(void **state)
{
    struct world *w = open_world(state);
    struct sent plain = send_talk(w, "cut", NULL, 1);
    assert_false(has_first_whole(&plain));
    assert_int_equal(w->store.marks[WEIR_MARK_LOOK_ALIKE], 0);
    wr_buf_release(&plain.body);
    close_world(w);
}

static void what_came_with_a_marker_of_ours_stays(void **state)
{
    struct world *w = open_world(state);
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    put_text(w, "local", WR_LIT("an original"), name);
    struct sent ours = send_talk(w, "cut", name, 1);
    assert_true(has_first_whole(&ours));
    wr_buf_release(&ours.body);
    close_world(w);
}

static void a_marker_of_another_tenant_is_text(void **state)
{
    struct world *w = open_world(state);
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    put_text(w, "somebody else", WR_LIT("an original"), name);
    struct sent theirs = send_talk(w, "cut", name, 1);
    assert_false(has_first_whole(&theirs));
    wr_buf_release(&theirs.body);
    close_world(w);
}

/* Law L3: with the fold remembered, and by another process that has only the marks. */
static void a_look_alike_stays_text_when_the_store_learns_its_handle(void **state)
{
    for (int restarts = 0; restarts < 2; restarts++) {
        struct world *w = open_world(state);
        char name[WEIR_HANDLE_TEXT_BYTES + 1];
        weir_handle handle;
        assert_int_equal(weir_handle_of(WR_LIT("an original"), &handle), WEIR_OK);
        weir_handle_format(handle, name);
        struct sent before = send_talk(w, "cut", name, 1);
        put_text(w, "local", WR_LIT("an original"), name);
        if (restarts)
            restart(w);
        struct sent after = send_talk(w, "cut", name, 2);
        assert_false(has_first_whole(&after));
        assert_false(after.is_step);
        assert_true(begins_alike(&before, &after));
        wr_buf_release(&before.body);
        wr_buf_release(&after.body);
        close_world(w);
    }
}

/* A handle that is ours quoted behind a text that is not: the last resort takes it. */
static void a_marker_does_not_keep_what_would_be_refused(void **state)
{
    struct world *w = open_world(state);
    char name[WEIR_HANDLE_TEXT_BYTES + 1];
    put_text(w, "local", WR_LIT("an original"), name);
    struct sent fits = send_lines(w, "auto", name, LINES, 1);
    struct sent is_over = send_lines(w, "auto", name, LINES_MANY, 1);
    assert_true(has_first_whole(&fits));
    assert_true(is_over.body.len < fits.body.len * 4);
    wr_buf_release(&fits.body);
    wr_buf_release(&is_over.body);
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_look_alike_keeps_nothing_whole),
        BOTH(nothing_is_put_down_where_there_is_no_marker),
        BOTH(what_came_with_a_marker_of_ours_stays),
        BOTH(a_marker_of_another_tenant_is_text),
        BOTH(a_look_alike_stays_text_when_the_store_learns_its_handle),
        BOTH(a_marker_does_not_keep_what_would_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
