/* What fills the window of a session, as lines for a terminal: a bar, its parts, thresholds, cost.
 */
#include "agent/context_page.h"

#include <string.h>

enum { BAR_CELLS = 50 };

struct part {
    const char *name;
    char letter;
    uint64_t tokens;
};

enum { SYSTEM, TOOLS, SKILLS, MEMORY, HISTORY, RESULTS, FREE, PARTS_COUNT };

static uint64_t section_tokens(const struct weir_prompt *prompt, const char *name)
{
    uint64_t tokens = 0;
    for (size_t i = 0; prompt && i < weir_prompt_sections(prompt); i++) {
        const struct weir_section *section = weir_prompt_section(prompt, i);
        if (!strcmp(section->name, name) && !section->is_volatile)
            tokens += section->tokens;
    }
    return tokens;
}

static void divide_window(const struct weir_session_context *c, const struct weir_prompt *prompt,
                          struct part parts[PARTS_COUNT])
{
    static const struct part names[PARTS_COUNT] = {
        [SYSTEM] = {"system", 'S', 0},   [TOOLS] = {"tools", 'T', 0},
        [SKILLS] = {"skills", 'K', 0},   [MEMORY] = {"memory", 'M', 0},
        [HISTORY] = {"history", 'H', 0}, [RESULTS] = {"results", 'R', 0},
        [FREE] = {"free", '.', 0}};
    uint64_t skills = section_tokens(prompt, "skills"), memory = section_tokens(prompt, "memory");

    memcpy(parts, names, sizeof(names));
    if (skills + memory > c->system_tokens)
        skills = memory = 0;
    parts[SYSTEM].tokens = c->system_tokens - skills - memory;
    parts[TOOLS].tokens = c->tools_tokens;
    parts[SKILLS].tokens = skills;
    parts[MEMORY].tokens = memory;
    parts[HISTORY].tokens =
        c->user_tokens + c->assistant_tokens + c->calls_tokens + c->summary_tokens;
    parts[RESULTS].tokens = c->results_tokens;
    parts[FREE].tokens =
        c->usable_tokens > c->total_tokens ? c->usable_tokens - c->total_tokens : 0;
}

static void put_bar(struct wr_buf *out, const struct part *parts)
{
    uint64_t all = 0, passed = 0, cells = 0;

    for (size_t i = 0; i < PARTS_COUNT; i++)
        all += parts[i].tokens;
    wr_buf_text(out, "  [");
    for (size_t i = 0; i < PARTS_COUNT && all; i++) {
        passed += parts[i].tokens;
        for (uint64_t end = passed * BAR_CELLS / all; cells < end; cells++)
            wr_buf_byte(out, parts[i].letter);
    }
    wr_buf_text(out, "]\n");
}

static void put_parts(struct wr_buf *out, const struct part *parts, uint64_t window)
{
    for (size_t i = 0; i < PARTS_COUNT; i++) {
        uint64_t tenths = window ? parts[i].tokens * 1000 / window : 0;
        wr_buf_printf(out, "  %c %-8s %9llu tokens %3llu.%llu%%\n", parts[i].letter, parts[i].name,
                      (unsigned long long)parts[i].tokens, (unsigned long long)(tenths / 10),
                      (unsigned long long)(tenths % 10));
    }
}

static void put_threshold(struct wr_buf *out, const char *what, uint64_t at, uint64_t total)
{
    if (!at)
        return;
    wr_buf_printf(out, "  at %llu tokens %s", (unsigned long long)at, what);
    if (at > total)
        wr_buf_printf(out, " (%llu to go)\n", (unsigned long long)(at - total));
    else
        wr_buf_text(out, " (reached)\n");
}

static void put_cost(struct weir_session *session, int64_t now_ms, struct wr_buf *out)
{
    struct weir_session_run run;

    weir_session_run(session, now_ms, &run);
    wr_buf_text(out, "  this run: ");
    wr_context_cost(&run, out);
    wr_buf_printf(out, ", %llu tokens, %llu turns, %llu calls (helpers and summaries included)\n",
                  (unsigned long long)run.tokens, (unsigned long long)run.turns,
                  (unsigned long long)run.tool_calls);
    if (!run.is_cost_known)
        wr_buf_text(out,
                    "  no price is known of a model that was asked; `weir models` lists them\n");
}

/* The same share as the status line's. */
static void put_use(const struct weir_session_context *c, struct wr_buf *out)
{
    wr_buf_printf(out, "%llu of %llu tokens, %u%%%s\n", (unsigned long long)c->used_tokens,
                  (unsigned long long)c->usable_tokens, c->used_percent,
                  c->last_input_tokens ? "" : " (estimated)");
    if (c->usable_tokens < c->window_tokens)
        wr_buf_printf(out, "of a window of %llu the rest is kept for the answer\n",
                      (unsigned long long)c->window_tokens);
    if (c->last_input_tokens)
        wr_buf_printf(out, "%llu tokens as the provider counted the last request\n",
                      (unsigned long long)c->last_input_tokens);
    wr_buf_printf(out, "estimated %s, %llu tokens:\n",
                  c->is_sent ? "as it was sent, with what came since"
                             : "of the journal, before anything is left out of a request",
                  (unsigned long long)c->total_tokens);
}

void wr_context_page(struct weir_session *session, const struct weir_prompt *prompt, int64_t now_ms,
                     struct wr_buf *out)
{
    struct weir_session_context c = {0};
    struct part parts[PARTS_COUNT];

    weir_session_context(session, &c);
    divide_window(&c, prompt, parts);
    put_use(&c, out);
    put_bar(out, parts);
    put_parts(out, parts, c.usable_tokens);
    put_threshold(out, "older tool results are cleared", c.clear_at_tokens, c.total_tokens);
    put_threshold(out, "older turns are summarised, their text kept in a file",
                  c.summarise_at_tokens, c.total_tokens);
    wr_buf_printf(out, "  %llu messages, %llu at most", (unsigned long long)c.messages_count,
                  (unsigned long long)c.messages_max);
    if (c.messages_omitted)
        wr_buf_printf(out, "; %llu older ones are left out of the prompt",
                      (unsigned long long)c.messages_omitted);
    wr_buf_byte(out, '\n');
    put_cost(session, now_ms, out);
}

void wr_context_cost(const struct weir_session_run *run, struct wr_buf *out)
{
    if (!run->is_cost_known)
        wr_buf_text(out, "cost unknown");
    else
        wr_buf_printf(out, "$%llu.%02llu", (unsigned long long)(run->cost_micro_usd / 1000000),
                      (unsigned long long)(run->cost_micro_usd / 10000 % 100));
}

void wr_context_word(struct weir_session *session, bool has_colours, struct wr_buf *out)
{
    struct weir_session_context c = {0};

    weir_session_context(session, &c);
    const char *code = !has_colours || !c.colour     ? ""
                       : !strcmp(c.colour, "red")    ? "\x1b[31m"
                       : !strcmp(c.colour, "yellow") ? "\x1b[33m"
                                                     : "";
    wr_buf_printf(out, "%sctx %u%%%s", code, c.used_percent, *code ? "\x1b[0m" : "");
}
