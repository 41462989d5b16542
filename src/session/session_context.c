/* What fills the window.
 *
 * The categories are those of the last request as it left: what the policy took out is not in them,
 * and what it put in is. The engine counts while it projects, so this costs nothing, and the
 * journal keeps it (`sent`): whoever opens the session for a single question, as the sidecar does,
 * gets the same answer as whoever sent the request. What came since (the answer, results, words) is
 * added from the journal, so that the sum is close to what the next request has before its policy.
 * Where no request has left yet, or the history was cut since, the journal's own counts stand in;
 * they say what there is, not what would be sent.
 */
#include "session/session.h"

#include <string.h>

#include "base/text.h"
#include "engine/engine.h"

enum { YELLOW_PERCENT = 70, RED_PERCENT = 90, ABOUT_CHARS_MAX = 80 };

static void put_left_out(struct wr_buf *out, const struct wr_record_change *change,
                         const struct wr_segment *segment)
{
    const struct wr_tool_handles *h = segment->handles;
    weir_span about = !h             ? (weir_span){"", 0}
                      : h->path.len  ? h->path
                      : h->query.len ? h->query
                                     : h->command;

    wr_buf_printf(out, "  %llu -> %llu %s ", (unsigned long long)change->tokens_before,
                  (unsigned long long)change->tokens_after, wr_form_name(change->form));
    wr_text_one_line_max(out, segment->tool, ABOUT_CHARS_MAX);
    wr_buf_byte(out, ' ');
    wr_text_one_line_max(out, about, ABOUT_CHARS_MAX);
    if (change->handle)
        wr_buf_printf(out, " %s", change->handle);
    wr_buf_printf(out, " (%s)\n", change->reason ? change->reason : "");
}

static void note_left_out(struct weir_session *session, const struct wr_record *record)
{
    const struct wr_transcript *transcript = &session->request->transcript;

    wr_buf_release(&session->left_out);
    wr_buf_init(&session->left_out, WR_OUTPUT_BYTES_MAX);
    for (uint32_t i = 0; i < record->changes_count; i++) {
        const struct wr_record_change *change = &record->changes[i];
        if (!change->is_rolled_back && change->segment < transcript->segments_count)
            put_left_out(&session->left_out, change, &transcript->segments[change->segment]);
    }
}

weir_span weir_session_left_out(const struct weir_session *session)
{
    return wr_buf_status(&session->left_out) ? (weir_span){"", 0} : wr_buf_view(&session->left_out);
}

void wr_live_note_made(struct weir_session *session, const struct wr_record *record)
{
    const uint64_t *by = record->made_tokens;

    note_left_out(session, record);
    session->made =
        (struct wr_sent){.system_tokens = by[WR_CATEGORY_SYSTEM] + by[WR_CATEGORY_INSTRUCTIONS] +
                                          by[WR_CATEGORY_OTHER],
                         .tools_tokens = by[WR_CATEGORY_TOOLS],
                         .user_tokens = by[WR_CATEGORY_USER],
                         .assistant_tokens = by[WR_CATEGORY_ASSISTANT] + by[WR_CATEGORY_REASONING],
                         .calls_tokens = by[WR_CATEGORY_CALLS],
                         .results_tokens = by[WR_CATEGORY_RESULTS] + by[WR_CATEGORY_MEDIA],
                         .usable_tokens = record->budget.usable_tokens};
}

weir_status wr_live_record_sent(struct weir_session *session, int64_t now_ms, struct weir_err *err)
{
    const struct wr_thread *t = &session->thread;
    struct wr_event event = {.kind = WR_EVENT_SENT, .sent = session->made};

    if (t->sent_seq > t->turn_seq && t->sent_seq > t->cut_seq &&
        !memcmp(&t->sent, &session->made, sizeof(t->sent)))
        return WEIR_OK; /* the same request again */
    return wr_live_record(session, &event, now_ms, err);
}

static void add_message(struct weir_session_context *context, const struct wr_message *m)
{
    context->calls_tokens += m->call_tokens;
    if (m->event.kind == WR_EVENT_ASSISTANT)
        context->assistant_tokens += m->tokens;
    else if (m->event.kind == WR_EVENT_RESULT)
        context->results_tokens += m->tokens;
    else
        context->user_tokens += m->tokens;
}

/* A summary is a message of the user's by its role. */
static void put_sent(const struct weir_session *session, struct weir_session_context *context)
{
    const struct wr_sent *sent = &session->thread.sent;
    uint64_t summary = session->thread.summary_tokens, user = sent->user_tokens;

    summary = summary < user ? summary : user;
    context->system_tokens = sent->system_tokens;
    context->tools_tokens = sent->tools_tokens;
    context->user_tokens = user - summary;
    context->summary_tokens = summary;
    context->assistant_tokens = sent->assistant_tokens;
    context->calls_tokens = sent->calls_tokens;
    context->results_tokens = sent->results_tokens;
}

static void put_journal(const struct weir_session *session, struct weir_session_context *context)
{
    context->system_tokens = session->thread.prompt_tokens;
    context->tools_tokens = session->tools_tokens;
    context->summary_tokens = session->thread.summary_tokens;
}

static uint64_t sum_of(const struct weir_session_context *c)
{
    return c->system_tokens + c->tools_tokens + c->summary_tokens + c->user_tokens +
           c->assistant_tokens + c->calls_tokens + c->results_tokens;
}

/* What the provider counted says nothing of a history that was cut since. */
static void put_use(struct weir_session_context *c, uint64_t since_tokens, bool is_cut)
{
    c->used_tokens =
        c->last_input_tokens && !is_cut ? c->last_input_tokens + since_tokens : c->total_tokens;
    c->used_percent = c->usable_tokens ? (uint32_t)(c->used_tokens * 100 / c->usable_tokens) : 0;
    c->colour = c->used_percent >= RED_PERCENT      ? "red"
                : c->used_percent >= YELLOW_PERCENT ? "yellow"
                                                    : "plain";
}

void weir_session_context(struct weir_session *session, struct weir_session_context *context)
{
    const struct wr_thread *t = &session->thread;
    uint64_t window = wr_live_window(session), summarise_at = wr_live_summarise_at(session);
    uint64_t since_tokens = 0;

    *context = (struct weir_session_context){
        .window_tokens = window,
        .usable_tokens = window,
        .clear_at_tokens = wr_session_policy_clear_at(&session->policy, window),
        .summarise_at_tokens = summarise_at == UINT64_MAX ? 0 : summarise_at,
        .last_input_tokens = t->last_input_tokens,
        .messages_count = wr_thread_count(t),
        .messages_max = wr_live_messages_max(session),
        .messages_omitted = t->omitted_count,
        .is_sent = t->sent_seq > t->turn_seq && t->sent_seq > t->cut_seq};
    if (context->is_sent)
        put_sent(session, context);
    else
        put_journal(session, context);
    if (context->is_sent && t->sent.usable_tokens && t->sent.usable_tokens < window)
        context->usable_tokens = t->sent.usable_tokens;
    for (uint32_t i = 0; i < t->messages_count; i++) {
        const struct wr_message *m = &t->messages[i];
        bool is_since = m->event.seq > t->turn_seq;
        context->words_carried += m->is_head;
        since_tokens += is_since ? m->tokens + m->call_tokens : 0;
        if (is_since || !context->is_sent)
            add_message(context, m);
    }
    context->total_tokens = sum_of(context);
    put_use(context, since_tokens, t->cut_seq > t->turn_seq);
}
