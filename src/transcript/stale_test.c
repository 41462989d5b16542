#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "transcript/stale.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"

enum { CALLS_MAX = 8 };

/* A call is a letter, a space and its argument: r read, e edit, E edit that fails, s shell, p poll,
 * S shell that starts a process. */
struct story {
    const char *behaviour;
    const char *calls[CALLS_MAX];
    const char *cwd;
    const char
        *want; /* a letter a call: . fresh, m maybe, s stale, x superseded; its cause follows */
};

static const struct story stories[] = {
    {"a read of a file that is edited later", {"r /p/a", "e /p/a"}, "", "s1."},
    {"a read after the edit is fresh", {"e /p/a", "r /p/a"}, "", ".."},
    {"another file", {"r /p/a", "e /p/b"}, "", ".."},
    {"the nearest later write is named", {"r /p/a", "e /p/a", "e /p/a"}, "", "s1.."},
    {"each read is judged by what follows it",
     {"r /p/a", "e /p/a", "r /p/a", "e /p/a"},
     "",
     "s1.s3."},
    {"a failed edit changes nothing", {"r /p/a", "E /p/a"}, "", ".."},
    {"a shell that edits", {"r /p/a", "s sed -i s/x/y/ /p/a"}, "", "s1."},
    {"a shell that reads", {"s sed -n 1,5p /p/a", "e /p/a"}, "", "s1."},
    {"spelling does not matter", {"s cat /p/./x/../a", "e /p/a"}, "", "s1."},
    {"a relative path from a known directory", {"s cat a", "e /p/a"}, "/p", "s1."},
    {"a relative path from nowhere", {"s cat src/a", "e /p/src/a"}, "", "m1."},
    {"and the other way round", {"r /p/src/a", "s sed -i s/x/y/ src/a"}, "", "m1."},
    {"relative both times", {"s cat src/a", "s sed -i s/x/y/ src/a"}, "", "s1."},
    {"names that only end alike", {"r /p/xa", "s sed -i s/x/y/ a"}, "", ".."},
    {"home and an absolute path", {"s cat ~/c/a", "e /home/me/c/a"}, "", "m1."},
    {"a directory that is removed", {"r /p/src/a", "s rm -rf /p/src"}, "", "m1."},
    {"a relative directory that is removed", {"r /p/src/deep/a", "s rm -rf src"}, "", "m1."},
    {"an absolute one, read relatively", {"s cat src/a", "s rm -rf /p/src"}, "", "m1."},
    {"everything here", {"s cat src/a", "s git checkout ."}, "", "m1."},
    {"a switch of branches", {"r /p/a", "s git checkout main"}, "", "m1."},
    {"a patch without names", {"r /p/a", "s git apply x.patch"}, "", "m1."},
    {"a write to a variable", {"r /p/a", "s echo x > $F"}, "", "m1."},
    {"a certain write wins over a possible one", {"r /p/a", "s git stash", "e /p/a"}, "", "s2.."},
    {"writes before the read in one line do not count",
     {"s sed -i s/x/y/ /p/a && cat /p/a"},
     "",
     "."},
    {"writes behind it do", {"s cat /p/a; sed -i s/x/y/ /p/a"}, "", "s0"},
    {"a search of a file", {"s grep x /p/a.c", "e /p/a.c"}, "", "s1."},
    {"a search of a directory",
     {"s grep -r x /p/src", "e /p/src/a.c", "s git checkout main"},
     "",
     "..."},
    {"another version", {"s git show HEAD:a.c", "s sed -i s/x/y/ a.c"}, "", ".."},
    {"a run changes nothing that we know", {"r /p/a", "s make"}, "", ".."},
    {"a line that cannot be read may do anything", {"r /p/a", "s echo 'x"}, "", "m1."},
    {"polls of one process", {"p 7", "p 7", "p 8", "p 7"}, "", "x1x3.."},
    {"a process that began between has another life", {"p 7", "S 7", "p 7"}, "", "..."},
};

static weir_status make_call(struct wr_tool_handles *handles, struct wr_arena *arena,
                             const char *call)
{
    static const char *const names[] = {"Read", "Edit", "Bash", "write_stdin"};
    static const char *const keys[] = {"file_path", "file_path", "command", "session_id"};
    char kind = call[0];
    size_t which = kind == 'r'                  ? 0
                   : kind == 'e' || kind == 'E' ? 1
                   : kind == 's' || kind == 'S' ? 2
                                                : 3;
    struct wr_buf arguments;
    wr_buf_init(&arguments, 1 << 16);
    wr_buf_printf(&arguments, "{\"%s\":\"%s\"}", keys[which], kind == 'S' ? "serve" : call + 2);
    weir_span text = wr_arena_copy(arena, wr_buf_view(&arguments));
    wr_buf_release(&arguments);
    weir_status status =
        wr_tool_call(handles, arena, wr_span_of(names[which]), text, (weir_span){"", 0});
    handles->is_error = kind == 'E';
    if (kind == 'S')
        handles->process_id = wr_span_of(call + 2);
    return status;
}

static bool tell(const struct story *story)
{
    struct wr_arena arena;
    struct wr_buf got;
    struct wr_tool_handles handles[CALLS_MAX];
    const struct wr_tool_handles *list[CALLS_MAX];
    struct wr_stale stale[CALLS_MAX];
    size_t count = 0;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&got, 1 << 16);
    for (; count < CALLS_MAX && story->calls[count]; count++) {
        assert_int_equal(make_call(&handles[count], &arena, story->calls[count]), WEIR_OK);
        list[count] = &handles[count];
    }
    assert_int_equal(wr_stale_mark(stale, &arena, list, count, wr_span_of(story->cwd)), WEIR_OK);
    for (size_t i = 0; i < count; i++) {
        wr_buf_byte(&got, stale[i].is_superseded ? 'x' : ".ms"[stale[i].staleness]);
        if (stale[i].by != UINT32_MAX)
            wr_buf_printf(&got, "%u", stale[i].by);
    }
    bool right = wr_span_is(wr_buf_view(&got), story->want);
    if (!right)
        print_message("%s: want %s, got %.*s\n", story->behaviour, story->want, (int)got.len,
                      got.bytes);
    wr_buf_release(&got);
    wr_arena_release(&arena);
    return right;
}

static void stories_end_as_told(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < WR_COUNT_OF(stories); i++)
        wrong += !tell(&stories[i]);
    assert_int_equal(wrong, 0);
}

static void calls_may_be_missing(void **state)
{
    (void)state;
    struct wr_arena arena;
    const struct wr_tool_handles *list[2] = {NULL, NULL};
    struct wr_stale stale[2];
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    assert_int_equal(wr_stale_mark(stale, &arena, list, 2, (weir_span){"", 0}), WEIR_OK);
    assert_int_equal(stale[1].staleness, WR_FRESH);
    assert_int_equal(wr_stale_mark(stale, &arena, list, 0, (weir_span){"", 0}), WEIR_OK);
    wr_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stories_end_as_told),
        cmocka_unit_test(calls_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
