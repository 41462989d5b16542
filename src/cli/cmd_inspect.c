/* `weir inspect`: what a request consists of, as a table or as JSON (face/inspection.h).
 *
 * Tokens are counted as the model does that the request names, or the one of --model.
 */
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/open.h"
#include "engine/request.h"
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

enum { BAR_COLUMNS = 24 };

/* ---- the table ---- */

static const char *colour_of(weir_class class_, bool colours)
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
    return colours ? by_class[class_] : "";
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
        wr_text_excerpt(out, h->path, 48);
        if (h->start_line > 1 || h->end_line > 0)
            print_lines(out, h);
        return;
    }
    if (h->command.len || h->query.len) {
        wr_text_excerpt(out, h->command.len ? h->command : h->query, 48);
        return;
    }
    if (!weir_request_text(in->request, s->index, &text))
        wr_text_excerpt(out, text, 48);
}

static void print_row(struct wr_buf *out, struct wr_inspection *in, const struct weir_segment *s,
                      bool colours)
{
    char loop[16] = "-";
    if (s->loop != WEIR_NONE)
        (void)snprintf(loop, sizeof(loop), "%u", s->loop);
    wr_buf_printf(out, "%s%5u %5u %4s  %-9s %-11s %-22s %9s  ", colour_of(s->class_, colours),
                  s->index, s->turn, loop, weir_role_name(s->role), weir_kind_name(s->kind),
                  weir_class_name(s->class_), WR_GROUPED(in->measured.segment_tokens[s->index]));
    print_what(out, in, s);
    wr_buf_text(out, colours ? "\033[0m\n" : "\n");
}

static void print_share(struct wr_buf *out, const char *name, const struct wr_tally *tally,
                        uint64_t tokens_all)
{
    uint64_t share = tokens_all ? tally->tokens * BAR_COLUMNS / tokens_all : 0;
    wr_buf_printf(out, "  %-22s %9s tokens %5.1f %%  %6s segments  ", name,
                  WR_GROUPED(tally->tokens),
                  tokens_all ? 100.0 * (double)tally->tokens / (double)tokens_all : 0.0,
                  WR_GROUPED(tally->segments));
    for (uint64_t i = 0; i < share; i++)
        wr_buf_text(out, "█");
    wr_buf_byte(out, '\n');
}

static void print_table(struct wr_buf *out, struct wr_inspection *in)
{
    bool colours = wr_cli_colours();
    weir_span model = weir_request_model(in->request);

    wr_buf_printf(
        out, "%s request%s · model %.*s · %u turns · %u loops · %u segments · %s bytes\n\n",
        weir_dialect_name(weir_request_dialect(in->request)),
        weir_request_is_delta(in->request) ? " (delta: the server holds the history)" : "",
        model.len ? (int)model.len : 1, model.len ? model.ptr : "?",
        weir_request_turns(in->request), weir_request_loops(in->request),
        weir_request_segments(in->request), WR_GROUPED(in->body_bytes));
    wr_buf_printf(out, "%5s %5s %4s  %-9s %-11s %-22s %9s  %s\n", "#", "turn", "loop", "role",
                  "kind", "class", "tokens", "what");
    for (uint32_t i = 0; i < weir_request_segments(in->request); i++) {
        struct weir_segment s;
        if (!weir_request_segment(in->request, i, &s))
            print_row(out, in, &s, colours);
    }
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
    } else {
        print_table(&out, &in);
    }
    return wr_cli_end(&out, WR_EXIT_OK);
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
