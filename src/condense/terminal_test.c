#include "condense/terminal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

#define ESC "\x1b"

static const struct {
    const char *behaviour, *text, *expected;
} rows[] = {
    {"plain text passes", "one\ntwo\n", "one\ntwo\n"},
    {"an empty text passes", "", ""},
    {"line ends of two bytes pass", "one\r\ntwo\r\n", "one\r\ntwo\r\n"},
    {"a return at the very end moves nothing that follows", "one\r", "one\r"},
    {"a tab alone passes", "\tone\n", "\tone\n"},

    {"colours go", ESC "[1;31merror:" ESC "[0m no\n", "error: no\n"},
    {"colours go and tabs stay", "\t" ESC "[32m+one" ESC "[m\ttwo\n", "\t+one\ttwo\n"},
    {"colours go and CRLF stays", ESC "[32mone" ESC "[m\r\ntwo\n", "one\r\ntwo\n"},
    {"white space at the end of a line that is not redrawn stays", ESC "[1mone  \ntwo",
     "one  \ntwo"},
    {"a title ended by a bell goes", ESC "]0;title\x07text\n", "text\n"},
    {"a link keeps its text", ESC "]8;;http://x" ESC "\\text" ESC "]8;;" ESC "\\\n", "text\n"},
    {"modes of the terminal go", ESC "[?25lhidden" ESC "[?25h\n", "hidden\n"},
    {"an escape that is cut off goes", "one" ESC "[12", "one"},
    {"an escape does not reach over a line end", "one" ESC "[\ntwo", "one\ntwo"},
    {"a bell in a line that is redrawn goes", "a\x07\rb", "b"},

    {"a bar shows its last state", " 10%\r 50%\r100%\ndone\n", "100%\ndone\n"},
    {"what a shorter frame leaves stays", "long text\rshort\n", "shorttext\n"},
    {"blanks that wipe a frame leave nothing", "long text\r         \rend\n", "end\n"},
    {"a frame before a line end of two bytes", "10%\r100%\r\nnext\r\n", "100%\nnext\r\n"},
    {"a return before the end of the text keeps the frame", "10%\r20%\r", "20%"},
    {"erasing to the end of the line", "long text\rend" ESC "[K\n", "end\n"},
    {"erasing the whole line", "long text" ESC "[2K\rend\n", "end\n"},
    {"erasing up to the cursor", "abcdef\r" ESC "[2C" ESC "[1K\n", "   def\n"},
    {"a backspace lets a letter be written over", "spin |\b/\b-\n", "spin -\n"},
    {"a backspace stops at the left", "\b\b\bone\n", "one\n"},
    {"bold by overstriking is read once", "N\bNA\bAM\bME\bE\n", "NAME\n"},
    {"a tab goes over what is there", "abcdefgh\r\tX\n", "abcdefghX\n"},

    {"columns count from one", "abcdef" ESC "[3GX\n", "abXdef\n"},
    {"column 0 is column 1", "abcdef" ESC "[0GX\n", "Xbcdef\n"},
    {"going right leaves blanks", "a" ESC "[3Cb\n", "a   b\n"},
    {"going left", "abc" ESC "[2DX\n", "aXc\n"},
    {"characters of several bytes are one column", "\xe2\xa0\x8b wait\r\xe2\x9c\x94 done\n",
     "\xe2\x9c\x94 done\n"},
    {"bytes that are no character stay", "\xff\xfe\rX\n", "X\xfe\n"},

    {"lines are drawn again after going up",
     "a: wait\nb: wait\n" ESC "[2A" ESC "[2Ka: done\n" ESC "[2Kb: done\n", "a: done\nb: done\n"},
    {"going up and erasing what is below", "one\ntwo\nthree\n" ESC "[2A" ESC "[Jend\n",
     "one\nend\n"},
    {"going down comes back", "one\ntwo\n" ESC "[2AX" ESC "[2B\rthree\n", "Xne\ntwo\nthree\n"},
    {"the start of the line above", "one\ntwo" ESC "[1FX\n", "Xne\ntwo"},
    {"going up stops at the first line", "one\n" ESC "[99AX", "Xne\n"},
    {"the cursor is saved and put back", "one" ESC "7\ntwo" ESC "8!\n", "one!\ntwo"},
    {"the other way to save it", "one" ESC "[s\ntwo" ESC "[u!", "one!\ntwo"},
    {"a screen that is cleared shows the last frame",
     ESC "[2J" ESC "[Hframe 1\na\nb\n" ESC "[H" ESC "[2Jframe 2\nc\n", "frame 2\nc\n"},
    {"a screen drawn over from its top", ESC "[Hone\ntwo\n" ESC "[HONE\n", "ONE\ntwo\n"},
    {"nothing is left of a screen that was cleared from below", "a\nb\nc" ESC "[2J" ESC "[Hone\n",
     "one\n"},
    {"a place in the middle", ESC "[2J" ESC "[2;3Hx", "\n  x"},
    {"lines that went out at the top stay",
     "01\n02\n03\n04\n05\n06\n07\n08\n09\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n23\n"
     "24\n25\n26\n" ESC "[H" ESC "[2Jclear\n",
     "01\n02\n03\nclear\n"},
    {"clearing what scrolled away clears nothing", "one\n" ESC "[3Jtwo\n", "one\ntwo\n"},
    {"blank lines at the end stay", ESC "[1mone\n\n\n", "one\n\n\n"},

    {"what would be longer than the text is left as it is", ESC "[99Gx\n", ESC "[99Gx\n"},
};

static struct wr_terminal_text render(struct wr_arena *arena, weir_span text)
{
    struct wr_terminal_text out;
    assert_int_equal(wr_terminal_render(&out, arena, text), WEIR_OK);
    return out;
}

static void renders_the_last_state(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct wr_arena arena;
        wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
        struct wr_terminal_text out = render(&arena, wr_span_of(rows[i].text));
        struct wr_terminal_text again = render(&arena, out.text);
        bool same = wr_span_is(wr_span_of(rows[i].text), rows[i].expected);
        if (!wr_span_is(out.text, rows[i].expected) || out.is_same != same ||
            !wr_span_eq(out.text, again.text)) {
            print_error("%s: \"%.*s\"\n", rows[i].behaviour, (int)out.text.len, out.text.ptr);
            wrong++;
        }
        wr_arena_release(&arena);
    }
    assert_int_equal(wrong, 0);
}

static void tells_whether_lines_moved(void **state)
{
    struct wr_arena arena;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_false(render(&arena, WR_LIT("1%\r2%\n" ESC "[2Kx\n")).lines_moved);
    assert_true(render(&arena, WR_LIT("1%\n" ESC "[1A2%\n")).lines_moved);
    assert_true(render(&arena, WR_LIT("1%\n" ESC "[2J2%\n")).lines_moved);
    wr_arena_release(&arena);
}

/* Far more lines than the screen has rows, each redrawn: the memory stays that of the rows. */
static void renders_long_streams(void **state)
{
    struct wr_arena arena;
    struct wr_buf text, expected;
    (void)state;
    wr_arena_init(&arena, 4 * 1024 * 1024);
    wr_buf_init(&text, 1 << 20);
    wr_buf_init(&expected, 1 << 20);
    for (int i = 0; i < 5 * WR_TERMINAL_ROWS_MAX; i++) {
        wr_buf_printf(&text, "step %d: 10%%\rstep %d: 100%%\n", i, i);
        wr_buf_printf(&expected, "step %d: 100%%\n", i);
    }
    struct wr_terminal_text out = render(&arena, wr_buf_view(&text));
    assert_true(wr_span_eq(out.text, wr_buf_view(&expected)));
    wr_buf_release(&text);
    wr_buf_release(&expected);
    wr_arena_release(&arena);
}

/* The cursor was saved in a row that has since left the screen at the top. */
static void never_leaves_the_screen(void **state)
{
    struct wr_arena arena;
    struct wr_buf text;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 1 << 20);
    wr_buf_text(&text, ESC "7");
    for (int i = 0; i < 2 * WR_TERMINAL_ROWS_MAX; i++)
        wr_buf_printf(&text, "line %d\n", i);
    wr_buf_text(&text, ESC "8X");
    weir_span out = render(&arena, wr_buf_view(&text)).text;
    assert_true(wr_span_starts(out, WR_LIT("line 0\n")));
    assert_true(wr_span_has(out, WR_LIT("\nXine 513\n")));
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

/* Blanking a wide line again and again would take time with the square of the text. */
static void gives_up_on_endless_work(void **state)
{
    struct wr_arena arena;
    struct wr_buf text;
    (void)state;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&text, 1 << 20);
    for (int i = 0; i < 20000; i++)
        wr_buf_byte(&text, 'x');
    for (int i = 0; i < 20000; i++)
        wr_buf_text(&text, ESC "[1K");
    assert_true(render(&arena, wr_buf_view(&text)).is_same);
    wr_buf_release(&text);
    wr_arena_release(&arena);
}

static void caps_keep_whole_lines(void **state)
{
    weir_span text = WR_LIT("one\ntwo\nthree\n");
    (void)state;
    assert_true(wr_span_eq(wr_terminal_tail(text, 100), text));
    assert_true(wr_span_is(wr_terminal_tail(text, 10), "two\nthree\n"));
    assert_true(wr_span_is(wr_terminal_tail(text, 9), "three\n"));
    assert_true(wr_span_is(wr_terminal_tail(text, 3), "ee\n"));
    assert_true(wr_span_is(wr_terminal_tail(WR_LIT("a\xc3\xa9"), 1), ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renders_the_last_state),   cmocka_unit_test(tells_whether_lines_moved),
        cmocka_unit_test(renders_long_streams),     cmocka_unit_test(never_leaves_the_screen),
        cmocka_unit_test(gives_up_on_endless_work), cmocka_unit_test(caps_keep_whole_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
