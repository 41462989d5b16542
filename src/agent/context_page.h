/* context_page.h -- what fills a session's window, as a page for a terminal. */
#ifndef WR_AGENT_CONTEXT_PAGE_H
#define WR_AGENT_CONTEXT_PAGE_H

#include "base/buf.h"
#include "weir/session.h"

/* `prompt` (may be NULL) tells skills and memory from the rest of the system prompt. */
void wr_context_page(struct weir_session *session, const struct weir_prompt *prompt, int64_t now_ms,
                     struct wr_buf *out);

/* "$1.23", or "cost unknown" where a model without a price was asked. */
void wr_context_cost(const struct weir_session_run *run, struct wr_buf *out);

/* "ctx 34%", in its colour. */
void wr_context_word(struct weir_session *session, bool has_colours, struct wr_buf *out);

#endif
