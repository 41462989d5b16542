/* `weir inspect`: what a request consists of, as a table or as JSON.
 *
 * Segments are shown through their public view (weir_segment), so the command shows what a program
 * that uses the library can know. Totals are by kind and by class. Tokens are counted as the model
 * does that the request names, or the one of --model.
 */
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/open.h"
#include "engine/request.h"

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

static void add_to_tally(struct tally *tally, uint64_t bytes, uint64_t tokens)
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
        add_to_tally(&in->all, bytes, in->measured->segment_tokens[i]);
        add_to_tally(&in->by_kind[s.kind], bytes, in->measured->segment_tokens[i]);
        add_to_tally(&in->by_class[s.class_], bytes, in->measured->segment_tokens[i]);
    }
}

/* ---- JSON ---- */

static void write_member(struct wr_json_writer *w, const char *key, weir_span text)
{
    if (text.len)
        wr_json_member_text(w, key, text);
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
    if (number != unknown)
        wr_json_member_i64(w, key, number);
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
        wr_json_member_word(w, "effect", h->effect);
    write_member(w, "path", h->path);
    write_known(w, "start_line", h->start_line, 0);
    write_known(w, "end_line", h->end_line, 0);
    write_known(w, "offset", h->offset, -1);
    write_known(w, "limit", h->limit, -1);
    write_known(w, "next_offset", h->next_offset, -1);
    write_known(w, "total_lines", h->total_lines, -1);
    write_member(w, "query", h->query);
    write_member(w, "command", h->command);
    write_member(w, "process_id", h->process_id);
    write_member(w, "cursor", h->cursor);
    write_member(w, "mode", h->mode);
    write_member(w, "spill_path", h->spill_path);
    if (h->has_exit_code)
        wr_json_member_i64(w, "exit_code", h->exit_code);
    if (h->truncated && strcmp(h->truncated, "none"))
        wr_json_member_word(w, "truncated", h->truncated);
    wr_json_write_object_end(w);
}

static void write_segment(struct wr_json_writer *w, const struct weir_segment *s, uint64_t tokens)
{
    wr_json_write_object(w);
    write_index(w, "i", s->index);
    write_index(w, "turn", s->turn);
    write_index(w, "loop", s->loop);
    write_index(w, "group", s->group);
    wr_json_member_word(w, "role", weir_role_name(s->role));
    wr_json_member_word(w, "kind", weir_kind_name(s->kind));
    wr_json_member_word(w, "class", weir_class_name(s->class_));
    wr_json_member_word(w, "why", s->why);
    if (s->why_other != WEIR_NONE)
        write_index(w, "why_segment", s->why_other);
    write_text_or_null(w, "tool", s->tool);
    write_text_or_null(w, "call_id", s->call_id);
    write_index(w, "pair", s->pair);
    wr_json_member_i64(w, "bytes", s->span.end - s->span.start);
    wr_json_member_i64(w, "tokens", (int64_t)tokens);
    wr_json_write_key(w, "span");
    write_range(w, s->span);
    wr_json_write_key(w, "parts");
    wr_json_write_array(w);
    for (uint32_t p = 0; p < s->parts_count; p++)
        write_range(w, s->parts[p]);
    wr_json_write_array_end(w);
    write_handles(w, &s->handles);
    wr_json_member_bool(w, "stale", !strcmp(s->stale, "yes"));
    if (!strcmp(s->stale, "maybe"))
        write_member(w, "stale_doubt", WR_LIT("a later call may have changed it"));
    if (s->is_superseded)
        wr_json_member_bool(w, "superseded", true);
    wr_json_member_bool(w, "error", s->is_error);
    wr_json_write_object_end(w);
}

static void write_tally(struct wr_json_writer *w, const char *key, const struct tally *tally)
{
    wr_json_write_key(w, key);
    wr_json_write_object(w);
    wr_json_member_i64(w, "segments", (int64_t)tally->segments);
    wr_json_member_i64(w, "bytes", (int64_t)tally->bytes);
    wr_json_member_i64(w, "tokens", (int64_t)tally->tokens);
    wr_json_write_object_end(w);
}

static void write_totals(struct wr_json_writer *w, const struct inspection *in)
{
    wr_json_write_key(w, "totals");
    wr_json_write_object(w);
    wr_json_member_i64(w, "segments", (int64_t)in->all.segments);
    wr_json_member_i64(w, "bytes", (int64_t)in->all.bytes);
    wr_json_member_i64(w, "body_bytes", (int64_t)in->body.len);
    wr_json_member_i64(w, "tokens", (int64_t)in->all.tokens);
    wr_json_member_i64(w, "overhead_tokens", (int64_t)in->measured->overhead_tokens);
    wr_json_member_word(w, "counted_by", in->method);
    wr_json_member_word(w, "confidence", in->confidence);
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

static void write_inspection(struct wr_buf *out, const struct inspection *in)
{
    struct wr_json_writer w;
    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    wr_json_member_word(&w, "dialect", weir_dialect_name(weir_request_dialect(in->request)));
    wr_json_member_text(&w, "model", weir_request_model(in->request));
    wr_json_member_bool(&w, "delta", weir_request_is_delta(in->request));
    wr_json_member_i64(&w, "turns", weir_request_turns(in->request));
    wr_json_member_i64(&w, "loops", weir_request_loops(in->request));
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
                  weir_class_name(s->class_), WR_GROUPED(in->measured->segment_tokens[s->index]));
    print_what(out, in, s);
    wr_buf_text(out, colours ? "\033[0m\n" : "\n");
}

static void print_share(struct wr_buf *out, const char *name, const struct tally *tally,
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
        weir_request_segments(in->request), WR_GROUPED(in->body.len));
    wr_buf_printf(out, "%5s %5s %4s  %-9s %-11s %-22s %9s  %s\n", "#", "turn", "loop", "role",
                  "kind", "class", "tokens", "what");
    for (uint32_t i = 0; i < weir_request_segments(in->request); i++) {
        struct weir_segment s;
        view_of(in, i, &s);
        print_row(out, in, &s, colours);
    }
    wr_buf_printf(out, "\nby kind (%s tokens, %s, confidence %s)\n", WR_GROUPED(in->all.tokens),
                  in->method, in->confidence);
    for (int k = 0; k < KINDS_COUNT; k++)
        if (in->by_kind[k].segments)
            print_share(out, weir_kind_name((weir_kind)k), &in->by_kind[k], in->all.tokens);
    wr_buf_text(out, "by class\n");
    for (int c = 0; c < CLASSES_COUNT; c++)
        if (in->by_class[c].segments)
            print_share(out, weir_class_name((weir_class)c), &in->by_class[c], in->all.tokens);
}

static int show_request(struct weir_request *request, weir_span body, struct wr_meter *meter,
                        bool as_json)
{
    struct wr_measure measured;
    struct wr_buf out;

    if (wr_meter_measure(meter, &request->transcript, &request->arena, &measured))
        return wr_cli_fail("%s", weir_status_text(WEIR_NOMEM));
    struct inspection in = {.request = request,
                            .measured = &measured,
                            .method = wr_meter_method(meter),
                            .confidence =
                                wr_confidence_text(wr_confidence_of(wr_meter_source(meter), true)),
                            .body = body};
    make_totals(&in);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    if (as_json)
        write_inspection(&out, &in);
    else
        print_table(&out, &in);
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
        code = show_request(request, wr_buf_view(&body), ruler.meter, o->as_json);
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
