/* Reads a session's past from its journal, part by part: text for the history file, facts for the
 * summary.
 *
 * Each part is a request as the engine reads it, so that facts are found by the same code as in a
 * client's request. The file is a draft until all of it is written. A single message that is larger
 * than a document can be goes into the file as it is and gives no facts. */
#include "session/past.h"

#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/ascii.h"
#include "base/err.h"
#include "base/span.h"
#include "engine/engine.h"
#include "policy/marker.h"
#include "session/disk.h"
#include "session/journal.h"
#include "session/render.h"

enum { SHORT_WORD_BYTES = 3 };

/* ---- one part ---- */

struct loader {
    struct wr_past *past;
    struct wr_draft draft;   /* of the file */
    struct wr_thread thread; /* of the part at hand */
    uint64_t part_bytes;
    struct weir_err *err;
    struct wr_follow journal;
    bool has_ended; /* an event came that is not of this past */
};

static uint64_t count_nothing(void *user, weir_span text)
{
    (void)user;
    (void)text;
    return 0;
}

/* Any API will do: what is written is read again at once. */
static weir_status make_request(const struct wr_thread *thread, struct wr_arena *arena,
                                struct wr_buf *body, struct weir_request **request,
                                struct weir_err *err)
{
    struct weir_request_options options = {.dialect = wr_apis[0]->name};
    struct wr_view view;
    struct wr_render render = {
        .view = &view, .dialect = wr_apis[0]->dialect, .model = WR_LIT("past")};

    weir_status status = wr_view_build(&view, arena, thread);
    if (status)
        return status;
    wr_render_write(&render, body);
    status = wr_buf_status(body);
    return status ? status : weir_request_new(wr_buf_view(body), &options, request, err);
}

static weir_status write_text(struct wr_buf *text, struct wr_arena *arena,
                              const struct wr_transcript *transcript)
{
    uint32_t count = transcript->segments_count;
    uint32_t *list = WR_ARENA_ARRAY(arena, uint32_t, (size_t)count + 1);
    if (!list)
        return wr_arena_status(arena);
    for (uint32_t i = 0; i < count; i++)
        list[i] = i;
    return wr_history_write(text, arena, transcript, list, count);
}

/* A message that is larger than a document: its text as it is, and no facts. */
static void write_plainly(struct wr_buf *text, const struct wr_thread *thread)
{
    for (uint32_t i = 0; i < thread->messages_count; i++) {
        const struct wr_event *event = &thread->messages[i].event;
        wr_buf_printf(text, "## %s\n\n", wr_event_kind_name(event->kind));
        wr_buf_append(text, event->text);
        wr_buf_text(text, "\n\n");
    }
}

static weir_status add_text(struct loader *l, weir_span text)
{
    struct wr_past *past = l->past;

    for (size_t i = 0; i < text.len; i++)
        past->lines_count += text.ptr[i] == '\n';
    past->parts_count++;
    return wr_disk_draft_append(&l->draft, text, l->err);
}

/* The part at hand becomes text and facts, and another one begins. */
static weir_status end_part(struct loader *l)
{
    struct weir_request *request = NULL;
    struct wr_arena arena;
    struct wr_buf body, text;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&body, WR_JSON_BODY_BYTES_MAX);
    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    if (l->past->parts_count)
        wr_buf_byte(&text, '\n'); /* so that a line is left free, as between any two messages */
    size_t begin = text.len;
    weir_status status = make_request(&l->thread, &arena, &body, &request, l->err);
    bool is_plain = status == WEIR_LIMIT;
    if (is_plain) {
        write_plainly(&text, &l->thread);
        status = WEIR_OK;
    } else if (!status) {
        status = write_text(&text, &arena, &request->transcript);
    }
    if (!status && !is_plain && l->past->options->has_facts) {
        struct wr_facts_range range = {&request->transcript, 0, request->transcript.segments_count,
                                       NULL};
        status = wr_facts_add(&l->past->facts, &l->past->arena, &range);
    }
    if (!status)
        status = wr_buf_status(&text);
    if (!status)
        status = add_text(l, wr_span_cut(wr_buf_view(&text), begin, text.len));
    weir_request_free(request);
    wr_buf_release(&text);
    wr_buf_release(&body);
    wr_arena_release(&arena);
    wr_thread_release(&l->thread);
    wr_thread_init(&l->thread, count_nothing, NULL);
    l->part_bytes = 0;
    return status;
}

/* ---- all of it ---- */

static bool may_begin_part(const struct loader *l, const struct wr_event *event)
{
    return l->thread.messages_count && !l->thread.pending_count &&
           (event->kind == WR_EVENT_ASSISTANT || event->kind == WR_EVENT_USER);
}

static void note_end(struct loader *l, uint64_t seq)
{
    const struct wr_journal_scan *scan = &l->journal.scan;

    l->has_ended = true;
    l->past->end.line = scan->line;
    l->past->end.byte = scan->byte;
    l->past->end.seq = seq;
}

static weir_status load_event(void *user, const struct wr_event *event, weir_span line)
{
    struct loader *l = user;
    const struct wr_past_options *o = l->past->options;
    uint64_t part_bytes_max = o->part_bytes ? o->part_bytes : WR_PAST_PART_BYTES;
    struct wr_staged staged;
    weir_status status = WEIR_OK;

    if (event->seq >= o->before && !l->has_ended)
        note_end(l, event->seq - 1);
    if (event->seq >= o->before || event->kind == WR_EVENT_COMPACTION)
        return WEIR_OK;
    if (l->part_bytes + line.len > part_bytes_max && may_begin_part(l, event))
        status = end_part(l);
    if (!status)
        status = wr_thread_stage(&l->thread, event, &staged);
    if (!status)
        wr_thread_commit(&l->thread, &staged, event);
    l->part_bytes += line.len;
    return status;
}

static weir_status read_journal(struct loader *l)
{
    struct wr_past *past = l->past;
    weir_status status = wr_follow_open(&l->journal, past->options->dir, load_event, l, l->err);

    if (status)
        return status;
    if (past->end.byte) {
        l->journal.scan.line = past->end.line;
        l->journal.scan.byte = past->end.byte;
        l->journal.scan.seq = past->end.seq;
    }
    status = wr_follow_read(&l->journal, l->err);
    if (!status && !l->has_ended)
        note_end(l, l->journal.scan.seq);
    wr_follow_close(&l->journal);
    past->can_be_extended = !l->thread.pending_count;
    past->before = past->options->before;
    if (!status && (l->thread.messages_count || !past->parts_count))
        status = end_part(l);
    return status;
}

/* Reads into a draft that is open; on failure the file is as it was. */
static weir_status read_into(struct loader *l)
{
    wr_thread_init(&l->thread, count_nothing, NULL);
    weir_status status = read_journal(l);
    uint64_t file_bytes = l->draft.end_bytes;
    if (!status)
        status = wr_disk_draft_take(&l->draft, l->err);
    else
        wr_disk_draft_drop(&l->draft);
    wr_thread_release(&l->thread);
    l->past->file_bytes = file_bytes;
    return status;
}

weir_status wr_past_open(struct wr_past *past, const struct wr_past_options *options,
                         struct weir_err *err)
{
    struct loader l = {.past = past, .err = err};

    *past = (struct wr_past){.options = options};
    wr_arena_init(&past->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&past->newest, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_draft_open(&l.draft, options->history_path, err);
    if (!status)
        status = read_into(&l);
    if (!status)
        return WEIR_OK;
    wr_past_release(past);
    if (err && err->code == status && err->text[0])
        return status;
    return wr_fail(err, status, 0, "the past of the session cannot be summarised: %s",
                   weir_status_text(status));
}

bool wr_past_extend(struct wr_past *past)
{
    struct loader l = {.past = past};

    if (!past->can_be_extended || past->options->before < past->before ||
        wr_draft_extend(&l.draft, past->options->history_path, past->file_bytes, NULL))
        return false;
    return !read_into(&l);
}

/* From the first whole line of the last WR_PAST_PART_BYTES on. */
weir_status wr_past_load_newest(struct wr_past *past, struct weir_err *err)
{
    uint64_t from =
        past->file_bytes > WR_PAST_PART_BYTES ? past->file_bytes - WR_PAST_PART_BYTES : 0;

    wr_buf_release(&past->newest);
    wr_buf_init(&past->newest, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_disk_read_from(past->options->history_path, from, &past->newest, err);
    weir_span text = wr_buf_view(&past->newest);
    const char *line = from && !status ? memchr(text.ptr, '\n', text.len) : NULL;
    if (line) {
        size_t skip = (size_t)(line - text.ptr) + 1;
        memmove(past->newest.bytes, past->newest.bytes + skip, past->newest.len - skip);
        past->newest.len -= skip;
    }
    return status;
}

void wr_past_release(struct wr_past *past)
{
    wr_buf_release(&past->newest);
    wr_arena_release(&past->arena);
}

weir_status wr_past_summary(struct wr_past *past, uint64_t tokens_max, weir_span *text)
{
    struct wr_summary_input input = {
        .tokens_max = tokens_max, .count = past->options->count, .user = past->options->user};
    return wr_summary_write(&past->facts, &input, &past->arena, text);
}

static bool has_word(weir_span text, weir_span word)
{
    return !word.len || wr_span_find(text, word, 0) != SIZE_MAX;
}

static bool has_task(weir_span text, const struct wr_fact_task *task)
{
    if (has_word(text, task->line))
        return true;
    for (uint32_t i = 0; i < task->messages_count; i++)
        if (has_word(text, task->messages[i]))
            return true;
    return false;
}

/* Half of the words that are longer than three letters, or all of it. */
static bool has_most_words(weir_span text, weir_span item)
{
    uint32_t all = 0, found = 0;

    for (size_t at = 0; at < item.len;) {
        size_t end = at;
        while (end < item.len && wr_is_word(item.ptr[end]))
            end++;
        if (end - at > SHORT_WORD_BYTES) {
            all++;
            found += has_word(text, wr_span_cut(item, at, end));
        }
        at = end > at ? end : at + 1;
    }
    return found * 2 >= all || has_word(text, item);
}

bool wr_past_facts_are_in(const struct wr_past *past, weir_span text)
{
    const struct wr_facts *facts = &past->facts;
    for (uint32_t i = 0; i < facts->files_count; i++)
        if (facts->files[i].changes_count && !has_word(text, facts->files[i].path))
            return false;
    for (uint32_t i = 0; i < facts->tasks_count; i++)
        if (facts->tasks[i].outcome == WR_FACT_FAILED && !has_task(text, &facts->tasks[i]))
            return false;
    for (uint32_t i = 0; i < facts->items_count; i++)
        if (facts->items[i].progress != WR_FACT_DONE && !has_most_words(text, facts->items[i].text))
            return false;
    return true;
}
