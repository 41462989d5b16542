/* agent.h -- a session at work: the user's words go in, the model is asked, its calls are done,
 * until it has nothing more to call.
 *
 * Whoever watches (a terminal, a writer of JSON lines) is a wr_view. Everything that happens is in
 * the session's journal before the next thing happens: an agent that is killed goes on from there.
 */
#ifndef WR_AGENT_AGENT_H
#define WR_AGENT_AGENT_H

#include "agent/client.h"
#include "agent/grants.h"
#include "agent/toolbox.h"
#include "base/buf.h"

/* ---- a large result ----
 *
 * large_tool_results/ID.txt below the session's folder, ID being the call's. The result itself ends
 * with a line that names the file: whatever the policy makes of it later, a preview shows its end.
 */

/* `result` is that of a call that shows no file itself. Where it is not large, or the file cannot
 * be written, it stays as it is. */
void wr_large_result_keep(const char *session_dir, weir_span call_id, struct wr_buf *result);

/* ---- agent ---- */

enum wr_consent { WR_CONSENT_NO, WR_CONSENT_YES, WR_CONSENT_ALWAYS };

/* What a question is about. */
struct wr_consent_asked {
    weir_span line; /* the call, in a line */
    weir_span diff; /* what a file would become, or a long command; may be empty */
    const struct wr_grant_wish *always; /* what that answer would grant */
};

/* What an agent tells whoever watches. All must be there. */
struct wr_view {
    void *user;
    void (*piece)(void *user, enum wr_piece kind, weir_span text);
    void (*call)(void *user, const struct weir_call *call, weir_span line);
    void (*result)(void *user, const struct weir_call *call, weir_span text, bool is_error);
    enum wr_consent (*consent)(void *user, const struct weir_call *call,
                               const struct wr_consent_asked *asked);
    void (*notice)(void *user, const char *text);
    void (*turn)(void *user, const struct weir_session_turn *turn); /* a request was made */
    /* Takes the next line that was typed meanwhile; false: there is none. */
    bool (*steering)(void *user, struct wr_buf *line);
};

struct wr_agent {
    struct weir_session *session;
    const char *name; /* of the session */
    struct wr_client *client;
    struct wr_endpoint endpoint;
    struct wr_toolbox toolbox;
    const struct wr_view *view;
    bool tells_moment;       /* clock and footprint go with the user's words (agent_prompt.h) */
    bool needs_no_consent;   /* --yes */
    struct wr_grants grants; /* what was answered with "always" */
    uint64_t over_tokens;    /* by which the request was over the window when that was last said */
    bool has_told_fixed;     /* that prompt and tools alone do not fit */
    uint64_t input_tokens, cache_read_tokens; /* of all answers so far, as the provider counts */
    struct wr_buf *words;                     /* gets the text of the last answer; may be NULL */
    wr_interrupt_fn *interrupt;               /* the user has had enough; may be NULL */
    void *interrupt_user;
};

enum wr_worked {
    WR_WORKED_DONE,
    WR_WORKED_INTERRUPTED,
    WR_WORKED_LIMIT, /* a limit of the run is reached */
    WR_WORKED_FAILED /* the provider cannot be asked; was told */
};

/* Says `text` and works until the model calls nothing more. An empty text goes on with what the
 * journal has. */
enum wr_worked wr_agent_work(struct wr_agent *agent, weir_span text);

#endif
