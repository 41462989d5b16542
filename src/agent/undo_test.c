#include "agent/undo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/file_bytes.h"
#include "base/limits.h"
#include "base/span.h"
#include "store/test_dir.h"

struct bench {
    struct wr_test_dir dir;
    char path[600];
    struct wr_undo undo;
    struct wr_buf told, content;
};

static void begin(struct bench *b)
{
    *b = (struct bench){.dir = wr_test_dir_new()};
    (void)snprintf(b->path, sizeof(b->path), "%s/file", b->dir.path);
    wr_buf_init(&b->told, 100000);
    wr_buf_init(&b->content, 100000);
}

static void end(struct bench *b)
{
    (void)unlink(b->path);
    (void)rmdir(b->dir.path);
    wr_undo_release(&b->undo);
    wr_buf_release(&b->told);
    wr_buf_release(&b->content);
}

/* As the tools do it: what was there is kept, then the file is changed. */
static void change(struct bench *b, const char *text)
{
    wr_buf_reset(&b->content);
    bool exists = !wr_file_read(b->path, &b->content);
    wr_undo_keep(&b->undo, b->path, exists, wr_buf_view(&b->content));
    assert_null(wr_file_replace(b->path, wr_span_of(text)));
}

/* NULL: the file is not there. */
static void expect(struct bench *b, const char *text)
{
    wr_buf_reset(&b->content);
    bool exists = !wr_file_read(b->path, &b->content);
    assert_int_equal(exists, text != NULL);
    if (text)
        assert_true(wr_span_is(wr_buf_view(&b->content), text));
}

static void turns_are_taken_back_one_by_one(void **state)
{
    struct bench b;
    (void)state;

    begin(&b);
    assert_int_equal(wr_undo_last(&b.undo, &b.told), 0);
    wr_undo_next_turn(&b.undo);
    change(&b, "one");
    wr_undo_next_turn(&b.undo);
    change(&b, "two");
    change(&b, "");
    change(&b, "three");
    wr_undo_next_turn(&b.undo); /* a turn without changes */
    assert_int_equal(wr_undo_last(&b.undo, &b.told), 3);
    expect(&b, "one");
    assert_int_equal(wr_undo_last(&b.undo, &b.told), 1);
    expect(&b, NULL);
    assert_true(wr_span_find(wr_buf_view(&b.told), WR_LIT("removed: "), 0) != SIZE_MAX);
    assert_int_equal(wr_undo_last(&b.undo, &b.told), 0);
    assert_int_equal(b.undo.bytes, 0);
    end(&b);
}

static void what_cannot_be_put_back_is_said(void **state)
{
    struct bench b;
    (void)state;

    begin(&b);
    change(&b, "one");
    assert_int_equal(unlink(b.path), 0);
    assert_int_equal(wr_undo_last(&b.undo, &b.told), 1);
    assert_true(wr_span_starts(wr_buf_view(&b.told), WR_LIT("not put back: ")));
    end(&b);
}

static void the_oldest_are_forgotten_at_the_cap(void **state)
{
    static char half[WR_AGENT_UNDO_BYTES_MAX / 2];
    struct bench b;
    (void)state;

    begin(&b);
    for (int i = 0; i < 5; i++)
        wr_undo_keep(&b.undo, b.path, true, (weir_span){half, sizeof(half)});
    assert_int_equal(b.undo.count, 2);
    assert_true(b.undo.bytes <= WR_AGENT_UNDO_BYTES_MAX);
    end(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_taken_back_one_by_one),
        cmocka_unit_test(what_cannot_be_put_back_is_said),
        cmocka_unit_test(the_oldest_are_forgotten_at_the_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
