/* record_row.c -- the line of a request, written and read by one table.
 *
 * A row of the table is a member of the line: its name, its type, its place in struct wr_record,
 * and the group that it belongs to. The groups stand in the order of the line; whether a group is
 * in it depends on what happened to the request. In shadow the groups that tell of the projection
 * have "shadow_" before their names, so that nobody adds them to figures of what was sent.
 */
#include "engine/record_row.h"

#include "policy/budget.h"

#define SHADOW "shadow_"

enum type {
    NUMBER,  /* uint64_t */
    TOKENS,  /* the same; what is over WR_MODEL_TOKENS_MAX is none */
    SOME,    /* the same, left out where it is 0 */
    TIME,    /* int64_t */
    KNOWN,   /* int64_t, left out where it is -1 */
    FLAG,    /* bool */
    TRUTH,   /* bool, left out where it is false */
    WORD,    /* weir_span; null where it is not known */
    MENTION, /* weir_span, left out where it is empty */
    MODEL,   /* char[WR_RECORD_MODEL_BYTES] */
    POLICY,  /* char[WR_POLICY_NAME_BYTES_MAX + 1] */
    API,     /* const struct wr_api *; "other" where there is none */
    BUST,    /* enum wr_bust, left out where there is none */
    REASONS, /* a list of words: enum wr_budget_reason bits */
    FORMS,   /* an object: uint64_t by form, those that are not 0 */
    SAVED,   /* bytes_before less this one; not read */
    RATIO    /* this one of bytes_before, in percent; not read */
};

enum group {
    ALWAYS,
    COLLECTED, /* its body was given to the engine */
    ROLLOUT,
    BUCKET,
    MEASURED, /* it was read */
    RESULT,   /* what came of it; with a prefix in shadow */
    SENT,     /* not in shadow */
    ANSWER,
    COUNT,
    JUDGED,
    WATCHED,
    NAMED,    /* from here on: the engine's figures, with a prefix in shadow */
    BUDGET,   /* also in the report, */
    SIZES,    /* in the line only in shadow: else ALWAYS has them */
    COUNTERS, /* up to here */
    WINDOW,
    HELD,
    COMPOSED
};

struct field {
    const char *name;
    weir_span key; /* the name as the line has it */
    uint16_t offset;
    uint8_t type, group;
};

#define KEY(name) "\"" name "\":"
#define F(group, type, member, name)                                                            \
    {                                                                                           \
        name, {KEY(name), sizeof(KEY(name)) - 1}, (uint16_t)offsetof(struct wr_record, member), \
            type, group                                                                         \
    }

static const struct field fields[] = {
    F(ALWAYS, TIME, time_ms, "time_ms"),
    F(ALWAYS, NUMBER, number, "request"),
    F(ALWAYS, API, api, "api"),
    F(ALWAYS, WORD, upstream, "upstream"),
    F(ALWAYS, WORD, path, "path"),
    F(ALWAYS, WORD, tenant, "tenant"),
    F(ALWAYS, MENTION, user, "user"),
    F(ALWAYS, MENTION, team, "team"),
    F(ALWAYS, WORD, agent, "agent"),
    F(ALWAYS, MENTION, run, "run"),
    F(ALWAYS, TRUTH, is_hook, "hook"),
    F(ALWAYS, NUMBER, status, "status"),
    F(ALWAYS, WORD, end, "end"),
    F(ALWAYS, MENTION, spend, "budget"),
    F(ALWAYS, NUMBER, received_bytes, "body_bytes_received"),
    F(ALWAYS, NUMBER, bytes_before, "body_bytes_before"),
    F(ALWAYS, NUMBER, sent_bytes, "body_bytes_after"),
    F(ALWAYS, SAVED, sent_bytes, "body_bytes_saved"),
    F(ALWAYS, RATIO, sent_bytes, "rewrite_ratio_percent"),
    F(ALWAYS, NUMBER, answer_bytes, "answer_bytes"),
    F(ALWAYS, NUMBER, added_us, "added_us"),
    F(ALWAYS, NUMBER, first_byte_us, "first_byte_us"),
    F(ALWAYS, NUMBER, total_us, "total_us"),
    F(ALWAYS, NUMBER, retries_count, "retries"),
    F(ALWAYS, MENTION, retry_reason, "retry_reason"),
    F(ALWAYS, MENTION, place, "upstream_place"),
    F(ALWAYS, MENTION, left_place, "upstream_left"),
    F(ALWAYS, MENTION, left_reason, "upstream_left_reason"),
    F(ALWAYS, SOME, places_tried, "upstream_places_failed"),
    F(COLLECTED, WORD, session, "session"),
    F(COLLECTED, MODEL, model, "model"),
    F(COLLECTED, NUMBER, project_us, "project_us"),
    F(COLLECTED, WORD, not_read, "not_read"),
    F(ROLLOUT, WORD, mode, "rollout_mode"),
    F(ROLLOUT, WORD, mode_reason, "rollout_reason"),
    F(BUCKET, NUMBER, bucket, "rollout_canary_bucket"),
    F(BUCKET, NUMBER, bucket_percent, "rollout_canary_percent"),
    F(MEASURED, TOKENS, tokens_before, "estimated_tokens_before"),
    F(RESULT, TOKENS, tokens_after, "estimated_tokens_after"),
    F(RESULT, FLAG, is_changed, "changed"),
    F(RESULT, FLAG, is_step, "step"),
    F(RESULT, WORD, step_reason, "step_reason"),
    F(RESULT, SOME, step_rewrites_tokens, "step_rewrites_tokens"),
    F(RESULT, WORD, held_back, "held_back"),
    F(SENT, TRUTH, has_own_recall, "own_recall"),
    F(SENT, SOME, leg, "own_recall_leg"),
    F(SENT, SOME, own_recalls, "own_recalls"),
    F(SENT, SOME, own_misses, "own_recall_misses"),
    F(SENT, SOME, own_text_bytes, "own_recall_bytes"),
    F(SENT, SOME, own_put_back, "own_recalls_put_back"),
    F(SENT, SOME, own_left, "own_recalls_left_out"),
    F(SENT, SOME, own_misfits, "own_recalls_misfit"),
    F(SENT, SOME, own_lost, "own_recalls_lost"),
    F(SENT, FLAG, is_pending, "pending"),
    F(ANSWER, FLAG, is_usage_known, "usage_known"),
#define X(name) F(ANSWER, KNOWN, usage.name, "usage_" #name),
    WR_USAGE_MAP(X)
#undef X
        F(ANSWER, KNOWN, micro_usd, "micro_usd"),
    F(ANSWER, NUMBER, answer_events, "answer_events"),
    F(ANSWER, NUMBER, answer_calls, "answer_calls"),
    F(ANSWER, FLAG, is_answer_finished, "answer_finished"),
    F(ANSWER, MENTION, answer_model, "answer_model"),
    F(ANSWER, MENTION, answer_error, "answer_error"),
    F(ANSWER, MENTION, answer_finish, "answer_finish"),
    F(ANSWER, MENTION, cache_miss, "cache_miss_reason"),
    F(COUNT, SOME, count_ratio_bp, "provider_count_ratio_bp"),
    F(JUDGED, FLAG, is_count_used, "provider_count_used"),
#define X(name, text) F(WATCHED, SOME, quality.name, "task_quality_" #name),
    WR_QUALITY_MAP(X)
#undef X
        F(WATCHED, TRUTH, quality.is_recall_only, "recall_only"),
    F(WATCHED, MENTION, cache_not_judged, "cache_not_judged"),
    F(WATCHED, SOME, cache_expected_tokens, "cache_expected_tokens"),
    F(WATCHED, SOME, cache_lost_tokens, "cache_bust_tokens"),
    F(WATCHED, BUST, bust, "cache_bust_cause"),
    F(WATCHED, MENTION, bust_place, "cache_bust_at"),
    F(WATCHED, MENTION, blind_place, "blind_edit_at"),
    F(WATCHED, MENTION, learned_policy, "learned_policy"),
    F(WATCHED, TRUTH, is_trial, "learned_trial"),
    F(WATCHED, MENTION, learned_from, "learned_from"),
    F(NAMED, POLICY, policy, "policy"),
    F(NAMED, SOME, blind_odds_pct, "learned_blind_odds_percent"),
    F(BUDGET, TOKENS, budget.window_tokens, "model_context_window_tokens"),
    F(BUDGET, SOME, budget.factor_bp, "provider_count_basis_points"),
    F(BUDGET, WORD, budget.window_source, "model_context_window_source"),
    F(BUDGET, NUMBER, budget.used_tokens, "observed_context_tokens"),
    F(BUDGET, NUMBER, budget.pressure_bp, "pressure_basis_points"),
    F(BUDGET, WORD, budget.band, "pressure_band"),
    F(BUDGET, TOKENS, budget.usable_tokens, "effective_usable_context_tokens"),
    F(BUDGET, NUMBER, budget.available_tokens, "available_tokens"),
    F(BUDGET, NUMBER, budget.floor_tokens, "absolute_safety_floor_tokens"),
    F(BUDGET, WORD, budget.confidence, "estimator_confidence"),
    F(BUDGET, WORD, budget.mode, "budget_mode"),
    F(BUDGET, REASONS, budget.reasons, "policy_reasons"),
    F(BUDGET, TOKENS, own_tools_tokens, "own_tools_tokens"),
    F(SIZES, NUMBER, bytes_before, "body_bytes_before"),
    F(SIZES, NUMBER, bytes_after, "body_bytes_after"),
    F(SIZES, SAVED, bytes_after, "body_bytes_saved"),
    F(SIZES, RATIO, bytes_after, "rewrite_ratio_percent"),
    F(COUNTERS, NUMBER, steps_count, "steps"),
#define X(name) F(COUNTERS, NUMBER, counters.name, #name),
    WR_RECORD_COUNTER_MAP(X) F(COUNTERS, FORMS, counters.by_form, "transformed_segment_categories"),
    WR_RECORD_CANDIDATE_MAP(X)
#undef X
        F(WINDOW, WORD, over_window, "over_window"),
    F(WINDOW, MENTION, way, "way"),
    F(HELD, TRUTH, is_delta, "delta"),
    F(HELD, KNOWN, hash_failures_count, "artifact_hash_failures"),
#define X(name, text) F(COMPOSED, SOME, made_tokens[WR_CATEGORY_##name], "context_" text "_tokens"),
    WR_CATEGORY_MAP(X)
#undef X
};

enum { FIELDS_COUNT = sizeof(fields) / sizeof(fields[0]) };

static bool is_prefixed(enum group group)
{
    return group == RESULT || (group >= NAMED && group <= WINDOW);
}

/* Whether a group is in the line. */
static bool has_group(const struct wr_record *r, enum group group)
{
    switch (group) {
    case ALWAYS:
    case COUNT:
    case WATCHED:
    case HELD:
        return true;
    case COLLECTED:
        return r->is_collected;
    case ROLLOUT:
        return r->mode.ptr != NULL;
    case BUCKET:
        return r->has_bucket;
    case MEASURED:
    case RESULT:
        return r->deed != WR_DEED_PASSED;
    case SENT:
        return r->deed != WR_DEED_PASSED && !wr_record_is_shadow(r);
    case ANSWER:
        return r->is_answer_read;
    case JUDGED:
        return r->is_count_judged;
    case SIZES:
        return r->has_projection && wr_record_is_shadow(r);
    case NAMED:
    case BUDGET:
    case COUNTERS:
    case WINDOW:
    case COMPOSED:
        return r->has_projection;
    }
    return false;
}

/* ---- writing ---- */

static void put_word(struct wr_json_writer *w, weir_span word)
{
    if (word.ptr)
        wr_json_write_text(w, word);
    else
        wr_json_write_null(w);
}

static void put_number(struct wr_json_writer *w, uint64_t number)
{
    wr_json_write_i64(w, number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

static void put_reasons(struct wr_json_writer *w, uint64_t reasons)
{
    wr_json_write_array(w);
    for (unsigned bit = 1; bit <= WR_REASON_CRITICAL_BUDGET; bit <<= 1)
        if (reasons & bit)
            wr_json_write_text(w, wr_span_of(wr_budget_reason_text((enum wr_budget_reason)bit)));
    wr_json_write_array_end(w);
}

static void put_forms(struct wr_json_writer *w, const uint64_t *by_form)
{
    wr_json_write_object(w);
    for (int i = 0; i < WR_RECORD_FORMS_COUNT; i++)
        if (by_form[i])
            wr_json_member_number(w, wr_form_name((enum wr_form)i), by_form[i]);
    wr_json_write_object_end(w);
}

static bool is_left_out(const struct wr_record *r, const struct field *f)
{
    const void *at = (const char *)r + f->offset;

    switch ((enum type)f->type) {
    case SOME:
        return !*(const uint64_t *)at;
    case KNOWN:
        return *(const int64_t *)at < 0;
    case TRUTH:
        return !*(const bool *)at;
    case MENTION:
        return !((const weir_span *)at)->len;
    case BUST:
        return !r->is_bust;
    default:
        return false;
    }
}

static void put_value(struct wr_json_writer *w, const struct wr_record *r, const struct field *f)
{
    const void *at = (const char *)r + f->offset;
    const uint64_t *number = at;

    switch ((enum type)f->type) {
    case NUMBER:
    case TOKENS:
    case SOME:
        put_number(w, *number);
        break;
    case TIME:
    case KNOWN:
        wr_json_write_i64(w, *(const int64_t *)at);
        break;
    case FLAG:
    case TRUTH:
        wr_json_write_bool(w, *(const bool *)at);
        break;
    case WORD:
    case MENTION:
        put_word(w, *(const weir_span *)at);
        break;
    case MODEL:
    case POLICY:
        put_word(w, wr_span_of(at));
        break;
    case API:
        put_word(w, wr_span_of(wr_api_name(r->api)));
        break;
    case BUST:
        put_word(w, wr_span_of(wr_bust_name(r->bust)));
        break;
    case REASONS:
        put_reasons(w, *number);
        break;
    case FORMS:
        put_forms(w, number);
        break;
    case SAVED:
        put_number(w, r->bytes_before > *number ? r->bytes_before - *number : 0);
        break;
    case RATIO:
        put_number(w, r->bytes_before ? *number * 100 / r->bytes_before : 100);
        break;
    }
}

static void put_field(struct wr_json_writer *w, const struct wr_record *r, const struct field *f)
{
    if (is_left_out(r, f))
        return;
    wr_json_write_raw_key(w, f->key);
    put_value(w, r, f);
}

static void put_shadow_field(struct wr_json_writer *w, const struct wr_record *r,
                             const struct field *f)
{
    char name[80];

    if (is_left_out(r, f))
        return;
    (void)snprintf(name, sizeof(name), SHADOW "%s", f->name);
    wr_json_write_key(w, name);
    put_value(w, r, f);
}

/* The last rows of the table, one a category, whatever member they were read into. */
static void put_composition(struct wr_json_writer *w, const struct wr_record *r)
{
    const struct field *composed = &fields[FIELDS_COUNT - WR_CATEGORIES_COUNT];
    const uint64_t *tokens = wr_record_sent_tokens(r);

    for (int i = 0; i < WR_CATEGORIES_COUNT && has_group(r, COMPOSED); i++) {
        if (!tokens[i])
            continue;
        wr_json_write_raw_key(w, composed[i].key);
        put_number(w, tokens[i]);
    }
}

void wr_row_write(const struct wr_record *record, struct wr_buf *out)
{
    struct wr_json_writer w;

    wr_json_write_init(&w, out);
    wr_json_write_object(&w);
    for (size_t i = 0; i < FIELDS_COUNT && fields[i].group < COMPOSED; i++) {
        const struct field *f = &fields[i];
        if (!has_group(record, f->group))
            continue;
        if (wr_record_is_shadow(record) && is_prefixed(f->group))
            put_shadow_field(&w, record, f);
        else
            put_field(&w, record, f);
    }
    put_composition(&w, record);
    wr_json_write_object_end(&w);
    wr_buf_byte(out, '\n');
}

void wr_row_put_figures(const struct wr_record *record, struct wr_json_writer *writer)
{
    for (size_t i = 0; i < FIELDS_COUNT; i++)
        if (fields[i].group >= BUDGET && fields[i].group <= COUNTERS)
            put_field(writer, record, &fields[i]);
    wr_json_write_key(writer, "held_back");
    put_word(writer, record->held_back);
    wr_json_write_key(writer, "over_window");
    put_word(writer, record->over_window);
    if (record->way.len) {
        wr_json_write_key(writer, "way");
        put_word(writer, record->way);
    }
}

/* ---- reading ---- */

/* A line has its members in the order of the table: the search goes on where the last one ended. */
static const struct field *find_field(weir_span name, bool is_shadow, size_t *next)
{
    for (size_t i = 0; i < FIELDS_COUNT; i++) {
        const struct field *f = &fields[(*next + i) % FIELDS_COUNT];
        if (is_shadow ? !is_prefixed(f->group) : f->group == SIZES)
            continue;
        if (wr_span_is(name, f->name)) {
            *next = (size_t)(f - fields) + 1;
            return f;
        }
    }
    return NULL;
}

static void read_chars(const struct wr_json *doc, wr_json_id value, char *text, size_t bytes)
{
    weir_span word = wr_json_inner(doc, value);
    (void)snprintf(text, bytes, "%.*s", (int)word.len, word.ptr);
}

static void read_bust(const struct wr_json *doc, wr_json_id value, struct wr_record *r)
{
    for (int i = 0; i < WR_BUSTS_COUNT; i++)
        if (wr_json_text_is(doc, value, wr_bust_name((enum wr_bust)i))) {
            r->bust = (enum wr_bust)i;
            r->is_bust = true;
        }
}

static void read_reasons(const struct wr_json *doc, wr_json_id list, uint64_t *reasons)
{
    for (wr_json_id at = wr_json_first(doc, list); at != WR_JSON_NONE;
         at = wr_json_next(doc, list, at))
        for (unsigned bit = 1; bit <= WR_REASON_CRITICAL_BUDGET; bit <<= 1)
            if (wr_json_text_is(doc, at, wr_budget_reason_text((enum wr_budget_reason)bit)))
                *reasons |= bit;
}

static void read_forms(const struct wr_json *doc, wr_json_id object, uint64_t *by_form)
{
    for (int i = 0; i < WR_RECORD_FORMS_COUNT; i++) {
        int64_t number;
        wr_json_id id = wr_json_find(doc, object, wr_form_name((enum wr_form)i));
        if (id != WR_JSON_NONE && wr_json_i64(doc, id, &number) && number > 0)
            by_form[i] = (uint64_t)number;
    }
}

static void read_field(const struct wr_json *doc, wr_json_id value, const struct field *f,
                       struct wr_record *r)
{
    void *at = (char *)r + f->offset;
    int64_t number = -1;
    bool is_count =
        wr_json_is(doc, value, WR_JSON_NUMBER) && wr_json_i64(doc, value, &number) && number >= 0;

    switch ((enum type)f->type) {
    case NUMBER:
        if (is_count)
            *(uint64_t *)at = (uint64_t)number;
        break;
    case TOKENS:
    case SOME:
        if (is_count && number <= WR_MODEL_TOKENS_MAX)
            *(uint64_t *)at = (uint64_t)number;
        break;
    case TIME:
        if (is_count)
            *(int64_t *)at = number;
        break;
    case KNOWN:
        if (is_count && number <= WR_MODEL_TOKENS_MAX)
            *(int64_t *)at = number;
        break;
    case FLAG:
    case TRUTH:
        *(bool *)at = wr_json_is(doc, value, WR_JSON_TRUE);
        break;
    case WORD:
    case MENTION:
        if (wr_json_is(doc, value, WR_JSON_STRING))
            *(weir_span *)at = wr_json_inner(doc, value);
        break;
    case MODEL:
        if (wr_json_is(doc, value, WR_JSON_STRING))
            read_chars(doc, value, at, WR_RECORD_MODEL_BYTES);
        break;
    case POLICY:
        if (wr_json_is(doc, value, WR_JSON_STRING))
            read_chars(doc, value, at, WR_POLICY_NAME_BYTES_MAX + 1);
        break;
    case API:
        if (wr_json_is(doc, value, WR_JSON_STRING))
            r->api = wr_api_named(wr_json_inner(doc, value));
        break;
    case BUST:
        read_bust(doc, value, r);
        break;
    case REASONS:
        read_reasons(doc, value, at);
        break;
    case FORMS:
        read_forms(doc, value, at);
        break;
    case SAVED:
    case RATIO:
        break;
    }
}

/* What the groups that are there say of what happened. */
static void note_group(struct wr_record *r, enum group group, bool is_shadow)
{
    if (group == COLLECTED)
        r->is_collected = true;
    else if (group == BUCKET)
        r->has_bucket = true;
    else if (group == ANSWER)
        r->is_answer_read = true;
    else if (group == JUDGED)
        r->is_count_judged = true;
    else if (group == NAMED)
        r->has_projection = true;
    else if (group == RESULT)
        r->deed = is_shadow ? WR_DEED_SHADOWED : WR_DEED_PROJECTED;
}

void wr_row_read(const struct wr_json *doc, struct wr_record *record)
{
    size_t next = 0;

    wr_record_init(record);
    for (wr_json_id key = wr_json_first(doc, 0); key != WR_JSON_NONE;
         key = wr_json_next(doc, 0, key)) {
        weir_span name = wr_json_inner(doc, key);
        bool is_shadow = wr_span_starts(name, WR_LIT(SHADOW));
        if (is_shadow)
            name = wr_span_cut(name, sizeof(SHADOW) - 1, name.len);
        const struct field *f = find_field(name, is_shadow, &next);
        if (!f)
            continue;
        read_field(doc, wr_json_value(key), f, record);
        note_group(record, f->group, is_shadow);
    }
    if (record->deed != WR_DEED_PASSED && wr_span_is(record->mode, "meter"))
        record->deed = WR_DEED_MEASURED;
    if (record->deed < WR_DEED_PROJECTED) {
        memcpy(record->came_tokens, record->made_tokens, sizeof(record->came_tokens));
        memset(record->made_tokens, 0, sizeof(record->made_tokens));
    }
}

weir_status wr_row_parse(weir_span line, struct wr_arena *arena, struct wr_record *record)
{
    struct wr_json doc;

    wr_arena_reset(arena);
    weir_status status = wr_json_parse(&doc, arena, line, NULL, NULL);
    if (status || !wr_json_is(&doc, 0, WR_JSON_OBJECT))
        return status && status != WEIR_LIMIT ? status : WEIR_SYNTAX;
    wr_row_read(&doc, record);
    return WEIR_OK;
}
