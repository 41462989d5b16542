/* session.h -- an agent's session: its journal, its prompt, and the next request to send.
 *
 * Everything that is said and done goes into DIR/events.jsonl before the call that says it returns;
 * that file is the truth, and a session that is opened again is what its journal says. A request is
 * made from the journal in any of the APIs, and goes through the session's policy.
 *
 *     struct weir_session_options options = WEIR_SESSION_OPTIONS_INIT;
 *     options.dir = dir;
 *     options.store = store;
 *     weir_session_open(&options, &session, &err);
 *     weir_session_set_prompt(session, prompt, now_ms, &err);
 *     weir_session_say(session, text, now_ms, &err);
 *     while (...) {
 *         weir_session_request(session, &want, &turn, &err);     turn.body is what to send
 *         weir_session_answer(session, &answer, now_ms, &err);   what the model said
 *         for each of weir_session_pending(): weir_session_result(...)
 *     }
 *     weir_session_close(session);
 *
 * 1. No clock: `now_ms` is milliseconds since 1970, as the caller reads them.
 * 2. What a call gives belongs to the session and lives until the next call on it, unless it says
 *    otherwise; what is handed in is borrowed for the call. One thread at a time.
 * 3. A call that fails has changed nothing: what it was to write is not in the journal.
 * 4. Words of the user that arrive while the model works wait, in the journal, for the next
 *    request. Calls without a result forbid a request: give their results, or abort.
 */
#ifndef WEIR_SESSION_H
#define WEIR_SESSION_H

#include "weir/engine.h"
#include "weir/prompt.h"

WEIR_BEGIN_DECLS

struct weir_session;

/* ---- opening ---- */

/* What sessions need and can hand on to each other: models, tokenizers, an engine. Getting those
 * ready takes a third of a second; whoever opens a session for every call keeps a host. One session
 * of a host is open at a time. */
struct weir_session_host;

WEIR_API WEIR_MUST_USE weir_status weir_session_host_new(struct weir_session_host **host,
                                                         struct weir_err *err);
WEIR_API void weir_session_host_free(struct weir_session_host *host); /* NULL is fine */

struct weir_session_options {
    size_t struct_bytes;      /* sizeof, by WEIR_SESSION_OPTIONS_INIT; see weir/api.h */
    const char *dir;          /* of the session; made (0700) where it is missing */
    const char *name;         /* the thread's; NULL: the last part of `dir` */
    weir_span config;         /* YAML (docs/session.md); empty: the defaults */
    const char *model;        /* NULL: the journal's newest, else the configuration's */
    struct weir_store *store; /* borrowed until close; NULL: nothing is taken out of a request */
    weir_span tenant;         /* of the store; empty: "local" */
    weir_span policies;       /* YAML with policies of your own; empty: the presets */
    struct weir_session_host *host; /* borrowed until close; NULL: the session has its own */
    int64_t now_ms;
    weir_durability durability; /* FULL: every event is synced to the disk, not only every turn */
    bool must_exist;            /* WEIR_NOTFOUND where there is no journal */
    bool is_read_only;          /* nothing is written; also opens what stands before damage */
    /* compression_threshold of the configuration, in hundredths of a percent, whatever that says;
     * 0: as it says. For programs that are told by their environment. */
    uint32_t compression_threshold_bp;
};
#define WEIR_SESSION_OPTIONS_INIT WEIR_OPTIONS_INIT(struct weir_session_options)

/* What opening found. */
struct weir_session_opened {
    uint64_t events_count;
    uint64_t torn_bytes;  /* of a line whose writer was killed; they are kept in events.torn */
    uint64_t damage_line; /* read-only: events from this line on cannot be read; 0: none */
    uint64_t damage_byte;
    uint64_t replayed_count; /* events that were read one by one: those behind the checkpoint */
    const char *checkpoint;  /* why state.yaml was left aside, a constant; NULL: it was used */
};

/* WEIR_SYNTAX: the journal is damaged; `err` names line and byte, nothing was changed, and opening
 * it read-only shows what stands before. WEIR_INVALID or WEIR_SYNTAX of the configuration: line and
 * column. WEIR_IO: the system's, or another process has the session open. */
WEIR_API WEIR_MUST_USE weir_status weir_session_open(const struct weir_session_options *options,
                                                     struct weir_session **session,
                                                     struct weir_err *err);
WEIR_API void weir_session_close(struct weir_session *session); /* NULL is fine */
WEIR_API const struct weir_session_opened *weir_session_opened(const struct weir_session *session);

/* ---- what is said and done ---- */

/* The system prompt from now on. The same text again writes nothing. A change costs the provider's
 * cache: change it when a session begins, after a compaction, or for a reason. */
WEIR_API WEIR_MUST_USE weir_status weir_session_set_prompt(struct weir_session *session,
                                                           weir_span text, int64_t now_ms,
                                                           struct weir_err *err);

/* The same from a prompt that was built: the journal also learns of which sections it is made. */
WEIR_API WEIR_MUST_USE weir_status weir_session_use_prompt(struct weir_session *session,
                                                           const struct weir_prompt *prompt,
                                                           int64_t now_ms, struct weir_err *err);

/* The tools of the requests from now on. Their names and hashes are in the journal from the next
 * request on; others than before cost the provider's cache, and are a step (`tools`). Nothing of
 * them is borrowed. */
struct weir_tool {
    weir_span name, description;
    weir_span schema; /* JSON, an object; empty: takes anything */
};
WEIR_API WEIR_MUST_USE weir_status weir_session_set_tools(struct weir_session *session,
                                                          const struct weir_tool *tools,
                                                          size_t tools_count, struct weir_err *err);

/* What of prompt, tools and model is not as the journal had it, for people: "tools: +grep ~edit;
 * prompt: ~memory". Empty: nothing was changed since the session was opened. */
WEIR_API weir_span weir_session_changes(struct weir_session *session);

/* Words of the user, not blank. Calls that wait for results are closed first, as aborted. The words
 * begin a run: what is counted towards its limits is counted anew. */
WEIR_API WEIR_MUST_USE weir_status weir_session_say(struct weir_session *session, weir_span text,
                                                    int64_t now_ms, struct weir_err *err);

/* A picture that belongs to the words that are said or steered next: PNG, JPEG, GIF or WebP, by its
 * first bytes. It is kept in the session's folder and goes with those words into every request.
 * WEIR_INVALID: it is none; WEIR_LIMIT: it is too large, or one too many. `size` may be NULL. */
struct weir_image_size {
    uint32_t width_px, height_px; /* 0 by 0: not known */
};
WEIR_API WEIR_MUST_USE weir_status weir_session_attach(struct weir_session *session,
                                                       weir_span bytes,
                                                       struct weir_image_size *size,
                                                       struct weir_err *err);

/* Words that arrive while a turn runs: they flow into the next user message. */
WEIR_API WEIR_MUST_USE weir_status weir_session_steer(struct weir_session *session, weir_span text,
                                                      int64_t now_ms, struct weir_err *err);

struct weir_call {
    weir_span id, name;
    weir_span arguments; /* as the model wrote them; JSON, mostly */
};

/* What a model said. `items` are all of its output as the provider gave it, in order: content
 * blocks (messages), output items (responses), or the one message (chat). They are kept byte for
 * byte and sent back so to the model they came from; to any other go text and calls. */
struct weir_answer {
    const char *model; /* NULL: the session's */
    weir_span text;
    const struct weir_call *calls;
    size_t calls_count;
    weir_dialect dialect; /* of the items */
    const weir_span *items;
    size_t items_count;
};
WEIR_API WEIR_MUST_USE weir_status weir_session_answer(struct weir_session *session,
                                                       const struct weir_answer *answer,
                                                       int64_t now_ms, struct weir_err *err);

/* The same from the provider's whole answer, a JSON body: text, calls, items, model and usage. */
WEIR_API WEIR_MUST_USE weir_status weir_session_answer_body(struct weir_session *session,
                                                            weir_dialect dialect, weir_span body,
                                                            int64_t now_ms, struct weir_err *err);

/* WEIR_NOTFOUND: no call that waits has this id. */
WEIR_API WEIR_MUST_USE weir_status weir_session_result(struct weir_session *session,
                                                       weir_span call_id, weir_span text,
                                                       bool is_error, int64_t now_ms,
                                                       struct weir_err *err);

/* The calls that wait for a result, in order; also after a crash. */
WEIR_API size_t weir_session_pending(const struct weir_session *session,
                                     const struct weir_call **calls);

/* A call that changes something is about to be carried out. Whoever opens the session after a crash
 * asks whether it was: then its outcome is unknown, and doing it again is no answer. */
WEIR_API WEIR_MUST_USE weir_status weir_session_begin_call(struct weir_session *session,
                                                           weir_span call_id, int64_t now_ms,
                                                           struct weir_err *err);
WEIR_API bool weir_session_call_is_begun(const struct weir_session *session, weir_span call_id);

/* Closes the calls that wait, with a result that says `why`. Steering stays queued. */
WEIR_API WEIR_MUST_USE weir_status weir_session_abort(struct weir_session *session, weir_span why,
                                                      int64_t now_ms, struct weir_err *err);

/* A remark for people; it is never sent. */
WEIR_API WEIR_MUST_USE weir_status weir_session_note(struct weir_session *session, weir_span text,
                                                     int64_t now_ms, struct weir_err *err);

/* Disjoint: `input_tokens` are neither read from the cache nor written to it. */
struct weir_session_usage {
    uint64_t input_tokens, cache_read_tokens, cache_write_tokens, output_tokens;
};
WEIR_API WEIR_MUST_USE weir_status weir_session_add_usage(struct weir_session *session,
                                                          const struct weir_session_usage *usage,
                                                          int64_t now_ms, struct weir_err *err);

/* What others used for this run: a summary's model, a subagent (weir_session_join() does that by
 * itself). It counts towards the limits of the run. */
struct weir_session_spent {
    const char *by;    /* "summary", "subagent" */
    const char *model; /* NULL: several, or not known */
    struct weir_session_usage usage;
    uint64_t turns, tool_calls, cost_micro_usd;
    bool is_priced; /* false: the cost is not known */
};
WEIR_API WEIR_MUST_USE weir_status weir_session_add_spent(struct weir_session *session,
                                                          const struct weir_session_spent *spent,
                                                          int64_t now_ms, struct weir_err *err);

/* What such usage costs; `model` NULL: the session's. False: its prices are not known. */
WEIR_API bool weir_session_price(const struct weir_session *session, const char *model,
                                 const struct weir_session_usage *usage, uint64_t *micro_usd);

/* How much a message matters, 1 to 100, for a history that must be cut; 0 again: as any other.
 * `event` is a number that weir_session_last_event() gave. */
WEIR_API WEIR_MUST_USE weir_status weir_session_rate(struct weir_session *session, uint64_t event,
                                                     uint32_t score, int64_t now_ms,
                                                     struct weir_err *err);
WEIR_API uint64_t weir_session_last_event(const struct weir_session *session);

/* Another model on the same thread; `window_tokens` 0: what is known of it. */
WEIR_API WEIR_MUST_USE weir_status weir_session_switch_model(struct weir_session *session,
                                                             const char *model,
                                                             uint32_t window_tokens, int64_t now_ms,
                                                             struct weir_err *err);
WEIR_API const char *weir_session_model(const struct weir_session *session);

/* The client went away. With `on_disconnect: pause` requests are refused until resume; calls that
 * wait go on waiting. With `continue` nothing happens. */
WEIR_API WEIR_MUST_USE weir_status weir_session_disconnect(struct weir_session *session,
                                                           int64_t now_ms, struct weir_err *err);
WEIR_API WEIR_MUST_USE weir_status weir_session_resume(struct weir_session *session, int64_t now_ms,
                                                       struct weir_err *err);

/* ---- run limits ---- */

/* Counts turns, tokens, calls, cost and time anew from here, as words of the user do, for a program
 * that works without any. What counts towards the limits of the session goes on. */
WEIR_API WEIR_MUST_USE weir_status weir_session_start_run(struct weir_session *session,
                                                          int64_t now_ms, struct weir_err *err);

struct weir_session_run { /* with what subagents and summaries used */
    uint64_t turns, tokens, tool_calls, cost_micro_usd, elapsed_ms, tool_iterations;
    bool
        is_cost_known; /* false: of some answer the model has no price; the cost is of the others */
    bool is_compress_due;
    const char *limit; /* that is reached: "tokens", "turns", ... of the run; "session tokens", ...
                        * of the session; "tool_iterations"; NULL: none is */
};
WEIR_API void weir_session_run(struct weir_session *session, int64_t now_ms,
                               struct weir_session_run *run);

/* ---- the next request ---- */

struct weir_session_want {
    size_t struct_bytes; /* sizeof, by WEIR_SESSION_WANT_INIT; see weir/api.h */
    weir_dialect dialect;
    int64_t now_ms;
    weir_span context; /* what changes from turn to turn (clock, footprint): stands at the end of
                        * the newest user message, where the user said something new */
    weir_span extra;   /* more members of the body: `"stream":true,"temperature":0`; or empty */
    bool is_preview;   /* what would be said before anything is taken out: nothing is written, no
                        * limit is checked */
    bool is_without_cache; /* no cache markers on a Messages request */
    bool alternates; /* of a Chat request: the server wants user and model to take turns, as many
                      * local ones do; the same in all requests of a session */
};
#define WEIR_SESSION_WANT_INIT WEIR_OPTIONS_INIT(struct weir_session_want)

struct weir_session_turn {
    weir_span body;   /* what to send */
    weir_span report; /* JSON, of the projection */
    uint64_t tokens_before, tokens_after, window_tokens;
    bool is_changed, is_step;
    bool is_compacted; /* older turns left since the request before: a new prefix */
    const char *step_reason;
    const char *held_back;
};

/* WEIR_INVALID: nothing to answer, calls wait, or the session is paused. WEIR_LIMIT: a run limit is
 * reached; `err` names it. Compression is tried before that. */
WEIR_API WEIR_MUST_USE weir_status weir_session_request(struct weir_session *session,
                                                        const struct weir_session_want *want,
                                                        struct weir_session_turn *turn,
                                                        struct weir_err *err);

/* The provider refused the last request; `body` is its error. True: it was too long, and the next
 * request will be shorter. A third refusal in a row makes weir_session_request() fail. */
WEIR_API bool weir_session_refused(struct weir_session *session, weir_span body, int64_t now_ms);

/* True: the refusal speaks of images, and the request had some. The next one has none of these;
 * they stay in the session, for another model and until it is closed. */
WEIR_API bool weir_session_refused_images(struct weir_session *session, weir_span body);

/* ---- compaction ---- */

/* A summary that a model writes. `history` is what will be replaced (of what is larger than 16 MB
 * the newest part; the file has all of it); `extracted` the summary that
 * stands if this one fails: it names the facts that must be in the text. Return WEIR_OK and set
 * `*text`, which lives until the next call; WEIR_LIMIT: it would cost too much. Own model, prompt
 * and waiting are the program's. */
struct weir_summary_task {
    weir_span history, extracted;
    uint64_t tokens_max;
    int64_t timeout_ms;
    uint64_t cost_micro_usd_max;
    /* To be filled in, also on failure: what asking used. Nothing filled in: nobody was asked. */
    struct weir_session_spent *spent;
    /* NULL, or why the text that was given before for this very task is not taken: a constant. The
     * function is called a second time then, and not a third. */
    const char *refused;
};
typedef weir_status weir_summary_fn(void *user, const struct weir_summary_task *task,
                                    weir_span *text);
WEIR_API void weir_session_set_summary(struct weir_session *session, weir_summary_fn *fn,
                                       void *user);

struct weir_compacted {
    bool is_taken; /* false: there was nothing to gain */
    bool is_by_model;
    const char *fell_back; /* why a model's summary was not used, a constant; NULL: it was, or there
                            * is none */
    uint64_t tokens_before, tokens_after;
    uint64_t messages_count; /* that left the prompt */
    weir_span path;          /* of the file they are in, below the session's directory */
};

/* Older turns become a summary, with their text in conversation_history/NAME.md first; the newest
 * turns and all words of the user stay. `why` is a word for the trace. */
WEIR_API WEIR_MUST_USE weir_status weir_session_compact(struct weir_session *session,
                                                        const char *why, int64_t now_ms,
                                                        struct weir_compacted *compacted,
                                                        struct weir_err *err);

/* ---- what fills the window ---- */

struct weir_session_context {
    uint64_t system_tokens, tools_tokens, user_tokens, assistant_tokens, calls_tokens,
        results_tokens, summary_tokens;
    uint64_t total_tokens; /* of these */
    uint64_t window_tokens;
    uint64_t clear_at_tokens, summarise_at_tokens; /* of this session's policy; 0: never */
    uint64_t last_input_tokens; /* as the provider counted the last request; 0: not known */
    uint32_t used_percent;      /* used_tokens of usable_tokens */
    const char *colour;         /* "plain", "yellow" from 70 %, "red" from 90 % */
    uint64_t messages_count, messages_max, messages_omitted;
    uint64_t words_carried; /* messages of the user that stand, whole, for exchanges that left; of
                             * messages_count they are one */
    /* The last request and what came since: the provider's count of it where that is known, else
     * total_tokens. */
    uint64_t used_tokens;
    uint64_t usable_tokens; /* the window less what the answer may take */
    bool is_sent; /* the categories are those of the last request as it left, and of what came
                   * since; false: none has left since older turns were cut, and they are what the
                   * journal holds, before anything is taken out */
};
WEIR_API void weir_session_context(struct weir_session *session,
                                   struct weir_session_context *context);

/* What the last request does not have as it came, a line each: "2429 -> 59 cleared read_file
 * src/a.c wr_... (mask)", tokens, form, tool, what it is about, handle and the stage. Empty:
 * everything is as it came, or no request left in this process. Good until the next request. */
WEIR_API weir_span weir_session_left_out(const struct weir_session *session);

/* ---- reading the journal ---- */

/* One event. What it points at dies when the call returns. A failure stops the walk. */
struct weir_event {
    uint64_t seq;
    int64_t at_ms;
    const char *kind; /* "user", "assistant", "result", ... (docs/session.md) */
    weir_span text;
    weir_span json; /* the whole line */
};
typedef weir_status weir_event_fn(void *user, const struct weir_event *event);

/* Every event from the first, read from the file. After damage: the events before it, then
 * WEIR_SYNTAX. */
WEIR_API WEIR_MUST_USE weir_status weir_journal_read(const char *dir, weir_event_fn *fn, void *user,
                                                     struct weir_err *err);

/* A line of trace.jsonl, which no request is ever made from. `fields` are JSON members, or empty.
 */
WEIR_API WEIR_MUST_USE weir_status weir_session_trace(struct weir_session *session,
                                                      const char *kind, weir_span fields,
                                                      int64_t now_ms, struct weir_err *err);

/* ---- subagents ---- */

/* A kind of subagent: what it is told, and with what it works. */
struct weir_subagent_kind {
    const char *name, *what;
    const char *instructions;     /* its system prompt */
    const char *const *tools;     /* names of the parent's tools it may use; NULL-terminated */
    const char *model;            /* NULL: the parent's */
    uint32_t answer_tokens_max;   /* of what the parent gets; 0: 2,000 */
    uint32_t tool_iterations_max; /* 0: the session's */
};

/* Those of the library; NULL past the last. "explore" reads sources so that they never enter the
 * parent's window. */
WEIR_API const struct weir_subagent_kind *weir_subagent_kind_at(size_t index);
WEIR_API const struct weir_subagent_kind *weir_subagent_kind_find(const char *name);

/* A session of its own below the parent's directory, with the task as its first message. The parent
 * must stay open until the child is closed. */
WEIR_API WEIR_MUST_USE weir_status weir_session_spawn(struct weir_session *parent,
                                                      const struct weir_subagent_kind *kind,
                                                      weir_span call_id, weir_span task,
                                                      int64_t now_ms, struct weir_session **child,
                                                      struct weir_err *err);

/* The child's last words become the result of the parent's call, cut to what the kind allows, with
 * the way to the rest. Closes the child, also on failure. */
WEIR_API WEIR_MUST_USE weir_status weir_session_join(struct weir_session *parent,
                                                     struct weir_session *child, int64_t now_ms,
                                                     struct weir_err *err);

WEIR_END_DECLS

#endif
