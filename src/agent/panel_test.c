/* Against a small terminal of our own: what stands on the screen, and what scrolled by. */
#include "agent/panel.h"

#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/span.h"

/* ---- dock ---- */

/* Against a small terminal of our own: what stands on the screen, and what scrolled by. */

enum { ROWS = 200, COLUMNS = 60 };

/* Rows of ASCII; it knows what the dock sends and nothing else. */
struct paper {
    char cells[ROWS][COLUMNS + 1];
    size_t row, column;
};

static void put_sequence(struct paper *p, const char **at)
{
    size_t number = 0;
    const char *c = *at + 2;

    for (; (*c >= '0' && *c <= '9') || *c == ';' || *c == '?'; c++)
        number = *c >= '0' && *c <= '9' ? number * 10 + (size_t)(*c - '0') : number;
    *at = c;
    if (*c == 'A') {
        assert_true(p->row >= number); /* never above what is there */
        p->row -= number;
    } else if (*c == 'C') {
        p->column += number;
    } else if (*c == 'J') {
        memset(p->cells[p->row] + p->column, ' ', COLUMNS - p->column);
        for (size_t row = p->row + 1; row < ROWS; row++)
            memset(p->cells[row], ' ', COLUMNS);
    } else {
        assert_true(*c == 'm' || *c == 'h' || *c == 'l');
    }
}

static void put(struct paper *p, const char *bytes, size_t len)
{
    for (const char *c = bytes; c < bytes + len; c++) {
        if (*c == '\x1b') {
            put_sequence(p, &c);
        } else if (*c == '\n' || *c == '\r') {
            p->row += *c == '\n';
            p->column = 0;
        } else {
            assert_true(p->column < COLUMNS); /* a line that the terminal would break */
            p->cells[p->row][p->column++] = *c;
        }
    }
}

struct bench {
    struct wr_dock dock;
    struct paper paper;
    FILE *out;
    char *bytes;
    size_t len;
};

static void begin(struct bench *b)
{
    memset(&b->paper, 0, sizeof(b->paper));
    for (size_t row = 0; row < ROWS; row++)
        memset(b->paper.cells[row], ' ', COLUMNS);
    b->out = open_memstream(&b->bytes, &b->len);
    assert_non_null(b->out);
    wr_dock_init(&b->dock, b->out);
}

static void end(struct bench *b)
{
    wr_dock_release(&b->dock);
    (void)fclose(b->out);
    free(b->bytes);
}

static void show(struct bench *b, const char *above)
{
    wr_dock_show(&b->dock, wr_span_of(above));
    (void)fflush(b->out);
    put(&b->paper, b->bytes, b->len);
    (void)fseeko(b->out, 0, SEEK_SET);
}

static void expect(struct bench *b, size_t row, const char *text)
{
    weir_span line = wr_span_trim((weir_span){b->paper.cells[row], COLUMNS});
    if (!wr_span_is(line, text))
        fail_msg("row %zu: '%.*s', wanted '%s'", row, (int)line.len, line.ptr, text);
}

static void what_is_printed_stays_above_the_dock(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    for (int i = 0; i < 3; i++) {
        wr_dock_begin(&b.dock, COLUMNS, 24);
        for (int n = 0; n <= i; n++)
            wr_dock_line(&b.dock, WR_LIT("dock"));
        wr_dock_cursor(&b.dock, 0, 2);
        show(&b, "printed\n");
    }
    expect(&b, 0, "printed");
    expect(&b, 2, "printed");
    expect(&b, 3, "dock");
    expect(&b, 5, "dock");
    expect(&b, 6, "");
    assert_int_equal(b.paper.row, 3);
    assert_int_equal(b.paper.column, 2);
    wr_dock_begin(&b.dock, COLUMNS, 24);
    wr_dock_line(&b.dock, WR_LIT("less"));
    show(&b, "");
    expect(&b, 3, "less");
    expect(&b, 4, "");
    wr_dock_hide(&b.dock);
    (void)fflush(b.out);
    put(&b.paper, b.bytes, b.len);
    expect(&b, 2, "printed");
    expect(&b, 3, "");
    end(&b);
}

static void what_is_the_same_is_not_drawn_again(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    for (int i = 0; i < 2; i++) {
        wr_dock_begin(&b.dock, COLUMNS, 24);
        wr_dock_line(&b.dock, WR_LIT("dock"));
        wr_dock_show(&b.dock, WR_LIT(""));
        (void)fflush(b.out);
        assert_int_equal(b.len > 0, i == 0);
        (void)fseeko(b.out, 0, SEEK_SET);
        (void)fputc(0, b.out);
        (void)fseeko(b.out, 0, SEEK_SET);
        (void)fflush(b.out);
    }
    end(&b);
}

static void after_another_size_it_finds_its_top(void **state)
{
    struct bench b;
    (void)state;
    begin(&b);
    wr_dock_begin(&b.dock, COLUMNS, 24);
    wr_dock_line(&b.dock, WR_LIT("0123456789012345678901234567890123456789")); /* 40 */
    wr_dock_line(&b.dock, WR_LIT("line"));
    wr_dock_cursor(&b.dock, 1, 4);
    show(&b, "printed\n");
    /* 30 columns: the first line takes two rows now, so the cursor is a row lower. */
    b.paper.row = 3;
    wr_dock_begin(&b.dock, 30, 24);
    wr_dock_line(&b.dock, WR_LIT("0123456789012345678901234567890123456789"));
    wr_dock_line(&b.dock, WR_LIT("line"));
    wr_dock_cursor(&b.dock, 1, 4);
    show(&b, "");
    expect(&b, 0, "printed");
    expect(&b, 1, "01234567890123456789012345678");
    expect(&b, 2, "line");
    expect(&b, 3, "");
    end(&b);
}

static void a_line_is_cut_by_columns_and_keeps_its_colours(void **state)
{
    struct wr_buf out;
    (void)state;
    wr_buf_init(&out, 1000);
    assert_int_equal(wr_dock_cut(&out, WR_LIT("\x1b[31mab\xE6\xB0\xB4"), 3), 2);
    assert_true(wr_span_is(wr_buf_view(&out), "\x1b[31mab\x1b[0m"));
    wr_buf_release(&out);
}

/* ---- the panel ---- */

static void type(struct wr_editor *editor, const char *text)
{
    for (; *text; text++)
        (void)wr_editor_key(editor, (struct wr_key){WR_KEY_BYTE, *text});
}

static void the_panel_has_all_that_a_user_needs(void **state)
{
    struct wr_editor editor;
    struct bench b;
    (void)state;
    begin(&b);
    wr_editor_init(&editor);
    type(&editor, "half a li\ntwo");
    struct wr_panel panel = {.tail = WR_LIT("being written"),
                             .cards = WR_LIT("card 1\ncard 2\n"),
                             .queued = WR_LIT("hurry\0go\0"),
                             .is_asking = true,
                             .status = WR_LIT("ctx 5%"),
                             .editor = &editor};
    wr_dock_begin(&b.dock, COLUMNS, 24);
    wr_panel_draw(&b.dock, &panel);
    show(&b, "");
    const char *rows[] = {"being written", "card 1",      "card 2", "queued: hurry", "queued: go",
                          "allow this?",   "> half a li", "two",    "ctx 5%",        ""};
    for (size_t i = 0; i < WR_COUNT_OF(rows); i++)
        expect(&b, i, rows[i]);
    assert_int_equal(b.paper.row, 7); /* the cursor is where one types */
    assert_int_equal(b.paper.column, 5);
    panel.is_awaited = true;
    panel.answer = WR_LIT("y");
    wr_dock_begin(&b.dock, COLUMNS, 24);
    wr_panel_draw(&b.dock, &panel);
    show(&b, "");
    expect(&b, 5, "allow this? [y]es, [n]o or [a]lways, then Enter: y");
    assert_int_equal(b.paper.row, 5); /* and then where one answers */
    assert_int_equal(b.paper.column, 52);
    wr_editor_release(&editor);
    end(&b);
}

static void in_few_rows_the_line_and_the_status_stay(void **state)
{
    struct wr_editor editor;
    struct bench b;
    (void)state;
    begin(&b);
    wr_editor_init(&editor);
    type(&editor, "1\n2\n3\n4\n5\n6\n7");
    struct wr_panel panel = {.tail = WR_LIT("a\nb\nc\nd\ne\nf\ng\n"),
                             .doing = "writing",
                             .status = WR_LIT("ctx 5%"),
                             .editor = &editor};
    wr_dock_begin(&b.dock, COLUMNS, 8);
    wr_panel_draw(&b.dock, &panel);
    assert_int_equal(b.dock.next.count, 7);
    weir_span text = wr_buf_view(&b.dock.next.text);
    assert_true(wr_span_starts(text, WR_LIT("f\ng\n")));
    assert_true(wr_span_ends(text, WR_LIT("  5\n  6\n  7\nctx 5%\n")));
    wr_editor_release(&editor);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_stays_above_the_dock),
        cmocka_unit_test(what_is_the_same_is_not_drawn_again),
        cmocka_unit_test(after_another_size_it_finds_its_top),
        cmocka_unit_test(a_line_is_cut_by_columns_and_keeps_its_colours),
        cmocka_unit_test(the_panel_has_all_that_a_user_needs),
        cmocka_unit_test(in_few_rows_the_line_and_the_status_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
