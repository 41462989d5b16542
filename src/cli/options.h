/* options.h -- what a command of `weir` takes, in one table that everything else is made from.
 *
 * A command is one `struct wr_command`, each of its options one row of `struct wr_option`. The
 * parser, `--help`, the manual page and completion in the shells all read these tables, so an
 * option that is parsed is also explained and completed, and nothing is written twice.
 */
#ifndef WR_CLI_OPTIONS_H
#define WR_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/span.h"

enum { WR_OPT_LIST_MAX = 64 };

/* The values of an option that may be given again. */
struct wr_opt_list {
    const char *items[WR_OPT_LIST_MAX];
    size_t count;
};

/* The words that are no options, in the place of argv; NULL behind the last. */
struct wr_words {
    char **items;
    size_t count;
};

/* Calls `each` with every value that an option or a word may have, and what it is ("": no more
 * is known than the word). */
typedef void wr_word_fn(void *user, const char *word, const char *what);
typedef void wr_words_fn(wr_word_fn *each, void *user);

enum wr_option_kind {
    WR_OPTION_FLAG,   /* bool */
    WR_OPTION_TEXT,   /* const char * */
    WR_OPTION_CHOICE, /* const char *, which must be one of `words` */
    WR_OPTION_NUMBER, /* uint64_t from `min` to `max`; a `max` of 0 is none */
    WR_OPTION_LIST,   /* struct wr_opt_list: may be given again */
    WR_OPTION_NOTE,   /* no option: a line of help about something else */
};

/* In the place of words: the shell completes paths. */
#define WR_WORDS_FILE ":file"
#define WR_WORDS_DIR  ":dir"

struct wr_option {
    const char *name; /* without the dashes */
    enum wr_option_kind kind;
    const char *value; /* what help calls the value; NULL: it takes none */
    size_t at;         /* in the command's struct of values */
    uint64_t min, max;
    const char *help;  /* one sentence in ASCII, wrapped when it is printed */
    const char *words; /* its values, parted by spaces, or WR_WORDS_*; NULL: any text */
    wr_words_fn *list; /* the same where only the program knows them */
    char letter;       /* -p for --prompt; 0: none */
};

/* What a row holds between its name and its help; VALUES is the command's struct, and a member of
 * the wrong type does not compile. */
#define WR_ROW(kind_, value_, type, member, min_, max_)                                           \
    .kind = (kind_), .value = (value_),                                                           \
    .at = offsetof(VALUES, member) * _Generic(&((VALUES *)0)->member, type * : 1), .min = (min_), \
    .max = (max_)

#define WR_FLAG(member)          WR_ROW(WR_OPTION_FLAG, NULL, bool, member, 0, 0)
#define WR_TEXT(value, member)   WR_ROW(WR_OPTION_TEXT, value, const char *, member, 0, 0)
#define WR_FILE(member)          .words = WR_WORDS_FILE, WR_TEXT("FILE", member)
#define WR_DIR(member)           .words = WR_WORDS_DIR, WR_TEXT("DIR", member)
#define WR_CHOICE(value, member) WR_ROW(WR_OPTION_CHOICE, value, const char *, member, 0, 0)
#define WR_LIST(value, member)   WR_ROW(WR_OPTION_LIST, value, struct wr_opt_list, member, 0, 0)
#define WR_NUMBER(value, member, min, max) \
    WR_ROW(WR_OPTION_NUMBER, value, uint64_t, member, min, max)
#define WR_NOTE .kind = WR_OPTION_NOTE, .max = 0

struct wr_command {
    const char *name;
    const char *purpose; /* a line in `weir --help` */
    const char *usage;   /* what follows the name, a line for each way to call it */
    const char *about;   /* what it does; a line end begins a new line, the rest is wrapped */
    const struct wr_option *options;
    size_t options_count;
    size_t values_bytes;         /* of the struct that the rows point into */
    const void *defaults;        /* of that struct; NULL: all zero */
    size_t words_min, words_max; /* how many words that are no options it takes */
    const char *wants;           /* said where there are too few or too many; NULL: nothing */
    const char *words;           /* their values, as of an option */
    wr_words_fn *list;
    bool ends_at_word; /* from the first word on all is another program's */
    const char *exits; /* what a status says beyond 0 (done) and 2 (wrong call); NULL: nothing */
    const char *example;
    int (*run)(void *values, const struct wr_words *words);
};

#define WR_OPTIONS(table) \
    .options = (table), .options_count = WR_COUNT_OF(table), .values_bytes = sizeof(VALUES)

enum wr_parsed { WR_PARSED, WR_PARSED_HELP, WR_PARSED_WRONG };

/* Reads `--name VALUE`, `--name=VALUE`, `-n VALUE` and flags anywhere on the line, up to `--`,
 * into `values`; what is left becomes `words`, for which argv is written to. argv[0] is the
 * command's name. WRONG is said on stderr; HELP: the user asked for help instead. */
enum wr_parsed wr_options_parse(const struct wr_command *command, int argc, char **argv,
                                void *values, struct wr_words *words);

/* The row of a name (without dashes) or a letter. NULL: there is none. */
const struct wr_option *wr_option_find(const struct wr_command *command, weir_span name);
const struct wr_option *wr_option_of_letter(const struct wr_command *command, char letter);

/* Calls `each` with every word of `words`, then has `list` do so; either may be NULL. */
void wr_words_each(const char *words, wr_words_fn *list, wr_word_fn *each, void *user);

/* ---- help, the manual and completion (help.c, cmd_completion.c) ---- */

void wr_help_print(const struct wr_command *command, struct wr_buf *out);

/* A line above the command that a group begins with; the last has no command. In the order of the
 * commands. */
struct wr_help_group {
    const struct wr_command *first;
    const char *title;
};

void wr_help_overview(const struct wr_command *const *commands, const struct wr_help_group *groups,
                      struct wr_buf *out);
void wr_help_manual(const struct wr_command *const *commands, const char *version,
                    struct wr_buf *out);

/* The page of one command. */
void wr_help_manual_of(const struct wr_command *command, const char *version, struct wr_buf *out);

/* Prints the candidates for the last of `words`; the others are the words before it. */
void wr_complete(const struct wr_command *const *commands, const char *const *words, size_t count,
                 struct wr_buf *out);

#endif
