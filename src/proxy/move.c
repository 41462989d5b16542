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
#include "base/clock.h"
#include "base/hash.h"
#include "base/span.h"
#include "proxy/credential.h"
#include "proxy/exchange_inside.h"
#include "proxy/upstream_key.h"

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
