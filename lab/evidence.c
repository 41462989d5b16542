/* What an answer used. Every result is cut into strings that can be recognised later (names,
 * paths, lines: evidence_words.h), which an index keeps by their hashes with the segments that
 * hold them. An answer is cut the same way; a string of it that the index knows from a result, and
 * that neither the user nor the model had said since, is an item: the answer cannot have had it
 * from elsewhere.
 *
 * Calls count through the strings in their arguments. A value that is JSON inside a string is
 * opened once more, since agents nest their arguments. */
#include "lab/evidence.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/span.h"
#include "lab/evidence_words.h"

enum { SOURCES_CAP_FIRST = 256, ITEMS_CAP_FIRST = 16 };

struct wr_evidence_source {
    uint64_t hash;
    uint32_t call;    /* of a result: the number of its call, or NONE */
    uint32_t answers; /* that were looked at before it came */
    bool is_result;
    bool is_model; /* the model's own words: a text or a call */
    bool is_user;
    weir_handle handle;
    bool is_written; /* a call that wrote a file, not by a command line */
};

const char *wr_evidence_kind_text(enum wr_evidence_kind kind)
{
    static const char *const texts[] = {"path", "identifier", "line", "quoted"};
    return texts[kind];
}

const char *wr_evidence_verdict_text(enum wr_evidence_verdict verdict)
{
    static const char *const texts[] = {"supported", "recallable", "lost"};
    return texts[verdict];
}

weir_status wr_evidence_init(struct wr_evidence *evidence, struct wr_arena *arena)
{
    *evidence = (struct wr_evidence){.arena = arena};
    wr_arena_init(&evidence->scratch, WR_ARENA_BYTES_MAX);
    return wr_evidence_index_init(&evidence->index, arena);
}

void wr_evidence_release(struct wr_evidence *evidence)
{
    wr_arena_release(&evidence->scratch);
}

bool wr_evidence_handle(const struct wr_evidence *evidence, uint32_t number, weir_handle *handle)
{
    if (number >= evidence->sources_count || !evidence->sources[number].is_result)
        return false;
    *handle = evidence->sources[number].handle;
    return true;
}

/* ---- the strings in a JSON value ---- */

weir_status wr_evidence_each_string(weir_span json, struct wr_arena *arena,
                                    wr_evidence_string_fn *on_string, void *user)
{
    struct wr_json doc;
    weir_span key = {0};
    weir_status status = wr_json_parse(&doc, arena, json, NULL, NULL);
    if (status)
        return status == WEIR_NOMEM ? status : on_string(user, key, json);
    for (wr_json_id id = 0; id < doc.nodes_count && !status; id++) {
        if (doc.nodes[id].is_key)
            key = wr_json_inner(&doc, id);
        if (doc.nodes[id].is_key || wr_json_kind(&doc, id) != WR_JSON_STRING)
            continue;
        weir_span text = wr_json_text(&doc, arena, id);
        status = text.ptr ? on_string(user, key, text) : wr_arena_status(arena);
    }
    return status;
}

/* ---- noting ---- */

struct noting {
    struct wr_evidence *evidence;
    uint32_t number; /* of the segment */
    uint32_t line;
    bool is_result;
};

static weir_status note_string(struct noting *n, weir_span text)
{
    return wr_evidence_index_add(&n->evidence->index, text, n->number, n->line, n->is_result);
}

/* A path is found again by any of its ends: src/a/b.c, a/b.c, b.c. */
static weir_status note_path(struct noting *n, weir_span path)
{
    weir_status status = WEIR_OK;
    bool more = true;
    while (more && !status) {
        if (path.len >= WR_EVIDENCE_WORD_CHARS_MIN)
            status = note_string(n, path);
        more = wr_run_path_shorten(&path);
    }
    return status;
}

static weir_status note_run(struct noting *n, weir_span run)
{
    weir_status status = WEIR_OK;
    weir_span word;
    size_t at = 0;
    if (wr_run_is_path(run))
        status = note_path(n, run);
    else if (wr_run_is_hyphenated(run))
        status = note_string(n, run);
    while (!status && wr_run_word(run, &at, &word))
        if (word.len >= WR_EVIDENCE_WORD_CHARS_MIN)
            status = note_string(n, word);
    return status;
}

static weir_status note_line(struct noting *n, weir_span line)
{
    weir_span cores[WR_EVIDENCE_CORES_MAX], run;
    uint32_t count = wr_line_cores(line, cores);
    weir_status status = WEIR_OK;
    size_t at = 0;
    for (uint32_t i = 0; i < count && !status; i++)
        status = note_string(n, cores[i]);
    while (!status && wr_run_next(line, &at, &run))
        status = note_run(n, run);
    return status;
}

static weir_status note_text(struct noting *n, weir_span text)
{
    weir_status status = WEIR_OK;
    weir_span line;
    for (n->line = 0; !status && wr_span_line(&text, &line); n->line++)
        status = note_line(n, line);
    return status;
}

/* Of a string inside a result's JSON the line of the segment is not known: it is taken to be the
 * first. The lines of a call are those of all its strings. */
static weir_status note_inner_string(void *user, weir_span key, weir_span text)
{
    struct noting *n = user;
    weir_status status = WEIR_OK;
    weir_span line;
    (void)key;
    if (n->is_result)
        n->line = 0;
    while (!status && wr_span_line(&text, &line)) {
        status = note_line(n, line);
        n->line += !n->is_result;
    }
    return status;
}

static bool is_readable(const struct wr_segment *segment)
{
    return segment->payload != WR_JSON_NONE && !segment->is_opaque &&
           segment->kind != WEIR_KIND_IMAGE && segment->kind != WEIR_KIND_FILE &&
           segment->kind != WEIR_KIND_OTHER;
}

static weir_status note_content(struct wr_evidence *e, const struct wr_transcript *t,
                                const struct wr_segment *segment, uint32_t number)
{
    struct noting n = {.evidence = e, .number = number};
    n.is_result = segment->kind == WEIR_KIND_TOOL_RESULT;
    weir_span text = wr_segment_text(t, segment, &e->scratch);
    if (!text.ptr)
        return wr_arena_status(&e->scratch);
    if (segment->kind == WEIR_KIND_TOOL_CALL)
        return wr_evidence_each_string(text, &e->scratch, note_inner_string, &n);
    weir_status status = note_text(&n, text);
    if (!status && n.is_result && wr_evidence_is_json(text))
        status = wr_evidence_each_string(text, &e->scratch, note_inner_string, &n);
    if (!status && n.is_result)
        status = weir_handle_of(text, &e->sources[number].handle);
    return status;
}

static bool writes(const struct wr_segment *segment)
{
    size_t at = 0;
    return segment->kind == WEIR_KIND_TOOL_CALL && segment->handles &&
           !segment->handles->is_shell && wr_tool_next_write(segment->handles, &at);
}

static weir_status note_segment(struct wr_evidence *e, const struct wr_transcript *t, uint32_t i)
{
    const struct wr_segment *segment = &t->segments[i];
    if (!WR_ARENA_ROOM(e->arena, e->sources, e->sources_count, e->sources_cap, SOURCES_CAP_FIRST))
        return wr_arena_status(e->arena);
    bool is_result = segment->kind == WEIR_KIND_TOOL_RESULT;
    e->sources[e->sources_count] = (struct wr_evidence_source){
        .hash = wr_segment_hash(t, segment),
        .call = is_result && segment->pair != WR_SEGMENT_NONE ? e->base + segment->pair
                                                              : WR_EVIDENCE_NONE,
        .answers = e->answers_count,
        .is_result = is_result && is_readable(segment),
        .is_written = writes(segment),
        .is_model = segment->kind == WEIR_KIND_TOOL_CALL || segment->role == WEIR_ROLE_ASSISTANT,
        .is_user = segment->role == WEIR_ROLE_USER};
    weir_status status = WEIR_OK;
    if (is_readable(segment))
        status = note_content(e, t, segment, e->sources_count);
    e->sources_count++;
    return status;
}

static bool extends(const struct wr_evidence *e, const struct wr_transcript *t)
{
    uint32_t known = e->sources_count - e->base;
    if (known > t->segments_count)
        return false;
    for (uint32_t i = 0; i < known; i++)
        if (e->sources[e->base + i].hash != wr_segment_hash(t, &t->segments[i]))
            return false;
    return true;
}

weir_status wr_evidence_note(struct wr_evidence *evidence, const struct wr_transcript *original,
                             struct wr_evidence_at *at)
{
    weir_status status = WEIR_OK;
    if (!extends(evidence, original))
        evidence->base = evidence->sources_count;
    for (uint32_t i = evidence->sources_count - evidence->base;
         i < original->segments_count && !status; i++) {
        wr_arena_reset(&evidence->scratch);
        status = note_segment(evidence, original, i);
    }
    *at = (struct wr_evidence_at){.base = evidence->base,
                                  .segments_count = original->segments_count,
                                  .last_output = WR_EVIDENCE_NONE};
    for (uint32_t i = original->segments_count; i-- > 0;)
        if (original->segments[i].from_model) {
            at->last_output = evidence->base + i;
            break;
        }
    return status;
}

/* ---- finding ---- */

struct finding {
    struct wr_evidence *evidence;
    const struct wr_evidence_at *at;
    struct wr_arena *arena;
    struct wr_evidence_items *found;
    bool is_line_said; /* of the line at hand all was said before: so were its words */
    weir_status status;
};

/* The string, where a result of this request holds it; else NULL. */
static struct wr_evidence_string *from_result(const struct finding *f, weir_span text)
{
    struct wr_evidence_string *string = wr_evidence_index_find(&f->evidence->index, text);
    bool is_there = string && string->result != WR_EVIDENCE_NONE && string->result >= f->at->base;
    return is_there ? string : NULL;
}

static void put_item(struct finding *f, const struct wr_evidence_item *item)
{
    struct wr_evidence_items *found = f->found;
    if (!WR_ARENA_ROOM(f->arena, found->items, found->count, found->cap, ITEMS_CAP_FIRST)) {
        f->status = wr_arena_status(f->arena);
        return;
    }
    found->items[found->count] = *item;
    found->items[found->count].age =
        f->evidence->answers_count - 1 - f->evidence->sources[item->source].answers;
    found->items[found->count++].is_first_sight =
        f->at->last_output == WR_EVIDENCE_NONE || item->source > f->at->last_output;
}

/* A string that the model had said itself: its own words are what the answer needs. */
static void add_said(struct finding *f, const struct wr_evidence_string *string)
{
    struct wr_evidence_items *found = f->found;
    if (string->said == WR_EVIDENCE_NONE || string->said < f->at->base || f->is_line_said ||
        !f->evidence->sources[string->said].is_model)
        return;
    if (!WR_ARENA_ROOM(f->arena, found->said, found->said_count, found->said_cap, ITEMS_CAP_FIRST))
        f->status = wr_arena_status(f->arena);
    else
        found->said[found->said_count++] =
            (struct wr_evidence_place){string->said, string->said_line};
}

/* What the model had said itself: no evidence of a result, but what a policy that takes the model's
 * words out may lack. */
static void put_own(struct finding *f, enum wr_evidence_kind kind, weir_span text,
                    const struct wr_evidence_string *string)
{
    add_said(f, string);
    if (!f->is_line_said)
        put_item(f, &(struct wr_evidence_item){.text = text,
                                               .kind = kind,
                                               .source = string->said,
                                               .line = string->said_line,
                                               .is_repeated = true,
                                               .is_own = true,
                                               .is_written =
                                                   f->evidence->sources[string->said].is_written});
}

static void add_item(struct finding *f, enum wr_evidence_kind kind, weir_span text,
                     struct wr_evidence_string *string)
{
    const struct wr_evidence_source *source = &f->evidence->sources[string->result];
    if (string->seen == f->evidence->answers_count || f->status)
        return;
    string->seen = f->evidence->answers_count;
    /* A result often repeats what its call said; that much the model knew before. */
    uint32_t since = source->call == WR_EVIDENCE_NONE ? string->result : source->call;
    struct wr_evidence_item item = {.text = text,
                                    .kind = kind,
                                    .source = string->result,
                                    .line = string->line,
                                    .is_repeated =
                                        string->said != WR_EVIDENCE_NONE && string->said >= since};
    if (item.is_repeated && f->evidence->sources[string->said].is_model)
        put_own(f, kind, text, string);
    else
        put_item(f, &item);
}

/* A string that no result of this request holds. False where nobody said it before either. */
static bool take_said(struct finding *f, enum wr_evidence_kind kind, weir_span text)
{
    struct wr_evidence_string *string = wr_evidence_index_find(&f->evidence->index, text);
    if (!string || string->said == WR_EVIDENCE_NONE || string->said < f->at->base)
        return false;
    if (string->seen == f->evidence->answers_count || f->status)
        return true;
    string->seen = f->evidence->answers_count;
    if (!f->evidence->sources[string->said].is_user)
        put_own(f, kind, text, string);
    else if (!f->is_line_said)
        put_item(f, &(struct wr_evidence_item){.text = text,
                                               .kind = kind,
                                               .source = string->said,
                                               .line = string->said_line,
                                               .is_repeated = true,
                                               .is_users = true});
    return true;
}

/* True where the string stands in a result. */
static bool take_item(struct finding *f, enum wr_evidence_kind kind, weir_span text)
{
    struct wr_evidence_string *string = from_result(f, text);
    if (string)
        add_item(f, kind, text, string);
    return string != NULL;
}

static void take_or_said(struct finding *f, enum wr_evidence_kind kind, weir_span text)
{
    if (!take_item(f, kind, text))
        (void)take_said(f, kind, text);
}

/* All of the line is one path or name: it is that, not a line. */
static bool is_one_run(weir_span line)
{
    weir_span run;
    size_t at = 0;
    return wr_run_next(line, &at, &run) && run.len == line.len;
}

static bool take_line(struct finding *f, weir_span line)
{
    weir_span cores[WR_EVIDENCE_CORES_MAX];
    uint32_t count = wr_line_cores(line, cores);
    for (uint32_t i = 0; i < count; i++)
        if (!is_one_run(cores[i]) && take_item(f, WR_EVIDENCE_LINE, cores[i]))
            return true;
    for (uint32_t i = 0; i < count && !f->is_line_said; i++)
        f->is_line_said = !is_one_run(cores[i]) && take_said(f, WR_EVIDENCE_LINE, cores[i]);
    return false;
}

/* The longest end of the path that was seen. Its bare name counts only where the name is rare. */
static bool take_path(struct finding *f, weir_span path)
{
    weir_span end = path;
    do {
        bool is_bare = end.len < path.len && !memchr(end.ptr, '/', end.len);
        if (is_bare && (!wr_run_is_path(end) || wr_run_is_common_name(end)))
            return false;
        if (take_item(f, WR_EVIDENCE_PATH, end))
            return true;
    } while (wr_run_path_shorten(&end));
    return false;
}

/* `word` stands in back quotes, alone or as the name of a function. */
static bool is_quoted(weir_span line, weir_span word)
{
    size_t start = (size_t)(word.ptr - line.ptr), end = start + word.len;
    return start > 0 && end < line.len && line.ptr[start - 1] == '`' &&
           (line.ptr[end] == '`' || line.ptr[end] == '(');
}

static void take_run(struct finding *f, weir_span line, weir_span run)
{
    weir_span word;
    size_t at = 0;
    if (wr_run_is_path(run) && take_path(f, run))
        return;
    if (wr_run_is_hyphenated(run) && take_item(f, WR_EVIDENCE_IDENTIFIER, run))
        return;
    if (wr_run_is_path(run) || wr_run_is_hyphenated(run))
        (void)take_said(f, wr_run_is_path(run) ? WR_EVIDENCE_PATH : WR_EVIDENCE_IDENTIFIER, run);
    while (wr_run_word(run, &at, &word)) {
        if (wr_word_is_identifier(word))
            take_or_said(f, WR_EVIDENCE_IDENTIFIER, word);
        else if (wr_word_is_quotable(word) && is_quoted(line, word))
            take_or_said(f, WR_EVIDENCE_QUOTED, word);
    }
}

static void take_text(struct finding *f, weir_span text)
{
    weir_span line, run;
    while (wr_span_line(&text, &line)) {
        size_t at = 0;
        f->is_line_said = false;
        if (take_line(f, line))
            continue;
        while (wr_run_next(line, &at, &run))
            take_run(f, line, run);
    }
}

static bool is_search_key(weir_span key)
{
    static const char *const keys[] = {"pattern", "query", "regex", "symbol", "search_term"};
    for (size_t i = 0; i < WR_COUNT_OF(keys); i++)
        if (wr_span_is(key, keys[i]))
            return true;
    return false;
}

static weir_status take_argument(void *user, weir_span key, weir_span text)
{
    struct finding *f = user;
    weir_span word;
    size_t at = 0;
    f->is_line_said = false;
    /* What is searched for is a name, also where it looks like a word of prose. */
    if (is_search_key(key) && wr_run_word(text, &at, &word) && word.len == text.len &&
        wr_word_is_quotable(word) && !wr_word_is_identifier(word))
        take_or_said(f, WR_EVIDENCE_QUOTED, word);
    take_text(f, text);
    return f->status;
}

static weir_status take_content(struct finding *f, const struct wr_json *answer)
{
    wr_json_id content = wr_json_find(answer, 0, "content");
    if (wr_json_is(answer, content, WR_JSON_STRING)) {
        weir_span text = wr_json_text(answer, f->arena, content);
        if (!text.ptr)
            return wr_arena_status(f->arena);
        take_text(f, text);
        return f->status;
    }
    if (!wr_json_is(answer, content, WR_JSON_ARRAY))
        return WEIR_OK;
    WR_JSON_EACH(part, answer, content) {
        wr_json_id id = wr_json_find(answer, part, "text");
        if (!wr_json_is(answer, id, WR_JSON_STRING))
            continue;
        weir_span text = wr_json_text(answer, f->arena, id);
        if (!text.ptr)
            return wr_arena_status(f->arena);
        take_text(f, text);
    }
    return f->status;
}

static weir_status take_calls(struct finding *f, const struct wr_json *answer)
{
    wr_json_id calls = wr_json_find(answer, 0, "tool_calls");
    weir_status status = WEIR_OK;
    if (!wr_json_is(answer, calls, WR_JSON_ARRAY))
        return WEIR_OK;
    for (wr_json_id call = wr_json_first(answer, calls); call != WR_JSON_NONE && !status;
         call = wr_json_next(answer, calls, call)) {
        wr_json_id arguments =
            wr_json_find(answer, wr_json_find(answer, call, "function"), "arguments");
        if (arguments == WR_JSON_NONE)
            arguments = wr_json_find(answer, wr_json_find(answer, call, "custom"), "input");
        if (!wr_json_is(answer, arguments, WR_JSON_STRING))
            continue;
        weir_span text = wr_json_text(answer, f->arena, arguments);
        if (!text.ptr)
            return wr_arena_status(f->arena);
        status = wr_evidence_each_string(text, f->arena, take_argument, f);
    }
    return status;
}

weir_status wr_evidence_find(struct wr_evidence *evidence, const struct wr_evidence_at *at,
                             const struct wr_json *answer, struct wr_arena *arena,
                             struct wr_evidence_items *found)
{
    struct finding f = {.evidence = evidence, .at = at, .arena = arena, .found = found};
    *found = (struct wr_evidence_items){0};
    evidence->answers_count++;
    weir_status status = take_content(&f, answer);
    return status ? status : take_calls(&f, answer);
}
