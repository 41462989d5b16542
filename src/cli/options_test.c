/* The parser by a table of its own, and help, manual and completion by the tables of the commands.
 */
#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "cli/cmd.h"

struct values {
    const char *text, *choice;
    uint64_t number;
    struct wr_opt_list list;
    bool flag;
};

#define VALUES struct values

static const struct wr_option rows[] = {
    {"text", WR_TEXT("T", text), "a text", .letter = 't'},
    {"choice", WR_CHOICE("C", choice), "one of three", .words = "red green blue"},
    {"number", WR_NUMBER("N", number, 2, 9), "from two to nine"},
    {"list", WR_LIST("L", list), "again for more", .words = WR_WORDS_FILE},
    {"flag", WR_FLAG(flag), "on or off", .letter = 'f'},
    {"NOTE", WR_NOTE, "is no option"},
};

/* Every behaviour gives what was read as one line: options that were given, then | and the words;
 * or, behind '!', part of the one line that is said on stderr. */
static const struct {
    const char *behaviour, *line, *want;
    bool ends_at_word;
} cases[] = {
    {"a value is the next word", "--text a", "text=a |", false},
    {"or stands behind =", "--text=a", "text=a |", false},
    {"a value may hold a =", "--text=a=b", "text=a=b |", false},
    {"a value may be empty", "--text=", "text= |", false},
    {"a value may look like an option", "--text --flag", "text=--flag |", false},
    {"a letter is the same option", "-t a -f", "text=a flag |", false},
    {"of two values the last counts", "--text a --text b", "text=b |", false},
    {"a list keeps them all", "--list a --list=b", "list=a,b |", false},
    {"options and words in any order", "x --flag y --number 3", "number=3 flag | x y", false},
    {"a dash alone is a word", "- --flag", "flag | -", false},
    {"behind -- nothing is an option", "--flag -- --text -t", "flag | --text -t", false},
    {"-- may be a value", "--text -- --flag", "text=-- flag |", false},
    {"behind the first word all is words", "--flag x --text a", "flag | x --text a", true},
    {"and -- ends options there too", "-- --flag", "| --flag", true},
    {"the least number", "--number 2", "number=2 |", false},
    {"the largest number", "--number=9", "number=9 |", false},
    {"a choice", "--choice green", "choice=green |", false},
    {"help wins over what stands behind it", "--help --nope", "help", false},
    {"-h too", "x -h", "help", false},
    {"help behind -- is a word", "-- --help", "| --help", false},
    {"an unknown option", "--nope", "!no option --nope here; `weir paint --help` lists them",
     false},
    {"an unknown option with a value", "--nope=1", "!no option --nope here;", false},
    {"a slip", "--tetx a", "!no option --tetx here; did you mean --text? `weir", false},
    {"abbreviations are not taken", "--num 3", "!no option --num here; did you mean --number?",
     false},
    {"an unknown letter", "-x", "!no option -x here", false},
    {"letters do not join", "-ft", "!no option -ft here", false},
    {"a note is no option", "--NOTE", "!no option --NOTE", false},
    {"a missing value", "--text", "!--text needs a value; `weir paint --help`", false},
    {"a missing value of a letter", "-t", "!-t needs a value", false},
    {"a flag takes no value", "--flag=yes", "!--flag takes no value", false},
    {"a number too small", "--number 1", "!--number wants a number from 2 to 9, not '1'", false},
    {"a number too large", "--number 10", "!--number wants a number from 2 to 9, not '10'", false},
    {"a number far too large", "--number 99999999999999999999999", "!from 2 to 9", false},
    {"a negative number", "--number -3", "!--number wants a number from 2 to 9, not '-3'", false},
    {"no number", "--number 3x", "!not '3x'", false},
    {"an empty number", "--number=", "!not ''", false},
    {"a wrong choice", "--choice pink",
     "!no choice is called 'pink'; --choice takes red, green, blue", false},
    {"a choice with a slip", "--choice gren", "!did you mean green? --choice takes", false},
    {"a choice with two letters swapped", "--choice rde", "!did you mean red?", false},
    {"nothing near a short word", "--choice rxx", "!'rxx'; --choice", false},
    {"too few words", "", "!name a colour; `weir paint --help` has an example", false},
    {"a word too many", "a b c d", "!'d' is one word too many; name a colour", false},
};

enum { WORDS_MAX = 16 };

static void put_values(struct wr_buf *out, const struct values *v, const struct wr_words *words)
{
    if (v->text)
        wr_buf_printf(out, "text=%s ", v->text);
    if (v->choice)
        wr_buf_printf(out, "choice=%s ", v->choice);
    if (v->number)
        wr_buf_printf(out, "number=%d ", (int)v->number);
    for (size_t i = 0; i < v->list.count; i++)
        wr_buf_printf(out, "%s%s%s", i ? "," : "list=", v->list.items[i],
                      i + 1 < v->list.count ? "" : " ");
    wr_buf_printf(out, "%s|", v->flag ? "flag " : "");
    for (size_t i = 0; words->items[i]; i++) /* behind the last one nothing is left */
        wr_buf_printf(out, " %s", words->items[i]);
}

/* What is said on stderr meanwhile is appended to `out`. */
static enum wr_parsed parse(const struct wr_command *command, char *line, struct wr_buf *out)
{
    char name[] = "paint", *argv[WORDS_MAX] = {name}, *save = NULL, *said = NULL;
    struct values values = {0};
    struct wr_words words;
    size_t said_bytes = 0;
    int argc = 1;

    for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    FILE *kept = stderr;
    stderr = open_memstream(&said, &said_bytes);
    assert_non_null(stderr);
    enum wr_parsed parsed = wr_options_parse(command, argc, argv, &values, &words);
    (void)fclose(stderr);
    stderr = kept;
    wr_buf_append(out, (weir_span){said, said_bytes});
    free(said);
    if (parsed == WR_PARSED)
        put_values(out, &values, &words);
    else if (parsed == WR_PARSED_HELP)
        wr_buf_text(out, "help");
    return parsed;
}

static void command_lines_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(cases); i++) {
        const struct wr_command command = {.name = "paint",
                                           WR_OPTIONS(rows),
                                           .words_min = !cases[i].line[0],
                                           .words_max = 3,
                                           .wants = "name a colour",
                                           .ends_at_word = cases[i].ends_at_word};
        struct wr_buf out;
        char line[128];

        wr_buf_init(&out, 4096);
        (void)snprintf(line, sizeof(line), "%s", cases[i].line);
        enum wr_parsed parsed = parse(&command, line, &out);
        weir_span got = wr_buf_view(&out), want = wr_span_of(cases[i].want);
        size_t lines = 0;
        for (size_t at = 0; at < got.len; at++)
            lines += got.ptr[at] == '\n';
        bool is_good = want.ptr[0] == '!'
                           ? parsed == WR_PARSED_WRONG && lines == 1 &&
                                 wr_span_find(got, wr_span_cut(want, 1, want.len), 0) != SIZE_MAX
                           : wr_span_eq(got, want);
        if (!is_good)
            fail_msg("not so: %s: %s\n%.*s", cases[i].behaviour, cases[i].line, (int)got.len,
                     got.ptr);
        wr_buf_release(&out);
    }
}

static void a_list_has_an_end(void **state)
{
    const struct wr_command command = {.name = "paint", WR_OPTIONS(rows)};
    char *argv[WR_OPT_LIST_MAX + 2], option[] = "--list=a", *said = NULL;
    struct values values = {0};
    struct wr_words words;
    size_t said_bytes;
    FILE *kept = stderr;

    (void)state;
    for (int i = 0; i < WR_OPT_LIST_MAX + 2; i++)
        argv[i] = option;
    assert_int_equal(wr_options_parse(&command, WR_OPT_LIST_MAX + 1, argv, &values, &words),
                     WR_PARSED);
    values.list.count = 0;
    argv[1] = option; /* the words of the first call ended there */
    stderr = open_memstream(&said, &said_bytes);
    enum wr_parsed parsed = wr_options_parse(&command, WR_OPT_LIST_MAX + 2, argv, &values, &words);
    (void)fclose(stderr);
    stderr = kept;
    assert_int_equal(parsed, WR_PARSED_WRONG);
    assert_non_null(strstr(said, "too often"));
    free(said);
}

/* ---- the tables of the commands ---- */

static bool has_line(const struct wr_buf *text, const char *begin)
{
    return wr_span_find(wr_buf_view(text), wr_span_of(begin), 0) != SIZE_MAX;
}

static void check_option(const struct wr_command *command, const struct wr_option *option,
                         const struct wr_buf *help, const struct wr_buf *manual,
                         const struct wr_buf *completed)
{
    char in_help[64], in_manual[128], in_answer[64];
    size_t at = 0;

    (void)snprintf(in_help, sizeof(in_help), "--%s%s%s", option->name, option->value ? " " : "",
                   option->value ? option->value : "");
    (void)snprintf(in_answer, sizeof(in_answer), "\n--%s\t", option->name);
    for (const char *c = option->name; *c && at < sizeof(in_manual) - 4; c++)
        at +=
            (size_t)snprintf(in_manual + at, sizeof(in_manual) - at, *c == '-' ? "\\-" : "%c", *c);
    if (!option->help || !option->help[0])
        fail_msg("weir %s: --%s has no help", command->name, option->name);
    if (!has_line(help, in_help) || !has_line(manual, in_manual) || !has_line(completed, in_answer))
        fail_msg("weir %s: --%s is missing in help, manual or completion", command->name,
                 option->name);
    if (option->kind == WR_OPTION_CHOICE && !option->words && !option->list)
        fail_msg("weir %s: --%s has nothing to choose from", command->name, option->name);
    if (option->at >= command->values_bytes)
        fail_msg("weir %s: --%s is stored outside", command->name, option->name);
    for (const struct wr_option *o = command->options; o < option; o++)
        if (!strcmp(o->name, option->name) || (o->letter && o->letter == option->letter))
            fail_msg("weir %s: --%s stands there twice", command->name, option->name);
}

static void every_option_is_explained_and_completed(void **state)
{
    struct wr_buf manual, help, completed;
    size_t options_count = 0;

    (void)state;
    wr_buf_init(&manual, 1 << 20);
    wr_help_manual(wr_commands, "1", &manual);
    for (size_t i = 0; wr_commands[i]; i++) {
        const struct wr_command *command = wr_commands[i];
        const char *const words[] = {command->name, "--"};
        weir_span line, rest;

        wr_buf_init(&help, 1 << 20);
        wr_buf_init(&completed, 1 << 20);
        wr_help_print(command, &help);
        wr_buf_byte(&completed, '\n');
        wr_complete(wr_commands, words, 2, &completed);
        for (size_t j = 0; j < command->options_count; j++)
            if (command->options[j].kind != WR_OPTION_NOTE) {
                check_option(command, &command->options[j], &help, &manual, &completed);
                options_count++;
            }
        assert_true(has_line(&help, "example: ") && command->purpose && command->run);
        assert_true(!command->words_min || command->wants);
        rest = wr_buf_view(&help);
        while (wr_span_line(&rest, &line))
            if (line.len > 80 && !memchr(line.ptr, '"', line.len) &&
                wr_span_find(line, WR_LIT("weir "), 0) == SIZE_MAX)
                fail_msg("weir %s --help is wider than 80: %.*s", command->name, (int)line.len,
                         line.ptr);
        wr_buf_release(&help);
        wr_buf_release(&completed);
    }
    assert_true(options_count > 100);
    wr_buf_release(&manual);
}

static const struct {
    const char *behaviour, *words[4], *want;
} answers[] = {
    {"a command", {"rec"}, "recall\twhat was taken out, by its handle\n"},
    {"a command to be helped with", {"help", "rec"}, "recall\twhat was taken out, by its handle\n"},
    {"nothing of a command that is not there", {"nope", ""}, ""},
    {"words of a command", {"store", "p"}, "purge\n"},
    {"files for a command that reads one", {"inspect", "x"}, ":file\n"},
    {"nothing for a command that takes no word", {"serve", "x"}, ""},
    {"words of an option", {"inspect", "--dialect", "ch"}, "chat\n"},
    {"a directory for an option", {"recall", "--store", ""}, ":dir\n"},
    {"nothing for a number", {"recall", "--head", ""}, ""},
    {"a value behind =", {"inspect", "--dialect=ch"}, "--dialect=chat\n"},
    {"a value behind = as bash cuts it", {"inspect", "--dialect", "=", "ch"}, "chat\n"},
    {"the value of a letter", {"agent", "-p", "x"}, ""},
    {"words of another program", {"run", "codex", "--pol"}, ":file\n"},
    {"an option behind a flag",
     {"serve", "--unlisted", "--wit"},
     "--without-store\tkeeps nothing, so nothing is shortened: requests are only passed on and "
     "counted. Else a store that cannot be written is refused\n"},
};

static void candidates_come_from_the_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < WR_COUNT_OF(answers); i++) {
        struct wr_buf out;
        size_t count = 0;
        while (count < 4 && answers[i].words[count])
            count++;
        wr_buf_init(&out, 1 << 20);
        wr_complete(wr_commands, answers[i].words, count, &out);
        if (!wr_span_is(wr_buf_view(&out), answers[i].want))
            fail_msg("not so: %s\n%.*s", answers[i].behaviour, (int)out.len,
                     out.len ? out.bytes : "");
        wr_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_lines_are_read),
        cmocka_unit_test(a_list_has_an_end),
        cmocka_unit_test(every_option_is_explained_and_completed),
        cmocka_unit_test(candidates_come_from_the_tables),
    };
    wr_cli_use_name("paint");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
