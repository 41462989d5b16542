/* `weir completion`: scripts for shells, and the answers they ask for.
 *
 * A script knows nothing of commands and options. It asks the program, `weir --complete WORD` for a
 * command and `weir COMMAND --complete BEFORE WORD` for the rest, and the answer is made from the
 * table that the command itself reads its options with. An answer is a candidate a line, a tab and
 * what it is; `:file` and `:dir` leave the rest to the shell.
 */
#include "cli/cmd.h"

#include <string.h>

#include "base/span.h"
#include "launch/agents.h"
#include "policy/policy.h"

static const char help[] =
    "usage: weir completion bash|zsh|fish\n"
    "\n"
    "Prints a script that lets a shell complete weir's commands, options and their values.\n"
    "\n"
    "  bash   source <(weir completion bash)                     in ~/.bashrc\n"
    "  zsh    source <(weir completion zsh)                      in ~/.zshrc, after compinit\n"
    "  fish   weir completion fish | source                      in ~/.config/fish/config.fish\n"
    "\n"
    "example: source <(weir completion bash)\n";

static const char bash[] =
    "_weir()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} found word paths\n"
    "    COMPREPLY=()\n"
    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
    "        found=$(\"$1\" --complete \"$cur\" 2>/dev/null)\n"
    "    else\n"
    "        found=$(\"$1\" \"${COMP_WORDS[1]}\" --complete \"$prev\" \"$cur\" 2>/dev/null)\n"
    "    fi\n"
    "    while IFS=$'\\t' read -r word _; do\n"
    "        case $word in\n"
    "        :file | :dir)\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            mapfile -t paths < <(compgen \"-${word:1:1}\" -- \"$cur\")\n"
    "            COMPREPLY+=(\"${paths[@]}\")\n"
    "            ;;\n"
    "        ?*) COMPREPLY+=(\"$word\") ;;\n"
    "        esac\n"
    "    done <<<\"$found\"\n"
    "}\n"
    "complete -F _weir weir\n";

static const char zsh[] =
    "#compdef weir\n"
    "_weir()\n"
    "{\n"
    "    local cur=$words[CURRENT] prev=$words[CURRENT-1] line\n"
    "    local -a found items\n"
    "    if (( CURRENT == 2 )); then\n"
    "        found=(\"${(@f)$($words[1] --complete \"$cur\" 2>/dev/null)}\")\n"
    "    else\n"
    "        found=(\"${(@f)$($words[1] $words[2] --complete \"$prev\" \"$cur\" 2>/dev/null)}\")\n"
    "    fi\n"
    "    for line in $found; do\n"
    "        case $line in\n"
    "        :file) _files ;;\n"
    "        :dir) _files -/ ;;\n"
    "        ?*) items+=(\"${${line//:/\\\\:}/$'\\t'/:}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#items )) && _describe weir items\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _weir ]; then _weir \"$@\"; else compdef _weir weir; fi\n";

static const char fish[] =
    "function __weir_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l cur (commandline -ct)\n"
    "    set -l found\n"
    "    if test (count $words) -eq 1\n"
    "        set found ($words[1] --complete \"$cur\" 2>/dev/null)\n"
    "    else\n"
    "        set found ($words[1] $words[2] --complete \"$words[-1]\" \"$cur\" 2>/dev/null)\n"
    "    end\n"
    "    for line in $found\n"
    "        switch $line\n"
    "            case :file\n"
    "                __fish_complete_path \"$cur\"\n"
    "            case :dir\n"
    "                __fish_complete_directories \"$cur\"\n"
    "            case '*'\n"
    "                echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c weir -f -a '(__weir_complete)'\n";

static const struct {
    const char *name, *script;
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

enum { SHELLS_COUNT = sizeof(shells) / sizeof(shells[0]) };

/* Words that an option takes, or a command; parted by spaces. */
struct words {
    const char *name, *list;
};

static const struct words option_words[] = {
    {"mode", "active off meter shadow canary holdout"},
    {"dialect", "chat responses messages"},
    {"api", "chat responses messages"},
    {"store", ":dir"},
    {"results", ":dir"},
};

static const struct words command_words[] = {
    {"store", "verify gc stats purge"},
    {"completion", "bash zsh fish"},
    {"serve", ""},
    {"doctor", ""},
    {"mcp", ""},
};

void wr_complete_word(const char *word, const char *what, const char *typed)
{
    if (!strncmp(word, typed, strlen(typed)) || word[0] == ':')
        printf("%s%s%s\n", word, *what ? "\t" : "", what);
}

static void complete_list(const char *list, const char *typed)
{
    char word[64];

    while (*list) {
        size_t bytes = strcspn(list, " ");
        (void)snprintf(word, sizeof(word), "%.*s", (int)bytes, list);
        wr_complete_word(word, "", typed);
        list += bytes + (list[bytes] == ' ');
    }
}

static void complete_policies(const char *typed)
{
    for (uint32_t i = 0; i < wr_policy_count(); i++)
        wr_complete_word(wr_policy_at(i)->name, wr_policy_at(i)->what, typed);
}

static const char *find_words(const struct words *table, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(table[i].name, name))
            return table[i].list;
    return ":file";
}

/* The value of the option before the cursor. */
static void complete_value(const char *option, const char *typed)
{
    if (!strcmp(option, "policy"))
        complete_policies(typed);
    else
        complete_list(
            find_words(option_words, sizeof(option_words) / sizeof(option_words[0]), option),
            typed);
}

static void complete_rest(const char *command, const char *typed)
{
    if (!strcmp(command, "policies"))
        complete_policies(typed);
    for (size_t i = 0; !strcmp(command, "run") && wr_agent_at(i); i++)
        if (wr_agent_is_known(wr_agent_at(i)))
            wr_complete_word(wr_agent_at(i)->name, wr_agent_at(i)->what, typed);
    if (strcmp(command, "policies"))
        complete_list(
            find_words(command_words, sizeof(command_words) / sizeof(command_words[0]), command),
            typed);
}

void wr_complete_option(const char *command, const struct wr_opt *options, size_t options_count,
                        const char *before, const char *typed)
{
    char word[128];

    for (size_t i = 0; i < options_count && !strncmp(before, "--", 2); i++)
        if (!strcmp(options[i].name, before + 2) && options[i].kind != WR_OPT_FLAG) {
            complete_value(options[i].name, typed);
            return;
        }
    if (typed[0] != '-') {
        complete_rest(command, typed);
        return;
    }
    for (size_t i = 0; i < options_count; i++) {
        (void)snprintf(word, sizeof(word), "--%s", options[i].name);
        wr_complete_word(word, "", typed);
    }
    wr_complete_word("--help", "", typed);
}

int wr_cmd_completion(int argc, char **argv)
{
    struct wr_opt_list rest = {.count = 0};
    bool done;

    if (!wr_opt_parse(argc, argv, NULL, 0, help, &rest, &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    for (size_t i = 0; rest.count == 1 && i < SHELLS_COUNT; i++)
        if (!strcmp(shells[i].name, rest.items[0]))
            return wr_cli_write("completion", wr_span_of(shells[i].script)) ? WR_EXIT_OK
                                                                            : WR_EXIT_USAGE;
    return wr_cli_fail("completion", "name a shell: bash, zsh or fish");
}
