/* `weir diff`: what changed between two requests, segment by segment.
 *
 * The two lists are walked side by side. Where they differ, the nearest equal pair ahead decides
 * which side has something extra; if there is none nearby, the segment was edited, or dropped if
 * its place is another. The lines that both texts of a change begin and end with are not shown.
 */
#include "cli/open.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"

struct diff_options {
    const char *dialect;
    bool as_json, shows_all;
};

#define VALUES struct diff_options

static const struct wr_option options[] = {
    {"full", WR_FLAG(shows_all), "all lines of edited texts, not just the first of each change"},
    {"json", WR_FLAG(as_json),
     "{\"same\",\"changes\":[{\"change\",\"before\",\"after\",\"kind\",\"bytes_before\",...}]}"},
    WR_ROW_DIALECT(dialect),
};

enum change { SAME, EDITED, DROPPED, INSERTED };

static const char *const change_names[] = {"same", "edited", "dropped", "inserted"};

/* How far ahead a segment is sought before it is taken for gone, and lines shown of one change. */
enum { LOOK_AHEAD_COUNT = 4096, LINES_SHOWN = 8 };

/* What stands before a line of a text, and its end where it is cut; and what is shown of one where
 * nobody says how wide it may be. */
enum { SIGN_COLUMNS = 10, CUT_COLUMNS = 1, TEXT_COLUMNS = 100 };

enum { NAME_COLUMNS = 8 }; /* of a change */

struct side {
    struct wr_buf body;
    struct weir_request *request;
    uint32_t count;
};

struct diff {
    struct side before, after;
    struct wr_buf out;
    struct wr_json_writer json;
    bool as_json, full, colours;
    uint32_t counts[4];
};

static struct weir_segment segment_of(const struct side *side, uint32_t i)
{
    struct weir_segment s;
    if (weir_request_segment(side->request, i, &s))
        s = (struct weir_segment){0};
    return s;
}

static weir_span bytes_of(const struct side *side, const struct weir_segment *s)
{
    return (weir_span){side->body.bytes + s->span.start, s->span.end - s->span.start};
}

static bool same_slot(const struct weir_segment *a, const struct weir_segment *b)
{
    return a->kind == b->kind && a->role == b->role && wr_span_eq(a->call_id, b->call_id) &&
           wr_span_eq(a->tool, b->tool);
}

static bool is_same_at(const struct diff *d, uint32_t i, uint32_t j)
{
    struct weir_segment a = segment_of(&d->before, i), b = segment_of(&d->after, j);
    return same_slot(&a, &b) && wr_span_eq(bytes_of(&d->before, &a), bytes_of(&d->after, &b));
}

/* What happened at (i, j): the nearest equal pair decides whether one side has something extra. */
static enum change judge_pair(const struct diff *d, uint32_t i, uint32_t j)
{
    if (i == d->before.count)
        return INSERTED;
    if (j == d->after.count)
        return DROPPED;
    if (is_same_at(d, i, j))
        return SAME;
    struct weir_segment a = segment_of(&d->before, i), b = segment_of(&d->after, j);
    if (a.call_id.len && same_slot(&a, &b))
        return EDITED;
    for (uint32_t k = 1; k < LOOK_AHEAD_COUNT; k++) {
        if (i + k < d->before.count && is_same_at(d, i + k, j))
            return DROPPED;
        if (j + k < d->after.count && is_same_at(d, i, j + k))
            return INSERTED;
        if (i + k >= d->before.count && j + k >= d->after.count)
            break;
    }
    return same_slot(&a, &b) ? EDITED : DROPPED;
}

static void print_lines(struct diff *d, const char *colour, char sign, weir_span text)
{
    uint32_t width = wr_cli_columns_told();
    size_t shown = 0, most = d->full               ? SIZE_MAX
                             : width == UINT32_MAX ? TEXT_COLUMNS
                                                   : width - SIGN_COLUMNS - CUT_COLUMNS;
    weir_span line;
    while (wr_span_line(&text, &line)) {
        if (!d->full && shown++ == LINES_SHOWN) {
            wr_buf_printf(&d->out, "        %c … %zu bytes more (--full shows them)\n", sign,
                          line.len + text.len);
            return;
        }
        wr_buf_printf(&d->out, "%s        %c ", d->colours ? colour : "", sign);
        wr_text_excerpt(&d->out, line, most);
        wr_buf_text(&d->out, d->colours ? "\033[0m\n" : "\n");
    }
}

/* Leaves out the lines that both texts begin and end with. */
static void trim_common(weir_span *a, weir_span *b)
{
    for (;;) {
        weir_span rest_a = *a, rest_b = *b, line_a, line_b;
        if (!wr_span_line(&rest_a, &line_a) || !wr_span_line(&rest_b, &line_b) ||
            !wr_span_eq(line_a, line_b))
            break;
        *a = rest_a;
        *b = rest_b;
    }
    size_t common = 0, whole_lines = 0;
    while (common < a->len && common < b->len &&
           a->ptr[a->len - 1 - common] == b->ptr[b->len - 1 - common]) {
        common++;
        if (a->ptr[a->len - common] == '\n')
            whole_lines = common - 1;
    }
    a->len -= whole_lines;
    b->len -= whole_lines;
}

static void print_texts(struct diff *d, uint32_t i, uint32_t j, enum change change)
{
    weir_span a = {"", 0}, b = {"", 0};
    if (change != INSERTED && weir_request_text(d->before.request, i, &a))
        return;
    if (change != DROPPED && weir_request_text(d->after.request, j, &b))
        return;
    if (change == EDITED)
        trim_common(&a, &b);
    print_lines(d, "\033[31m", '-', a);
    print_lines(d, "\033[32m", '+', b);
}

static void print_change(struct diff *d, uint32_t i, uint32_t j, enum change change)
{
    struct weir_segment s =
        change == INSERTED ? segment_of(&d->after, j) : segment_of(&d->before, i);
    size_t before = change == INSERTED ? 0 : bytes_of(&d->before, &s).len, after = 0;
    if (change != DROPPED) {
        struct weir_segment b = segment_of(&d->after, j);
        after = bytes_of(&d->after, &b).len;
    }
    wr_buf_printf(&d->out, "%s%s%s%*s #%u %s %s", d->colours ? "\033[1m" : "", change_names[change],
                  d->colours ? "\033[0m" : "", (int)(NAME_COLUMNS - strlen(change_names[change])),
                  "", change == INSERTED ? j : i, weir_role_name(s.role), weir_kind_name(s.kind));
    if (s.tool.len) {
        wr_buf_byte(&d->out, ' ');
        wr_text_excerpt(&d->out, s.tool, 40);
    }
    wr_buf_printf(&d->out, ", turn %u: %s → %s bytes\n", s.turn, WR_GROUPED(before),
                  WR_GROUPED(after));
    print_texts(d, i, j, change);
}

static void write_number(struct wr_json_writer *w, const char *key, bool is_known, uint64_t number)
{
    wr_json_write_key(w, key);
    if (is_known)
        wr_json_write_i64(w, (int64_t)number);
    else
        wr_json_write_null(w);
}

static void write_change(struct diff *d, uint32_t i, uint32_t j, enum change change)
{
    struct wr_json_writer *w = &d->json;
    bool has_before = change != INSERTED, has_after = change != DROPPED;
    struct weir_segment a = {0}, b = {0};
    if (has_before)
        a = segment_of(&d->before, i);
    if (has_after)
        b = segment_of(&d->after, j);
    const struct weir_segment *s = has_before ? &a : &b;

    wr_json_write_object(w);
    wr_json_member_word(w, "change", change_names[change]);
    write_number(w, "before", has_before, i);
    write_number(w, "after", has_after, j);
    wr_json_member_word(w, "kind", weir_kind_name(s->kind));
    wr_json_member_text(w, "call_id", s->call_id);
    write_number(w, "bytes_before", has_before, a.span.end - a.span.start);
    write_number(w, "bytes_after", has_after, b.span.end - b.span.start);
    wr_json_write_object_end(w);
}

static void walk_segments(struct diff *d)
{
    uint32_t i = 0, j = 0;
    while (i < d->before.count || j < d->after.count) {
        enum change change = judge_pair(d, i, j);
        d->counts[change]++;
        if (change != SAME && d->as_json)
            write_change(d, i, j, change);
        else if (change != SAME)
            print_change(d, i, j, change);
        i += change != INSERTED;
        j += change != DROPPED;
    }
}

static void write_diff(struct diff *d)
{
    if (!d->as_json) {
        walk_segments(d);
        wr_buf_printf(&d->out, "%u same, %u edited, %u dropped, %u inserted; %s → %s bytes%s\n",
                      d->counts[SAME], d->counts[EDITED], d->counts[DROPPED], d->counts[INSERTED],
                      WR_GROUPED(d->before.body.len), WR_GROUPED(d->after.body.len),
                      wr_span_eq(wr_buf_view(&d->before.body), wr_buf_view(&d->after.body))
                          ? "; the same bytes"
                          : "");
        return;
    }
    wr_json_write_init(&d->json, &d->out);
    wr_json_write_object(&d->json);
    wr_json_member_bool(&d->json, "identical",
                        wr_span_eq(wr_buf_view(&d->before.body), wr_buf_view(&d->after.body)));
    wr_json_member_array(&d->json, "changes");
    walk_segments(d);
    wr_json_write_array_end(&d->json);
    for (int c = SAME; c <= INSERTED; c++)
        write_number(&d->json, change_names[c], true, d->counts[c]);
    write_number(&d->json, "bytes_before", true, d->before.body.len);
    write_number(&d->json, "bytes_after", true, d->after.body.len);
    wr_json_write_object_end(&d->json);
    wr_json_write_newline(&d->json);
}

static bool open_side(struct side *side, const char *path, const char *dialect)
{
    side->request = wr_cli_request(path, dialect, &side->body);
    side->count = side->request ? weir_request_segments(side->request) : 0;
    return side->request != NULL;
}

static void close_side(struct side *side)
{
    weir_request_free(side->request);
    wr_buf_release(&side->body);
}

static int run_diff(void *values, const struct wr_words *files)
{
    const struct diff_options *o = values;
    struct diff d = {.as_json = o->as_json, .full = o->shows_all, .colours = wr_cli_colours()};
    int code = WR_EXIT_USAGE;

    wr_buf_init(&d.out, WR_OUTPUT_BYTES_MAX);
    if (open_side(&d.before, files->items[0], o->dialect) &&
        open_side(&d.after, files->items[1], o->dialect)) {
        write_diff(&d);
        code = o->as_json ? wr_cli_end(&d.out, WR_EXIT_OK) : wr_cli_end_fitted(&d.out, WR_EXIT_OK);
    }
    close_side(&d.before);
    close_side(&d.after);
    wr_buf_release(&d.out);
    return code;
}

const struct wr_command wr_cmd_diff = {
    .name = "diff",
    .purpose = "what changed between two requests, segment by segment",
    .usage = "[OPTIONS] BEFORE AFTER",
    .about = "Compares two requests segment by segment: what is the same, edited, dropped or new. "
             "Either file may be - for stdin.",
    WR_OPTIONS(options),
    .words_min = 2,
    .words_max = 2,
    .wants = "name two files, BEFORE and AFTER",
    .words = WR_WORDS_FILE,
    .example = "weir project --drop 4 < request.json | weir diff request.json -",
    .run = run_diff,
};
