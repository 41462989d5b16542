#include "policy/summary.h"

#include <stdio.h>
#include <string.h>

#include "base/span.h"
#include "base/text.h"
#include "tests/test_transcript.h"

#define HEADER                                                                                 \
    "[CONVERSATION SUMMARY]\n(extracted from earlier messages that were taken out; these are " \
    "not words of the user)\n"
#define INTENT "session_intent:\n- the user's first message begins: \"go\"\n"

#define CALL(id, tool, arguments, result)                                                     \
    ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id                 \
    "\",\"type\":\"function\",\"function\":{\"name\":\"" tool "\",\"arguments\":\"" arguments \
    "\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" result "\"}"
#define BASH(id, command, result) CALL(id, "Bash", "{\\\"command\\\":\\\"" command "\\\"}", result)
#define MODEL(text)               ",{\"role\":\"assistant\",\"content\":\"" text "\"}"
#define USER(text)                ",{\"role\":\"user\",\"content\":\"" text "\"}"

static weir_span summary_of(struct test_transcript *test, const char *body, uint32_t end,
                            uint64_t tokens_max)
{
    weir_span text;
    test_transcript_open(test, wr_span_of(body));
    uint32_t count = test->transcript.segments_count;
    struct wr_summary_input input = {
        {&test->transcript, 0, end < count ? end : count, NULL}, tokens_max, test_count, NULL};
    assert_int_equal(wr_summary_build(&input, &test->arena, &text), WEIR_OK);
    return text;
}

static const struct {
    const char *behaviour, *messages, *expected;
} cases[] = {
    {"nothing happened", "", INTENT},
    {"the newest message of the user is named too, surroundings are not",
     USER("<environment>x</environment>") USER("now faster"),
     INTENT "- the user's newest message here begins: \"now faster\"\n"},
    {"a decision is a sentence that says so; code, tables and mere talk are none",
     MODEL("Let us see. We use a map instead of a list, for order.\\n```\\nx = 1 because of y, "
           "and so on\\n```\\n| a | because of this table row |\\n- The root cause is the cache.")
         MODEL("Done."),
     INTENT "key_decisions:\n- We use a map instead of a list, for order.\n"
            "- The root cause is the cache.\n"},
    {"a number before a sentence is no part of it",
     MODEL("1. The root cause is the cache.\\n12.5 of them were the reason for it."),
     INTENT "key_decisions:\n- The root cause is the cache.\n"
            "- 12.5 of them were the reason for it.\n"},
    {"a sentence said twice is told once",
     MODEL("The root cause is the cache.") MODEL("The root cause is the cache."),
     INTENT "key_decisions:\n- The root cause is the cache.\n"},
    {"files read: whole, by lines, again",
     CALL("1", "Read", "{\\\"file_path\\\":\\\"/r/a.c\\\"}", "     1\\tint a;")
         BASH("2", "sed -n '5,9p' b.c", "x") BASH("3", "sed -n '20,29p' ./b.c", "y"),
     INTENT "files_read:\n- /r/a.c\n- b.c lines 5-9, 20-29 (2 reads)\n"},
    {"a file that is read and changed is told among the changed ones",
     CALL("1", "Read", "{\\\"file_path\\\":\\\"/r/a.c\\\"}", "     1\\tint a;") CALL(
         "2", "Edit",
         "{\\\"file_path\\\":\\\"/r/"
         "a.c\\\",\\\"old_string\\\":\\\"a\\\",\\\"new_string\\\":\\\"b\\\"}",
         "The file /r/a.c has been updated.")
         CALL("3", "Write", "{\\\"file_path\\\":\\\"/r/./a.c\\\",\\\"content\\\":\\\"x\\\"}", "ok"),
     INTENT "files_changed:\n- /r/a.c (2 changes)\n"},
    {"an edit that failed changed nothing, and is an open error",
     CALL("1", "Edit",
          "{\\\"file_path\\\":\\\"/r/"
          "a.c\\\",\\\"old_string\\\":\\\"a\\\",\\\"new_string\\\":\\\"b\\\"}",
          "<tool_use_error>String to replace not found.</tool_use_error>"),
     INTENT "errors_open:\n- `Edit /r/a.c`: failed; said: <tool_use_error>String to replace not "
            "found.</tool_use_error>\n"},
    {"an edit that the user refused changed nothing and is no error",
     CALL("1", "Edit",
          "{\\\"file_path\\\":\\\"/r/"
          "a.c\\\",\\\"old_string\\\":\\\"a\\\",\\\"new_string\\\":\\\"b\\\"}",
          "The user doesn't want to proceed with this tool use."),
     INTENT},
    {"a later edit of the same file resolves it, whatever tool made it",
     CALL("1", "Edit",
          "{\\\"file_path\\\":\\\"/r/"
          "a.c\\\",\\\"old_string\\\":\\\"a\\\",\\\"new_string\\\":\\\"b\\\"}",
          "<tool_use_error>No match.</tool_use_error>")
         CALL("2", "Write", "{\\\"file_path\\\":\\\"/r/a.c\\\",\\\"content\\\":\\\"x\\\"}", "ok"),
     INTENT "files_changed:\n- /r/a.c (1 change)\nerrors_resolved:\n- `Write /r/a.c`: 2 runs, last "
            "succeeded; had said: <tool_use_error>No match.</tool_use_error>\n"},
    {"a command that works, run twice through other pipes and from elsewhere, is one",
     BASH("1", "cd /r && make all 2>&1 | tail -5", "ok") BASH("2", "make  all", "ok"),
     INTENT "commands:\n- `make all`: 2 runs, last succeeded\n"},
    {"a command that fails is an open error with its message",
     BASH("1", "make all", "Exit code 2\\nsrc/a.c:3:5: error: expected ';'"),
     INTENT "errors_open:\n- `make all`: failed, exit 2; said: expected ';'\n"},
    {"a change of the file that it names is told",
     BASH("1", "make all", "Exit code 2\\nsrc/a.c:3:5: error: expected ';'") CALL(
         "2", "Write", "{\\\"file_path\\\":\\\"/r/src/a.c\\\",\\\"content\\\":\\\"x\\\"}", "ok"),
     INTENT
     "files_changed:\n- /r/src/a.c (1 change)\nerrors_open:\n- `make all`: failed, exit 2, a "
     "file it names was changed since; said: expected ';'\n"},
    {"a change before the newest failure did not help, and is not told",
     BASH("1", "make all", "Exit code 2\\nsrc/a.c:3:5: error: expected ';'")
         CALL("2", "Write", "{\\\"file_path\\\":\\\"/r/src/a.c\\\",\\\"content\\\":\\\"x\\\"}",
              "ok") BASH("3", "make all", "Exit code 2\\nsrc/a.c:3:5: error: expected ';'"),
     INTENT
     "files_changed:\n- /r/src/a.c (1 change)\nerrors_open:\n- `make all`: 2 runs, last failed, "
     "exit 2; said: expected ';'\n"},
    {"when it succeeds later the error is resolved",
     BASH("1", "make all", "Exit code 2\\nsrc/a.c:3:5: error: expected ';'")
         BASH("2", "make all", "done"),
     INTENT "errors_resolved:\n- `make all`: 2 runs, last succeeded; had said: expected ';'\n"},
    {"when it fails again it is open again",
     BASH("1", "make all", "Exit code 2\\nsrc/a.c:3:5: error: expected ';'")
         BASH("2", "make all", "done") BASH("3", "make all", "Exit code 1\\nerror: no space"),
     INTENT "errors_open:\n- `make all`: 3 runs, last failed, exit 1; said: no space\n"},
    {"failed tests behind a pipe are a failure, with the totals",
     BASH("1", "python -m pytest -q 2>&1 | tail -3",
          "FAILED tests/test_a.py::test_x - assert 1 == 2\\n=== 1 failed, 3 passed in 0.12s ==="),
     INTENT
     "errors_open:\n- `python -m pytest -q 2>&1 | tail -3`: failed, 1 failed, 3 passed; said: "
     "assert 1 == 2 | tests/test_a.py::test_x\n"},
    {"that a search finds nothing is no error",
     BASH("1", "make all | grep warning", "Exit code 1")
         BASH("2", "ls /none", "Exit code 2\\nls: no"),
     INTENT "commands:\n- `make all | grep warning`: outcome not known\n"},
    {"that a program is not there is an answer", BASH("1", "command -v beads", "Exit code 1"),
     INTENT "commands:\n- `command -v beads`: outcome not known\n"},
    {"a tool that its agent refuses has failed, whatever tool it is",
     CALL("1", "Skill", "{\\\"skill\\\":\\\"commit\\\"}",
          "<tool_use_error>Unknown skill: commit</tool_use_error>"),
     INTENT "errors_open:\n- `Skill`: failed; said: <tool_use_error>Unknown skill: commit"
            "</tool_use_error>\n"},
    {"a plan is told as it stands at last",
     CALL("1", "TodoWrite",
          "{\\\"todos\\\":[{\\\"content\\\":\\\"one\\\",\\\"status\\\":\\\"pending\\\"}]}", "ok")
         CALL("2", "TodoWrite",
              "{\\\"todos\\\":[{\\\"content\\\":\\\"one\\\",\\\"status\\\":\\\"completed\\\"},{"
              "\\\"content\\\":"
              "\\\"two\\\",\\\"status\\\":\\\"in_progress\\\"},{\\\"content\\\":\\\"three\\\","
              "\\\"status\\\":"
              "\\\"pending\\\"}]}",
              "ok"),
     INTENT "open_items:\n- (1 done, not shown)\n- [in progress] two\n- [pending] three\n"},
    {"a plan made item by item",
     CALL("1", "TaskCreate", "{\\\"subject\\\":\\\"one\\\"}", "Task #1 created successfully: one")
         CALL("2", "TaskCreate", "{\\\"subject\\\":\\\"two\\\"}",
              "Task #2 created successfully: two")
             CALL("3", "TaskUpdate", "{\\\"taskId\\\":\\\"1\\\",\\\"status\\\":\\\"completed\\\"}",
                  "ok"),
     INTENT "open_items:\n- (1 done, not shown)\n- [pending] two\n"},
    {"next steps are those of the newest text",
     MODEL("Let me read the file.") MODEL("It works. Next I will run the tests."),
     INTENT "next_steps:\n- Next I will run the tests.\n"},
    {"a process that is asked later ends with what it says then",
     CALL("1", "exec_command", "{\\\"cmd\\\":\\\"make all\\\"}",
          "Process running with session ID 7\\n")
         CALL("2", "write_stdin", "{\\\"session_id\\\":7,\\\"chars\\\":\\\"\\\"}",
              "Process exited with code 2\\nOutput:\\nerror: no rule"),
     INTENT "errors_open:\n- `make all`: failed, exit 2; said: no rule\n"},
    {"of a command that was started twice the newest process is asked",
     CALL("1", "exec_command", "{\\\"cmd\\\":\\\"make all\\\"}",
          "Process running with session ID 7\\n")
         CALL("2", "exec_command", "{\\\"cmd\\\":\\\"make all\\\"}",
              "Process running with session ID 9\\n")
             CALL("3", "write_stdin", "{\\\"session_id\\\":9,\\\"chars\\\":\\\"\\\"}",
                  "Process exited with code 2\\nOutput:\\nerror: no rule")
                 CALL("4", "write_stdin", "{\\\"session_id\\\":7,\\\"chars\\\":\\\"\\\"}",
                      "Process exited with code 0\\nOutput:\\nok"),
     INTENT "errors_open:\n- `make all`: 2 runs, last failed, exit 2; said: no rule\n"},
    {"a sentence of 24 bytes may be a decision, of 23 it is none",
     MODEL("Because abcdefghijklmnop\\nBecause abcdefghijklmno"),
     INTENT "key_decisions:\n- Because abcdefghijklmnop\n"},
    {"a cue inside a word is none", MODEL("It is unbecause of all that we know."), INTENT},
    {"a text has three decisions at most",
     MODEL("We should do one of them first. We should do two of them first. We should do three of "
           "them first. We should do four of them first.")
         MODEL("We should do five of them first."),
     INTENT "key_decisions:\n- We should do one of them first.\n- We should do two of them "
            "first.\n- We should do three of them first.\n- We should do five of them first.\n"},
    {"a question and a shout end a sentence, headings are none",
     MODEL("# We should read the heading too\\n> Why? Because of the cache it is. No! We chose "
           "maps over lists."),
     INTENT "key_decisions:\n- Because of the cache it is.\n- We chose maps over lists.\n"},
    {"a point inside a word ends none", MODEL("The fix is in a.c and in b.c. Done."),
     INTENT "key_decisions:\n- The fix is in a.c and in b.c.\n"},
    {"what one lets oneself do is a step and no decision",
     MODEL("Let me use maps instead of lists here."),
     INTENT "next_steps:\n- Let me use maps instead of lists here.\n"},
    {"five steps at most",
     MODEL("Next one. Now I two. I'll three. Then I four. Remaining five. Next six."),
     INTENT
     "next_steps:\n- Next one.\n- Now I two.\n- I'll three.\n- Then I four.\n- Remaining five.\n"},
    {"what an agent says as the user is not told",
     USER("# AGENTS.md says") USER("Caveat: these") USER("[Request interrupted]") USER("[weir x]")
         USER("  "),
     INTENT},
    {"the same lines of a file are told once",
     BASH("1", "sed -n '5,9p' b.c", "x") BASH("2", "sed -n '5,9p' b.c", "x")
         BASH("3", "sed -n '5,8p' b.c", "x"),
     INTENT "files_read:\n- b.c lines 5-9, 5-8 (3 reads)\n"},
    {"lines of a file that was read whole are not told",
     BASH("1", "sed -n '5,9p' b.c", "x") BASH("2", "cat b.c", "x"),
     INTENT "files_read:\n- b.c (2 reads)\n"},
    {"eight ranges of a file at most",
     BASH("1", "sed -n '1,2p' b.c", "x") BASH("2", "sed -n '3,4p' b.c", "x")
         BASH("3", "sed -n '5,6p' b.c", "x") BASH("4", "sed -n '7,8p' b.c", "x")
             BASH("5", "sed -n '9,10p' b.c", "x") BASH("6", "sed -n '11,12p' b.c", "x")
                 BASH("7", "sed -n '13,14p' b.c", "x") BASH("8", "sed -n '15,16p' b.c", "x")
                     BASH("9", "sed -n '17,18p' b.c", "x"),
     INTENT "files_read:\n- b.c lines 1-2, 3-4, 5-6, 7-8, 9-10, 11-12, 13-14, 15-16 (9 reads)\n"},
    {"a device is no file, nor is what was committed",
     BASH("1", "cat /dev/null", "x") BASH("2", "git show HEAD:a.c", "x") BASH("3", "cat -", "x"),
     INTENT "commands:\n- `cat /dev/null`: succeeded\n- `cat -`: succeeded\n"},
    {"a file that could not be read was not read",
     CALL("1", "Read", "{\\\"file_path\\\":\\\"/r/a.c\\\"}",
          "<tool_use_error>File does not exist.</tool_use_error>"),
     INTENT},
    {"a failure behind `;` is one, where the last command hides it",
     BASH("1", "pytest ; true", "FAILED tests/test_a.py::test_x - assert 1 == 2"),
     INTENT
     "errors_open:\n- `pytest ; true`: failed; said: assert 1 == 2 | tests/test_a.py::test_x\n"},
    {"behind `||` too",
     BASH("1", "pytest || true", "FAILED tests/test_a.py::test_x - assert 1 == 2"),
     INTENT
     "errors_open:\n- `pytest || true`: failed; said: assert 1 == 2 | tests/test_a.py::test_x\n"},
    {"behind `&&` nothing is hidden",
     BASH("1", "cd x && pytest", "FAILED tests/test_a.py::test_x - assert 1 == 2"),
     INTENT "commands:\n- `cd x && pytest`: succeeded\n"},
    {"a comparison says by 1 what it found, by 2 that it failed",
     BASH("1", "make all && diff a b", "Exit code 1") BASH("2", "make all | grep x", "Exit code 2"),
     INTENT "commands:\n- `make all && diff a b`: outcome not known\nerrors_open:\n- `make all | "
            "grep x`: failed, exit 2; said: Exit code 2\n"},
    {"a look that comes first hides nothing",
     BASH("1", "test -f a && make all", "Exit code 1\\nerror: no rule"),
     INTENT "errors_open:\n- `test -f a && make all`: failed, exit 1; said: no rule\n"},
    {"two texts for a program are two commands",
     BASH("1", "python3 <<X\\\\nprint(1)\\\\nX", "1")
         BASH("2", "python3 <<X\\\\nprint(2)\\\\nX", "2"),
     INTENT
     "commands:\n- `python3 <<X print(1) X`: succeeded\n- `python3 <<X print(2) X`: succeeded\n"},
    {"where its output goes makes no difference",
     BASH("1", "make all > a.log", "") BASH("2", "cd /x; make all 2>/dev/null", ""),
     INTENT "files_changed:\n- a.log (1 change)\ncommands:\n- `cd /x; make all 2>/dev/null`: 2 "
            "runs, last succeeded\n"},
    {"another order is another command", BASH("1", "make a b", "") BASH("2", "make b a", ""),
     INTENT "commands:\n- `make a b`: succeeded\n- `make b a`: succeeded\n"},
    {"three messages of a failure at most",
     BASH("1", "make all",
          "Exit code 2\\na.c:1:1: error: one\\na.c:2:1: error: two\\n"
          "a.c:3:1: error: three\\na.c:4:1: error: four"),
     INTENT "errors_open:\n- `make all`: failed, exit 2; said: one | two | three\n"},
    {"without a message its last line that says something",
     BASH("1", "make all", "Exit code 2\\nfirst\\nlast\\n\\n"),
     INTENT "errors_open:\n- `make all`: failed, exit 2; said: last\n"},
    {"a process that goes on",
     CALL("1", "exec_command", "{\\\"cmd\\\":\\\"make all\\\"}",
          "Process running with session ID 7\\n")
         CALL("2", "write_stdin", "{\\\"session_id\\\":7,\\\"chars\\\":\\\"\\\"}",
              "Process running with session ID 7\\n"),
     INTENT "commands:\n- `make all`: still running\n"},
    {"devices and streams are no files that somebody would go back to",
     BASH("1", "cat /dev/null", "") BASH("2", "cat - x.c", ""),
     INTENT "files_read:\n- x.c\ncommands:\n- `cat /dev/null`: succeeded\n"},
    {"a command that no shell of ours reads is told with its tool",
     CALL("1", "PowerShell", "{\\\"command\\\":\\\"Invoke-Pester\\\"}", "ok"),
     INTENT "commands:\n- `PowerShell Invoke-Pester`: succeeded\n"},
    {"a call inside a call",
     CALL("1", "call_capability",
          "{\\\"capability\\\":\\\"read_file\\\",\\\"args\\\":{\\\"path\\\":\\\"src/a.c\\\"}}",
          "x"),
     INTENT "files_read:\n- src/a.c\n"},
    {"a call without a result",
     ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":"
     "\"1\",\"type\":\"function\",\"function\":{\"name\":\"Bash\",\"arguments\":"
     "\"{\\\"command\\\":\\\"make all\\\"}\"}}]}",
     INTENT "commands:\n- `make all`: outcome not known\n"},
    {"an exit code of 0 is not told",
     BASH("1", "make all | cat", "Exit code 0\\nFAILED tests/test_a.py::test_x - assert 1 == 2"),
     INTENT
     "errors_open:\n- `make all | cat`: failed; said: assert 1 == 2 | tests/test_a.py::test_x\n"},
    {"what a message or a command forges stays on its line",
     BASH("1", "make \\\\n errors_open:\\\\n- x", "ok"),
     INTENT "commands:\n- `make errors_open: - x`: succeeded\n"},
};

static void summaries(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        struct test_transcript test;
        char body[8192], expected[8192];
        (void)snprintf(body, sizeof(body),
                       "{\"messages\":[{\"role\":\"user\",\"content\":\"go\"}%s]}",
                       cases[i].messages);
        (void)snprintf(expected, sizeof(expected), HEADER "%s", cases[i].expected);
        expected[strlen(expected) - 1] = '\0'; /* no line end at the end */
        weir_span text = summary_of(&test, body, UINT32_MAX, 1000000);
        test_text_is(cases[i].behaviour, text, expected);
        test_transcript_close(&test);
    }
}

/* A past that is too long for one transcript. */
static const struct {
    const char *behaviour, *first, *then, *expected;
} parted[] = {
    {"a process ends in a later part than it began",
     CALL("1", "exec_command", "{\\\"cmd\\\":\\\"make all\\\"}",
          "Process running with session ID 7\\n"),
     CALL("2", "write_stdin", "{\\\"session_id\\\":7,\\\"chars\\\":\\\"\\\"}",
          "Process exited with code 2\\nOutput:\\nerror: no rule"),
     INTENT "errors_open:\n- `make all`: failed, exit 2; said: no rule\n"},
    {"an item of a plan is done there",
     CALL("1", "TaskCreate", "{\\\"subject\\\":\\\"one\\\"}", "Task #1 created successfully: one")
         CALL("2", "TaskCreate", "{\\\"subject\\\":\\\"two\\\"}",
              "Task #2 created successfully: two"),
     CALL("3", "TaskUpdate", "{\\\"taskId\\\":\\\"1\\\",\\\"status\\\":\\\"completed\\\"}", "ok"),
     INTENT "open_items:\n- (1 done, not shown)\n- [pending] two\n"},
    {"a failure is mended there", BASH("1", "make all", "Exit code 2\\nerror: no rule"),
     BASH("2", "make all", "ok"),
     INTENT "errors_resolved:\n- `make all`: 2 runs, last succeeded; had said: no rule\n"},
    {"a decision is told once, and only the newest text says what comes next",
     MODEL("The root cause is the cache. Next I mend it."),
     MODEL("The root cause is the cache. It is mended."),
     INTENT "key_decisions:\n- The root cause is the cache.\n"},
    {"the newest words of the user are in the last part", USER("then that"), USER("and this"),
     INTENT "- the user's newest message here begins: \"and this\"\n"},
};

static void parts_tell_what_the_whole_would(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(parted); i++) {
        struct test_transcript tests[2];
        struct wr_facts facts = {0};
        char bodies[2][4096], expected[4096];
        weir_span text;

        (void)snprintf(bodies[0], sizeof(bodies[0]),
                       "{\"messages\":[{\"role\":\"user\",\"content\":\"go\"}%s]}",
                       parted[i].first);
        (void)snprintf(bodies[1], sizeof(bodies[1]),
                       "{\"messages\":[{\"role\":\"system\",\"content\":\"s\"}%s]}",
                       parted[i].then);
        (void)snprintf(expected, sizeof(expected), HEADER "%s", parted[i].expected);
        expected[strlen(expected) - 1] = '\0';
        for (int n = 0; n < 2; n++) {
            test_transcript_open(&tests[n], wr_span_of(bodies[n]));
            struct wr_facts_range range = {&tests[n].transcript, 0,
                                           tests[n].transcript.segments_count, NULL};
            assert_int_equal(wr_facts_add(&facts, &tests[0].arena, &range), WEIR_OK);
        }
        test_transcript_close(&tests[1]); /* nothing may point into it */
        struct wr_summary_input input = {.tokens_max = 1000, .count = test_count};
        assert_int_equal(wr_summary_write(&facts, &input, &tests[0].arena, &text), WEIR_OK);
        test_text_is(parted[i].behaviour, text, expected);
        test_transcript_close(&tests[0]);
    }
}

static const char long_body[] =
    "{\"messages\":[{\"role\":\"user\",\"content\":\"go\"}" MODEL("We use maps instead of lists.")
        CALL("1", "Read", "{\\\"file_path\\\":\\\"/r/source/file_a.c\\\"}", "a")
            CALL("2", "Read", "{\\\"file_path\\\":\\\"/r/source/file_b.c\\\"}", "b")
                CALL("3", "Read", "{\\\"file_path\\\":\\\"/r/source/file_c.c\\\"}", "c")
                    BASH("4", "make a", "ok") BASH("5", "make b", "ok")
                        BASH("6", "make c", "Exit code 2\\nerror: no c")
                            CALL("7", "Read", "{\\\"file_path\\\":\\\"/r/source/file_b.c\\\"}", "a")
                                MODEL("Next I fix c.") "]}";

static const char commands_body[] =
    "{\"messages\":[{\"role\":\"user\",\"content\":\"go\"}" BASH("1", "make a", "ok")
        BASH("2", "make b", "ok") BASH("3", "make c", "ok") BASH("4", "make d", "ok")
            BASH("5", "make a", "ok") MODEL("Done.") "]}";

static void of_commands_the_newest_stay(void **state)
{
    struct test_transcript test;
    (void)state;
    weir_span text = summary_of(&test, commands_body, UINT32_MAX, 60);
    if (wr_span_find(text, WR_LIT("`make a`"), 0) == SIZE_MAX ||
        wr_span_find(text, WR_LIT("`make b`"), 0) != SIZE_MAX)
        fail_msg("%.*s", (int)text.len, text.ptr);
    test_transcript_close(&test);
}

static void a_cap_shortens_in_a_fixed_order(void **state)
{
    static const struct {
        const char *behaviour;
        uint64_t tokens_max;
        const char *present, *absent;
    } caps[] = {
        {"enough room: all of it", 1000, "- /r/source/file_b.c (2 reads)", "not shown"},
        {"files read go first, those touched longest ago first", 107,
         "files_read:\n- (2 more, not shown)\n- /r/source/file_b.c (2 reads)\n",
         "/r/source/file_a.c"},
        {"then all of them", 90, "errors_open:\n- `make c`", "files_read"},
        {"what is broken outlasts the decisions", 60, "errors_open", "key_decisions"},
        {"at last only the first lines", 32, "[CONVERSATION SUMMARY]", "errors_open"},
    };
    (void)state;

    for (size_t i = 0; i < WR_COUNT_OF(caps); i++) {
        struct test_transcript test;
        weir_span text = summary_of(&test, long_body, UINT32_MAX, caps[i].tokens_max);
        if (test_count(NULL, text) > caps[i].tokens_max ||
            wr_span_find(text, wr_span_of(caps[i].present), 0) == SIZE_MAX ||
            wr_span_find(text, wr_span_of(caps[i].absent), 0) != SIZE_MAX)
            fail_msg("%s: %u tokens\n%.*s", caps[i].behaviour, (unsigned)test_count(NULL, text),
                     (int)text.len, text.ptr);
        test_transcript_close(&test);
    }
}

static void without_room_there_is_no_summary(void **state)
{
    struct test_transcript test;
    (void)state;
    weir_span text = summary_of(&test, long_body, UINT32_MAX, 20);
    assert_int_equal(text.len, 0);
    test_transcript_close(&test);
}

/* Whether every line of `part` is in `whole`, in the same order. */
static bool keeps_lines(weir_span part, weir_span whole)
{
    weir_span line, other;
    while (wr_span_line(&part, &line)) {
        do {
            if (!wr_span_line(&whole, &other))
                return false;
        } while (!wr_span_eq(line, other));
    }
    return true;
}

static void a_longer_range_keeps_the_lines_before(void **state)
{
    static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"go\"}" CALL(
        "1", "Read", "{\\\"file_path\\\":\\\"/r/z.c\\\"}", "a") BASH("2", "make z", "ok")
        MODEL("We use maps instead of lists.")
            CALL("3", "Read", "{\\\"file_path\\\":\\\"/r/a.c\\\"}", "b") BASH("4", "make a", "ok")
                MODEL("We keep it because it is simple.") "]}";
    static const uint32_t ends[] = {1, 3, 5, 6, 8, 10, 11}; /* groups are whole */
    struct test_transcript first, second;
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(ends); i++) {
        weir_span before = summary_of(&first, body, ends[i], 1000);
        weir_span after = summary_of(&second, body, UINT32_MAX, 1000);
        if (!keeps_lines(before, after))
            fail_msg("a summary of %u segments is not kept by a longer one", (unsigned)ends[i]);
        test_transcript_close(&first);
        test_transcript_close(&second);
    }
}

static void what_is_not_included_is_not_told(void **state)
{
    struct test_transcript test;
    bool is_included[32] = {false};
    weir_span text;
    (void)state;

    test_transcript_open(&test, wr_span_of(long_body));
    is_included[test_transcript_find(&test, WEIR_KIND_TOOL_CALL, 1)] = true;
    struct wr_summary_input input = {
        {&test.transcript, 0, test.transcript.segments_count, is_included}, 1000, test_count, NULL};
    assert_int_equal(wr_summary_build(&input, &test.arena, &text), WEIR_OK);
    test_text_is("only the second read is told", text,
                 HEADER INTENT "files_read:\n- /r/source/file_b.c");
    test_transcript_close(&test);
}

static void lone_surrogates_become_valid_text(void **state)
{
    struct test_transcript test;
    (void)state;
    weir_span text =
        summary_of(&test, "{\"messages\":[{\"role\":\"user\",\"content\":\"a \\ud800 b\"}]}",
                   UINT32_MAX, 1000);
    assert_int_equal(wr_utf8_check(text, false), text.len);
    assert_true(wr_span_find(text, WR_LIT("a ??? b"), 0) != SIZE_MAX);
    test_transcript_close(&test);
}

static void too_little_memory_is_a_failure(void **state)
{
    enum { STEP_BYTES = 1 << 14, BYTES_MAX = 1 << 21 };
    struct test_transcript test;
    weir_status status = WEIR_NOMEM;
    (void)state;

    test_transcript_open(&test, wr_span_of(long_body));
    for (size_t bytes = 0; bytes < BYTES_MAX && status; bytes += STEP_BYTES) {
        struct wr_summary_input input = {
            {&test.transcript, 0, test.transcript.segments_count, NULL}, 1000, test_count, NULL};
        struct wr_arena arena;
        weir_span text;
        wr_arena_init(&arena, bytes);
        status = wr_summary_build(&input, &arena, &text);
        if (!status)
            assert_true(wr_span_starts(text, WR_LIT(HEADER)));
        wr_arena_release(&arena);
    }
    assert_int_equal(status, WEIR_OK);
    test_transcript_close(&test);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries),
        cmocka_unit_test(parts_tell_what_the_whole_would),
        cmocka_unit_test(a_cap_shortens_in_a_fixed_order),
        cmocka_unit_test(of_commands_the_newest_stay),
        cmocka_unit_test(without_room_there_is_no_summary),
        cmocka_unit_test(a_longer_range_keeps_the_lines_before),
        cmocka_unit_test(what_is_not_included_is_not_told),
        cmocka_unit_test(lone_surrogates_become_valid_text),
        cmocka_unit_test(too_little_memory_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
