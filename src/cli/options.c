/* The parser of the command line, for every command from its table.
 *
 * Options and other words may stand in any order, a value may follow its option as the next word or
 * behind '='. Abbreviations are not taken: a script that says --pol would change its meaning the
 * day a second option begins so; the full name is suggested instead. A value may begin with a dash,
 * so that --grep -x and --window -5 are read as they are meant (the latter then is no number).
 */
#include "cli/options.h"

#include <string.h>

#include "base/span.h"
#include "cli/cmd.h"

void wr_words_each(const char *words, wr_words_fn *list, wr_word_fn *each, void *user)
{
    char word[64];

    while (words && *words) {
        size_t bytes = strcspn(words, " ");
        (void)snprintf(word, sizeof(word), "%.*s", (int)bytes, words);
        each(user, word, "");
        words += bytes + (words[bytes] == ' ');
    }
    if (list)
        list(each, user);
}

/* ---- rows ---- */

const struct wr_option *wr_option_find(const struct wr_command *command, weir_span name)
{
    for (size_t i = 0; i < command->options_count; i++)
        if (command->options[i].kind != WR_OPTION_NOTE &&
            wr_span_is(name, command->options[i].name))
            return &command->options[i];
    return NULL;
}

const struct wr_option *wr_option_of_letter(const struct wr_command *command, char letter)
{
    for (size_t i = 0; i < command->options_count; i++)
        if (letter && command->options[i].letter == letter)
            return &command->options[i];
    return NULL;
}

static void fail_unknown_option(const struct wr_command *command, const char *word)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
    struct wr_near near = wr_near_to(wr_span_of(name));
    for (size_t i = 0; i < command->options_count && !strncmp(word, "--", 2); i++) {
        char option[64];
        (void)snprintf(option, sizeof(option), "--%s", command->options[i].name);
        if (command->options[i].kind != WR_OPTION_NOTE)
            wr_near_offer(&near, option, "");
    }
    wr_cli_fail("no option %s here%s `weir %s --help` lists them", name, near.text, command->name);
}

static void put_word(void *user, const char *word, const char *what)
{
    struct wr_buf *out = user;

    (void)what;
    wr_buf_printf(out, "%s%s", out->len ? ", " : "", word);
}

struct choice {
    const char *value;
    bool is_found;
};

static void look_for_choice(void *user, const char *word, const char *what)
{
    struct choice *choice = user;

    (void)what;
    choice->is_found |= !strcmp(word, choice->value);
}

static bool check_choice(const struct wr_option *option, const char *value)
{
    struct choice choice = {.value = value};
    struct wr_near near = wr_near_to(wr_span_of(value));
    struct wr_buf words;

    wr_words_each(option->words, option->list, look_for_choice, &choice);
    if (choice.is_found)
        return true;
    wr_buf_init(&words, 4096);
    wr_words_each(option->words, option->list, wr_near_offer, &near);
    wr_words_each(option->words, option->list, put_word, &words);
    wr_cli_fail("no %s is called '%s'%s --%s takes %.*s", option->name, value, near.text,
                option->name, (int)words.len, words.bytes ? words.bytes : "");
    wr_buf_release(&words);
    return false;
}

static bool store_number(const struct wr_option *option, const char *value, uint64_t *number)
{
    uint64_t read;

    if (wr_span_u64(wr_span_of(value), &read) && read >= option->min &&
        (!option->max || read <= option->max)) {
        *number = read;
        return true;
    }
    if (option->max)
        wr_cli_fail("--%s wants a number from %llu to %llu, not '%s'", option->name,
                    (unsigned long long)option->min, (unsigned long long)option->max, value);
    else
        wr_cli_fail("--%s wants a number from %llu, not '%s'", option->name,
                    (unsigned long long)option->min, value);
    return false;
}

static bool store_value(const struct wr_option *option, const char *value, void *values)
{
    void *at = (char *)values + option->at;

    if (option->kind == WR_OPTION_NUMBER)
        return store_number(option, value, at);
    if (option->kind == WR_OPTION_LIST) {
        struct wr_opt_list *list = at;
        if (list->count < WR_OPT_LIST_MAX) {
            list->items[list->count++] = value;
            return true;
        }
        wr_cli_fail("--%s is given too often: %d times at most", option->name,
                    (int)WR_OPT_LIST_MAX);
        return false;
    }
    if (option->kind == WR_OPTION_CHOICE && !check_choice(option, value))
        return false;
    *(const char **)at = value;
    return true;
}

/* Reads the option at argv[*at], and its value where that is the next word. */
static bool read_option(const struct wr_command *command, int argc, char **argv, int *at,
                        void *values)
{
    const char *word = argv[*at];
    bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    const struct wr_option *option = NULL;

    if (is_long)
        option = wr_option_find(
            command, (weir_span){word + 2, (equals ? (size_t)(equals - word) : strlen(word)) - 2});
    else if (!word[2])
        option = wr_option_of_letter(command, word[1]);
    if (!option) {
        fail_unknown_option(command, word);
        return false;
    }
    if (option->kind == WR_OPTION_FLAG && equals) {
        wr_cli_fail("--%s takes no value", option->name);
        return false;
    }
    if (option->kind == WR_OPTION_FLAG) {
        *(bool *)((char *)values + option->at) = true;
        return true;
    }
    if (!equals && *at + 1 >= argc) {
        wr_cli_fail("%s needs a value; `weir %s --help` has an example", word, command->name);
        return false;
    }
    return store_value(option, equals ? equals + 1 : argv[++*at], values);
}

static bool check_words(const struct wr_command *command, const struct wr_words *words)
{
    if (words->count < command->words_min)
        wr_cli_fail("%s; `weir %s --help` has an example", command->wants, command->name);
    else if (words->count > command->words_max && command->wants)
        wr_cli_fail("'%s' is one word too many; %s", words->items[command->words_max],
                    command->wants);
    else if (words->count > command->words_max)
        wr_cli_fail("'%s' is one word too many; `weir %s --help` shows what it takes",
                    words->items[command->words_max], command->name);
    else
        return true;
    return false;
}

enum wr_parsed wr_options_parse(const struct wr_command *command, int argc, char **argv,
                                void *values, struct wr_words *words)
{
    bool are_words = false; /* nothing is an option any more */

    *words = (struct wr_words){.items = argv + 1};
    for (int i = 1; i < argc; i++) {
        if (are_words || argv[i][0] != '-' || !argv[i][1]) {
            words->items[words->count++] = argv[i];
            are_words |= command->ends_at_word;
        } else if (!strcmp(argv[i], "--")) {
            are_words = true;
        } else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            return WR_PARSED_HELP;
        } else if (!read_option(command, argc, argv, &i, values)) {
            return WR_PARSED_WRONG;
        }
    }
    if (argc > 0)
        words->items[words->count] = NULL; /* what stood there has moved to the front */
    return check_words(command, words) ? WR_PARSED : WR_PARSED_WRONG;
}
