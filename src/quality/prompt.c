#include "quality/prompt.h"

#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "policy/form.h"
#include "replay/cache.h"

enum { FORMS_COUNT = WR_FORM_DROPPED + 1 };

/* ---- as it came ---- */

static bool is_head(const struct wr_segment *s)
{
    return s->kind == WEIR_KIND_TOOLS || s->kind == WEIR_KIND_SYSTEM;
}

static bool is_first_user(const struct wr_prompt *p, const struct wr_segment *s)
{
    return !p->first_user && s->role == WEIR_ROLE_USER && s->kind == WEIR_KIND_TEXT;
}

static void see_marker(struct wr_prompt *p, const struct wr_transcript *t, wr_json_id marker)
{
    if (marker == WR_JSON_NONE)
        return;
    wr_json_id ttl = wr_json_find(t->doc, wr_json_value(marker), "ttl");
    p->has_marker = true;
    p->has_long_marker |= wr_json_text_is(t->doc, ttl, "1h");
}

/* What a provider's key may rest on beside the prompt; a change of it loses the cache. */
static uint64_t hash_parameters(const struct wr_json *doc)
{
    static const char *const names[] = {
        "tool_choice",     "thinking",         "reasoning", "reasoning_effort", "text",
        "response_format", "prompt_cache_key", "verbosity", "service_tier",     "speed"};
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    wr_json_id values[COUNT];
    uint64_t hash = 0;

    (void)wr_json_pick(doc, 0, names, COUNT, values);
    for (size_t i = 0; i < COUNT; i++)
        if (values[i] != WR_JSON_NONE)
            hash = wr_hash64_seeded(wr_json_raw(doc, values[i]), hash + i);
    return hash;
}

static void read_blocks(struct wr_prompt *p, const struct wr_transcript *t)
{
    wr_json_id message = WR_JSON_NONE;
    uint32_t number = 0;

    p->parameters = hash_parameters(t->doc);
    see_marker(p, t, wr_find_marker(t->doc, 0));
    for (uint32_t i = 0; i < p->blocks_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        struct wr_prompt_block *b = &p->blocks[i];
        weir_range range = wr_segment_range(t, s);
        number += !is_head(s) && s->message != message;
        message = s->message;
        b->original = b->sent = wr_segment_hash(t, s);
        b->weight = (uint32_t)(range.end - range.start) + 1;
        b->message = is_head(s) ? 0 : number;
        b->kind = (uint8_t)s->kind;
        if (is_first_user(p, s))
            p->first_user = b->original | 1;
        see_marker(p, t, s->marker);
    }
}

/* ---- as it was sent ---- */

/* The digits or the quoted word behind `key` in a line of the report; empty: it has none. */
static weir_span value_of(weir_span line, const char *key)
{
    weir_span name = wr_span_of(key);
    size_t at = wr_span_find(line, name, 0), end;

    if (at == SIZE_MAX)
        return (weir_span){"", 0};
    at += name.len;
    if (at < line.len && line.ptr[at] == '"')
        end = wr_span_find(line, WR_LIT("\""), ++at);
    else
        for (end = at; end < line.len && line.ptr[end] >= '0' && line.ptr[end] <= '9';)
            end++;
    return wr_span_cut(line, at, end == SIZE_MAX ? line.len : end);
}

static uint64_t number_of(weir_span line, const char *key)
{
    uint64_t number;
    return wr_span_u64(value_of(line, key), &number) ? number : UINT64_MAX;
}

static void take_edit(struct wr_prompt *p, weir_span line, uint32_t forms[FORMS_COUNT])
{
    uint64_t i = number_of(line, "{\"i\":"), before = number_of(line, "\"tokens_before\":"),
             after = number_of(line, "\"tokens_after\":");
    weir_span form = value_of(line, "\"form\":");

    if (i >= p->blocks_count || wr_span_find(line, WR_LIT("\"rolled_back\":true"), 0) != SIZE_MAX)
        return;
    struct wr_prompt_block *b = &p->blocks[i];
    b->sent = wr_hash64_seeded(form, b->sent);
    b->sent = wr_hash64_seeded(value_of(line, "\"handle\":"), b->sent);
    b->sent = wr_hash64_seeded(value_of(line, "\"tokens_after\":"), b->sent);
    if (before && before != UINT64_MAX && after < before)
        b->weight = (uint32_t)((uint64_t)b->weight * after / before);
    p->changed_count++;
    for (uint32_t f = 0; f < FORMS_COUNT; f++)
        forms[f] += wr_span_is(form, wr_form_name((enum wr_form)f));
}

/* What was put in stands before a segment, and is told by it. */
static void take_inserts(struct wr_prompt *p, weir_span inserts)
{
    for (size_t at = 0; (at = wr_span_find(inserts, WR_LIT("{\"before\":"), at)) != SIZE_MAX;) {
        size_t end = wr_span_find(inserts, WR_LIT("}"), at);
        weir_span insert = wr_span_cut(inserts, at, end == SIZE_MAX ? inserts.len : end);
        uint64_t before = number_of(insert, "{\"before\":");
        if (before < p->blocks_count)
            p->blocks[before].sent = wr_hash64_seeded(insert, p->blocks[before].sent);
        p->changed_count++;
        at += insert.len;
    }
}

/* A report has one edit a line behind "edits":[ (engine/report.c). */
static void read_report(struct wr_prompt *p, weir_span report)
{
    size_t inserts = wr_span_find(report, WR_LIT(",\"inserts\":["), 0);
    size_t edits =
        inserts == SIZE_MAX ? SIZE_MAX : wr_span_find(report, WR_LIT("\"edits\":["), inserts);
    uint32_t forms[FORMS_COUNT] = {0}, most = 0;
    weir_span line;

    if (edits == SIZE_MAX)
        return;
    take_inserts(p, wr_span_cut(report, inserts, edits));
    weir_span rest = wr_span_cut(report, edits, report.len);
    while (wr_span_line(&rest, &line))
        if (wr_span_starts(line, WR_LIT("{\"i\":")))
            take_edit(p, line, forms);
    for (uint32_t f = 0; f < FORMS_COUNT; f++)
        if (forms[f] > most) {
            most = forms[f];
            p->form = wr_form_name((enum wr_form)f);
        }
}

weir_status wr_prompt_read(struct wr_prompt *prompt, struct wr_arena *arena,
                           const struct wr_transcript *transcript, weir_span report)
{
    uint32_t count = transcript->segments_count;

    *prompt = (struct wr_prompt){.blocks_count =
                                     count < WR_QUALITY_BLOCKS_MAX ? count : WR_QUALITY_BLOCKS_MAX};
    prompt->blocks = WR_ARENA_ARRAY(arena, struct wr_prompt_block, prompt->blocks_count);
    if (!prompt->blocks)
        return wr_arena_status(arena);
    read_blocks(prompt, transcript);
    read_report(prompt, report);
    for (uint32_t i = 0; i < prompt->blocks_count; i++)
        prompt->weight += prompt->blocks[i].weight;
    return WEIR_OK;
}

/* ---- comparing ---- */

static uint32_t shorter(const struct wr_prompt *a, const struct wr_prompt *b)
{
    return a->blocks_count < b->blocks_count ? a->blocks_count : b->blocks_count;
}

uint32_t wr_prompt_common_original(const struct wr_prompt *a, const struct wr_prompt *b)
{
    uint32_t i = 0, count = shorter(a, b);
    while (i < count && a->blocks[i].original == b->blocks[i].original)
        i++;
    return i;
}

uint32_t wr_prompt_common_sent(const struct wr_prompt *a, const struct wr_prompt *b)
{
    uint32_t i = 0, count = shorter(a, b);
    while (i < count && a->blocks[i].sent == b->blocks[i].sent)
        i++;
    return i;
}

static uint32_t first_message(const struct wr_prompt *p)
{
    uint32_t i = 0;
    while (i < p->blocks_count && !p->blocks[i].message)
        i++;
    return i;
}

uint32_t wr_prompt_messages(const struct wr_prompt *prompt)
{
    return prompt->blocks_count - first_message(prompt);
}

uint32_t wr_prompt_common_messages(const struct wr_prompt *a, const struct wr_prompt *b)
{
    uint32_t i = first_message(a), k = first_message(b), count = 0;
    while (i < a->blocks_count && k < b->blocks_count &&
           a->blocks[i++].original == b->blocks[k++].original)
        count++;
    return count;
}

void wr_prompt_place(const struct wr_prompt_block *block, char text[WR_PROMPT_PLACE_BYTES])
{
    char kind[WR_PROMPT_PLACE_BYTES];

    (void)snprintf(kind, sizeof(kind), "%s", weir_kind_name((weir_kind)block->kind));
    for (char *at = kind; *at; at++)
        if (*at == '_')
            *at = ' ';
    if (block->message)
        (void)snprintf(text, WR_PROMPT_PLACE_BYTES, "message %u, %.24s", block->message, kind);
    else
        (void)snprintf(text, WR_PROMPT_PLACE_BYTES, "%.40s", kind);
}
