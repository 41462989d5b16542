/* session.h -- a recorded session as the requests its agent sent, in any of the three dialects.
 *
 * A session is a list of Chat Completions messages. A request is everything before an assistant
 * message; that message is its answer. A log does not say which tools were offered: the list is
 * made of the names that were called, and `weir_recall`.
 */
#ifndef WR_REPLAY_SESSION_H
#define WR_REPLAY_SESSION_H

#include "json/json.h"
#include "weir/segment.h"

struct wr_session {
    struct wr_arena *arena; /* borrowed */
    struct wr_json *messages;
    uint32_t messages_count;
    uint32_t *requests; /* how many messages each request has */
    uint32_t requests_count;
    weir_span *tools; /* names, in the order of their first call */
    uint32_t tools_count;
};

/* Reads one message a line. `text` is borrowed for as long as the session is used; everything else
 * is in `arena`. WEIR_SYNTAX or WEIR_INVALID with the byte of the line that is no message. */
WEIR_MUST_USE weir_status wr_session_read(struct wr_session *session, struct wr_arena *arena,
                                          weir_span text, struct weir_err *err);

struct wr_session_request {
    weir_dialect dialect;
    uint32_t messages_count; /* of the session's first messages; see `requests` */
    const char *model;
    bool with_tools;
};

/* Appends the body of a request to `out`. */
void wr_session_write(const struct wr_session *session, const struct wr_session_request *request,
                      struct wr_buf *out);

#endif
