/* One request before and after (view.h).
 *
 * What is shown as changed is what the bytes say: both bodies are read again and compared. The
 * report that was kept with them says why, by the number of the segment as it came. A change that
 * the report does not know (an exchange of the proxy's own recall that was put back, a cache
 * marker) is shown without a reason.
 */
#include "traffic/view.h"

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/json.h"
#include "traffic/align.h"
#include "traffic/body.h"
#include "traffic/sentence.h"

struct view {
    struct wr_arena *arena;
    struct wr_json_writer *w;
    struct wr_align_side came, sent;
    struct wr_json report;
    bool has_report;
    wr_json_id *edits; /* of each segment as it came; NONE: it has none */
    struct wr_buf words;
};

/* ---- texts ---- */

weir_span wr_view_what(const struct weir_segment *s, struct wr_arena *arena)
{
    const struct weir_handles *h = &s->handles;
    weir_span words = {"", 0}, valid;
    weir_span from = h->command.len ? h->command : h->path.len ? h->path : h->query;
    uint64_t replaced_count;

    if (h->query.len && h->path.len && h->effect && !strcmp(h->effect, "search"))
        from = h->query;
    if (!from.len || wr_text_keep_line(arena, from, WR_VIEW_EXCERPT_CHARS, &words) ||
        wr_valid_text(arena, words, &valid, &replaced_count))
        return (weir_span){"", 0};
    return valid;
}

static weir_span excerpt_of(struct view *v, const struct wr_align_side *side, uint32_t i)
{
    weir_span text, words = {"", 0}, valid = {"", 0};
    uint64_t replaced_count;

    if (weir_request_text(side->request, i, &text) ||
        wr_text_keep_line(v->arena, wr_text_head(text, 4 * WR_VIEW_EXCERPT_CHARS),
                          WR_VIEW_EXCERPT_CHARS, &words) ||
        wr_valid_text(v->arena, words, &valid, &replaced_count))
        return (weir_span){"", 0};
    return valid;
}

static uint64_t lines_of(const struct wr_align_side *side, uint32_t i)
{
    weir_span text;
    return weir_request_text(side->request, i, &text) ? 0 : wr_span_lines(text);
}

/* ---- the report ---- */

static weir_span word_in(const struct view *v, wr_json_id object, const char *key)
{
    wr_json_id id = wr_json_find(&v->report, object, key);
    return wr_json_is(&v->report, id, WR_JSON_STRING) ? wr_json_inner(&v->report, id)
                                                      : (weir_span){"", 0};
}

static uint64_t number_in(const struct view *v, wr_json_id object, const char *key)
{
    int64_t number = 0;
    return wr_json_i64(&v->report, wr_json_find(&v->report, object, key), &number) && number > 0
               ? (uint64_t)number
               : 0;
}

static weir_status read_report(struct view *v, weir_span text)
{
    v->edits = WR_ARENA_ARRAY(v->arena, wr_json_id, v->came.count + 1);
    if (wr_arena_status(v->arena))
        return wr_arena_status(v->arena);
    for (uint32_t i = 0; i <= v->came.count; i++)
        v->edits[i] = WR_JSON_NONE;
    if (!text.len || wr_json_parse(&v->report, v->arena, text, NULL, NULL))
        return WEIR_OK; /* then nothing is said of why */
    v->has_report = true;
    wr_json_id edits = wr_json_find(&v->report, 0, "edits");
    if (!wr_json_is(&v->report, edits, WR_JSON_ARRAY))
        return WEIR_OK;
    for (wr_json_id e = wr_json_first(&v->report, edits); e != WR_JSON_NONE;
         e = wr_json_next(&v->report, edits, e)) {
        uint64_t i = number_in(v, e, "i");
        if (i < v->came.count)
            v->edits[i] = e;
    }
    return WEIR_OK;
}

/* ---- one change ---- */

static void put_some_text(struct wr_json_writer *w, const char *key, weir_span text)
{
    if (text.len)
        wr_json_member_text(w, key, text);
}

static void read_worth(const struct view *v, wr_json_id edit, struct wr_sentence *s)
{
    wr_json_id value = wr_json_find(&v->report, edit, "value");

    if (!wr_json_is(&v->report, value, WR_JSON_OBJECT))
        return;
    s->has_worth = true;
    s->saves_tokens = number_in(v, value, "saves_tokens");
    s->costs_tokens = number_in(v, value, "costs_tokens");
    s->turns_left = number_in(v, value, "turns_left");
    s->ever_miss_bp = number_in(v, value, "ever_miss_basis_points");
}

static void put_sentence(struct view *v, const struct wr_sentence *s)
{
    wr_buf_reset(&v->words);
    wr_sentence_deed(s, &v->words);
    wr_json_member_text(v->w, "says", wr_buf_view(&v->words));
    wr_buf_reset(&v->words);
    wr_sentence_sum(s, &v->words);
    put_some_text(v->w, "sum", wr_buf_view(&v->words));
    if (!s->has_worth)
        return;
    wr_json_member_number(v->w, "saves_tokens", s->saves_tokens);
    wr_json_member_number(v->w, "costs_tokens", s->costs_tokens);
    wr_json_member_number(v->w, "turns_left", s->turns_left);
    wr_json_member_number(v->w, "ever_miss_basis_points", s->ever_miss_bp);
}

/* Why segment i is not as it came, as the report has it. */
static void put_edit(struct view *v, uint32_t i, uint32_t j, enum wr_align change)
{
    wr_json_id edit = v->edits[i];
    struct wr_json_writer *w = v->w;
    bool is_edited = change == WR_ALIGN_EDITED;

    if (edit == WR_JSON_NONE) {
        struct wr_sentence bare = {.form = change == WR_ALIGN_DROPPED ? WR_LIT("dropped")
                                                                      : WR_LIT("edited")};
        put_sentence(v, &bare);
        return;
    }
    weir_span in = word_in(v, edit, "in");
    struct wr_sentence s = {
        .form = word_in(v, edit, "form"),
        .reason = word_in(v, edit, "reason"),
        .is_rolled_back =
            wr_json_is(&v->report, wr_json_find(&v->report, edit, "rolled_back"), WR_JSON_TRUE),
        .is_in_summary = in.len,
        .is_operators = wr_span_is(word_in(v, edit, "way"), "operator"),
        .tokens_before = number_in(v, edit, "tokens_before"),
        .tokens_after = number_in(v, edit, "tokens_after"),
        .lines_before = is_edited ? lines_of(&v->came, i) : 0,
        .lines_after = is_edited ? lines_of(&v->sent, j) : 0,
    };
    read_worth(v, edit, &s);
    wr_json_member_text(w, "form", s.form);
    wr_json_member_text(w, "reason", s.reason);
    put_some_text(w, "handle", word_in(v, edit, "handle"));
    put_some_text(w, "in", in);
    put_some_text(w, "way", word_in(v, edit, "way"));
    if (s.is_rolled_back)
        wr_json_member_bool(w, "rolled_back", true);
    wr_json_member_number(w, "tokens_before", s.tokens_before);
    wr_json_member_number(w, "tokens_after", s.tokens_after);
    put_sentence(v, &s);
}

/* A message of Weir's own: found in the report by its handle, which stands in its text. */
static void put_insert(struct view *v, uint32_t j)
{
    wr_json_id inserts = v->has_report ? wr_json_find(&v->report, 0, "inserts") : WR_JSON_NONE;
    weir_span text;

    if (weir_request_text(v->sent.request, j, &text) ||
        !wr_json_is(&v->report, inserts, WR_JSON_ARRAY))
        return;
    for (wr_json_id e = wr_json_first(&v->report, inserts); e != WR_JSON_NONE;
         e = wr_json_next(&v->report, inserts, e)) {
        weir_span handle = word_in(v, e, "handle");
        if (!handle.len || !wr_span_has(text, handle))
            continue;
        uint64_t segments = number_in(v, e, "segments");
        wr_json_member_text(v->w, "handle", handle);
        wr_json_member_text(v->w, "reason", word_in(v, e, "stage"));
        wr_json_member_number(v->w, "stands_for", segments);
        wr_json_member_number(v->w, "tokens_before", number_in(v, e, "tokens_before"));
        wr_json_member_number(v->w, "tokens_after", number_in(v, e, "tokens"));
        wr_buf_reset(&v->words);
        if (segments)
            wr_buf_printf(&v->words, "A summary that stands for %s parts of the conversation.",
                          WR_GROUPED(segments));
        else
            wr_buf_text(&v->words, "An original, brought back because a message names it.");
        wr_json_member_text(v->w, "says", wr_buf_view(&v->words));
        return;
    }
}

/* ---- segments ---- */

static void put_place(struct wr_json_writer *w, const char *key, bool is_there, uint32_t at)
{
    if (is_there)
        wr_json_member_number(w, key, at);
}

static weir_status put_segment(struct view *v, uint32_t i, uint32_t j, enum wr_align change)
{
    struct wr_json_writer *w = v->w;
    bool has_came = change != WR_ALIGN_INSERTED, has_sent = change != WR_ALIGN_DROPPED;
    struct weir_segment a = {0}, b = {0};

    if ((has_came && weir_request_segment(v->came.request, i, &a)) ||
        (has_sent && weir_request_segment(v->sent.request, j, &b)))
        return WEIR_INVALID;
    const struct weir_segment *s = has_came ? &a : &b;
    wr_json_write_newline(w);
    wr_json_write_object(w);
    put_place(w, "i", has_came, i);
    put_place(w, "j", has_sent, j);
    wr_json_member_word(w, "change", wr_align_name(change));
    wr_json_member_word(w, "role", weir_role_name(s->role));
    wr_json_member_word(w, "kind", weir_kind_name(s->kind));
    put_some_text(w, "tool", s->tool);
    put_some_text(w, "what", wr_view_what(s, v->arena));
    wr_json_member_number(w, "turn", s->turn);
    wr_json_member_number(w, "came_bytes", has_came ? a.span.end - a.span.start : 0);
    wr_json_member_number(w, "sent_bytes", has_sent ? b.span.end - b.span.start : 0);
    wr_json_member_text(w, "text",
                        has_came ? excerpt_of(v, &v->came, i) : excerpt_of(v, &v->sent, j));
    if (change == WR_ALIGN_EDITED)
        wr_json_member_text(w, "now", excerpt_of(v, &v->sent, j));
    if (change == WR_ALIGN_INSERTED)
        put_insert(v, j);
    else if (change != WR_ALIGN_SAME || v->edits[i] != WR_JSON_NONE)
        put_edit(v, i, j, change);
    wr_json_write_object_end(w);
    return wr_arena_status(v->arena);
}

static weir_status put_segments(struct view *v)
{
    uint32_t i = 0, j = 0;
    weir_status status = WEIR_OK;

    wr_json_write_key(v->w, "segments");
    wr_json_write_array(v->w);
    while ((i < v->came.count || j < v->sent.count) && !status) {
        enum wr_align change = wr_align_at(&v->came, &v->sent, i, j);
        status = put_segment(v, i, j, change);
        i += change != WR_ALIGN_INSERTED;
        j += change != WR_ALIGN_DROPPED;
    }
    wr_json_write_array_end(v->w);
    return status;
}

static weir_status open_side(const struct wr_ledger_row *said, bool is_sent,
                             struct wr_align_side *side, struct wr_arena *arena,
                             struct weir_err *err)
{
    struct weir_request *request;
    weir_status status = wr_body_read(said, is_sent, &request, err);

    side->request = request;
    return status ? status : wr_align_prepare(side, wr_body_of(said, is_sent), request, arena);
}

weir_status wr_view_write(const struct wr_ledger_row *said, struct wr_arena *arena,
                          struct wr_json_writer *w, struct weir_err *err)
{
    struct view v = {.arena = arena, .w = w};
    weir_status status = open_side(said, false, &v.came, arena, err);

    wr_buf_init(&v.words, WR_OUTPUT_BYTES_MAX);
    if (!status)
        status = open_side(said, true, &v.sent, arena, err);
    if (!status)
        status = read_report(&v, said->report);
    if (!status) {
        wr_json_member_number(w, "came_bytes", said->came.len);
        wr_json_member_number(w, "sent_bytes", wr_body_of(said, true).len);
        status = put_segments(&v);
    }
    wr_buf_release(&v.words);
    weir_request_free(v.came.request);
    weir_request_free(v.sent.request);
    return status;
}

weir_status wr_view_text(const struct wr_ledger_row *said, bool is_sent, uint64_t segment,
                         struct wr_arena *arena, weir_span *text, struct weir_err *err)
{
    struct weir_request *request;
    uint64_t replaced_count;
    weir_span found = {"", 0};
    weir_status status = wr_body_read(said, is_sent, &request, err);

    if (status)
        return status;
    if (segment >= weir_request_segments(request))
        status = wr_fail(err, WEIR_NOTFOUND, 0, "there is no such part");
    else
        status = weir_request_text(request, (uint32_t)segment, &found);
    if (!status) {
        found = wr_arena_copy(arena, found);
        status = wr_arena_status(arena);
    }
    if (!status)
        status = wr_valid_text(arena, found, text, &replaced_count);
    weir_request_free(request);
    return status;
}
