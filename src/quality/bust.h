/* bust.h -- a prompt that was not read from the provider's cache although it could have been: how
 * much of it, and who is to blame.
 *
 * Two requests of one conversation are compared block by block, as they came and as they were sent.
 * Had the second only gone on where the first ended, the provider would have read what the first
 * left in its cache; what it says that it read is what it did. The difference is a bust.
 *
 *   another model, or other tools                          model
 *   the pause was longer than the cache lives              expired
 *   a block differs as it came                             host
 *   a block differs only as it was sent                    weir
 *   nothing differs                                        provider
 */
#ifndef WR_QUALITY_BUST_H
#define WR_QUALITY_BUST_H

#include "engine/record.h"
#include "transcript/transcript.h"

/* A request as it came and as it was sent, as rows of hashes: what the next request of
 * its session is compared with.
 *
 * A block is a segment. The record says what was sent otherwise than it came: a segment in another
 * form is known by that form, its handle and its size. No text is kept. */

struct wr_prompt_block {
    uint64_t original, sent; /* hashes; equal where it was sent as it came */
    uint32_t weight;         /* about its share of what was sent, in bytes */
    uint32_t message;        /* which message or item, from 1; 0 of tools and instructions */
    uint8_t kind;            /* weir_kind */
};

struct wr_prompt {
    struct wr_prompt_block *blocks; /* the first WR_QUALITY_BLOCKS_MAX */
    uint32_t blocks_count;
    uint64_t first_user; /* hash of the first user message: what the conversation is known by */
    uint64_t weight;     /* of all blocks */
    uint64_t parameters; /* hash of what else a provider's cache rests on, such as tool_choice */
    uint32_t changed_count;
    const char *form; /* the form most of them have; NULL: none was changed */
    bool has_long_marker, has_marker;
};

/* Blocks are in `arena`. `record` has the engine's part and its lists; NULL: what came was sent. */
WEIR_MUST_USE weir_status wr_prompt_read(struct wr_prompt *prompt, struct wr_arena *arena,
                                         const struct wr_transcript *transcript,
                                         const struct wr_record *record);

/* How many blocks two prompts have in common from the beginning. */
uint32_t wr_prompt_common_original(const struct wr_prompt *a, const struct wr_prompt *b);
uint32_t wr_prompt_common_sent(const struct wr_prompt *a, const struct wr_prompt *b);

/* How many blocks of `a`'s messages `b` repeats, whatever comes before the messages. */
uint32_t wr_prompt_common_messages(const struct wr_prompt *a, const struct wr_prompt *b);
uint32_t wr_prompt_messages(const struct wr_prompt *prompt); /* blocks of messages */

/* "tools", "system" or "message 12, tool result": names a place without its content. */
enum { WR_PROMPT_PLACE_BYTES = 48 };
void wr_prompt_place(const struct wr_prompt_block *block, char text[WR_PROMPT_PLACE_BYTES]);

enum { WR_BUST_PLACE_BYTES = WR_PROMPT_PLACE_BYTES + 24 };

/* A request that was sent. */
struct wr_bust_sent {
    const struct wr_prompt *prompt;
    uint64_t model; /* hash of its name */
    int64_t at_ms;
    int64_t ttl_ms;          /* how long the provider keeps it; 0: not known */
    int64_t cached_tokens;   /* what it left in the cache; -1: its answer did not say */
    const char *step_reason; /* NULL: no step */
    bool is_other;           /* it left otherwise than its session's marks say (proxy/leave.h) */
};

/* What is known before the answer. */
struct wr_bust_check {
    bool is_known; /* else there is nothing to expect */
    enum wr_bust cause;
    char place[WR_BUST_PLACE_BYTES]; /* where they differ; empty: nowhere */
    bool is_back; /* the last one left otherwise, and what was whole in it is short again */
    uint64_t cached_tokens;
};

struct wr_bust_check wr_bust_compare(const struct wr_bust_sent *last,
                                     const struct wr_bust_sent *now);

/* The same if the provider holds the history. That part cannot have changed, so only what a request
 * carries again is compared, with the request whose answer it goes on from. */
struct wr_bust_chain {
    uint64_t model, tools, instructions, parameters; /* hashes */
    int64_t at_ms, ttl_ms, cached_tokens;            /* as in struct wr_bust_sent */
};

void wr_bust_chain_of(const struct wr_bust_sent *sent, struct wr_bust_chain *chain);
struct wr_bust_check wr_bust_compare_chain(const struct wr_bust_chain *last,
                                           const struct wr_bust_chain *now);

/* Usage as providers say it, reduced to what busts are judged by. */
struct wr_bust_usage {
    bool is_known;
    uint64_t prompt_tokens; /* all of it */
    uint64_t read_tokens;
    uint64_t written_tokens;
};

struct wr_bust_result {
    uint64_t expected_tokens; /* that could have been read; 0: nothing was expected */
    uint64_t lost_tokens;     /* 0: no bust */
};

/* `model` gives the minimum and the steps of its provider's cache. */
struct wr_bust_result wr_bust_judge(const struct wr_bust_check *check,
                                    const struct wr_bust_usage *usage,
                                    const struct wr_model *model);

/* What a request leaves in the cache for the next one; -1: it is not known. */
int64_t wr_bust_cached(const struct wr_bust_usage *usage, const struct wr_model *model);

/* How long that is kept; 0: it is not known. */
int64_t wr_bust_ttl_ms(const struct wr_prompt *prompt, const struct wr_model *model);

/* What the provider's own word for a miss says of the cause; `cause` where it says nothing new. */
enum wr_bust wr_bust_cause_of(weir_span reason, enum wr_bust cause);

#endif
