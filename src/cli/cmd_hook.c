/* `weir hook`: what an agent's hook calls after a tool ran.
 *
 * It is started for every call of a tool, by a program that waits for it and would stop or show an
 * error if it failed. So it ends with 0 and says nothing on stdout wherever there is doubt, and a
 * timer ends it so where something takes too long, whatever that is. One write at the end gives the
 * answer: an answer that is cut off would be worse than none.
 */
#include "cli/cmd.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/os.h"
#include "base/span.h"
#include "cli/open.h"
#include "hook/hook.h"
#include "hook/presence.h"
#include "hook/settings.h"

struct hook_options {
    const char *store, *policy, *model, *recall;
    uint64_t patience_ms;
    bool prints_settings, says_why;
};

static const struct hook_options defaults = {.patience_ms = WR_HOOK_MS};

#define VALUES struct hook_options

static void list_agents(wr_word_fn *each, void *user)
{
    for (size_t i = 0; wr_hook_agent_at(i); i++)
        each(user, wr_hook_agent_at(i)->name, wr_hook_agent_at(i)->lack);
}

static const struct wr_option options[] = {
    {"settings", WR_FLAG(prints_settings),
     "prints what to put into the agent's settings, and on stderr where; changes nothing"},
    WR_ROW_STORE(store),
    {"policy", WR_TEXT("P", policy),
     "what is taken out (`weir policies` lists them); unless told auto", .list = wr_list_policies},
    {"model", WR_TEXT("M", model), "count for this model; unless told the one the agent names",
     .list = wr_list_models},
    {"recall", WR_TEXT("NAME", recall),
     "the agent has weir_recall under this name, by `weir serve`'s /mcp or a program of its own; "
     "unless told only a `weir mcp` that it has started itself counts"},
    {"patience", WR_NUMBER("MS", patience_ms, 10, WR_HOOK_MS_MAX),
     "milliseconds that it may take; past them the result stays whole (2000)"},
    {"why", WR_FLAG(says_why), "says on stderr what was done, and why not"},
};

/* ---- as a hook ---- */

static void on_late(int number)
{
    (void)number;
    _exit(WR_EXIT_OK);
}

static void set_timer(int ms)
{
    struct itimerval timer = {.it_value = {ms / 1000, ms % 1000 * 1000}};
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

static void say_why(const struct hook_options *o, const struct wr_hooked *hooked)
{
    if (!o->says_why)
        return;
    if (hooked->whole)
        fprintf(stderr, "weir hook: whole: %s\n", hooked->whole);
    else
        fprintf(stderr, "weir hook: condensed: %llu tokens to %llu\n",
                (unsigned long long)hooked->tokens_before,
                (unsigned long long)hooked->tokens_after);
}

static void answer_event(const struct wr_hook_agent *agent, const struct hook_options *o,
                         const char *store, struct wr_buf *out)
{
    struct wr_hook hook = {.agent = agent,
                           .store = store,
                           .policy = o->policy ? o->policy : "auto",
                           .model = o->model,
                           .recall = o->recall,
                           .now_ms = wr_clock_ms(),
                           .patience_ms = (uint32_t)o->patience_ms};
    struct wr_hooked hooked = {.whole = NULL};
    struct weir_err err = {0};
    struct wr_buf event = {0};

    if (!hook.recall && wr_presence_find(store))
        hook.recall = agent->recall;
    if (wr_cli_read("-", &event)) {
        weir_status status = wr_hook_answer(&hook, wr_buf_view(&event), out, &hooked, &err);
        if (status) {
            (void)wr_cli_fail_status(status, &err);
            wr_buf_reset(out);
        } else {
            say_why(o, &hooked);
        }
    }
    wr_buf_release(&event);
}

static int run_as_hook(const struct wr_hook_agent *agent, const struct hook_options *o)
{
    struct wr_buf path, out;

    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGALRM, on_late);
    set_timer((int)o->patience_ms);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (wr_cli_store_path(o->store, &path))
        answer_event(agent, o, path.bytes, &out);
    set_timer(0);
    if (out.len && !out.status)
        (void)wr_cli_write(wr_buf_view(&out));
    wr_buf_release(&out);
    wr_buf_release(&path);
    return WR_EXIT_OK;
}

/* ---- for people ---- */

static int print_settings(const struct wr_hook_agent *agent, const struct hook_options *o)
{
    struct wr_hook_words words = {.store = o->store};
    char weir[4096];
    struct wr_buf out;

    if (agent->taker == WR_TAKES_NOTHING)
        return wr_cli_fail("%s: %s; `weir run -- %s` needs no hook", agent->name, agent->lack,
                           agent->name);
    words.weir = wr_os_program_path(weir, sizeof(weir)) ? weir : "weir";
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_hook_settings(agent, &words, &out);
    fprintf(stderr, "weir hook: %s\n", wr_hook_settings_place(agent));
    return wr_cli_end(&out, WR_EXIT_OK);
}

static int run_hook(void *values, const struct wr_words *words)
{
    const struct hook_options *o = values;
    const struct wr_hook_agent *agent = wr_hook_agent_find(words->items[0]);
    struct wr_near near = wr_near_to(wr_span_of(words->items[0]));

    if (!agent) {
        list_agents(wr_near_offer, &near);
        /* Not 2, by which a hook tells its agent to stop. */
        (void)wr_cli_fail("no agent is called '%s'%s there are claude, opencode, codex and gemini",
                          words->items[0], near.text);
        return WR_EXIT_CHECK;
    }
    return o->prints_settings ? print_settings(agent, o) : run_as_hook(agent, o);
}

const struct wr_command wr_cmd_hook = {
    .name = "hook",
    .purpose = "condenses a tool's result as an agent's hook, without a proxy",
    .usage = "AGENT [OPTIONS] < event\nAGENT --settings",
    .about =
        "What an agent's hook calls after a tool ran: the event comes on stdin, and where the "
        "result is worth condensing the answer on stdout puts a shorter one in its place, with "
        "a handle. The original is in the store first. Only where the agent has weir_recall "
        "to bring it back: without that, and in any doubt, nothing is printed and the agent "
        "keeps what it has. No address, no key, no proxy is involved.",
    WR_OPTIONS(options),
    .defaults = &defaults,
    .words_min = 1,
    .words_max = 1,
    .wants = "name the agent: claude, opencode, codex or gemini",
    .list = list_agents,
    .exits = "Exit 0 whatever becomes of an event; 1: no such agent.",
    .example = "weir hook claude --settings\n"
               "weir hook opencode --settings > ~/.config/opencode/plugins/weir.js",
    .run = run_hook,
};
