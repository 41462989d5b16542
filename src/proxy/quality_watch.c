/* quality_watch.c -- how tasks go: signs of quality, cache busts, and what is learnt from them. */
#include "proxy/quality_watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/span.h"
#include "models/registry.h"
#include "proxy/answers.h"
#include "quality/bust.h"
#include "quality/learning.h"
#include "quality/observe.h"

/* ==== from request to answer ====
 *
 * A request is looked at twice. On the projector's thread, while its transcript and its changes are
 * there, it is compared with the last prompt of its conversation, and what is found goes into its
 * note. On the loop, when its answer is over, the provider's usage tells how much of it was read
 * from the cache; the note and the usage together say whether that was a bust and whose, and the
 * record is filled in. Only then does this prompt become the last one: what was refused left
 * nothing behind.
 */

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

static uint64_t hash_session(weir_span tenant, weir_span session)
{
    return wr_hash64_seeded(session, wr_hash64(tenant));
}

static uint64_t session_key(const struct wr_watch_request *r)
{
    return wr_hash64_seeded(r->transcript->model, hash_session(r->tenant, r->session));
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

/* ==== the last prompt of every conversation ====
 *
 * As hashes. An entry has two places: `last`, the last prompt that was answered, and `asked`, the
 * one that is under way. take() compares with `last` and fills `asked`; answered() makes it the
 * last one, forget() drops it. A prompt that was refused thus leaves no trace, as it leaves none in
 * the provider's cache.
 *
 * When a session goes on with another model its prompt is compared with the one under the old
 * model, provided that it repeats half of that one's messages and there were more than a greeting.
 */

/* A note of another version is not read. */
enum { VERSION = 2, HEAD_BYTES = 1 + 7 * 8 + 1 + 4, BLOCK_BYTES_MAX = 1 + 8 + 8 };
enum { BLOCKS_MAX = (WR_LEDGER_NOTE_BYTES_MAX - HEAD_BYTES) / BLOCK_BYTES_MAX };

/* The first byte of a block: its kind, and */
enum { IS_SENT_SO = 0x80, IS_NEXT_MESSAGE = 0x40, IS_HEAD = 0x20, KIND = 0x1f };
/* And of a prompt's flags: */
enum { HAS_MARKER = 1, HAS_LONG_MARKER = 2, IS_OTHER = 4 };

static void put_u64(struct wr_buf *out, uint64_t number)
{
    wr_note_put(out, number, sizeof(number));
}

static uint64_t take_u64(struct wr_note_reader *reader)
{
    return wr_note_take(reader, sizeof(uint64_t));
}

/* ---- prompts ---- */

static void put_block(struct wr_buf *out, const struct wr_prompt_block *b, uint32_t message)
{
    bool is_sent_so = b->sent != b->original;

    wr_note_put(out,
                (uint64_t)(b->kind & KIND) | (is_sent_so ? IS_SENT_SO : 0) |
                    (b->message && b->message != message ? IS_NEXT_MESSAGE : 0) |
                    (b->message ? 0 : IS_HEAD),
                1);
    put_u64(out, b->original);
    if (is_sent_so)
        put_u64(out, b->sent);
}

void wr_prompt_note_encode(const struct wr_bust_sent *sent, struct wr_buf *out)
{
    const struct wr_prompt *p = sent->prompt;
    uint32_t count = p->blocks_count < BLOCKS_MAX ? p->blocks_count : BLOCKS_MAX, message = 0;

    wr_note_put(out, VERSION, 1);
    put_u64(out, sent->model);
    put_u64(out, (uint64_t)sent->at_ms);
    put_u64(out, (uint64_t)sent->ttl_ms);
    put_u64(out, (uint64_t)sent->cached_tokens);
    put_u64(out, p->first_user);
    put_u64(out, p->parameters);
    wr_note_put(out,
                (p->has_marker ? HAS_MARKER : 0) | (p->has_long_marker ? HAS_LONG_MARKER : 0) |
                    (sent->is_other ? IS_OTHER : 0),
                1);
    wr_note_put(out, count, sizeof(count));
    for (uint32_t i = 0; i < count; i++) {
        put_block(out, &p->blocks[i], message);
        message = p->blocks[i].message ? p->blocks[i].message : message;
    }
}

static void take_block(struct wr_note_reader *reader, struct wr_prompt_block *b, uint32_t *message)
{
    uint64_t first = wr_note_take(reader, 1);

    *message += first & IS_NEXT_MESSAGE ? 1 : 0;
    b->kind = (uint8_t)(first & KIND);
    b->message = first & IS_HEAD ? 0 : *message;
    b->original = take_u64(reader);
    b->sent = first & IS_SENT_SO ? take_u64(reader) : b->original;
}

bool wr_prompt_note_decode(struct wr_arena *arena, weir_span bytes, struct wr_prompt *prompt,
                           struct wr_bust_sent *sent)
{
    struct wr_note_reader reader = {.rest = bytes};
    uint32_t message = 0;

    if (wr_note_take(&reader, 1) != VERSION)
        return false;
    *sent = (struct wr_bust_sent){.prompt = prompt, .model = take_u64(&reader)};
    sent->at_ms = (int64_t)take_u64(&reader);
    sent->ttl_ms = (int64_t)take_u64(&reader);
    sent->cached_tokens = (int64_t)take_u64(&reader);
    *prompt = (struct wr_prompt){.first_user = take_u64(&reader)};
    prompt->parameters = take_u64(&reader);
    uint64_t flags = wr_note_take(&reader, 1);
    prompt->has_marker = flags & HAS_MARKER;
    prompt->has_long_marker = flags & HAS_LONG_MARKER;
    sent->is_other = flags & IS_OTHER;
    prompt->blocks_count = (uint32_t)wr_note_take(&reader, sizeof(uint32_t));
    if (reader.is_short || prompt->blocks_count > BLOCKS_MAX)
        return false;
    prompt->blocks = WR_ARENA_ARRAY(arena, struct wr_prompt_block, prompt->blocks_count);
    for (uint32_t i = 0; prompt->blocks && i < prompt->blocks_count; i++)
        take_block(&reader, &prompt->blocks[i], &message);
    return prompt->blocks && !reader.is_short && !reader.rest.len;
}

/* ---- chains ---- */

void wr_chain_note_encode(const struct wr_bust_chain *chain, struct wr_buf *out)
{
    wr_note_put(out, VERSION, 1);
    put_u64(out, chain->model);
    put_u64(out, chain->tools);
    put_u64(out, chain->instructions);
    put_u64(out, chain->parameters);
    put_u64(out, (uint64_t)chain->at_ms);
    put_u64(out, (uint64_t)chain->ttl_ms);
    put_u64(out, (uint64_t)chain->cached_tokens);
}

bool wr_chain_note_decode(weir_span bytes, struct wr_bust_chain *chain)
{
    struct wr_note_reader reader = {.rest = bytes};

    if (wr_note_take(&reader, 1) != VERSION)
        return false;
    *chain = (struct wr_bust_chain){.model = take_u64(&reader)};
    chain->tools = take_u64(&reader);
    chain->instructions = take_u64(&reader);
    chain->parameters = take_u64(&reader);
    chain->at_ms = (int64_t)take_u64(&reader);
    chain->ttl_ms = (int64_t)take_u64(&reader);
    chain->cached_tokens = (int64_t)take_u64(&reader);
    return !reader.is_short && !reader.rest.len;
}

/* Another model goes on with a conversation where it repeats half of it, and that is no greeting.
 */
enum { MODEL_BLOCKS_MIN = 3, MODEL_SHARE = 2, AN_ANSWER_MESSAGES_MAX = 3 };

struct kept {
    uint64_t ticket;         /* 0: there is none */
    struct wr_prompt prompt; /* owns its blocks */
    struct wr_bust_sent sent;
};

struct entry {
    uint64_t session; /* 0: free */
    uint64_t first_user, model;
    uint64_t used;
    uint64_t seen; /* hash of the newest prompt, answered or not */
    struct kept last, asked;
};

struct wr_prompts {
    pthread_mutex_t lock;
    uint64_t uses;
    size_t blocks_count;
    struct entry entries[WR_QUALITY_PROMPTS_MAX];
};

struct wr_prompts *wr_prompts_new(void)
{
    struct wr_prompts *prompts = calloc(1, sizeof(*prompts));
    if (prompts && pthread_mutex_init(&prompts->lock, NULL)) {
        free(prompts);
        return NULL;
    }
    return prompts;
}

static void drop_prompt(struct wr_prompts *prompts, struct kept *kept)
{
    prompts->blocks_count -= kept->prompt.blocks_count;
    free(kept->prompt.blocks);
    *kept = (struct kept){.ticket = 0};
}

static void release_entry(struct wr_prompts *prompts, struct entry *entry)
{
    drop_prompt(prompts, &entry->last);
    drop_prompt(prompts, &entry->asked);
    *entry = (struct entry){.session = 0};
}

void wr_prompts_free(struct wr_prompts *prompts)
{
    if (!prompts)
        return;
    for (size_t i = 0; i < WR_QUALITY_PROMPTS_MAX; i++)
        release_entry(prompts, &prompts->entries[i]);
    (void)pthread_mutex_destroy(&prompts->lock);
    free(prompts);
}

static bool repeats_half(const struct entry *entry, const struct wr_prompt *now)
{
    const struct wr_prompt *last = &entry->last.prompt;
    uint32_t had = entry->last.ticket ? wr_prompt_messages(last) : 0;
    return had >= MODEL_BLOCKS_MIN && wr_prompt_common_messages(last, now) >= had / MODEL_SHARE;
}

/* The entry of the conversation under this model; `*other` is one under another model that it goes
 * on from, or NULL. */
static struct entry *find_conversation(struct wr_prompts *prompts, uint64_t session,
                                       const struct wr_bust_sent *now, struct entry **other)
{
    *other = NULL;
    for (size_t i = 0; i < WR_QUALITY_PROMPTS_MAX; i++) {
        struct entry *e = &prompts->entries[i];
        if (e->session != session || e->first_user != now->prompt->first_user)
            continue;
        if (e->model == now->model)
            return e;
        if (repeats_half(e, now->prompt))
            *other = e;
    }
    return NULL;
}

static struct entry *oldest_entry(struct wr_prompts *prompts, bool may_be_free)
{
    struct entry *found = NULL;
    for (size_t i = 0; i < WR_QUALITY_PROMPTS_MAX; i++) {
        struct entry *e = &prompts->entries[i];
        if ((may_be_free || e->session) && (!found || e->used < found->used))
            found = e;
    }
    return found;
}

static void make_block_room(struct wr_prompts *prompts, const struct entry *for_,
                            size_t blocks_count)
{
    while (prompts->blocks_count + blocks_count > WR_QUALITY_TABLE_BLOCKS_MAX) {
        struct entry *old = oldest_entry(prompts, false);
        if (!old || old == for_)
            break;
        release_entry(prompts, old);
    }
}

static uint64_t keep_asked(struct wr_prompts *prompts, struct entry *e,
                           const struct wr_bust_sent *now)
{
    size_t bytes = now->prompt->blocks_count * sizeof(struct wr_prompt_block);
    struct wr_prompt_block *blocks = malloc(bytes ? bytes : 1);

    if (!blocks)
        return 0;
    if (bytes)
        memcpy(blocks, now->prompt->blocks, bytes);
    drop_prompt(prompts, &e->asked);
    make_block_room(prompts, e, now->prompt->blocks_count);
    e->asked = (struct kept){.ticket = prompts->uses, .prompt = *now->prompt, .sent = *now};
    e->asked.prompt.blocks = blocks;
    e->asked.sent.step_reason = NULL;
    prompts->blocks_count += now->prompt->blocks_count;
    return e->asked.ticket;
}

static void compare_with_last(const struct kept *last, const struct wr_bust_sent *now,
                              struct wr_prompts_seen *seen, bool *changed)
{
    struct wr_bust_sent before = last->sent;
    uint32_t common = wr_prompt_common_original(&last->prompt, now->prompt);

    before.prompt = &last->prompt;
    seen->check = wr_bust_compare(&before, now);
    for (uint32_t i = 0; i < common; i++)
        changed[i] = last->prompt.blocks[i].sent != last->prompt.blocks[i].original;
}

static uint64_t hash_prompt(const struct wr_prompt *p)
{
    uint64_t hash = p->blocks_count;
    for (uint32_t i = 0; i < p->blocks_count; i++)
        hash = wr_hash64_seeded(
            (weir_span){(const char *)&p->blocks[i].original, sizeof(p->blocks[i].original)}, hash);
    return hash;
}

/* ---- from one process to the next ---- */

/* Whether requests of the conversation went elsewhere since: more than one answer of the model lies
 * between. Two calls with results between them are two; of texts, whose author is not kept, so many
 * that one answer and the user's next words do not fill them. */
static bool is_behind(const struct kept *last, const struct wr_prompt *now)
{
    uint32_t common = wr_prompt_common_original(&last->prompt, now);
    bool has_call = false, has_result = false;

    if (!last->ticket || common < last->prompt.blocks_count || common >= now->blocks_count)
        return false;
    for (uint32_t i = common; i < now->blocks_count; i++) {
        if (now->blocks[i].kind == WEIR_KIND_TOOL_CALL && has_result)
            return true;
        has_call |= now->blocks[i].kind == WEIR_KIND_TOOL_CALL;
        has_result |= now->blocks[i].kind == WEIR_KIND_TOOL_RESULT;
    }
    uint32_t from = common ? now->blocks[common - 1].message : 0;
    return !has_call && now->blocks[now->blocks_count - 1].message > from + AN_ANSWER_MESSAGES_MAX;
}

bool wr_prompts_knows(struct wr_prompts *prompts, uint64_t session, const struct wr_bust_sent *now)
{
    struct entry *other;

    (void)pthread_mutex_lock(&prompts->lock);
    struct entry *e = find_conversation(prompts, session | 1, now, &other);
    bool knows = e ? !is_behind(&e->last, now->prompt) : other != NULL;
    (void)pthread_mutex_unlock(&prompts->lock);
    return knows;
}

void wr_prompts_restore(struct wr_prompts *prompts, uint64_t session,
                        const struct wr_bust_sent *last)
{
    struct entry *other;

    session |= 1;
    (void)pthread_mutex_lock(&prompts->lock);
    struct entry *e = find_conversation(prompts, session, last, &other);
    if (e && last->prompt->blocks_count > e->last.prompt.blocks_count) {
        struct kept asked = e->asked; /* another request, which is under way */
        e->asked = (struct kept){.ticket = 0};
        ++prompts->uses;
        if (keep_asked(prompts, e, last)) {
            drop_prompt(prompts, &e->last);
            e->last = e->asked;
        }
        e->asked = asked;
    } else if (!e) {
        e = oldest_entry(prompts, true);
        release_entry(prompts, e);
        *e = (struct entry){.session = session,
                            .first_user = last->prompt->first_user,
                            .model = last->model,
                            .seen = hash_prompt(last->prompt),
                            .used = ++prompts->uses};
        if (keep_asked(prompts, e, last)) {
            e->last = e->asked;
            e->asked = (struct kept){.ticket = 0};
        }
    }
    (void)pthread_mutex_unlock(&prompts->lock);
}

/* ---- from one request to the next ---- */

struct wr_prompts_seen wr_prompts_take(struct wr_prompts *prompts, uint64_t session,
                                       const struct wr_bust_sent *now, bool *changed)
{
    struct wr_prompts_seen seen = {.ticket = 0};
    uint64_t hash = hash_prompt(now->prompt);
    struct entry *other;

    session |= 1; /* 0 is a free place */
    (void)pthread_mutex_lock(&prompts->lock);
    struct entry *e = find_conversation(prompts, session, now, &other);
    if (e && e->last.ticket)
        compare_with_last(&e->last, now, &seen, changed);
    else if (!e && other)
        compare_with_last(&other->last, now, &seen, changed);
    seen.is_repeated = e && e->seen == hash;
    if (!e) {
        e = oldest_entry(prompts, true);
        release_entry(prompts, e);
    }
    e->session = session;
    e->first_user = now->prompt->first_user;
    e->model = now->model;
    e->seen = hash;
    e->used = ++prompts->uses;
    seen.ticket = keep_asked(prompts, e, now);
    (void)pthread_mutex_unlock(&prompts->lock);
    return seen;
}

static struct entry *by_ticket(struct wr_prompts *prompts, uint64_t ticket)
{
    for (size_t i = 0; ticket && i < WR_QUALITY_PROMPTS_MAX; i++)
        if (prompts->entries[i].asked.ticket == ticket)
            return &prompts->entries[i];
    return NULL;
}

void wr_prompts_answered(struct wr_prompts *prompts, uint64_t ticket, int64_t cached_tokens,
                         struct wr_buf *note)
{
    (void)pthread_mutex_lock(&prompts->lock);
    struct entry *e = by_ticket(prompts, ticket);
    if (e) {
        drop_prompt(prompts, &e->last);
        e->last = e->asked;
        e->last.sent.cached_tokens = cached_tokens;
        e->last.sent.prompt = &e->last.prompt;
        if (note)
            wr_prompt_note_encode(&e->last.sent, note);
        e->asked = (struct kept){.ticket = 0};
    }
    (void)pthread_mutex_unlock(&prompts->lock);
}

void wr_prompts_forget(struct wr_prompts *prompts, uint64_t ticket)
{
    (void)pthread_mutex_lock(&prompts->lock);
    struct entry *e = by_ticket(prompts, ticket);
    if (e)
        drop_prompt(prompts, &e->asked);
    (void)pthread_mutex_unlock(&prompts->lock);
}
