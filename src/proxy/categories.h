/* categories.h -- of how many tokens each kind of content in a prompt is, for a line of the log.
 *
 * The engine says how many tokens the whole prompt has, and what its edits took out of which
 * segment. How they are spread over the kinds is estimated from the text, so the sum over all kinds
 * is the engine's, and the parts are good to a few percent.
 */
#ifndef WR_PROXY_CATEGORIES_H
#define WR_PROXY_CATEGORIES_H

#include "base/buf.h"
#include "base/text_memo.h"
#include "ledger/category.h"
#include "weir/weir.h"

/* Appends `,"context_NAME_tokens":N` for each kind there is. `projected` is what came of `request`;
 * `is_sent`: its body is what goes out, not the one that came. What was weighed before is not
 * weighed again where there is a memo (NULL: there is none), which is for nothing else. */
void wr_categories_append(const struct weir_request *request, weir_span body,
                          const struct weir_projected *projected, bool is_sent,
                          struct wr_text_memo *memo, struct wr_buf *out);

#endif
