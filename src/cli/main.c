/* weir -- the command line. */
#include <signal.h>
#include <string.h>

#include "cli/cmd.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"serve", wr_cmd_serve, "the proxy: requests projected on their way, answers streamed back"},
    {"run", wr_cmd_run, "an agent through the proxy, with a receipt at the end"},
    {"doctor", wr_cmd_doctor, "what could keep Weir from working here, and what to do"},
    {"inspect", wr_cmd_inspect, "what a request consists of: turns, segments, classes, handles"},
    {"project", wr_cmd_project, "a request on stdin, as it would be sent on, on stdout"},
    {"diff", wr_cmd_diff, "what changed between two requests, segment by segment"},
    {"condense", wr_cmd_condense, "one tool output, condensed, as a pipe"},
    {"recall", wr_cmd_recall, "what was taken out, by its handle"},
    {"mcp", wr_cmd_mcp, "the same for agents: an MCP server on stdin and stdout"},
    {"agent", wr_cmd_agent, "a small agent of our own, in a terminal or without one"},
    {"sessions", wr_cmd_sessions, "what went through the proxy, and what it was worth"},
    {"context", wr_cmd_context, "what fills a session's window, and what happens as it fills"},
    {"report", wr_cmd_report, "money, tokens, cache busts and quality, as a table or a page"},
    {"learn", wr_cmd_learn, "what was learnt from sessions that went badly; forgets it"},
    {"why", wr_cmd_why, "what a projection changed, and for which reason"},
    {"count", wr_cmd_count, "tokens of files or stdin"},
    {"policies", wr_cmd_policies, "the policies there are, their stages and parameters"},
    {"prompt", wr_cmd_prompt, "the system prompt of an agent's directory, section by section"},
    {"models", wr_cmd_models, "what Weir believes of a model, and why"},
    {"replay", wr_cmd_replay, "recorded sessions through the engine; with --strict, cases"},
    {"simulate", wr_cmd_simulate, "what every policy would have cost on recorded sessions"},
    {"completion", wr_cmd_completion, "what a shell needs to complete all this"},
    {"store", wr_cmd_store, "the store of originals: verify, gc, stats, purge"},
};

enum { COMMANDS_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void print_help(FILE *to)
{
    fputs("weir decides what a model sees: it rewrites requests so that long sessions fit and cost "
          "less,\n"
          "and can put back every byte it took out.\n\nusage: weir COMMAND [ARGUMENTS]\n\n",
          to);
    for (size_t i = 0; i < COMMANDS_COUNT; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].what);
    fputs("\nweir COMMAND --help shows a command's options and an example.\n"
          "example: weir inspect request.json\n",
          to);
}

static void go_on(int number)
{
    (void)number;
}

/* A file that may grow no further (`ulimit -f`) is a full disk, which every command knows how to
 * meet, and no reason to die of SIGXFSZ. A function that does nothing, unlike SIG_IGN, is not
 * handed down to the programs that we start. */
static void survive_full_files(void)
{
    struct sigaction now;

    if (!sigaction(SIGXFSZ, NULL, &now) && now.sa_handler == SIG_DFL)
        (void)signal(SIGXFSZ, go_on);
}

int main(int argc, char **argv)
{
    survive_full_files();
    if (argc < 2) {
        fputs("weir: name a command; `weir --help` lists them\n", stderr);
        return WR_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return WR_EXIT_OK;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
        printf("weir %s\n", weir_version());
        return WR_EXIT_OK;
    }
    if (!strcmp(argv[1], WR_COMPLETE)) {
        for (size_t i = 0; i < COMMANDS_COUNT; i++)
            wr_complete_word(commands[i].name, commands[i].what, argc > 2 ? argv[2] : "");
        return WR_EXIT_OK;
    }
    for (size_t i = 0; i < COMMANDS_COUNT; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "weir: no command '%s'; `weir --help` lists them\n", argv[1]);
    return WR_EXIT_USAGE;
}
