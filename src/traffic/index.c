/* The sessions of a tenant, from the rows of the ledger (index.h).
 *
 * Sessions are in one growing array and found by a table of their names' hashes. An agent's and a
 * model's name are kept once each, however many sessions have them.
 */
#include "traffic/index.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/record_row.h"
#include "traffic/words.h"

enum { SESSIONS_FIRST = 64, NAMES_MAX = 1024, EXTENT_MS = 2000 };

struct wr_traffic_index {
    weir_span tenant;
    const struct wr_models *models;
    struct wr_arena arena; /* names and words */
    struct wr_report report;
    bool has_report;
    struct wr_traffic_session *sessions;
    size_t sessions_count, sessions_cap;
    uint32_t *places; /* by the hash of a name: number of the session + 1; 0: free */
    size_t places_cap;
    weir_span names[NAMES_MAX]; /* of agents, models, modes, policies */
    size_t names_count;
    int64_t last_id, first_id;
    uint64_t rows_count; /* of all tenants, at the last look */
    uint64_t read_count; /* of ours */
    uint64_t looked_us;  /* when that was; 0: never */
    uint64_t stop_us;    /* of the refresh under way; 0: no row has come yet */
    bool is_whole;
};

/* ---- sparks ---- */

void wr_spark_add(struct wr_spark *spark, uint64_t came_tokens, uint64_t sent_tokens)
{
    uint32_t came = came_tokens > UINT32_MAX ? UINT32_MAX : (uint32_t)came_tokens;
    uint32_t sent = sent_tokens > UINT32_MAX ? UINT32_MAX : (uint32_t)sent_tokens;

    if (!spark->step)
        spark->step = 1;
    bool is_new = !spark->count || spark->filled == spark->step;
    if (is_new && spark->count == WR_SPARK_POINTS) {
        for (uint32_t i = 0; i < WR_SPARK_POINTS / 2; i++) {
            uint32_t a = spark->came[2 * i], b = spark->came[2 * i + 1];
            bool is_second = b > a;
            spark->came[i] = is_second ? b : a;
            spark->sent[i] = spark->sent[2 * i + is_second];
        }
        spark->count = WR_SPARK_POINTS / 2;
        spark->step *= 2;
    }
    if (is_new) {
        spark->came[spark->count] = came;
        spark->sent[spark->count] = sent;
        spark->count++;
        spark->filled = 1;
        return;
    }
    spark->filled++;
    if (came > spark->came[spark->count - 1]) {
        spark->came[spark->count - 1] = came;
        spark->sent[spark->count - 1] = sent;
    }
}

/* ---- life ---- */

struct wr_traffic_index *wr_traffic_index_new(weir_span tenant, const struct wr_models *models)
{
    struct wr_traffic_index *index = calloc(1, sizeof(*index));

    if (!index)
        return NULL;
    index->models = models;
    wr_arena_init(&index->arena, WR_TRAFFIC_INDEX_BYTES_MAX);
    char *name = malloc(tenant.len + 1);
    if (!name) {
        free(index);
        return NULL;
    }
    if (tenant.len)
        memcpy(name, tenant.ptr, tenant.len);
    index->tenant = (weir_span){name, tenant.len};
    return index;
}

static void forget_rows(struct wr_traffic_index *index)
{
    if (index->has_report)
        wr_report_release(&index->report);
    index->has_report = false;
    index->sessions_count = index->names_count = 0;
    if (index->places)
        memset(index->places, 0, index->places_cap * sizeof(*index->places));
    wr_arena_reset(&index->arena);
    index->last_id = 0;
    index->rows_count = index->read_count = 0;
    index->is_whole = false;
}

void wr_traffic_index_free(struct wr_traffic_index *index)
{
    if (!index)
        return;
    forget_rows(index);
    free(index->sessions);
    free(index->places);
    wr_arena_release(&index->arena);
    free((void *)(uintptr_t)index->tenant.ptr);
    free(index);
}

weir_span wr_traffic_index_tenant(const struct wr_traffic_index *index)
{
    return index->tenant;
}

/* ---- sessions by name ---- */

static size_t place_of(const struct wr_traffic_index *index, weir_span session)
{
    size_t at = wr_hash64(session) & (index->places_cap - 1);
    while (index->places[at] &&
           !wr_span_eq(index->sessions[index->places[at] - 1].session, session))
        at = (at + 1) & (index->places_cap - 1);
    return at;
}

static bool grow_places(struct wr_traffic_index *index)
{
    size_t cap = index->places_cap ? 2 * index->places_cap : 4 * SESSIONS_FIRST;
    uint32_t *places = calloc(cap, sizeof(*places));

    if (!places)
        return false;
    free(index->places);
    index->places = places;
    index->places_cap = cap;
    for (size_t i = 0; i < index->sessions_count; i++)
        places[place_of(index, index->sessions[i].session)] = (uint32_t)i + 1;
    return true;
}

struct wr_traffic_session *wr_traffic_index_session(struct wr_traffic_index *index,
                                                    weir_span session)
{
    if (!index->places_cap)
        return NULL;
    uint32_t number = index->places[place_of(index, session)];
    return number ? &index->sessions[number - 1] : NULL;
}

/* NULL: out of memory, or there are too many. */
static struct wr_traffic_session *need_session(struct wr_traffic_index *index, weir_span session)
{
    struct wr_traffic_session *found = wr_traffic_index_session(index, session);

    if (found)
        return found;
    if (index->sessions_count == WR_TRAFFIC_SESSIONS_MAX ||
        (2 * (index->sessions_count + 1) > index->places_cap && !grow_places(index)) ||
        !WR_HEAP_ROOM(index->sessions, index->sessions_count, index->sessions_cap, SESSIONS_FIRST))
        return NULL;
    weir_span name = wr_arena_copy(&index->arena, session);
    if (wr_arena_status(&index->arena))
        return NULL;
    index->places[place_of(index, session)] = (uint32_t)index->sessions_count + 1;
    found = &index->sessions[index->sessions_count++];
    *found = (struct wr_traffic_session){.session = name};
    return found;
}

/* A copy that is shared by all who have the same. Past the cap it is a copy of its own. */
static weir_span keep_name(struct wr_traffic_index *index, weir_span name)
{
    if (!name.len)
        return (weir_span){"", 0};
    for (size_t i = index->names_count; i-- > 0;)
        if (wr_span_eq(index->names[i], name))
            return index->names[i];
    weir_span copy = wr_arena_copy(&index->arena, name);
    if (copy.ptr && index->names_count < NAMES_MAX)
        index->names[index->names_count++] = copy;
    return copy;
}

/* ---- reading rows ---- */

static void note_row(struct wr_traffic_index *index, struct wr_traffic_session *s,
                     const struct wr_ledger_row *row, const struct wr_record *record)
{
    if (!s->first_ms || row->time_ms < s->first_ms)
        s->first_ms = row->time_ms;
    if (row->time_ms > s->last_ms)
        s->last_ms = row->time_ms;
    s->last_id = row->id;
    if (!wr_span_eq(s->agent, row->agent))
        s->agent = keep_name(index, row->agent);
    if (row->model.len && !wr_span_eq(s->model, row->model))
        s->model = keep_name(index, row->model);
    if (!wr_span_eq(s->user, record->user))
        s->user = keep_name(index, record->user);
    if (!wr_span_eq(s->team, record->team))
        s->team = keep_name(index, record->team);
    if (!wr_span_eq(s->mode, record->mode))
        s->mode = keep_name(index, record->mode);
    if (!wr_span_is(s->policy, record->policy))
        s->policy = keep_name(index, wr_span_of(record->policy));
    s->is_pending = record->is_pending;
    if (record->tokens_before)
        wr_spark_add(&s->spark, record->tokens_before, wr_record_prompt_tokens(record));
}

static weir_status read_row(void *user, const struct wr_ledger_row *row)
{
    struct wr_traffic_index *index = user;
    struct wr_record record;

    if (!index->stop_us)
        index->stop_us = wr_clock_steady_us() + (uint64_t)WR_TRAFFIC_READ_MS * 1000;
    else if (wr_clock_steady_us() > index->stop_us)
        return WEIR_LIMIT; /* the rest when it is asked next */
    weir_status status = wr_row_parse(row->line, &index->report.row, &record);
    if (status && status != WEIR_SYNTAX)
        return status;
    index->last_id = row->id;
    index->read_count++;
    if (status) {
        index->report.damaged_count++;
        return WEIR_OK;
    }
    struct wr_traffic_session *s = need_session(index, row->session);
    status = wr_report_add_record(&index->report, row, &record, s ? &s->tally : NULL);
    if (s && !status)
        note_row(index, s, row, &record);
    return status;
}

/* Fewer rows than there were, or another first one: some have left the store. */
static weir_status look_at_extent(struct wr_traffic_index *index, struct wr_ledger *ledger,
                                  struct weir_err *err)
{
    uint64_t now_us = wr_clock_steady_us(), rows_count;
    int64_t first_id;

    if (index->looked_us && index->is_whole && now_us - index->looked_us < EXTENT_MS * 1000)
        return WEIR_OK;
    weir_status status = wr_ledger_extent(ledger, &rows_count, &first_id, err);
    if (status)
        return status;
    if (index->read_count && (first_id != index->first_id || rows_count < index->rows_count))
        forget_rows(index);
    index->looked_us = now_us;
    index->first_id = first_id;
    index->rows_count = rows_count;
    return WEIR_OK;
}

weir_status wr_traffic_index_refresh(struct wr_traffic_index *index, struct wr_ledger *ledger,
                                     struct weir_err *err)
{
    weir_status status = look_at_extent(index, ledger, err);

    if (!status && !index->has_report) {
        status = wr_report_init(&index->report, index->models, 0);
        index->has_report = true;
    }
    if (status)
        return status;
    struct wr_ledger_filter filter = {.tenant = index->tenant, .after_id = index->last_id};
    index->stop_us = 0; /* what the store takes to find the first is no reason to read none */
    status = wr_ledger_each(ledger, &filter, read_row, index, err);
    index->is_whole = !status;
    return status == WEIR_LIMIT ? WEIR_OK : status;
}

void wr_traffic_index_look_again(struct wr_traffic_index *index)
{
    index->looked_us = 0;
}

struct wr_traffic_progress wr_traffic_index_progress(const struct wr_traffic_index *index)
{
    return (struct wr_traffic_progress){index->is_whole, index->read_count, index->rows_count};
}

const struct wr_report *wr_traffic_index_report(const struct wr_traffic_index *index)
{
    return &index->report;
}

/* ---- first words ---- */

weir_span wr_traffic_index_words(struct wr_traffic_index *index, struct wr_ledger *ledger,
                                 const struct wr_traffic_session *session)
{
    struct wr_traffic_session *s = wr_traffic_index_session(index, session->session);

    if (!s || s->are_words_sought)
        return session->words;
    struct wr_ledger_which first = {.tenant = index->tenant, .session = s->session};
    struct wr_ledger_row said;
    s->are_words_sought = true;
    if (!wr_ledger_said(ledger, &first, &said, NULL))
        s->words = wr_first_words(&said, &index->arena);
    return s->words;
}

/* ---- finding ---- */

static bool has_words(weir_span text, weir_span words)
{
    for (size_t at = 0; at + words.len <= text.len; at++) {
        size_t i = 0;
        while (i < words.len && wr_lower(text.ptr[at + i]) == wr_lower(words.ptr[i]))
            i++;
        if (i == words.len)
            return true;
    }
    return false;
}

static bool fits(struct wr_traffic_index *index, struct wr_ledger *ledger,
                 const struct wr_traffic_session *s, const struct wr_traffic_filter *filter)
{
    if ((filter->user.len && !wr_span_eq(filter->user, s->user.len ? s->user : index->tenant)) ||
        (filter->agent.len && !wr_span_eq(filter->agent, s->agent)) ||
        (filter->model.len && !wr_span_eq(filter->model, s->model)) ||
        s->last_ms < filter->since_ms)
        return false;
    if (!filter->words.len)
        return true;
    if (!s->are_words_sought && wr_clock_steady_us() < index->stop_us)
        (void)wr_traffic_index_words(index, ledger, s);
    return has_words(s->session, filter->words) || has_words(s->words, filter->words) ||
           has_words(s->agent, filter->words) || has_words(s->model, filter->words) ||
           has_words(s->user.len ? s->user : index->tenant, filter->words) ||
           has_words(s->team, filter->words);
}

uint64_t wr_traffic_trouble(const struct wr_tally *t)
{
    const struct wr_quality *q = &t->quality;
    return t->busts[WR_BUST_HOST] + t->busts[WR_BUST_PROVIDER] + t->failed_count +
           q->missing_artifact_requests + q->test_or_build_failed_after_rewrite +
           q->placeholders_written + q->blind_edits + q->model_reread_requests;
}

static int64_t sort_key(const struct wr_traffic_session *s, enum wr_traffic_sort sort)
{
    switch (sort) {
    case WR_TRAFFIC_SORT_SAVED:
        return (int64_t)s->tally.unchanged_micro_usd - (int64_t)s->tally.micro_usd;
    case WR_TRAFFIC_SORT_COST:
        return (int64_t)s->tally.micro_usd;
    case WR_TRAFFIC_SORT_REQUESTS:
        return (int64_t)s->tally.requests_count;
    case WR_TRAFFIC_SORT_TROUBLE:
        return (int64_t)wr_traffic_trouble(&s->tally);
    case WR_TRAFFIC_SORT_LAST:
        break;
    }
    return s->last_ms;
}

struct ranked {
    int64_t key, last_id;
    const struct wr_traffic_session *session;
};

static int by_key(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? 1 : -1;
    return (x->last_id < y->last_id) - (x->last_id > y->last_id);
}

const struct wr_traffic_session **wr_traffic_index_find(struct wr_traffic_index *index,
                                                        struct wr_ledger *ledger,
                                                        const struct wr_traffic_filter *filter,
                                                        struct wr_arena *arena, size_t *count)
{
    size_t all = index->sessions_count;
    struct ranked *ranked = WR_ARENA_ARRAY(arena, struct ranked, all + 1);
    const struct wr_traffic_session **found =
        WR_ARENA_ARRAY(arena, const struct wr_traffic_session *, all + 1);

    *count = 0;
    if (wr_arena_status(arena))
        return NULL;
    index->stop_us = wr_clock_steady_us() + (uint64_t)WR_TRAFFIC_READ_MS * 1000;
    for (size_t i = 0; i < all; i++) {
        const struct wr_traffic_session *s = &index->sessions[i];
        if (fits(index, ledger, s, filter))
            ranked[(*count)++] = (struct ranked){sort_key(s, filter->sort), s->last_id, s};
    }
    qsort(ranked, *count, sizeof(*ranked), by_key);
    for (size_t i = 0; i < *count; i++)
        found[i] = ranked[i].session;
    return found;
}
