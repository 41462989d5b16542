/* quality_watch.c -- how tasks go: signs of quality, cache busts, and what is learnt from them.
 *
 * A request is looked at twice. On the projector's thread, while its transcript and its changes are
 * there, it is compared with the last prompt of its conversation, and what is found goes into its
 * note. On the loop, when its answer is over, the provider's usage tells how much of it was read
 * from the cache; the note and the usage together say whether that was a bust and whose, and the
 * record is filled in. Only then does this prompt become the last one: what was refused left
 * nothing behind.
 */
#include "proxy/quality_watch.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/span.h"
#include "models/lookup.h"
#include "proxy/quality_prompts.h"
#include "quality/learner.h"
#include "quality/observe.h"

struct wr_watch {
    struct wr_watch_options options;
    struct wr_models *models;
    struct wr_prompts *prompts;
    struct wr_learner *learner;
};

struct wr_watch *wr_watch_new(const struct wr_watch_options *options)
{
    struct wr_watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return NULL;
    watch->options = *options;
    watch->prompts = wr_prompts_new();
    watch->learner = wr_learner_new(options->store_dir);
    if (wr_models_new(&watch->models, NULL, NULL) || !watch->prompts || !watch->learner) {
        wr_watch_free(watch);
        return NULL;
    }
    return watch;
}

void wr_watch_free(struct wr_watch *watch)
{
    if (!watch)
        return;
    wr_learner_free(watch->learner);
    wr_prompts_free(watch->prompts);
    wr_models_free(watch->models);
    free(watch);
}

/* ---- buckets ---- */

static struct wr_learner_session session_of(weir_span tenant, weir_span name, uint64_t key)
{
    return (struct wr_learner_session){.tenant = tenant, .name = name, .key = key};
}

static uint64_t session_key(const struct wr_watch_request *r)
{
    uint64_t session = wr_hash64_seeded(r->session, wr_hash64(r->tenant));
    return wr_hash64_seeded(r->transcript->model, session);
}

/* What is known of a request before anything is done to it. */
static struct wr_bucket_key bucket_key(const struct wr_watch *watch,
                                       const struct wr_watch_request *r, weir_span policy)
{
    const struct wr_transcript *t = r->transcript;
    struct wr_model_match match = wr_models_lookup(watch->models, t->model);
    struct wr_ways ways = {0};

    if (wr_ways_read(&ways, t->arena, t))
        ways = (struct wr_ways){0};
    return (struct wr_bucket_key){
        .route = wr_span_of(r->route),
        .model = t->model,
        .policy = policy,
        .provider = wr_span_of(r->upstream),
        .window = wr_span_of(wr_window_band(match.window_tokens)),
        /* A session that begins has no length yet; one that is taken over has. */
        .length = wr_span_of(t->turns_count > 1 ? wr_length_band(t->turns_count) : ""),
        .task = wr_span_of(wr_task_class(&ways)),
    };
}

const char *wr_watch_policy(struct wr_watch *watch, const struct wr_watch_request *request,
                            const char *policy, struct wr_watch_note *note)
{
    struct wr_learner_session session =
        session_of(request->tenant, request->session, session_key(request));

    /* Where the provider holds the history no policy is pinned; none may change then. */
    if (request->transcript->is_delta || !policy)
        return policy;
    struct wr_bucket_key key = bucket_key(watch, request, wr_span_of(policy));
    wr_learner_choose(watch->learner, &session, &key, request->now_ms, &note->choice);
    return note->choice.policy[0] ? note->choice.policy : policy;
}

static void name_bucket(const struct wr_watch *watch, const struct wr_watch_request *r,
                        weir_span policy, const struct wr_prompt *prompt,
                        struct wr_watch_note *note)
{
    if (!prompt->changed_count)
        return;
    struct wr_bucket_key key = bucket_key(watch, r, policy);
    key.length = (weir_span){"", 0};
    wr_bucket_name(&key, note->bucket);
    wr_blind_bucket_name(&key, note->blind);
    key.length = wr_span_of(wr_length_band(r->transcript->turns_count));
    key.transform = wr_span_of(prompt->form ? prompt->form : "inserted");
    wr_bucket_name(&key, note->within);
}

/* ---- the last one ---- */

/* A conversation: hash of its session's name, and its first user message. */
struct conversation_id {
    uint64_t session, first_user;
};

static struct wr_note_name prompt_name(const struct conversation_id *id, weir_span tenant)
{
    return (struct wr_note_name){
        .kind = WR_NOTE_PROMPT, .tenant = tenant, .id = {(const char *)id, sizeof(*id)}};
}

static uint64_t hash_session(weir_span tenant, weir_span session)
{
    return wr_hash64_seeded(session, wr_hash64(tenant));
}

/* What an earlier process knew of the conversation, or another node that has served it since; what
 * cannot be read is not known. */
static void restore_prompt(struct wr_watch *watch, const struct wr_watch_request *r,
                           const struct wr_bust_sent *now)
{
    struct conversation_id id = {hash_session(r->tenant, r->session), now->prompt->first_user};
    struct wr_note_name name = prompt_name(&id, r->tenant);
    struct wr_prompt prompt;
    struct wr_bust_sent last;
    struct wr_buf bytes;

    if (!watch->options.notes || wr_prompts_knows(watch->prompts, id.session, now))
        return;
    wr_buf_init(&bytes, WR_LEDGER_NOTE_BYTES_MAX);
    if (wr_notes_find(watch->options.notes, &name, &bytes) &&
        wr_prompt_note_decode(r->transcript->arena, wr_buf_view(&bytes), &prompt, &last) &&
        prompt.first_user == id.first_user)
        wr_prompts_restore(watch->prompts, id.session, &last);
    wr_buf_release(&bytes);
}

static bool find_chain(struct wr_watch *watch, weir_span tenant, weir_span id,
                       struct wr_bust_chain *chain)
{
    struct wr_note_name name = {.kind = WR_NOTE_CHAIN, .tenant = tenant, .id = id};
    struct wr_buf bytes;

    if (wr_answers_find_chain(watch->options.answers, tenant, id, chain))
        return true;
    wr_buf_init(&bytes, WR_LEDGER_NOTE_BYTES_MAX);
    bool is_found = wr_notes_find(watch->options.notes, &name, &bytes) &&
                    wr_chain_note_decode(wr_buf_view(&bytes), chain);
    wr_buf_release(&bytes);
    return is_found;
}

static void keep_chain(struct wr_watch *watch, const struct wr_watch_answer *answer,
                       const struct wr_record *record, const struct wr_bust_chain *chain)
{
    const weir_span ids[] = {answer->answer_id, answer->conversation_id};
    struct wr_buf bytes;

    wr_buf_init(&bytes, WR_LEDGER_NOTE_BYTES_MAX);
    wr_chain_note_encode(chain, &bytes);
    for (size_t i = 0; i < 2 && !wr_buf_status(&bytes); i++) {
        struct wr_note_name name = {.kind = WR_NOTE_CHAIN, .tenant = record->tenant, .id = ids[i]};
        wr_answers_keep_chain(watch->options.answers, record->tenant, ids[i], chain);
        wr_notes_keep(watch->options.notes, &name, record->session, wr_buf_view(&bytes),
                      record->time_ms);
    }
    wr_buf_release(&bytes);
}

/* ---- the request ---- */

static void compare_chain(struct wr_watch *watch, const struct wr_watch_request *r,
                          struct wr_watch_note *note)
{
    struct wr_bust_chain last;

    note->is_delta = true;
    if (!find_chain(watch, r->tenant, r->before, &last))
        note->not_judged = "previous_answer_unknown";
    else if (last.cached_tokens < 0)
        note->not_judged = "previous_usage_unknown";
    else
        note->check = wr_bust_compare_chain(&last, &note->chain);
}

/* "message 9, tool call: message 5, tool result, was condensed, wr_...": what it was as the model
 * saw it last is in the record of this request still, unless it has just come back. */
static void name_blind_edit(const struct wr_observed *o, const struct wr_prompt *prompt,
                            const struct wr_record *record, char text[WR_BLIND_PLACE_BYTES])
{
    char call[WR_PROMPT_PLACE_BYTES], source[WR_PROMPT_PLACE_BYTES];
    const struct wr_record_change *change = NULL;

    if (o->blind_source >= prompt->blocks_count || o->blind_call >= prompt->blocks_count)
        return;
    wr_prompt_place(&prompt->blocks[o->blind_call], call);
    wr_prompt_place(&prompt->blocks[o->blind_source], source);
    for (uint32_t i = 0; i < record->changes_count && !change; i++)
        if (record->changes[i].segment == o->blind_source)
            change = &record->changes[i];
    const char *handle = !change ? NULL : change->handle ? change->handle : change->in;
    (void)snprintf(text, WR_BLIND_PLACE_BYTES, "%s: %s, was %s%s%s", call, source,
                   change ? wr_form_name(change->form) : "shortened", handle ? ", " : "",
                   handle ? handle : "");
}

static void see_signs(const struct wr_transcript *t, const bool *changed,
                      const struct wr_prompt *prompt, const struct wr_record *record,
                      struct wr_watch_note *note)
{
    struct wr_observe_input input = {
        .transcript = t, .changed = changed, .changed_count = changed ? prompt->blocks_count : 0};
    struct wr_observed observed;

    wr_quality_observe(&input, &observed);
    note->quality = observed.quality;
    note->outputs_after_edit = observed.outputs_after_edit;
    name_blind_edit(&observed, prompt, record, note->blind_place);
}

void wr_watch_request(struct wr_watch *watch, const struct wr_watch_request *request,
                      const struct wr_record *record, struct wr_watch_note *note)
{
    const struct wr_transcript *t = request->transcript;
    bool is_sent_changed = record->is_changed && !wr_record_is_shadow(record);
    struct wr_prompt prompt;

    note->model = wr_models_lookup(watch->models, t->model).model;
    note->session = session_key(request);
    if (wr_prompt_read(&prompt, t->arena, t, is_sent_changed ? record : NULL))
        return;
    bool *changed = WR_ARENA_ARRAY(t->arena, bool, prompt.blocks_count);
    if (!changed)
        return;
    struct wr_bust_sent now = {.prompt = &prompt,
                               .model = wr_hash64(t->model),
                               .at_ms = request->now_ms,
                               .ttl_ms = wr_bust_ttl_ms(&prompt, note->model),
                               .step_reason = record->step_reason.ptr,
                               .is_other = request->is_other};
    struct wr_prompts_seen seen = {.ticket = 0};
    wr_bust_chain_of(&now, &note->chain);
    note->first_user = prompt.first_user;
    if (t->is_delta) {
        compare_chain(watch, request, note);
    } else {
        restore_prompt(watch, request, &now);
        seen = wr_prompts_take(watch->prompts, hash_session(request->tenant, request->session),
                               &now, changed);
        note->check = seen.check;
    }
    note->is_seen = true;
    note->is_changed = prompt.changed_count > 0;
    note->ticket = seen.ticket;
    if (!seen.is_repeated || request->is_second_try)
        see_signs(t, changed, &prompt, record, note);
    name_bucket(watch, request, wr_span_of(record->policy), &prompt, note);
}

/* ---- the answer ---- */

static uint64_t or_zero(int64_t number)
{
    return number > 0 ? (uint64_t)number : 0;
}

static struct wr_bust_usage usage_of(const struct wr_record *record)
{
    const struct wr_seen_usage *u = &record->usage;
    struct wr_bust_usage usage = {.is_known = u->input_tokens >= 0,
                                  .prompt_tokens = or_zero(u->input_tokens),
                                  .read_tokens = or_zero(u->cache_read_tokens),
                                  .written_tokens = or_zero(u->cache_write_tokens)};
    if (record->api && record->api->counts_cached_apart)
        usage.prompt_tokens += usage.read_tokens + usage.written_tokens;
    return usage;
}

/* Makes it the last prompt of its conversation, here and in the store for a later process. */
static void keep_prompt(struct wr_watch *watch, const struct wr_record *record,
                        int64_t cached_tokens, const struct wr_watch_note *note)
{
    struct conversation_id id = {hash_session(record->tenant, record->session), note->first_user};
    struct wr_note_name name = prompt_name(&id, record->tenant);
    struct wr_buf bytes;

    wr_buf_init(&bytes, WR_LEDGER_NOTE_BYTES_MAX);
    wr_prompts_answered(watch->prompts, note->ticket, cached_tokens,
                        watch->options.notes ? &bytes : NULL);
    if (bytes.len && !wr_buf_status(&bytes))
        wr_notes_keep(watch->options.notes, &name, record->session, wr_buf_view(&bytes),
                      record->time_ms);
    wr_buf_release(&bytes);
}

static void judge_bust(struct wr_watch *watch, const struct wr_watch_answer *answer,
                       const struct wr_bust_usage *usage, struct wr_watch_note *note,
                       struct wr_record *record)
{
    int64_t cached_tokens = wr_bust_cached(usage, note->model);

    /* A request that was refused left nothing in the cache. If the original was sent after all, the
     * prompt that was remembered is not what the provider saw. */
    if (!answer->is_answered || (note->is_changed && !answer->was_sent_changed)) {
        wr_prompts_forget(watch->prompts, note->ticket);
        return;
    }
    enum wr_bust cause = wr_bust_cause_of(record->cache_miss, note->check.cause);
    struct wr_bust_result bust = wr_bust_judge(&note->check, usage, note->model);
    record->cache_expected_tokens = bust.expected_tokens;
    if (bust.lost_tokens) {
        record->is_bust = true;
        record->bust = cause;
        record->cache_lost_tokens = bust.lost_tokens;
        record->bust_place = wr_span_of(note->check.place);
        if (cause == WR_BUST_PROVIDER && record->left_place.len) {
            record->bust = WR_BUST_MOVED;
            record->bust_place = record->left_place;
        }
    }
    if (note->is_delta && !note->not_judged && !usage->is_known)
        record->cache_not_judged = WR_LIT("usage_unknown");
    if (!note->is_delta)
        keep_prompt(watch, record, cached_tokens, note);
    note->chain.cached_tokens = cached_tokens;
    keep_chain(watch, answer, record, &note->chain);
}

void wr_watch_answer(struct wr_watch *watch, const struct wr_watch_answer *answer,
                     struct wr_watch_note *note, struct wr_record *record)
{
    struct wr_bust_usage usage = usage_of(record);
    struct wr_answer_seen seen = {.error = answer->error,
                                  .is_overflow_retried = answer->was_overflow_retried,
                                  .finish = record->answer_finish,
                                  .calls_count = (uint32_t)record->answer_calls,
                                  .input_tokens = usage.prompt_tokens,
                                  .outputs_after_edit = note->outputs_after_edit};

    record->quality = note->quality;
    wr_quality_answer(&seen, &record->quality);
    record->cache_not_judged = wr_word_of(note->not_judged);
    record->blind_place = wr_span_of(note->blind_place);
    record->learned_policy = wr_span_of(note->choice.policy);
    record->learned_from = wr_span_of(note->choice.bucket);
    record->is_trial = note->choice.is_trial;
    if (!note->is_seen)
        return;
    judge_bust(watch, answer, &usage, note, record);
    struct wr_learner_session session = session_of(record->tenant, record->session, note->session);
    struct wr_learner_seen sample = {.bucket = note->bucket,
                                     .within = note->within,
                                     .blind = note->blind,
                                     .points = wr_quality_points(&record->quality),
                                     .has_blind_edit = record->quality.blind_edits > 0,
                                     .now_ms = record->time_ms};
    if (answer->was_sent_changed && answer->teaches)
        wr_learner_tell(watch->learner, &session, &sample);
}
