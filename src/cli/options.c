#include "cli/cmd.h"

#include <string.h>

static const struct wr_opt *find_option(const struct wr_opt *options, size_t count,
                                        const char *name, size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(options[i].name) == len && !strncmp(options[i].name, name, len))
            return &options[i];
    return NULL;
}

static bool push(const char *command, struct wr_opt_list *list, const char *item)
{
    if (list->count == WR_OPT_LIST_MAX) {
        wr_cli_fail(command, "too many arguments: at most %d of a kind", (int)WR_OPT_LIST_MAX);
        return false;
    }
    list->items[list->count++] = item;
    return true;
}

static bool store(const char *command, const struct wr_opt *option, const char *value)
{
    if (option->kind == WR_OPT_LIST)
        return push(command, option->value, value);
    *(const char **)option->value = value;
    return true;
}

/* Takes the option at argv[*at], and its value when that is the next word. */
static bool take(int argc, char **argv, int *at, const struct wr_opt *options, size_t count)
{
    const char *name = argv[*at] + 2, *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct wr_opt *option = find_option(options, count, name, len);

    if (!option) {
        wr_cli_fail(argv[0], "no option --%.*s here; `weir %s --help` lists them", (int)len, name,
                    argv[0]);
        return false;
    }
    if (option->kind == WR_OPT_FLAG) {
        if (equals) {
            wr_cli_fail(argv[0], "--%s takes no value", option->name);
            return false;
        }
        *(bool *)option->value = true;
        return true;
    }
    if (!equals && *at + 1 >= argc) {
        wr_cli_fail(argv[0], "--%s needs a value; `weir %s --help` has an example", option->name,
                    argv[0]);
        return false;
    }
    return store(argv[0], option, equals ? equals + 1 : argv[++*at]);
}

bool wr_opt_parse_words(int argc, char **argv, const struct wr_opt *options, size_t options_count,
                        const char *help, struct wr_opt_words *words, bool *done)
{
    *done = false;
    *words = (struct wr_opt_words){.items = argv + 1};
    if (argc > 1 && !strcmp(argv[1], WR_COMPLETE)) {
        wr_complete_option(argv[0], options, options_count, argc > 2 ? argv[2] : "",
                           argc > 3 ? argv[3] : "");
        *done = true;
        return true;
    }
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            *done = true;
            return true;
        }
        if (!strcmp(argv[i], "--")) {
            while (++i < argc)
                words->items[words->count++] = argv[i];
            return true;
        }
        bool is_option = !strncmp(argv[i], "--", 2);
        if (is_option && !take(argc, argv, &i, options, options_count))
            return false;
        if (!is_option)
            words->items[words->count++] = argv[i];
    }
    return true;
}

bool wr_opt_parse(int argc, char **argv, const struct wr_opt *options, size_t options_count,
                  const char *help, struct wr_opt_list *rest, bool *done)
{
    struct wr_opt_words words;
    if (!wr_opt_parse_words(argc, argv, options, options_count, help, &words, done))
        return false;
    for (size_t i = 0; i < words.count; i++)
        if (!push(argv[0], rest, words.items[i]))
            return false;
    return true;
}
