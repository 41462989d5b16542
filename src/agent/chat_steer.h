/* chat_steer.h -- commands about what the model sees: what is out of its prompt and what leaves
 * next (/plan), why (/why), what stays (/pin, /unpin), and taking the last step back (/undo step).
 *
 * They say what `weir plan`, `weir pin` and `weir undo` say (docs/steer.md), of this session, and
 * act on its next request.
 */
#ifndef WR_AGENT_CHAT_STEER_H
#define WR_AGENT_CHAT_STEER_H

#include "agent/chat.h"

void wr_chat_plan(struct wr_chat *chat, struct wr_buf *out);

/* `what` is a path, a handle, or a part of a line of /plan. */
void wr_chat_why(struct wr_chat *chat, weir_span what, struct wr_buf *out);

/* `what` is a path, a handle, or "tool NAME"; empty: the pins are listed. */
void wr_chat_pin(struct wr_chat *chat, weir_span what, bool is_pin, struct wr_buf *out);

void wr_chat_undo_step(struct wr_chat *chat, struct wr_buf *out);

#endif
