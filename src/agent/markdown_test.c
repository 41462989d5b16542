#include "agent/markdown.h"

#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/cells.h"
#include "base/span.h"

static const struct {
    const char *behaviour, *source, *lines;
    size_t columns;
    bool has_colours;
} rows[] = {
    {"words are broken at the width", "one two three", "one two\nthree\n", 9, false},
    {"lines of the source are one paragraph", "one\ntwo", "one two\n", 40, false},
    {"paragraphs are parted", "one\n\ntwo", "one\n\ntwo\n", 40, false},
    {"without colours the marks stay", "**bold** and `code`", "**bold** and `code`\n", 40, false},
    {"with colours they are colours", "**b** c", "\x1b[0m\x1b[1mb\x1b[0m c\x1b[0m\n", 40, true},
    {"a heading", "## Two", "## Two\n", 40, false},
    {"a heading in colours", "## Two", "\x1b[1mTwo\x1b[0m\n", 40, true},
    {"a list", "- a\n- b\n", "• a\n• b\n", 40, false},
    {"its long items are indented", "- one two three", "• one\n  two\n  three\n", 8, false},
    {"a list within a list", "- a\n  - b\n- c", "• a\n  • b\n• c\n", 40, false},
    {"numbers go on", "3. a\n4. b", "3. a\n4. b\n", 40, false},
    {"tasks", "- [ ] a\n- [x] b", "☐ a\n☑ b\n", 40, false},
    {"a quote", "> said\n> so", "│ said so\n", 40, false},
    {"code is not broken", "```c\nint  x;\n\tif\n```", "  int  x;\n      if\n", 9, false},
    {"a table", "|a|b|\n|---|---|\n|1|two|\n", "a │ b\n──┼────\n1 │ two\n", 40, false},
    {"a wide one is broken into its columns", "|name|text|\n|---|---|\n|x|one two three four|\n",
     "name │ text\n─────┼───────────\nx    │ one two\n     │ three four\n", 18, false},
    {"one that does not fit is a list", "|a|b|c|\n|---|---|---|\n|one1234|two1234|three12|\n",
     "a: one1234\nb: two1234\nc: three12\n", 20, false},
    {"a link shows where it goes", "[here](http://x.example/)", "here (http://x.example/)\n", 60,
     false},
    {"an address is shown once", "<http://x.example/>", "http://x.example/\n", 60, false},
    {"entities", "a &amp; &lt;b&gt; &#65;", "a & <b> A\n", 40, false},
    {"Chinese has two columns", "水水 水水", "水水\n水水\n", 7, false},
    {"a long word is cut", "abcdefghij", "abcde\nfghij\n", 6, false},
    {"an escape does not steer", "a\x1b[2Jb \x1b]0;title\x07", "a?[2Jb ?]0;title?\n", 40, false},
    {"nor does one in code", "```\na\x1b[2J\n```", "  a?[2J\n", 40, false},
    {"nor one in a table", "|a\x1b[2J|\n|---|\n|b\x9b|\n", "a?[2J\n─────\nb?\n", 40, false},
    {"nor one in what is no address", "[x](http://\x1b[2J)", "[x](http://?[2J)\n", 40, false},
    {"nor one spelled as a number", "&#27;[2J &#x9b;2J", "?[2J ?2J\n", 40, false},
    {"HTML is text", "<b>x</b>", "<b>x</b>\n", 40, false},
};

static void markdown_becomes_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_md_look look = {rows[i].columns, rows[i].has_colours};
        struct wr_buf out;
        wr_buf_init(&out, 100000);
        wr_markdown(&out, wr_span_of(rows[i].source), &look);
        if (!wr_span_is(wr_buf_view(&out), rows[i].lines))
            fail_msg("%s: '%.*s'\nwanted '%s'", rows[i].behaviour, (int)out.len, out.bytes,
                     rows[i].lines);
        wr_buf_release(&out);
    }
}

static const char answer[] =
    "# Title\n\nSome *words* and\nmore.\n\n- one\n- two\n\n  still two\n\nThen:\n```c\nint x;\n\n"
    "int y;\n```\nEnd of it.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1. x\n\n2. y\n";

/* Whatever the pieces are, the lines are the same, and what was finished is never taken back. */
static void pieces_make_the_same_lines(void **state)
{
    struct wr_md_look look = {30, false};
    struct wr_buf whole;
    (void)state;
    wr_buf_init(&whole, 100000);
    for (size_t step = sizeof(answer) - 1; step > 0; step--) {
        struct wr_md_stream stream;
        struct wr_buf out, tail;
        wr_md_stream_init(&stream);
        wr_buf_init(&out, 100000);
        wr_buf_init(&tail, 100000);
        for (size_t at = 0; at < sizeof(answer) - 1; at += step) {
            size_t end = at + step < sizeof(answer) - 1 ? at + step : sizeof(answer) - 1;
            wr_md_stream_feed(&stream, wr_span_cut(wr_span_of(answer), at, end), &look, &out);
            wr_buf_reset(&tail);
            wr_md_stream_tail(&stream, &look, &tail);
        }
        wr_md_stream_end(&stream, &look, &out);
        if (!whole.len)
            wr_buf_append(&whole, wr_buf_view(&out));
        if (!wr_span_eq(wr_buf_view(&out), wr_buf_view(&whole)))
            fail_msg("in steps of %zu: '%.*s'\nwhole: '%.*s'", step, (int)out.len, out.bytes,
                     (int)whole.len, whole.bytes);
        wr_buf_release(&out);
        wr_buf_release(&tail);
        wr_md_stream_release(&stream);
    }
    assert_true(wr_span_has(wr_buf_view(&whole), WR_LIT("• two\n\n  still two\n")));
    assert_true(wr_span_has(wr_buf_view(&whole), WR_LIT("  int x;\n  \n  int y;\n")));
    wr_buf_release(&whole);
}

static void code_is_shown_line_by_line(void **state)
{
    struct wr_md_look look = {30, false};
    struct wr_md_stream stream;
    struct wr_buf out;
    (void)state;
    wr_md_stream_init(&stream);
    wr_buf_init(&out, 1000);
    wr_md_stream_feed(&stream, WR_LIT("See\n```\none\ntw"), &look, &out);
    assert_true(wr_span_is(wr_buf_view(&out), "See\n\n  one\n"));
    wr_md_stream_release(&stream);
    wr_buf_release(&out);
}

/* Any bytes: no line is wider than the terminal, and nothing but our own colours steers it. */
static void nothing_steers_whatever_comes(void **state)
{
    static const char *const bits[] = {"*",        "**",    "`",       "```\n",        "|",
                                       "|---|\n",  "- ",    "1. ",     "> ",           "\n",
                                       "\n\n",     "word ", "\x1b[2J", "\x1b]0;t\x07", "\r",
                                       "\xC2\x9B", "水",    "[a](b)",  "&#27;",        "<b>",
                                       "    ",     "# ",    "\xFF",    "\t",           "~~~\n"};
    struct wr_md_look look = {37, true};
    uint32_t seed = 7;
    (void)state;
    for (int n = 0; n < 2000; n++) {
        struct wr_md_stream stream;
        struct wr_buf out;
        wr_md_stream_init(&stream);
        wr_buf_init(&out, 1000000);
        for (int i = 0; i < 40; i++) {
            seed = seed * 1664525 + 1013904223;
            wr_md_stream_feed(&stream, wr_span_of(bits[(seed >> 16) % WR_COUNT_OF(bits)]), &look,
                              &out);
        }
        wr_md_stream_end(&stream, &look, &out);
        for (size_t i = 0; i < out.len; i++) {
            unsigned char c = (unsigned char)out.bytes[i];
            if (c == 0x1b) {
                assert_int_equal(out.bytes[++i], '[');
                while (++i < out.len && ((out.bytes[i] >= '0' && out.bytes[i] <= '9')))
                    ;
                assert_int_equal(out.bytes[i], 'm');
            } else {
                assert_true(c >= ' ' || c == '\n');
                assert_true(c != 127);
            }
        }
        wr_md_stream_release(&stream);
        wr_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markdown_becomes_lines),
        cmocka_unit_test(pieces_make_the_same_lines),
        cmocka_unit_test(code_is_shown_line_by_line),
        cmocka_unit_test(nothing_steers_whatever_comes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
