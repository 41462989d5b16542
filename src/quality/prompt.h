/* prompt.h -- a request as it came and as it was sent, as rows of hashes: what the next request of
 * its session is compared with.
 *
 * A block is a segment. The record says what was sent otherwise than it came: a segment in another
 * form is known by that form, its handle and its size. No text is kept.
 */
#ifndef WR_QUALITY_PROMPT_H
#define WR_QUALITY_PROMPT_H

#include "record/record.h"
#include "transcript/transcript.h"

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

#endif
