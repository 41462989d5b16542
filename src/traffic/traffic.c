/* The answers of `/weir/v1/traffic...` (traffic.h), a function each.
 *
 * A few tenants' indexes are kept in memory; the one that was asked longest ago gives way.
 */
#include "traffic/traffic.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "engine/record_row.h"
#include "json/write.h"
#include "traffic/export.h"
#include "traffic/index.h"
#include "traffic/originals.h"
#include "traffic/query.h"
#include "traffic/rows.h"
#include "traffic/sentence.h"
#include "traffic/view.h"
#include "weir/recall.h"
#include "weir/weir.h"

struct wr_traffic {
    const char *store_dir;
    const struct wr_models *models;
    struct wr_ledger *ledger;                                 /* NULL: not open yet */
    struct weir_store *store;                                 /* the same */
    struct wr_traffic_index *indexes[WR_TRAFFIC_INDEXES_MAX]; /* asked most recently first */
    struct wr_arena arena;                                    /* of one call */
};

/* One call on its way. */
struct work {
    struct wr_traffic *traffic;
    const struct wr_traffic_call *call;
    struct wr_traffic_answer *answer;
    struct wr_arena *arena;
    struct wr_json_writer w;
    struct weir_err err;
};

/* ---- life ---- */

struct wr_traffic *wr_traffic_new(const char *store_dir, const struct wr_models *models)
{
    struct wr_traffic *traffic = calloc(1, sizeof(*traffic));

    if (!traffic)
        return NULL;
    traffic->store_dir = store_dir;
    traffic->models = models;
    wr_arena_init(&traffic->arena, WR_ARENA_BYTES_MAX);
    return traffic;
}

void wr_traffic_free(struct wr_traffic *traffic)
{
    if (!traffic)
        return;
    for (size_t i = 0; i < WR_COUNT_OF(traffic->indexes); i++)
        wr_traffic_index_free(traffic->indexes[i]);
    wr_ledger_close(traffic->ledger);
    weir_store_close(traffic->store);
    wr_arena_release(&traffic->arena);
    free(traffic);
}

static weir_status open_books(struct wr_traffic *traffic, struct weir_err *err)
{
    struct weir_store_options options = WEIR_STORE_OPTIONS_INIT;
    weir_status status = WEIR_OK;

    options.must_exist = true;
    if (!traffic->store_dir)
        return wr_fail(err, WEIR_NOTFOUND, 0, "this server has no store: nothing is kept");
    if (!traffic->ledger)
        status = wr_ledger_open(traffic->store_dir, &options, &traffic->ledger, NULL, err);
    if (!status && !traffic->store)
        status = weir_store_open(traffic->store_dir, &options, &traffic->store, NULL, err);
    return status;
}

static struct wr_traffic_index *find_index(struct wr_traffic *traffic, weir_span tenant)
{
    struct wr_traffic_index **all = traffic->indexes, *found;
    size_t at = 0, last = WR_COUNT_OF(traffic->indexes) - 1;

    while (at < last && all[at] && !wr_span_eq(wr_traffic_index_tenant(all[at]), tenant))
        at++;
    found = all[at];
    if (found && !wr_span_eq(wr_traffic_index_tenant(found), tenant)) {
        wr_traffic_index_free(found);
        found = NULL;
    }
    if (!found)
        found = wr_traffic_index_new(tenant, traffic->models);
    memmove(all + 1, all, at * sizeof(*all));
    all[0] = found;
    return found;
}

static weir_status need_index(struct work *k, struct wr_traffic_index **index)
{
    *index = find_index(k->traffic, k->call->tenant);
    if (!*index) { /* its place in the list is free, and others follow */
        struct wr_traffic_index **all = k->traffic->indexes;
        memmove(all, all + 1, (WR_COUNT_OF(k->traffic->indexes) - 1) * sizeof(*all));
        all[WR_COUNT_OF(k->traffic->indexes) - 1] = NULL;
        return WEIR_NOMEM;
    }
    return wr_traffic_index_refresh(*index, k->traffic->ledger, &k->err);
}

static weir_span query_text(struct work *k, const char *name)
{
    return wr_query_text(k->call->query, name, k->arena);
}

/* ---- how it goes ---- */

static void put_progress(struct work *k, const struct wr_traffic_index *index)
{
    struct wr_traffic_progress progress = wr_traffic_index_progress(index);

    wr_json_write_key(&k->w, "reading");
    if (progress.is_whole) {
        wr_json_write_null(&k->w);
        return;
    }
    wr_json_write_object(&k->w);
    wr_json_member_number(&k->w, "read", progress.read_count);
    wr_json_member_number(&k->w, "of", progress.rows_count);
    wr_json_write_object_end(&k->w);
}

static weir_status answer_overview(struct work *k)
{
    const struct wr_traffic_facts *facts = &k->call->facts;
    struct wr_json_writer *w = &k->w;
    struct wr_traffic_index *index;
    weir_status status = need_index(k, &index);
    size_t count;

    if (status)
        return status;
    struct wr_traffic_filter all = {.since_ms = 0};
    (void)wr_traffic_index_find(index, k->traffic->ledger, &all, k->arena, &count);
    wr_json_write_object(w);
    wr_json_member_word(w, "version", weir_version());
    wr_json_member_i64(w, "time_ms", k->call->now_ms);
    wr_json_member_bool(w, "serving", facts->is_serving);
    wr_json_member_word(w, "mode", facts->mode);
    wr_json_member_word(w, "policy", facts->policy);
    wr_json_member_word(w, "store_trouble", facts->trouble);
    wr_json_member_word(w, "keep", facts->keeps_transcripts ? "transcript" : "originals");
    wr_json_member_number(w, "transcripts_skipped", facts->transcripts_skipped);
    wr_json_member_bool(w, "whatif", facts->plays);
    wr_json_member_text(w, "tenant", k->call->tenant);
    wr_json_member_number(w, "sessions", count);
    put_progress(k, index);
    wr_report_members(wr_traffic_index_report(index),
                      (int64_t)wr_query_number(k->call->query, "hours_since_ms", 0), w);
    wr_json_write_object_end(w);
    return WEIR_OK;
}

/* ---- sessions ---- */

static void put_spark(struct wr_json_writer *w, const char *key, const uint32_t *points,
                      uint32_t count)
{
    wr_json_write_key(w, key);
    wr_json_write_array(w);
    for (uint32_t i = 0; i < count; i++)
        wr_json_write_i64(w, points[i]);
    wr_json_write_array_end(w);
}

static void put_session(struct work *k, struct wr_traffic_index *index,
                        const struct wr_traffic_session *s)
{
    struct wr_json_writer *w = &k->w;

    wr_json_member_text(w, "session", s->session);
    wr_json_member_text(w, "words", wr_traffic_index_words(index, k->traffic->ledger, s));
    wr_json_member_text(w, "user", s->user.len ? s->user : wr_traffic_index_tenant(index));
    if (s->team.len)
        wr_json_member_text(w, "team", s->team);
    wr_json_member_text(w, "agent", s->agent);
    wr_json_member_text(w, "model", s->model);
    wr_json_member_text(w, "mode", s->mode);
    wr_json_member_text(w, "policy", s->policy);
    wr_json_member_bool(w, "pending", s->is_pending);
    wr_json_member_i64(w, "first_ms", s->first_ms);
    wr_json_member_i64(w, "last_ms", s->last_ms);
    wr_tally_write_json(&s->tally, w);
    wr_tally_write_busts(w, "bust_tokens", s->tally.bust_tokens);
    wr_tally_write_busts(w, "bust_micro_usd", s->tally.bust_micro_usd);
    wr_json_member_number(w, "trouble", wr_traffic_trouble(&s->tally));
    put_spark(w, "spark_came", s->spark.came, s->spark.count);
    put_spark(w, "spark_sent", s->spark.sent, s->spark.count);
}

static enum wr_traffic_sort sort_of(weir_span word)
{
    static const char *const names[] = WR_NAMES_OF(WR_TRAFFIC_SORT_MAP);
    for (size_t i = 0; i < WR_COUNT_OF(names); i++)
        if (wr_span_is(word, names[i]))
            return (enum wr_traffic_sort)i;
    return WR_TRAFFIC_SORT_LAST;
}

static weir_status answer_sessions(struct work *k)
{
    weir_span query = k->call->query;
    struct wr_traffic_filter filter = {
        .words = query_text(k, "q"),
        .agent = query_text(k, "agent"),
        .model = query_text(k, "model"),
        .user = query_text(k, "user"),
        .since_ms = (int64_t)wr_query_number(query, "since_ms", 0),
        .sort = sort_of(query_text(k, "sort")),
    };
    uint64_t offset = wr_query_number(query, "offset", 0);
    uint64_t limit = wr_query_number(query, "limit", 50);
    struct wr_traffic_index *index;
    size_t count = 0;
    weir_status status = need_index(k, &index);
    const struct wr_traffic_session **found =
        status ? NULL : wr_traffic_index_find(index, k->traffic->ledger, &filter, k->arena, &count);

    if (status || !found)
        return status ? status : WEIR_NOMEM;
    if (limit > WR_TRAFFIC_PAGE_MAX)
        limit = WR_TRAFFIC_PAGE_MAX;
    wr_json_write_object(&k->w);
    wr_json_member_number(&k->w, "total", count);
    wr_json_member_number(&k->w, "offset", offset);
    put_progress(k, index);
    wr_json_write_key(&k->w, "sessions");
    wr_json_write_array(&k->w);
    for (uint64_t i = offset; i < count && i - offset < limit; i++) {
        wr_json_write_newline(&k->w);
        wr_json_write_object(&k->w);
        put_session(k, index, found[i]);
        wr_json_write_object_end(&k->w);
    }
    wr_json_write_array_end(&k->w);
    wr_json_write_object_end(&k->w);
    return WEIR_OK;
}

/* ---- one session ---- */

static weir_status answer_session(struct work *k)
{
    weir_span name = query_text(k, "session");
    struct wr_ledger_filter filter = {.tenant = k->call->tenant, .session = name};
    struct wr_traffic_index *index;
    struct wr_traffic_rows rows;
    weir_status status = need_index(k, &index);

    if (status)
        return status;
    struct wr_traffic_session *s = wr_traffic_index_session(index, name);
    if (!s || !name.len)
        return wr_fail(&k->err, WEIR_NOTFOUND, 0, "there is no such session");
    wr_json_write_object(&k->w);
    put_session(k, index, s);
    wr_json_write_key(&k->w, "kinds");
    wr_json_write_array(&k->w);
    for (int i = 0; i < WR_CATEGORIES_COUNT; i++)
        wr_json_write_text(&k->w, wr_span_of(wr_category_name((enum wr_category)i)));
    wr_json_write_array_end(&k->w);
    wr_json_write_key(&k->w, "rows");
    wr_json_write_array(&k->w);
    status = wr_traffic_rows_init(&rows, k->traffic->models, &k->w);
    if (!status)
        status = wr_ledger_each(k->traffic->ledger, &filter, wr_traffic_rows_add, &rows, &k->err);
    wr_traffic_rows_release(&rows);
    wr_json_write_array_end(&k->w);
    wr_json_write_object_end(&k->w);
    return status;
}

/* ---- one request ---- */

static weir_status find_said(struct work *k, struct wr_ledger_row *said)
{
    struct wr_ledger_which which = {.tenant = k->call->tenant,
                                    .id = (int64_t)wr_query_number(k->call->query, "id", 0)};

    if (!which.id)
        return wr_fail(&k->err, WEIR_INVALID, 0, "`id` says which request");
    weir_status status = wr_ledger_said(k->traffic->ledger, &which, said, &k->err);
    if (status)
        return status;
    said->session = wr_arena_copy(k->arena, said->session);
    return wr_arena_status(k->arena);
}

/* Its step and what broke its cache, in words. */
static void put_explanations(struct work *k, const struct wr_ledger_row *said)
{
    struct wr_record record;
    struct wr_arena row;

    wr_arena_init(&row, WR_ARENA_BYTES_MAX);
    if (!wr_row_parse(said->line, &row, &record)) {
        if (wr_record_was_step(&record))
            wr_json_member_word(&k->w, "step_says", wr_sentence_step(record.step_reason));
        if (record.is_bust)
            wr_json_member_word(
                &k->w, "bust_says",
                wr_sentence_advice(wr_span_of(wr_bust_name(record.bust)), record.bust_place));
    }
    wr_arena_release(&row);
}

static weir_status answer_request(struct work *k)
{
    struct wr_ledger_row said;
    weir_status status = find_said(k, &said);

    if (status)
        return status;
    wr_json_write_object(&k->w);
    wr_json_member_i64(&k->w, "id", said.id);
    wr_json_member_i64(&k->w, "time_ms", said.time_ms);
    wr_json_member_text(&k->w, "session", said.session);
    wr_json_member_text(&k->w, "agent", said.agent);
    wr_json_member_text(&k->w, "model", said.model);
    wr_json_member_bool(&k->w, "kept", said.came.len);
    put_explanations(k, &said);
    if (said.came.len)
        status = wr_view_write(&said, k->arena, &k->w, &k->err);
    wr_json_write_object_end(&k->w);
    return status;
}

static weir_status answer_text(struct work *k)
{
    struct wr_ledger_row said;
    weir_span text = {"", 0};
    weir_status status = find_said(k, &said);
    bool is_sent = wr_span_is(query_text(k, "side"), "sent");

    if (!status && !said.came.len)
        status = wr_fail(&k->err, WEIR_NOTFOUND, 0, "what this request said was not kept");
    if (!status)
        status = wr_view_text(&said, is_sent, wr_query_number(k->call->query, "i", 0), k->arena,
                              &text, &k->err);
    k->answer->type = WR_TRAFFIC_TEXT;
    wr_buf_append(k->answer->body, text);
    return status;
}

/* ---- originals ---- */

static weir_status answer_original(struct work *k)
{
    struct weir_lookup lookup = {.tenant = k->call->tenant};
    struct weir_artifact artifact;
    uint64_t replaced_count;
    weir_miss miss = WEIR_MISS_NONE;
    weir_span text;

    if (!weir_handle_parse(query_text(k, "handle"), &lookup.handle))
        return wr_fail(&k->err, WEIR_INVALID, 0, "`handle` is wr_ and 20 hexadecimal digits");
    weir_status status = weir_store_get(k->traffic->store, &lookup, &artifact, &miss, &k->err);
    if (status == WEIR_NOTFOUND)
        return wr_fail(&k->err, status, 0, "%s", weir_miss_text(miss));
    if (!status)
        status = wr_valid_text(k->arena, artifact.text, &text, &replaced_count);
    k->answer->type = WR_TRAFFIC_TEXT;
    if (!status)
        wr_buf_append(k->answer->body, text);
    return status;
}

static struct wr_originals originals_of(struct work *k)
{
    return (struct wr_originals){.ledger = k->traffic->ledger,
                                 .store = k->traffic->store,
                                 .arena = k->arena,
                                 .tenant = k->call->tenant,
                                 .session = query_text(k, "session")};
}

static weir_status answer_originals(struct work *k)
{
    struct wr_originals from = originals_of(k);

    wr_json_write_object(&k->w);
    weir_status status = wr_originals_list(&from, &k->w, &k->err);
    wr_json_write_object_end(&k->w);
    return status;
}

static weir_status answer_search(struct work *k)
{
    struct wr_originals from = originals_of(k);
    weir_span pattern = query_text(k, "pattern"), words = query_text(k, "words");

    wr_json_write_object(&k->w);
    weir_status status =
        wr_originals_search(&from, words.len ? words : pattern, words.len, &k->w, &k->err);
    wr_json_write_object_end(&k->w);
    return status;
}

/* ---- the cache ---- */

/* What a bust cost depends on the usage alone, so rows from before `since_ms` need not be read. */
struct busts {
    struct work *work;
    struct wr_tallier *tallier;
    struct wr_arena arena; /* of one row */
};

static weir_status put_bust(void *user, const struct wr_ledger_row *row)
{
    struct busts *b = user;
    struct work *k = b->work;
    struct wr_tally one = {0}, *tallies[] = {&one};
    struct wr_record r;

    weir_status status = wr_row_parse(row->line, &b->arena, &r);
    if (!status)
        status = wr_tallier_add(b->tallier, row, &r, tallies, 1);
    if (!status && r.is_bust) {
        wr_json_write_newline(&k->w);
        wr_json_write_object(&k->w);
        wr_json_member_i64(&k->w, "id", row->id);
        wr_json_member_i64(&k->w, "time_ms", row->time_ms);
        wr_json_member_text(&k->w, "session", row->session);
        wr_json_member_text(&k->w, "agent", row->agent);
        wr_json_member_text(&k->w, "model", row->model);
        wr_json_member_word(&k->w, "bust", wr_bust_name(r.bust));
        wr_json_member_number(&k->w, "lost", r.cache_lost_tokens);
        if (!one.unpriced_count)
            wr_json_member_number(&k->w, "micro_usd", one.bust_micro_usd[r.bust]);
        wr_json_member_text(&k->w, "place", r.bust_place);
        if (r.step_reason.len)
            wr_json_member_text(&k->w, "step", r.step_reason);
        wr_json_member_word(&k->w, "says",
                            wr_sentence_advice(wr_span_of(wr_bust_name(r.bust)), r.bust_place));
        wr_json_write_object_end(&k->w);
    }
    return status == WEIR_SYNTAX ? WEIR_OK : status;
}

static weir_status answer_busts(struct work *k)
{
    struct wr_ledger_filter filter = {.tenant = k->call->tenant,
                                      .session = query_text(k, "session"),
                                      .since_ms =
                                          (int64_t)wr_query_number(k->call->query, "since_ms", 0)};

    struct busts busts = {.work = k, .tallier = wr_tallier_new(k->traffic->models)};

    if (!busts.tallier)
        return WEIR_NOMEM;
    wr_arena_init(&busts.arena, WR_ARENA_BYTES_MAX);
    wr_json_write_object(&k->w);
    wr_json_write_key(&k->w, "busts");
    wr_json_write_array(&k->w);
    weir_status status = wr_ledger_each(k->traffic->ledger, &filter, put_bust, &busts, &k->err);
    wr_arena_release(&busts.arena);
    wr_tallier_free(busts.tallier);
    wr_json_write_array_end(&k->w);
    wr_json_write_object_end(&k->w);
    return status;
}

/* ---- the tail ---- */

static weir_status answer_rows(struct work *k)
{
    struct wr_ledger_filter filter = {
        .tenant = k->call->tenant,
        .since_ms = (int64_t)wr_query_number(k->call->query, "since_ms", 0),
        .after_id = (int64_t)wr_query_number(k->call->query, "after_id", 0)};
    struct wr_traffic_rows rows;

    wr_json_write_object(&k->w);
    wr_json_write_key(&k->w, "rows");
    wr_json_write_array(&k->w);
    weir_status status = wr_traffic_rows_init(&rows, k->traffic->models, &k->w);
    rows.names_session = true;
    if (!status)
        status = wr_ledger_each(k->traffic->ledger, &filter, wr_traffic_rows_add, &rows, &k->err);
    wr_traffic_rows_release(&rows);
    wr_json_write_array_end(&k->w);
    wr_json_write_object_end(&k->w);
    return status;
}

weir_status wr_traffic_log(struct wr_traffic *traffic, weir_span tenant, weir_span session,
                           struct wr_buf *log, char *model, size_t model_bytes,
                           struct weir_err *err)
{
    struct wr_ledger_which last = {.tenant = tenant, .session = session, .is_last = true};
    struct wr_ledger_row said;
    weir_status status = open_books(traffic, err);

    if (!status)
        status = wr_ledger_said(traffic->ledger, &last, &said, err);
    if (status == WEIR_NOTFOUND)
        return wr_fail(err, status, 0, "what this session said was not kept");
    if (status)
        return status;
    (void)snprintf(model, model_bytes, "%.*s", (int)said.model.len, said.model.ptr);
    return wr_export_log(&said, log, err);
}

static weir_status keep_last_id(void *user, const struct wr_ledger_row *row)
{
    *(int64_t *)user = row->id;
    return WEIR_OK;
}

weir_status wr_traffic_newest(struct wr_traffic *traffic, int64_t *id, struct weir_err *err)
{
    uint64_t rows_count;
    int64_t first_id;
    weir_status status = open_books(traffic, err);

    *id = 0;
    if (!status)
        status = wr_ledger_extent(traffic->ledger, &rows_count, &first_id, err);
    if (status || !rows_count)
        return status;
    /* Numbers rise one by one but for what has left: the last is not far behind. */
    struct wr_ledger_filter filter = {.after_id = first_id + (int64_t)rows_count - 2};
    return wr_ledger_each(traffic->ledger, &filter, keep_last_id, id, err);
}

weir_status wr_traffic_follow(struct wr_traffic *traffic, int64_t after_id, wr_ledger_row_fn *row,
                              void *user, struct weir_err *err)
{
    struct wr_ledger_filter filter = {.after_id = after_id};
    weir_status status = open_books(traffic, err);

    return status ? status : wr_ledger_each(traffic->ledger, &filter, row, user, err);
}

/* ---- asking ---- */

static const struct {
    const char *path;
    weir_status (*answer)(struct work *work);
} answers[] = {
    {"", answer_overview},
    {"/sessions", answer_sessions},
    {"/session", answer_session},
    {"/request", answer_request},
    {"/text", answer_text},
    {"/original", answer_original},
    {"/originals", answer_originals},
    {"/search", answer_search},
    {"/busts", answer_busts},
    {"/rows", answer_rows},
};

static int status_of(weir_status status)
{
    switch (status) {
    case WEIR_OK:
        return 200;
    case WEIR_NOTFOUND:
        return 404;
    case WEIR_INVALID:
    case WEIR_SYNTAX:
        return 400;
    default:
        return 503;
    }
}

/* What was begun of an answer goes: half a JSON helps nobody. */
static void put_error(struct work *k, weir_status status)
{
    struct wr_traffic_answer *answer = k->answer;
    const char *why = *k->err.text ? k->err.text : weir_status_text(status);

    answer->status = status_of(status);
    answer->type = WR_TRAFFIC_JSON;
    wr_buf_reset(answer->body);
    wr_json_write_init(&k->w, answer->body);
    wr_json_write_object(&k->w);
    wr_json_write_key(&k->w, "error");
    wr_json_write_object(&k->w);
    wr_json_member_word(&k->w, "message", why);
    wr_json_write_object_end(&k->w);
    wr_json_write_object_end(&k->w);
}

void wr_traffic_ask(struct wr_traffic *traffic, const struct wr_traffic_call *call,
                    struct wr_traffic_answer *answer)
{
    struct work k = {.traffic = traffic, .call = call, .answer = answer, .arena = &traffic->arena};
    weir_status status = open_books(traffic, &k.err);

    answer->status = 200;
    answer->type = WR_TRAFFIC_JSON;
    wr_arena_reset(&traffic->arena);
    wr_json_write_init(&k.w, answer->body);
    size_t i = 0;
    while (i < WR_COUNT_OF(answers) && !wr_span_is(call->path, answers[i].path))
        i++;
    if (!status && i == WR_COUNT_OF(answers))
        status = wr_fail(&k.err, WEIR_NOTFOUND, 0, "there is nothing at this path");
    if (!status)
        status = answers[i].answer(&k);
    if (!status)
        status = wr_arena_status(k.arena);
    if (status)
        put_error(&k, status);
}
