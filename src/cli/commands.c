/* Which commands there are, and what becomes of a command line before one of them runs. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/cmd.h"
#include "cli/plain.h"

const struct wr_command *const wr_commands[] = {
    /* try it */
    &wr_cmd_simulate, &wr_cmd_try,
    /* use it */
    &wr_cmd_run, &wr_cmd_install, &wr_cmd_uninstall, &wr_cmd_serve, &wr_cmd_doctor, &wr_cmd_mcp,
    &wr_cmd_hook, &wr_cmd_agent,
    /* see what it did */
    &wr_cmd_sessions, &wr_cmd_why, &wr_cmd_recall, &wr_cmd_context, &wr_cmd_top, &wr_cmd_report,
    &wr_cmd_compare, &wr_cmd_learn,
    /* steer a running session */
    &wr_cmd_plan, &wr_cmd_pin, &wr_cmd_unpin, &wr_cmd_undo, &wr_cmd_exact, &wr_cmd_pause,
    &wr_cmd_resume, &wr_cmd_rules,
    /* one request, one output */
    &wr_cmd_inspect, &wr_cmd_project, &wr_cmd_diff, &wr_cmd_condense, &wr_cmd_count, &wr_cmd_prompt,
    /* look up, keep in order */
    &wr_cmd_models, &wr_cmd_policies, &wr_cmd_replay, &wr_cmd_store, &wr_cmd_token,
    &wr_cmd_completion, NULL};

/* Where each group of them begins. */
static const struct wr_help_group groups[] = {
    {&wr_cmd_simulate, "Try it, without changing anything"},
    {&wr_cmd_run, "Use it"},
    {&wr_cmd_sessions, "See what it did"},
    {&wr_cmd_plan, "Steer a running session"},
    {&wr_cmd_inspect, "One request, or one output of a tool"},
    {&wr_cmd_models, "What it knows and keeps"},
    {NULL, NULL},
};

static const struct wr_command *find_command(const char *name)
{
    struct wr_near near = wr_near_to(wr_span_of(name));

    for (size_t i = 0; wr_commands[i]; i++) {
        if (!strcmp(wr_commands[i]->name, name))
            return wr_commands[i];
        wr_near_offer(&near, wr_commands[i]->name, "");
    }
    wr_cli_fail("no command '%s'%s `weir --help` lists them", name, near.text);
    return NULL;
}

/* The manual, of all or of one command. */
static int print_manual(const char *about)
{
    const struct wr_command *command = about ? find_command(about) : NULL;
    struct wr_buf out;

    if (about && !command)
        return WR_EXIT_USAGE;
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (command)
        wr_help_manual_of(command, weir_version(), &out);
    else
        wr_help_manual(wr_commands, weir_version(), &out);
    return wr_cli_end(&out, WR_EXIT_OK);
}

static int print_help(const char *about)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (about)
        wr_help_print(find_command(about), &out);
    else
        wr_help_overview(wr_commands, groups, &out);
    return wr_cli_end(&out, WR_EXIT_OK);
}

static int print_candidates(const char *const *words, size_t count)
{
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_complete(wr_commands, words, count, &out);
    return wr_cli_end(&out, WR_EXIT_OK);
}

static int run_command(const struct wr_command *command, int argc, char **argv)
{
    void *values = calloc(1, command->values_bytes + 1);
    struct wr_plain plain;
    struct wr_words words;
    int code = WR_EXIT_USAGE;

    if (!values)
        return wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
    if (command->defaults)
        memcpy(values, command->defaults, command->values_bytes);
    wr_cli_use_name(command->name);
    wr_plain_begin(&plain, command->name, argv);
    enum wr_parsed parsed = wr_options_parse(command, argc, argv, values, &words);
    if (parsed == WR_PARSED_HELP)
        code = print_help(command->name);
    else if (parsed == WR_PARSED)
        code = command->run(values, &words);
    code = wr_plain_end(&plain, code);
    wr_cli_use_name("");
    free(values);
    return code;
}

int wr_cli_main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;

    if (!word)
        return wr_cli_greet();
    if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
        const char *about = argc > 2 ? argv[2] : NULL;
        if (about && !strcmp(about, "--man"))
            return print_manual(argc > 3 ? argv[3] : NULL);
        if (about && !strcmp(about, "help"))
            about = NULL;
        if (about && !find_command(about))
            return WR_EXIT_USAGE;
        return print_help(about);
    }
    if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version")) {
        printf("weir %s\n", weir_version());
        return WR_EXIT_OK;
    }
    if (!strcmp(word, "--complete"))
        return print_candidates((const char *const *)argv + 2, (size_t)argc - 2);
    const struct wr_command *command = find_command(word);
    return command ? run_command(command, argc - 1, argv + 1) : WR_EXIT_USAGE;
}
