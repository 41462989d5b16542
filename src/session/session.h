/* session.h -- the inside of a session, shared by the files that make it up.
 *
 *   session_open.c     opening and closing
 *   session.c          one event at a time
 *   session_request.c  the next request
 *   session_compact.c  cuts and summaries
 *   subagent.c         sessions below a session
 */
#ifndef WR_SESSION_SESSION_H
#define WR_SESSION_SESSION_H

#include "engine/record.h"
#include "models/window.h"
#include "policy/meter.h"
#include "session/journal.h"
#include "session/past.h"
#include "session/settings.h"
#include "session/state.h"
#include "session/thread.h"
#include "session/trace.h"
#include "session/render.h"
#include "weir/session.h"

struct weir_session {
    char dir[WR_SESSION_PATH_BYTES_MAX];
    char name[WR_SESSION_NAME_BYTES_MAX + 1];
    struct wr_settings settings;
    struct wr_session_policy policy; /* what it makes of settings.policy */
    struct wr_journal journal;
    bool has_journal;
    struct weir_session_opened opened;
    struct wr_thread thread;
    struct wr_trace trace;
    struct weir_session_host *own_host; /* NULL: the caller's is used */
    struct wr_models *models;           /* these three are the host's */
    struct wr_meter *meter;
    struct wr_model_match match; /* of the model in use */
    char model[WR_MODEL_NAME_BYTES_MAX + 1];
    struct weir_engine *engine;
    struct weir_store *store; /* borrowed */
    char tenant[WR_STORE_NAME_BYTES_MAX + 1];
    struct wr_arena tools_arena;
    struct weir_tool *tools;
    size_t tools_count;
    uint64_t tools_tokens;
    weir_span tools_pieces;           /* prompt.h */
    struct wr_buf told, changes;      /* what differs from what the journal says, for people */
    struct wr_checkpoint *checkpoint; /* while the session is opened */
    struct wr_arena scratch;          /* of one call */
    struct wr_buf body;               /* of the last request */
    struct weir_request *request;
    uint64_t sent_tokens, sent_binds_after, sent_cut_seq; /* of the last request */
    struct wr_sent made;                                  /* of the last projection */
    struct wr_buf report;                                 /* of its projection */
    struct wr_buf left_out;                               /* what it does not have as it came */
    uint32_t sent_answer_tokens; /* that it let its answer take; 0: it did not say */
    uint32_t refusals_count;
    uint32_t overflow_tokens; /* for the next projection; 0: none */
    struct wr_buf attached;   /* images that belong to the next words, as an event names them */
    uint32_t attached_count;
    uint64_t blind_seq;     /* images of words up to this event were refused; 0: none were */
    uint64_t turns_unsaved; /* since state.yaml was written */
    weir_summary_fn *summary_fn;
    void *summary_user;
    char history_path[WR_SESSION_PATH_BYTES_MAX];
    struct wr_past_options past_options;
    struct wr_past past; /* what left until now; it is extended by the next cut */
    bool has_past;
    const struct weir_subagent_kind *kind; /* of a subagent */
    char call_id[WR_STORE_NAME_BYTES_MAX + 1];
};

/* Writes an event and makes it part of the thread; both or neither. */
WEIR_MUST_USE weir_status wr_live_record(struct weir_session *session, struct wr_event *event,
                                         int64_t now_ms, struct weir_err *err);

/* Takes another model; `recounts` false: messages that are counted keep their counts. */
WEIR_MUST_USE weir_status wr_live_use_model(struct weir_session *session, weir_span name,
                                            bool recounts, struct weir_err *err);

/* Above this the older turns are summarised; UINT64_MAX: never. */
uint64_t wr_live_summarise_at(const struct weir_session *session);

/* Remembers what a projection consists of, for weir_session_left_out() and for the journal. */
void wr_live_note_made(struct weir_session *session, const struct wr_record *record);

/* Writes what the request that leaves consists of, where the journal does not say so already. */
WEIR_MUST_USE weir_status wr_live_record_sent(struct weir_session *session, int64_t now_ms,
                                              struct weir_err *err);

/* The window in force. */
uint64_t wr_live_window(const struct weir_session *session);

/* Tokens of everything a request would say, before any projection. */
struct wr_compress_input wr_live_measure(const struct weir_session *session);

/* Cuts the history where the actor's bound or the history's budget is passed. `has_budget` false:
 * the bound alone. */
WEIR_MUST_USE weir_status wr_live_trim(struct weir_session *session, bool has_budget,
                                       int64_t now_ms, struct weir_err *err);

/* Sets the prompt, or writes the tools, where they are not those of the journal. */
WEIR_MUST_USE weir_status wr_live_set_front(struct weir_session *session, enum wr_event_kind kind,
                                            weir_span text, weir_span pieces, int64_t now_ms,
                                            struct weir_err *err);

/* weir_session_compact() for a prompt that may have so many tokens. */
WEIR_MUST_USE weir_status wr_live_compact(struct weir_session *session, uint64_t room_tokens,
                                          const char *why, int64_t now_ms,
                                          struct weir_compacted *compacted, struct weir_err *err);

/* The next cut reads all of the past again. */
void wr_live_forget_past(struct weir_session *session);

/* Messages a session holds at most. */
uint32_t wr_live_messages_max(const struct weir_session *session);

/* Writes state.yaml, and the store's row. A failure is nobody's: both are made from the journal. */
void wr_live_save(struct weir_session *session, int64_t now_ms);

#endif
