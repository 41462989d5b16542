/* `weir inspect`: what a request consists of, as a table or as JSON (face/inspection.h).
 *
 * Tokens are counted as the model does that the request names, or the one of --model.
 */
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/open.h"
#include "engine/engine.h"
#include "face/inspection.h"

struct inspect_options {
    const char *dialect, *model;
    bool as_json;
};

#define VALUES struct inspect_options

static const struct wr_option options[] = {
    {"json", WR_FLAG(as_json), "one JSON object; `span` and `parts` are byte ranges of the file"},
    {"model", WR_TEXT("M", model), "count tokens as this model does, whatever the request names",
     .list = wr_list_models},
    WR_ROW_DIALECT(dialect),
};

/* A line of sums without its bar, the room that its name has in it and has at least, and what is
 * shown of a text where nobody says how wide a line may be. */
enum {
    BAR_COLUMNS = 24,
    SHARE_COLUMNS = 68,
    NAME_COLUMNS = 22,
    NAME_COLUMNS_MIN = 14,
    TEXT_COLUMNS = 48
};

static const struct wr_table_column columns[] = {
    {"#", .is_right = true},
    {"turn", .is_right = true, .rank = 3},
    {"loop", .is_right = true, .rank = 4},
    {"role", .rank = 2},
    {"kind", .rank = 0},
    {"class", .rank = 1, .cut_min = 16},
    {"tokens", .is_right = true},
    {"what", .cut_min = 24},
};

/* ---- the table ---- */

static const char *colour_of(weir_class class_)
{
    static const char *const by_class[WR_CLASSES_COUNT] = {
        [WEIR_CLASS_PROTOCOL_EXACT] = "\033[2m",
        [WEIR_CLASS_CONTINUATION_EXACT] = "\033[2m",
        [WEIR_CLASS_CRITICAL_EXACT] = "\033[1m",
        [WEIR_CLASS_REHYDRATABLE_EXACT] = "\033[36m",
        [WEIR_CLASS_LOSSLESS_TRANSFORMABLE] = "\033[34m",
        [WEIR_CLASS_CONDENSABLE] = "\033[32m",
        [WEIR_CLASS_DROPPABLE_DUPLICATE] = "\033[33m",
    };
    return by_class[class_];
}

/* ":10-40", ":10-" to the end, ":-20" for the last twenty. */
static void print_lines(struct wr_buf *out, const struct weir_handles *h)
{
    wr_buf_printf(out, ":%lld", (long long)h->start_line);
    if (h->end_line > 0)
        wr_buf_printf(out, "-%lld", (long long)h->end_line);
    else if (h->start_line > 0)
        wr_buf_byte(out, '-');
}

static void print_what(struct wr_buf *out, struct wr_inspection *in, const struct weir_segment *s)
{
    const struct weir_handles *h = &s->handles;
    size_t most = wr_cli_columns_told() == UINT32_MAX ? TEXT_COLUMNS : wr_cli_columns();
    weir_span text = {"", 0};

    if (s->tool.len) {
        wr_text_excerpt(out, s->tool, 24);
        wr_buf_byte(out, ' ');
    }
    if (s->kind == WEIR_KIND_TOOL_RESULT && h->has_exit_code)
        wr_buf_printf(out, "exit %d ", h->exit_code);
    if (!strcmp(s->stale, "yes"))
        wr_buf_text(out, "stale ");
    if (h->path.len) {
        wr_text_excerpt(out, h->path, most);
        if (h->start_line > 1 || h->end_line > 0)
            print_lines(out, h);
        return;
    }
    if (h->command.len || h->query.len) {
        wr_text_excerpt(out, h->command.len ? h->command : h->query, most);
        return;
    }
    if (!weir_request_text(in->request, s->index, &text))
        wr_text_excerpt(out, text, most);
}

static void print_row(struct wr_table *table, struct wr_inspection *in,
                      const struct weir_segment *s, bool colours)
{
    struct wr_buf what;

    table->colour = colours ? colour_of(s->class_) : NULL;
    wr_table_format(table, "%u", s->index);
    wr_table_format(table, "%u", s->turn);
    if (s->loop != WEIR_NONE)
        wr_table_format(table, "%u", s->loop);
    else
        wr_table_cell(table, WR_LIT("-"));
    wr_table_cell(table, wr_span_of(weir_role_name(s->role)));
    wr_table_cell(table, wr_span_of(weir_kind_name(s->kind)));
    wr_table_cell(table, wr_span_of(weir_class_name(s->class_)));
    wr_table_format(table, "%s", WR_GROUPED(in->measured.segment_tokens[s->index]));
    wr_buf_init(&what, WR_OUTPUT_BYTES_MAX);
    print_what(&what, in, s);
    wr_table_cell(table, wr_buf_view(&what));
    wr_buf_release(&what);
}

static void print_segments(struct wr_buf *out, struct wr_inspection *in)
{
    struct wr_table table;
    struct wr_arena arena;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_table_init(&table, columns, WR_COUNT_OF(columns), &arena);
    for (uint32_t i = 0; i < weir_request_segments(in->request); i++) {
        struct weir_segment s;
        if (!weir_request_segment(in->request, i, &s))
            print_row(&table, in, &s, wr_cli_colours());
    }
    wr_table_print(&table, wr_cli_columns_told(), out);
    wr_arena_release(&arena);
}

/* The bar takes the room that the figures leave, and the name gives way to them. */
static void print_share(struct wr_buf *out, const char *name, const struct wr_tally *tally,
                        uint64_t tokens_all)
{
    uint32_t width = wr_cli_columns_told();
    uint64_t bar = width < SHARE_COLUMNS                 ? 0
                   : width < SHARE_COLUMNS + BAR_COLUMNS ? width - SHARE_COLUMNS
                                                         : BAR_COLUMNS,
             share = tokens_all ? tally->tokens * bar / tokens_all : 0;
    weir_span shown = wr_span_of(name);
    bool is_cut = width < SHARE_COLUMNS && shown.len > NAME_COLUMNS_MIN + 2;

    if (is_cut)
        shown.len = NAME_COLUMNS_MIN;
    wr_buf_printf(out, "  %.*s%s%*s %9s tokens %5.1f %%  %6s segments", (int)shown.len, shown.ptr,
                  is_cut ? ".." : "",
                  (width < SHARE_COLUMNS ? NAME_COLUMNS_MIN + 2 : NAME_COLUMNS) - (int)shown.len -
                      (is_cut ? 2 : 0),
                  "", WR_GROUPED(tally->tokens),
                  tokens_all ? 100.0 * (double)tally->tokens / (double)tokens_all : 0.0,
                  WR_GROUPED(tally->segments));
    wr_buf_text(out, width < SHARE_COLUMNS ? "" : "  ");
    for (uint64_t i = 0; i < share; i++)
        wr_buf_text(out, "█");
    wr_buf_byte(out, '\n');
}

static void print_table(struct wr_buf *out, struct wr_inspection *in)
{
    weir_span model = weir_request_model(in->request);

    wr_buf_printf(
        out, "%s request%s · model %.*s · %u turns · %u loops · %u segments · %s bytes\n\n",
        weir_dialect_name(weir_request_dialect(in->request)),
        weir_request_is_delta(in->request) ? " (delta: the server holds the history)" : "",
        model.len ? (int)model.len : 1, model.len ? model.ptr : "?",
        weir_request_turns(in->request), weir_request_loops(in->request),
        weir_request_segments(in->request), WR_GROUPED(in->body_bytes));
    print_segments(out, in);
    wr_buf_printf(out, "\nby kind (%s tokens, %s, confidence %s)\n", WR_GROUPED(in->all.tokens),
                  in->method, in->confidence);
    for (int k = 0; k < WR_KINDS_COUNT; k++)
        if (in->by_kind[k].segments)
            print_share(out, weir_kind_name((weir_kind)k), &in->by_kind[k], in->all.tokens);
    wr_buf_text(out, "by class\n");
    for (int c = 0; c < WR_CLASSES_COUNT; c++)
        if (in->by_class[c].segments)
            print_share(out, weir_class_name((weir_class)c), &in->by_class[c], in->all.tokens);
}

static int show_request(struct weir_request *request, size_t body_bytes, struct wr_meter *meter,
                        bool as_json)
{
    struct wr_inspection in;
    struct wr_json_writer w;
    struct wr_buf out;

    if (wr_inspection_make(&in, request, meter, body_bytes))
        return wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (as_json) {
        wr_json_write_init(&w, &out);
        wr_json_write_object(&w);
        wr_inspection_write(&w, &in);
        wr_json_write_object_end(&w);
        wr_json_write_newline(&w);
        return wr_cli_end(&out, WR_EXIT_OK);
    }
    print_table(&out, &in);
    return wr_cli_end_fitted(&out, WR_EXIT_OK);
}

static int run_inspect(void *values, const struct wr_words *files)
{
    const struct inspect_options *o = values;
    struct wr_buf body = {0};
    struct wr_ruler ruler = {0};
    int code = WR_EXIT_USAGE;
    struct weir_request *request = wr_cli_request(files->items[0], o->dialect, &body);

    if (request &&
        wr_ruler_open(&ruler, o->model ? wr_span_of(o->model) : weir_request_model(request),
                      o->model != NULL))
        code = show_request(request, body.len, ruler.meter, o->as_json);
    wr_ruler_close(&ruler);
    weir_request_free(request);
    wr_buf_release(&body);
    return code;
}

const struct wr_command wr_cmd_inspect = {
    .name = "inspect",
    .purpose = "what a request consists of: turns, segments, classes, handles",
    .usage = "[OPTIONS] FILE|-",
    .about = "Shows what a request consists of: its turns and loops, and every segment with its "
             "role, kind, class (what may be done with it, and why), tokens, tool and handles; "
             "then totals by category.",
    WR_OPTIONS(options),
    .words_min = 1,
    .words_max = 1,
    .wants = "name one file, or - for stdin",
    .words = WR_WORDS_FILE,
    .example = "weir inspect request.json\nweir inspect --json - < request.json | jq '.totals'",
    .run = run_inspect,
};
