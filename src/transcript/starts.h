/* starts.h -- how bodies began that were read before, so that the next one goes on from there.
 *
 * An agent sends its whole history each time: a body begins with the bytes of the one before it,
 * up to the last messages. What was read of them (the JSON nodes, the segments as the dialect's
 * reader made them, the hashes of their texts) is kept here, found by hashes of the bytes in blocks
 * of fixed size, and copied instead of being read again.
 *
 *   wr_starts_find()     which beginning the text has in common with an earlier one
 *   wr_json_parse()      goes on behind it (`start.json` is an option of that call)
 *   wr_start_segments()  the dialect's reader takes the known messages over and reads the others
 *   wr_starts_keep()     what was read is kept for the next one
 *
 * 1. What is taken over is what reading would have given: the same bytes, read by the same code.
 *    Forgetting all of it changes nothing but time.
 * 2. A beginning ends where an element of the list of messages ends. Only what is inside the list
 *    is taken over as segments: tools and instructions may stand behind it in the body, and are
 *    read each time.
 * 3. One owner, one thread at a time. What is taken over is copied, so a request holds nothing of
 *    this.
 */
#ifndef WR_TRANSCRIPT_STARTS_H
#define WR_TRANSCRIPT_STARTS_H

#include "transcript/transcript.h"

struct wr_starts;

/* `start.json` is for the reader of JSON. */
struct wr_start {
    struct wr_json_start json;
    struct wr_known_body *body; /* owned by the starts; NULL: nothing of the text is known */
    uint32_t elements_count;    /* of the list */
};

/* Holds at most `bytes_max`; the beginning that was used least recently goes first. */
WEIR_MUST_USE weir_status wr_starts_new(struct wr_starts **starts, size_t bytes_max);
void wr_starts_free(struct wr_starts *starts); /* NULL is fine */

/* False, and `start` says nothing: it begins like none that is known, or `starts` is NULL. What is
 * found lives until the next wr_starts_keep(). */
bool wr_starts_find(struct wr_starts *starts, weir_span text, struct wr_start *start);

/* Adds the segments of the known elements of `list` to the transcript, and says which element comes
 * next: the first one where nothing is known (`start` may be NULL), NONE where all were known. */
wr_json_id wr_start_segments(const struct wr_start *start, struct wr_transcript *transcript,
                             wr_json_id list, weir_status *status);

/* Copies the hashes of segments that were taken over. */
void wr_start_hashes(const struct wr_start *start, struct wr_transcript *transcript);

/* Keeps what was read of a body whose reading went on from `start`. Out of memory or room: nothing
 * is kept, which is no failure. `starts` may be NULL. */
void wr_starts_keep(struct wr_starts *starts, const struct wr_transcript *transcript,
                    const struct wr_start *start);

#endif
