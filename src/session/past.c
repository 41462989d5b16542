#include "session/past.h"

#include "base/err.h"
#include "base/span.h"
#include "policy/history.h"
#include "session/journal.h"
#include "session/render.h"

struct loader {
    struct wr_past *past;
    uint64_t before;
};

static weir_status load(void *user, const struct wr_event *event, weir_span line)
{
    struct loader *loader = user;
    struct wr_staged staged;

    (void)line;
    if (event->seq >= loader->before || event->kind == WR_EVENT_COMPACTION)
        return WEIR_OK;
    weir_status status = wr_thread_stage(&loader->past->thread, event, &staged);
    if (!status)
        wr_thread_commit(&loader->past->thread, &staged, event->seq);
    return status;
}

static uint64_t count_nothing(void *user, weir_span text)
{
    (void)user;
    (void)text;
    return 0;
}

static weir_status read_journal(struct wr_past *past, const char *dir, uint64_t before,
                                struct weir_err *err)
{
    struct wr_journal_options options = {.is_read_only = true};
    struct loader loader = {past, before};
    struct weir_session_opened opened;
    struct wr_journal journal;

    weir_status status = wr_journal_open(&journal, dir, &options, load, &loader, &opened, err);
    if (!status)
        wr_journal_close(&journal);
    return status;
}

static weir_status make_request(struct wr_past *past, struct weir_err *err)
{
    struct weir_request_options options = {.dialect = "chat"};
    struct wr_view view;
    struct wr_render render = {
        .view = &view, .dialect = WEIR_DIALECT_CHAT, .model = WR_LIT("past")};

    weir_status status = wr_view_build(&view, &past->arena, &past->thread);
    if (status)
        return status;
    wr_render_write(&render, &past->body);
    status = wr_buf_status(&past->body);
    return status ? status
                  : weir_request_new(wr_buf_view(&past->body), &options, &past->request, err);
}

static weir_status read_facts(struct wr_past *past)
{
    const struct wr_transcript *t = &past->request->transcript;
    struct wr_facts_range range = {t, 0, t->segments_count, NULL};
    return wr_facts_read(&past->facts, &past->arena, &range);
}

weir_status wr_past_open(struct wr_past *past, const char *dir, uint64_t before, wr_count_fn *count,
                         void *user, struct weir_err *err)
{
    *past = (struct wr_past){.count = count, .user = user};
    wr_arena_init(&past->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&past->body, WR_JSON_BODY_BYTES_MAX);
    wr_thread_init(&past->thread, count_nothing, NULL);
    weir_status status = read_journal(past, dir, before, err);
    if (!status)
        status = make_request(past, err);
    if (!status)
        status = read_facts(past);
    if (!status)
        return WEIR_OK;
    wr_past_release(past);
    return wr_fail(err, status, 0, "the past of the session cannot be summarised: %s",
                   weir_status_text(status));
}

void wr_past_release(struct wr_past *past)
{
    weir_request_free(past->request);
    wr_thread_release(&past->thread);
    wr_buf_release(&past->body);
    wr_arena_release(&past->arena);
}

weir_status wr_past_summary(struct wr_past *past, uint64_t tokens_max, weir_span *text)
{
    struct wr_summary_input input = {
        .tokens_max = tokens_max, .count = past->count, .user = past->user};
    return wr_summary_write(&past->facts, &input, &past->arena, text);
}

weir_status wr_past_text(struct wr_past *past, struct wr_buf *out)
{
    uint32_t count = past->request->transcript.segments_count;
    uint32_t *list = WR_ARENA_ARRAY(&past->arena, uint32_t, count);
    if (!list)
        return wr_arena_status(&past->arena);
    for (uint32_t i = 0; i < count; i++)
        list[i] = i;
    return wr_history_write(out, &past->arena, &past->request->transcript, list, count);
}

static bool has(weir_span text, weir_span word)
{
    return !word.len || wr_span_find(text, word, 0) != SIZE_MAX;
}

static bool has_task(weir_span text, const struct wr_fact_task *task)
{
    if (has(text, task->line))
        return true;
    for (uint32_t i = 0; i < task->messages_count; i++)
        if (has(text, task->messages[i]))
            return true;
    return false;
}

bool wr_past_facts_are_in(const struct wr_past *past, weir_span text)
{
    const struct wr_facts *facts = &past->facts;
    for (uint32_t i = 0; i < facts->files_count; i++)
        if (facts->files[i].changes_count && !has(text, facts->files[i].path))
            return false;
    for (uint32_t i = 0; i < facts->tasks_count; i++)
        if (facts->tasks[i].outcome == WR_FACT_FAILED && !has_task(text, &facts->tasks[i]))
            return false;
    return true;
}
