#include "agent/undo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_dir.h"

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
    wr_undo_keep(&b->undo, &(struct wr_change){.path = b->path,
                                               .exists = exists,
                                               .before = wr_buf_view(&b->content),
                                               .after = wr_span_of(text)});
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
    assert_int_equal(wr_undo_last(&b.undo, false, &b.told), WR_UNDO_NONE);
    wr_undo_next_turn(&b.undo);
    change(&b, "one");
    wr_undo_next_turn(&b.undo);
    change(&b, "two");
    change(&b, "");
    change(&b, "three");
    wr_undo_next_turn(&b.undo); /* a turn without changes */
    assert_int_equal(wr_undo_last(&b.undo, false, &b.told), WR_UNDO_DONE);
    expect(&b, "one");
    assert_int_equal(wr_undo_last(&b.undo, false, &b.told), WR_UNDO_DONE);
    expect(&b, NULL);
    assert_true(wr_span_find(wr_buf_view(&b.told), WR_LIT("removed: "), 0) != SIZE_MAX);
    assert_int_equal(wr_undo_last(&b.undo, false, &b.told), WR_UNDO_NONE);
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
    assert_int_equal(wr_undo_last(&b.undo, true, &b.told), WR_UNDO_DONE);
    assert_true(wr_span_starts(wr_buf_view(&b.told), WR_LIT("not put back: ")));
    end(&b);
}

static void the_oldest_are_forgotten_at_the_cap(void **state)
{
    static char half[WR_AGENT_UNDO_BYTES_MAX / 2];
    struct bench b;
    (void)state;

    begin(&b);
    for (int i = 0; i < 5; i++) {
        char path[] = "/nowhere/0";
        path[sizeof(path) - 2] += (char)i;
        wr_undo_keep(&b.undo, &(struct wr_change){.path = path,
                                                  .exists = true,
                                                  .before = {half, sizeof(half)},
                                                  .after = WR_LIT("")});
    }
    assert_int_equal(b.undo.count, 2);
    assert_true(b.undo.bytes <= WR_AGENT_UNDO_BYTES_MAX);
    assert_int_equal(wr_undo_last(&b.undo, true, &b.told), WR_UNDO_DONE);
    assert_true(wr_span_find(wr_buf_view(&b.told), WR_LIT("other files of this turn are not"), 0) !=
                SIZE_MAX); /* half of a turn is not called all of it */
    end(&b);
}

/* However often it is changed, and however large it is. */
static void a_file_is_put_back_to_what_it_was_before_the_turn(void **state)
{
    static char half[WR_AGENT_UNDO_BYTES_MAX / 2];
    struct bench b;
    (void)state;

    begin(&b);
    assert_null(wr_file_replace(b.path, WR_LIT("at first")));
    wr_undo_next_turn(&b.undo);
    change(&b, "small");
    for (int i = 0; i < 5; i++)
        wr_undo_keep(&b.undo, &(struct wr_change){.path = b.path,
                                                  .exists = true,
                                                  .before = {half, sizeof(half)},
                                                  .after = WR_LIT("large")});
    change(&b, "large again");
    assert_int_equal(wr_undo_last(&b.undo, false, &b.told), WR_UNDO_DONE);
    expect(&b, "at first");
    change(&b, "one");
    wr_undo_keep(&b.undo, &(struct wr_change){.path = b.path,
                                              .exists = true,
                                              .before = WR_LIT("one"),
                                              .after = WR_LIT("was not written")});
    assert_int_equal(wr_undo_last(&b.undo, false, &b.told), WR_UNDO_DONE);
    expect(&b, "at first");
    end(&b);
}

/* Whoever changed a file after the agent did must not lose that by an undo. */
static void later_edits_of_the_user_are_not_overwritten(void **state)
{
    static const struct {
        const char *name, *users; /* NULL: the user removed the file */
    } rows[] = {{"edited", "two, and a line of mine"}, {"emptied", ""}, {"removed", NULL}};
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        struct bench b;
        begin(&b);
        assert_null(wr_file_replace(b.path, WR_LIT("one")));
        wr_undo_next_turn(&b.undo);
        change(&b, "first try");
        change(&b, "two");
        if (rows[i].users)
            assert_null(wr_file_replace(b.path, wr_span_of(rows[i].users)));
        else
            assert_int_equal(unlink(b.path), 0);
        print_message("%s\n", rows[i].name);
        assert_int_equal(wr_undo_last(&b.undo, false, &b.told), WR_UNDO_REFUSED);
        assert_true(
            wr_span_starts(wr_buf_view(&b.told), WR_LIT("changed since the agent wrote it: ")));
        expect(&b, rows[i].users);
        assert_int_equal(wr_undo_last(&b.undo, true, &b.told), WR_UNDO_DONE); /* asked for */
        expect(&b, "one");
        end(&b);
    }
}

/* One file that is somebody else's now: the others of the turn stay too, or half a change is left.
 */
static void a_turn_is_taken_back_whole_or_not_at_all(void **state)
{
    char first[sizeof(((struct bench *)0)->path)];
    struct bench b;
    (void)state;

    begin(&b);
    change(&b, "of the agent");
    memcpy(first, b.path, sizeof(first));
    (void)snprintf(b.path, sizeof(b.path), "%s/other", b.dir.path);
    change(&b, "of the agent");
    assert_null(wr_file_replace(b.path, WR_LIT("of the user")));
    assert_int_equal(wr_undo_last(&b.undo, false, &b.told), WR_UNDO_REFUSED);
    expect(&b, "of the user");
    assert_null(wr_file_replace(b.path, WR_LIT("of the agent"))); /* the user took it back */
    assert_int_equal(wr_undo_last(&b.undo, false, &b.told), WR_UNDO_DONE);
    expect(&b, NULL);
    memcpy(b.path, first, sizeof(first));
    expect(&b, NULL);
    end(&b);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_taken_back_one_by_one),
        cmocka_unit_test(what_cannot_be_put_back_is_said),
        cmocka_unit_test(the_oldest_are_forgotten_at_the_cap),
        cmocka_unit_test(a_file_is_put_back_to_what_it_was_before_the_turn),
        cmocka_unit_test(later_edits_of_the_user_are_not_overwritten),
        cmocka_unit_test(a_turn_is_taken_back_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
