#include "lab/evidence_index.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/limits.h"

enum { CAP_FIRST = 4096 };

weir_status wr_evidence_index_init(struct wr_evidence_index *index, struct wr_arena *arena)
{
    *index = (struct wr_evidence_index){.arena = arena, .strings_cap = CAP_FIRST};
    index->strings = WR_ARENA_ARRAY(arena, struct wr_evidence_string, CAP_FIRST);
    return index->strings ? WEIR_OK : wr_arena_status(arena);
}

static uint64_t hash_of(weir_span text)
{
    uint64_t hash = wr_hash64(text);
    return hash + !hash;
}

static struct wr_evidence_string *place_of(const struct wr_evidence_index *index, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & (index->strings_cap - 1);
    while (index->strings[at].hash && index->strings[at].hash != hash)
        at = (at + 1) & (index->strings_cap - 1);
    return &index->strings[at];
}

static weir_status grow_strings(struct wr_evidence_index *index)
{
    struct wr_evidence_string *old = index->strings;
    uint32_t old_cap = index->strings_cap;
    if (old_cap >= WR_EVIDENCE_STRINGS_MAX)
        return WEIR_LIMIT;
    struct wr_evidence_string *grown =
        WR_ARENA_ARRAY(index->arena, struct wr_evidence_string, old_cap * 2);
    if (!grown)
        return wr_arena_status(index->arena);
    index->strings = grown;
    index->strings_cap = old_cap * 2;
    for (uint32_t i = 0; i < old_cap; i++)
        if (old[i].hash)
            *place_of(index, old[i].hash) = old[i];
    return WEIR_OK;
}

static weir_status add_posting(struct wr_evidence_index *index, struct wr_evidence_string *string,
                               uint32_t segment)
{
    if (index->postings_count == WR_EVIDENCE_STRINGS_MAX)
        return WEIR_LIMIT;
    if (!WR_ARENA_ROOM(index->arena, index->postings, index->postings_count, index->postings_cap,
                       CAP_FIRST))
        return wr_arena_status(index->arena);
    index->postings[index->postings_count] =
        (struct wr_evidence_posting){.segment = segment, .older = string->posting};
    string->posting = index->postings_count++;
    string->last = segment;
    return WEIR_OK;
}

weir_status wr_evidence_index_add(struct wr_evidence_index *index, weir_span text, uint32_t segment,
                                  uint32_t line, bool is_result)
{
    weir_status status = WEIR_OK;
    if (index->strings_count >= index->strings_cap / 2)
        status = grow_strings(index);
    if (status)
        return status;
    uint64_t hash = hash_of(text);
    struct wr_evidence_string *string = place_of(index, hash);
    if (!string->hash) {
        *string = (struct wr_evidence_string){.hash = hash,
                                              .last = WR_EVIDENCE_NONE,
                                              .said = WR_EVIDENCE_NONE,
                                              .result = WR_EVIDENCE_NONE,
                                              .posting = WR_EVIDENCE_NONE};
        index->strings_count++;
    }
    if (string->last != segment)
        status = add_posting(index, string, segment);
    if (!is_result && string->said != segment) {
        string->said = segment;
        string->said_line = line;
    }
    if (is_result && string->result != segment) {
        string->result = segment;
        string->line = line;
    }
    return status;
}

struct wr_evidence_string *wr_evidence_index_find(const struct wr_evidence_index *index,
                                                  weir_span text)
{
    struct wr_evidence_string *found = place_of(index, hash_of(text));
    return found->hash ? found : NULL;
}
