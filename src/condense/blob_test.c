#include "base/ascii.h"
#include "tests/condense_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* A text is `front`, then `unit` so often that it has some 20,000 bytes. */
static const struct {
    const char *behaviour, *front, *unit;
    const char *mark; /* of what was cut, or NULL: lines were left out instead */
    size_t bytes_max;
} cases[] = {
    {"base64 says what it holds", "iVBORw0KGgo", "AAAAdEVYdFNvZnR3",
     "of base64, a PNG image left out", 400},
    {"so does an image in an address", "data:image/jpeg;base64,/9j/", "4AAQSkZJRgABAQEA",
     "of base64, a JPEG image left out", 400},
    {"base64 of what is not known", "", "QUJDREVGR0hJSktM", "of base64 left out", 400},
    {"hexadecimal digits", "", "deadbeef00112233", "of hexadecimal digits left out", 400},
    {"binary",
     "\x7f"
     "ELF\x02\x01",
     "\x01\x02 \x03 text", "of binary, an ELF file left out", 400},
    {"text without line ends keeps a share of the budget", "!function(e,t){", "var a=b(c);d.e(f);",
     "of text left out", 5000},
    {"of many lines the first and the last stay", "", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=\n",
     NULL, 1200},
};

static void write_case(struct wr_buf *text, size_t i)
{
    wr_buf_text(text, cases[i].front);
    while (text->len < 20000)
        wr_buf_text(text, cases[i].unit);
}

static void blobs_are_recognised_and_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_arena arena;
        struct wr_buf text;
        struct wr_condensed out;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        wr_buf_init(&text, 1 << 20);
        write_case(&text, i);
        struct wr_condense_input input = {
            .text = wr_buf_view(&text), .kind = WR_OUTPUT_BLOB, .bytes_budget = 5000};
        assert_int_equal(wr_condense_blob(&out, &arena, &input), WEIR_OK);
        const char *broken = condense_check(&input, wr_condense_blob);
        bool says = cases[i].mark ? wr_span_has(out.text, wr_span_of(cases[i].mark))
                                  : out.kept_count == 2 && !out.cut_count;
        if (broken || !says || out.text.len > cases[i].bytes_max)
            fail_msg("%s: %s, %zu bytes: %.*s", cases[i].behaviour, broken ? broken : "kept",
                     out.text.len, (int)out.text.len, out.text.ptr);
        wr_buf_release(&text);
        wr_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blobs_are_recognised_and_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
