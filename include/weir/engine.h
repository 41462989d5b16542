/* engine.h -- a policy applied to a request: what to send instead, and what was done.
 *
 * An engine knows models and counts tokens; it is made once and used by one thread at a time. It
 * has no clock, and what it knows of sessions is in the store: the same request, options and marks
 * give the same bytes. What it remembers besides (of texts, counts and the last requests of
 * sessions) changes nothing but time.
 *
 *     struct weir_project_options options = WEIR_PROJECT_OPTIONS_INIT;
 *     options.policy = "tiered";
 *     options.store = store;
 *     weir_engine_new(&engine, &err);
 *     weir_engine_request(engine, body, NULL, &request, &err);
 *     weir_engine_project(engine, request, &options, &projected, &err);
 *     ...send projected.body, which lives as long as the request...
 *     weir_request_free(request);
 *     weir_engine_free(engine);
 *
 * Before weir_engine_project() returns, the original of everything that was taken out is in the
 * store. Where it cannot be put there, the body that came in is what comes back.
 */
#ifndef WEIR_ENGINE_H
#define WEIR_ENGINE_H

#include "weir/request.h"
#include "weir/store.h"

WEIR_BEGIN_DECLS

struct weir_engine;

/* A call of an answer that the request does not hold, because the provider does
 * (previous_response_id and its like). */
struct weir_known_call {
    weir_span id, name;
    weir_span arguments; /* as the answer had them */
};

typedef enum weir_pinning {
    WEIR_PIN_FIRST,  /* the session's first request says what it keeps */
    WEIR_PIN_POLICY, /* somebody has said `policy` now: the session keeps it from here on */
    WEIR_PIN_NOTHING /* `policy` is for this request alone */
} weir_pinning;

/* A session keeps the policy and the window of its first request (its pin); the model's name and
 * the first turn tell its side calls apart. A `policy` that is another than that of the last
 * request is a step. Where the model binds its signed thinking to what stands before it, that step
 * waits for the user's next message: until then the last policy stays in force. */
struct weir_project_options {
    size_t struct_bytes;        /* sizeof, by WEIR_PROJECT_OPTIONS_INIT; see weir/api.h */
    const char *policy;         /* a preset's name, or a loaded one's; NULL: the session's */
    const char *policy_default; /* of a session that has none yet; NULL: "exact" */
    const char *model;          /* NULL: the one the request names */
    uint32_t window_tokens;     /* 0: the session's, else what is known of the model */
    uint32_t loaded_tokens;     /* what a local server has loaded the model with; 0: not known.
                                 * Another number than the session's is a new window and a step */
    uint32_t factor_bp;       /* tokens that the provider counts for 10000 of ours; 0: not known */
    uint32_t observed_tokens; /* the largest prompt that the model has accepted; 0: not known */
    struct weir_store *store; /* NULL: nothing that needs a way back is taken out */
    weir_span tenant;         /* empty: "local" */
    /* Whom originals and marks belong to: what one session decides changes nothing for another. One
     * that begins with the turns of another goes on in its forms. Empty: named after the first
     * turn, so that all conversations without a name that begin alike are one session. */
    weir_span session;
    int64_t now_ms; /* when the request came; 0: not known, and no cache is taken for expired */
    /* Turns that no known request held were sent by somebody else as they are: leave them so. */
    bool attaches;
    uint32_t overflow_tokens; /* the provider refused this request: it takes no more than this */
    const struct weir_known_call *calls; /* for results whose calls are not in the request: without
                                          * them such a result stays whole. NULL: none */
    size_t calls_count;
    /* Which tools' results may be changed: words "+NAME" (may) and "-NAME" (stays whole) with a
     * space between; a name may end in '*'; the first that fits decides, and where none does it
     * may. "-path:PATTERN" keeps what shows or writes such a file ('*' stands for anything), and
     * "blind:PCT" raises the odds that a line which was left out is quoted (docs/quality.md). A
     * session keeps what its first request said. NULL: all may. */
    const char *tools;
    /* A clock, to stop by: microseconds of any epoch. NULL: there is no hurry. */
    uint64_t (*clock_us)(void *user);
    void *clock_user;
    /* What is new in the request and not done after this long stays whole, and stays so (a mark
     * says it); 0: the default. What was sent before keeps its form whatever it takes, up to
     * deadline_hard_ms (0: the default): past that weir_engine_project() gives WEIR_LIMIT. */
    uint32_t deadline_ms, deadline_hard_ms;
    weir_pinning pinning;
    /* Since the last request that was projected the session was sent as it came: with `attaches`
     * all turns but the newest stay so. */
    bool was_whole;
    /* The server refuses two messages of the user in a row, as many chat templates do: what is put
     * in joins a message of the user's (docs/policies.md). Chat only. To change it is a step. */
    bool alternates;
    /* An answer of this session told of tokens that were read from a cache. Where a request has no
     * cache marker of its own somebody behind us adds them: from now on such a session is a cached
     * one (its mark `sent` says so). */
    bool reads_cache;
    /* A recall tool among the request's is no way back: nothing rests on it. */
    bool without_recall;
};
#define WEIR_PROJECT_OPTIONS_INIT WEIR_OPTIONS_INIT(struct weir_project_options)

struct weir_projected {
    weir_span body;          /* what to send */
    weir_span report;        /* JSON: what was done and why (docs/policies.md) */
    bool is_changed;         /* false: the body is the one that came in */
    bool is_step;            /* it does not extend what was sent for the request before */
    bool is_known;           /* an earlier request of this conversation was projected */
    const char *step_reason; /* a constant; NULL: no step */
    uint64_t tokens_before, tokens_after;
    const char *held_back;  /* why a change was not made, a constant sentence; NULL: none was */
    bool is_pending;        /* a policy that was said waits for the user's next message */
    uint32_t answer_tokens; /* of the window, that the answer may take; 0: the request names none */
    weir_trouble store_trouble; /* why nothing could be kept; WEIR_TROUBLE_NONE: it could */
};

WEIR_API WEIR_MUST_USE weir_status weir_engine_new(struct weir_engine **engine,
                                                   struct weir_err *err);

/* NULL is fine. Requests of weir_engine_request() may outlive this call, to be read and freed: what
 * they share with the engine goes with the last of them. Freeing one is a use of the engine, so not
 * at the same time from two threads. */
WEIR_API void weir_engine_free(struct weir_engine *engine);

/* Reads a request as weir_request_new() does, and remembers what it found: the next request of a
 * session repeats all of the last one, and then costs little more than what is new in it. */
WEIR_API WEIR_MUST_USE weir_status weir_engine_request(struct weir_engine *engine, weir_span body,
                                                       const struct weir_request_options *options,
                                                       struct weir_request **request,
                                                       struct weir_err *err);

/* Adds the policies that `yaml` (UTF-8, docs/policies.md) defines to the presets, in place of those
 * loaded before; an empty text leaves the presets. Where it is wrong nothing changes, and `err`
 * says what, with line and column. Nothing of `yaml` is kept. */
WEIR_API WEIR_MUST_USE weir_status weir_engine_load_policies(struct weir_engine *engine,
                                                             weir_span yaml, struct weir_err *err);

/* Lays what `yaml` says under `models:` and `aliases:` (docs/models.md) over the models that the
 * engine knows, in place of what was laid over them before; other sections are skipped. Where it is
 * wrong nothing changes, and `err` says what, with line and column. */
WEIR_API WEIR_MUST_USE weir_status weir_engine_load_models(struct weir_engine *engine,
                                                           weir_span yaml, struct weir_err *err);

/* WEIR_NOTFOUND: there is no such policy. WEIR_NOMEM and WEIR_LIMIT (too large, or too late) leave
 * the request as it was, to be sent as it came; the provider then reads none of it from its cache.
 * A request is projected once. */
WEIR_API WEIR_MUST_USE weir_status weir_engine_project(struct weir_engine *engine,
                                                       struct weir_request *request,
                                                       const struct weir_project_options *options,
                                                       struct weir_projected *projected,
                                                       struct weir_err *err);

WEIR_END_DECLS

#endif
