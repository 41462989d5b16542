/* call.h -- one function, JSON in and JSON out, for languages that would rather not read structs.
 *
 *     char *answer;
 *     weir_call(engine, store, "count", "{\"text\":\"What is a weir?\"}", 26, &answer, NULL);
 *     ...answer is {"tokens":6,"is_exact":true,"method":"exact, o200k_base"}...
 *     weir_call_free(answer);
 *
 * The methods are `project`, `count`, `condense`, `models`, `recall`, `inspect` and `recall_tool`;
 * docs/embed.md has the members of each. A member that is null is as one that is not there, and one
 * that the method does not have is refused, so that a misspelt option is noticed.
 */
#ifndef WEIR_CALL_H
#define WEIR_CALL_H

#include "weir/engine.h"

WEIR_BEGIN_DECLS

/* `json` is one object (NULL with 0 bytes: no members), borrowed for the call. `store` (NULL: none)
 * is where `project` keeps originals and `recall` finds them. One thread at a time for an engine
 * and a store.
 *
 * `*answer` is JSON with a NUL behind it, to be freed by weir_call_free(): what was asked for, or
 * on failure {"error":{"status":"WEIR_...","text":"...","at_byte":N}}, so that `err` may be NULL.
 * It is NULL where even that found no memory. WEIR_NOTFOUND: no such method, policy, encoding or
 * original. WEIR_SYNTAX: `json` is not JSON. WEIR_INVALID: a member is not what it should be. */
WEIR_API WEIR_MUST_USE weir_status weir_call(struct weir_engine *engine, struct weir_store *store,
                                             const char *method, const char *json,
                                             size_t json_bytes, char **answer,
                                             struct weir_err *err);
WEIR_API void weir_call_free(char *answer); /* NULL is fine */

/* What weir_call_bytes() gives, to be released by weir_called_release(). */
struct weir_called {
    char *json; /* as of weir_call(), without the text; NULL: there was no memory for it */
    size_t json_bytes;
    weir_span bytes; /* the answer's body or text; where it is the one that came in, that memory */
    void *owned;     /* what else `bytes` is part of */
};

/* The same with the large text beside the JSON, so that it is neither escaped nor copied on its way
 * in: `body` of `project` and `inspect`, `text` of `count` and `condense`. `bytes` NULL: it is a
 * member of `json`. The answer's `body` or `text` is in `called->bytes`, as bytes: of `recall`
 * those that were stored, UTF-8 or not. A body or text that was not changed is `bytes` itself, so
 * it may not be freed before it was used. */
WEIR_API WEIR_MUST_USE weir_status weir_call_bytes(struct weir_engine *engine,
                                                   struct weir_store *store, const char *method,
                                                   const char *json, size_t json_bytes,
                                                   const char *bytes, size_t bytes_count,
                                                   struct weir_called *called,
                                                   struct weir_err *err);
WEIR_API void weir_called_release(struct weir_called *called); /* an empty one is fine */

/* ---- sessions (weir/session.h) by JSON ---- */

struct weir_session;

/* Opens a session: `json` has the members of struct weir_session_options but the store, which is
 * borrowed until weir_session_close(). `called->json` says what opening found. */
WEIR_API WEIR_MUST_USE weir_status weir_session_call_open(struct weir_store *store,
                                                          const char *json, size_t json_bytes,
                                                          struct weir_session **session,
                                                          struct weir_called *called,
                                                          struct weir_err *err);

/* The session's functions by their names without `weir_session_`; docs/embed.md has them and their
 * members. As of weir_call_bytes(), the large text stands beside the JSON or is a member. */
WEIR_API WEIR_MUST_USE weir_status weir_session_call(struct weir_session *session,
                                                     const char *method, const char *json,
                                                     size_t json_bytes, const char *bytes,
                                                     size_t bytes_count, struct weir_called *called,
                                                     struct weir_err *err);

WEIR_END_DECLS

#endif
