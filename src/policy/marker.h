/* marker.h -- the line that stands where something was taken out, and names the way back.
 *
 *   [weir wr_0123456789abcdef0123: 1200 lines, ~9870 tokens left out; weir_recall
 * {"handle":"wr_..."}]
 *
 * 1. One line, at the end of a text or by itself; it begins with "[weir wr_" and ends with "]".
 * 2. The handle names the original by its content, so the same original has the same line
 * everywhere.
 * 3. No counter, clock or path of this machine is in it (law L3).
 * 4. A text that came with a marker is left as it is. Whose markers count is for the fold's caller
 *    to say: a line that only looks like one is text (law L2).
 */
#ifndef WR_POLICY_MARKER_H
#define WR_POLICY_MARKER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/hash.h"
#include "transcript/transcript.h"
#include "weir/handle.h"

struct wr_handle {
    char text[WEIR_HANDLE_TEXT_BYTES + 1];
};

/* The handle of an original: its SHA-256, cut to 80 bits. WEIR_NOMEM when the hash cannot be made.
 */
WEIR_MUST_USE weir_status wr_handle_of(weir_span original, struct wr_handle *handle);

/* How what was taken out can be had again in this very request (law L2). */
enum wr_way_kind {
    WR_WAY_NONE,
    WR_WAY_RECALL,   /* `tool` is weir_recall as this request spells it */
    WR_WAY_READ,     /* `tool` is the agent's own read tool; gives the file as it is now */
    WR_WAY_HERE,     /* the text stands elsewhere in the same prompt */
    WR_WAY_OPERATOR, /* no tool gives it back, but whoever runs Weir can: by the handle */
};

struct wr_way {
    enum wr_way_kind kind;
    weir_span tool;
    weir_span path;               /* of READ */
    int64_t start_line, end_line; /* of READ; 0: the whole file */
};

struct wr_marker {
    struct wr_handle handle;
    struct wr_way way;
    uint64_t lines, tokens; /* what is missing */
    const char *what;       /* "left out", "same text as above", ... */
};

void wr_marker_write(struct wr_buf *out, const struct wr_marker *marker);

/* Whether a line of `text` is a well-formed marker; its handle in `*handle` (may be NULL). */
bool wr_marker_find(weir_span text, struct wr_handle *handle);

/* The handle of the last marker in a text that may stand escaped in its body. A form of ours ends
 * with its marker, so an earlier one is something that the text quotes. */
bool wr_marker_last(weir_span raw, weir_handle *handle);

/* Which ways back a request's own tools offer (law L2). */

struct wr_ways {
    weir_span recall;   /* weir_recall as this request spells it; empty: it is not offered */
    uint32_t recall_at; /* the segment that offers it */
    weir_span *tools;   /* all names */
    uint32_t tools_count;
    size_t
        own_bytes; /* of the definitions of Weir's own tools, in the segment that offers recall */
};

/* Reads the names of the tools the request offers. */
WEIR_MUST_USE weir_status wr_ways_read(struct wr_ways *ways, struct wr_arena *arena,
                                       const struct wr_transcript *transcript);

/* The recall tool, where one of the first `arrived` segments offers it; else empty. */
weir_span wr_ways_recall(const struct wr_ways *ways, uint32_t arrived);

/* The way back to a result: recall where it is offered, else the tool that read the file, where the
 * file has not been touched by any of the first `arrived` segments and that tool is still there.
 * What comes later does not count: the way is judged when a form is given. */
struct wr_way wr_way_to(const struct wr_ways *ways, const struct wr_segment *segment,
                        uint32_t arrived);

/* ---- segments as a text ---- */

/* Segments of a transcript as a text that people and models can read: what goes to the
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
