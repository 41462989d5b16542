#include "lab/import.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"
#include "lab/test_quoted.h"

/* ---- what was wrong with logs ---- */

/* What is said of a log that could not be used whole. */

#define ASKED "{\"role\":\"user\",\"content\":\"look\"}\n"
#define DONE  "{\"role\":\"assistant\",\"content\":\"done\"}\n"

static const struct {
    const char *behaviour, *log, *said; /* said NULL: nothing */
} cases[] = {
    {"of a whole log nothing is said", ASKED DONE, NULL},
    {"a line that breaks off is named", ASKED DONE "{\"role\":\"us",
     "lines that are no JSON object: 1 (line 3)"},
    {"of several the first", ASKED "x\n" DONE "y\n",
     "lines that are no JSON object: 2 (the first in line 2)"},
    {"lines before the log count", "\n\n" ASKED "x\n" DONE,
     "lines that are no JSON object: 1 (line 4)"},
    {"several kinds stand on one line",
     ASKED "{\"role\":\"wizard\",\"content\":\"abra\"}\n"
           "{\"role\":\"tool\",\"tool_call_id\":\"c9\",\"content\":\"x\"}\n" DONE,
     "messages of an unknown role: 1 (line 2); results without a call: 1"},
};

static void what_could_not_be_used_is_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_import import;
        struct wr_arena arena;
        struct wr_buf out;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
        print_message("%s\n", cases[i].behaviour);
        assert_int_equal(wr_import_read(&import, &arena, wr_span_of(cases[i].log), NULL), WEIR_OK);
        assert_int_equal(wr_import_is_troubled(&import), cases[i].said != NULL);
        wr_import_trouble_text(&import, &out);
        wr_buf_byte(&out, 0);
        assert_string_equal(out.bytes, cases[i].said ? cases[i].said : "");
        wr_buf_release(&out);
        wr_arena_release(&arena);
    }
}

static void troubles_are_a_list_sorted_by_path(void **state)
{
    static const char expected[] =
        "{\"troubles\":[\n{\"path\":\"a\",\"left_out\":false,\"why\":\"some\",\"notes\":"
        "{\"side_chain\":1,\"role_unknown\":2}},\n{\"path\":\"b\",\"left_out\":true,"
        "\"why\":\"no log\",\"notes\":{}}]}";
    struct wr_import import = {.agent = "chat"};
    struct wr_import_troubles troubles = {0};
    struct wr_json_writer w;
    struct wr_buf out;
    (void)state;
    import.notes[WR_IMPORT_ROLE_UNKNOWN] = 2;
    import.notes[WR_IMPORT_SIDE_CHAIN] = 1;
    wr_import_troubles_add(&troubles, "b", "no log", true, NULL);
    wr_import_troubles_add(&troubles, "a", "some", false, &import);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&w, &out);
    wr_json_write_object(&w);
    wr_import_troubles_json(&troubles, &w);
    wr_json_write_object_end(&w);
    wr_buf_byte(&out, 0);
    assert_int_equal(troubles.status, WEIR_OK);
    assert_string_equal(out.bytes, expected);
    wr_buf_release(&out);
    wr_import_troubles_free(&troubles);
}

/* ---- import ---- */

static const struct {
    const char *behaviour, *log;
    weir_status expected;
    size_t at_byte;
} refused[] = {
    {"nothing at all is no log", "", WEIR_INVALID, 0},
    {"text is no log", "hello\n", WEIR_INVALID, 0},
    {"other JSON is no log", "{'a':1}", WEIR_INVALID, 0},
    {"a list of numbers is no log", "[1,2,3]", WEIR_INVALID, 0},
    {"a document that breaks off is named by the byte", "{'info':{},\n'messages':[{'info'",
     WEIR_SYNTAX, 31},
    {"a session without an answer has no request",
     "{'role':'user','content':'go'}\n{'role':'user','content':'again'}", WEIR_NOTFOUND, 0},
    {"instructions alone are no request",
     "{'role':'system','content':'s'}\n{'role':'assistant','content':'x'}", WEIR_NOTFOUND, 0},
    {"a gzip stream that is none is broken", "\x1f\x8b and more", WEIR_SYNTAX, 0},
};

static void what_cannot_be_read_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(refused); i++) {
        struct wr_arena arena;
        struct wr_import import;
        struct weir_err err = {0};
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        weir_status status = wr_import_read(&import, &arena, quoted(&arena, refused[i].log), &err);
        bool at_ok =
            status != WEIR_SYNTAX || !refused[i].at_byte || err.at_byte == refused[i].at_byte;
        if (status != refused[i].expected || !err.text[0] || !at_ok)
            fail_msg("%s\n%s: %s, at byte %zu", refused[i].behaviour, weir_status_text(status),
                     err.text, err.at_byte);
        wr_arena_release(&arena);
    }
}

static const char plain[] = "{'role':'user','content':'a'}\n{'role':'assistant','content':'b'}\n";

static void times_models_and_tools_are_the_logs(void **state)
{
    static const char log[] =
        "{'type':'user','uuid':'a','timestamp':'2026-01-01T00:00:00Z','message':{'content':'go'}}\n"
        "{'type':'assistant','uuid':'b','timestamp':'2026-01-01T00:00:10Z','message':{'id':'m1',"
        "'model':'claude-x','content':[{'type':'tool_use','id':'t1','name':'Read','input':{}}]}}\n"
        "{'type':'user','uuid':'c','timestamp':'2026-01-01T00:00:12Z','message':{'content':[{"
        "'type':'tool_result','tool_use_id':'t1','content':'x'}]}}\n"
        "{'type':'assistant','uuid':'d','timestamp':'2026-01-01T00:00:20Z','message':{'id':'m2',"
        "'model':'claude-x','content':[{'type':'text','text':'end'}]}}\n";
    struct wr_arena arena;
    struct wr_import import;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_import_read(&import, &arena, quoted(&arena, log), NULL), WEIR_OK);
    const struct wr_session *s = &import.sessions[0];
    assert_true(s->has_times);
    assert_true(wr_span_is(s->model, "claude-x"));
    assert_true(wr_span_is(s->agent, "claude-code"));
    assert_int_equal(s->models_count, 1);
    assert_int_equal(s->tools_count, 1);
    assert_true(wr_span_is(s->tools[0], "Read"));
    assert_int_equal(wr_session_view(s, 0).sent_ms, INT64_C(1767225600000));
    assert_int_equal(wr_session_view(s, 1).sent_ms, INT64_C(1767225612000));
    assert_int_equal(wr_session_view(s, 1).shared_count, 1);
    assert_int_equal(wr_import_read(&import, &arena, quoted(&arena, plain), NULL), WEIR_OK);
    assert_false(import.sessions[0].has_times);
    assert_int_equal(wr_session_view(&import.sessions[0], 0).sent_ms, WR_SESSION_NO_TIME);
    wr_arena_release(&arena);
}

static size_t pack(weir_span text, unsigned char *out, size_t out_bytes)
{
    z_stream z = {.next_in = (z_const Bytef *)text.ptr, .avail_in = (uInt)text.len};
    z.next_out = out;
    z.avail_out = (uInt)out_bytes;
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&z);
    return out_bytes - z.avail_out;
}

static void gzip_is_undone(void **state)
{
    unsigned char packed[512];
    struct wr_arena arena;
    struct wr_import import;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    size_t first = pack(quoted(&arena, "{'role':'user','content':'a'}\n"), packed, sizeof(packed));
    size_t both = first + pack(quoted(&arena, "{'role':'assistant','content':'b'}"), packed + first,
                               sizeof(packed) - first);
    weir_span log = {(const char *)packed, both};
    assert_int_equal(wr_import_read(&import, &arena, log, NULL), WEIR_OK);
    assert_int_equal(import.sessions[0].messages_count, 2);
    log.len -= 9;
    assert_int_equal(wr_import_read(&import, &arena, log, NULL), WEIR_SYNTAX);
    wr_arena_release(&arena);
}

static void a_line_over_the_limit_is_skipped_and_said(void **state)
{
    struct wr_arena arena;
    struct wr_import import;
    struct wr_buf log;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&log, (size_t)WR_IMPORT_LINE_BYTES_MAX * 2);
    wr_buf_append(&log, quoted(&arena, "{'role':'user','content':'"));
    wr_buf_reserve(&log, WR_IMPORT_LINE_BYTES_MAX);
    assert_int_equal(log.status, WEIR_OK);
    memset(log.bytes + log.len, 'x', WR_IMPORT_LINE_BYTES_MAX);
    log.len += WR_IMPORT_LINE_BYTES_MAX;
    wr_buf_append(&log, quoted(&arena, "'}\n"));
    wr_buf_append(&log, quoted(&arena, plain));
    assert_int_equal(wr_import_read(&import, &arena, wr_buf_view(&log), NULL), WEIR_OK);
    assert_int_equal(import.notes[WR_IMPORT_LINE_LONG], 1);
    assert_int_equal(import.sessions[0].messages_count, 2);
    wr_buf_release(&log);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_could_not_be_used_is_said),
        cmocka_unit_test(troubles_are_a_list_sorted_by_path),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(times_models_and_tools_are_the_logs),
        cmocka_unit_test(gzip_is_undone),
        cmocka_unit_test(a_line_over_the_limit_is_skipped_and_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
