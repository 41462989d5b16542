/* Whether a changed request may leave.
 *
 *   wr_validate_shape    the plan as a whole: groups whole, thinking from its start (law L4)
 *   wr_validate_change   one change, before anything is written: encoding, room, reference, signals
 *                        (law L5), lines said twice. What was found lawful once is remembered
 *   wr_validate_result   the bytes, read again: nothing changed but what was meant (law L1), and no
 *                        rule of the provider broken that the original did not break (law L4)
 */

#include "engine/validate.h"

#include "api/api.h"
#include "api/lawful.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "condense/lossless.h"
#include "condense/signal.h"
#include "policy/marker.h"
#include "policy/stage.h"
#include "transcript/transcript.h"

/* A line shorter than this may well be said twice. */
enum {
    DOUBLED_LINE_BYTES_MIN = 40,
    VERDICT_KEY = 0x1a3, /* tells these keys from the others in the memo: any number they lack */
};

static void note_finding(struct wr_finding *finding, uint32_t segment, const char *what,
                         weir_span detail)
{
    if (!finding->found)
        *finding = (struct wr_finding){true, segment, what, detail};
}

/* A high surrogate right before a low one, each in its own three bytes: the escapes they are
 * written as would be read as one character. */
static bool has_split_pair(weir_span text)
{
    for (size_t at = 0; (at = wr_span_find(text, WR_LIT("\xED"), at)) != SIZE_MAX; at += 3) {
        const unsigned char *c = (const unsigned char *)text.ptr + at;
        if (text.len - at >= 6 && (c[1] & 0xF0) == 0xA0 && c[3] == 0xED && c[4] >= 0xB0)
            return true;
    }
    return false;
}

static void check_encoding(const struct wr_change *change, struct wr_finding *finding)
{
    if (wr_utf8_check(change->text, true) != change->text.len || has_split_pair(change->text))
        note_finding(finding, change->segment, "its new text is not UTF-8", (weir_span){"", 0});
}

static void check_room(const struct wr_change *change, weir_span original,
                       struct wr_finding *finding)
{
    weir_span none = {"", 0};
    if (!wr_span_trim(change->text).len && !wr_span_eq(change->text, original))
        note_finding(finding, change->segment, "its text became empty", none);
    if (change->bytes_max && change->text.len > change->bytes_max)
        note_finding(finding, change->segment, "its new text is larger than the room it was given",
                     none);
    if (change->form != WR_FORM_EDITED && change->text.len >= original.len)
        note_finding(finding, change->segment, "its new text is not smaller than the original",
                     none);
}

static void check_reference(const struct wr_plan *plan, const struct wr_change *change,
                            struct wr_finding *finding)
{
    if (change->refers_to == WR_SEGMENT_NONE)
        return;
    bool exists = change->refers_to < plan->transcript->segments_count &&
                  change->refers_to != change->segment;
    if (!exists || wr_plan_find(plan, change->refers_to))
        note_finding(finding, change->segment, "what it refers to is not in the prompt any more",
                     (weir_span){"", 0});
}

static void compare_signals(const struct wr_change *change, const struct wr_signal_set *before,
                            const struct wr_signal_set *after, struct wr_finding *finding)
{
    struct wr_signal_difference difference;
    if (wr_signal_set_equal(before, after, &difference))
        return;
    if (difference.missing)
        note_finding(finding, change->segment, "a signal of the original is missing",
                     difference.missing->text);
    else
        note_finding(finding, change->segment, "it has a signal that the original lacks",
                     difference.added->text);
}

/* Both texts are read as what the original is: a condensed log is still a log. */
static weir_status check_signals(const struct wr_segment *s, const struct wr_change *change,
                                 weir_span original, struct wr_arena *arena,
                                 struct wr_finding *finding)
{
    struct wr_signal_set before, after;
    enum wr_output_kind kind = wr_output_kind_of(s, original);
    weir_status status = wr_signal_scan(&before, arena, original, kind);

    if (!status)
        status = wr_signal_scan(&after, arena, change->text, kind);
    if (status == WEIR_LIMIT) {
        note_finding(finding, change->segment, "it has more signals than can be compared",
                     (weir_span){"", 0});
        return WEIR_OK;
    }
    if (!status)
        compare_signals(change, &before, &after, finding);
    return status;
}

/* How often each long line of the new text stands there, and in the original. */
struct line_count {
    weir_span line;
    uint32_t before, after;
};

struct line_table {
    struct wr_index index;
    struct line_count *lines;
    uint32_t count;
};

static uint32_t count_lines(weir_span text)
{
    uint32_t count = 0;
    weir_span line;
    while (wr_span_line(&text, &line))
        count += line.len >= DOUBLED_LINE_BYTES_MIN;
    return count;
}

/* The line's row, or NULL and the place where it goes. */
static struct line_count *find_line(struct line_table *table, weir_span line, uint64_t hash,
                                    uint32_t *at)
{
    uint32_t item;
    for (*at = wr_index_first(&table->index, hash);
         (item = wr_index_item(&table->index, *at)) != WR_INDEX_NONE;
         *at = wr_index_next(&table->index, *at, hash))
        if (wr_span_eq(table->lines[item].line, line))
            return &table->lines[item];
    return NULL;
}

static weir_span front_of(weir_span line)
{
    return wr_span_cut(line, 0, DOUBLED_LINE_BYTES_MIN);
}

/* Counts the new text's lines; true when one of them comes twice. */
static bool count_new(struct line_table *table, weir_span text)
{
    bool is_repeated = false;
    weir_span line;
    while (wr_span_line(&text, &line)) {
        uint32_t at;
        if (line.len < DOUBLED_LINE_BYTES_MIN)
            continue;
        line = front_of(line);
        uint64_t hash = wr_hash64(line);
        struct line_count *row = find_line(table, line, hash, &at);
        if (!row) {
            wr_index_put(&table->index, at, hash, table->count);
            row = &table->lines[table->count++];
            *row = (struct line_count){.line = line};
        }
        is_repeated |= ++row->after > 1;
    }
    return is_repeated;
}

/* Condensers and summaries write lines of their own (a match below its file's name, a row as its
 * shape, the path that a call asked for and the one its result names), which may be the same for
 * different things of the original. A marker never is. */
static bool may_repeat(const struct wr_change *change, const struct line_count *row)
{
    return (change->form == WR_FORM_TIDIED || change->form == WR_FORM_CONDENSED ||
            change->form == WR_FORM_SUMMARISED) &&
           !row->before && !wr_span_starts(row->line, WR_LIT("[weir "));
}

/* Whether the original says it so often inside its lines: where a text is cut in the middle of a
 * long line, that line's end begins a line of the new text. */
static bool stands_inside(weir_span original, const struct line_count *row)
{
    size_t at = 0;
    for (uint32_t n = 0; n < row->after; n++, at += row->line.len)
        if ((at = wr_span_find(original, row->line, at)) == SIZE_MAX)
            return false;
    return true;
}

static void count_old(struct line_table *table, weir_span text)
{
    weir_span line;
    uint32_t at;
    while (wr_span_line(&text, &line)) {
        struct line_count *row = NULL;
        if (line.len >= DOUBLED_LINE_BYTES_MIN)
            row = find_line(table, front_of(line), wr_hash64(front_of(line)), &at);
        if (row)
            row->before++;
    }
}

/* A long line may stand in the new text as often as in the old one, or once where it is new; lines
 * are known by how they begin, because a long one may have been cut. The original is looked at only
 * where a line comes twice, which is seldom: without what is drawn over, as condensers read it. */
static weir_status check_doubled(const struct wr_segment *s, const struct wr_change *change,
                                 weir_span original, struct wr_arena *arena,
                                 struct wr_finding *finding)
{
    uint32_t lines_max = count_lines(change->text);
    struct line_table table = {.lines = WR_ARENA_ARRAY(arena, struct line_count, lines_max)};
    struct wr_lossless_text cleaned = {.text = original};

    if (!table.lines)
        return wr_arena_status(arena);
    weir_status status = wr_index_init(&table.index, arena, lines_max);
    if (status || !count_new(&table, change->text))
        return status;
    if (change->form == WR_FORM_TIDIED || change->form == WR_FORM_CONDENSED)
        status = wr_lossless(&cleaned, arena, original, wr_output_kind_of(s, original));
    if (status)
        return status;
    count_old(&table, cleaned.text);
    for (uint32_t i = 0; i < table.count && !finding->found; i++) {
        const struct line_count *row = &table.lines[i];
        if (row->after > 1 && row->after > row->before && !may_repeat(change, row) &&
            !stands_inside(cleaned.text, row))
            note_finding(finding, change->segment, "it says the same twice", row->line);
    }
    return WEIR_OK;
}

/* A form that was found lawful for this original, of such a call, is so again. */
static wr_hash128 key_of(const struct wr_plan *plan, const struct wr_change *change)
{
    const struct wr_transcript *t = plan->transcript;
    const struct wr_segment *s = &t->segments[change->segment];
    const struct wr_tool_handles *h = s->handles;
    uint64_t numbers[] = {plan->memo_seed, change->form, change->bytes_max,
                          h ? (uint64_t)h->kind + 1 : 0, VERDICT_KEY};
    wr_hash128 key = wr_hash128_of((weir_span){(const char *)numbers, sizeof(numbers)});

    if (h) /* the kind of the output follows from these and from the text */
        key = wr_hash128_seeded(h->path, wr_hash128_seeded(h->command, key));
    key = wr_hash128_add(wr_segment_body_hash(t, s), key);
    return wr_hash128_seeded(change->text, key);
}

/* What is to be said of a form without looking at the rest of the plan. */
static weir_status check_form(const struct wr_plan *plan, const struct wr_change *change,
                              struct wr_arena *arena, struct wr_finding *finding)
{
    const struct wr_segment *s = &plan->transcript->segments[change->segment];
    weir_span original = wr_segment_text(plan->transcript, s, arena);
    weir_status status = WEIR_OK;

    if (!original.ptr)
        return wr_arena_status(arena);
    check_encoding(change, finding);
    check_room(change, original, finding);
    if (finding->found || change->form == WR_FORM_EDITED)
        return WEIR_OK;
    if (change->form == WR_FORM_TIDIED || change->form == WR_FORM_CONDENSED)
        status = check_signals(s, change, original, arena, finding);
    return status ? status : check_doubled(s, change, original, arena, finding);
}

weir_status wr_validate_change(const struct wr_plan *plan, const struct wr_change *change,
                               struct wr_arena *arena, struct wr_finding *finding)
{
    *finding = (struct wr_finding){.segment = WR_SEGMENT_NONE};
    if (change->form == WR_FORM_DROPPED)
        return WEIR_OK;

    if (change->form == WR_FORM_PRUNED)
        return wr_arguments_check(plan, change, arena, finding);
    check_reference(plan, change, finding);
    if (finding->found)
        return WEIR_OK;
    wr_hash128 key = key_of(plan, change);
    weir_span known;
    if (wr_text_memo_find(plan->memo, key, &known))
        return WEIR_OK;
    weir_status status = check_form(plan, change, arena, finding);
    if (!status && !finding->found)
        wr_text_memo_put(plan->memo, key, (weir_span){"", 0});
    return status;
}

static bool leaves(const struct wr_plan *plan, uint32_t segment)
{
    const struct wr_change *change = wr_plan_find(plan, segment);
    return change && change->form == WR_FORM_DROPPED;
}

/* A group leaves whole or not at all. Signed thinking alone may leave before it: nothing of the
 * output needs it to be understood. */
static void check_group(const struct wr_plan *plan, uint32_t group, struct wr_finding *finding)
{
    const struct wr_segment *segments = plan->transcript->segments;
    bool has_leaving = false, has_kept = false, has_kept_thinking = false;

    for (uint32_t i = group; i != WR_SEGMENT_NONE; i = plan->group_next[i]) {
        bool is_leaving = leaves(plan, i);
        has_kept_thinking |= segments[i].is_signed && !is_leaving;
        has_leaving |= !segments[i].is_signed && is_leaving;
        has_kept |= !segments[i].is_signed && !is_leaving;
    }
    if (has_leaving && (has_kept || has_kept_thinking))
        note_finding(finding, WR_SEGMENT_NONE, "a group of calls and results was torn",
                     (weir_span){"", 0});
}

static void check_groups(const struct wr_plan *plan, struct wr_finding *finding)
{
    const struct wr_transcript *t = plan->transcript;
    for (uint32_t i = 0; i < t->segments_count; i++)
        if (t->segments[i].group == i)
            check_group(plan, i, finding);
}

/* Signed thinking is a chain: what leaves must leave from its start. */
static void check_thinking(const struct wr_plan *plan, struct wr_finding *finding)
{
    const struct wr_transcript *t = plan->transcript;
    bool kept = false;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        if (!t->segments[i].is_signed)
            continue;
        if (!leaves(plan, i))
            kept = true;
        else if (kept)
            note_finding(finding, WR_SEGMENT_NONE, "signed thinking was taken out of the middle",
                         (weir_span){"", 0});
    }
}

/* In Responses an item follows the reasoning that led to it, and is refused without that reasoning.
 * An item of an unknown kind may be such an item. */
static void check_reasoning(const struct wr_plan *plan, struct wr_finding *finding)
{
    const struct wr_transcript *t = plan->transcript;
    if (!wr_api_of(t->dialect)->ties_reasoning)
        return;
    for (uint32_t i = 0; i + 1 < t->segments_count; i++)
        if (t->segments[i].kind == WEIR_KIND_REASONING && leaves(plan, i) &&
            t->segments[i + 1].kind == WEIR_KIND_OTHER && !leaves(plan, i + 1))
            note_finding(finding, WR_SEGMENT_NONE, "reasoning was taken from the output it led to",
                         (weir_span){"", 0});
}

void wr_validate_shape(const struct wr_plan *plan, struct wr_finding *finding)
{
    *finding = (struct wr_finding){.segment = WR_SEGMENT_NONE};
    check_groups(plan, finding);
    check_thinking(plan, finding);
    check_reasoning(plan, finding);
}

static weir_status check_law(const struct wr_transcript *before, const struct wr_transcript *after,
                             struct wr_arena *arena, struct wr_finding *finding)
{
    struct wr_breaches old, new;
    weir_status status = wr_lawful_check(after, arena, &new);
    if (status || !new.count)
        return status;
    /* Nearly every result is lawful; the original is asked only what it already was guilty of. */
    status = wr_lawful_check(before, arena, &old);
    if (status)
        return status;
    const struct wr_breach *breach = wr_lawful_new_breach(&old, &new);
    if (breach)
        note_finding(finding, WR_SEGMENT_NONE, wr_rule_text(breach->rule), breach->id);
    return WEIR_OK;
}

weir_status wr_validate_result(const struct wr_plan *plan, const struct wr_touches *touches,
                               weir_span result, struct wr_arena *arena, struct wr_finding *finding)
{
    const struct wr_transcript *before = plan->transcript;
    struct wr_start start;
    bool is_known = wr_starts_find(plan->starts, result, &start);
    struct wr_json_options json = {.start = is_known ? &start.json : NULL};
    struct wr_api_options options = {
        .dialect = weir_dialect_name(before->dialect), .start = &start, .structure_only = true};
    struct wr_transcript after;
    struct wr_json doc;
    bool is_same;

    *finding = (struct wr_finding){.segment = WR_SEGMENT_NONE};
    weir_status status = wr_json_parse(&doc, arena, result, &json, NULL);
    if (status == WEIR_NOMEM)
        return status;
    if (status) {
        note_finding(finding, WR_SEGMENT_NONE, "the result is not JSON", (weir_span){"", 0});
        return WEIR_OK;
    }
    status = wr_compare_documents(before->doc, &doc, touches, arena, &is_same);
    if (status)
        return status;
    if (!is_same)
        note_finding(finding, WR_SEGMENT_NONE, "something changed that was not meant to",
                     (weir_span){"", 0});
    status = wr_api_read(&after, arena, &doc, &options, NULL);
    if (status == WEIR_NOMEM)
        return status;
    if (status) {
        note_finding(finding, WR_SEGMENT_NONE, "the result is not a request any more",
                     (weir_span){"", 0});
        return WEIR_OK;
    }
    wr_starts_keep(plan->starts, &after, &start);
    return check_law(before, &after, arena, finding);
}

/* ==== compare ====
 *
 * Law L1 asked of the result: two documents walked side by side, node by node. Where a touch is due
 * the two may differ as it says; everywhere else kind, bytes and white space between must be equal.
 * This shares nothing with the splice but the list of touches, so that an error in one is not
 * repeated by the other.
 */

/* Both documents are walked side by side, node by node; values without a touch inside are compared
 * as the bytes they are. What stands between two values is compared too, except where something was
 * taken out or put in: which comma went with it is the splice's affair, and that the rest is JSON
 * the reader's. */
struct walk {
    const struct wr_json *before, *after;
    struct wr_arena *arena;
    const struct wr_touch *touch, *touches_end;
    wr_json_id i, j;            /* the next node of each */
    size_t before_at, after_at; /* the bytes compared so far */
    bool is_loose;              /* something came or went since the last value */
    bool is_same;
    uint32_t depth;
    struct {
        wr_json_id i, j;
    } open[WR_JSON_DEPTH_MAX];
};

static bool touch_is_here(const struct walk *w, enum wr_touch_kind kind, wr_json_id container,
                          wr_json_id node)
{
    return w->touch < w->touches_end && w->touch->kind == kind && w->touch->node == node &&
           (container == WR_JSON_NONE || w->touch->container == container);
}

/* Touches come in the order of the walk, so that the next one speaks for all. */
static bool has_touch_inside(const struct walk *w, wr_json_id container)
{
    if (w->touch == w->touches_end)
        return false;
    wr_json_id at = w->touch->node != WR_JSON_NONE ? w->touch->node : w->touch->container;
    return at >= container && at < w->before->nodes[container].after;
}

/* Compares up to the given bytes; behind a loose place only from the two nodes on. */
static void pass_bytes(struct walk *w, uint32_t before_start, uint32_t before_end,
                       uint32_t after_start, uint32_t after_end)
{
    size_t before_from = w->is_loose ? before_start : w->before_at;
    size_t after_from = w->is_loose ? after_start : w->after_at;
    w->is_same &= wr_span_eq(wr_span_cut(w->before->text, before_from, before_end),
                             wr_span_cut(w->after->text, after_from, after_end));
    w->before_at = before_end;
    w->after_at = after_end;
    w->is_loose = false;
}

/* An inserted element or member must stand here, byte for byte. */
static void pass_insert(struct walk *w)
{
    if (w->j >= w->after->nodes_count) {
        w->is_same = false;
        return;
    }
    bool is_member = w->after->nodes[w->j].is_key;
    wr_json_id last = is_member ? wr_json_value(w->j) : w->j;
    weir_span found = is_member ? wr_json_member(w->after, w->j) : wr_json_raw(w->after, w->j);
    w->is_same &= wr_span_eq(wr_span_trim(w->touch->text), found);
    w->j = w->after->nodes[last].after;
    w->after_at = w->after->nodes[last].end;
    w->is_loose = true;
    w->touch++;
}

static void pass_removed(struct walk *w)
{
    wr_json_id last = w->before->nodes[w->i].is_key ? wr_json_value(w->i) : w->i;
    w->i = w->before->nodes[last].after;
    w->before_at = w->before->nodes[last].end;
    w->is_loose = true;
    w->touch++;
}

static void close_finished(struct walk *w)
{
    while (w->depth && w->is_same) {
        wr_json_id i = w->open[w->depth - 1].i, j = w->open[w->depth - 1].j;
        const struct wr_json_node *a = &w->before->nodes[i], *b = &w->after->nodes[j];
        if (w->i < a->after)
            return;
        while (w->is_same && touch_is_here(w, WR_TOUCH_INSERT, i, WR_JSON_NONE))
            pass_insert(w);
        w->is_same &= w->j == b->after;
        if (w->is_same)
            pass_bytes(w, a->end - 1, a->end, b->end - 1, b->end);
        w->depth--;
    }
}

static weir_status pass_text(struct walk *w)
{
    const struct wr_json_node *a = &w->before->nodes[w->i], *b = &w->after->nodes[w->j];
    if (b->kind != WR_JSON_STRING || b->is_key) {
        w->is_same = false;
        return WEIR_OK;
    }
    weir_span said = wr_json_text(w->after, w->arena, w->j);
    if (!said.ptr)
        return wr_arena_status(w->arena);
    pass_bytes(w, a->start, a->start + 1, b->start, b->start + 1);
    w->is_same &= wr_span_eq(said, w->touch->text);
    w->before_at = a->end;
    w->after_at = b->end;
    w->touch++;
    w->i++;
    w->j++;
    return WEIR_OK;
}

static void pass_same(struct walk *w)
{
    const struct wr_json_node *a = &w->before->nodes[w->i], *b = &w->after->nodes[w->j];
    w->is_same &= a->kind == b->kind && a->is_key == b->is_key;
    if (!has_touch_inside(w, w->i)) {
        pass_bytes(w, a->start, a->end, b->start, b->end);
        w->i = a->after;
        w->j = b->after;
        return;
    }
    pass_bytes(w, a->start, a->start + 1, b->start, b->start + 1);
    w->open[w->depth].i = w->i++;
    w->open[w->depth].j = w->j++;
    w->depth++;
}

static weir_status pass_node(struct walk *w)
{
    if (touch_is_here(w, WR_TOUCH_REMOVE, WR_JSON_NONE, w->i)) {
        pass_removed(w);
        return WEIR_OK;
    }
    if (w->j >= w->after->nodes_count) {
        w->is_same = false;
        return WEIR_OK;
    }
    if (touch_is_here(w, WR_TOUCH_TEXT, WR_JSON_NONE, w->i))
        return pass_text(w);
    pass_same(w);
    return WEIR_OK;
}

static weir_status walk_all(struct walk *w)
{
    while (w->is_same && w->i < w->before->nodes_count) {
        while (w->is_same && touch_is_here(w, WR_TOUCH_INSERT, WR_JSON_NONE, w->i))
            pass_insert(w);
        weir_status status = pass_node(w);
        if (status)
            return status;
        close_finished(w);
    }
    if (!w->is_same)
        return WEIR_OK;
    weir_span before = w->before->text, after = w->after->text;
    w->is_same = w->j == w->after->nodes_count && w->touch == w->touches_end &&
                 wr_span_eq(wr_span_cut(before, w->before_at, before.len),
                            wr_span_cut(after, w->after_at, after.len));
    return WEIR_OK;
}

weir_status wr_compare_documents(const struct wr_json *before, const struct wr_json *after,
                                 const struct wr_touches *touches, struct wr_arena *arena,
                                 bool *is_same)
{
    struct walk w = {.before = before, .after = after, .arena = arena, .is_same = true};
    if (touches->count) {
        w.touch = touches->items;
        w.touches_end = touches->items + touches->count;
    }
    weir_status status = walk_all(&w);
    *is_same = w.is_same;
    return status;
}

/* ==== arguments ==== */

static void check_string(uint32_t segment, weir_span before, weir_span after,
                         struct wr_finding *finding)
{
    if (wr_utf8_check(after, true) != after.len)
        note_finding(finding, segment, "its new text is not UTF-8", (weir_span){"", 0});
    else if (!wr_span_trim(after).len)
        note_finding(finding, segment, "its text became empty", (weir_span){"", 0});
    else if (after.len >= before.len)
        note_finding(finding, segment, "its new text is not smaller than the original",
                     (weir_span){"", 0});
    else if (!wr_marker_find(after, NULL))
        note_finding(finding, segment, "a pruned argument has no marker", (weir_span){"", 0});
}

/* The strings of both documents that differ, as touches, in the order of the text. What is no
 * string, or is a key, is not touched, so that a difference there is found as one. */
static weir_status list_touches(const struct wr_json *before, const struct wr_json *after,
                                struct wr_arena *arena, struct wr_touches *touches)
{
    uint32_t count =
        before->nodes_count < after->nodes_count ? before->nodes_count : after->nodes_count;
    *touches = (struct wr_touches){.items = WR_ARENA_ARRAY(arena, struct wr_touch, count)};
    if (!touches->items)
        return wr_arena_status(arena);
    for (wr_json_id i = 0; i < count; i++) {
        bool is_value = wr_json_is(before, i, WR_JSON_STRING) && !before->nodes[i].is_key &&
                        wr_json_is(after, i, WR_JSON_STRING) && !after->nodes[i].is_key;
        if (!is_value || wr_span_eq(wr_json_raw(before, i), wr_json_raw(after, i)))
            continue;
        weir_span text = wr_json_text(after, arena, i);
        if (!text.ptr)
            return wr_arena_status(arena);
        touches->items[touches->count++] = (struct wr_touch){WR_TOUCH_TEXT, WR_JSON_NONE, i, text};
    }
    return WEIR_OK;
}

static weir_status check_strings(uint32_t segment, const struct wr_json *before,
                                 const struct wr_touches *touches, struct wr_arena *arena,
                                 struct wr_finding *finding)
{
    for (uint32_t i = 0; i < touches->count; i++) {
        weir_span text = wr_json_text(before, arena, touches->items[i].node);
        if (!text.ptr)
            return wr_arena_status(arena);
        check_string(segment, text, touches->items[i].text, finding);
    }
    return WEIR_OK;
}

/* Arguments that are a string: both texts are JSON, and differ in string values only. */
static weir_status check_text(uint32_t segment, weir_span before, weir_span after,
                              struct wr_arena *arena, struct wr_finding *finding)
{
    struct wr_json old, new;
    struct wr_touches touches;
    bool is_same;

    if (wr_json_parse(&old, arena, before, NULL, NULL) ||
        wr_json_parse(&new, arena, after, NULL, NULL)) {
        note_finding(finding, segment, "its arguments are not JSON", (weir_span){"", 0});
        return wr_arena_status(arena);
    }
    weir_status status = list_touches(&old, &new, arena, &touches);
    if (!status)
        status = wr_compare_documents(&old, &new, &touches, arena, &is_same);
    if (status)
        return status;
    if (!is_same)
        note_finding(finding, segment, "more of its arguments changed than strings",
                     (weir_span){"", 0});
    return check_strings(segment, &old, &touches, arena, finding);
}

weir_status wr_arguments_check(const struct wr_plan *plan, const struct wr_change *change,
                               struct wr_arena *arena, struct wr_finding *finding)
{
    const struct wr_json *doc = plan->transcript->doc;
    wr_json_id payload = plan->transcript->segments[change->segment].payload;
    bool is_text = wr_json_kind(doc, payload) == WR_JSON_STRING;

    *finding = (struct wr_finding){.segment = WR_SEGMENT_NONE};
    for (uint32_t i = 0; i < change->arguments_count; i++) {
        weir_span before = wr_json_text(doc, arena, change->arguments[i].node);
        if (!before.ptr)
            return wr_arena_status(arena);
        if (is_text)
            return check_text(change->segment, before, change->arguments[i].text, arena, finding);
        check_string(change->segment, before, change->arguments[i].text, finding);
    }
    return WEIR_OK;
}
