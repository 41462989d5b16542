/* quality_prompts.h -- the last prompt of every conversation, for the next one to be compared with.
 *
 * A conversation is a session's first user message under one model: helpers that run under the
 * session's name begin otherwise. Its last prompt is the last one that was answered; one that was
 * refused left nothing behind. Prompts are kept as hashes, never as text. The oldest give way when
 * there are too many (WR_QUALITY_PROMPTS_MAX, WR_QUALITY_TABLE_BLOCKS_MAX). What is not known here
 * may be brought from the notes of an earlier process. For any thread.
 */
#ifndef WR_PROXY_QUALITY_PROMPTS_H
#define WR_PROXY_QUALITY_PROMPTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "quality/bust.h"

/* What is remembered of a prompt as the bytes of a note: hashes and figures, so
 * that a server that was started since can judge the next one of its conversation. */

/* Of a very long prompt only the front is kept. */
void wr_prompt_note_encode(const struct wr_bust_sent *sent, struct wr_buf *out);

/* Blocks are in `arena`; sent->prompt is `prompt`. False: the bytes are no such note, or there is
 * no memory. */
bool wr_prompt_note_decode(struct wr_arena *arena, weir_span bytes, struct wr_prompt *prompt,
                           struct wr_bust_sent *sent);

void wr_chain_note_encode(const struct wr_bust_chain *chain, struct wr_buf *out);
bool wr_chain_note_decode(weir_span bytes, struct wr_bust_chain *chain);

struct wr_prompts;

struct wr_prompts *wr_prompts_new(void);          /* NULL: out of memory */
void wr_prompts_free(struct wr_prompts *prompts); /* NULL is fine */

struct wr_prompts_seen {
    struct wr_bust_check check;
    bool is_repeated; /* the very prompt that came before: sent again */
    uint64_t ticket;  /* by which its answer is told; 0: it could not be kept */
};

/* Whether there is a last prompt that `now` can be compared with: one that it goes on from, and not
 * one before others of the conversation that went to another node or worker. */
bool wr_prompts_knows(struct wr_prompts *prompts, uint64_t session, const struct wr_bust_sent *now);

/* `last`, which is copied, is the last prompt of its conversation, unless one is known that is as
 * long. */
void wr_prompts_restore(struct wr_prompts *prompts, uint64_t session,
                        const struct wr_bust_sent *last);

/* Compares `now` with the last prompt of its conversation. `changed`, of now->prompt->blocks_count,
 * is set for what the model saw in another form. */
struct wr_prompts_seen wr_prompts_take(struct wr_prompts *prompts, uint64_t session,
                                       const struct wr_bust_sent *now, bool *changed);

/* It was answered, and is now the last one; `cached_tokens` as in struct wr_bust_sent. It is
 * appended to `note` as above; NULL: nobody wants it. */
void wr_prompts_answered(struct wr_prompts *prompts, uint64_t ticket, int64_t cached_tokens,
                         struct wr_buf *note);

/* It was not, or not in this form. */
void wr_prompts_forget(struct wr_prompts *prompts, uint64_t ticket);

#endif
