#include "cli/cmd.h"

#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "cli/measure.h"
#include "engine/request.h"
#include "json/write.h"

static const char help[] =
    "usage: weir inspect FILE|- [--json] [--dialect chat|responses|messages] [--model M]\n"
    "\n"
    "Shows what a request consists of: its turns and loops, and every segment with its role, kind, "
    "class\n"
    "(what may be done with it, and why), tokens, tool and handles; then totals by category.\n"
    "\n"
    "  --json        one JSON object; `span` and `parts` are byte ranges of the file\n"
    "  --model M     count tokens as this model does, whatever the request names\n"
    "  --dialect D   do not guess the API\n"
    "\n"
    "example: weir inspect request.json\n"
    "         weir inspect --json - < request.json | jq '.totals'\n";

struct tally {
    uint64_t segments, bytes, tokens;
};

enum {
    KINDS_COUNT = WEIR_KIND_OTHER + 1,
    CLASSES_COUNT = WEIR_CLASS_DROPPABLE_DUPLICATE + 1,
    BAR_COLUMNS = 24
};

struct inspection {
    struct weir_request *request;
    const struct wr_measure *measured;
    const char *method, *confidence;
    weir_span body;
    struct tally all, by_kind[KINDS_COUNT], by_class[CLASSES_COUNT];
};

static void add(struct tally *tally, uint64_t bytes, uint64_t tokens)
{
    tally->segments++;
    tally->bytes += bytes;
    tally->tokens += tokens;
}

static void view_of(const struct inspection *in, uint32_t i, struct weir_segment *view)
{
    if (weir_request_segment(in->request, i, view))
        *view = (struct weir_segment){0};
}

static void make_totals(struct inspection *in)
{
    for (uint32_t i = 0; i < weir_request_segments(in->request); i++) {
        struct weir_segment s;
        view_of(in, i, &s);
        uint64_t bytes = s.span.end - s.span.start;
        add(&in->all, bytes, in->measured->segment_tokens[i]);
        add(&in->by_kind[s.kind], bytes, in->measured->segment_tokens[i]);
        add(&in->by_class[s.class_], bytes, in->measured->segment_tokens[i]);
    }
}

/* ---- JSON ---- */

static void write_text(struct wr_json_writer *w, const char *key, weir_span text)
{
    if (!text.len)
        return;
    wr_json_write_key(w, key);
    wr_json_write_text(w, text);
}

static void write_text_or_null(struct wr_json_writer *w, const char *key, weir_span text)
{
    wr_json_write_key(w, key);
    if (text.len)
        wr_json_write_text(w, text);
    else
        wr_json_write_null(w);
}

static void write_known(struct wr_json_writer *w, const char *key, int64_t number, int64_t unknown)
{
    if (number == unknown)
        return;
    wr_json_write_key(w, key);
    wr_json_write_i64(w, number);
}

static void write_index(struct wr_json_writer *w, const char *key, uint32_t index)
{
    wr_json_write_key(w, key);
    if (index == WEIR_NONE)
        wr_json_write_null(w);
    else
        wr_json_write_i64(w, index);
}

static void write_range(struct wr_json_writer *w, weir_range range)
{
    wr_json_write_array(w);
    wr_json_write_i64(w, range.start);
    wr_json_write_i64(w, range.end);
    wr_json_write_array_end(w);
}

static void write_handles(struct wr_json_writer *w, const struct weir_handles *h)
{
    wr_json_write_key(w, "handles");
    wr_json_write_object(w);
    if (h->effect)
        write_text(w, "effect", wr_span_of(h->effect));
    write_text(w, "path", h->path);
    write_known(w, "start_line", h->start_line, 0);
    write_known(w, "end_line", h->end_line, 0);
    write_known(w, "offset", h->offset, -1);
    write_known(w, "limit", h->limit, -1);
    write_known(w, "next_offset", h->next_offset, -1);
    write_known(w, "total_lines", h->total_lines, -1);
    write_text(w, "query", h->query);
    write_text(w, "command", h->command);
    write_text(w, "process_id", h->process_id);
    write_text(w, "cursor", h->cursor);
    write_text(w, "mode", h->mode);
    write_text(w, "spill_path", h->spill_path);
    if (h->has_exit_code)
        write_known(w, "exit_code", h->exit_code, INT64_MIN);
    if (h->truncated && strcmp(h->truncated, "none"))
        write_text(w, "truncated", wr_span_of(h->truncated));
    wr_json_write_object_end(w);
}

static void write_segment(struct wr_json_writer *w, const struct weir_segment *s, uint64_t tokens)
{
    wr_json_write_object(w);
    write_index(w, "i", s->index);
    write_index(w, "turn", s->turn);
    write_index(w, "loop", s->loop);
    write_index(w, "group", s->group);
    write_text(w, "role", wr_span_of(weir_role_name(s->role)));
    write_text(w, "kind", wr_span_of(weir_kind_name(s->kind)));
    write_text(w, "class", wr_span_of(weir_class_name(s->class_)));
    write_text(w, "why", wr_span_of(s->why));
    if (s->why_other != WEIR_NONE)
        write_index(w, "why_segment", s->why_other);
    write_text_or_null(w, "tool", s->tool);
    write_text_or_null(w, "call_id", s->call_id);
    write_index(w, "pair", s->pair);
    write_known(w, "bytes", s->span.end - s->span.start, -1);
    write_known(w, "tokens", (int64_t)tokens, -1);
    wr_json_write_key(w, "span");
    write_range(w, s->span);
    wr_json_write_key(w, "parts");
    wr_json_write_array(w);
    for (uint32_t p = 0; p < s->parts_count; p++)
        write_range(w, s->parts[p]);
    wr_json_write_array_end(w);
    write_handles(w, &s->handles);
    wr_json_write_key(w, "stale");
    wr_json_write_bool(w, !strcmp(s->stale, "yes"));
    if (!strcmp(s->stale, "maybe"))
        write_text(w, "stale_doubt", WR_LIT("a later call may have changed it"));
    if (s->is_superseded) {
        wr_json_write_key(w, "superseded");
        wr_json_write_bool(w, true);
    }
    wr_json_write_key(w, "error");
    wr_json_write_bool(w, s->is_error);
    wr_json_write_object_end(w);
}

static void write_tally(struct wr_json_writer *w, const char *key, const struct tally *tally)
{
    wr_json_write_key(w, key);
    wr_json_write_object(w);
    write_known(w, "segments", (int64_t)tally->segments, -1);
    write_known(w, "bytes", (int64_t)tally->bytes, -1);
    write_known(w, "tokens", (int64_t)tally->tokens, -1);
    wr_json_write_object_end(w);
}

static void write_totals(struct wr_json_writer *w, const struct inspection *in)
{
    wr_json_write_key(w, "totals");
    wr_json_write_object(w);
    write_known(w, "segments", (int64_t)in->all.segments, -1);
    write_known(w, "bytes", (int64_t)in->all.bytes, -1);
    write_known(w, "body_bytes", (int64_t)in->body.len, -1);
    write_known(w, "tokens", (int64_t)in->all.tokens, -1);
    write_known(w, "overhead_tokens", (int64_t)in->measured->overhead_tokens, -1);
    write_text(w, "counted_by", wr_span_of(in->method));
    write_text(w, "confidence", wr_span_of(in->confidence));
    wr_json_write_key(w, "by_kind");
    wr_json_write_object(w);
    for (int k = 0; k < KINDS_COUNT; k++)
        if (in->by_kind[k].segments)
            write_tally(w, weir_kind_name((weir_kind)k), &in->by_kind[k]);
    wr_json_write_object_end(w);
    wr_json_write_key(w, "by_class");
    wr_json_write_object(w);
    for (int c = 0; c < CLASSES_COUNT; c++)
        if (in->by_class[c].segments)
            write_tally(w, weir_class_name((weir_class)c), &in->by_class[c]);
    wr_json_write_object_end(w);
    wr_json_write_object_end(w);
}

static void write_json(struct wr_buf *out, const struct inspection *in)
{
    struct wr_json_writer w;
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    write_text(&w, "dialect", wr_span_of(weir_dialect_name(weir_request_dialect(in->request))));
    wr_json_write_key(&w, "model");
    wr_json_write_text(&w, weir_request_model(in->request));
    wr_json_write_key(&w, "delta");
    wr_json_write_bool(&w, weir_request_is_delta(in->request));
    write_known(&w, "turns", weir_request_turns(in->request), -1);
    write_known(&w, "loops", weir_request_loops(in->request), -1);
    wr_json_write_key(&w, "segments");
    wr_json_write_array(&w);
    for (uint32_t i = 0; i < weir_request_segments(in->request); i++) {
        struct weir_segment s;
        view_of(in, i, &s);
        wr_json_write_newline(&w);
        write_segment(&w, &s, in->measured->segment_tokens[i]);
    }
    wr_json_write_array_end(&w);
    wr_json_write_newline(&w);
    write_totals(&w, in);
    wr_json_write_object_end(&w);
    wr_json_write_newline(&w);
}

/* ---- the table ---- */

static const char *colour_of(weir_class class_, bool colours)
{
    static const char *const by_class[CLASSES_COUNT] = {
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

static void print_what(struct wr_buf *out, struct inspection *in, const struct weir_segment *s)
{
    const struct weir_handles *h = &s->handles;
    weir_span text = {"", 0};

    if (s->tool.len) {
        wr_cli_excerpt(out, s->tool, 24);
        wr_buf_byte(out, ' ');
    }
    if (s->kind == WEIR_KIND_TOOL_RESULT && h->has_exit_code)
        wr_buf_printf(out, "exit %d ", h->exit_code);
    if (!strcmp(s->stale, "yes"))
        wr_buf_text(out, "stale ");
    if (h->path.len) {
        wr_cli_excerpt(out, h->path, 48);
        if (h->start_line > 1 || h->end_line > 0)
            print_lines(out, h);
        return;
    }
    if (h->command.len || h->query.len) {
        wr_cli_excerpt(out, h->command.len ? h->command : h->query, 48);
        return;
    }
    if (!weir_request_text(in->request, s->index, &text))
        wr_cli_excerpt(out, text, 48);
}

static void print_row(struct wr_buf *out, struct inspection *in, const struct weir_segment *s,
                      bool colours)
{
    char loop[16] = "-";
    if (s->loop != WEIR_NONE)
        (void)snprintf(loop, sizeof(loop), "%u", s->loop);
    wr_buf_printf(out, "%s%5u %5u %4s  %-9s %-11s %-22s %9s  ", colour_of(s->class_, colours),
                  s->index, s->turn, loop, weir_role_name(s->role), weir_kind_name(s->kind),
                  weir_class_name(s->class_),
                  wr_cli_number(in->measured->segment_tokens[s->index]));
    print_what(out, in, s);
    wr_buf_text(out, colours ? "\033[0m\n" : "\n");
}

static void print_share(struct wr_buf *out, const char *name, const struct tally *tally,
                        uint64_t tokens_all)
{
    uint64_t share = tokens_all ? tally->tokens * BAR_COLUMNS / tokens_all : 0;
    wr_buf_printf(out, "  %-22s %9s tokens %5.1f %%  %6s segments  ", name,
                  wr_cli_number(tally->tokens),
                  tokens_all ? 100.0 * (double)tally->tokens / (double)tokens_all : 0.0,
                  wr_cli_number(tally->segments));
    for (uint64_t i = 0; i < share; i++)
        wr_buf_text(out, "█");
    wr_buf_byte(out, '\n');
}

static void print_table(struct wr_buf *out, struct inspection *in)
{
    bool colours = wr_cli_colours();
    weir_span model = weir_request_model(in->request);

    wr_buf_printf(
        out, "%s request%s · model %.*s · %u turns · %u loops · %u segments · %s bytes\n\n",
        weir_dialect_name(weir_request_dialect(in->request)),
        weir_request_is_delta(in->request) ? " (delta: the server holds the history)" : "",
        model.len ? (int)model.len : 1, model.len ? model.ptr : "?",
        weir_request_turns(in->request), weir_request_loops(in->request),
        weir_request_segments(in->request), wr_cli_number(in->body.len));
    wr_buf_printf(out, "%5s %5s %4s  %-9s %-11s %-22s %9s  %s\n", "#", "turn", "loop", "role",
                  "kind", "class", "tokens", "what");
    for (uint32_t i = 0; i < weir_request_segments(in->request); i++) {
        struct weir_segment s;
        view_of(in, i, &s);
        print_row(out, in, &s, colours);
    }
    wr_buf_printf(out, "\nby kind (%s tokens, %s, confidence %s)\n", wr_cli_number(in->all.tokens),
                  in->method, in->confidence);
    for (int k = 0; k < KINDS_COUNT; k++)
        if (in->by_kind[k].segments)
            print_share(out, weir_kind_name((weir_kind)k), &in->by_kind[k], in->all.tokens);
    wr_buf_text(out, "by class\n");
    for (int c = 0; c < CLASSES_COUNT; c++)
        if (in->by_class[c].segments)
            print_share(out, weir_class_name((weir_class)c), &in->by_class[c], in->all.tokens);
}

static int show(struct weir_request *request, weir_span body, const struct wr_ruler *ruler,
                bool as_json)
{
    struct wr_measure measured;
    struct wr_buf out;
    int code = WR_EXIT_USAGE;

    if (wr_meter_measure(ruler->meter, &request->transcript, &request->arena, &measured))
        return wr_cli_fail("inspect", "%s", weir_status_text(WEIR_NOMEM));
    enum wr_confidence confidence = wr_confidence_of(wr_meter_source(ruler->meter), true);
    struct inspection in = {.request = request,
                            .measured = &measured,
                            .method = wr_meter_method(ruler->meter),
                            .confidence = wr_confidence_text(confidence),
                            .body = body};
    make_totals(&in);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (as_json)
        write_json(&out, &in);
    else
        print_table(&out, &in);
    if (out.status)
        wr_cli_fail("inspect", "%s", weir_status_text(out.status));
    else if (wr_cli_write("inspect", wr_buf_view(&out)))
        code = WR_EXIT_OK;
    wr_buf_release(&out);
    return code;
}

static int inspect(struct weir_request *request, weir_span body, const char *model, bool as_json)
{
    struct wr_ruler ruler;
    weir_span name = model ? wr_span_of(model) : weir_request_model(request);
    if (!wr_ruler_open(&ruler, "inspect", name, model != NULL))
        return WR_EXIT_USAGE;
    int code = show(request, body, &ruler, as_json);
    wr_ruler_close(&ruler);
    return code;
}

int wr_cmd_inspect(int argc, char **argv)
{
    bool as_json = false, done;
    const char *dialect = NULL, *model = NULL;
    struct wr_opt_list files = {.count = 0};
    const struct wr_opt options[] = {{"json", WR_OPT_FLAG, &as_json},
                                     {"dialect", WR_OPT_TEXT, &dialect},
                                     {"model", WR_OPT_TEXT, &model}};
    struct wr_buf body = {0};
    int code = WR_EXIT_USAGE;

    if (!wr_opt_parse(argc, argv, options, sizeof(options) / sizeof(options[0]), help, &files,
                      &done))
        return WR_EXIT_USAGE;
    if (done)
        return WR_EXIT_OK;
    if (files.count != 1)
        return wr_cli_fail("inspect",
                           "name one file, or - for stdin; `weir inspect --help` has an example");
    struct weir_request *request = wr_cli_request("inspect", files.items[0], dialect, &body);
    if (request)
        code = inspect(request, wr_buf_view(&body), model, as_json);
    weir_request_free(request);
    wr_buf_release(&body);
    return code;
}
