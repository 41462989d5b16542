/* `weir why`: what a projection changed, and for which reason, from its report.
 *
 * For a person it is sentences (traffic/sentence.h, the page says the same), summaries and the
 * largest changes first; --all lists every segment with its class, stage and sum.
 *
 * The report is a file, or the newest one that the store has of a session. A name that begins with
 * a slash or a dot, or ends in .json, is a path: if there is no such file that is an error, and no
 * session is looked for. Of a session the store also has a plan, with names, ages and prices.
 */
#include "cli/open.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "json/json.h"
#include "ledger/context.h"
#include "ledger/steer.h"
#include "proxy/quality_watch.h"
#include "traffic/sentence.h"

struct why_options {
    const char *store, *tenant;
    bool shows_all;
};

enum { SENTENCES_MAX = 12, PATH_BYTES_MAX = 48 };

struct asked {
    bool shows_all, has_segment;
    uint64_t segment;
    /* What the session's last request left of itself (engine/steer.h): names, ages, prices. Of a
     * report in a file there is none. */
    struct wr_steering steering;
};

#define VALUES struct why_options

static const struct wr_option options[] = {
    {"all", WR_FLAG(shows_all),
     "every segment, with its class, the stage and both sides of the sum"},
    WR_ROW_STORE(store),
    WR_ROW_TENANT(tenant),
};

enum {
    I,
    FORM,
    CLASS,
    KIND,
    HANDLE,
    BEFORE,
    AFTER,
    REASON,
    ROLLED_BACK,
    VALUE,
    IN,
    WAY,
    FIELDS_COUNT
};

static const char *const field_names[FIELDS_COUNT] = {
    "i",      "form",        "class", "kind", "handle", "tokens_before", "tokens_after",
    "reason", "rolled_back", "value", "in",   "way",
};

static weir_span inner_text(const struct wr_json *doc, wr_json_id id)
{
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_inner(doc, id) : (weir_span){"-", 1};
}

static int64_t number_of(const struct wr_json *doc, wr_json_id id)
{
    int64_t number = 0;
    return wr_json_i64(doc, id, &number) ? number : 0;
}

/* Why it was worth it: both sides of the sum, in tokens of plain input. */
static void print_value(const struct wr_json *doc, wr_json_id value, struct wr_buf *out)
{
    static const char *const names[] = {
        "saves_tokens",           "costs_tokens", "ever_miss_basis_points",
        "next_miss_basis_points", "turns_left",   "utility_points"};
    wr_json_id v[6];
    if (!wr_json_is(doc, value, WR_JSON_OBJECT))
        return;
    (void)wr_json_pick(doc, value, names, 6, v);
    int64_t ever = number_of(doc, v[2]), next = number_of(doc, v[3]);
    if (number_of(doc, v[0]))
        wr_buf_printf(
            out,
            "       saves %s tokens of plain input over %lld more turns; it is asked for again "
            "in %lld.%02lld %% of cases, and %s tokens are set aside for that (%lld.%02lld %% at "
            "once)\n",
            WR_GROUPED((uint64_t)number_of(doc, v[0])), (long long)number_of(doc, v[4]),
            (long long)ever / 100, (long long)ever % 100,
            WR_GROUPED((uint64_t)number_of(doc, v[1])), (long long)next / 100,
            (long long)next % 100);
    if (number_of(doc, v[5]))
        wr_buf_printf(out, "       utility %lld points: the least useful give way first\n",
                      (long long)number_of(doc, v[5]));
}

/* Where no tool of the request brings it back. */
static const char *way_words(const struct wr_json *doc, wr_json_id way)
{
    return wr_json_text_is(doc, way, "operator") ? ", way: operator" : "";
}

/* What a summary holds was not dropped: the line says where it is. */
static void print_edit(const struct wr_json *doc, const wr_json_id f[FIELDS_COUNT],
                       struct wr_buf *out)
{
    weir_span form = inner_text(doc, f[FORM]), kind = inner_text(doc, f[KIND]),
              handle = inner_text(doc, f[HANDLE]);
    weir_span reason = inner_text(doc, f[REASON]), class_ = inner_text(doc, f[CLASS]);
    bool is_back = wr_json_is(doc, f[ROLLED_BACK], WR_JSON_TRUE);

    if (wr_json_is(doc, f[IN], WR_JSON_STRING)) {
        form = WR_LIT("in summary");
        handle = inner_text(doc, f[IN]);
    }
    wr_buf_printf(out, "#%-5lld %-11.*s %-22.*s %s%-10.*s %8s → %-8s %-24.*s %s%.*s%s\n",
                  (long long)number_of(doc, f[I]), (int)kind.len, kind.ptr, (int)class_.len,
                  class_.ptr, is_back ? "not " : "", (int)form.len, form.ptr,
                  WR_GROUPED((uint64_t)number_of(doc, f[BEFORE])),
                  WR_GROUPED((uint64_t)number_of(doc, f[AFTER])), (int)handle.len, handle.ptr,
                  is_back ? "because " : "by ", (int)reason.len, reason.ptr,
                  way_words(doc, f[WAY]));
    print_value(doc, f[VALUE], out);
}

/* ---- what was put in ---- */

/* A message of our own: a summary of segments that left, or an original that came back. */
static void print_insert(const struct wr_json *doc, wr_json_id insert, struct wr_buf *out)
{
    static const char *const names[] = {"before", "role",     "stage",         "handle",
                                        "tokens", "segments", "tokens_before", "way"};
    wr_json_id v[8];

    (void)wr_json_pick(doc, insert, names, 8, v);
    weir_span role = inner_text(doc, v[1]), stage = inner_text(doc, v[2]),
              handle = inner_text(doc, v[3]);
    int64_t segments = number_of(doc, v[5]);
    wr_buf_printf(out, "put in before #%lld, as a message of role %.*s, by %.*s: ",
                  (long long)number_of(doc, v[0]), (int)role.len, role.ptr, (int)stage.len,
                  stage.ptr);
    if (segments)
        wr_buf_printf(
            out,
            "a summary of %lld segments, %s → %s tokens; `weir recall %.*s` shows them whole%s\n",
            (long long)segments, WR_GROUPED((uint64_t)number_of(doc, v[6])),
            WR_GROUPED((uint64_t)number_of(doc, v[4])), (int)handle.len, handle.ptr,
            way_words(doc, v[7]));
    else
        wr_buf_printf(out, "the original of %.*s, %s tokens\n", (int)handle.len, handle.ptr,
                      WR_GROUPED((uint64_t)number_of(doc, v[4])));
}

/* All of them, or the one whose handle is `handle`. True: there was one. */
static bool print_inserts(const struct wr_json *doc, const weir_span *handle, struct wr_buf *out)
{
    wr_json_id inserts = wr_json_find(doc, 0, "inserts");
    bool found = false;

    if (!wr_json_is(doc, inserts, WR_JSON_ARRAY))
        return false;
    WR_JSON_EACH(i, doc, inserts) {
        weir_span name = inner_text(doc, wr_json_find(doc, i, "handle"));
        if (handle && !wr_span_eq(name, *handle))
            continue;
        print_insert(doc, i, out);
        found = true;
    }
    return found;
}

static void print_head(const struct wr_json *doc, struct wr_buf *out)
{
    static const char *const names[] = {"policy",
                                        "tokens_before",
                                        "tokens_after",
                                        "step",
                                        "pressure_band",
                                        "held_back",
                                        "model_context_window_tokens",
                                        "over_window",
                                        "way"};
    wr_json_id v[9];

    (void)wr_json_pick(doc, 0, names, 9, v);
    weir_span policy = inner_text(doc, v[0]), band = inner_text(doc, v[4]);
    wr_buf_printf(out, "policy %.*s: %s → %s tokens of a window of %s, pressure %.*s\n",
                  (int)policy.len, policy.ptr, WR_GROUPED((uint64_t)number_of(doc, v[1])),
                  WR_GROUPED((uint64_t)number_of(doc, v[2])),
                  WR_GROUPED((uint64_t)number_of(doc, v[6])), (int)band.len, band.ptr);
    if (wr_json_is(doc, v[3], WR_JSON_OBJECT)) {
        weir_span reason = inner_text(doc, wr_json_find(doc, v[3], "reason"));
        wr_buf_printf(out, "a step was taken (%.*s): what was sent before is written again\n",
                      (int)reason.len, reason.ptr);
    }
    if (wr_json_is(doc, v[5], WR_JSON_STRING)) {
        weir_span held = inner_text(doc, v[5]);
        wr_buf_printf(out, "held back: %.*s\n", (int)held.len, held.ptr);
    }
    if (wr_json_is(doc, v[7], WR_JSON_STRING)) {
        weir_span why = inner_text(doc, v[7]);
        wr_buf_printf(out, "over the window: %.*s\n", (int)why.len, why.ptr);
    }
    if (wr_json_text_is(doc, v[8], "operator"))
        wr_buf_text(
            out,
            "way: operator: it would have been refused for its length, and no tool of the request "
            "brings back what was taken out; `weir recall HANDLE` does\n");
}

/* What the agent does not see: the tool that the proxy has added, and what the model got by it. */
static void print_own_recall(const struct wr_json *doc, struct wr_buf *out)
{
    static const char *const names[] = {"leg",   "recalls",  "misses",
                                        "bytes", "put_back", "left_out"};
    wr_json_id own = wr_json_find(doc, 0, "own_recall"), v[6];

    if (!wr_json_is(doc, own, WR_JSON_OBJECT))
        return;
    (void)wr_json_pick(doc, own, names, 6, v);
    wr_buf_printf(out,
                  "the proxy's own recall: its tool is offered, and the agent does not see it\n");
    if (number_of(doc, v[0]))
        wr_buf_printf(
            out,
            "  this request went on from a recall (leg %lld of one answer): %lld answered, %s "
            "bytes, %lld brought nothing back\n",
            (long long)number_of(doc, v[0]), (long long)number_of(doc, v[1]),
            WR_GROUPED((uint64_t)number_of(doc, v[3])), (long long)number_of(doc, v[2]));
    if (number_of(doc, v[4]) || number_of(doc, v[5]))
        wr_buf_printf(
            out,
            "  of earlier recalls %lld are in the prompt, put back where they were; %lld are out "
            "for good\n",
            (long long)number_of(doc, v[4]), (long long)number_of(doc, v[5]));
}

/* ---- in sentences ---- */

static weir_span word_of_kind(weir_span kind)
{
    if (wr_span_is(kind, "tool_result"))
        return WR_LIT("result");
    return wr_span_is(kind, "tool_call") ? WR_LIT("call") : kind;
}

static uint64_t count_of(const struct wr_json *doc, wr_json_id id)
{
    int64_t number = number_of(doc, id);
    return number > 0 ? (uint64_t)number : 0;
}

static struct wr_sentence sentence_of(const struct wr_json *doc, const wr_json_id f[FIELDS_COUNT])
{
    static const char *const names[] = {"saves_tokens", "costs_tokens", "ever_miss_basis_points",
                                        "turns_left"};
    struct wr_sentence s = {.form = inner_text(doc, f[FORM]),
                            .is_rolled_back = wr_json_is(doc, f[ROLLED_BACK], WR_JSON_TRUE),
                            .reason = inner_text(doc, f[REASON]),
                            .is_in_summary = wr_json_is(doc, f[IN], WR_JSON_STRING),
                            .is_operators = wr_json_text_is(doc, f[WAY], "operator"),
                            .tokens_before = count_of(doc, f[BEFORE]),
                            .tokens_after = count_of(doc, f[AFTER])};
    wr_json_id v[4];

    if (!wr_json_is(doc, f[VALUE], WR_JSON_OBJECT))
        return s;
    (void)wr_json_pick(doc, f[VALUE], names, 4, v);
    s.has_worth = true;
    s.saves_tokens = count_of(doc, v[0]);
    s.costs_tokens = count_of(doc, v[1]);
    s.ever_miss_bp = count_of(doc, v[2]);
    s.turns_left = count_of(doc, v[3]);
    return s;
}

static void put_paragraph(struct wr_buf *out, struct wr_buf *text, weir_span handle)
{
    bool has_colours = wr_cli_colours();
    struct wr_buf wrapped;

    wr_buf_init(&wrapped, WR_OUTPUT_BYTES_MAX);
    wr_text_wrap(&wrapped, wr_buf_view(text), wr_cli_columns() - 2, 2);
    size_t first = wr_span_find(wr_buf_view(&wrapped), WR_LIT("."), 0); /* ends the sentence */
    if (!has_colours || first == SIZE_MAX)
        first = 0;
    wr_buf_printf(out, "%s%.*s%s", first ? "\033[1m" : "", (int)first,
                  wrapped.len ? wrapped.bytes : "", first ? "\033[0m" : "");
    wr_buf_append(out, wr_span_from(wr_buf_view(&wrapped), first));
    wr_buf_byte(out, '\n');
    if (handle.len > 1)
        wr_buf_printf(out, "%s  whole again: weir recall %.*s%s\n", has_colours ? "\033[2m" : "",
                      (int)handle.len, handle.ptr, has_colours ? "\033[0m" : "");
    wr_buf_release(&wrapped);
    wr_buf_reset(text);
}

/* What the plan has of the piece whose handle this is; NONE: nothing. */
static wr_json_id piece_of(const struct wr_steering *s, weir_span handle)
{
    wr_json_id out = s->has_plan ? wr_json_find(&s->plan, 0, "out") : WR_JSON_NONE;

    if (out == WR_JSON_NONE || handle.len < 2 || !wr_json_is(&s->plan, out, WR_JSON_OBJECT))
        return WR_JSON_NONE;
    wr_json_id pieces = wr_json_find(&s->plan, out, "pieces");
    if (!wr_json_is(&s->plan, pieces, WR_JSON_ARRAY))
        return WR_JSON_NONE;
    WR_JSON_EACH(i, &s->plan, pieces)
        if (wr_span_eq(inner_text(&s->plan, wr_json_find(&s->plan, i, "handle")), handle))
            return i;
    return WR_JSON_NONE;
}

static weir_span text_of_piece(const struct wr_steering *s, wr_json_id piece, const char *name)
{
    wr_json_id id = piece == WR_JSON_NONE ? WR_JSON_NONE : wr_json_find(&s->plan, piece, name);

    return id != WR_JSON_NONE && wr_json_is(&s->plan, id, WR_JSON_STRING)
               ? wr_json_text(&s->plan, s->arena, id)
               : (weir_span){"", 0};
}

/* Which tool it is of, and of which file or command. */
static void put_name(const struct wr_steering *s, wr_json_id piece, struct wr_buf *text)
{
    weir_span tool = text_of_piece(s, piece, "tool"), path = text_of_piece(s, piece, "path"),
              end = wr_cli_end_of_path(path, PATH_BYTES_MAX),
              name = text_of_piece(s, piece, "name");

    wr_text_excerpt(text, tool, PATH_BYTES_MAX);
    wr_buf_text(text, end.len < path.len ? " …" : path.len || name.len ? " " : "");
    wr_text_excerpt(text, path.len ? end : name, 60);
}

/* How long nobody wanted it, and what it would cost if somebody did. */
static void put_age_and_price(const struct wr_steering *s, wr_json_id piece, struct wr_buf *text)
{
    int64_t answers, micro_usd;

    if (piece == WR_JSON_NONE)
        return;
    if (wr_json_i64(&s->plan, wr_json_find(&s->plan, piece, "unused_answers"), &answers)) {
        wr_buf_text(text,
                    text_of_piece(s, piece, "path").len ? " The file was last used " : " It came ");
        if (answers > 0)
            wr_buf_printf(text, "%s answer%s ago.", WR_GROUPED((uint64_t)answers),
                          answers == 1 ? "" : "s");
        else
            wr_buf_text(text, "with the last request.");
    }
    if (!wr_json_i64(&s->plan, wr_json_find(&s->plan, piece, "recall_micro_usd"), &micro_usd))
        return;
    wr_buf_text(text, " If it is wanted again, one recall costs ");
    wr_cli_put_money(text, micro_usd);
    wr_buf_byte(text, '.');
}

static void put_edit_sentence(const struct wr_json *doc, const wr_json_id f[FIELDS_COUNT],
                              const struct wr_steering *steering, struct wr_buf *text,
                              struct wr_buf *out)
{
    struct wr_sentence s = sentence_of(doc, f);
    weir_span kind = word_of_kind(inner_text(doc, f[KIND])), handle = inner_text(doc, f[HANDLE]);
    wr_json_id piece = s.is_rolled_back ? WR_JSON_NONE : piece_of(steering, handle);

    wr_buf_printf(text, "#%lld ", (long long)number_of(doc, f[I]));
    if (text_of_piece(steering, piece, "tool").len)
        put_name(steering, piece, text);
    else
        wr_buf_append(text, kind);
    wr_buf_printf(text, ", %s → %s tokens. ", WR_GROUPED(s.tokens_before),
                  WR_GROUPED(s.tokens_after));
    wr_sentence_deed(&s, text);
    put_age_and_price(steering, piece, text);
    wr_buf_byte(text, ' ');
    wr_sentence_sum(&s, text);
    put_paragraph(out, text, handle);
}

static bool put_summary_sentences(const struct wr_json *doc, const struct wr_steering *steering,
                                  struct wr_buf *text, struct wr_buf *out)
{
    static const char *const names[] = {"handle", "tokens", "segments", "tokens_before"};
    wr_json_id inserts = wr_json_find(doc, 0, "inserts"), v[4];
    bool found = false;

    if (!wr_json_is(doc, inserts, WR_JSON_ARRAY))
        return false;
    for (wr_json_id i = wr_json_first(doc, inserts); i != WR_JSON_NONE;
         i = wr_json_next(doc, inserts, i), found = true) {
        (void)wr_json_pick(doc, i, names, 4, v);
        if (count_of(doc, v[2]))
            wr_buf_printf(text, "Older work, %s parts of it, became a summary: %s → %s tokens.",
                          WR_GROUPED(count_of(doc, v[2])), WR_GROUPED(count_of(doc, v[3])),
                          WR_GROUPED(count_of(doc, v[1])));
        else
            wr_buf_printf(text, "An original came back into the prompt: %s tokens.",
                          WR_GROUPED(count_of(doc, v[1])));
        put_age_and_price(steering, piece_of(steering, inner_text(doc, v[0])), text);
        put_paragraph(out, text, inner_text(doc, v[0]));
    }
    return found;
}

struct change {
    wr_json_id edit;
    uint64_t tokens; /* that it takes out */
};

static int by_tokens(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->tokens != y->tokens)
        return x->tokens < y->tokens ? 1 : -1;
    return x->edit < y->edit ? -1 : x->edit > y->edit;
}

/* Those that no summary stands for, in `arena`; NULL: no memory. */
static struct change *list_changes(const struct wr_json *doc, wr_json_id edits,
                                   struct wr_arena *arena, size_t *count)
{
    struct change *changes = NULL;
    size_t cap = 0;

    *count = 0;
    WR_JSON_EACH(e, doc, edits) {
        wr_json_id f[FIELDS_COUNT];
        (void)wr_json_pick(doc, e, field_names, FIELDS_COUNT, f);
        if (wr_json_is(doc, f[IN], WR_JSON_STRING))
            continue;
        if (!WR_ARENA_ROOM(arena, changes, *count, cap, SENTENCES_MAX))
            return NULL;
        uint64_t before = count_of(doc, f[BEFORE]), after = count_of(doc, f[AFTER]);
        changes[(*count)++] =
            (struct change){.edit = e, .tokens = before > after ? before - after : 0};
    }
    return changes;
}

static void print_sentences(const struct wr_json *doc, wr_json_id edits, const char *path,
                            const struct wr_steering *steering, struct wr_arena *arena,
                            struct wr_buf *out)
{
    struct wr_buf text;
    size_t count;
    struct change *changes = list_changes(doc, edits, arena, &count);

    wr_buf_init(&text, WR_OUTPUT_BYTES_MAX);
    bool found = put_summary_sentences(doc, steering, &text, out) || count;
    if (changes)
        qsort(changes, count, sizeof(*changes), by_tokens);
    for (size_t i = 0; changes && i < count && i < SENTENCES_MAX; i++) {
        wr_json_id f[FIELDS_COUNT];
        (void)wr_json_pick(doc, changes[i].edit, field_names, FIELDS_COUNT, f);
        put_edit_sentence(doc, f, steering, &text, out);
    }
    if (count > SENTENCES_MAX)
        wr_buf_printf(out, "and %s smaller change%s\n", WR_GROUPED(count - SENTENCES_MAX),
                      count == SENTENCES_MAX + 1 ? "" : "s");
    if (found)
        wr_buf_printf(out, "`weir why %s --all` lists every part, with the sums\n", path);
    else
        wr_buf_text(out, "nothing was changed\n");
    wr_buf_release(&text);
}

static int print_list(const struct wr_json *doc, wr_json_id edits, const char *path,
                      bool has_segment, uint64_t segment, struct wr_buf *out)
{
    bool found = !has_segment && print_inserts(doc, NULL, out);

    WR_JSON_EACH(e, doc, edits) {
        wr_json_id fields[FIELDS_COUNT];
        (void)wr_json_pick(doc, e, field_names, FIELDS_COUNT, fields);
        if (has_segment && (uint64_t)number_of(doc, fields[I]) != segment)
            continue;
        print_edit(doc, fields, out);
        if (has_segment && wr_json_is(doc, fields[IN], WR_JSON_STRING)) {
            weir_span handle = inner_text(doc, fields[IN]);
            (void)print_inserts(doc, &handle, out);
        }
        found = true;
    }
    if (!found && has_segment)
        return wr_cli_fail("%s: nothing is said of segment %llu: it was not changed, or is not "
                           "there; `weir why` without a number lists what was",
                           path, (unsigned long long)segment);
    else if (!found)
        wr_buf_text(out, "nothing was changed\n");
    return WR_EXIT_OK;
}

static int print_report(const struct wr_json *doc, const char *path, const struct asked *asked,
                        struct wr_arena *arena)
{
    wr_json_id edits = wr_json_find(doc, 0, "edits");
    struct wr_buf out;

    if (!wr_json_is(doc, edits, WR_JSON_ARRAY))
        return wr_cli_fail("%s: no `edits` in it; give a file that `weir project --report` wrote",
                           path);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (!asked->has_segment) {
        print_head(doc, &out);
        print_own_recall(doc, &out);
    }
    if (!asked->shows_all && !asked->has_segment)
        print_sentences(doc, edits, path, &asked->steering, arena, &out);
    else if (print_list(doc, edits, path, asked->has_segment, asked->segment, &out)) {
        wr_buf_release(&out);
        return WR_EXIT_USAGE;
    }
    return wr_cli_end_fitted(&out, WR_EXIT_OK);
}

/* ---- where the report is ---- */

/* A path that is not there is a wrong path, not a session. Names of sessions may have a slash. */
static bool is_file(const char *name)
{
    return !strcmp(name, "-") || !access(name, F_OK) || *name == '/' || *name == '.' ||
           wr_span_ends(wr_span_of(name), WR_LIT(".json"));
}

/* ---- edits of what the model could not see ---- */

struct blind_edits {
    struct wr_arena *arena;
    struct wr_buf *out;
    const struct wr_steering *steering;
    uint64_t count;
};

static weir_status on_row(void *user, const struct wr_ledger_row *row)
{
    struct blind_edits *b = user;
    struct wr_json doc;

    if (wr_span_find(row->line, WR_LIT("\"blind_edit_at\""), 0) == SIZE_MAX ||
        wr_json_parse(&doc, b->arena, row->line, NULL, NULL))
        return WEIR_OK;
    wr_json_id id = wr_json_find(&doc, 0, "blind_edit_at");
    if (!wr_json_is(&doc, id, WR_JSON_STRING))
        return WEIR_OK;
    weir_span place = wr_json_inner(&doc, id), handle = {"", 0};
    size_t at = wr_span_find(place, WR_LIT(", wr_"), 0);
    if (at != SIZE_MAX)
        handle = wr_span_from(place, at + 2);
    weir_span path = text_of_piece(b->steering, piece_of(b->steering, handle), "path");
    wr_buf_text(b->out, "blind edit, ");
    wr_cli_put_ago(b->out, row->time_ms);
    wr_buf_text(b->out, " ago, ");
    wr_text_excerpt(b->out, place, WR_BLIND_PLACE_BYTES);
    if (path.len) {
        wr_buf_text(b->out, ", ");
        wr_text_excerpt(b->out, path, 80);
    }
    wr_buf_byte(b->out, '\n');
    if (handle.len) {
        wr_buf_text(b->out, "  keep it from now on: weir pin ");
        wr_text_excerpt(b->out, b->steering->session, 80);
        wr_buf_printf(b->out, " %.*s\n", (int)handle.len, handle.ptr);
    }
    b->count++;
    return WEIR_OK;
}

/* An edit tool said that the text to be replaced is not there, and what the model had last seen of
 * the file was not whole. */
static void print_blind_edits(struct wr_ledger *ledger, const struct wr_steering *steering)
{
    struct wr_ledger_filter filter = {.tenant = steering->tenant, .session = steering->session};
    struct wr_buf out;

    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    struct blind_edits b = {.arena = steering->arena, .out = &out, .steering = steering};
    if (!wr_ledger_each(ledger, &filter, on_row, &b, NULL) && b.count)
        (void)wr_cli_end_fitted(&out, WR_EXIT_OK);
    wr_buf_release(&out);
}

static bool read_session_report(struct wr_ledger *ledger, const char *name, const char *tenant,
                                struct wr_steering *steering, struct wr_buf *report)
{
    struct wr_ledger_session session;
    struct wr_ledger_row row;
    struct weir_err err = {0};

    if (wr_session_find(ledger, wr_span_of(tenant), wr_span_of(name), steering->arena, &session,
                        &err)) {
        wr_cli_fail("%s is no file, and as a session: %s", name, err.text);
        return false;
    }
    if (wr_ledger_report(ledger, session.tenant, session.session, &row, &err)) {
        wr_cli_fail("%s: %s", name, err.text);
        return false;
    }
    wr_buf_append(report, row.report);
    steering->tenant = session.tenant;
    steering->session = session.session;
    wr_steering_read_plan(ledger, steering);
    print_blind_edits(ledger, steering);
    return !wr_buf_status(report);
}

/* Appends the report in the file `name`; if there is no such file, that of the session of this name
 * (as wr_session_find() takes it). False: it was told on stderr. */
static bool read_report(const char *name, const struct why_options *o, struct wr_steering *steering,
                        struct wr_buf *report)
{
    if (is_file(name))
        return wr_cli_read(name, report);
    struct wr_ledger *ledger = wr_cli_ledger(o->store);
    if (!ledger)
        return false;
    wr_buf_init(report, WR_LEDGER_REPORT_BYTES_MAX);
    bool ok = read_session_report(ledger, name, o->tenant, steering, report);
    wr_ledger_close(ledger);
    return ok;
}

static int run_why(void *values, const struct wr_words *words)
{
    const struct why_options *o = values;
    struct asked asked = {.shows_all = o->shows_all, .has_segment = words->count == 2};
    struct wr_buf text = {0};
    struct wr_arena arena;
    struct wr_json doc;
    struct weir_err err = {0};
    int code = WR_EXIT_USAGE;

    if (asked.has_segment && !wr_span_u64(wr_span_of(words->items[1]), &asked.segment))
        return wr_cli_fail("a segment is a number, not '%s'", words->items[1]);
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    asked.steering.arena = &arena;
    if (read_report(words->items[0], values, &asked.steering, &text)) {
        if (wr_json_parse(&doc, &arena, wr_buf_view(&text), NULL, &err))
            wr_cli_fail_at(words->items[0], wr_buf_view(&text), &err,
                           "give a report of `weir project`");
        else
            code = print_report(&doc, words->items[0], &asked, &arena);
    }
    wr_arena_release(&arena);
    wr_buf_release(&text);
    return code;
}

const struct wr_command wr_cmd_why = {
    .name = "why",
    .purpose = "what was changed in a request or a session, and why",
    .usage = "[OPTIONS] REPORT|SESSION [SEGMENT]",
    .about =
        "Reads the report of `weir project --report FILE`, or what `weir serve` last changed "
        "in a session (its name, or how that begins: `weir sessions` lists them), and says "
        "what was changed and for which reason: in sentences, as a list (--all), or one segment.",
    WR_OPTIONS(options),
    .defaults = &(const struct why_options){.tenant = WR_CLI_TENANT},
    .words_min = 1,
    .words_max = 2,
    .wants = "name a session, or the file of a report",
    .words = WR_WORDS_FILE,
    .list = wr_list_sessions,
    .example = "weir project --policy tiered --report r.json < request.json > out.json\n"
               "weir why r.json",
    .run = run_why,
};
