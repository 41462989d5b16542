#include "tests/fold_laws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/span.h"
#include "api/lawful.h"
#include "engine/run.h"
#include "policy/open_loop.h"
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
                                      .binds_thinking = c->thinks,
                                      .keeps_originals = true,
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

static weir_span without_markers(weir_span body, struct wr_arena *arena);

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

/* ---- signed thinking ---- */

#define THOUGHT "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s%u\"}"

/* Thinking before everything that an output of the model holds; each is known by its signature. */
bool fold_laws_think(struct wr_buf *body, weir_dialect dialect)
{
    struct wr_splice splice;
    struct wr_arena arena;
    struct wr_buf thought, out;
    struct wr_json doc;
    uint32_t number = 0;

    wr_arena_init(&arena, WR_ARENA_BYTES_MAX);
    wr_buf_init(&out, WR_OUTPUT_BYTES_MAX);
    bool ok = !wr_json_parse(&doc, &arena, wr_buf_view(body), NULL, NULL);
    wr_splice_init(&splice, &doc, &arena);
    wr_json_id list = ok ? wr_json_find(&doc, 0, "messages") : WR_JSON_NONE;
    bool was_model = false;
    for (wr_json_id m = wr_json_first(&doc, list); ok && m != WR_JSON_NONE;
         m = wr_json_next(&doc, list, m)) {
        bool is_model = wr_json_text_is(&doc, wr_json_find(&doc, m, "role"), "assistant");
        wr_json_id content = wr_json_find(&doc, m, "content");
        bool begins = is_model && !was_model;
        was_model = is_model;
        if (!begins)
            continue;
        wr_buf_init(&thought, 256);
        if (dialect == WEIR_DIALECT_CHAT)
            wr_buf_printf(&thought, "\"thinking_blocks\":[" THOUGHT "]", number++);
        else
            wr_buf_printf(&thought, THOUGHT, number++);
        weir_span text = wr_arena_copy(&arena, wr_buf_view(&thought));
        if (dialect == WEIR_DIALECT_CHAT)
            wr_splice_insert(&splice, m, WR_JSON_NONE, text);
        else if (wr_json_is(&doc, content, WR_JSON_ARRAY))
            wr_splice_insert(&splice, content, wr_json_first(&doc, content), text);
        wr_buf_release(&thought);
    }
    ok = ok && !wr_splice_apply(&splice, &out, NULL);
    if (ok) {
        wr_buf_reset(body);
        wr_buf_append(body, wr_buf_view(&out));
    }
    wr_buf_release(&out);
    wr_arena_release(&arena);
    return ok;
}

static bool is_thought(const struct wr_json *doc, wr_json_id block)
{
    return wr_json_text_is(doc, wr_json_find(doc, block, "type"), "thinking");
}

static uint32_t number_of(const struct wr_json *doc, wr_json_id block)
{
    weir_span signature = wr_json_inner(doc, wr_json_find(doc, block, "signature"));
    uint32_t number = 0;
    for (size_t i = 1; i < signature.len; i++)
        number = number * 10 + (uint32_t)(signature.ptr[i] - '0');
    return number < FOLD_LAWS_THOUGHTS_MAX ? number : FOLD_LAWS_THOUGHTS_MAX - 1;
}

/* What a provider hashes of a message: everything but thinking and cache markers, which
 * without_markers() has taken. */
static uint64_t hash_value(const struct wr_json *doc, wr_json_id id, uint64_t seed)
{
    if (wr_json_kind(doc, id) == WR_JSON_OBJECT || wr_json_kind(doc, id) == WR_JSON_ARRAY) {
        for (wr_json_id child = wr_json_first(doc, id); child != WR_JSON_NONE;
             child = wr_json_next(doc, id, child))
            if (!is_thought(doc, child))
                seed = hash_value(doc, child, seed);
        return seed;
    }
    return wr_hash64_seeded(wr_json_raw(doc, id), seed);
}

static bool thought_holds(struct fold_laws_signed *s, uint32_t number, uint64_t before)
{
    uint64_t signed_hash = s->is_known[number] ? s->hash[number] : s->sent;
    bool is_held = s->has_sent || s->is_known[number];
    if (!s->is_known[number])
        s->hash[number] = before;
    s->is_known[number] = true;
    return !is_held || signed_hash == before;
}

/* Looks for thoughts in a message: an output's, or a gateway's field of them. */
static bool thoughts_hold(struct fold_laws_signed *s, const struct wr_json *doc, wr_json_id message,
                          uint64_t before, bool *has_thought)
{
    static const char *const fields[] = {"content", "thinking_blocks"};
    *has_thought = false;
    for (size_t f = 0; f < WR_COUNT_OF(fields); f++) {
        wr_json_id list = wr_json_find(doc, message, fields[f]);
        if (!wr_json_is(doc, list, WR_JSON_ARRAY))
            continue;
        for (wr_json_id b = wr_json_first(doc, list); b != WR_JSON_NONE;
             b = wr_json_next(doc, list, b)) {
            if (!is_thought(doc, b))
                continue;
            *has_thought = true;
            if (!thought_holds(s, number_of(doc, b), before))
                return false;
        }
    }
    return true;
}

/* (i) Thinking that is sent stands behind the very bytes that it was signed over. */
const char *fold_laws_unbound(struct fold_laws_signed *s, weir_span body, struct wr_arena *arena)
{
    struct wr_json doc;
    uint64_t hash = 0;
    bool is_bare = false; /* the newest output has lost its thinking */

    if (wr_json_parse(&doc, arena, without_markers(body, arena), NULL, NULL))
        return "it is no JSON";
    wr_json_id list = wr_json_find(&doc, 0, "messages");
    bool was_model = false;
    for (wr_json_id m = wr_json_first(&doc, list); m != WR_JSON_NONE;
         m = wr_json_next(&doc, list, m)) {
        wr_json_id role = wr_json_find(&doc, m, "role");
        bool is_model = wr_json_text_is(&doc, role, "assistant"), has_thought;
        if (!thoughts_hold(s, &doc, m, hash, &has_thought))
            return "thinking is not bound to what stands before it";
        if (is_model)
            is_bare = !has_thought && !(was_model && !is_bare);
        else if (wr_json_text_is(&doc, role, "user") &&
                 wr_span_find(wr_json_raw(&doc, m), WR_LIT("\"tool_result\""), 0) == SIZE_MAX)
            is_bare = false; /* the user has spoken since */
        was_model = is_model;
        hash = hash_value(&doc, m, hash);
    }
    s->sent = hash;
    s->has_sent = true;
    return is_bare ? "the newest calls have lost their thinking" : NULL;
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
    const char *name = wr_api_of(dialect)->list_key;
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

static struct wr_breaches breaches_of(weir_span body, weir_dialect dialect, struct wr_arena *arena)
{
    struct wr_api_options options = {.dialect = weir_dialect_name(dialect)};
    struct wr_transcript *t = WR_ARENA_ARRAY(arena, struct wr_transcript, 1);
    struct wr_json *doc = WR_ARENA_ARRAY(arena, struct wr_json, 1);
    struct wr_breaches breaches = {.status = WEIR_NOMEM};

    if (!t || !doc || wr_json_parse(doc, arena, body, NULL, NULL) ||
        wr_api_read(t, arena, doc, &options, NULL))
        return breaches;
    breaches.status = WEIR_OK;
    breaches.status = wr_lawful_check(t, arena, &breaches);
    return breaches;
}

const char *fold_laws_breach(weir_span before, weir_span after, weir_dialect dialect,
                             struct wr_arena *arena)
{
    struct wr_breaches had = breaches_of(before, dialect, arena);
    struct wr_breaches has = breaches_of(after, dialect, arena);

    if (had.status || has.status)
        return "it cannot be read";
    const struct wr_breach *breach = wr_lawful_new_breach(&had, &has);
    return breach ? wr_rule_text(breach->rule) : NULL;
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

/* (j) Only a last resort takes what no tool brings back: without a recall tool, of a prompt that
 * would be refused. Its marker says so, and names no tool. */
static bool operators_are_last(const struct projected *p, const struct fold_laws_case *c,
                               struct fold_laws_counts *counts)
{
    const struct wr_fold *fold = &p->run.fold;
    const weir_span words = WR_LIT("no tool here brings it back");
    bool is_needed = false;

    for (uint32_t i = 0; i < p->transcript.segments_count; i++) {
        const struct wr_fold_segment *now = &fold->segments[i];
        bool has_text = now->form != WR_FORM_EXACT && now->form != WR_FORM_DROPPED;
        if (has_text && now->needs_operator != (wr_span_find(now->text, words, 0) != SIZE_MAX))
            return false;
        is_needed |= has_text && now->needs_operator;
    }
    for (uint32_t i = 0; i < fold->inserts_count; i++)
        is_needed |= !fold->inserts[i].is_gone && fold->inserts[i].needs_operator;
    counts->operators += is_needed;
    return !is_needed ||
           (c->without_recall && p->run.tokens_before > wr_fold_threshold(fold, 10000));
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

/* What no law lets leave: instructions, tools, what agents say as the user, the user's newest
 * message; and a little for what stands in the place of the rest. */
static uint64_t least_tokens(const struct projected *p)
{
    const struct wr_transcript *t = &p->transcript;
    uint64_t tokens = p->input.window_tokens / 20;
    wr_json_id newest = WR_JSON_NONE;

    for (uint32_t i = t->segments_count; i-- > 0;) {
        const struct wr_segment *s = &t->segments[i];
        weir_span text = wr_segment_text(t, s, p->run.fold.arena);
        bool is_words = s->kind == WEIR_KIND_TEXT && s->role == WEIR_ROLE_USER;
        bool is_of_agent =
            wr_span_starts(text, WR_LIT("<")) || wr_span_starts(text, WR_LIT("# AGENTS.md"));
        if (is_words && !is_of_agent && newest == WR_JSON_NONE)
            newest = s->message;
        bool leaves = s->from_model || s->kind == WEIR_KIND_TOOL_RESULT ||
                      (is_words && !is_of_agent && s->message != newest);
        tokens += leaves ? 0 : p->input.tokens[i] + OVERHEAD_TOKENS;
    }
    return tokens;
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
    counts->over_promise +=
        p->run.tokens_after > p->input.window_tokens && least_tokens(p) <= p->input.window_tokens;
    for (uint32_t i = 0; i < p->run.fold.inserts_count; i++)
        if (!p->run.fold.inserts[i].is_gone && p->run.fold.inserts[i].stage == wr_open_loop_name) {
            counts->folded_open++;
            break;
        }
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
    if (!operators_are_last(p, c, counts))
        return broken(c, n, "something without a way back left, and not in the last resort");
    /* Each of these projects twice more: every third request, and the newest. */
    if (n % STEADY_EVERY && n + 1 < c->session->requests_count)
        return true;
    if (!is_steady(p, body, c, &idempotent))
        return broken(c, n, "the same request gives other bytes");
    /* One that could only just be made to fit is at its limit again when it comes in again. */
    bool is_full = p->run.tokens_after * 20 > wr_fold_threshold(&p->run.fold, 10000) * 19;
    for (uint32_t i = 0; i < p->run.fold.inserts_count; i++) /* nor what a last resort left */
        is_full |=
            !p->run.fold.inserts[i].is_gone && p->run.fold.inserts[i].stage == wr_stage_fit.name;
    return idempotent || is_full || broken(c, n, "projecting a projection changes it");
}

bool fold_laws_hold(const struct fold_laws_case *c, struct fold_laws_counts *counts)
{
    uint32_t total = c->session->requests_count;
    uint32_t first = total > c->requests_max ? total - c->requests_max : 0;
    struct wr_buf last, body;
    struct wr_arena scratch;
    bool ok = true, has_last = false;
    struct fold_laws_signed *signed_over = calloc(1, sizeof(*signed_over));

    wr_buf_init(&last, WR_OUTPUT_BYTES_MAX);
    for (uint32_t n = first; n < total && ok; n++) {
        struct wr_session_request request = {c->dialect, c->session->requests[n], "gpt-5",
                                             c->without_recall ? WR_SESSION_TOOLS_WITHOUT_RECALL
                                                               : WR_SESSION_TOOLS};
        struct projected p;
        wr_buf_init(&body, WR_OUTPUT_BYTES_MAX);
        wr_session_write(c->session, &request, &body);
        if (c->dialect == WEIR_DIALECT_MESSAGES && !mark_end(&body, c->dialect))
            ok = broken(c, n, "it cannot be marked");
        if (c->thinks && !fold_laws_think(&body, c->dialect))
            ok = broken(c, n, "it cannot think");
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
        const char *unbound =
            ok && c->thinks ? fold_laws_unbound(signed_over, p.body, &scratch) : NULL;
        if (unbound)
            ok = broken(c, n, unbound);
        wr_arena_release(&scratch);
        add_counts(counts, &p);
        wr_buf_reset(&last);
        wr_buf_append(&last, p.body);
        has_last = true;
        release(&p);
        wr_buf_release(&body);
    }
    wr_buf_release(&last);
    free(signed_over);
    return ok;
}
