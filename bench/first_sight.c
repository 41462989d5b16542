/* first_sight -- what condensers leave of what the very next action quotes, kind by kind, beside a
 * plain cut to head and tail at the same budget.
 *
 *   first_sight DIR     DIR/sessions.tsv names the sessions, DIR/normalized/ID.jsonl holds one Chat
 *                       Completions message a line
 *
 * A result's evidence (first_sight_evidence.h) is what the next assistant message's calls quote of
 * it and its own call did not say. Columns: results condensed; their tokens (four bytes each)
 * before, condensed, and cut; then twice, for all evidence and for names alone (without plain
 * words, which may be there by chance): how many results the next action quotes, the share of the
 * evidence still there, condensed and cut, and the share of those results of which all of it is; at
 * last the results whose set of signals is the original's.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/span.h"
#include "bench/first_sight_evidence.h"
#include "condense/condense.h"
#include "condense/signal.h"
#include "lab/session.h"
#include "policy/stage.h"

enum {
    FILE_BYTES_MAX = 256 << 20,
    CALLS_MAX = 256, /* of one message */
    FOCUS_BYTES_MAX = 4096,
    TOKEN_BYTES = 4,
    CUT_MARK_BYTES = 40,
};

/* -- budgets ----------------------------------------------------------------------------------- */

static bool is_quoted_often(enum wr_output_kind kind)
{
    return kind == WR_OUTPUT_FILE || kind == WR_OUTPUT_SEARCH || kind == WR_OUTPUT_DIFF;
}

/* Each gives the budget in bytes; 0: the text stays whole. */
static size_t budget_of_policy(enum wr_output_kind kind, size_t bytes)
{
    size_t over = is_quoted_often(kind) ? 4000 : 1000, to = is_quoted_often(kind) ? 2000 : 500;
    return bytes / TOKEN_BYTES > over ? to * TOKEN_BYTES : 0;
}

static size_t budget_of_half(enum wr_output_kind kind, size_t bytes)
{
    (void)kind;
    return bytes / TOKEN_BYTES > WR_CONDENSE_TOKENS_MIN ? bytes / 2 : 0;
}

static size_t budget_of_quarter(enum wr_output_kind kind, size_t bytes)
{
    (void)kind;
    return bytes / TOKEN_BYTES > WR_CONDENSE_TOKENS_MIN ? bytes / 4 : 0;
}

static const struct {
    const char *name;
    size_t (*bytes)(enum wr_output_kind kind, size_t bytes);
} budgets[] = {
    {"what commands print over 1000 tokens to 500, reads, searches and diffs over 4000 to 2000",
     budget_of_policy},
    {"all over 300 tokens to 50 %", budget_of_half},
    {"all over 300 tokens to 25 %", budget_of_quarter},
};

enum { BUDGETS = WR_COUNT_OF(budgets) };

/* -- counting ---------------------------------------------------------------------------------- */

enum { ANY, NAMES, SORTS }; /* of evidence */

struct share {
    size_t bytes;
    unsigned found[SORTS], whole[SORTS]; /* pieces of evidence; results with all of theirs */
};

struct row {
    unsigned results, signals_equal;
    unsigned quoted[SORTS], evidence[SORTS];
    size_t bytes;
    struct share condensed, cut;
};

struct table {
    struct row rows[BUDGETS][WR_OUTPUT_KINDS + 1]; /* the last: all kinds */
};

static void add_share(struct share *share, const struct share *one)
{
    share->bytes += one->bytes;
    for (int sort = 0; sort < SORTS; sort++) {
        share->found[sort] += one->found[sort];
        share->whole[sort] += one->whole[sort];
    }
}

static void add_row(struct row *row, const struct row *one)
{
    row->results += one->results;
    for (int sort = 0; sort < SORTS; sort++) {
        row->quoted[sort] += one->quoted[sort];
        row->evidence[sort] += one->evidence[sort];
    }
    row->signals_equal += one->signals_equal;
    row->bytes += one->bytes;
    add_share(&row->condensed, &one->condensed);
    add_share(&row->cut, &one->cut);
}

/* -- one result -------------------------------------------------------------------------------- */

struct result {
    struct wr_condense_input input;
    const struct evidence *evidence; /* that is in the text */
    unsigned count[SORTS];           /* of it */
};

static struct share share_of(const struct result *result, struct wr_arena *arena, weir_span text)
{
    struct share share = {.bytes = text.len};
    struct evidence_index index;
    if (!result->evidence->count || !evidence_index_init(&index, arena, text))
        return share;
    for (uint32_t i = 0; i < result->evidence->count; i++) {
        bool is_in = evidence_is_in(&result->evidence->items[i], &index);
        share.found[ANY] += is_in;
        share.found[NAMES] += is_in && result->evidence->items[i].is_name;
    }
    for (int sort = 0; sort < SORTS; sort++)
        share.whole[sort] = result->count[sort] && share.found[sort] == result->count[sort];
    return share;
}

static weir_span head_and_tail(struct wr_arena *arena, weir_span text, size_t bytes)
{
    size_t half = bytes > CUT_MARK_BYTES ? (bytes - CUT_MARK_BYTES) / 2 : 0;
    char *cut = wr_arena_alloc(arena, bytes + CUT_MARK_BYTES);
    if (!cut || text.len <= bytes)
        return text;
    memcpy(cut, text.ptr, half);
    memset(cut + half, '\n', CUT_MARK_BYTES);
    memcpy(cut + half + CUT_MARK_BYTES, text.ptr + text.len - half, half);
    return (weir_span){cut, 2 * half + CUT_MARK_BYTES};
}

static bool has_same_signals(struct wr_arena *arena, const struct wr_condense_input *input,
                             weir_span condensed)
{
    struct wr_signal_set before, after;
    return !wr_signal_scan(&before, arena, input->text, input->kind) &&
           !wr_signal_scan(&after, arena, condensed, input->kind) &&
           wr_signal_set_equal(&before, &after, NULL);
}

static void measure(struct table *table, struct wr_arena *arena, struct result *result)
{
    for (size_t i = 0; i < BUDGETS; i++) {
        struct wr_condense_input *input = &result->input;
        struct wr_condensed condensed;
        input->bytes_budget = budgets[i].bytes(input->kind, input->text.len);
        if (!input->bytes_budget || wr_condense(&condensed, arena, input))
            continue;
        struct row one = {.results = 1, .bytes = input->text.len};
        for (int sort = 0; sort < SORTS; sort++) {
            one.quoted[sort] = result->count[sort] > 0;
            one.evidence[sort] = result->count[sort];
        }
        one.signals_equal = has_same_signals(arena, input, condensed.text);
        one.condensed = share_of(result, arena, condensed.text);
        one.cut = share_of(result, arena, head_and_tail(arena, input->text, input->bytes_budget));
        add_row(&table->rows[i][input->kind], &one);
        add_row(&table->rows[i][WR_OUTPUT_KINDS], &one);
    }
}

/* -- one session ------------------------------------------------------------------------------- */

struct walk {
    struct table *table;
    const struct wr_session *session;
    struct wr_arena arena;          /* of what one message needs */
    const struct wr_json *next_doc; /* the next message by the assistant; NULL: there is none */
    weir_span focus;
    struct {
        weir_span id, name, arguments;
    } calls[CALLS_MAX];
    size_t calls_count;
};

static weir_span text_of(struct walk *walk, const struct wr_json *doc, wr_json_id object,
                         const char *key)
{
    wr_json_id id = wr_json_find(doc, object, key);
    return wr_json_is(doc, id, WR_JSON_STRING) ? wr_json_text(doc, walk->session->arena, id)
                                               : (weir_span){"", 0};
}

static void read_calls(struct walk *walk, const struct wr_json *doc, wr_json_id calls)
{
    walk->calls_count = 0;
    for (wr_json_id id = wr_json_first(doc, calls);
         id != WR_JSON_NONE && walk->calls_count < CALLS_MAX; id = wr_json_next(doc, calls, id)) {
        wr_json_id function = wr_json_find(doc, id, "function");
        walk->calls[walk->calls_count].id = text_of(walk, doc, id, "id");
        walk->calls[walk->calls_count].name = text_of(walk, doc, function, "name");
        walk->calls[walk->calls_count++].arguments = text_of(walk, doc, function, "arguments");
    }
}

/* What the next action quotes of `text`, without what the result's own call said. */
static void find_evidence(struct walk *walk, struct evidence *evidence, weir_span text,
                          weir_span own_arguments)
{
    static struct evidence own;
    const struct wr_json *doc = walk->next_doc;
    struct evidence_index index, seen;
    weir_span room = {NULL, (size_t)EVIDENCE_MAX * 3 * WORD_BYTES_MIN};
    uint32_t kept = 0;

    evidence->count = own.count = 0;
    char *blank = wr_arena_alloc(&walk->arena, room.len);
    wr_json_id calls = doc ? wr_json_find(doc, 0, "tool_calls") : WR_JSON_NONE;
    if (!blank || calls == WR_JSON_NONE)
        return;
    memset(blank, ' ', room.len);
    room.ptr = blank;
    if (!evidence_index_init(&seen, &walk->arena, room) ||
        !evidence_index_init(&index, &walk->arena, text))
        return;
    evidence_add_arguments(&own, &seen, &walk->arena, own_arguments);
    for (wr_json_id id = wr_json_first(doc, calls); id != WR_JSON_NONE;
         id = wr_json_next(doc, calls, id))
        evidence_add_arguments(evidence, &seen, &walk->arena,
                               text_of(walk, doc, wr_json_find(doc, id, "function"), "arguments"));
    for (uint32_t i = 0; i < evidence->count; i++)
        if (evidence_is_in(&evidence->items[i], &index))
            evidence->items[kept++] = evidence->items[i];
    evidence->count = kept;
}

static void read_result(struct walk *walk, const struct wr_json *doc)
{
    static struct evidence evidence;
    weir_span text = text_of(walk, doc, 0, "content"), id = text_of(walk, doc, 0, "tool_call_id");
    struct wr_tool_handles handles;
    size_t at = 0;
    while (at < walk->calls_count && !wr_span_eq(walk->calls[at].id, id))
        at++;
    wr_arena_reset(&walk->arena);
    if (at == walk->calls_count || text.len / TOKEN_BYTES <= WR_CONDENSE_TOKENS_MIN ||
        wr_tool_call(&handles, &walk->arena, walk->calls[at].name, walk->calls[at].arguments,
                     (weir_span){"", 0}))
        return;
    wr_tool_result(&handles, text, false);
    const struct wr_output_hint hint = {wr_output_origin_of(handles.kind), handles.command,
                                        handles.path};
    if (wr_exempt_is(hint.origin, text))
        return;
    struct result result = {
        .input = {.text = text,
                  .kind = wr_output_kind(&hint, text),
                  .command = handles.command,
                  .path = handles.path,
                  .query = handles.query,
                  .focus = walk->focus,
                  .first_number = handles.start_line > 0 ? (uint64_t)handles.start_line : 1},
        .evidence = &evidence};
    find_evidence(walk, &evidence, text, walk->calls[at].arguments);
    result.count[ANY] = evidence.count;
    for (uint32_t i = 0; i < evidence.count; i++)
        result.count[NAMES] += evidence.items[i].is_name;
    measure(walk->table, &walk->arena, &result);
}

static bool is_by(const struct wr_json *doc, const char *role)
{
    return wr_json_text_is(doc, wr_json_find(doc, 0, "role"), role);
}

static const struct wr_json *next_by_assistant(const struct wr_session *session, uint32_t at)
{
    for (; at < session->messages_count; at++)
        if (is_by(&session->messages[at], "assistant"))
            return &session->messages[at];
    return NULL;
}

static void walk_session(struct walk *walk)
{
    for (uint32_t i = 0; i < walk->session->messages_count; i++) {
        const struct wr_json *doc = &walk->session->messages[i];
        wr_json_id calls = wr_json_find(doc, 0, "tool_calls");
        if (wr_json_is(doc, calls, WR_JSON_ARRAY)) {
            read_calls(walk, doc, calls);
        } else if (is_by(doc, "user")) {
            weir_span text = text_of(walk, doc, 0, "content");
            walk->focus = text.len > FOCUS_BYTES_MAX ? wr_span_cut(text, 0, FOCUS_BYTES_MAX) : text;
        } else if (is_by(doc, "tool")) {
            walk->next_doc = next_by_assistant(walk->session, i);
            read_result(walk, doc);
        }
    }
}

/* The file's bytes, to be freed by the caller; NULL where it cannot be read. */
static char *read_all(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    if (!file)
        return NULL;
    if (!fseek(file, 0, SEEK_END)) {
        long size = ftell(file);
        rewind(file);
        if (size >= 0 && size < FILE_BYTES_MAX && (bytes = malloc((size_t)size + 1)))
            *len = fread(bytes, 1, (size_t)size, file);
    }
    (void)fclose(file);
    return bytes;
}

static bool read_session(struct table *table, const char *dir, weir_span id)
{
    static struct walk walk;
    struct wr_session session;
    struct wr_arena arena;
    char path[4096];
    size_t len;
    (void)snprintf(path, sizeof(path), "%s/normalized/%.*s.jsonl", dir, (int)id.len, id.ptr);
    char *bytes = read_all(path, &len);
    if (!bytes)
        return false;
    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    bool is_read = !wr_session_read(&session, &arena, (weir_span){bytes, len}, NULL);
    if (is_read) {
        walk = (struct walk){.table = table, .session = &session, .focus = {"", 0}};
        wr_arena_init(&walk.arena, WR_ARENA_BYTES_MAX);
        walk_session(&walk);
        wr_arena_release(&walk.arena);
    }
    wr_arena_release(&arena);
    free(bytes);
    return is_read;
}

/* -- all of them ------------------------------------------------------------------------------- */

static double percent(size_t part, size_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

static void print_row(const char *name, const struct row *row)
{
    if (!row->results)
        return;
    printf("%-8s %7u %8zu %8zu %8zu", name, row->results, row->bytes / TOKEN_BYTES,
           row->condensed.bytes / TOKEN_BYTES, row->cut.bytes / TOKEN_BYTES);
    for (int sort = 0; sort < SORTS; sort++)
        printf(" | %6u %6.1f %6.1f %6.1f %6.1f", row->quoted[sort],
               percent(row->condensed.found[sort], row->evidence[sort]),
               percent(row->cut.found[sort], row->evidence[sort]),
               percent(row->condensed.whole[sort], row->quoted[sort]),
               percent(row->cut.whole[sort], row->quoted[sort]));
    printf(" | %u/%u\n", row->signals_equal, row->results);
}

static void print_table(const struct table *table)
{
    static const char columns[] = "quoted  part%   cut%   all%   cut%";
    for (size_t i = 0; i < BUDGETS; i++) {
        printf("%s%s:\n", i ? "\n" : "", budgets[i].name);
        printf("%-8s %7s %8s %8s %8s | %s | %s | signals\n", "kind", "results", "tokens",
               "condens.", "cut", columns, columns);
        for (int kind = 0; kind < WR_OUTPUT_KINDS; kind++)
            print_row(wr_output_kind_text((enum wr_output_kind)kind), &table->rows[i][kind]);
        print_row("all", &table->rows[i][WR_OUTPUT_KINDS]);
    }
}

int main(int argc, char **argv)
{
    static struct table table;
    unsigned sessions = 0;
    char path[4096];
    size_t len;
    if (argc != 2) {
        fprintf(stderr, "usage: first_sight DIR\n");
        return 2;
    }
    (void)snprintf(path, sizeof(path), "%s/sessions.tsv", argv[1]);
    char *bytes = read_all(path, &len);
    if (!bytes) {
        printf("first_sight: skipped, no recorded sessions at %s\n", argv[1]);
        return 0;
    }
    weir_span rest = {bytes, len}, line;
    wr_span_line(&rest, &line); /* the names of the columns */
    while (wr_span_line(&rest, &line)) {
        const char *tab = memchr(line.ptr, '\t', line.len);
        sessions +=
            tab && read_session(&table, argv[1], (weir_span){line.ptr, (size_t)(tab - line.ptr)});
    }
    printf("%u sessions\n", sessions);
    print_table(&table);
    free(bytes);
    return 0;
}
