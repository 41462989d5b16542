/* leave.c -- a request leaves: with what was made of it, or as it came, and once more where that
 * may help.
 *
 *   wr_exchange_send ──▶ the place that its session is at
 *     │ the place fails ──▶ wr_exchange_sends_again: the same bytes, to another place (below)
 *     │ the provider refuses, and there is a remedy (leave.h) ──▶ a second try: other bytes
 *     ▼
 *   the answer is shown
 *
 * How it left is noted where the marks of its session do not say so (leave.h), before the
 * answer can come and with it the next request; whether its upstream could be reached is noted in
 * metrics.h, for all workers.
 */
#include "proxy/leave.h"

#include <stdlib.h>

#include "api/answer.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/span.h"
#include "models/window.h"
#include "net/http.h"
#include "proxy/counts.h"
#include "proxy/credential.h"
#include "proxy/exchange_inside.h"

/* What only counts tokens leaves nothing in a cache, and of a request that the provider completes
 * nothing is sent again. */
static bool is_compared(const struct wr_exchange *ex)
{
    return ex->route.is_answer && ex->config->store_dir && !ex->record.is_delta;
}

/* Whether our own recall is in it may be known to this process alone. */
static void note_departure(struct wr_exchange *ex)
{
    struct wr_departure departure = ex->task.departure;

    if (!departure.is_other && ex->task.own.is_unkept)
        departure = (struct wr_departure){
            .is_other = true, .is_viewed = ex->task.own.is_viewed, .from = 1, .to = 0};
    wr_departures_note(&ex->service->metrics->departures, &ex->record, &departure);
    if (ex->is_sent_changed || !ex->task.own.is_viewed)
        wr_departures_note_own(&ex->service->metrics->departures, &ex->record, &ex->task.own.added);
}

void wr_exchange_send(struct wr_exchange *ex)
{
    if (wr_admit_hold(ex))
        return;
    bool is_known = wr_exchange_is_task_ready(ex) && ex->task_state != WR_TASK_MISSED;

    ex->is_sent_changed = wr_exchange_is_projected(ex);
    if (is_known && ex->task.decision.action == WR_ACTION_PROJECT && is_compared(ex))
        note_departure(ex);
    else if (is_known && ex->task.is_unread && is_compared(ex))
        wr_departures_note_unread(&ex->service->metrics->departures, &ex->record);
    (void)wr_exchange_ask(ex, wr_exchange_body(ex, ex->is_sent_changed));
}

void wr_exchange_tell_missed(struct wr_exchange *ex)
{
    struct wr_departures *departures = &ex->service->metrics->departures;
    struct wr_departure whole = wr_departure_whole(0);

    if (ex->task.decision.action != WR_ACTION_PROJECT || !is_compared(ex))
        return;
    if (ex->is_late && !ex->is_sent_changed) /* else it was a second try, and the first had left */
        wr_departures_note(departures, &ex->record, &whole);
    if (ex->record.is_step)
        wr_departures_add_reason(departures, &ex->record, ex->record.step_reason);
}

void wr_exchange_tell_lost(struct wr_exchange *ex)
{
    ex->record.own_lost++;
    if (is_compared(ex))
        wr_departures_add_reason(&ex->service->metrics->departures, &ex->record, WR_LIT("store"));
}

/* ==== a second try ====
 *
 * A request that the provider refused, projected otherwise and sent once more.
 *
 * The refusal is held while that goes on: it may turn out that there is nothing else to send, and
 * then the client gets it as it came. exchange.h draws the states, leave.h says which refusals
 * have a remedy.
 */

/* Nothing is sent again after all. */
void wr_second_try_give_up(struct wr_exchange *ex)
{
    ex->record.retries_count = 0;
    ex->record.retry_reason = (weir_span){NULL, 0};
    wr_exchange_show_refusal(ex);
    wr_exchange_finish(ex);
}

/* Projects what came once more, as the provider wants it. The refusal is held until that is done:
 * it may turn out that there is nothing else to send. */
void wr_second_try_project(struct wr_exchange *ex)
{
    wr_task_release(&ex->task);
    ex->task_state = WR_TASK_NONE;
    wr_record_forget(&ex->record);
    if (!wr_exchange_project(ex, WR_EXCHANGE_REPROJECTING))
        wr_second_try_give_up(ex);
}

/* Of the prompt that left, by our count; 0: it is not known, or not yet. */
static uint64_t tokens_sent(const struct wr_exchange *ex)
{
    if (!wr_exchange_is_task_ready(ex))
        return 0;
    return ex->is_sent_changed ? ex->record.tokens_after : ex->record.tokens_before;
}

static struct wr_remedy find_remedy(const struct wr_exchange *ex)
{
    bool is_known = wr_exchange_is_task_ready(ex) && ex->record.deed != WR_DEED_PASSED;
    struct wr_refused refused = {
        .body = wr_exchange_body(ex, ex->is_sent_changed),
        .was_changed = ex->is_sent_changed,
        .may_project = !(is_known && ex->task.decision.bound == WR_BOUND_RAW),
        .was_projected = is_known && ex->task.decision.action == WR_ACTION_PROJECT,
        .tokens_sent = tokens_sent(ex),
        .answer_tokens = is_known ? (uint32_t)ex->record.answer_tokens : 0,
    };
    return wr_refusal_judge(&ex->refusal, &refused);
}

/* True: the request goes out again, or may; nothing of the refusal is shown yet. */
bool wr_second_try_begin(struct wr_exchange *ex)
{
    ex->remedy = find_remedy(ex);
    if (wr_exchange_is_task_ready(ex))
        (void)!wr_counts_add(ex->service->counts, ex->record.base_url, ex->record.model,
                             tokens_sent(ex), ex->remedy.counted_tokens);
    if (!ex->remedy.reason)
        return false;
    ex->record.retries_count++;
    ex->record.retry_reason = wr_span_of(ex->remedy.reason);
    ex->first_byte_us = 0;
    if (wr_exchange_is_task_running(ex))
        ex->state = WR_EXCHANGE_RETRY_DUE;
    else
        wr_second_try_project(ex);
    return true;
}

/* The second try is projected: what is not another form of what was refused is not sent. */
void wr_second_try_send(struct wr_exchange *ex)
{
    bool is_changed = wr_exchange_is_projected(ex);

    if (!wr_remedy_fits(&ex->remedy, wr_exchange_body(ex, is_changed), is_changed)) {
        wr_exchange_tell_missed(ex); /* its marks are in the store */
        wr_second_try_give_up(ex);
        return;
    }
    wr_refusal_release(&ex->refusal);
    wr_exchange_send(ex);
}

/* A request that leaves once more with the same bytes: on a fresh connection, because the kept one
 * had died, or to another place of its upstream, because that one failed.
 *
 *   leaves ── choose_place: the session's own, unless that rests
 *     │ 429, 529, 502, 503, 504; 401, 403 of a key that Weir holds; nobody there
 *     ▼
 *   the place rests; is there another that does not? ── no: the client sees this answer
 *     │ yes: the answer is thrown away (sends_again), the session moves
 *     ▼
 *   leaves
 *
 * Only where all of the request is here, and nothing of an answer has been shown. A request that
 * had left whole and got no answer may have been carried out: to send it elsewhere could be paid
 * twice, and counted once. The place rests, and the client is told; when it asks again it is asked
 * elsewhere.
 */

/* ---- which place ---- */

static uint64_t session_hash(const struct wr_exchange *ex)
{
    struct wr_session_name name = {.len = 0};
    uint64_t hash = wr_hash64(wr_span_of(ex->entry.tenant));

    if (wr_exchange_is_task_ready(ex))
        return wr_hash64_seeded(wr_session_span(&ex->task.session), hash);
    if (ex->head)
        wr_identity_from_head(ex->head, &name);
    return wr_hash64_seeded(wr_session_span(&name), hash);
}

/* Places at another provider's host, which must not see the client's credential. */
static unsigned find_barred(const struct wr_exchange *ex)
{
    const struct wr_upstream *upstream = ex->route.upstream;
    struct wr_credential credential;
    unsigned barred = 0;

    for (size_t i = 0; i < upstream->places_count; i++)
        if (!wr_upstream_has_key(&upstream->places[i]) &&
            wr_credential_find_strange(ex->head, ex->route.target, &upstream->places[i],
                                       &credential))
            barred |= 1u << i;
    return barred;
}

static size_t index_of(const struct wr_exchange *ex)
{
    return (size_t)(ex->place - ex->route.upstream->places);
}

static void go_to(struct wr_exchange *ex, size_t index)
{
    ex->place = &ex->route.upstream->places[index];
    ex->record.place = wr_span_of(ex->place->place_name);
    ex->record.place_url = ex->place->base_url;
}

void wr_exchange_choose_place(struct wr_exchange *ex)
{
    const struct wr_upstream *upstream = ex->route.upstream;
    size_t own;

    if (!wr_upstream_has_places(upstream) || !ex->conn || ex->is_moving)
        return;
    if (ex->place) { /* a further leg, or a second try */
        go_to(ex, index_of(ex));
        return;
    }
    ex->places_tried = find_barred(ex);
    size_t index = wr_places_choose(&ex->service->metrics->places, upstream, session_hash(ex),
                                    ex->places_tried, wr_clock_ms(), &own);
    if (index == SIZE_MAX)
        return;
    go_to(ex, index);
    if (index == own)
        return;
    ex->record.left_place = wr_span_of(upstream->places[own].place_name);
    ex->record.left_reason = WR_LIT("rests");
}

/* ---- a place that fails ---- */

/* What it asks for itself: "retry-after: 20", "retry-after-ms: 1500"; 0: nothing. */
static uint64_t rest_ms_of(const struct wr_head *head)
{
    uint64_t number = 0;

    if (wr_span_u64(wr_head_find(head, "retry-after-ms"), &number))
        return number;
    if (wr_span_u64(wr_head_find(head, "retry-after"), &number) && number < WR_PROXY_REST_MS_MAX)
        return number * 1000;
    return 0;
}

static bool is_failure(const struct wr_exchange *ex, int status)
{
    bool is_our_key = wr_upstream_has_key(ex->place) && (status == 401 || status == 403);
    return status == 429 || status == 529 || (status >= 502 && status <= 504) || is_our_key;
}

/* The place rests. False: no other can be asked, or not all of the request is here any more. */
static bool find_next(struct wr_exchange *ex, uint64_t rest_ms)
{
    struct wr_places *places = &ex->service->metrics->places;
    const struct wr_upstream *upstream = ex->route.upstream;

    wr_places_rest(places, upstream, index_of(ex), rest_ms, wr_clock_ms());
    ex->places_tried |= 1u << index_of(ex);
    if (ex->upload == WR_UPLOAD_STREAMED || ex->own.count)
        return false;
    ex->place_next =
        wr_places_next(places, upstream, session_hash(ex), ex->places_tried, wr_clock_ms());
    return ex->place_next != SIZE_MAX;
}

static weir_span reason_of(int status)
{
    static const struct {
        int status;
        const char *word;
    } words[] = {{429, "429"}, {529, "529"}, {502, "502"}, {503, "503"},
                 {504, "504"}, {401, "401"}, {403, "403"}};

    for (size_t i = 0; i < WR_COUNT_OF(words); i++)
        if (words[i].status == status)
            return wr_span_of(words[i].word);
    return WR_LIT("unreachable");
}

/* The first that it left is the one where its cache is. */
static void note_left(struct wr_exchange *ex, int status)
{
    ex->record.places_tried++;
    if (ex->record.left_place.len)
        return;
    ex->record.left_place = wr_span_of(ex->place->place_name);
    ex->record.left_reason = reason_of(status);
}

bool wr_exchange_leaves_place(struct wr_exchange *ex, const struct wr_head *head)
{
    if (!ex->place)
        return false;
    if (is_failure(ex, head->status)) {
        if (!find_next(ex, rest_ms_of(head)))
            return false;
        note_left(ex, head->status);
        ex->is_moving = true;
        if (ex->fetch)
            wr_fetch_drop(ex->fetch); /* the rest may never come */
        return true;
    }
    if (head->status < 400)
        wr_places_keep(&ex->service->metrics->places, ex->route.upstream, session_hash(ex),
                       index_of(ex), wr_clock_ms());
    return false;
}

/* ---- once more ---- */

bool wr_exchange_sends_again(struct wr_exchange *ex, enum wr_fetch_result result)
{
    bool is_away = result == WR_FETCH_UNREACHABLE || result == WR_FETCH_TIMEOUT;

    if (result == WR_FETCH_STALE && !ex->is_fresh && ex->upload != WR_UPLOAD_STREAMED) {
        ex->is_fresh = true;
        ex->body_taken_bytes = 0;
        if (ex->upload == WR_UPLOAD_REPLAYED)
            (void)wr_exchange_ask(ex, (weir_span){"", 0});
        else
            wr_exchange_send(ex);
        return true;
    }
    if (result == WR_FETCH_UNANSWERED)
        wr_admit_note_lost(ex);
    if (!ex->is_moving && ex->place && ex->state == WR_EXCHANGE_ASKING &&
        (is_away || result == WR_FETCH_UNANSWERED) && find_next(ex, 0) && is_away) {
        note_left(ex, 0);
        ex->is_moving = true;
    }
    if (!ex->is_moving)
        return false;
    ex->is_moving = false;
    go_to(ex, ex->place_next);
    ex->is_fresh = false;
    ex->first_byte_us = 0;
    ex->body_taken_bytes = 0;
    bool is_whole = ex->upload == WR_UPLOAD_WHOLE;
    (void)wr_exchange_ask(ex, is_whole ? wr_exchange_body(ex, ex->is_sent_changed)
                                       : (weir_span){"", 0});
    return true;
}

/* ==== how it left ====
 *
 * An entry of the table is one word: a tag of the conversation, and how its last request left. Four
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

/* The word of that hash, and its place; 0: nothing is noted of it. */
static uint64_t find_entry(_Atomic uint64_t *entries, uint64_t hash, _Atomic uint64_t **place)
{
    *place = set_of(entries, hash);
    for (size_t i = 0; i < WAYS; i++, ++*place) {
        uint64_t word = atomic_load(*place);
        if (word && tag_of(word) == tag_of(hash))
            return word;
    }
    return 0;
}

static uint64_t read_entry(_Atomic uint64_t *entries, uint64_t hash)
{
    _Atomic uint64_t *place;
    return find_entry(entries, hash, &place);
}

static void clear_entry(_Atomic uint64_t *entries, uint64_t hash)
{
    _Atomic uint64_t *place;
    uint64_t word = find_entry(entries, hash, &place);
    if (word) /* and nobody has taken the place meanwhile */
        (void)atomic_compare_exchange_strong(place, &word, 0);
}

/* `word` has the tag of the hash. Where no place is free one gives way, not always the same. */
static void put_entry(_Atomic uint64_t *entries, uint64_t hash, uint64_t word)
{
    _Atomic uint64_t *set = set_of(entries, hash), *place, *free_place = NULL;
    uint64_t mixed = word;

    for (size_t i = 0; i < WAYS; i++) {
        uint64_t there = atomic_load(&set[i]);
        mixed ^= there;
        if (!there)
            free_place = &set[i];
    }
    if (!find_entry(entries, hash, &place))
        place = free_place ? free_place : &set[(mixed ^ mixed >> TAG_SHIFT) & (WAYS - 1)];
    atomic_store(place, word);
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
    struct wr_departure d = *departure;

    clear_entry(departures->entries, hash_of_session(record));
    if (!d.is_other) {
        clear_entry(departures->entries, hash);
        return;
    }
    uint64_t word = read_entry(departures->entries, hash);
    if (word && d.from) { /* turns that left whole before are not in the store either */
        struct wr_departure before = unpack(word);
        if (before.from && before.from < d.from)
            d.from = before.from;
    }
    put_entry(departures->entries, hash, pack(hash, &d));
}

void wr_departures_note_unread(struct wr_departures *departures, const struct wr_record *record)
{
    struct wr_departure whole = wr_departure_whole(0);

    if (record->session.len)
        put_entry(departures->entries, hash_of_session(record),
                  pack(hash_of_session(record), &whole));
}

void wr_departures_add_reason(struct wr_departures *departures, const struct wr_record *record,
                              weir_span reason)
{
    uint64_t hash = hash_of(record);
    uint64_t word = read_entry(departures->entries, hash);
    struct wr_departure d = {.is_other = true, .from = 1, .to = 0};

    if (word)
        d = unpack(word);
    d.reason = WR_STEP_BACK + 1;
    for (unsigned i = 0; i < WR_STEP_BACK; i++)
        if (wr_span_is(reason, wr_step_reason_text((enum wr_step_reason)i)))
            d.reason = i + 1;
    put_entry(departures->entries, hash, pack(hash, &d));
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

static void make_step(struct wr_record *record, const struct wr_transcript *transcript,
                      weir_span reason)
{
    record->is_step = true;
    record->step_reason = reason;
    record->step_turn = transcript->turns_count ? transcript->turns_count - 1 : 0;
}

static void declare(struct wr_departures *departures, struct wr_record *record,
                    const struct wr_transcript *transcript, bool is_viewed)
{
    const uint64_t hashes[] = {hash_of(record), hash_of_session(record)};

    if (record->not_read.ptr || transcript->is_delta)
        return;
    if (record->own_step.len && !record->is_step)
        make_step(record, transcript, record->own_step);
    for (size_t i = 0; i < WR_COUNT_OF(hashes) && !record->is_step; i++) {
        uint64_t word = read_entry(departures->entries, hashes[i]);
        struct wr_departure d = unpack(word);
        unsigned reason = d.reason ? d.reason - 1 : WR_STEP_BACK;
        if (word && (d.reason || d.is_viewed != is_viewed || changes_turns(&d, record, transcript)))
            make_step(record, transcript,
                      wr_span_of(wr_step_reason_text((enum wr_step_reason)reason)));
    }
}

void wr_departures_declare(struct wr_record *record, const struct wr_transcript *transcript)
{
    if (!record->is_step && record->deed == WR_DEED_PROJECTED)
        make_step(record, transcript, wr_span_of(wr_step_reason_text(WR_STEP_BACK)));
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

    if (!added->is_known || (!added->definition && !read_entry(departures->own, hash)))
        return;
    put_entry(departures->own, hash, pack_definition(hash, added->definition));
    for (uint32_t i = 0; i < added->extents_count; i++) {
        hash = hash_of_extent(record, &added->extents[i]);
        if (!i)
            put_entry(departures->own, hash, pack_extent(hash, &added->extents[i]));
        else
            clear_entry(departures->own, hash);
    }
}

/* `*lost_count` gets how many exchanges the request before had more. */
static bool differs_own(struct wr_departures *departures, const struct wr_record *record,
                        const struct wr_own_added *added, uint32_t *lost_count)
{
    uint64_t hash = hash_of(record);
    uint64_t before = added->is_known ? read_entry(departures->own, hash) : 0;

    *lost_count = 0;
    if (!before)
        return false;
    bool differs = before != pack_definition(hash, added->definition);
    for (uint32_t i = 0; i < added->extents_count; i++) {
        hash = hash_of_extent(record, &added->extents[i]);
        before = read_entry(departures->own, hash);
        if (!before)
            continue;
        uint64_t now = pack_extent(hash, &added->extents[i]);
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
    lost_count = lost_count < missing_count ? missing_count : lost_count;
    if (record->own_lost < lost_count)
        record->own_lost = lost_count;
    if (lost_count || differs)
        record->own_step = wr_span_of(
            wr_step_reason_text(lost_count || !added->definition ? WR_STEP_STORE : WR_STEP_BACK));
}

struct wr_departure wr_departures_tell(struct wr_departures *departures, struct wr_record *record,
                                       const struct wr_transcript *transcript, bool is_viewed,
                                       bool is_kept)
{
    declare(departures, record, transcript, is_viewed);
    return wr_departure_of(record, transcript, is_viewed, is_kept);
}

/* ==== a refusal that is looked at ==== */

enum { REFUSAL_BYTES_MAX = WR_NET_QUEUED_BYTES_MAX };

static weir_span copy_into(struct wr_buf *text, weir_span span)
{
    size_t at = text->len;
    wr_buf_append(text, span);
    return (weir_span){text->bytes + at, span.len};
}

/* The buffer has room for all of it before the first span points into it. */
static bool copy_head(struct wr_refusal *refusal, const struct wr_head *head)
{
    size_t bytes = head->target.len + 1;
    struct wr_head *copy = refusal->head;

    for (size_t i = 0; i < head->headers_count; i++)
        bytes += head->headers[i].name.len + head->headers[i].value.len;
    wr_buf_reserve(&refusal->text, bytes);
    if (wr_buf_status(&refusal->text))
        return false;
    *copy = *head;
    copy->target = copy_into(&refusal->text, head->target);
    for (size_t i = 0; i < head->headers_count; i++) {
        copy->headers[i].name = copy_into(&refusal->text, head->headers[i].name);
        copy->headers[i].value = copy_into(&refusal->text, head->headers[i].value);
    }
    return true;
}

bool wr_refusal_begin(struct wr_refusal *refusal, const struct wr_head *head)
{
    *refusal = (struct wr_refusal){.head = calloc(1, sizeof(struct wr_head))};
    wr_buf_init(&refusal->text, WR_NET_HEAD_BYTES_MAX * 2);
    wr_buf_init(&refusal->body, REFUSAL_BYTES_MAX);
    refusal->is_held = refusal->head && copy_head(refusal, head);
    if (!refusal->is_held)
        wr_refusal_release(refusal);
    return refusal->is_held;
}

bool wr_refusal_add(struct wr_refusal *refusal, weir_span bytes)
{
    if (bytes.len > REFUSAL_BYTES_MAX - refusal->body.len)
        return false;
    wr_buf_append(&refusal->body, bytes);
    return !wr_buf_status(&refusal->body);
}

static weir_status add_decoded(void *user, weir_span bytes)
{
    wr_buf_append(user, bytes);
    return wr_buf_status(user);
}

static struct wr_remedy judge_text(weir_span text, const struct wr_refused *refused)
{
    struct wr_remedy remedy = {.reason = NULL};
    struct wr_overflow overflow;

    if (wr_error_is_unbound(text)) {
        if (refused->was_changed)
            remedy = (struct wr_remedy){.reason = "thinking_bound", .bind = WR_BOUND_RAW};
        else if (refused->may_project)
            remedy = (struct wr_remedy){.reason = "thinking_bound", .bind = WR_BOUND_PROJECTED};
    } else if (refused->was_projected && wr_overflow_read(text, &overflow)) {
        uint64_t tokens = refused->tokens_sent;
        struct wr_overflow_sent sent = {.prompt_tokens =
                                            tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX,
                                        .answer_tokens = refused->answer_tokens};
        remedy.overflow_tokens = wr_overflow_cap(&overflow, &sent);
        remedy.counted_tokens = overflow.used_tokens;
        remedy.reason = remedy.overflow_tokens ? "context_overflow" : NULL;
    }
    return remedy;
}

struct wr_remedy wr_refusal_judge(const struct wr_refusal *refusal,
                                  const struct wr_refused *refused)
{
    struct wr_buf text;
    wr_buf_init(&text, REFUSAL_BYTES_MAX * 4);
    struct wr_decoder *decoder =
        wr_decoder_new(wr_coding_of(wr_head_find(refusal->head, "content-encoding")),
                       REFUSAL_BYTES_MAX * 4, add_decoded, &text);
    struct wr_remedy remedy = {.reason = NULL};

    if (decoder && !wr_decoder_feed(decoder, wr_buf_view(&refusal->body)))
        remedy = judge_text(wr_buf_view(&text), refused);
    wr_decoder_free(decoder);
    wr_buf_release(&text);
    if (remedy.reason)
        remedy.refused = wr_hash128_seeded(refused->body, (wr_hash128){0, 0});
    return remedy;
}

bool wr_remedy_fits(const struct wr_remedy *remedy, weir_span body, bool is_changed)
{
    wr_hash128 hash = wr_hash128_seeded(body, (wr_hash128){0, 0});

    if (hash.low == remedy->refused.low && hash.high == remedy->refused.high)
        return false;
    return remedy->bind == WR_BOUND_PROJECTED ? is_changed
           : remedy->bind == WR_BOUND_RAW     ? !is_changed
                                              : true;
}

void wr_refusal_release(struct wr_refusal *refusal)
{
    free(refusal->head);
    wr_buf_release(&refusal->text);
    wr_buf_release(&refusal->body);
    *refusal = (struct wr_refusal){.is_held = false};
}
