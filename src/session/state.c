/* Writes and reads state.yaml, the checkpoint beside the journal.
 *
 * It is YAML for people and other programs; this reader takes only what this writer writes: lines
 * of `key: value` with values in JSON, up to the list of messages, and a hash of all of it at the
 * end. That hash is asked first, so whatever comes after it is known to be ours, and a checkpoint
 * of thousands of messages costs one JSON array and not a YAML node for each number. Anything
 * unexpected gives a reason, and the journal is read whole. Keys that are not known are for people.
 */
#include "session/state.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/json.h"
#include "weir/weir.h"

enum { VERSION = 3, HASH_CHARS = 32, CHECK_BYTES_MAX = 64, ROW_COUNT = 7 };

/* The numbers of a thread that its messages do not tell. */
#define AT(field) offsetof(struct wr_thread, field)
static const struct {
    const char *key;
    size_t at; /* 64 bits */
} numbers[] = {
    {"checkpoint_seq", AT(seq)},
    {"turn_seq", AT(turn_seq)},
    {"turn_before_seq", AT(turn_before_seq)},
    {"answer_seq", AT(answer_seq)},
    {"prompt_seq", AT(prompt_place.seq)},
    {"prompt_at", AT(prompt_place.at)},
    {"prompt_bytes", AT(prompt_place.bytes)},
    {"tools_seq", AT(tools_place.seq)},
    {"tools_at", AT(tools_place.at)},
    {"tools_bytes", AT(tools_place.bytes)},
    {"summary_seq", AT(summary_place.seq)},
    {"summary_at", AT(summary_place.at)},
    {"summary_bytes", AT(summary_place.bytes)},
    {"last_summary_seq", AT(last_summary.seq)},
    {"last_summary_at", AT(last_summary.line_at)},
    {"last_summary_bytes", AT(last_summary.line_bytes)},
    {"changed_seq", AT(binds_after)},
    {"cut_seq", AT(cut_seq)},
    {"messages_omitted", AT(omitted_count)},
    {"switched_window_tokens", AT(window_tokens)},
    {"run_started_ms", AT(run_started_ms)},
    {"run_worked_ms", AT(run_worked_ms)},
    {"turns", AT(used.turns)},
    {"tokens", AT(used.tokens)},
    {"tool_calls", AT(used.tool_calls)},
    {"cost_micro_usd", AT(used.cost_micro_usd)},
    {"answers_unpriced", AT(unpriced_count)},
    {"tool_iterations", AT(iterations)},
    {"session_turns", AT(all_used.turns)},
    {"session_tokens", AT(all_used.tokens)},
    {"session_tool_calls", AT(all_used.tool_calls)},
    {"session_cost_micro_usd", AT(all_used.cost_micro_usd)},
    {"session_worked_ms", AT(all_used.elapsed_ms)},
    {"last_input_tokens", AT(last_input_tokens)},
    {"sent_seq", AT(sent_seq)},
    {"sent_system_tokens", AT(sent.system_tokens)},
    {"sent_tools_tokens", AT(sent.tools_tokens)},
    {"sent_user_tokens", AT(sent.user_tokens)},
    {"sent_assistant_tokens", AT(sent.assistant_tokens)},
    {"sent_calls_tokens", AT(sent.calls_tokens)},
    {"sent_results_tokens", AT(sent.results_tokens)},
    {"sent_usable_tokens", AT(sent.usable_tokens)},
    {"begun_high", AT(begun.high)},
    {"begun_low", AT(begun.low)},
};
#undef AT

enum { NUMBERS_COUNT = WR_COUNT_OF(numbers) };
_Static_assert(NUMBERS_COUNT < 64, "a bit a number");

static uint64_t get_number(const struct wr_thread *thread, size_t i)
{
    uint64_t number;
    memcpy(&number, (const char *)thread + numbers[i].at, sizeof(number));
    return number;
}

static void set_number(struct wr_thread *thread, size_t i, uint64_t number)
{
    memcpy((char *)thread + numbers[i].at, &number, sizeof(number));
}

/* ---- writing ---- */

/* A JSON string is a YAML string. */
static void put_text(struct wr_buf *out, const char *key, weir_span text)
{
    wr_buf_printf(out, "%s: \"", key);
    wr_json_escape(out, text);
    wr_buf_text(out, "\"\n");
}

static void put_number(struct wr_buf *out, const char *key, uint64_t value)
{
    wr_buf_printf(out, "%s: %llu\n", key, (unsigned long long)value);
}

static void put_hash(struct wr_buf *out, const char *key, wr_hash128 value)
{
    wr_buf_printf(out, "%s: \"%016llx%016llx\"\n", key, (unsigned long long)value.high,
                  (unsigned long long)value.low);
}

void wr_state_counted_by(struct wr_buf *out, const char *model)
{
    wr_buf_printf(out, "weir %s, model %s", weir_version(), model);
}

static void write_message(struct wr_buf *out, const struct wr_message *message)
{
    const struct wr_event *event = &message->event;
    weir_span front = wr_text_head(event->text, WR_STATE_TEXT_CHARS_MAX);

    wr_buf_printf(out, "  - {seq: %llu, kind: %s, tokens: %llu", (unsigned long long)event->seq,
                  wr_event_kind_name(event->kind),
                  (unsigned long long)(message->tokens + message->call_tokens));
    if (event->calls_count)
        wr_buf_printf(out, ", calls: %u", event->calls_count);
    if (message->score)
        wr_buf_printf(out, ", score: %u", message->score);
    wr_buf_text(out, ", text: \"");
    wr_json_escape(out, front);
    wr_buf_text(out, front.len < event->text.len ? " ...\"}\n" : "\"}\n");
}

/* For people. Words that were carried over are told by their number alone. */
static void write_messages(struct wr_buf *out, const struct wr_state *state)
{
    const struct wr_thread *t = state->thread;
    uint64_t carried = 0, count = 0;

    for (uint32_t i = 0; i < t->messages_count; i++) {
        carried += t->messages[i].is_head;
        count += !t->messages[i].is_head && t->messages[i].event.kind != WR_EVENT_TURN;
    }
    put_number(out, "words_carried", carried);
    wr_buf_text(out, "messages:\n");
    uint64_t skip = count > state->messages_max ? count - state->messages_max : 0;
    for (uint32_t i = 0; i < t->messages_count; i++) {
        if (t->messages[i].event.kind == WR_EVENT_TURN || t->messages[i].is_head)
            continue;
        if (skip)
            skip--;
        else
            write_message(out, &t->messages[i]);
    }
}

/* [event, its place: byte and bytes; tokens, tokens of its calls, score, whether it was carried
 * over] of each. */
static void write_held(struct wr_buf *out, const struct wr_thread *t)
{
    wr_buf_text(out, "held: [");
    for (uint32_t i = 0; i < t->messages_count; i++) {
        const struct wr_message *m = &t->messages[i];
        wr_buf_printf(out, "%s[%llu,%llu,%llu,%llu,%llu,%u,%d]", i ? "," : "",
                      (unsigned long long)m->event.seq, (unsigned long long)m->event.line_at,
                      (unsigned long long)m->event.line_bytes, (unsigned long long)m->tokens,
                      (unsigned long long)m->call_tokens, m->score, m->is_head);
    }
    wr_buf_text(out, "]\n");
}

static void write_check(struct wr_buf *out, size_t begin)
{
    if (!wr_buf_status(out))
        put_hash(out, "check", wr_hash128_of(wr_span_cut(wr_buf_view(out), begin, out->len)));
}

void wr_state_write(struct wr_buf *out, const struct wr_state *state, bool has_messages)
{
    const struct wr_thread *t = state->thread;
    size_t begin = out->len;

    put_number(out, "weir_state", VERSION);
    put_text(out, "session", wr_span_of(state->name));
    put_text(out, "model", wr_span_of(state->model));
    put_text(out, "policy", wr_span_of(state->policy));
    put_number(out, "window_tokens", state->window_tokens);
    put_number(out, "journal_bytes", state->journal->end_bytes);
    put_hash(out, "journal_hash", state->journal->hash);
    put_number(out, "journal_inode", state->stamp.inode);
    put_number(out, "journal_written_ns", state->stamp.written_ns);
    put_number(out, "journal_changed_ns", state->stamp.changed_ns);
    for (size_t i = 0; i < NUMBERS_COUNT; i++)
        put_number(out, numbers[i].key, get_number(t, i));
    put_number(out, "pending_calls", t->pending_count);
    put_number(out, "messages_max", state->messages_max);
    wr_buf_printf(out, "paused: %s\n", t->is_paused ? "true" : "false");
    put_text(out, "history", t->history_path);
    if (!has_messages)
        return;
    put_text(out, "thread_model", t->model);
    wr_buf_text(out, "counted_by: \"");
    wr_state_counted_by(out, state->model);
    wr_buf_text(out, "\"\n");
    if (t->messages_count <= WR_STATE_HELD_MAX)
        write_held(out, t);
    write_messages(out, state);
    write_check(out, begin);
}

/* ---- reading ---- */

struct reader {
    struct wr_checkpoint *checkpoint;
    struct wr_thread *thread; /* a draft */
    uint64_t version;
    uint64_t numbers_seen; /* a bit each */
    bool has_hash, has_bytes, has_held, has_model, has_paused;
};

/* The last line is the hash of all before it. */
static bool check_holds(weir_span yaml, weir_span *checked)
{
    struct wr_buf want;
    size_t line_bytes = strlen("check: \"\"\n") + HASH_CHARS;

    if (yaml.len < line_bytes)
        return false;
    *checked = wr_span_cut(yaml, 0, yaml.len - line_bytes);
    wr_buf_init(&want, CHECK_BYTES_MAX);
    put_hash(&want, "check", wr_hash128_of(*checked));
    bool holds = !wr_buf_status(&want) &&
                 wr_span_eq(wr_buf_view(&want), wr_span_cut(yaml, checked->len, yaml.len));
    wr_buf_release(&want);
    return holds;
}

static bool read_hex64(weir_span text, uint64_t *value)
{
    char digits[17];
    char *end;
    memcpy(digits, text.ptr, 16);
    digits[16] = 0;
    *value = strtoull(digits, &end, 16);
    return end == digits + 16;
}

static bool read_hash(weir_span value, wr_hash128 *read)
{
    if (value.len != HASH_CHARS + 2)
        return false;
    return read_hex64(wr_span_cut(value, 1, 17), &read->high) &&
           read_hex64(wr_span_cut(value, 17, 33), &read->low);
}

/* A string's text, in the checkpoint's arena. */
static bool read_text(struct wr_checkpoint *c, weir_span value, weir_span *text)
{
    struct wr_json doc;
    if (wr_json_parse(&doc, &c->arena, value, NULL, NULL) || !wr_json_is(&doc, 0, WR_JSON_STRING))
        return false;
    *text = wr_arena_copy(&c->arena, wr_json_text(&doc, &c->arena, 0));
    return text->ptr != NULL;
}

static bool read_row(const struct wr_json *doc, wr_json_id row, struct wr_held *held)
{
    int64_t values[ROW_COUNT];
    size_t count = 0;

    if (!wr_json_is(doc, row, WR_JSON_ARRAY) || wr_json_count(doc, row) != ROW_COUNT)
        return false;
    for (wr_json_id id = wr_json_first(doc, row); id != WR_JSON_NONE;
         id = wr_json_next(doc, row, id), count++)
        if (!wr_json_i64(doc, id, &values[count]) || values[count] < 0)
            return false;
    *held =
        (struct wr_held){.place = {(uint64_t)values[0], (uint64_t)values[1], (uint64_t)values[2]},
                         .tokens = (uint64_t)values[3],
                         .call_tokens = (uint64_t)values[4],
                         .score = (uint32_t)values[5],
                         .is_head = values[6] == 1};
    return values[5] <= 100 && values[6] <= 1;
}

static bool read_held(struct wr_checkpoint *c, weir_span value)
{
    struct wr_json doc;

    if (wr_json_parse(&doc, &c->arena, value, NULL, NULL) || !wr_json_is(&doc, 0, WR_JSON_ARRAY))
        return false;
    uint32_t count = wr_json_count(&doc, 0);
    c->held = WR_ARENA_ARRAY(&c->arena, struct wr_held, (size_t)count + 1);
    if (!c->held || count > WR_STATE_HELD_MAX)
        return false;
    WR_JSON_EACH(row, &doc, 0) {
        struct wr_held *held = &c->held[c->held_count];
        if (!read_row(&doc, row, held) || !held->place.seq ||
            (c->held_count && held->place.seq <= held[-1].place.seq))
            return false;
        c->held_count++;
    }
    return true;
}

static bool read_number(struct reader *r, weir_span key, weir_span value)
{
    uint64_t read;
    for (size_t i = 0; i < NUMBERS_COUNT; i++)
        if (wr_span_is(key, numbers[i].key)) {
            if (!wr_span_u64(value, &read))
                return false;
            set_number(r->thread, i, read);
            r->numbers_seen |= UINT64_C(1) << i;
            return true;
        }
    return true; /* for people */
}

static bool read_member(struct reader *r, weir_span key, weir_span value)
{
    struct wr_checkpoint *c = r->checkpoint;

    if (wr_span_is(key, "weir_state"))
        return wr_span_u64(value, &r->version);
    if (wr_span_is(key, "journal_bytes"))
        return r->has_bytes = wr_span_u64(value, &c->skim.bytes);
    if (wr_span_is(key, "journal_inode"))
        return wr_span_u64(value, &c->skim.stamp.inode);
    if (wr_span_is(key, "journal_written_ns"))
        return wr_span_u64(value, &c->skim.stamp.written_ns);
    if (wr_span_is(key, "journal_changed_ns"))
        return wr_span_u64(value, &c->skim.stamp.changed_ns);
    if (wr_span_is(key, "journal_hash"))
        return r->has_hash = read_hash(value, &c->skim.hash);
    if (wr_span_is(key, "held"))
        return r->has_held = read_held(c, value);
    if (wr_span_is(key, "thread_model"))
        return r->has_model = read_text(c, value, &r->thread->model);
    if (wr_span_is(key, "history"))
        return read_text(c, value, &r->thread->history_path);
    if (wr_span_is(key, "counted_by"))
        return read_text(c, value, &c->counted_by);
    if (wr_span_is(key, "paused")) {
        r->thread->is_paused = wr_span_is(value, "true");
        return r->has_paused = true;
    }
    return read_number(r, key, value);
}

static bool read_members(struct reader *r, weir_span text)
{
    weir_span line;

    while (wr_span_line(&text, &line) && !wr_span_is(line, "messages:")) {
        size_t colon = wr_span_find(line, WR_LIT(": "), 0);
        if (colon == SIZE_MAX ||
            !read_member(r, wr_span_cut(line, 0, colon), wr_span_cut(line, colon + 2, line.len)))
            return false;
    }
    return r->has_bytes && r->has_hash && r->has_model && r->has_paused &&
           r->numbers_seen == (UINT64_C(1) << NUMBERS_COUNT) - 1;
}

static int by_number(const void *a, const void *b)
{
    const struct wr_place *x = a, *y = b;
    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* All events that it wants, each once. */
static bool list_wanted(struct wr_checkpoint *c, const struct wr_thread *t)
{
    const struct wr_place texts[] = {
        t->prompt_place,
        t->tools_place,
        t->summary_place,
        {t->last_summary.seq, t->last_summary.line_at, t->last_summary.line_bytes}};
    struct wr_place *wanted = WR_ARENA_ARRAY(&c->arena, struct wr_place, (size_t)c->held_count + 4);
    uint32_t count = 0, unique = 0;

    if (!wanted)
        return false;
    for (uint32_t i = 0; i < c->held_count; i++)
        wanted[count++] = c->held[i].place;
    for (size_t i = 0; i < 4; i++)
        if (texts[i].seq)
            wanted[count++] = texts[i];
    qsort(wanted, count, sizeof(*wanted), by_number);
    for (uint32_t i = 0; i < count; i++)
        if (!unique || wanted[unique - 1].seq != wanted[i].seq)
            wanted[unique++] = wanted[i];
    c->skim.wanted = wanted;
    c->skim.wanted_count = unique;
    c->skim.seq = t->seq;
    return !unique || wanted[unique - 1].seq <= t->seq;
}

/* Copies the draft into the thread, with the texts that it points at. */
static bool take_draft(struct wr_thread *thread, const struct wr_thread *draft)
{
    weir_span model = wr_arena_copy(&thread->arena, draft->model);
    weir_span path = wr_arena_copy(&thread->arena, draft->history_path);

    if (wr_arena_status(&thread->arena))
        return false;
    for (size_t i = 0; i < NUMBERS_COUNT; i++)
        set_number(thread, i, get_number(draft, i));
    thread->is_paused = draft->is_paused;
    thread->model = model.len ? model : (weir_span){"", 0};
    thread->history_path = path.len ? path : (weir_span){"", 0};
    return true;
}

const char *wr_checkpoint_read(struct wr_checkpoint *c, weir_span yaml, struct wr_thread *thread)
{
    struct wr_thread draft = {.model = {"", 0}, .history_path = {"", 0}};
    struct reader r = {.checkpoint = c, .thread = &draft};
    weir_span checked;

    *c = (struct wr_checkpoint){.counted_by = {"", 0}};
    wr_arena_init(&c->arena, WR_ARENA_BYTES_MAX);
    if (!check_holds(yaml, &checked))
        return "it is not whole, or was changed";
    bool is_read = read_members(&r, checked);
    if (r.version != VERSION)
        return "another version of Weir wrote it";
    if (!is_read)
        return "it cannot be read";
    if (!r.has_held)
        return "it holds too many messages";
    if (!list_wanted(c, &draft) || !take_draft(thread, &draft))
        return "its events are not those of a journal";
    return NULL;
}

void wr_checkpoint_release(struct wr_checkpoint *c)
{
    wr_arena_release(&c->arena);
}

const struct wr_held *wr_checkpoint_next(struct wr_checkpoint *c, uint64_t seq)
{
    if (c->held_next < c->held_count && c->held[c->held_next].place.seq == seq)
        return &c->held[c->held_next++];
    return NULL;
}
