/* `weir try`: an agent through Weir in shadow, and what Weir would have made of its session.
 *
 * The agent works as without Weir: every request is sent as it came. The server beside it decides
 * what it would have sent, and keeps the newest prompt of each session, as it came and as it would
 * have been, in the run's folder (proxy/store_state.h). At the end stand the money that the session
 * would have cost (ledger/tally.h) less what recalls would have, and the three largest texts that
 * would have been shortened, with what would have stood in their place. Then the folder goes.
 *
 * With --active it is `weir run --mode active`: from looking on to having it is one flag.
 */
#include "cli/cmd.h"

#include <dirent.h>

#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "cli/cmd_run.h"
#include "cli/open.h"
#include "json/json.h"

enum { EXAMPLES_MAX = 3, LINES_SHOWN = 4, WORD_BYTES = 32, PATH_BYTES_MAX = 4096 };

struct try_options {
    struct wr_run_options run;
    bool is_active;
};

#define VALUES struct try_options

static const struct wr_option options[] = {
    {"active", WR_FLAG(is_active), "switch it on: what would have been taken out is"},
    {"policy", WR_TEXT("P", run.policy), "what is taken out (`weir policies`); auto unless told",
     .list = wr_list_policies},
    WR_ROW_STORE(run.store),
    {"config", WR_FILE(run.config), "weir.yaml for the server of this run (docs/proxy.md)"},
    {"receipt", WR_FILE(run.receipt), "the receipt as JSON too (docs/run.md)"},
};

/* A text that would have been shortened. */
struct example {
    char file[PATH_BYTES_MAX]; /* how the names of its session's files begin */
    uint32_t segment;
    uint64_t before_tokens, after_tokens;
    char form[WORD_BYTES], reason[WORD_BYTES];
    char summary[WORD_BYTES]; /* its handle, if it stands in one; "-" */
};

struct trial {
    char **argv;
    struct wr_models *models;
    struct wr_buf out;
    struct example best[EXAMPLES_MAX]; /* the most saved first */
    size_t best_count;
    uint64_t texts_count, before_tokens, after_tokens;
    uint64_t recalls_micro_usd; /* set aside for what would be asked for again */
};

/* ---- what shadow decided ---- */

static void copy_word(char to[WORD_BYTES], const struct wr_json *doc, wr_json_id object,
                      const char *name)
{
    wr_json_id id = wr_json_find(doc, object, name);
    weir_span word = wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_inner(doc, id) : WR_LIT("-");
    (void)snprintf(to, WORD_BYTES, "%.*s", (int)word.len, word.ptr);
}

static uint64_t saved_by(const struct example *e)
{
    return e->before_tokens - e->after_tokens;
}

static void offer_example(struct trial *t, const struct example *e)
{
    size_t at = t->best_count;

    while (at > 0 && saved_by(&t->best[at - 1]) < saved_by(e))
        at--;
    if (at == EXAMPLES_MAX)
        return;
    if (t->best_count < EXAMPLES_MAX)
        t->best_count++;
    for (size_t i = t->best_count - 1; i > at; i--)
        t->best[i] = t->best[i - 1];
    t->best[at] = *e;
}

/* Returns the tokens of plain input that are set aside for it. */
static uint64_t take_edit(struct trial *t, const struct wr_json *doc, wr_json_id edit,
                          const char *file)
{
    struct example e = {.segment = (uint32_t)wr_json_find_u64(doc, edit, "i"),
                        .before_tokens = wr_json_find_u64(doc, edit, "tokens_before"),
                        .after_tokens = wr_json_find_u64(doc, edit, "tokens_after")};
    wr_json_id value = wr_json_find(doc, edit, "value");

    if (e.before_tokens <= e.after_tokens ||
        wr_json_is(doc, wr_json_find(doc, edit, "rolled_back"), WR_JSON_TRUE))
        return 0;
    copy_word(e.form, doc, edit, "form");
    copy_word(e.reason, doc, edit, "reason");
    copy_word(e.summary, doc, edit, "in");
    (void)snprintf(e.file, sizeof(e.file), "%s", file);
    t->texts_count++;
    t->before_tokens += e.before_tokens;
    t->after_tokens += e.after_tokens;
    offer_example(t, &e);
    return wr_json_is(doc, value, WR_JSON_OBJECT) ? wr_json_find_u64(doc, value, "costs_tokens")
                                                  : 0;
}

static bool read_beside(const char *file, const char *suffix, struct wr_buf *text)
{
    char path[PATH_BYTES_MAX + 16];

    (void)snprintf(path, sizeof(path), "%s.%s.json", file, suffix);
    return wr_cli_read(path, text);
}

static struct weir_request *request_beside(const char *file, const char *suffix,
                                           struct wr_buf *body)
{
    char path[PATH_BYTES_MAX + 16];

    (void)snprintf(path, sizeof(path), "%s.%s.json", file, suffix);
    return wr_cli_request(path, NULL, body);
}

/* What recalls of this session's texts would cost, at its model's price. */
static void set_aside(struct trial *t, const char *file, uint64_t tokens)
{
    struct wr_usage usage = {.input_tokens = tokens};
    struct wr_buf body = {0};
    struct weir_request *request = tokens ? request_beside(file, "came", &body) : NULL;

    if (request) {
        struct wr_model_match match = wr_models_lookup(t->models, weir_request_model(request));
        t->recalls_micro_usd += wr_cost(match.model, &usage).micro_usd;
    }
    weir_request_free(request);
    wr_buf_release(&body);
}

/* What stands in the place of parts that leave together. */
static uint64_t summary_tokens(const struct wr_json *doc)
{
    wr_json_id inserts = wr_json_find(doc, 0, "inserts");
    bool is_list = wr_json_is(doc, inserts, WR_JSON_ARRAY);
    uint64_t tokens = 0;

    for (wr_json_id i = is_list ? wr_json_first(doc, inserts) : WR_JSON_NONE; i != WR_JSON_NONE;
         i = wr_json_next(doc, inserts, i))
        tokens += wr_json_find_u64(doc, i, "tokens");
    return tokens;
}

static void take_report(struct trial *t, const char *file)
{
    struct wr_buf text = {0};
    struct wr_arena arena;
    struct wr_json doc;
    uint64_t aside_tokens = 0;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    if (read_beside(file, "report", &text) &&
        !wr_json_parse(&doc, &arena, wr_buf_view(&text), NULL, NULL)) {
        wr_json_id edits = wr_json_find(&doc, 0, "edits");
        bool is_list = wr_json_is(&doc, edits, WR_JSON_ARRAY);
        wr_json_id e = is_list ? wr_json_first(&doc, edits) : WR_JSON_NONE;
        for (; e != WR_JSON_NONE; e = wr_json_next(&doc, edits, e))
            aside_tokens += take_edit(t, &doc, e, file);
        t->after_tokens += summary_tokens(&doc);
    }
    wr_arena_release(&arena);
    wr_buf_release(&text);
    set_aside(t, file, aside_tokens);
}

static void take_reports(struct trial *t, const char *dir)
{
    static const char suffix[] = ".report.json";
    DIR *listing = dir ? opendir(dir) : NULL;
    char file[PATH_BYTES_MAX];

    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        weir_span name = wr_span_of(entry->d_name);
        if (!wr_span_ends(name, WR_LIT(".report.json")))
            continue;
        int bytes = snprintf(file, sizeof(file), "%s/%.*s", dir,
                             (int)(name.len - (sizeof(suffix) - 1)), name.ptr);
        if (bytes > 0 && (size_t)bytes < sizeof(file))
            take_report(t, file);
    }
    if (listing)
        (void)closedir(listing);
}

/* ---- examples ---- */

static void put_lines(struct wr_buf *out, weir_span text)
{
    weir_span line;
    size_t shown = 0, left = 0;

    while (wr_span_line(&text, &line)) {
        if (shown++ >= LINES_SHOWN) {
            left++;
            continue;
        }
        wr_buf_text(out, "      | ");
        wr_text_excerpt(out, line, 88);
        wr_buf_byte(out, '\n');
    }
    if (left)
        wr_buf_printf(out, "      | ... %zu lines more\n", left);
}

/* Leaves out the lines that `other` begins with as `text` does; returns how many. */
static size_t skip_same(weir_span text, weir_span *other)
{
    weir_span rest = *other, line_a, line_b;
    size_t same = 0;

    while (wr_span_line(&text, &line_a) && wr_span_line(&rest, &line_b) &&
           wr_span_eq(line_a, line_b)) {
        *other = rest;
        same++;
    }
    return same;
}

static bool is_same_place(const struct weir_segment *a, const struct weir_segment *b)
{
    return a->kind == b->kind && a->role == b->role && wr_span_eq(a->call_id, b->call_id);
}

/* The segment of the projection that stands for `s`; only a result has an id to know it by. */
static uint32_t find_made(const struct weir_request *made, const struct weir_segment *s)
{
    uint32_t count = weir_request_segments(made);
    struct weir_segment m;

    for (uint32_t i = 0; s->call_id.len && i < count; i++)
        if (!weir_request_segment(made, i, &m) && is_same_place(s, &m))
            return i;
    return WEIR_NONE;
}

/* "a result of read_file {"path":"src/a.c"}". */
static void put_name(struct trial *t, struct weir_request *came, const struct weir_segment *s)
{
    weir_span arguments;

    wr_buf_printf(&t->out, "a %s",
                  s->kind == WEIR_KIND_TOOL_RESULT ? "result"
                  : s->kind == WEIR_KIND_TOOL_CALL ? "call"
                                                   : weir_kind_name(s->kind));
    if (s->tool.len) {
        wr_buf_text(&t->out, " of ");
        wr_text_excerpt(&t->out, s->tool, 40);
    }
    if (s->pair != WEIR_NONE && !weir_request_text(came, s->pair, &arguments)) {
        wr_buf_byte(&t->out, ' ');
        wr_text_excerpt(&t->out, arguments, 60);
    }
}

static void put_texts(struct trial *t, const struct example *e, struct weir_request *came,
                      struct weir_request *made)
{
    struct weir_segment s;
    weir_span text = {"", 0}, other;

    if (weir_request_segment(came, e->segment, &s))
        return;
    uint32_t place = find_made(made, &s);
    put_name(t, came, &s);
    if (strcmp(e->summary, "-"))
        wr_buf_printf(&t->out,
                      ": %s tokens would have been in a summary (by %s), whole again by %s\n",
                      WR_GROUPED(e->before_tokens), e->reason, e->summary);
    else
        wr_buf_printf(&t->out, ": %s tokens would have been %s (%s, by %s)\n",
                      WR_GROUPED(e->before_tokens), WR_GROUPED(e->after_tokens), e->form,
                      e->reason);
    if (!weir_request_text(came, e->segment, &text))
        put_lines(&t->out, text);
    if (place == WEIR_NONE || weir_request_text(made, place, &other))
        return;
    size_t same = skip_same(text, &other);
    wr_buf_text(&t->out, "    and in its place would have stood");
    if (same)
        wr_buf_printf(&t->out, ", after the first %zu lines", same);
    wr_buf_byte(&t->out, '\n');
    put_lines(&t->out, other);
}

static void put_example(struct trial *t, size_t i)
{
    const struct example *e = &t->best[i];
    struct wr_buf came_body = {0}, made_body = {0};
    struct weir_request *came = request_beside(e->file, "came", &came_body);
    struct weir_request *made = came ? request_beside(e->file, "made", &made_body) : NULL;

    wr_buf_printf(&t->out, "  %zu. ", i + 1);
    if (made)
        put_texts(t, e, came, made);
    weir_request_free(made);
    weir_request_free(came);
    wr_buf_release(&made_body);
    wr_buf_release(&came_body);
}

/* ---- what is said ---- */

static void put_difference(struct trial *t, const struct wr_tally *sums)
{
    uint64_t paid = sums->shadow_micro_usd;
    uint64_t would = sums->shadow_would_micro_usd + t->recalls_micro_usd;
    int64_t saved = (int64_t)paid - (int64_t)would;

    wr_buf_text(&t->out, "weir: with Weir it would have been about ");
    wr_cli_put_money(&t->out, (int64_t)would);
    wr_buf_text(&t->out, saved < 0 ? ": DEARER by " : ": ");
    wr_cli_put_money(&t->out, saved < 0 ? -saved : saved);
    wr_buf_text(&t->out, saved < 0 ? "" : " less");
    if (paid)
        wr_buf_printf(&t->out, " (%lld %%)",
                      (long long)(saved < 0 ? -saved : saved) * 100 / (long long)paid);
    wr_buf_text(&t->out, "; rewrites of the cache are in it, and ");
    wr_cli_put_money(&t->out, (int64_t)t->recalls_micro_usd);
    wr_buf_text(&t->out, " for what the model may ask for again\n");
}

static void put_nothing(struct trial *t, const struct wr_tally *sums)
{
    wr_buf_printf(&t->out,
                  "weir: nothing would have been taken out of it: what a session has to gain comes "
                  "with its length, and this one sent %s prompt tokens in %s requests\n",
                  WR_GROUPED(sums->shadow_prompt_tokens), WR_GROUPED(sums->shadow_count));
}

static void put_command(struct trial *t)
{
    wr_buf_text(&t->out, "weir: to have it: weir try --active --");
    for (char **word = t->argv; *word; word++) {
        bool is_plain = **word && !strpbrk(*word, " \t\n\"'\\$`&|;<>()*?#!~");
        wr_buf_text(&t->out, is_plain ? " " : " '");
        for (const char *c = *word; *c; c++)
            if (!is_plain && *c == '\'')
                wr_buf_text(&t->out, "'\\''");
            else
                wr_buf_byte(&t->out, *c);
        wr_buf_text(&t->out, is_plain ? "" : "'");
    }
    wr_buf_byte(&t->out, '\n');
}

static void put_trial(struct trial *t, const struct wr_receipt *receipt)
{
    const struct wr_tally *sums = &receipt->tally;

    wr_receipt_print(receipt, "weir: ", &t->out);
    if (!sums->shadow_count)
        return;
    if (!t->texts_count) {
        put_nothing(t, sums);
        return;
    }
    if (sums->unpriced_count < sums->requests_count)
        put_difference(t, sums);
    wr_buf_printf(
        &t->out, "weir: of its last prompts %s text%s of %s tokens would have been %s; %s\n",
        WR_GROUPED(t->texts_count), t->texts_count == 1 ? "" : "s", WR_GROUPED(t->before_tokens),
        WR_GROUPED(t->after_tokens), t->texts_count > EXAMPLES_MAX ? "the largest:" : "whole:");
    for (size_t i = 0; i < t->best_count; i++)
        put_example(t, i);
    put_command(t);
}

static void tell_trial(void *user, const struct wr_run_end *end)
{
    struct trial *t = user;

    if (!end->receipt)
        return;
    take_reports(t, end->shadow_dir);
    put_trial(t, end->receipt);
    if (!wr_buf_status(&t->out))
        (void)fwrite(t->out.bytes, 1, t->out.len, stderr);
}

static int run_try(void *values, const struct wr_words *words)
{
    struct try_options *o = values;
    struct trial t = {.argv = words->items};

    if (!wr_cli_can_write(o->run.receipt))
        return WR_EXIT_USAGE;
    o->run.mode = o->is_active ? "active" : "shadow";
    if (o->is_active)
        return wr_run_agent(&o->run, words->items);
    t.models = wr_cli_models(o->run.config);
    if (!t.models)
        return WR_EXIT_USAGE;
    wr_buf_init(&t.out, WR_OUTPUT_BYTES_MAX);
    o->run.keeps_shadow = true;
    o->run.at_end = tell_trial;
    o->run.user = &t;
    int code = wr_run_agent(&o->run, words->items);
    wr_buf_release(&t.out);
    wr_models_free(t.models);
    return code;
}

const struct wr_command wr_cmd_try = {
    .name = "try",
    .purpose = "an agent with nothing changed, then what Weir would have saved",
    .usage = "[OPTIONS] [--] AGENT [ARGUMENTS]",
    .about =
        "Runs an agent as `weir run` does, but in shadow: every request is sent as it came. At "
        "the end it says on stderr what the session would have cost with Weir, and shows the "
        "three largest texts that would have been shortened, with what would have stood in "
        "their place. --active switches it on.",
    WR_OPTIONS(options),
    .words_min = 1,
    .words_max = SIZE_MAX,
    .wants = "name an agent, such as `weir try -- codex`; `weir run --list` names them",
    .ends_at_word = true,
    .exits = "Exits as the agent does, like `weir run`.",
    .example = "weir try -- codex exec 'fix the failing test'",
    .run = run_try,
};
