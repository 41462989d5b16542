/* history.h -- segments of a transcript as a text that people and models can read: what goes to the
 * store when whole groups leave the prompt.
 *
 *   ## user
 *
 *   make it faster
 *
 *   ## assistant calls Bash (call_1)
 *
 *   ```
 *   {"command":"make bench"}
 *   ```
 *
 *   ## result of Bash (call_1)
 *
 *   ```
 *   12 ms
 *   ```
 *
 * 1. Texts, arguments and results are whole and exact. A fence has more backticks than any run of
 * them in what it holds.
 * 2. What has no text of its own (images, reasoning that the provider made opaque, kinds that are
 * not known, results with images in them) is there as the JSON it came as.
 * 3. The text depends on the given segments alone.
 */
#ifndef WR_POLICY_HISTORY_H
#define WR_POLICY_HISTORY_H

#include "base/buf.h"
#include "base/hash.h"
#include "transcript/transcript.h"

/* Appends the listed segments in the order given. `arena` holds unescaped texts. */
WEIR_MUST_USE weir_status wr_history_write(struct wr_buf *out, struct wr_arena *arena,
                                           const struct wr_transcript *transcript,
                                           const uint32_t *segments, uint32_t segments_count);

/* Appends `text` between fences, as such a text has it. */
void wr_history_fence(struct wr_buf *out, weir_span text);

/* The hash of such a text, of which nothing is kept. More segments may be added later; the hash
 * then is that of all of them together. Zero: none was added yet. */
struct wr_history_hash {
    struct wr_sha256_stream stream;
    bool is_begun;
};

WEIR_MUST_USE weir_status wr_history_hash_add(struct wr_history_hash *hash, struct wr_arena *arena,
                                              const struct wr_transcript *transcript,
                                              const uint32_t *segments, uint32_t segments_count);

#endif
