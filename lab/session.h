/* session.h -- a recorded session as the requests its agent sent, in any of the three dialects.
 *
 * 1. A session is a list of Chat Completions messages. A request is everything before an assistant
 *    message; that message is its answer.
 * 2. Where the host compacted, the messages before that place are replaced by a shorter list: later
 *    requests are that list, and the messages that came since.
 * 3. A log does not say which tools were offered: the list is made of the names that were called,
 *    and `weir_recall` unless told otherwise.
 * 4. A request grows out of the one before it: wr_session_view() says how much they share, and
 *    wr_session_body_at() writes only what is new.
 */
#ifndef WR_LAB_SESSION_H
#define WR_LAB_SESSION_H

#include "api/write.h"
#include "json/json.h"
#include "weir/segment.h"

#define WR_SESSION_NO_TIME INT64_MIN

/* From message `at` on, `kept` stands in the place of messages [0, at). */
struct wr_session_compaction {
    uint32_t at;
    struct wr_json *kept;
    bool *kept_thinks; /* as of a session's `thinks` */
    uint32_t kept_count;
};

struct wr_session {
    struct wr_arena *arena; /* borrowed */
    struct wr_json *messages;
    uint32_t messages_count;
    uint32_t *requests; /* how many messages come before each answer */
    uint32_t requests_count;
    weir_span *tools; /* names, in the order of their first call */
    uint32_t tools_count;
    weir_dialect api;       /* that its agent speaks */
    weir_span agent, model; /* empty: not known. The model that answered most */
    uint32_t models_count;  /* different models that answered */
    int64_t *times_ms;      /* of each message, since 1970, or WR_SESSION_NO_TIME; NULL: none */
    bool has_times;         /* false: the log says of no message when it came */
    bool *thinks;      /* of each message: the model thought before it, and signed it; or NULL */
    bool has_thinking; /* one of them is true */
    struct wr_session_compaction *compactions; /* `at` never falls */
    uint32_t compactions_count;                /* set to 0: as if the host had never compacted */
};

/* Reads one message a line. `text` is borrowed for as long as the session is used; everything else
 * is in `arena`. WEIR_SYNTAX or WEIR_INVALID with the byte of the line that is no message. */
WEIR_MUST_USE weir_status wr_session_read(struct wr_session *session, struct wr_arena *arena,
                                          weir_span text, struct weir_err *err);

/* Lists the tools that `message` calls, those not listed yet. For who fills a session. */
WEIR_MUST_USE weir_status wr_session_note_tools(struct wr_session *session,
                                                const struct wr_json *message);

/* ---- what a request consists of ---- */

struct wr_session_view {
    const struct wr_json *kept;             /* what the host's last compaction left */
    const bool *kept_thinks, *since_thinks; /* or NULL */
    uint32_t kept_count;
    const struct wr_json *since; /* and the messages that came since */
    uint32_t since_count;
    const struct wr_json *answer;
    uint32_t shared_count; /* leading messages that are those of the request before this one */
    bool is_compacted;     /* the host compacted between that one and this one */
    int64_t sent_ms;       /* when, as far as the log says, or WR_SESSION_NO_TIME */
};

/* Request `n`, below requests_count. Takes as long as what came since the request before it. */
struct wr_session_view wr_session_view(const struct wr_session *session, uint32_t n);

static inline uint32_t wr_session_view_count(const struct wr_session_view *view)
{
    return view->kept_count + view->since_count;
}

static inline const struct wr_json *wr_session_view_message(const struct wr_session_view *view,
                                                            uint32_t i)
{
    return i < view->kept_count ? &view->kept[i] : &view->since[i - view->kept_count];
}

/* Whether signed thinking stood before message `i`; messages themselves are without. */
static inline bool wr_session_view_thinks(const struct wr_session_view *view, uint32_t i)
{
    if (i < view->kept_count)
        return view->kept_thinks && view->kept_thinks[i];
    return view->since_thinks && view->since_thinks[i - view->kept_count];
}

/* ---- its bytes ---- */

/* Which tools a request offers. `true` means all that were called, and `weir_recall`. */
enum wr_session_tools {
    WR_SESSION_NO_TOOLS,
    WR_SESSION_TOOLS,
    WR_SESSION_TOOLS_WITHOUT_RECALL,
};

/* Messages of a session are those of Chat Completions. */
#define WR_SESSION_DIALECT WEIR_DIALECT_CHAT

struct wr_session_request {
    weir_dialect dialect;
    uint32_t messages_count; /* of the session's first messages; see `requests` */
    const char *model;
    enum wr_session_tools with_tools;
};

/* Appends the body of a request to `out`; gives where in `out` its list of messages begins. */
size_t wr_session_write(const struct wr_session *session, const struct wr_session_request *request,
                        struct wr_buf *out);

/* The same as an agent posts it: Messages with max_tokens and cache markers behind the tools, the
 * instructions and the last block, Responses not to be stored. */
void wr_session_write_posted(const struct wr_session *session,
                             const struct wr_session_request *request, struct wr_buf *out);

/* Appends what a provider answers in this dialect, whole and without usage, to `out`: `answer` is a
 * Chat Completions message. */
void wr_session_write_answer(const struct wr_json *answer, weir_dialect dialect,
                             struct wr_buf *out);

/* One body after the other: asked for in order, each costs its new messages. */
struct wr_session_body { /* private; visible only so that callers can hold one */
    const struct wr_session *session;
    struct wr_session_request request;
    struct wr_buf out;
    struct wr_body body;
    struct wr_json_writer writer; /* as it stood before the body was closed */
    size_t open_bytes;            /* how long the body was then */
    const char *open_role;        /* of the message that may still grow */
    uint32_t written_count;       /* messages in the body */
    uint32_t compaction;          /* which one it begins with */
    bool is_begun;
};

/* `request` gives everything but messages_count; it and the session are borrowed
 * until release. */
void wr_session_body_init(struct wr_session_body *body, const struct wr_session *session,
                          const struct wr_session_request *request);

/* The body of request `n`, the same bytes that wr_session_write() makes. It lives until the next
 * call. Failure (no memory, or over WR_OUTPUT_BYTES_MAX) is the buffer's: see status. */
weir_span wr_session_body_at(struct wr_session_body *body, uint32_t n);
WEIR_MUST_USE weir_status wr_session_body_status(const struct wr_session_body *body);
void wr_session_body_release(struct wr_session_body *body);

#endif
