#include "agent/grants.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/span.h"
#include "tests/test_dir.h"

static const struct {
    const char *behaviour, *command, *first, *second;
} wishes[] = {
    {"a command is granted by its program", "make -j2 test", "commands of make", ""},
    {"several by each of theirs", "make && ./run | tail", "commands of make", "commands of ./run"},
    {"once", "git add a; git commit", "commands of git", ""},
    {"streams may be joined and thrown away", "make 2>&1 >/dev/null", "commands of make", ""},
    {"a variable among the arguments is one", "ls $HOME", "commands of ls", ""},
    {"a file that is written", "git log > a", "the command: git log > a", ""},
    {"a substitution", "echo $(rm a)", "the command: echo $(rm a)", ""},
    {"in quotes too", "echo \"$(rm a)\"", "the command: echo \"$(rm a)\"", ""},
    {"and spelled the old way", "echo `rm a`", "the command: echo `rm a`", ""},
    {"but not where it is a text", "echo '$(rm a)'", "commands of echo", ""},
    {"what a file says of itself", "diff <(rm a) b", "the command: diff <(rm a) b", ""},
    {"a shell", "sh -c 'rm a'", "the command: sh -c 'rm a'", ""},
    {"a shell by its path", "/bin/sh -c ls", "the command: /bin/sh -c ls", ""},
    {"an interpreter's version", "./v/bin/python3.12 a", "the command: ./v/bin/python3.12 a", ""},
    {"a name with a number is its own", "./run2 a", "commands of ./run2", ""},
    {"a shell behind others", "ls; sudo rm a", "the command: ls; sudo rm a", ""},
    {"a variable of the command", "PATH=. ls", "the command: PATH=. ls", ""},
    {"a program that is a variable", "$x a", "the command: $x a", ""},
    {"words of the grammar", "if a; then b; fi", "the command: if a; then b; fi", ""},
    {"an open quote", "ls 'a", "the command: ls 'a", ""},
    {"text that a command reads", "cat <<E\n$(rm a)\nE\n", "the command: cat <<E\n$(rm a)\nE\n",
     ""},
    {"a file that is read and written", "echo a <>b 1>&0", "the command: echo a <>b 1>&0", ""},
    {"a file that a command names", "cat <$(rm a)", "the command: cat <$(rm a)", ""},
    {"a stream that a command names", "ls 2>&$(rm a)", "the command: ls 2>&$(rm a)", ""},
    {"a file by a variable is read", "wc <$HOME/a", "commands of wc", ""},
    {"quotes that sh reads otherwise", "echo $'\\' ; rm a #'", "the command: echo $'\\' ; rm a #'",
     ""},
    {"a dollar sign at the end of a quote is none of them", "grep 'a$' b", "commands of grep", ""},
    {"arithmetic that sh runs", "((rm a)); ls", "the command: ((rm a)); ls", ""},
    {"quotes within braces", "ls ${x#$'\\'} ; rm a #'}", "the command: ls ${x#$'\\'} ; rm a #'}",
     ""},
    {"a default of a variable", "ls ${x:-a}", "commands of ls", ""},
    {"a program of another folder", "cd a && ./run", "the command: cd a && ./run", ""},
    {"one that is found by PATH is the same there", "cd a && make", "commands of cd",
     "commands of make"},
    {"a variable that is set by a builtin", "read PATH <a; ls", "the command: read PATH <a; ls",
     ""},
    {"an editor's own commands", "sed '1e rm a' b", "the command: sed '1e rm a' b", ""},
};

/* Run by the shell that the agent's commands get. Where `evil` runs, the grant names it, or is for
 * this very command. */
static const char *const hostile[] = {
    "evil",
    ": ;evil",
    ":\nevil",
    ": & evil",
    ": # '\nevil #'",
    "\\evil",
    "e\\\nvil",
    "'ev'il",
    "(evil)",
    "((evil)); :",
    ": ((evil))",
    "{ evil; }",
    "! evil",
    "if :; then evil; fi",
    "echo $(evil)",
    "echo \"$(evil)\"",
    "echo \"\\\\$(evil)\"",
    "echo '\\'$(evil)",
    "echo `evil`",
    "echo $'\\' ; evil #'",
    "echo $\"`evil`\"",
    "cat <$(evil)",
    ": 2>&$(evil)",
    ": ${x:-$(evil)}",
    ": ${x:-`evil`}",
    ": ${x#$'\\'} ; evil #'}",
    ": \"${x#'}\" ; evil ; : \"'}\"",
    ": $[ ; evil ]",
    "cat <<E\n$(evil)\nE\n",
    "cat <<'E'\nE\nevil",
    "x= evil",
    "x=evil; $x",
    "eval evil",
    "command evil",
    "exec evil",
    "env evil",
    "sh -c evil",
    "echo evil | sh",
    ". ./evil",
    ":() (evil); :",
    "trap evil EXIT",
    "case a in a) evil;; esac",
    "for i in a; do evil; done",
    "cd . && ./evil",
    "PATH=/ ; ./evil",
    "sed -n '1e evil' evil",
    "find . -name evil -exec evil \\;",
    "/*/../$PWD/evil",
    "./ev?l",
    "</dev/null evil",
    "2>&1 evil",
    ": |\nevil",
    ": && # x\nevil",
};

static void a_command_is_granted_by_what_it_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(wishes); i++) {
        struct wr_grant_wish wish;
        wr_grant_wish_of(&wish, WR_LIT("process_start"), wr_span_of(wishes[i].command));
        if (!wish.count || !wr_span_is(wr_span_of(wish.texts[0]), wishes[i].first) ||
            !wr_span_is(wr_span_of(wish.count > 1 ? wish.texts[1] : ""), wishes[i].second))
            fail_msg("%s: %s", wishes[i].behaviour, wish.count ? wish.texts[0] : "none");
    }
}

static void run(const char *folder, const char *command)
{
    pid_t shell = fork();

    if (!shell) {
        (void)setenv("PATH", "/usr/bin:/bin:.", 1);
        int null = open("/dev/null", O_RDWR);
        if (null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 && dup2(null, 2) >= 0 &&
            !chdir(folder))
            (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(126);
    }
    assert_true(shell > 0);
    assert_int_equal(waitpid(shell, NULL, 0), shell);
}

static bool is_told(const struct wr_grant_wish *wish)
{
    for (size_t i = 0; i < wish->count; i++)
        if (wr_span_is(wr_span_of(wish->texts[i]), "commands of evil") ||
            wr_span_starts(wr_span_of(wish->texts[i]), WR_LIT("the command: ")))
            return true;
    return !wish->count; /* it is asked for every time */
}

static void what_runs_is_what_is_granted(void **state)
{
    struct wr_test_dir dir = wr_test_dir_new();
    char evil[2 * WR_TEST_PATH_BYTES], ran[2 * WR_TEST_PATH_BYTES];
    size_t count = 0;
    (void)state;
    (void)snprintf(evil, sizeof(evil), "%s/evil", dir.path);
    (void)snprintf(ran, sizeof(ran), "%s/ran", dir.path);
    FILE *file = fopen(evil, "w");
    assert_non_null(file);
    (void)fprintf(file, "#!/bin/sh\n: >'%s'\n", ran);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(evil, 0755), 0);
    for (size_t i = 0; i < WR_COUNT_OF(hostile); i++) {
        struct wr_grant_wish wish;
        wr_grant_wish_of(&wish, WR_LIT("process_start"), wr_span_of(hostile[i]));
        run(dir.path, hostile[i]);
        bool has_run = !unlink(ran);
        count += has_run;
        if (has_run && !is_told(&wish))
            fail_msg("%s: granted by '%s'", hostile[i], wish.texts[0]);
    }
    assert_true(count > WR_COUNT_OF(hostile) / 2); /* most of them do run it */
    wr_test_dir_remove(&dir);
}

static void answer_always(struct wr_grants *grants, const char *tool, const char *command)
{
    struct wr_grant_wish wish;
    wr_grant_wish_of(&wish, wr_span_of(tool), wr_span_of(command));
    assert_true(wr_grants_add(grants, &wish));
}

static bool covers(const struct wr_grants *grants, const char *tool, const char *command)
{
    struct wr_grant_wish wish;
    wr_grant_wish_of(&wish, wr_span_of(tool), wr_span_of(command));
    return wr_grants_cover(grants, &wish);
}

static void always_is_for_what_was_asked(void **state)
{
    static struct wr_grants grants;
    (void)state;
    grants.count = 0;
    assert_false(covers(&grants, "edit", ""));
    answer_always(&grants, "edit", "");
    assert_true(covers(&grants, "edit", ""));
    assert_false(covers(&grants, "write", ""));
    assert_false(covers(&grants, "process_start", "ls"));
    answer_always(&grants, "process_start", "make test");
    assert_true(covers(&grants, "process_start", "make clean"));
    assert_false(covers(&grants, "process_start", "make clean && rm -rf a"));
    assert_false(covers(&grants, "process_start", "make > a"));
    answer_always(&grants, "process_start", "make > a");
    assert_true(covers(&grants, "process_start", "make > a"));
    assert_false(covers(&grants, "process_start", "make > b"));
}

static void grants_are_listed_and_revoked(void **state)
{
    static struct wr_grants grants;
    struct wr_buf out;
    (void)state;
    grants.count = 0;
    wr_buf_init(&out, 1000);
    answer_always(&grants, "edit", "");
    answer_always(&grants, "process_start", "make && ls");
    answer_always(&grants, "process_start", "make");
    wr_grants_list(&grants, &out);
    assert_true(wr_span_is(wr_buf_view(&out), "1  edit\n2  commands of make\n3  commands of ls\n"));
    assert_false(wr_grants_revoke(&grants, 0));
    assert_false(wr_grants_revoke(&grants, 4));
    assert_true(wr_grants_revoke(&grants, 2));
    assert_false(covers(&grants, "process_start", "make"));
    assert_true(covers(&grants, "process_start", "ls -l"));
    assert_true(covers(&grants, "edit", ""));
    wr_buf_release(&out);
}

static void what_is_too_long_is_never_granted_for_good(void **state)
{
    struct wr_grant_wish wish;
    char command[1000];
    (void)state;
    memset(command, 'a', sizeof(command));
    memcpy(command, "sh -c ", 6);
    wr_grant_wish_of(&wish, WR_LIT("process_start"), (weir_span){command, sizeof(command)});
    assert_int_equal(wish.count, 0);
    static struct wr_grants grants;
    assert_false(wr_grants_cover(&grants, &wish));
    assert_false(wr_grants_add(&grants, &wish));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_granted_by_what_it_runs),
        cmocka_unit_test(what_runs_is_what_is_granted),
        cmocka_unit_test(always_is_for_what_was_asked),
        cmocka_unit_test(grants_are_listed_and_revoked),
        cmocka_unit_test(what_is_too_long_is_never_granted_for_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
