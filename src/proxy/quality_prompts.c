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
#include "proxy/quality_note.h"
#include "quality/bust.h"

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
