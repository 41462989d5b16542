/* What the model said: sentences that decide something, and those that say what comes next. Also
 * the user's first and newest words, to be quoted. */
#include "policy/summary_facts.h"

#include "base/ascii.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/span.h"
#include "base/text.h"

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
    struct wr_facts *facts;
    struct wr_arena *arena;
    const struct wr_facts_range *range;
    struct wr_index seen; /* decisions */
    uint32_t of_text;     /* decisions of the text being read */
};

static bool begins_with(weir_span text, const char *cue)
{
    size_t len = strlen(cue);
    if (text.len < len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (wr_ascii_lower(text.ptr[i]) != cue[i])
            return false;
    return true;
}

static bool holds_cue(weir_span sentence)
{
    for (size_t at = 0; at < sentence.len; at++) {
        if (at && sentence.ptr[at - 1] != ' ')
            continue;
        for (size_t i = 0; i < sizeof(decision_cues) / sizeof(decision_cues[0]); i++)
            if (begins_with(wr_span_cut(sentence, at, sentence.len), decision_cues[i]))
                return true;
    }
    return false;
}

static bool begins_as_step(weir_span sentence)
{
    for (size_t i = 0; i < sizeof(step_cues) / sizeof(step_cues[0]); i++)
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
    while (digits < line.len && wr_ascii_digit(line.ptr[digits]))
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
    struct wr_buf buf;
    wr_buf_init(&buf, WR_OUTPUT_BYTES_MAX);
    wr_text_one_line_max(&buf, sentence, WR_FACT_LINE_CHARS_MAX);
    return wr_text_keep(w->arena, &buf, kept);
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
    const struct wr_transcript *t = w->range->transcript;
    weir_status status = WEIR_OK;
    for (uint32_t i = w->range->first_segment; i < w->range->end_segment && !status; i++) {
        const struct wr_segment *s = &t->segments[i];
        bool is_text = s->kind == WEIR_KIND_TEXT && s->role == WEIR_ROLE_ASSISTANT;
        if (!is_text || !s->parts_count || !wr_facts_include(w->range, i))
            continue;
        weir_span text = wr_segment_text(t, s, w->arena);
        status = text.ptr ? read_text(w, text) : wr_arena_status(w->arena);
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
    const struct wr_transcript *t = w->range->transcript;
    weir_span first = {"", 0}, newest = {"", 0}, any = {"", 0};

    for (uint32_t i = 0; i < w->range->end_segment; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind != WEIR_KIND_TEXT || s->role != WEIR_ROLE_USER || !s->parts_count)
            continue;
        weir_span text = wr_segment_text(t, s, w->arena);
        if (!text.ptr)
            return wr_arena_status(w->arena);
        text = wr_span_trim(text);
        any = any.len ? any : text;
        if (!text.len || is_surrounding(text))
            continue;
        if (first.len)
            newest = text;
        else
            first = text;
    }
    weir_status status = keep_sentence(w, first.len ? first : any, &w->facts->intent);
    return status ? status : keep_sentence(w, newest, &w->facts->latest);
}

static uint32_t count_texts(const struct wr_facts_range *range)
{
    uint32_t count = 0;
    for (uint32_t i = range->first_segment; i < range->end_segment; i++)
        count += range->transcript->segments[i].kind == WEIR_KIND_TEXT;
    return count;
}

weir_status wr_facts_read_words(struct wr_facts *facts, struct wr_arena *arena,
                                const struct wr_facts_range *range)
{
    struct words w = {.facts = facts, .arena = arena, .range = range};
    uint32_t texts = count_texts(range), most = DECISIONS_MAX;

    if (texts < DECISIONS_MAX / DECISIONS_OF_TEXT_MAX)
        most = texts * DECISIONS_OF_TEXT_MAX;
    facts->decisions = WR_ARENA_ARRAY(arena, weir_span, most);
    if (!facts->decisions)
        return wr_arena_status(arena);
    weir_status status = wr_index_init(&w.seen, arena, most);
    if (!status)
        status = read_model(&w);
    return status ? status : read_user(&w);
}
