#include "json/write.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/json.h"

static void assert_wrote(struct wr_buf *buf, const char *expected)
{
    weir_span got = wr_buf_view(buf);
    assert_int_equal(wr_buf_status(buf), WEIR_OK);
    if (!wr_span_is(got, expected))
        fail_msg("wrote %.*s, should be %s", (int)got.len, got.ptr, expected);
    wr_buf_reset(buf);
}

static void write_everything(struct wr_json_writer *w)
{
    wr_json_write_object(w);
    wr_json_write_key(w, "a\"b");
    wr_json_write_array(w);
    wr_json_write_text(w, WR_LIT("x\ny"));
    wr_json_write_i64(w, -5);
    wr_json_write_newline(w);
    wr_json_write_bool(w, true);
    wr_json_write_bool(w, false);
    wr_json_write_null(w);
    wr_json_write_object(w);
    wr_json_write_object_end(w);
    wr_json_write_array(w);
    wr_json_write_array_end(w);
    wr_json_write_array_end(w);
    wr_json_write_key(w, "c");
    wr_json_write_fixed(w, 1.5, 2);
    wr_json_write_object_end(w);
}

static void commas_and_nesting_are_right(void **state)
{
    struct wr_json_writer w;
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 1000);
    wr_json_write_init(&w, &buf);
    write_everything(&w);
    assert_wrote(&buf, "{\"a\\\"b\":[\"x\\ny\",-5,\ntrue,false,null,{},[]],\"c\":1.50}");
    wr_buf_release(&buf);
}

static void a_root_may_be_any_value(void **state)
{
    struct wr_json_writer w;
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 1000);
    wr_json_write_init(&w, &buf);
    wr_json_write_text(&w, (weir_span){NULL, 0});
    assert_wrote(&buf, "\"\"");
    wr_json_write_i64(&w, INT64_MIN);
    assert_wrote(&buf, "-9223372036854775808");
    wr_json_write_i64(&w, INT64_MAX);
    assert_wrote(&buf, "9223372036854775807");
    wr_buf_release(&buf);
}

static void a_member_is_a_key_and_a_value(void **state)
{
    struct wr_json_writer w;
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 1000);
    wr_json_write_init(&w, &buf);
    wr_json_write_object(&w);
    wr_json_member_text(&w, "text", WR_LIT("a\"b"));
    wr_json_member_text(&w, "empty", (weir_span){NULL, 0});
    wr_json_member_word(&w, "word", "c\n");
    wr_json_member_word(&w, "no word", NULL);
    wr_json_member_number(&w, "number", 7);
    wr_json_member_number(&w, "largest", UINT64_MAX);
    wr_json_member_fixed(&w, "fixed", -0.125, 2);
    wr_json_member_bool(&w, "true", true);
    wr_json_member_bool(&w, "false", false);
    wr_json_member_null(&w, "null");
    wr_json_member_raw(&w, "raw", WR_LIT("[ 1 ]"));
    wr_json_member_object(&w, "object");
    wr_json_member_i64(&w, "in", -1);
    wr_json_write_object_end(&w);
    wr_json_member_array(&w, "array");
    wr_json_write_i64(&w, 2);
    wr_json_write_array_end(&w);
    wr_json_write_object_end(&w);
    assert_wrote(&buf, "{\"text\":\"a\\\"b\",\"empty\":\"\",\"word\":\"c\\n\",\"no word\":null,"
                       "\"number\":7,\"largest\":9223372036854775807,\"fixed\":-0.13,"
                       "\"true\":true,\"false\":false,\"null\":null,\"raw\":[ 1 ],"
                       "\"object\":{\"in\":-1},\"array\":[2]}");
    wr_buf_release(&buf);
}

static void fixed_decimals(void **state)
{
    static const struct {
        const char *behaviour;
        double number;
        int decimals;
        const char *text;
    } cases[] = {
        {"no decimals", 2.4, 0, "2"},
        {"rounded up", 2.5, 0, "3"},
        {"rounded away from zero", -2.5, 0, "-3"},
        {"zeros are kept behind the point", 1.0, 3, "1.000"},
        {"zeros are kept in front", 0.05, 2, "0.05"},
        {"rounding carries into the whole", 0.999, 2, "1.00"},
        {"minus below one", -0.25, 2, "-0.25"},
        {"minus nothing is nothing", -0.001, 2, "0.00"},
        {"nine decimals", 0.123456789, 9, "0.123456789"},
        {"a large number", 123456789012.0, 2, "123456789012.00"},
        {"too large", 1e10, 9, "null"},
        {"far too large", -1e300, 0, "null"},
        {"infinity", (double)INFINITY, 2, "null"},
        {"no number", (double)NAN, 2, "null"},
    };
    struct wr_json_writer w;
    struct wr_buf buf;
    (void)state;

    wr_buf_init(&buf, 1000);
    wr_json_write_init(&w, &buf);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        wr_json_write_fixed(&w, cases[i].number, cases[i].decimals);
        if (!wr_span_is(wr_buf_view(&buf), cases[i].text))
            fail_msg("%s: %.*s", cases[i].behaviour, (int)buf.len, buf.bytes);
        wr_buf_reset(&buf);
    }
    wr_buf_release(&buf);
}

/* Whatever the cap, what is written is the front of the whole, and only the whole is no failure. */
static void failure_is_the_buffers(void **state)
{
    struct wr_buf whole, buf;
    struct wr_json_writer w;
    (void)state;

    wr_buf_init(&whole, 1000);
    wr_json_write_init(&w, &whole);
    write_everything(&w);
    for (size_t cap = 0; cap <= whole.len; cap++) {
        wr_buf_init(&buf, cap);
        wr_json_write_init(&w, &buf);
        write_everything(&w);
        assert_int_equal(wr_buf_status(&buf), cap < whole.len ? WEIR_LIMIT : WEIR_OK);
        assert_true(wr_span_starts(wr_buf_view(&whole), wr_buf_view(&buf)));
        wr_buf_release(&buf);
    }
    wr_buf_reset(&whole);
    wr_json_write_init(&w, &whole);
    wr_json_write_text(&w, WR_LIT("\xFF"));
    assert_int_equal(wr_buf_status(&whole), WEIR_INVALID);
    wr_buf_release(&whole);
}

static void what_is_written_can_be_read(void **state)
{
    struct wr_json_writer w;
    struct wr_arena arena;
    struct wr_buf buf;
    struct wr_json doc;
    (void)state;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&buf, 1000);
    wr_json_write_init(&w, &buf);
    write_everything(&w);
    assert_int_equal(wr_json_parse(&doc, &arena, wr_buf_view(&buf), NULL, NULL), WEIR_OK);
    assert_int_equal(wr_json_count(&doc, wr_json_find(&doc, 0, "a\"b")), 7);
    wr_buf_release(&buf);
    wr_arena_release(&arena);
}

static void value_without_key(struct wr_json_writer *w)
{
    wr_json_write_object(w);
    wr_json_write_i64(w, 1);
}

static void key_in_array(struct wr_json_writer *w)
{
    wr_json_write_array(w);
    wr_json_write_key(w, "a");
}

static void key_behind_key(struct wr_json_writer *w)
{
    wr_json_write_object(w);
    wr_json_write_key(w, "a");
    wr_json_write_key(w, "b");
}

static void key_without_value(struct wr_json_writer *w)
{
    wr_json_write_object(w);
    wr_json_write_key(w, "a");
    wr_json_write_object_end(w);
}

static void wrong_end(struct wr_json_writer *w)
{
    wr_json_write_array(w);
    wr_json_write_object_end(w);
}

static void end_of_nothing(struct wr_json_writer *w)
{
    wr_json_write_array_end(w);
}

static void too_deep(struct wr_json_writer *w)
{
    for (int i = 0; i <= WR_JSON_WRITE_DEPTH_MAX; i++)
        wr_json_write_array(w);
}

/* In a process of its own, because a wrong program stops. */
static bool is_stopped(void (*misuse)(struct wr_json_writer *))
{
    int status = 0;
    pid_t pid = fork();
    if (!pid) {
        struct wr_json_writer w;
        struct wr_buf buf;
        (void)signal(SIGABRT, SIG_DFL);
        (void)fclose(stderr);
        wr_buf_init(&buf, 10000);
        wr_json_write_init(&w, &buf);
        misuse(&w);
        _exit(0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGABRT;
}

static void misuse_is_stopped(void **state)
{
    (void)state;
    assert_true(is_stopped(value_without_key));
    assert_true(is_stopped(key_in_array));
    assert_true(is_stopped(key_behind_key));
    assert_true(is_stopped(key_without_value));
    assert_true(is_stopped(wrong_end));
    assert_true(is_stopped(end_of_nothing));
    assert_true(is_stopped(too_deep));
    assert_false(is_stopped(write_everything));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_nesting_are_right),
        cmocka_unit_test(a_root_may_be_any_value),
        cmocka_unit_test(a_member_is_a_key_and_a_value),
        cmocka_unit_test(fixed_decimals),
        cmocka_unit_test(failure_is_the_buffers),
        cmocka_unit_test(what_is_written_can_be_read),
        cmocka_unit_test(misuse_is_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
