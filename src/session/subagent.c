/* Subagents: a session below a session. The parent pays for the conclusion. */
#include "session/session.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/span.h"
#include "base/text.h"
#include "session/disk.h"

static const char *const reading_tools[] = {"read_file", "Read", "grep",  "Grep",        "glob",
                                            "Glob",      "ls",   "list",  "list_files",  "search",
                                            "bash",      "Bash", "shell", "weir_recall", NULL};

static const struct weir_subagent_kind kinds[] = {
    {.name = "explore",
     .what = "reads sources and answers one question about them",
     .instructions =
         "You explore source code to answer one question. Read and search as much as you need; "
         "change nothing.\nYour last message is all that the one who asked will see: answer the "
         "question, name every file and line the answer rests on (path:line), quote what must be "
         "exact, and say what you could not find out.",
     .tools = reading_tools},
    {.name = "task",
     .what = "carries out one self-contained task with all of the parent's tools",
     .instructions =
         "You carry out one task for another agent. Your last message is all it will see: say what "
         "you did, what you changed (path:line), how you checked it, and what is left to do."},
};

const struct weir_subagent_kind *weir_subagent_kind_at(size_t index)
{
    return index < WR_COUNT_OF(kinds) ? &kinds[index] : NULL;
}

const struct weir_subagent_kind *weir_subagent_kind_find(const char *name)
{
    for (size_t i = 0; i < WR_COUNT_OF(kinds); i++)
        if (!strcmp(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

static bool may_use(const struct weir_subagent_kind *kind, weir_span tool)
{
    if (!kind->tools)
        return true;
    for (size_t i = 0; kind->tools[i]; i++)
        if (wr_span_is(tool, kind->tools[i]))
            return true;
    return false;
}

static weir_status give_tools(struct weir_session *parent, struct weir_session *child,
                              struct weir_err *err)
{
    wr_arena_reset(&parent->scratch);
    struct weir_tool *tools =
        WR_ARENA_ARRAY(&parent->scratch, struct weir_tool, parent->tools_count + 1);
    size_t count = 0;

    if (!tools)
        return wr_arena_status(&parent->scratch);
    for (size_t i = 0; i < parent->tools_count; i++)
        if (may_use(child->kind, parent->tools[i].name))
            tools[count++] = parent->tools[i];
    return weir_session_set_tools(child, tools, count, err);
}

/* 0 is no limit, so that what is used up leaves one: the next check stops at it. */
static uint64_t left(uint64_t max, uint64_t used)
{
    return !max ? 0 : max > used ? max - used : 1;
}

static struct wr_run_limits limits_less(const struct wr_run_limits *limits,
                                        const struct wr_run_used *used)
{
    return (struct wr_run_limits){.tokens_max = left(limits->tokens_max, used->tokens),
                                  .turns_max = left(limits->turns_max, used->turns),
                                  .tool_calls_max = left(limits->tool_calls_max, used->tool_calls),
                                  .cost_micro_usd_max =
                                      left(limits->cost_micro_usd_max, used->cost_micro_usd),
                                  .elapsed_ms_max = left(limits->elapsed_ms_max, used->elapsed_ms)};
}

/* A helper works within what is left of the parent's run, and of its session. Its own session is
 * that one run, so the two can stand where a session has them. */
static void give_limits(struct weir_session *child, const struct weir_session *parent,
                        int64_t now_ms)
{
    struct wr_run_used run = wr_thread_run_used(&parent->thread, now_ms);
    struct wr_run_used all = wr_thread_all_used(&parent->thread, now_ms);

    child->settings.limits = limits_less(&parent->settings.limits, &run);
    child->settings.session_limits = limits_less(&parent->settings.session_limits, &all);
}

static weir_status open_child(struct weir_session *parent, const struct weir_subagent_kind *kind,
                              weir_span call_id, int64_t now_ms, struct weir_session **child,
                              struct weir_err *err)
{
    char dir[WR_SESSION_PATH_BYTES_MAX], tail[128];
    struct weir_session_options options = {.dir = dir,
                                           .model = kind->model ? kind->model : parent->model,
                                           .store = parent->store,
                                           .tenant = wr_span_of(parent->tenant),
                                           .now_ms = now_ms};

    (void)snprintf(tail, sizeof(tail), "subagents/%.60s-%08llx", kind->name,
                   (unsigned long long)(wr_hash64(call_id) >> 32));
    weir_status status = wr_disk_join(dir, parent->dir, tail, err);
    if (!status)
        status = weir_session_open(&options, child, err);
    if (status)
        return status;
    (*child)->kind = kind;
    memcpy((*child)->call_id, call_id.ptr, call_id.len);
    /* What the parent was told of limits and policy holds below it too. */
    give_limits(*child, parent, now_ms);
    (*child)->settings.output_tokens_max = parent->settings.output_tokens_max;
    return give_tools(parent, *child, err);
}

weir_status weir_session_spawn(struct weir_session *parent, const struct weir_subagent_kind *kind,
                               weir_span call_id, weir_span task, int64_t now_ms,
                               struct weir_session **child, struct weir_err *err)
{
    struct wr_trace_field fields[] = {{"agent", 0, wr_span_of(kind->name)},
                                      {"call_id", 0, call_id}};

    *child = NULL;
    if (!call_id.len || call_id.len > WR_STORE_NAME_BYTES_MAX)
        return wr_fail(err, WEIR_INVALID, 0, "a subagent answers a call of the parent's");
    weir_status status = open_child(parent, kind, call_id, now_ms, child, err);
    if (!status)
        status = weir_session_set_prompt(*child, wr_span_of(kind->instructions), now_ms, err);
    /* One that was killed goes on where it was. */
    if (!status && !(*child)->thread.messages_count)
        status = weir_session_say(*child, task, now_ms, err);
    if (!status) {
        wr_trace_tell(&parent->trace, now_ms, "subagent", fields, 2);
        return WEIR_OK;
    }
    weir_session_close(*child);
    *child = NULL;
    return status;
}

static weir_span last_words(const struct weir_session *child)
{
    for (uint32_t i = child->thread.messages_count; i-- > 0;) {
        const struct wr_event *event = &child->thread.messages[i].event;
        if (event->kind == WR_EVENT_ASSISTANT && !event->calls_count && event->text.len)
            return event->text;
    }
    return (weir_span){"", 0};
}

/* As many of the first bytes as have `tokens_max` tokens, found by halving. */
static size_t fitting(struct weir_session *session, weir_span text, uint64_t tokens_max)
{
    size_t low = 0, high = text.len;
    if (wr_meter_count(session->meter, text) <= tokens_max)
        return text.len;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (wr_meter_count(session->meter, wr_span_cut(text, 0, middle)) <= tokens_max)
            low = middle;
        else
            high = middle;
    }
    while (low > 0 && wr_utf8_is_tail(text.ptr[low]))
        low--;
    return low;
}

static void write_conclusion(struct wr_buf *out, struct weir_session *child)
{
    uint64_t tokens_max = child->kind && child->kind->answer_tokens_max
                              ? child->kind->answer_tokens_max
                              : WR_SUBAGENT_ANSWER_TOKENS;
    weir_span text = last_words(child);
    size_t len = fitting(child, text, tokens_max);

    if (!text.len) {
        wr_buf_printf(out, "[the subagent ended without an answer; %s has what it did]",
                      child->journal.path);
        return;
    }
    wr_buf_append(out, wr_span_cut(text, 0, len));
    if (len < text.len)
        wr_buf_printf(out, "\n[cut to ~%llu tokens; the whole answer is the last line of %s]",
                      (unsigned long long)tokens_max, child->journal.path);
}

weir_status weir_session_join(struct weir_session *parent, struct weir_session *child,
                              int64_t now_ms, struct weir_err *err)
{
    const struct wr_run_used *used = &child->thread.all_used;
    struct wr_trace_field fields[] = {
        {"agent", 0, wr_span_of(child->kind ? child->kind->name : "")},
        {"turns", used->turns, {"", 0}},
        {"tokens", used->tokens, {"", 0}},
        {"cost_micro_usd", used->cost_micro_usd, {"", 0}}};
    struct weir_session_spent spent = {.by = "subagent",
                                       .model = child->model,
                                       .usage = {.input_tokens = used->tokens},
                                       .turns = used->turns,
                                       .tool_calls = used->tool_calls,
                                       .cost_micro_usd = used->cost_micro_usd,
                                       .is_priced = !child->thread.unpriced_count};
    bool is_failure = !last_words(child).len;
    struct wr_buf text;

    wr_buf_init(&text, WR_JOURNAL_LINE_BYTES_MAX);
    write_conclusion(&text, child);
    weir_status status = wr_buf_status(&text);
    if (!status)
        status = weir_session_result(parent, wr_span_of(child->call_id), wr_buf_view(&text),
                                     is_failure, now_ms, err);
    if (!status)
        status = weir_session_add_spent(parent, &spent, now_ms, err);
    if (!status)
        wr_trace_tell(&parent->trace, now_ms, "subagent_result", fields, 4);
    wr_buf_release(&text);
    weir_session_close(child);
    return status;
}
