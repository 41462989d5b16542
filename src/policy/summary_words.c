/* What was said in a part of a conversation: the newest plan, sentences of the model that decide
 * something or say what comes next, and the user's first and newest words, to be quoted.
 *
 * Plans come from tools that replace a list whole (TodoWrite, update_plan) or build it item by item
 * (TaskCreate, TaskUpdate). Sentences are found by cues, lists of words that decisions and
 * announcements begin with or hold: nothing here understands them, so each text gives three
 * decisions at most, and only the newest text's announcements count. */
#include "policy/summary_facts.h"

#include "base/ascii.h"
#include "base/span.h"
#include "base/text.h"
#include "policy/stage.h"

/* ---- plans ---- */

static enum wr_fact_progress progress_of(const struct wr_json *doc, wr_json_id status)
{
    static const char *const done[] = {"completed", "done", "complete", "cancelled", "deleted"};
    static const char *const active[] = {"in_progress", "in-progress", "active"};
    for (size_t i = 0; i < WR_COUNT_OF(done); i++)
        if (wr_json_text_is(doc, status, done[i]))
            return WR_FACT_DONE;
    for (size_t i = 0; i < WR_COUNT_OF(active); i++)
        if (wr_json_text_is(doc, status, active[i]))
            return WR_FACT_ACTIVE;
    return WR_FACT_PENDING;
}

static weir_status add_item(struct wr_facts_reader *r, const struct wr_json *doc, wr_json_id text,
                            wr_json_id progress)
{
    weir_span raw = wr_json_text(doc, &r->scratch, text);
    struct wr_fact_item *item = &r->facts->items[r->facts->items_count];

    if (!raw.ptr)
        return wr_arena_status(&r->scratch);
    if (r->facts->items_count == WR_FACT_ITEMS_MAX)
        return WEIR_OK;
    *item = (struct wr_fact_item){.id = {"", 0}, .progress = progress_of(doc, progress)};
    weir_status status = wr_text_keep_line(r->arena, raw, WR_FACT_LINE_CHARS_MAX, &item->text);
    r->facts->items_count += !status && item->text.len;
    return status;
}

/* What an item is called: the first of these that is a text. */
static wr_json_id text_of_item(const struct wr_json *doc, wr_json_id item)
{
    static const char *const names[] = {"content", "step",        "subject", "title",
                                        "text",    "description", "task"};
    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        wr_json_id value = wr_json_find(doc, item, names[i]);
        if (wr_json_is(doc, value, WR_JSON_STRING))
            return value;
    }
    return WR_JSON_NONE;
}

/* A list in the arguments replaces the plan. */
static wr_json_id list_of(const struct wr_json *doc)
{
    static const char *const names[] = {"todos", "plan", "items", "tasks", "todoList"};
    for (size_t i = 0; i < WR_COUNT_OF(names); i++) {
        wr_json_id value = wr_json_find(doc, 0, names[i]);
        if (wr_json_is(doc, value, WR_JSON_ARRAY))
            return value;
    }
    return WR_JSON_NONE;
}

static weir_status replace_plan(struct wr_facts_reader *r, const struct wr_json *doc,
                                wr_json_id list)
{
    weir_status status = WEIR_OK;
    r->facts->items_count = 0;
    for (wr_json_id item = wr_json_first(doc, list); item != WR_JSON_NONE && !status;
         item = wr_json_next(doc, list, item)) {
        wr_json_id text = text_of_item(doc, item);
        if (text != WR_JSON_NONE)
            status = add_item(r, doc, text, wr_json_find(doc, item, "status"));
    }
    return status;
}

/* "Task #7 created": the digits behind the first '#'. */
static weir_span id_in_result(weir_span text)
{
    size_t from = wr_span_find(text, WR_LIT("#"), 0), to;
    if (from == SIZE_MAX)
        return (weir_span){"", 0};
    for (to = ++from; to < text.len && wr_is_digit(text.ptr[to]); to++)
        ;
    return wr_span_cut(text, from, to);
}

static weir_status create_item(struct wr_facts_reader *r, const struct wr_json *doc,
                               wr_json_id subject, weir_span result)
{
    uint32_t at = r->facts->items_count;
    weir_status status = add_item(r, doc, subject, WR_JSON_NONE);
    if (!status && r->facts->items_count > at)
        r->facts->items[at].id = wr_arena_copy(r->arena, id_in_result(result));
    return status ? status : wr_arena_status(r->arena);
}

static weir_status update_item(struct wr_facts_reader *r, const struct wr_json *doc, wr_json_id id)
{
    wr_json_id progress = wr_json_find(doc, 0, "status");
    if (!wr_json_is(doc, id, WR_JSON_STRING) || !wr_json_is(doc, progress, WR_JSON_STRING))
        return WEIR_OK;
    weir_span wanted = wr_json_text(doc, &r->scratch, id);
    if (!wanted.ptr)
        return wr_arena_status(&r->scratch);
    for (uint32_t i = 0; i < r->facts->items_count && wanted.len; i++)
        if (wr_span_eq(r->facts->items[i].id, wanted))
            r->facts->items[i].progress = progress_of(doc, progress);
    return WEIR_OK;
}

static weir_status read_plan_call(struct wr_facts_reader *r, uint32_t call)
{
    uint32_t result = r->range->transcript->segments[call].pair;
    weir_span text = {"", 0};
    struct wr_call about;
    struct wr_json doc;

    weir_status status = wr_call_read(&about, &r->scratch, r->range->transcript, call);
    if (status || !about.handles || about.handles->kind != WR_EFFECT_PLAN)
        return status;
    if (wr_json_parse(&doc, &r->scratch, about.arguments, NULL, NULL))
        return wr_arena_status(&r->scratch);
    if (result != WR_SEGMENT_NONE && wr_facts_include(r->range, result))
        text = wr_call_result(r->range->transcript, result, &r->scratch);
    if (!text.ptr)
        return wr_arena_status(&r->scratch);

    wr_json_id list = list_of(&doc), subject = wr_json_find(&doc, 0, "subject");
    wr_json_id id = wr_json_find(&doc, 0, "taskId");
    if (list != WR_JSON_NONE)
        return replace_plan(r, &doc, list);
    if (id != WR_JSON_NONE)
        return update_item(r, &doc, id);
    return wr_json_is(&doc, subject, WR_JSON_STRING) ? create_item(r, &doc, subject, text)
                                                     : WEIR_OK;
}

/* Plans and lists of things to do, as they stand at the end of the range. */
static weir_status read_plan(struct wr_facts_reader *r)
{
    weir_status status = WEIR_OK;

    if (!r->facts->items)
        r->facts->items = WR_ARENA_ARRAY(r->arena, struct wr_fact_item, WR_FACT_ITEMS_MAX);
    if (!r->facts->items)
        return wr_arena_status(r->arena);
    for (uint32_t i = r->range->first_segment; i < r->range->end_segment && !status; i++) {
        const struct wr_segment *s = &r->range->transcript->segments[i];
        bool is_plan = s->handles && s->handles->kind == WR_EFFECT_PLAN;
        if (s->kind != WEIR_KIND_TOOL_CALL || !is_plan || !wr_facts_include(r->range, i))
            continue;
        status = read_plan_call(r, i);
        wr_arena_reset(&r->scratch);
    }
    return status;
}

/* ---- cues ---- */

enum { SENTENCE_BYTES_MIN = 24, SENTENCE_BYTES_MAX = 600 };
enum { DECISIONS_OF_TEXT_MAX = 3, DECISIONS_MAX = 4096 };

/* A decision is told by words like these anywhere in a sentence. */
static const char *const decision_cues[] = {
    "decided",      "root cause",    "the fix is",     "instead of",      "rather than",
    "the issue is", "the issue was", "the problem is", "the problem was", "the bug is",
    "because",      "going with",    "will use",       "i'll use",        "chose ",
    "the approach", "turns out",     "the reason",     "in favor of",     "must not",
    "we should",    "should be",     "the solution",   "won't ",          "will not ",
};

/* A step to come begins so. */
static const char *const step_cues[] = {
    "next",      "now i",     "now let", "let me",   "let's",     "i'll",       "i will",
    "i need to", "i'm going", "then i",  "we need ", "remaining", "still need", "what remains",
};

struct words {
    struct wr_facts_reader *reader;
    struct wr_facts *facts; /* the reader's */
    struct wr_index seen;   /* decisions */
    uint32_t of_text;       /* decisions of the text being read */
};

static bool begins_with(weir_span text, const char *cue)
{
    size_t len = strlen(cue);
    if (text.len < len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (wr_lower(text.ptr[i]) != cue[i])
            return false;
    return true;
}

static bool holds_cue(weir_span sentence)
{
    for (size_t at = 0; at < sentence.len; at++) {
        if (at && sentence.ptr[at - 1] != ' ')
            continue;
        for (size_t i = 0; i < WR_COUNT_OF(decision_cues); i++)
            if (begins_with(wr_span_cut(sentence, at, sentence.len), decision_cues[i]))
                return true;
    }
    return false;
}

static bool begins_as_step(weir_span sentence)
{
    for (size_t i = 0; i < WR_COUNT_OF(step_cues); i++)
        if (begins_with(sentence, step_cues[i]))
            return true;
    return false;
}

/* ---- sentences ---- */

/* Without what Markdown puts before a line: bullets, numbers, quotes, headings. */
static weir_span skip_marks(weir_span line)
{
    size_t at = 0;
    while (at < line.len && strchr(" \t#>*-+", line.ptr[at]) && line.ptr[at])
        at++;
    size_t digits = at;
    while (digits < line.len && wr_is_digit(line.ptr[digits]))
        digits++;
    if (digits > at && digits + 1 < line.len && line.ptr[digits] == '.' &&
        line.ptr[digits + 1] == ' ')
        at = digits + 2;
    return wr_span_cut(line, at, line.len);
}

/* Takes the next sentence off a line: up to a full stop, question or exclamation mark before a
 * space. */
static bool next_sentence(weir_span *rest, weir_span *sentence)
{
    size_t end = rest->len;
    if (!rest->len)
        return false;
    for (size_t i = 0; i + 1 < rest->len; i++)
        if (strchr(".!?", rest->ptr[i]) && rest->ptr[i] && rest->ptr[i + 1] == ' ') {
            end = i + 1;
            break;
        }
    *sentence = wr_span_trim(wr_span_cut(*rest, 0, end));
    *rest = wr_span_cut(*rest, end, rest->len);
    return true;
}

static weir_status keep_sentence(struct words *w, weir_span sentence, weir_span *kept)
{
    return wr_text_keep_line(w->reader->arena, sentence, WR_FACT_LINE_CHARS_MAX, kept);
}

static void add_decision(struct words *w, weir_span sentence)
{
    struct wr_facts *facts = w->facts;
    uint64_t hash = wr_hash64(sentence);
    uint32_t at, item;

    for (at = wr_index_first(&w->seen, hash); (item = wr_index_item(&w->seen, at)) != WR_INDEX_NONE;
         at = wr_index_next(&w->seen, at, hash))
        if (wr_span_eq(facts->decisions[item], sentence))
            return;
    wr_index_put(&w->seen, at, hash, facts->decisions_count);
    facts->decisions[facts->decisions_count++] = sentence;
    w->of_text++;
}

static weir_status read_sentence(struct words *w, weir_span sentence)
{
    bool has_length = sentence.len >= SENTENCE_BYTES_MIN && sentence.len <= SENTENCE_BYTES_MAX;
    bool is_step = begins_as_step(sentence) && w->facts->steps_count < WR_FACT_STEPS_MAX;
    bool is_decision = has_length && !begins_with(sentence, "let me") && holds_cue(sentence) &&
                       w->of_text < DECISIONS_OF_TEXT_MAX &&
                       w->facts->decisions_count < DECISIONS_MAX;

    if (!is_step && !is_decision)
        return WEIR_OK;
    weir_status status = keep_sentence(w, sentence, &sentence);
    if (status)
        return status;
    if (is_step)
        w->facts->steps[w->facts->steps_count++] = sentence;
    if (is_decision)
        add_decision(w, sentence);
    return WEIR_OK;
}

/* Code, tables and headings are no sentences. */
static weir_status read_text(struct words *w, weir_span text)
{
    weir_span line, sentence;
    bool in_code = false;
    weir_status status = WEIR_OK;

    w->of_text = 0;
    w->facts->steps_count = 0; /* those of an earlier text are done, or said again */
    while (!status && wr_span_line(&text, &line)) {
        weir_span rest = skip_marks(line);
        if (wr_span_starts(rest, WR_LIT("```"))) {
            in_code = !in_code;
            continue;
        }
        if (in_code || wr_span_starts(rest, WR_LIT("|")) || wr_span_starts(line, WR_LIT("#")))
            continue;
        while (!status && next_sentence(&rest, &sentence))
            status = read_sentence(w, sentence);
    }
    return status;
}

static weir_status read_model(struct words *w)
{
    const struct wr_facts_range *range = w->reader->range;
    weir_status status = WEIR_OK;

    for (uint32_t i = range->first_segment; i < range->end_segment && !status; i++) {
        const struct wr_segment *s = &range->transcript->segments[i];
        bool is_text = s->kind == WEIR_KIND_TEXT && s->role == WEIR_ROLE_ASSISTANT;
        if (!is_text || !s->parts_count || !wr_facts_include(range, i))
            continue;
        weir_span text = wr_segment_text(range->transcript, s, &w->reader->scratch);
        status = text.ptr ? read_text(w, text) : wr_arena_status(&w->reader->scratch);
        wr_arena_reset(&w->reader->scratch);
    }
    return status;
}

/* ---- the user ---- */

/* Agents put surroundings and instructions into messages of the user. */
static bool is_surrounding(weir_span text)
{
    return wr_span_starts(text, WR_LIT("<")) || wr_span_starts(text, WR_LIT("# AGENTS.md")) ||
           wr_span_starts(text, WR_LIT("Caveat:")) ||
           wr_span_starts(text, WR_LIT("[Request interrupted")) ||
           wr_span_starts(text, WR_LIT("[weir "));
}

/* The user's messages stay in the prompt, so those before the range are looked at too. */
static weir_status read_user(struct words *w)
{
    const struct wr_transcript *t = w->reader->range->transcript;
    weir_span first = {"", 0}, newest = {"", 0}, any = {"", 0};
    bool has_first = w->facts->has_intent;
    weir_status status = WEIR_OK;

    for (uint32_t i = 0; i < w->reader->range->end_segment; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind != WEIR_KIND_TEXT || s->role != WEIR_ROLE_USER || !s->parts_count)
            continue;
        weir_span text = wr_segment_text(t, s, &w->reader->scratch);
        if (!text.ptr)
            return wr_arena_status(&w->reader->scratch);
        text = wr_span_trim(text);
        any = any.len ? any : text;
        if (!text.len || is_surrounding(text))
            continue;
        if (has_first)
            newest = text;
        else
            first = text;
        has_first = true;
    }
    if (first.len || !w->facts->intent.len)
        status = keep_sentence(w, first.len ? first : any, &w->facts->intent);
    w->facts->has_intent = has_first;
    return status || !newest.len ? status : keep_sentence(w, newest, &w->facts->latest);
}

/* Each text adds a few decisions at most. */
static weir_status make_room(struct words *w)
{
    const struct wr_facts_range *range = w->reader->range;
    struct wr_facts *facts = w->facts;
    uint32_t texts = 0, more = DECISIONS_MAX - facts->decisions_count;

    for (uint32_t i = range->first_segment; i < range->end_segment; i++)
        texts += range->transcript->segments[i].kind == WEIR_KIND_TEXT;
    if (texts < more / DECISIONS_OF_TEXT_MAX)
        more = texts * DECISIONS_OF_TEXT_MAX;
    if (!WR_FACTS_ROOM(w->reader->arena, facts->decisions, facts->decisions_count, more))
        return wr_arena_status(w->reader->arena);
    weir_status status =
        wr_index_init(&w->seen, &w->reader->indexes, facts->decisions_count + more);
    for (uint32_t i = 0; i < facts->decisions_count && !status; i++)
        wr_facts_index(&w->seen, wr_hash64(facts->decisions[i]), i);
    return status;
}

weir_status wr_facts_read_words(struct wr_facts_reader *reader)
{
    struct words w = {.reader = reader, .facts = reader->facts};
    weir_status status = read_plan(reader);

    if (!status)
        status = make_room(&w);
    if (!status)
        status = read_model(&w);
    return status ? status : read_user(&w);
}
