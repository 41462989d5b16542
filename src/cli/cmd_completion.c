/* `weir completion`: scripts for shells, and the answers they ask for.
 *
 * A script knows nothing of commands and options. It asks the program, `weir --complete WORDS...`
 * with the words up to the cursor, and the answer is made from the tables that the commands
 * themselves read their options with. An answer is a candidate a line, a tab and what it is;
 * `:file` and `:dir` leave the rest to the shell.
 *
 * Scripts with every option written into them were not chosen: they would be made again at each
 * release, and could not know the policies and models of the program that is installed.
 */
#include <string.h>

#include "base/embed.h"
#include "base/span.h"
#include "cli/cmd.h"

WR_EMBED(wr_completion_bash, "data/completion/weir.bash");
WR_EMBED(wr_completion_zsh, "data/completion/weir.zsh");
WR_EMBED(wr_completion_fish, "data/completion/weir.fish");

static const struct {
    const char *name;
    const unsigned char *script;
} shells[] = {
    {"bash", wr_completion_bash}, {"zsh", wr_completion_zsh}, {"fish", wr_completion_fish}};

enum { SHELLS_COUNT = WR_COUNT_OF(shells) };

/* ---- the answers ---- */

/* What a candidate must begin with, and what is put in front of it. */
struct candidates {
    struct wr_buf *out;
    const char *typed, *before;
};

static void put_candidate(void *user, const char *word, const char *what)
{
    const struct candidates *c = user;

    if (strncmp(word, c->typed, strlen(c->typed)) && word[0] != ':')
        return;
    wr_buf_printf(c->out, "%s%s%s%s\n", word[0] == ':' ? "" : c->before, word, *what ? "\t" : "",
                  what);
}

static void put_commands(const struct wr_command *const *commands, struct candidates *c)
{
    for (; *commands; commands++)
        put_candidate(c, (*commands)->name, (*commands)->purpose);
}

static void put_options(const struct wr_command *command, struct candidates *c)
{
    char word[64];

    for (size_t i = 0; i < command->options_count; i++) {
        const struct wr_option *option = &command->options[i];
        (void)snprintf(word, sizeof(word), "--%s", option->name);
        if (option->kind != WR_OPTION_NOTE)
            put_candidate(c, word, option->help);
    }
    put_candidate(c, "--help", "");
}

/* The option `word` if the next word is its value; NULL: it takes none, or is no option. */
static const struct wr_option *option_with_value(const struct wr_command *command, const char *word)
{
    const struct wr_option *option = NULL;

    if (!strncmp(word, "--", 2))
        option = wr_option_find(command, wr_span_of(word + 2));
    else if (word[0] == '-' && word[1] && !word[2])
        option = wr_option_of_letter(command, word[1]);
    return option && option->kind != WR_OPTION_FLAG ? option : NULL;
}

/* Words of another program have begun, or no word is an option any more. */
static bool is_past_options(const struct wr_command *command, const char *const *words,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(words[i], "--") || (command->ends_at_word && words[i][0] != '-'))
            return true;
        i += option_with_value(command, words[i]) != NULL;
    }
    return false;
}

static void complete_command(const struct wr_command *command, const char *const *words,
                             size_t count, struct candidates *c)
{
    /* bash makes three words of --name=VALUE. */
    size_t last = count > 1 && !strcmp(words[count - 1], "=") ? count - 1 : count;
    const char *equals = !strncmp(c->typed, "--", 2) ? strchr(c->typed, '=') : NULL;
    const struct wr_option *option = last ? option_with_value(command, words[last - 1]) : NULL;
    char before[64];

    if (is_past_options(command, words, count)) {
        put_candidate(c, WR_WORDS_FILE, "");
    } else if (option) {
        wr_words_each(option->words, option->list, put_candidate, c);
    } else if (equals && equals - c->typed < (ptrdiff_t)sizeof(before) - 2) {
        (void)snprintf(before, sizeof(before), "%.*s", (int)(equals + 1 - c->typed), c->typed);
        option = wr_option_find(command, (weir_span){before + 2, (size_t)(equals - c->typed) - 2});
        struct candidates behind = {.out = c->out, .typed = equals + 1, .before = before};
        if (option)
            wr_words_each(option->words, option->list, put_candidate, &behind);
    } else if (c->typed[0] == '-') {
        put_options(command, c);
    } else if (command->words_max) {
        wr_words_each(command->words, command->list, put_candidate, c);
    }
}

void wr_complete(const struct wr_command *const *commands, const char *const *words, size_t count,
                 struct wr_buf *out)
{
    struct candidates c = {.out = out, .typed = count ? words[count - 1] : "", .before = ""};

    if (count < 2) {
        put_commands(commands, &c);
        return;
    }
    if (!strcmp(words[0], "help"))
        put_commands(commands, &c);
    for (; *commands; commands++)
        if (!strcmp((*commands)->name, words[0]))
            complete_command(*commands, words + 1, count - 2, &c);
}

static int run_completion(void *values, const struct wr_words *words)
{
    (void)values;
    for (size_t i = 0; i < SHELLS_COUNT; i++)
        if (!strcmp(shells[i].name, words->items[0]))
            return wr_cli_write(wr_span_of((const char *)shells[i].script)) ? WR_EXIT_OK
                                                                            : WR_EXIT_USAGE;
    struct wr_near near = wr_near_to(wr_span_of(words->items[0]));
    for (size_t i = 0; i < SHELLS_COUNT; i++)
        wr_near_offer(&near, shells[i].name, "");
    return wr_cli_fail("no shell '%s' is known%s name bash, zsh or fish", words->items[0],
                       near.text);
}

const struct wr_command wr_cmd_completion = {
    .name = "completion",
    .purpose = "what a shell needs to complete all this",
    .usage = "bash|zsh|fish",
    .about = "Prints a script that lets a shell complete weir's commands, options and their "
             "values. Where it goes:\n"
             "bash: source <(weir completion bash), in ~/.bashrc\n"
             "zsh: source <(weir completion zsh), in ~/.zshrc, behind compinit\n"
             "fish: weir completion fish | source, in ~/.config/fish/config.fish",
    .words_min = 1,
    .words_max = 1,
    .wants = "name a shell: bash, zsh or fish",
    .words = "bash zsh fish",
    .example = "source <(weir completion bash)",
    .run = run_completion,
};
