/* The last prompt of every conversation, as hashes.
 *
 * An entry has two places: `last`, the last prompt that was answered, and `asked`, the one that is
 * under way. take() compares with `last` and fills `asked`; answered() makes it the last one,
 * forget() drops it. A prompt that was refused thus leaves no trace, as it leaves none in the
 * provider's cache.
 *
 * When a session goes on with another model its prompt is compared with the one under the old
 * model, provided that it repeats half of that one's messages and there were more than a greeting.
 */
#include "proxy/quality_prompts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "proxy/answers.h"
#include "quality/bust.h"

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
