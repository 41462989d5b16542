/* An entry of the table is one word: a tag of the conversation, and how its last request left. Four
 * entries make a set, which the hash chooses.
 *
 *   63        31      30        29     24 23     12 11      0
 *   | tag     | other | viewed | reason  | from    | to     |
 *
 * Of the proxy's own recall a conversation has two: a tag and half the hash of the tool that its
 * last request left with, or 0; and by the hash of that one's answers, what was put back:
 *
 *   63        31              24 23                    0
 *   | tag     | exchanges       | part of their hash   |
 */
#include "proxy/departures.h"

#include "base/hash.h"
#include "base/span.h"

enum { WAYS = 4, TAG_SHIFT = 32, VIEWED_SHIFT = 30, REASON_SHIFT = 24, REASONS_MAX = 63 };
enum { FROM_SHIFT = 12, OWN_COUNT_SHIFT = 24, OWN_COUNT_MAX = 255 };

/* ---- words ---- */

static uint64_t tag_of(uint64_t hash)
{
    return hash >> TAG_SHIFT << TAG_SHIFT;
}

static uint64_t pack(uint64_t hash, const struct wr_departure *d)
{
    return tag_of(hash) | UINT64_C(1) << (VIEWED_SHIFT + 1) |
           (uint64_t)d->is_viewed << VIEWED_SHIFT | (uint64_t)d->reason << REASON_SHIFT |
           (uint64_t)d->from << FROM_SHIFT | d->to;
}

static struct wr_departure unpack(uint64_t word)
{
    return (struct wr_departure){.is_other = true,
                                 .is_viewed = word >> VIEWED_SHIFT & 1,
                                 .reason = word >> REASON_SHIFT & REASONS_MAX,
                                 .from = word >> FROM_SHIFT & WR_DEPARTURE_TURNS_MAX,
                                 .to = word & WR_DEPARTURE_TURNS_MAX};
}

static uint64_t hash_of_session(const struct wr_record *record)
{
    return wr_hash64_seeded(record->session, wr_hash64(record->tenant));
}

static uint64_t hash_of(const struct wr_record *record)
{
    return wr_hash64_seeded(wr_span_of(record->model), hash_of_session(record)) ^
           record->first_turn;
}

static _Atomic uint64_t *set_of(_Atomic uint64_t *entries, uint64_t hash)
{
    return &entries[hash % (WR_PROXY_DEPARTURES_MAX / WAYS) * WAYS];
}

/* NULL: nothing is noted of it. */
static _Atomic uint64_t *find_entry(_Atomic uint64_t *entries, uint64_t hash)
{
    _Atomic uint64_t *set = set_of(entries, hash);

    for (size_t i = 0; i < WAYS; i++) {
        uint64_t word = atomic_load(&set[i]);
        if (word && tag_of(word) == tag_of(hash))
            return &set[i];
    }
    return NULL;
}

/* `word` has the tag of the hash. */
static void put_entry(_Atomic uint64_t *entries, uint64_t hash, uint64_t word)
{
    _Atomic uint64_t *set = set_of(entries, hash), *place = find_entry(entries, hash);

    for (size_t i = 0; i < WAYS && !place; i++)
        if (!atomic_load(&set[i]))
            place = &set[i];
    if (!place)
        place = &set[hash >> TAG_SHIFT & (WAYS - 1)]; /* whoever is there gives way */
    atomic_store(place, word);
}

static _Atomic uint64_t *find_departure(struct wr_departures *departures, uint64_t hash)
{
    return find_entry(departures->entries, hash);
}

static void put(struct wr_departures *departures, uint64_t hash, const struct wr_departure *d)
{
    put_entry(departures->entries, hash, pack(hash, d));
}

/* ---- how one leaves ---- */

static uint32_t or_most(uint32_t turn)
{
    return turn < WR_DEPARTURE_TURNS_MAX ? turn : WR_DEPARTURE_TURNS_MAX;
}

struct wr_departure wr_departure_whole(uint32_t turns_count)
{
    return (struct wr_departure){
        .is_other = true, .to = turns_count ? or_most(turns_count - 1) : WR_DEPARTURE_TURNS_MAX};
}

static bool has_change(const struct wr_record *record)
{
    for (uint32_t i = 0; i < record->changes_count; i++)
        if (!record->changes[i].is_rolled_back)
            return true;
    return record->inserts_count > 0;
}

/* Where the marks could not be kept, what is new has left whole; and all of it, where the originals
 * of what was sent before could not be read either. */
struct wr_departure wr_departure_of(const struct wr_record *record,
                                    const struct wr_transcript *transcript, bool is_viewed,
                                    bool is_kept)
{
    struct wr_departure d = {.is_other = false};

    if (is_kept || transcript->is_delta)
        return d;
    d = wr_departure_whole(transcript->turns_count);
    d.is_viewed = is_viewed && !record->not_read.ptr;
    if (!record->not_read.ptr && has_change(record))
        d.from = d.to;
    return d;
}

void wr_departures_note(struct wr_departures *departures, const struct wr_record *record,
                        const struct wr_departure *departure)
{
    uint64_t hash = hash_of(record);
    _Atomic uint64_t *place = find_departure(departures, hash);
    _Atomic uint64_t *unread = find_departure(departures, hash_of_session(record));

    if (unread)
        atomic_store(unread, 0);
    if (!departure->is_other) {
        if (place)
            atomic_store(place, 0);
        return;
    }
    struct wr_departure d = *departure;
    if (place && d.from) { /* turns that left whole before are not in the store either */
        struct wr_departure before = unpack(atomic_load(place));
        if (before.from && before.from < d.from)
            d.from = before.from;
    }
    put(departures, hash, &d);
}

void wr_departures_note_unread(struct wr_departures *departures, const struct wr_record *record)
{
    struct wr_departure whole = wr_departure_whole(0);

    if (record->session.len)
        put(departures, hash_of_session(record), &whole);
}

void wr_departures_add_reason(struct wr_departures *departures, const struct wr_record *record,
                              weir_span reason)
{
    uint64_t hash = hash_of(record);
    _Atomic uint64_t *place = find_departure(departures, hash);
    struct wr_departure d = {.is_other = true, .from = 1, .to = 0};

    if (place)
        d = unpack(atomic_load(place));
    d.reason = WR_STEP_BACK + 1;
    for (unsigned i = 0; i < WR_STEP_BACK; i++)
        if (wr_span_is(reason, wr_step_reason_text((enum wr_step_reason)i)))
            d.reason = i + 1;
    put(departures, hash, &d);
}

/* ---- the next one ---- */

/* Whether it changes a turn that had left whole. */
static bool changes_turns(const struct wr_departure *d, const struct wr_record *record,
                          const struct wr_transcript *t)
{
    uint32_t to = d->to;

    if (to == WR_DEPARTURE_TURNS_MAX)
        to = t->turns_count > 1 ? t->turns_count - 2 : 0;
    for (uint32_t i = 0; i < record->changes_count; i++) {
        uint32_t turn = t->segments[record->changes[i].segment].turn;
        if (!record->changes[i].is_rolled_back && turn >= d->from && turn <= to)
            return true;
    }
    for (uint32_t i = 0; i < record->inserts_count; i++) {
        uint32_t before = record->inserts[i].before;
        if (before < t->segments_count && t->segments[before].turn >= d->from &&
            t->segments[before].turn <= to)
            return true;
    }
    return false;
}

static void declare(struct wr_departures *departures, struct wr_record *record,
                    const struct wr_transcript *transcript, bool is_viewed)
{
    const uint64_t hashes[] = {hash_of(record), hash_of_session(record)};

    if (record->not_read.ptr || transcript->is_delta)
        return;
    for (size_t i = 0; i < WR_COUNT_OF(hashes) && !record->is_step; i++) {
        _Atomic uint64_t *place = find_departure(departures, hashes[i]);
        uint64_t word = place ? atomic_load(place) : 0;
        struct wr_departure d = unpack(word);
        if (!word ||
            (!d.reason && d.is_viewed == is_viewed && !changes_turns(&d, record, transcript)))
            continue;
        record->is_step = true;
        record->step_reason = wr_span_of(
            wr_step_reason_text(d.reason ? (enum wr_step_reason)(d.reason - 1) : WR_STEP_BACK));
        record->step_turn = transcript->turns_count ? transcript->turns_count - 1 : 0;
    }
}

void wr_departures_declare(struct wr_record *record, const struct wr_transcript *transcript)
{
    if (record->is_step || record->deed != WR_DEED_PROJECTED)
        return;
    record->is_step = true;
    record->step_reason = wr_span_of(wr_step_reason_text(WR_STEP_BACK));
    record->step_turn = transcript->turns_count ? transcript->turns_count - 1 : 0;
}

/* ---- what the proxy's own recall adds ---- */

/* Of the answers up to one: how many exchanges, and which. */
static uint64_t pack_extent(uint64_t hash, const struct wr_own_extent *extent)
{
    uint32_t count = extent->puts_count < OWN_COUNT_MAX ? extent->puts_count : OWN_COUNT_MAX;

    return tag_of(hash) | (uint64_t)count << OWN_COUNT_SHIFT |
           (extent->puts & ((UINT64_C(1) << OWN_COUNT_SHIFT) - 1));
}

static uint64_t hash_of_extent(const struct wr_record *record, const struct wr_own_extent *extent)
{
    return hash_of(record) ^ extent->answers;
}

static uint64_t pack_definition(uint64_t hash, uint64_t definition)
{
    return tag_of(hash) | definition >> TAG_SHIFT;
}

/* That there is no tool is worth an entry where there was one. What left with fewer answers gives
 * way: a conversation is compared with its newest request. */
void wr_departures_note_own(struct wr_departures *departures, const struct wr_record *record,
                            const struct wr_own_added *added)
{
    uint64_t hash = hash_of(record);

    if (!added->is_known || (!added->definition && !find_entry(departures->own, hash)))
        return;
    put_entry(departures->own, hash, pack_definition(hash, added->definition));
    for (uint32_t i = 0; i < added->extents_count; i++) {
        hash = hash_of_extent(record, &added->extents[i]);
        _Atomic uint64_t *place = find_entry(departures->own, hash);
        if (!i)
            put_entry(departures->own, hash, pack_extent(hash, &added->extents[i]));
        else if (place)
            atomic_store(place, 0);
    }
}

/* `*lost_count` gets how many exchanges the request before had more. */
static bool differs_own(struct wr_departures *departures, const struct wr_record *record,
                        const struct wr_own_added *added, uint32_t *lost_count)
{
    uint64_t hash = hash_of(record);
    _Atomic uint64_t *place = added->is_known ? find_entry(departures->own, hash) : NULL;

    *lost_count = 0;
    if (!place)
        return false;
    bool differs = atomic_load(place) != pack_definition(hash, added->definition);
    for (uint32_t i = 0; i < added->extents_count; i++) {
        hash = hash_of_extent(record, &added->extents[i]);
        place = find_entry(departures->own, hash);
        if (!place)
            continue;
        uint64_t before = atomic_load(place), now = pack_extent(hash, &added->extents[i]);
        uint32_t count_before = before >> OWN_COUNT_SHIFT & OWN_COUNT_MAX;
        uint32_t count_now = now >> OWN_COUNT_SHIFT & OWN_COUNT_MAX;
        *lost_count = count_before > count_now ? count_before - count_now : 0;
        return differs || before != now;
    }
    return differs;
}

void wr_departures_compare_own(struct wr_departures *departures, struct wr_record *record,
                               const struct wr_own_added *added, uint32_t lost_count)
{
    uint32_t missing_count;
    bool differs = differs_own(departures, record, added, &missing_count);

    record->own_lost = lost_count > missing_count ? lost_count : missing_count;
    if (record->own_lost || differs)
        wr_departures_add_reason(departures, record,
                                 record->own_lost || !added->definition ? WR_LIT("store")
                                                                        : WR_LIT("back"));
}

struct wr_departure wr_departures_tell(struct wr_departures *departures, struct wr_record *record,
                                       const struct wr_transcript *transcript, bool is_viewed,
                                       bool is_kept)
{
    declare(departures, record, transcript, is_viewed);
    return wr_departure_of(record, transcript, is_viewed, is_kept);
}
