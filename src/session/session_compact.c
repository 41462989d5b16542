/* Cuts: what leaves a session's memory, for a summary or for a notice. What leaves is first in
 * conversation_history/NAME.md, then said in the journal; a process that ends in between has
 * changed nothing but that file, which the next cut of another
 * process writes anew. While a session is open its cuts only add to the file. */
#include "session/session.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/span.h"
#include "base/text.h"
#include "session/cut.h"
#include "session/disk.h"
#include "session/past.h"

#define HISTORY_FOLDER "conversation_history"

enum {
    TAIL_COUNT = 6,
    TAIL_PERCENT_MIN = 10,
    TAIL_PERCENT_MAX = 40,
    GAIN_PERCENT = 5,
    CHARS_A_TOKEN = 3,       /* of a text that is cut; rather too few */
    SUMMARY_TOKENS_MIN = 40, /* a model's; or a quarter of the extracted one, if that is less */
    TRIES_MAX = 2,           /* of asking the model for it */
};

void weir_session_set_summary(struct weir_session *session, weir_summary_fn *fn, void *user)
{
    session->summary_fn = fn;
    session->summary_user = user;
}

/* ---- the file ---- */

static weir_status name_history(struct weir_session *session, struct weir_err *err)
{
    char folder[WR_SESSION_PATH_BYTES_MAX], name[WR_SESSION_NAME_BYTES_MAX + 8];
    weir_status status = wr_disk_join(folder, session->dir, HISTORY_FOLDER, err);

    if (!status)
        status = wr_disk_make_dir(folder, err);
    (void)snprintf(name, sizeof(name), "%s.md", session->name);
    return status ? status : wr_disk_join(session->history_path, folder, name, err);
}

void wr_live_forget_past(struct weir_session *session)
{
    if (session->has_past)
        wr_past_release(&session->past);
    session->has_past = false;
}

/* Everything before event `before` is in the file when this returns, and in the session's past. */
static weir_status offload(struct weir_session *session, uint64_t before, bool has_facts,
                           struct weir_err *err)
{
    struct wr_past_options *o = &session->past_options;
    bool is_kept = session->has_past && (o->has_facts || !has_facts);
    weir_status status = name_history(session, err);

    if (status)
        return status;
    *o = (struct wr_past_options){.dir = session->dir,
                                  .before = before,
                                  .history_path = session->history_path,
                                  .has_facts = is_kept ? o->has_facts : has_facts,
                                  .count = wr_meter_count,
                                  .user = session->meter};
    if (is_kept && wr_past_extend(&session->past))
        return WEIR_OK;
    wr_live_forget_past(session);
    status = wr_past_open(&session->past, o, err);
    session->has_past = !status;
    return status;
}

/* ---- the summary ---- */

struct summary {
    weir_span text;
    uint64_t replaced_tokens; /* of what leaves for it */
    bool is_by_model;
    int tries;             /* of asking a model */
    const char *fell_back; /* why the model's is not taken */
};

/* A model's summary is worth its place where it says enough, less than what it replaces, and names
 * what must not be lost. */
static const char *why_not(const struct weir_session *session, const struct wr_past *past,
                           const struct summary *summary, weir_span text)
{
    uint64_t tokens = wr_meter_count(session->meter, text);
    uint64_t least = wr_meter_count(session->meter, summary->text) / 4;

    if (wr_text_is_blank(text))
        return "it is empty";
    if (tokens > session->settings.summary_tokens_max)
        return "it is too long";
    if (tokens >= summary->replaced_tokens)
        return "it is larger than what it replaces";
    if (tokens < (least < SUMMARY_TOKENS_MIN ? least : SUMMARY_TOKENS_MIN))
        return "it says too little";
    return wr_past_facts_are_in(past, text) ? NULL : "it leaves out facts";
}

/* It is paid for, whether the text is used or not. */
static weir_status add_spent(struct weir_session *session, struct weir_session_spent *spent,
                             int64_t now_ms, struct weir_err *err)
{
    const struct weir_session_usage *used = &spent->usage;

    if (!used->input_tokens && !used->cache_read_tokens && !used->cache_write_tokens &&
        !used->output_tokens)
        return WEIR_OK;
    spent->by = "summary";
    spent->is_priced = weir_session_price(session, spent->model, used, &spent->cost_micro_usd);
    return weir_session_add_spent(session, spent, now_ms, err);
}

static weir_status ask_once(struct weir_session *session, struct wr_past *past,
                            struct summary *summary, weir_span *text, int64_t now_ms,
                            struct weir_err *err)
{
    struct weir_session_spent spent = {0};
    struct weir_summary_task task = {.history = wr_buf_view(&past->newest),
                                     .extracted = summary->text,
                                     .tokens_max = session->settings.summary_tokens_max,
                                     .timeout_ms = (int64_t)session->settings.summary_timeout_ms,
                                     .cost_micro_usd_max = session->settings.summary_cost_micro_usd,
                                     .spent = &spent,
                                     .refused = summary->fell_back};

    *text = (weir_span){"", 0};
    weir_status asked = session->summary_fn(session->summary_user, &task, text);
    summary->tries = asked ? TRIES_MAX : summary->tries + 1; /* a failure is not asked again */
    summary->fell_back = asked == WEIR_LIMIT ? "it would cost more than a summary may"
                         : asked             ? "the model gave none"
                                             : why_not(session, past, summary, *text);
    return add_spent(session, &spent, now_ms, err);
}

/* One that is not worth its place is asked for once more, with the reason. */
static weir_status ask_model(struct weir_session *session, struct wr_past *past,
                             struct summary *summary, int64_t now_ms, struct weir_err *err)
{
    struct wr_event shown = {0};
    weir_status status = WEIR_OK;
    weir_span text = {"", 0};

    if (!session->summary_fn)
        return WEIR_OK;
    status = wr_past_load_newest(past, err);
    if (status)
        return status;
    do
        status = ask_once(session, past, summary, &text, now_ms, err);
    while (!status && summary->fell_back && summary->tries < TRIES_MAX);
    wr_buf_release(&past->newest); /* some megabytes, and the past is kept */
    if (status || summary->fell_back)
        return status;
    status = wr_event_set_text(&shown, &past->arena, text);
    if (!status && shown.text.ptr == text.ptr)
        shown.text = wr_arena_copy(&past->arena, text);
    summary->text = shown.text;
    summary->is_by_model = true;
    return status ? status : wr_arena_status(&past->arena);
}

/* The summary, and where the rest is. */
static weir_status put_path(const struct weir_session *session, struct wr_past *past,
                            weir_span *text)
{
    struct wr_buf whole;

    wr_buf_init(&whole, WR_JOURNAL_LINE_BYTES_MAX);
    wr_buf_append(&whole, wr_span_trim(*text));
    wr_buf_printf(&whole, "\nfull_history: %s (%llu lines; read it for anything not said here)",
                  session->history_path, (unsigned long long)past->lines_count);
    return wr_text_keep(&past->arena, &whole, text);
}

/* Results that no answer has used yet leave with their loop: the summary shows how they begin. */
static weir_status put_latest(const struct weir_session *session, struct wr_past *past,
                              weir_span *text)
{
    const struct wr_thread *thread = &session->thread;
    uint64_t chars = wr_live_window(session) * TAIL_PERCENT_MIN / 100 * CHARS_A_TOKEN;
    struct wr_buf whole;

    wr_buf_init(&whole, WR_JOURNAL_LINE_BYTES_MAX);
    wr_buf_append(&whole, *text);
    for (uint32_t i = 0; i < thread->messages_count; i++) {
        const struct wr_event *event = &thread->messages[i].event;
        if (event->kind != WR_EVENT_RESULT || event->seq < thread->answer_seq)
            continue;
        weir_span shown = wr_text_head(event->text, chars);
        wr_buf_text(&whole, "\nlatest_result:\n");
        wr_buf_append(&whole, shown);
        if (shown.len < event->text.len)
            wr_buf_text(&whole, "\n[... the rest is in the full history]");
    }
    wr_buf_text(&whole, "\nGo on from here.");
    return wr_text_keep(&past->arena, &whole, text);
}

static weir_status make_summary(struct weir_session *session, struct wr_past *past,
                                struct summary *summary, int64_t now_ms, struct weir_err *err)
{
    weir_status status =
        wr_past_summary(past, session->settings.summary_tokens_max, &summary->text);
    if (!status)
        status = ask_model(session, past, summary, now_ms, err);
    if (!status && summary->text.len)
        status = put_path(session, past, &summary->text);
    return status;
}

/* ---- the events ---- */

static weir_status record_summary(struct weir_session *session, const struct wr_cut *cut,
                                  const struct summary *summary, const char *why, int64_t now_ms,
                                  struct weir_err *err)
{
    char by[120];
    if (summary->is_by_model)
        (void)snprintf(by, sizeof(by), "model%s", summary->tries > 1 ? ", asked again" : "");
    else
        (void)snprintf(by, sizeof(by), "extracted%s%s",
                       summary->fell_back ? "; the model's was not taken: " : "",
                       summary->fell_back ? summary->fell_back : "");
    struct wr_event event = {.kind = WR_EVENT_SUMMARY,
                             .text = summary->text,
                             .why = wr_span_of(by),
                             .path = wr_span_of(session->history_path),
                             .of = cut->before};
    struct wr_event compaction = {.kind = WR_EVENT_COMPACTION,
                                  .why = wr_span_of(why),
                                  .path = wr_span_of(session->history_path),
                                  .of = cut->before};
    weir_status status = wr_live_record(session, &event, now_ms, err);
    compaction.summary = event.seq;
    if (!status)
        status = wr_live_record(session, &compaction, now_ms, err);
    return status ? status : wr_journal_sync(&session->journal, err);
}

static uint64_t total_of(const struct weir_session *session)
{
    struct wr_compress_input m = wr_live_measure(session);
    return m.system_tokens + m.content_tokens + m.argument_tokens;
}

static void trace_compaction(struct weir_session *session, const char *why,
                             const struct weir_compacted *c, int64_t now_ms)
{
    struct wr_trace_field fields[] = {
        {"why", 0, wr_span_of(why)},
        {"by", 0,
         wr_span_of(c->is_by_model ? "model"
                    : c->fell_back ? "fallback"
                                   : "extraction")},
        {"tokens_before", c->tokens_before, {"", 0}},
        {"tokens_after", c->tokens_after, {"", 0}},
        {"messages", c->messages_count, {"", 0}},
        {"path", 0, c->path},
        {"fell_back", 0, wr_span_of(c->fell_back ? c->fell_back : "no")}};
    wr_trace_tell(&session->trace, now_ms, "context_compaction", fields, 7);
}

/* `room_tokens` is what a prompt may have, of which the newest turns keep their share. */
static weir_status find_cut(struct weir_session *session, uint64_t room_tokens, struct wr_cut *cut)
{
    struct wr_cut_summary options = {.tail_count = TAIL_COUNT,
                                     .tail_tokens_min = room_tokens * TAIL_PERCENT_MIN / 100,
                                     .tail_tokens_max = room_tokens * TAIL_PERCENT_MAX / 100};
    struct wr_view view;

    wr_arena_reset(&session->scratch);
    weir_status status = wr_view_build(&view, &session->scratch, &session->thread);
    if (status)
        return status;
    options.is_signed_open = wr_cut_is_signed_open(&view, wr_span_of(session->model));
    wr_cut_for_summary(cut, &view, &session->thread, &options);
    return WEIR_OK;
}

/* A summary that frees little would be made again and again. */
static bool is_worth_it(const struct weir_session *session, const struct wr_cut *cut,
                        const struct summary *summary)
{
    uint64_t added = summary->text.len ? wr_meter_count(session->meter, summary->text) : UINT64_MAX;
    uint64_t freed = cut->leaving_tokens + session->thread.summary_tokens;
    return added != UINT64_MAX && freed > added &&
           (freed - added) * 100 > total_of(session) * GAIN_PERCENT;
}

weir_status wr_live_compact(struct weir_session *session, uint64_t room_tokens, const char *why,
                            int64_t now_ms, struct weir_compacted *compacted, struct weir_err *err)
{
    struct wr_past *past = &session->past;
    struct summary summary = {0};
    struct wr_cut cut;

    *compacted = (struct weir_compacted){.tokens_before = total_of(session)};
    compacted->tokens_after = compacted->tokens_before;
    weir_status status = find_cut(session, room_tokens, &cut);
    if (status || !cut.before)
        return status;
    summary.replaced_tokens = cut.leaving_tokens + session->thread.summary_tokens;
    status = offload(session, cut.before, true, err);
    if (status)
        return status;
    status = make_summary(session, past, &summary, now_ms, err);
    if (!status && summary.text.len && cut.before > session->thread.answer_seq)
        status = put_latest(session, past, &summary.text);
    if (!status && is_worth_it(session, &cut, &summary)) {
        status = record_summary(session, &cut, &summary, why, now_ms, err);
        compacted->is_taken = !status;
    }
    compacted->is_by_model = summary.is_by_model && compacted->is_taken;
    compacted->fell_back = summary.fell_back;
    if (!compacted->is_taken)
        return status;
    compacted->tokens_after = total_of(session);
    compacted->messages_count = cut.leaving_count;
    compacted->path = wr_span_of(session->history_path);
    trace_compaction(session, why, compacted, now_ms);
    wr_live_save(session, now_ms);
    return WEIR_OK;
}

weir_status weir_session_compact(struct weir_session *session, const char *why, int64_t now_ms,
                                 struct weir_compacted *compacted, struct weir_err *err)
{
    return wr_live_compact(session, wr_live_window(session), why, now_ms, compacted, err);
}

/* ---- the bound and the budget ---- */

static weir_status record_trim(struct weir_session *session, const struct wr_cut *cut,
                               const char *why, int64_t now_ms, struct weir_err *err)
{
    struct wr_event event = {.kind = WR_EVENT_COMPACTION,
                             .why = wr_span_of(why),
                             .path = wr_span_of(session->history_path),
                             .of = cut->before,
                             .number = session->thread.omitted_count + cut->leaving_count,
                             .drops_words = cut->drops_words,
                             .kept = cut->kept,
                             .kept_count = cut->kept_count};
    struct wr_trace_field fields[] = {{"why", 0, wr_span_of(why)},
                                      {"by", 0, WR_LIT("notice")},
                                      {"tokens_before", total_of(session), {"", 0}},
                                      {"messages", cut->leaving_count, {"", 0}},
                                      {"path", 0, wr_span_of(session->history_path)}};
    weir_status status = wr_live_record(session, &event, now_ms, err);
    if (!status)
        wr_trace_tell(&session->trace, now_ms, "context_compaction", fields, 5);
    return status ? status : wr_journal_sync(&session->journal, err);
}

static struct wr_cut_budget budget_of(const struct weir_session *session, bool has_budget)
{
    struct wr_render_input input = {.limit_tokens = wr_live_window(session),
                                    .system_tokens = session->thread.prompt_tokens,
                                    .tool_tokens = session->tools_tokens,
                                    .output_tokens_max = session->settings.output_tokens_max,
                                    .history_tokens_max = session->policy.history_tokens};
    struct wr_cut_budget budget = {.messages_max = wr_live_messages_max(session),
                                   .drops_words = session->policy.fills_history};
    uint64_t tokens = has_budget ? wr_render_budget(&input) : 0;
    budget.history_tokens_max = has_budget && !tokens ? 1 : tokens;
    return budget;
}

weir_status wr_live_trim(struct weir_session *session, bool has_budget, int64_t now_ms,
                         struct weir_err *err)
{
    struct wr_cut_budget budget = budget_of(session, has_budget);
    struct wr_arena arena;
    struct wr_view view;
    struct wr_cut cut;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    weir_status status = wr_view_build(&view, &arena, &session->thread);
    if (!status)
        status = wr_cut_for_budget(&cut, &arena, &view, &session->thread, &budget);
    if (!status && cut.before) {
        bool is_actor = wr_thread_count(&session->thread) > budget.messages_max;
        status = offload(session, cut.before, false, err);
        if (!status)
            status = record_trim(session, &cut, is_actor ? "actor bound" : "history budget", now_ms,
                                 err);
    }
    wr_arena_release(&arena);
    return status;
}
