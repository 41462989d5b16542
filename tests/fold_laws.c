#include "tests/fold_laws.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "api/lawful.h"
#include "engine/run.h"
#include "policy/stage.h"
#include "api/api.h"

enum { BYTES_A_TOKEN = 4, OVERHEAD_TOKENS = 12, STEADY_EVERY = 3, COLD_EVERY = 9 };

/* Everything one projection needs and gives. */
struct projected {
    struct wr_arena arena;
    struct wr_buf out;
    struct wr_json doc;
    struct wr_transcript transcript;
    struct wr_ways ways;
    struct wr_odds odds;
    struct wr_fold_input input;
    struct wr_run run;
    weir_span body; /* what leaves */
};

static uint64_t count_tokens(void *user, weir_span text)
{
    (void)user;
    return (text.len + BYTES_A_TOKEN - 1) / BYTES_A_TOKEN;
}

static weir_status measure(struct projected *p)
{
    uint64_t *tokens = WR_ARENA_ARRAY(&p->arena, uint64_t, p->transcript.segments_count);
    uint32_t *overheads = WR_ARENA_ARRAY(&p->arena, uint32_t, p->transcript.segments_count);
    if (!tokens || !overheads)
        return WEIR_NOMEM;
    for (uint32_t i = 0; i < p->transcript.segments_count; i++) {
        weir_span text = wr_segment_text(&p->transcript, &p->transcript.segments[i], &p->arena);
        tokens[i] = count_tokens(NULL, text);
        overheads[i] = OVERHEAD_TOKENS;
    }
    p->input.tokens = tokens;
    p->input.overheads = overheads;
    return WEIR_OK;
}

/* Marks as a session with pauses has them; a projection that comes in again has none. */
static weir_status mark(struct projected *p)
{
    uint32_t count = p->transcript.turns_count;
    struct wr_fold_turn *turns = WR_ARENA_ARRAY(&p->arena, struct wr_fold_turn, count);
    if (!turns)
        return WEIR_NOMEM;
    for (uint32_t i = COLD_EVERY; i < count; i += COLD_EVERY)
        turns[i].is_cold = true;
    p->input.turns = turns;
    return WEIR_OK;
}

static weir_status project(struct projected *p, weir_span body, const struct fold_laws_case *c,
                           bool is_marked)
{
    struct wr_api_options options = {.dialect = weir_dialect_name(c->dialect)};
    *p = (struct projected){.input = {.policy = c->policy,
                                      .window_tokens = c->window_tokens,
                                      .reserve_tokens = c->window_tokens / 10,
                                      .message_overhead_tokens = OVERHEAD_TOKENS,
                                      .places_markers = true,
                                      .count = count_tokens}};
    wr_arena_init(&p->arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&p->out, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_json_parse(&p->doc, &p->arena, body, NULL, NULL);
    if (!status)
        status = wr_api_read(&p->transcript, &p->arena, &p->doc, &options, NULL);
    if (!status)
        status = wr_ways_read(&p->ways, &p->arena, &p->transcript);
    if (!status)
        status = measure(p);
    p->input.transcript = &p->transcript;
    p->input.ways = &p->ways;
    p->input.odds = &p->odds;
    if (!status)
        status = wr_odds_read(&p->odds, wr_odds_embedded(), NULL);
    if (!status && is_marked)
        status = mark(p);
    if (!status)
        status = wr_run_policy(&p->run, &p->arena, &p->input, NULL, &p->out, NULL);
    p->body = status ? body : p->run.settled.body;
    return status;
}

static void release(struct projected *p)
{
    wr_buf_release(&p->out);
    wr_arena_release(&p->arena);
}

static bool broken(const struct fold_laws_case *c, uint32_t request, const char *what)
{
    printf("BROKEN: %s: %s, %s, window %llu, request %u\n", what, c->policy->name,
           weir_dialect_name(c->dialect), (unsigned long long)c->window_tokens, request);
    return false;
}

/* Marks a request as agents do: at its end. */
static bool mark_end(struct wr_buf *body, weir_dialect dialect)
{
    struct wr_api_options options = {.dialect = weir_dialect_name(dialect), .structure_only = true};
    struct wr_transcript t;
    struct wr_splice splice;
    struct wr_arena arena;
    struct wr_buf marked;
    struct wr_json doc;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&marked, WR_OUTPUT_BYTES_MAX);
    bool ok = !wr_json_parse(&doc, &arena, wr_buf_view(body), NULL, NULL) &&
              !wr_api_read(&t, &arena, &doc, &options, NULL);
    wr_splice_init(&splice, &doc, &arena);
    const struct wr_segment *last =
        ok && t.segments_count ? &t.segments[t.segments_count - 1] : NULL;
    if (last && wr_lawful_can_hold_marker(&t, last))
        wr_splice_insert(&splice, last->block, WR_JSON_NONE,
                         WR_LIT("\"cache_control\":{\"type\":\"ephemeral\"}"));
    ok = ok && !wr_splice_apply(&splice, &marked, NULL);
    if (ok) {
        wr_buf_reset(body);
        wr_buf_append(body, wr_buf_view(&marked));
    }
    wr_buf_release(&marked);
    wr_arena_release(&arena);
    return ok;
}

/* The body without its cache markers; no text where that fails. */
static weir_span without_markers(weir_span body, struct wr_arena *arena)
{
    struct wr_splice splice;
    struct wr_json doc;
    struct wr_buf out;

    if (wr_json_parse(&doc, arena, body, NULL, NULL))
        return (weir_span){"", 0};
    wr_splice_init(&splice, &doc, arena);
    for (wr_json_id id = 0; id < doc.nodes_count; id++) {
        wr_json_id marker = wr_find_marker(&doc, id);
        if (marker != WR_JSON_NONE)
            wr_splice_remove(&splice, id, marker);
    }
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    weir_status status = wr_splice_apply(&splice, &out, NULL);
    weir_span copy = status ? (weir_span){"", 0} : wr_arena_copy(arena, wr_buf_view(&out));
    wr_buf_release(&out);
    return copy;
}

/* How many elements both lists begin with; all of `before`: UINT32_MAX. */
static uint32_t count_common(weir_span before, weir_span after, weir_dialect dialect,
                             struct wr_arena *arena)
{
    const char *name = dialect == WEIR_DIALECT_RESPONSES ? "input" : "messages";
    struct wr_json a, b;
    before = without_markers(before, arena);
    after = without_markers(after, arena);
    if (wr_json_parse(&a, arena, before, NULL, NULL) || wr_json_parse(&b, arena, after, NULL, NULL))
        return 0;
    wr_json_id list_a = wr_json_find(&a, 0, name), list_b = wr_json_find(&b, 0, name);
    wr_json_id i = wr_json_first(&a, list_a), j = wr_json_first(&b, list_b);
    for (uint32_t count = 0; i != WR_JSON_NONE; count++) {
        if (j == WR_JSON_NONE || !wr_span_eq(wr_json_raw(&a, i), wr_json_raw(&b, j)))
            return count;
        i = wr_json_next(&a, list_a, i);
        j = wr_json_next(&b, list_b, j);
    }
    return UINT32_MAX;
}

/* (a) What request n+1 repeats of request n has the same bytes: its list begins with n's list. */
bool fold_laws_extends(weir_span before, weir_span after, weir_dialect dialect,
                       struct wr_arena *arena)
{
    return count_common(before, after, dialect, arena) == UINT32_MAX;
}

/* Messages that stand before the first that a step changed. */
static uint32_t count_standing(const struct projected *p, uint32_t first)
{
    const struct wr_segment *s = p->transcript.segments;
    wr_json_id changed = first < p->transcript.segments_count ? s[first].message : WR_JSON_NONE;
    wr_json_id last = WR_JSON_NONE;
    uint32_t count = 0;

    for (uint32_t i = 0; i < first && i < p->transcript.segments_count; i++) {
        bool is_there = p->run.fold.segments[i].form != WR_FORM_DROPPED;
        if (!is_there || s[i].message == last || s[i].message == changed)
            continue;
        last = s[i].message;
        count += last != WR_JSON_NONE && p->transcript.list != WR_JSON_NONE;
    }
    return count;
}

/* (d) The user's newest words are whole, and no result that just came was taken for old. */
static bool newest_is_whole(const struct projected *p)
{
    const struct wr_transcript *t = &p->transcript;
    for (uint32_t i = t->segments_count; i-- > 0;)
        if (t->segments[i].role == WEIR_ROLE_USER && t->segments[i].kind == WEIR_KIND_TEXT)
            return p->run.fold.segments[i].form == WR_FORM_EXACT;
    return true;
}

/* A policy whose very last resort they are may take them where the prompt would be refused. */
static bool may_take_instructions(const struct projected *p)
{
    const struct wr_policy *policy = p->input.policy;
    bool has_fit = false;
    for (uint32_t i = 0; i < policy->stages_count; i++)
        has_fit |= policy->stages[i].def == &wr_stage_fit;
    return has_fit && p->run.tokens_before > p->input.window_tokens;
}

/* (h) Instructions that were read are whole, unless their file was changed since. */
static bool instructions_are_whole(const struct projected *p, struct fold_laws_counts *counts)
{
    const struct wr_transcript *t = &p->transcript;
    if (may_take_instructions(p))
        return true;
    for (uint32_t i = 0; i < t->segments_count; i++) {
        const struct wr_segment *s = &t->segments[i];
        if (s->kind != WEIR_KIND_TOOL_RESULT || !s->handles || !s->handles->is_instructions ||
            s->staleness == WR_STALE)
            continue;
        counts->instructions++;
        if (p->run.fold.segments[i].form != WR_FORM_EXACT)
            return false;
    }
    return true;
}

/* (f) and law L2: smaller, with an original under every handle. */
static bool forms_are_sound(const struct projected *p)
{
    for (uint32_t i = 0; i < p->transcript.segments_count; i++)
        if (p->run.fold.segments[i].tokens > p->input.tokens[i])
            return false;
    for (uint32_t i = 0; i < p->run.artifacts_count; i++) {
        struct wr_handle handle;
        if (wr_handle_of(p->run.artifacts[i].text, &handle) ||
            strcmp(handle.text, p->run.artifacts[i].handle.text) != 0)
            return false;
        if (wr_span_find(p->body, wr_span_of(handle.text), 0) == SIZE_MAX)
            return false;
    }
    return p->run.tokens_after - p->run.fold.chosen.rehydrated_tokens <= p->run.tokens_before;
}

/* (b) and (g): again, from another arena, the same bytes; and the result projects to itself. */
static bool is_steady(const struct projected *p, weir_span body, const struct fold_laws_case *c,
                      bool *idempotent)
{
    struct projected again, twice;
    bool same = !project(&again, body, c, true) && wr_span_eq(again.body, p->body);
    *idempotent = !project(&twice, p->body, c, false) && wr_span_eq(twice.body, p->body);
    release(&again);
    release(&twice);
    return same;
}

static void add_counts(struct fold_laws_counts *counts, const struct projected *p)
{
    counts->requests++;
    counts->edits += p->run.plan.changes_count;
    counts->inserts += p->run.plan.inserts_count;
    for (uint32_t i = 0; i < p->run.plan.changes_count; i++)
        counts->pruned += p->run.plan.changes[i].form == WR_FORM_PRUNED;
    for (uint32_t i = 0; i < p->run.fold.inserts_count; i++)
        counts->rehydrated += p->run.fold.inserts[i].is_rehydrated;
    counts->steps += wr_fold_step_now(&p->run.fold) != NULL;
    counts->rolled_back += p->run.settled.rolled_back_count;
    counts->fallbacks += p->run.settled.is_fallback;
    counts->tokens_before += p->run.tokens_before;
    counts->tokens_after += p->run.tokens_after;
    counts->markers += p->run.plan.marker.is_standing;
    counts->over_window += p->run.tokens_after > p->input.window_tokens;
}

static bool request_holds(const struct fold_laws_case *c, uint32_t n, const struct projected *p,
                          weir_span body, struct fold_laws_counts *counts)
{
    bool idempotent;
    if (p->run.settled.first.found)
        return broken(c, n, p->run.settled.first.what);
    if (!newest_is_whole(p))
        return broken(c, n, "the newest user message is not whole");
    if (!instructions_are_whole(p, counts))
        return broken(c, n, "instructions that were read are not whole");
    if (!forms_are_sound(p))
        return broken(c, n, "a form is larger than its original, or its handle leads nowhere");
    /* Each of these projects twice more: every third request, and the newest. */
    if (n % STEADY_EVERY && n + 1 < c->session->requests_count)
        return true;
    if (!is_steady(p, body, c, &idempotent))
        return broken(c, n, "the same request gives other bytes");
    return idempotent || broken(c, n, "projecting a projection changes it");
}

bool fold_laws_hold(const struct fold_laws_case *c, struct fold_laws_counts *counts)
{
    uint32_t total = c->session->requests_count;
    uint32_t first = total > c->requests_max ? total - c->requests_max : 0;
    struct wr_buf last, body;
    struct wr_arena scratch;
    bool ok = true, has_last = false;

    wr_buf_init(&last, WR_OUTPUT_BYTES_MAX);
    for (uint32_t n = first; n < total && ok; n++) {
        struct wr_session_request request = {c->dialect, c->session->requests[n], "gpt-5", true};
        struct projected p;
        wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
        wr_session_write(c->session, &request, &body);
        if (c->dialect == WEIR_DIALECT_MESSAGES && !mark_end(&body, c->dialect))
            ok = broken(c, n, "it cannot be marked");
        ok &= !project(&p, wr_buf_view(&body), c, true) || broken(c, n, "it fails");
        if (ok)
            ok = request_holds(c, n, &p, wr_buf_view(&body), counts);
        wr_arena_init(&scratch, WR_ARENA_BYTES_MAX);
        bool is_step = wr_fold_step_now(&p.run.fold) != NULL;
        if (ok && has_last && !is_step &&
            !fold_laws_extends(wr_buf_view(&last), p.body, c->dialect, &scratch))
            ok = broken(c, n, "no step was declared, yet the prefix changed");
        if (ok && has_last && is_step &&
            fold_laws_extends(wr_buf_view(&last), p.body, c->dialect, &scratch))
            ok = broken(c, n, "a step was declared, yet the prefix is the same");
        if (ok && has_last && is_step &&
            count_common(wr_buf_view(&last), p.body, c->dialect, &scratch) <
                count_standing(&p, wr_fold_step_now(&p.run.fold)->first))
            ok = broken(c, n, "a step changed something before the first that it names");
        wr_arena_release(&scratch);
        add_counts(counts, &p);
        wr_buf_reset(&last);
        wr_buf_append(&last, p.body);
        has_last = true;
        release(&p);
        wr_buf_release(&body);
    }
    wr_buf_release(&last);
    return ok;
}
