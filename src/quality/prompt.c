/* A prompt as rows of hashes, and where two of them part.
 *
 * Each segment is a block with two hashes: of its text as it came, and of what was sent for it,
 * which is the first one mixed with form, handle and size where the record has a change of it.
 * Messages of our own are mixed into the block that they stand before. So one comparison tells what
 * the host changed from what we changed, without a word of the text.
 */
#include "quality/prompt.h"

#include "api/api.h"
#include "api/lawful.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"

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
    p->has_marker = true;
    p->has_long_marker |= wr_lawful_marker_is_long(t->doc, marker);
}

static void read_blocks(struct wr_prompt *p, const struct wr_transcript *t)
{
    wr_json_id message = WR_JSON_NONE;
    uint32_t number = 0;

    p->parameters = wr_api_hash_parameters(t->doc);
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

static uint64_t hash_number(uint64_t number, uint64_t seed)
{
    return wr_hash64_seeded((weir_span){(const char *)&number, sizeof(number)}, seed);
}

static uint64_t hash_handle(const char *handle, uint64_t seed)
{
    return handle ? wr_hash64_seeded(wr_span_of(handle), seed) : seed;
}

static void take_change(struct wr_prompt *p, const struct wr_record_change *change,
                        uint32_t forms[WR_RECORD_FORMS_COUNT])
{
    if (change->segment >= p->blocks_count || change->is_rolled_back)
        return;
    struct wr_prompt_block *b = &p->blocks[change->segment];
    b->sent = hash_number((uint64_t)change->form, b->sent);
    b->sent = hash_handle(change->handle, b->sent);
    b->sent = hash_number(change->tokens_after, b->sent);
    if (change->tokens_after < change->tokens_before)
        b->weight = (uint32_t)((uint64_t)b->weight * change->tokens_after / change->tokens_before);
    p->changed_count++;
    forms[change->form]++;
}

/* A message that was put in changes the hash of the segment that it is put before. */
static void take_insert(struct wr_prompt *p, const struct wr_record_insert *insert)
{
    p->changed_count++;
    if (insert->before >= p->blocks_count)
        return;
    uint64_t *sent = &p->blocks[insert->before].sent;
    *sent = hash_handle(insert->handle, hash_number((uint64_t)insert->role, *sent));
    *sent = hash_number(insert->tokens, hash_number(insert->segments_count, *sent));
}

static void read_changes(struct wr_prompt *p, const struct wr_record *record)
{
    uint32_t forms[WR_RECORD_FORMS_COUNT] = {0}, most = 0;

    for (uint32_t i = 0; i < record->inserts_count; i++)
        take_insert(p, &record->inserts[i]);
    for (uint32_t i = 0; i < record->changes_count; i++)
        take_change(p, &record->changes[i], forms);
    for (uint32_t f = 0; f < WR_RECORD_FORMS_COUNT; f++)
        if (forms[f] > most) {
            most = forms[f];
            p->form = wr_form_name((enum wr_form)f);
        }
}

weir_status wr_prompt_read(struct wr_prompt *prompt, struct wr_arena *arena,
                           const struct wr_transcript *transcript, const struct wr_record *record)
{
    uint32_t count = transcript->segments_count;

    *prompt = (struct wr_prompt){.blocks_count =
                                     count < WR_QUALITY_BLOCKS_MAX ? count : WR_QUALITY_BLOCKS_MAX};
    prompt->blocks = WR_ARENA_ARRAY(arena, struct wr_prompt_block, prompt->blocks_count);
    if (!prompt->blocks)
        return wr_arena_status(arena);
    read_blocks(prompt, transcript);
    if (record)
        read_changes(prompt, record);
    for (uint32_t i = 0; i < prompt->blocks_count; i++)
        prompt->weight += prompt->blocks[i].weight;
    return WEIR_OK;
}

/* ---- comparing ---- */

static uint32_t shorter_count(const struct wr_prompt *a, const struct wr_prompt *b)
{
    return a->blocks_count < b->blocks_count ? a->blocks_count : b->blocks_count;
}

uint32_t wr_prompt_common_original(const struct wr_prompt *a, const struct wr_prompt *b)
{
    uint32_t i = 0, count = shorter_count(a, b);
    while (i < count && a->blocks[i].original == b->blocks[i].original)
        i++;
    return i;
}

uint32_t wr_prompt_common_sent(const struct wr_prompt *a, const struct wr_prompt *b)
{
    uint32_t i = 0, count = shorter_count(a, b);
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
