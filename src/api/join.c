/* Several answers shown as one: what all APIs share.
 *
 * A leg comes as events or whole, whatever was asked for: its first byte tells. Events are cut out
 * of the bytes here, because the client gets those bytes: wr_sse says what an event means, but not
 * how it was spelt. An event is complete with its empty line. In a stream of CRLF that is the CR of
 * that line; the LF belongs to the next event, so that nothing waits for it and every way of
 * cutting gives the same events.
 *
 *   feed ─▶ cut_events ─▶ handle_block ─▶ on_event ─▶ joiner->join_event ─┬─▶ wr_join_show  ─▶ out
 *                                                                         ├─▶ wr_join_hold  ─▶ held
 *                                                                         ├─▶ wr_join_queue ─▶
 * queue └─▶ nothing: hidden finish ─▶ held ─▶ on_event with is_ending ─▶ joiner->join_event ─▶ out
 *
 * The bytes of a leg are kept beside that. Most answers have no call of ours, and nothing more is
 * done with them; the others are read once they have ended.
 *
 * Memory that runs out breaks the answer (wr_join_is_broken): showing it as it came would show our
 * calls.
 */
#include "api/join.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/join_api.h"
#include "api/own_api.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

enum { LEGS_CAP_FIRST = 4, PARTS_CAP_FIRST = 16, NUMBERS_CAP_FIRST = 16, NUMBER_BYTES = 24 };

/* ---- life ---- */

static void on_event(void *user, const struct wr_sse_event *event);

void wr_join_fail_with(struct wr_join *j, weir_status status)
{
    if (!status)
        return;
    if (!j->status)
        j->status = status;
    j->is_broken = true;
}

static void init_events(struct wr_join *j)
{
    wr_sse_init(&j->sse, WR_AGENT_ANSWER_BYTES_MAX, on_event, j);
    j->sse.is_lines = j->api->streams_lines;
}

static void begin_leg(struct wr_join *j)
{
    if (j->legs_count == WR_JOINED_LEGS_MAX) {
        wr_join_fail_with(j, WEIR_LIMIT);
        return;
    }
    if (!WR_ARENA_ROOM(&j->kept, j->legs, j->legs_count, j->legs_cap, LEGS_CAP_FIRST)) {
        wr_join_fail_with(j, wr_arena_status(&j->kept));
        return;
    }
    j->legs[j->legs_count++] = (struct wr_leg){.id = {"", 0}, .elements = {"", 0}};
    wr_seen_usage_init(&j->legs[j->legs_count - 1].usage);
    wr_sse_release(&j->sse);
    init_events(j);
    wr_buf_reset(&j->block);
    wr_buf_reset(&j->bytes);
    wr_buf_reset(&j->held);
    wr_buf_reset(&j->queue);
    j->form = WR_JOIN_FORM_UNKNOWN;
    j->line_bytes = j->numbers_count = 0;
    j->after_cr = j->has_hidden = j->has_error = false;
    j->calls = NULL;
}

struct wr_join *wr_join_new(const struct wr_api *api, bool is_stream)
{
    struct wr_join *j = api->joiner ? calloc(1, sizeof(*j)) : NULL;

    if (!j)
        return NULL;
    j->api = api;
    j->is_stream = is_stream;
    j->id = j->model = j->created = (weir_span){"", 0};
    wr_arena_init(&j->kept, WR_ARENA_BYTES_MAX);
    wr_arena_init(&j->scratch, WR_ARENA_BYTES_MAX);
    wr_buf_init(&j->block, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&j->bytes, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&j->held, WR_AGENT_ANSWER_BYTES_MAX);
    wr_buf_init(&j->queue, WR_AGENT_ANSWER_BYTES_MAX);
    begin_leg(j);
    if (j->is_broken) {
        wr_join_free(j);
        return NULL;
    }
    return j;
}

void wr_join_free(struct wr_join *j)
{
    if (!j)
        return;
    wr_sse_release(&j->sse);
    wr_buf_release(&j->block);
    wr_buf_release(&j->bytes);
    wr_buf_release(&j->held);
    wr_buf_release(&j->queue);
    wr_arena_release(&j->kept);
    wr_arena_release(&j->scratch);
    free(j);
}

static struct wr_leg *leg_of(struct wr_join *j)
{
    return &j->legs[j->legs_count - 1];
}

weir_span wr_join_keep(struct wr_join *j, weir_span bytes)
{
    weir_span copy = wr_arena_copy(&j->kept, bytes);

    if (copy.ptr)
        return copy;
    wr_join_fail_with(j, wr_arena_status(&j->kept));
    return (weir_span){"", 0};
}

/* ---- what events become ---- */

static void show_bytes(struct wr_join *j, weir_span bytes)
{
    wr_buf_append(j->out, bytes);
    j->has_shown |= bytes.len > 0;
}

/* Data of one line stands in the event as it is; its other lines stay what they were. */
static void show_edited(struct wr_join *j, const struct wr_join_event *event, weir_span data)
{
    size_t at = wr_span_find(event->raw, event->data, 0);

    if (at != SIZE_MAX) {
        show_bytes(j, wr_span_cut(event->raw, 0, at));
        show_bytes(j, data);
        show_bytes(j, wr_span_from(event->raw, at + event->data.len));
        return;
    }
    if (event->name.len) {
        wr_buf_text(j->out, "event: ");
        wr_buf_append(j->out, event->name);
        wr_buf_byte(j->out, '\n');
    }
    for (weir_span line; wr_span_line(&data, &line);) {
        wr_buf_text(j->out, "data: ");
        wr_buf_append(j->out, line);
        wr_buf_byte(j->out, '\n');
    }
    show_bytes(j, WR_LIT("\n"));
}

void wr_join_show(struct wr_join *j, const struct wr_join_event *event, struct wr_splice *splice)
{
    struct wr_buf data;

    if (!splice || (!splice->status && !splice->edits_count && !splice->ops_count)) {
        show_bytes(j, event->raw);
        return;
    }
    wr_buf_init(&data, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_splice_apply(splice, &data, NULL);
    if (!status)
        show_edited(j, event, wr_buf_view(&data));
    wr_join_fail_with(j, status);
    wr_buf_release(&data);
}

void wr_join_hold(struct wr_join *j, const struct wr_join_event *event, struct wr_splice *splice)
{
    struct wr_buf *out = j->out;
    bool has_shown = j->has_shown;

    j->out = &j->held;
    wr_join_show(j, event, splice);
    j->out = out;
    j->has_shown = has_shown;
    wr_join_fail_with(j, wr_buf_status(&j->held));
}

void wr_join_queue(struct wr_join *j, const struct wr_join_event *event)
{
    wr_buf_append(&j->queue, event->raw);
    wr_join_fail_with(j, wr_buf_status(&j->queue));
}

/* ---- numbers and names ---- */

struct wr_join_number *wr_join_number_find(struct wr_join *j, int64_t from)
{
    for (size_t i = j->numbers_count; i > 0; i--)
        if (j->numbers[i - 1].from == from)
            return &j->numbers[i - 1];
    return NULL;
}

struct wr_join_number *wr_join_number_add(struct wr_join *j, int64_t from, bool is_hidden)
{
    if (j->numbers_count == WR_AGENT_BLOCKS_MAX) {
        wr_join_fail_with(j, WEIR_LIMIT);
        return NULL;
    }
    if (!WR_ARENA_ROOM(&j->kept, j->numbers, j->numbers_count, j->numbers_cap, NUMBERS_CAP_FIRST)) {
        wr_join_fail_with(j, wr_arena_status(&j->kept));
        return NULL;
    }
    struct wr_join_number *number = &j->numbers[j->numbers_count++];
    *number = (struct wr_join_number){from, is_hidden ? -1 : j->number_next++, {"", 0}};
    return number;
}

weir_span wr_join_printf_i64(struct wr_join *j, int64_t number)
{
    char text[NUMBER_BYTES];
    int bytes = snprintf(text, sizeof(text), "%" PRId64, number);
    weir_span copy = wr_arena_copy(&j->scratch, (weir_span){text, (size_t)bytes});

    if (!copy.ptr)
        wr_join_fail_with(j, wr_arena_status(&j->scratch));
    return copy.ptr ? copy : WR_LIT("0");
}

void wr_join_set_number(struct wr_join *j, struct wr_splice *splice, wr_json_id id, int64_t number)
{
    int64_t now;

    if (id != WR_JSON_NONE && (!wr_json_i64(splice->doc, id, &now) || now != number))
        wr_splice_set_json(splice, id, wr_join_printf_i64(j, number));
}

static bool says_something(const struct wr_json *doc, wr_json_id id)
{
    return wr_json_is(doc, id, WR_JSON_NUMBER) ||
           (wr_json_is(doc, id, WR_JSON_STRING) && wr_json_inner(doc, id).len);
}

void wr_join_envelope(struct wr_join *j, struct wr_splice *splice, const struct wr_json *doc,
                      wr_json_id envelope)
{
    struct {
        const char *key;
        weir_span *value;
    } const rows[] = {{"id", &j->id},
                      {"model", &j->model},
                      {"created", &j->created},
                      {"created_at", &j->created}};

    for (size_t i = 0; i < WR_COUNT_OF(rows); i++) {
        wr_json_id id = wr_json_find(doc, envelope, rows[i].key);
        if (!says_something(doc, id))
            continue;
        if (wr_join_is_first(j) && !rows[i].value->len)
            *rows[i].value = wr_join_keep(j, wr_json_raw(doc, id));
        else if (!wr_join_is_first(j) && rows[i].value->len && splice &&
                 !wr_span_eq(*rows[i].value, wr_json_raw(doc, id)))
            wr_splice_set_json(splice, id, *rows[i].value);
    }
}

bool wr_join_is_own(const struct wr_json *doc, wr_json_id name)
{
    return wr_json_text_is(doc, name, WR_OWN_TOOL_NAME);
}

/* ---- events ---- */

static void on_event(void *user, const struct wr_sse_event *said)
{
    struct wr_join *j = user;
    struct wr_json doc;
    struct wr_join_event event = {.raw = j->raw, .name = said->name, .data = said->data};

    j->has_event = true;
    wr_arena_reset(&j->scratch);
    if (said->is_cut) { /* it had no room, though it is within the cap */
        wr_join_fail_with(j, WEIR_NOMEM);
        return;
    }
    weir_status status = wr_json_parse(&doc, &j->scratch, said->data, NULL, NULL);
    if (status == WEIR_NOMEM)
        wr_join_fail_with(j, status);
    if (!status && wr_json_is(&doc, 0, WR_JSON_OBJECT))
        event.doc = &doc;
    if (!j->is_broken)
        j->api->joiner->join_event(j, &event);
}

/* What says nothing (a comment, a blank line) keeps a connection alive: it passes. */
static void handle_block(struct wr_join *j, weir_span raw)
{
    j->raw = raw;
    j->has_event = false;
    wr_sse_feed(&j->sse, raw);
    if (!j->has_event && !j->is_broken)
        show_bytes(j, raw);
}

/* An answer that is too long to be kept goes on as it comes, unless something was kept back. */
static void go_deaf(struct wr_join *j, weir_span rest)
{
    if (!wr_join_is_plain(j) || j->queue.len || j->form == WR_JOIN_FORM_WHOLE) {
        wr_join_fail_with(j, WEIR_LIMIT);
        return;
    }
    show_bytes(j, wr_buf_view(&j->block));
    show_bytes(j, rest);
    wr_buf_reset(&j->block);
    j->form = WR_JOIN_FORM_DEAF;
}

/* Where the block at hand ends in `bytes`; 0: not there. */
static size_t block_end(struct wr_join *j, weir_span bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        char c = bytes.ptr[i];
        bool is_rest = j->after_cr && c == '\n';
        j->after_cr = c == '\r' && !j->api->streams_lines;
        if (is_rest)
            continue;
        if (c == '\r' && j->api->streams_lines) /* a line of JSON ends with its LF alone */
            continue;
        if (c != '\n' && c != '\r') {
            j->line_bytes++;
            continue;
        }
        bool is_end = !j->line_bytes || (j->api->streams_lines && c == '\n');
        j->line_bytes = 0;
        if (is_end)
            return i + 1;
    }
    return 0;
}

static void cut_events(struct wr_join *j, weir_span bytes)
{
    while (bytes.len && !j->is_broken && j->form == WR_JOIN_FORM_EVENTS) {
        size_t end = block_end(j, bytes);
        weir_span part = wr_span_cut(bytes, 0, end ? end : bytes.len);
        if (!end || j->block.len) {
            if (j->block.len + part.len > j->block.cap_max) {
                go_deaf(j, bytes);
                return;
            }
            wr_buf_append(&j->block, part);
            wr_join_fail_with(j, wr_buf_status(&j->block));
        }
        if (!end || j->is_broken)
            return;
        handle_block(j, j->block.len ? wr_buf_view(&j->block) : part);
        wr_buf_reset(&j->block);
        bytes = wr_span_from(bytes, end);
    }
}

/* Gives events that were kept back to the API again. */
static void replay_events(struct wr_join *j, weir_span events)
{
    struct wr_sse sse = j->sse;
    bool after_cr = j->after_cr;
    size_t line_bytes = j->line_bytes;

    init_events(j);
    j->after_cr = false;
    j->line_bytes = 0;
    while (events.len && !j->is_broken) {
        size_t end = block_end(j, events);
        if (!end)
            break;
        handle_block(j, wr_span_cut(events, 0, end));
        events = wr_span_from(events, end);
    }
    wr_sse_release(&j->sse);
    j->sse = sse;
    j->after_cr = after_cr;
    j->line_bytes = line_bytes;
}

/* The buffer is moved out first. */
void wr_join_unqueue(struct wr_join *j)
{
    struct wr_buf queue = j->queue;

    if (!queue.len)
        return;
    wr_buf_init(&j->queue, WR_AGENT_ANSWER_BYTES_MAX);
    j->is_replaying = true;
    replay_events(j, wr_buf_view(&queue));
    j->is_replaying = false;
    wr_buf_release(&queue);
}

/* ---- a leg ---- */

static void keep_bytes(struct wr_join *j, weir_span bytes)
{
    if (j->form == WR_JOIN_FORM_DEAF)
        return;
    if (j->bytes.len + bytes.len > j->bytes.cap_max) {
        if (j->form == WR_JOIN_FORM_EVENTS && wr_join_is_plain(j) && !j->queue.len) {
            go_deaf(j, bytes);
            return;
        }
        wr_join_fail_with(j, WEIR_LIMIT);
        return;
    }
    wr_buf_append(&j->bytes, bytes);
    wr_join_fail_with(j, wr_buf_status(&j->bytes));
}

static bool is_blank_byte(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void wr_join_feed(struct wr_join *j, weir_span bytes, struct wr_buf *out)
{
    j->out = out;
    if (j->is_broken)
        return;
    if (j->form == WR_JOIN_FORM_DEAF) {
        show_bytes(j, bytes);
        return;
    }
    keep_bytes(j, bytes);
    if (j->is_broken || j->form == WR_JOIN_FORM_DEAF)
        return;
    for (size_t i = 0; i < bytes.len && j->form == WR_JOIN_FORM_UNKNOWN; i++)
        if (!is_blank_byte(bytes.ptr[i])) {
            bool is_json = bytes.ptr[i] == '{' || bytes.ptr[i] == '[';
            bool is_line = j->is_stream && j->api->streams_lines;
            j->form = is_json && !is_line ? WR_JOIN_FORM_WHOLE : WR_JOIN_FORM_EVENTS;
            if (j->form == WR_JOIN_FORM_EVENTS) /* with the blanks that came before */
                bytes = wr_buf_view(&j->bytes);
        }
    if (j->form == WR_JOIN_FORM_EVENTS)
        cut_events(j, bytes);
}

struct wr_leg_part *wr_leg_add(struct wr_join *j, struct wr_leg *leg, enum wr_leg_kind kind)
{
    if (leg->parts_count == WR_AGENT_BLOCKS_MAX)
        wr_join_fail_with(j, WEIR_LIMIT);
    else if (!WR_ARENA_ROOM(&j->kept, leg->parts, leg->parts_count, leg->parts_cap,
                            PARTS_CAP_FIRST))
        wr_join_fail_with(j, wr_arena_status(&j->kept));
    if (j->is_broken)
        return NULL;
    struct wr_leg_part *part = &leg->parts[leg->parts_count++];
    *part = (struct wr_leg_part){.kind = kind, .json = {"", 0}, .text = {"", 0}, .id = {"", 0}};
    return part;
}

static void keep_finish(struct wr_leg *leg, const char *word)
{
    (void)snprintf(leg->finish, sizeof(leg->finish), "%s", word);
}

static void read_facts(struct wr_join *j, struct wr_leg *leg, struct wr_reply *reply)
{
    leg->id = wr_join_keep(j, wr_buf_view(&reply->id));
    leg->usage = reply->usage;
    keep_finish(leg, reply->finish);
    leg->is_finished = reply->is_finished || reply->has_stopped;
    leg->has_error = reply->has_error;
    weir_status status = wr_answer_check(reply);
    if (!status)
        status = wr_buf_status(&reply->id);
    wr_join_fail_with(j, status == WEIR_NOMEM || status == WEIR_LIMIT ? status : WEIR_OK);
    if (status)
        leg->is_finished = false;
}

void wr_leg_read_answer(struct wr_join *j, struct wr_leg *leg, struct wr_arena *arena,
                        struct wr_reply *reply)
{
    weir_status status = WEIR_OK;

    wr_arena_init(arena, WR_ARENA_BYTES_MAX);
    wr_answer_init(reply,
                   &(struct wr_answer_options){.api = j->api, .arena = arena, .keeps_all = true});
    if (leg->bytes.len)
        status = wr_answer_whole(reply, leg->bytes, NULL);
    else
        wr_answer_feed(reply, wr_buf_view(&j->bytes));
    if (status == WEIR_NOMEM)
        wr_join_fail_with(j, status);
    read_facts(j, leg, reply);
    leg->is_finished &= !status;
}

static bool is_json(struct wr_join *j, weir_span text)
{
    struct wr_json doc;

    wr_arena_reset(&j->scratch);
    weir_status status = wr_json_parse(&doc, &j->scratch, text, NULL, NULL);
    if (status == WEIR_NOMEM)
        wr_join_fail_with(j, status);
    return !status;
}

/* A call is cut where the answer ended for want of room: then what it was called with is no JSON.
 * Nobody can answer it, and the client is told why the answer ended. */
static bool is_cut_off(struct wr_join *j, const struct wr_leg *leg)
{
    for (const char *const *word = j->api->joiner->call_words; *word; word++)
        if (wr_span_is(wr_span_of(leg->finish), *word))
            return false;
    for (size_t i = 0; i < leg->parts_count; i++)
        if (leg->parts[i].kind == WR_LEG_OWN && !is_json(j, leg->parts[i].text))
            return true;
    return false;
}

static void list_calls(struct wr_join *j, struct wr_leg *leg, size_t count)
{
    leg->calls = WR_ARENA_ARRAY(&j->kept, struct wr_own_call, count);
    leg->own = WR_ARENA_ARRAY(&j->kept, struct wr_leg_part *, count);
    leg->results = WR_ARENA_ARRAY(&j->kept, weir_span, count);
    if (!leg->calls || !leg->own || !leg->results) {
        wr_join_fail_with(j, wr_arena_status(&j->kept));
        return;
    }
    for (size_t i = 0; i < leg->parts_count; i++)
        if (leg->parts[i].kind == WR_LEG_OWN) {
            leg->calls[leg->calls_count] =
                (struct wr_own_call){leg->parts[i].id, leg->parts[i].text};
            leg->own[leg->calls_count++] = &leg->parts[i];
        }
}

static enum wr_join_verdict judge_leg(struct wr_join *j, struct wr_leg *leg)
{
    size_t own_count = 0, calls_count = 0;

    for (size_t i = 0; i < leg->parts_count; i++) {
        own_count += leg->parts[i].kind == WR_LEG_OWN;
        calls_count += leg->parts[i].kind == WR_LEG_CALL;
    }
    if (!own_count || is_cut_off(j, leg))
        return WR_JOIN_PLAIN;
    list_calls(j, leg, own_count);
    return calls_count ? WR_JOIN_BESIDE : WR_JOIN_ASK;
}

/* A first leg without a call of ours needs no reading: it has passed. */
static bool must_read(const struct wr_join *j)
{
    if (j->form == WR_JOIN_FORM_UNKNOWN || j->form == WR_JOIN_FORM_DEAF)
        return false;
    if (!wr_join_is_first(j) || j->has_hidden)
        return true;
    return j->form == WR_JOIN_FORM_WHOLE &&
           wr_span_find(wr_buf_view(&j->bytes), WR_LIT(WR_OWN_TOOL_NAME), 0) != SIZE_MAX;
}

static void note_envelope(struct wr_join *j, const struct wr_leg *leg)
{
    struct wr_json doc;

    wr_arena_reset(&j->scratch);
    weir_status status = wr_json_parse(&doc, &j->scratch, leg->bytes, NULL, NULL);
    if (status == WEIR_NOMEM)
        wr_join_fail_with(j, status);
    if (!status)
        wr_join_envelope(j, NULL, &doc, 0);
}

/* The last line of a stream of lines may lack its end. Where something is hidden in the answer, or
 * may be in that line, it gets one; else it is shown as it came (wr_join_finish). */
static void end_last_line(struct wr_join *j)
{
    bool has_own_name =
        wr_span_find(wr_buf_view(&j->block), WR_LIT(WR_OWN_TOOL_NAME), 0) != SIZE_MAX;

    if (j->form != WR_JOIN_FORM_EVENTS || !j->api->streams_lines || !j->block.len)
        return;
    if ((wr_join_is_plain(j) && !has_own_name) || !is_json(j, wr_buf_view(&j->block)))
        return;
    wr_join_feed(j, WR_LIT("\n"), j->out);
}

enum wr_join_verdict wr_join_end_leg(struct wr_join *j, struct wr_buf *out)
{
    struct wr_leg *leg = leg_of(j);
    bool is_first = wr_join_is_first(j);

    leg->verdict = WR_JOIN_PLAIN;
    if (j->is_broken)
        return WR_JOIN_PLAIN;
    j->out = out;
    end_last_line(j);
    /* What comes whole behind events cannot be shown as events: providers do that with errors. */
    if (!is_first && (j->form == WR_JOIN_FORM_WHOLE) != (leg[-1].bytes.len > 0))
        j->is_broken = true;
    if (j->form == WR_JOIN_FORM_WHOLE)
        leg->bytes = wr_join_keep(j, wr_buf_view(&j->bytes));
    if (is_first && leg->bytes.len && !j->is_broken)
        note_envelope(j, leg);
    if (must_read(j) && !j->is_broken)
        j->api->joiner->read_leg(j, leg);
    bool is_whole = leg->is_finished && !leg->has_error;
    if (!is_first && !is_whole)
        j->is_broken = true;
    if (!j->is_broken && is_whole)
        leg->verdict = judge_leg(j, leg);
    if (j->is_broken)
        leg->verdict = WR_JOIN_PLAIN;
    return leg->verdict;
}

bool wr_join_is_broken(const struct wr_join *j)
{
    return j->is_broken;
}

size_t wr_join_calls(const struct wr_join *j, const struct wr_own_call **calls)
{
    const struct wr_leg *leg = &j->legs[j->legs_count - 1];

    *calls = leg->calls;
    return leg->verdict == WR_JOIN_PLAIN ? 0 : leg->calls_count;
}

void wr_join_set_result(struct wr_join *j, size_t call, weir_span text, bool is_error)
{
    struct wr_leg *leg = leg_of(j);
    struct wr_json_writer writer;
    struct wr_buf out;

    if (call >= leg->calls_count)
        return;
    if (wr_text_is_blank(text)) /* APIs refuse a text that says nothing */
        text = WR_LIT("(nothing)");
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    wr_json_write_init(&writer, &out);
    j->api->joiner->write_result(&writer, &leg->calls[call], text, is_error);
    wr_join_fail_with(j, wr_buf_status(&out));
    leg->results[call] = wr_join_keep(j, wr_buf_view(&out));
    wr_buf_release(&out);
}

weir_span wr_join_elements(struct wr_join *j)
{
    struct wr_leg *leg = leg_of(j);
    struct wr_buf out;

    if (!leg->elements.len && leg->verdict == WR_JOIN_ASK && !j->is_broken) {
        wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
        j->api->joiner->write_elements(leg, &out);
        wr_join_fail_with(j, wr_buf_status(&out));
        leg->elements = wr_join_keep(j, wr_buf_view(&out));
        wr_buf_release(&out);
    }
    return j->is_broken ? (weir_span){NULL, 0} : leg->elements;
}

void wr_join_next(struct wr_join *j)
{
    if (!j->is_broken)
        (void)wr_join_elements(j); /* later requests need them */
    begin_leg(j);
}

/* ---- the end ---- */

static void finish_whole(struct wr_join *j)
{
    weir_span bytes = wr_buf_view(&j->bytes);
    struct wr_splice splice;
    struct wr_json doc;

    wr_arena_reset(&j->scratch);
    weir_status status = wr_json_parse(&doc, &j->scratch, bytes, NULL, NULL);
    if (status == WEIR_NOMEM)
        wr_join_fail_with(j, status);
    if (j->is_broken)
        return;
    if (status || (!wr_json_is(&doc, 0, WR_JSON_OBJECT) && !j->api->streams_lists)) {
        show_bytes(j, bytes);
        return;
    }
    wr_splice_init(&splice, &doc, &j->scratch);
    j->api->joiner->edit_whole(j, &splice, &doc);
    size_t len = j->out->len;
    status = wr_splice_apply(&splice, j->out, NULL);
    if (status)
        j->out->len = len;
    wr_join_fail_with(j, status);
}

void wr_join_finish(struct wr_join *j, struct wr_buf *out)
{
    j->out = out;
    if (j->is_broken || leg_of(j)->verdict == WR_JOIN_ASK)
        return;
    switch (j->form) {
    case WR_JOIN_FORM_WHOLE:
        finish_whole(j);
        break;
    case WR_JOIN_FORM_UNKNOWN:
        show_bytes(j, wr_buf_view(&j->bytes));
        break;
    case WR_JOIN_FORM_EVENTS:
        wr_join_unqueue(j);
        j->is_ending = true;
        replay_events(j, wr_buf_view(&j->held));
        j->is_ending = false;
        if (wr_join_is_plain(j) && !j->is_broken) /* what the end cut off */
            show_bytes(j, wr_buf_view(&j->block));
        break;
    case WR_JOIN_FORM_DEAF:
        break;
    }
}

void wr_join_fail(struct wr_join *j, const char *message, struct wr_buf *out)
{
    const struct wr_joiner *joiner = j->api->joiner;
    struct wr_json_writer writer;

    bool is_whole = j->form == WR_JOIN_FORM_WHOLE || j->legs[0].bytes.len;
    /* Its head says that events come. */
    bool is_event = j->has_shown || (j->is_stream && !is_whole);

    j->out = out;
    if (is_event && joiner->write_error) {
        joiner->write_error(j, message, out);
        return;
    }
    wr_buf_text(out, is_event ? joiner->error_front : "");
    wr_json_write_init(&writer, out);
    wr_json_write_object(&writer);
    j->api->write_error(&writer, 500, message);
    wr_json_write_object_end(&writer);
    wr_buf_text(out, is_event ? joiner->error_back : "");
}

void wr_join_ping(const struct wr_join *j, struct wr_buf *out)
{
    bool is_whole = !j->is_stream || j->form == WR_JOIN_FORM_WHOLE || j->legs[0].bytes.len;

    if (!is_whole && !j->block.len)
        wr_buf_text(out, j->api->joiner->ping);
}

/* ---- for later requests ---- */

bool wr_join_exchange(struct wr_join *j, struct wr_buf *encoded, wr_hash128 *seen)
{
    bool has_calls = false;

    for (size_t i = 0; i < j->legs_count; i++)
        has_calls |= j->legs[i].verdict != WR_JOIN_PLAIN;
    if (!has_calls || j->is_broken)
        return false;
    wr_own_encode(j->api->dialect, j->legs, j->legs_count, encoded);
    *seen = wr_own_seen_of_legs(j->legs, j->legs_count);
    return !wr_buf_status(encoded);
}

/* As it is spelt between its quotes: providers' ids need no escapes. */
weir_span wr_join_id_seen(const struct wr_join *j)
{
    bool is_text = j->id.len > 1 && j->id.ptr[0] == '"';
    return is_text ? wr_span_cut(j->id, 1, j->id.len - 1) : (weir_span){"", 0};
}

weir_span wr_join_id_last(const struct wr_join *j)
{
    weir_span id = j->legs[j->legs_count - 1].id;
    return id.len ? id : wr_join_id_seen(j); /* a first leg that was not read */
}
