#include "agent/toolbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "base/limits.h"
#include "base/span.h"
#include "tests/test_dir.h"

struct bench {
    struct wr_test_dir dir;
    char root[512];
    struct wr_toolbox box;
};

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    b->dir = wr_test_dir_new();
    (void)snprintf(b->root, sizeof(b->root), "%s", b->dir.path);
    b->box = (struct wr_toolbox){
        .root = b->root, .agent_dir = b->root, .processes = wr_processes_new(b->root, NULL, NULL)};
    assert_non_null(b->box.processes);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    char command[600];
    wr_processes_free(b->box.processes);
    (void)snprintf(command, sizeof(command), "rm -rf '%s'", b->root);
    assert_int_equal(system(command), 0);
    free(b);
    return 0;
}

struct exchange {
    const char *behaviour, *tool, *arguments;
    bool is_error;
    const char *holds; /* what stands in the result */
};

static void play(struct bench *b, const struct exchange *e)
{
    struct wr_tool_call_text call = {wr_span_of(e->tool), wr_span_of(e->arguments)};
    struct wr_tool_output output;

    wr_toolbox_run(&b->box, &call, &output);
    bool holds = wr_span_find(wr_buf_view(&output.text), wr_span_of(e->holds), 0) != SIZE_MAX;
    if (output.is_error != e->is_error || !holds)
        fail_msg("%s: %s %s gave%s:\n%.*s", e->behaviour, e->tool, e->arguments,
                 output.is_error ? " an error" : "", (int)output.text.len, output.text.bytes);
    wr_buf_release(&output.text);
}

static void play_all(struct bench *b, const struct exchange *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        play(b, &list[i]);
}

#define PLAY(list) play_all(*state, list, WR_COUNT_OF(list))

static void files_are_read_written_and_edited(void **state)
{
    static const struct exchange list[] = {
        {"a file and its folders are made", "write",
         "{\"path\":\"src/a.c\",\"content\":\"one\\ntwo\\nthree\\nfour\\n\"}", false,
         "Wrote src/a.c, 19 bytes, sha256 "},
        {"it is read whole", "read_file", "{\"path\":\"src/a.c\"}", false,
         "one\ntwo\nthree\nfour\n[lines 1-4 of 4; sha256 "},
        {"a part of it tells where to go on", "read_file",
         "{\"path\":\"src/a.c\",\"offset\":2,\"limit\":2}", false,
         "two\nthree\n[lines 2-3 of 4; next offset 4; sha256 "},
        {"numbers may come as strings", "read_file", "{\"path\":\"src/a.c\",\"offset\":\"4\"}",
         false, "four\n[lines 4-4 of 4; sha256"},
        {"an offset behind the end says how long it is", "read_file",
         "{\"path\":\"src/a.c\",\"offset\":9}", true, "has 4 lines"},
        {"an edit of what occurs once", "edit",
         "{\"path\":\"src/a.c\",\"old_text\":\"two\",\"new_text\":\"2\"}", false,
         "Edited src/a.c: 1 place, the first on line 2"},
        {"what occurs twice is not guessed at", "edit",
         "{\"path\":\"src/a.c\",\"old_text\":\"e\",\"new_text\":\"E\"}", true, "occurs 3 times"},
        {"unless all are meant", "edit",
         "{\"path\":\"src/a.c\",\"old_text\":\"e\",\"new_text\":\"E\",\"replace_all\":true}", false,
         "3 places"},
        {"what does not occur", "edit",
         "{\"path\":\"src/a.c\",\"old_text\":\"two\",\"new_text\":\"\"}", true, "occurs 0 times"},
        {"the edits are there", "read_file", "{\"path\":\"src/a.c\"}", false,
         "onE\n2\nthrEE\nfour\n["},
        {"nothing is written outside", "write", "{\"path\":\"../x.c\",\"content\":\"\"}", true,
         "not below the working directory"},
        {"nor by its full name", "write", "{\"path\":\"/tmp/weir-x\",\"content\":\"\"}", true,
         "not below the working directory"},
        {"a missing file", "read_file", "{\"path\":\"nope\"}", true, "No such file"},
        {"a folder is no file", "read_file", "{\"path\":\"src\"}", true, "is a directory"},
        {"a missing argument", "read_file", "{}", true, "'path' is missing"},
        {"an argument of another kind", "read_file", "{\"path\":7}", true, "must be a string"},
        {"arguments that are not JSON", "read_file", "{path}", true, "not JSON"},
        {"an unknown tool", "fly", "{}", true, "there is no tool 'fly'"},
        {"a listing", "list", "{\"path\":\"src\"}", false, "a.c 17\n"},
    };
    PLAY(list);
}

static void links_do_not_lead_outside(void **state)
{
    struct bench *b = *state;
    char path[600];
    (void)snprintf(path, sizeof(path), "%s/out", b->root);
    assert_int_equal(symlink("/tmp", path), 0);
    play(b, &(struct exchange){"a link to a folder outside", "write",
                               "{\"path\":\"out/weir-x\",\"content\":\"\"}", true,
                               "not below the working directory"});
}

static void exchange_at(struct bench *b, const char *behaviour, const char *tool, const char *path,
                        bool is_error, const char *holds)
{
    char arguments[700];
    (void)snprintf(arguments, sizeof(arguments),
                   "{\"path\":\"%s\",\"content\":\"\",\"old_text\":\"a\",\"new_text\":\"b\"}",
                   path);
    play(b, &(struct exchange){behaviour, tool, arguments, is_error, holds});
}

static void nothing_is_made_or_changed_outside(void **state)
{
    static const char below[] = "not below the working directory";
    struct bench *b = *state;
    struct wr_test_dir outside = wr_test_dir_new();
    char path[600], link[600], name[700];

    (void)snprintf(link, sizeof(link), "%s/out", b->root);
    assert_int_equal(symlink(outside.path, link), 0);
    (void)snprintf(path, sizeof(path), "%s/file", outside.path);
    assert_null(wr_file_replace(path, WR_LIT("a\n")));
    (void)snprintf(name, sizeof(name), "%s/linked", b->root);
    assert_int_equal(symlink(path, name), 0);
    (void)snprintf(name, sizeof(name), "%s/dangling", b->root);
    assert_int_equal(symlink("/nonexistent/x", name), 0);
    exchange_at(b, "folders behind a link", "write", "out/new/deep/x", true, below);
    exchange_at(b, "a file by its link", "write", "linked", true, below);
    exchange_at(b, "nor edited", "edit", "linked", true, below);
    exchange_at(b, "a link to nowhere", "write", "dangling", true, below);
    exchange_at(b, "up from what is not there", "write", "no/../../x", true, below);
    exchange_at(b, "not even to what is inside", "write", "a/b/../c", true, below);
    exchange_at(b, "folders inside are made", "write", "a/b/c", false, "Wrote a/b/c, 0 bytes");
    exchange_at(b, "and back through them", "write", "a/b/../d", false, "Wrote a/b/../d");
    exchange_at(b, "but not further", "write", "a/../../x", true, below);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(outside.path), 0); /* it is as empty as before */
}

/* What cannot be read cannot be put back. */
static void what_is_no_file_is_not_replaced(void **state)
{
    struct bench *b = *state;
    char path[600];

    (void)snprintf(path, sizeof(path), "%s/pipe", b->root);
    assert_int_equal(mkfifo(path, 0600), 0);
    exchange_at(b, "a pipe", "write", "pipe", true, "is no regular file");
    (void)snprintf(path, sizeof(path), "%s/long", b->root);
    assert_null(wr_file_replace(path, WR_LIT("x")));
    assert_int_equal(truncate(path, (off_t)WR_AGENT_FILE_BYTES_MAX + 1), 0);
    exchange_at(b, "a file that is too long", "write", "long", true, "nothing was changed");
}

static void a_line_that_is_cut_says_so(void **state)
{
    struct bench *b = *state;
    char path[600];

    (void)snprintf(path, sizeof(path), "%s/line", b->root);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < WR_AGENT_READ_BYTES_MAX; i++)
        (void)fputc('y', file);
    assert_int_equal(fclose(file), 0);
    exchange_at(b, "a very long line", "read_file", "line", false, "more bytes of this line]\n");
}

static void searches_find_lines(void **state)
{
    static const struct exchange list[] = {
        {"", "write", "{\"path\":\"a.c\",\"content\":\"int main;\\nint other;\\n\"}", false, ""},
        {"", "write", "{\"path\":\"b.py\",\"content\":\"main = 1\\n\"}", false, ""},
        {"", "write", "{\"path\":\"node_modules/x.c\",\"content\":\"main\\n\"}", false, ""},
        {"every file but those of others", "grep", "{\"pattern\":\"main\"}", false,
         "a.c:1:int main;\nb.py:1:main = 1\n[2 matches in 2 files]"},
        {"only some names", "grep", "{\"pattern\":\"main\",\"glob\":\"*.py\"}", false,
         "[1 match in 1 files]"},
        {"a pattern that is none", "grep", "{\"pattern\":\"(\"}", true, "pattern: "},
        {"a place that is none", "grep", "{\"pattern\":\"x\",\"path\":\"zz\"}", true, "No such"},
    };
    PLAY(list);
}

static bool yes(void *user)
{
    (void)user;
    return true;
}

static void a_search_can_be_interrupted(void **state)
{
    struct bench *b = *state;

    play(b,
         &(struct exchange){"", "write", "{\"path\":\"a.c\",\"content\":\"x\\nmain\"}", false, ""});
    b->box.interrupt = yes;
    play(b, &(struct exchange){"what was found so far", "grep", "{\"pattern\":\"main\"}", false,
                               "; interrupted by the user]"});
}

static void processes_run_and_are_read(void **state)
{
    static const struct exchange list[] = {
        {"output and exit code", "process_start", "{\"command\":\"echo hi; echo oh >&2; exit 3\"}",
         false, "hi\noh\n[process 1 ended, exit code 3; cursor 6]"},
        {"progress bars end in their last state", "process_start",
         "{\"command\":\"printf '10%%\\\\r50%%\\\\r100%%\\\\n'\"}", false,
         "100%\n[process 2 ended"},
        {"one that goes on is left running", "process_start",
         "{\"command\":\"echo first; exec sleep 600\",\"wait_seconds\":0}", false,
         "[process 3 is running"},
        {"what it printed can be waited for", "process_read",
         "{\"id\":3,\"mode\":\"all\",\"wait_seconds\":20}", false, "first\n[process 3 is running"},
        {"it can be ended", "process_stop", "{\"id\":3}", false, "was killed by signal 15"},
        {"a cursor behind the end is the end", "process_read", "{\"id\":1,\"cursor\":999}", false,
         "cursor 6]"},
        {"lines can be searched", "process_read", "{\"id\":1,\"mode\":\"all\",\"search\":\"^o\"}",
         false, "2:oh\n[process 1"},
        {"a process that is none", "process_read", "{\"id\":99}", true, "no process 99"},
        {"bytes that are no text", "process_start", "{\"command\":\"printf 'a\\\\377b\\\\n'\"}",
         false,
         "a\xEF\xBF\xBD"
         "b\n"},
    };
    PLAY(list);
}

static void what_prints_without_end_is_told_why_it_ended(void **state)
{
    struct bench *b = *state;
    wr_processes_limit_output(b->box.processes, 1000);
    play(b, &(struct exchange){"a command over the limit", "process_start",
                               "{\"command\":\"seq 2000; exec sleep 600\"}", false,
                               "was killed by signal 9: it printed more than a command may; "});
}

/* 200 KB of errors are under the cap of a stream, 256 KB, and stand where they were printed. */
static void what_a_command_prints_is_one_stream(void **state)
{
    static const struct exchange list[] = {
        {"errors are as long as they are", "process_start",
         "{\"command\":\"echo first; seq -f 'error %.0f' 1 16000 >&2; echo last; exit 1\"}", false,
         "first\nerror 1\n"},
        {"to their end, and in order", "process_read", "{\"id\":1,\"mode\":\"all\"}", false,
         "error 16000\nlast\n[process 1 ended, exit code 1"},
        {"past the cap the end stays", "process_start",
         "{\"command\":\"seq -f 'error %.0f' 1 40000 >&2\"}", false,
         "bytes before this are left out]\nerror "},
    };
    PLAY(list);
}

static void notes_outlive_the_session(void **state)
{
    static const struct exchange list[] = {
        {"a note", "memory",
         "{\"action\":\"write\",\"name\":\"build\",\"content\":\"# How to build\\nmake\\n\"}",
         false, "Noted 'build'."},
        {"is read", "memory", "{\"action\":\"read\",\"name\":\"build\"}", false, "make\n"},
        {"and is in the index, under its first line", "read_file", "{\"path\":\"MEMORY.md\"}",
         false, "How to build"},
        {"a name that leads elsewhere", "memory", "{\"action\":\"read\",\"name\":\"../x\"}", true,
         "../x"},
        {"a note that is none names those there are", "memory",
         "{\"action\":\"read\",\"name\":\"x\"}", true, "build"},
        {"an action that is none", "memory", "{\"action\":\"eat\",\"name\":\"x\"}", true,
         "action is"},
        {"", "write", "{\"path\":\"skills/dig/SKILL.md\",\"content\":\"Dig deep.\"}", false, ""},
        {"a skill is read", "skill", "{\"name\":\"dig\"}", false, "Dig deep."},
    };
    PLAY(list);
}

static void definitions_are_whole(void **state)
{
    struct bench *b = *state;
    struct weir_tool list[WR_TOOLBOX_TOOLS_MAX];
    size_t count = wr_toolbox_tools(&b->box, list);

    assert_int_equal(count, 10); /* no store, no helpers */
    for (size_t i = 0; i < count; i++) {
        struct wr_arena arena;
        struct wr_json doc;
        wr_arena_init(&arena, 1 << 20);
        assert_true(list[i].description.len > 10);
        assert_int_equal(wr_json_parse(&doc, &arena, list[i].schema, NULL, NULL), WEIR_OK);
        assert_true(wr_json_text_is(&doc, wr_json_find(&doc, 0, "type"), "object"));
        wr_arena_release(&arena);
    }
}

static void a_toolbox_that_only_reads_changes_nothing(void **state)
{
    struct bench *b = *state;
    static const char *const only[] = {"read_file", "list", "grep", NULL};
    b->box.only = only;
    static const struct exchange list[] = {
        {"no writing", "write", "{\"path\":\"a\",\"content\":\"\"}", true, "there is no tool"},
        {"no commands", "process_start", "{\"command\":\"true\"}", true, "there is no tool"},
        {"reading", "list", "{}", false, ""},
    };
    PLAY(list);
}

static void what_changes_something_needs_consent(void **state)
{
    static const struct {
        const char *tool, *arguments;
        bool needs;
    } cases[] = {
        {"write", "{\"path\":\"a\"}", true},
        {"edit", "{}", true},
        {"process_start", "{\"command\":\"ls\"}", true},
        {"read_file", "{\"path\":\"a\"}", false},
        {"read_file", "{\"path\":\"not/there/yet\"}", false},
        {"read_file", "{\"path\":\"a/../../../etc/passwd\"}", true},
        {"read_file", "{\"path\":\"/etc/passwd\"}", true},
        {"read_file", "{\"path\":\"..\"}", true},
        {"read_file", "{\"path\":\"link\"}", true},
        {"read_file", "{\"path\":7}", false},
        {"list", "{}", false},
        {"list", "{\"path\":\"/\"}", true},
        {"grep", "{\"pattern\":\"a\"}", false},
        {"grep", "{\"pattern\":\"a\",\"path\":\"/etc\"}", true},
        {"process_read", "{}", false},
        {"nonsense", "{}", false},
    };
    struct bench *b = *state;
    char path[600];
    (void)snprintf(path, sizeof(path), "%s/link", b->box.root);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_tool_call_text call = {wr_span_of(cases[i].tool), wr_span_of(cases[i].arguments)};
        struct wr_arena arena;
        weir_span command;
        wr_arena_init(&arena, 1000000);
        bool needs = wr_toolbox_needs_consent(&b->box, &arena, &call, &command);
        if (needs != cases[i].needs)
            fail_msg("%s %s", cases[i].tool, cases[i].arguments);
        if (wr_span_is(call.name, "process_start"))
            assert_true(wr_span_is(command, "ls"));
        wr_arena_release(&arena);
    }
}

#define A50  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A200 A50 A50 A50 A50

#define LONG_COMMAND                                                                          \
    "echo 0123456789012345678901234567890123456789012345678901234567890123456789012345678901" \
    "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345"

static void a_preview_is_a_diff_and_changes_nothing(void **state)
{
    static const struct {
        const char *behaviour, *tool, *arguments, *diff;
    } cases[] = {
        {"lines of a file", "edit", "{\"path\":\"f\",\"old_text\":\"3\",\"new_text\":\"x\\ny\"}",
         "@@ line 3 @@\n 1\n 2\n-3\n+x\n+y\n 4\n 5\n"},
        {"a line that goes", "edit", "{\"path\":\"f\",\"old_text\":\"1\\n\",\"new_text\":\"\"}",
         "@@ line 1 @@\n-1\n 2\n 3\n"},
        {"a whole file", "write", "{\"path\":\"f\",\"content\":\"1\\n2\\n3\\n4\\n5\\n6\\n7\\n\"}",
         "@@ line 7 @@\n 5\n 6\n+7\n"},
        {"a new file", "write", "{\"path\":\"d/g\",\"content\":\"a\\nb\"}",
         "@@ line 1 @@\n+a\n+b\n"},
        {"a line that is long", "write", "{\"path\":\"d/h\",\"content\":\"" A200 "bcd\"}",
         "@@ line 1 @@\n+" A200 " [3 more bytes in this line]\n"},
        {"what would fail", "edit", "{\"path\":\"f\",\"old_text\":\"9\",\"new_text\":\"x\"}", ""},
        {"what changes nothing", "list", "{}", ""},
        {"a command that its line shows", "process_start", "{\"command\":\"make test\"}", ""},
        {"one of several lines", "process_start", "{\"command\":\"ls\\nrm  a\\n\"}",
         " ls\n rm  a\n"},
        {"one whose end blanks push away", "process_start",
         "{\"command\":\"ls                  ; rm a\"}", " ls                  ; rm a\n"},
        {"a long one", "process_start", "{\"command\":\"" LONG_COMMAND "; rm a\"}",
         " " LONG_COMMAND "; rm a\n"},
    };
    struct bench *b = *state;
    char path[600];
    (void)snprintf(path, sizeof(path), "%s/f", b->box.root);
    assert_null(wr_file_replace(path, WR_LIT("1\n2\n3\n4\n5\n6\n")));
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct wr_tool_call_text call = {wr_span_of(cases[i].tool), wr_span_of(cases[i].arguments)};
        struct wr_buf diff, file;
        wr_buf_init(&diff, 10000);
        wr_buf_init(&file, 10000);
        wr_toolbox_preview(&b->box, &call, &diff);
        if (!wr_span_is(wr_buf_view(&diff), cases[i].diff))
            fail_msg("%s: %.*s", cases[i].behaviour, (int)diff.len, diff.len ? diff.bytes : "");
        assert_null(wr_file_read(path, &file));
        assert_true(wr_span_is(wr_buf_view(&file), "1\n2\n3\n4\n5\n6\n"));
        wr_buf_release(&file);
        wr_buf_release(&diff);
    }
    (void)snprintf(path, sizeof(path), "%s/d", b->box.root);
    assert_int_not_equal(access(path, F_OK), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(files_are_read_written_and_edited),
        CASE(links_do_not_lead_outside),
        CASE(nothing_is_made_or_changed_outside),
        CASE(what_is_no_file_is_not_replaced),
        CASE(a_line_that_is_cut_says_so),
        CASE(searches_find_lines),
        CASE(a_search_can_be_interrupted),
        CASE(processes_run_and_are_read),
        CASE(what_prints_without_end_is_told_why_it_ended),
        CASE(what_a_command_prints_is_one_stream),
        CASE(notes_outlive_the_session),
        CASE(definitions_are_whole),
        CASE(a_toolbox_that_only_reads_changes_nothing),
        CASE(what_changes_something_needs_consent),
        CASE(a_preview_is_a_diff_and_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
