/* splice.h -- edits of a document as replacements of byte ranges.
 *
 * Edits are collected in any order, then applied in one pass over the text. What no edit names is
 * copied as it stands; no edits give the same bytes (law L1). There are three kinds:
 *   (a) the content of a string is replaced (escaped here), or a value by another;
 *   (b) an element of an array, or a member of an object, is removed with its comma;
 *   (c) an element or a member is inserted, with its comma.
 * Edits that overlap are refused: no order of applying them would be right.
 */
#ifndef WR_JSON_SPLICE_H
#define WR_JSON_SPLICE_H

#include "json/json.h"

struct wr_splice_edit; /* private */
struct wr_splice_op;   /* private */

struct wr_splice {
    const struct wr_json *doc; /* borrowed */
    struct wr_arena *arena;    /* borrowed */
    struct wr_splice_edit *edits;
    struct wr_splice_op *ops; /* removals and insertions, until their commas are known */
    uint32_t edits_count, edits_cap, ops_count, ops_cap;
    weir_status status; /* sticky: running out of memory while collecting */
};

void wr_splice_init(struct wr_splice *splice, const struct wr_json *doc, struct wr_arena *arena);

/* Replaces what the string `id` says. `text` is plain UTF-8 or WTF-8, borrowed until apply. */
void wr_splice_set_text(struct wr_splice *splice, wr_json_id id, weir_span text);

/* Replaces the value `id`. `json` is trusted, borrowed until apply. */
void wr_splice_set_json(struct wr_splice *splice, wr_json_id id, weir_span json);

/* Removes `child` of `container`: an element, or a member named by its key. Twice is as good as
 * once. */
void wr_splice_remove(struct wr_splice *splice, wr_json_id container, wr_json_id child);

/* Inserts `json` before `child` (NONE: at the end): an element's value in an array, `"key":value`
 * in an object. Several at one place keep the order of the calls. `json` is trusted, borrowed until
 * apply. */
void wr_splice_insert(struct wr_splice *splice, wr_json_id container, wr_json_id child,
                      weir_span json);

/* Appends the edited text to `out`. WEIR_INVALID: edits overlap, a child is not of the container
 * named with it, or a text is not UTF-8; `err` names the byte of the input. On failure what `out`
 * holds is not to be used, nor is the splice. */
WEIR_MUST_USE weir_status wr_splice_apply(struct wr_splice *splice, struct wr_buf *out,
                                          struct weir_err *err);

#endif
