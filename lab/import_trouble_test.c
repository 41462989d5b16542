/* What is said of a log that could not be used whole. */
#include "lab/import_trouble.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "json/write.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_could_not_be_used_is_said),
        cmocka_unit_test(troubles_are_a_list_sorted_by_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
