/* call.h -- one function, JSON in and JSON out, for languages that would rather not read structs.
 *
 *     char *answer;
 *     weir_call(engine, store, "count", "{\"text\":\"What is a weir?\"}", 26, &answer, NULL);
 *     ...answer is {"tokens":6,"is_exact":true,"method":"exact, o200k_base"}...
 *     weir_call_free(answer);
 *
 * The methods are `project`, `count`, `condense`, `models` and `recall`; docs/embed.md has the
 * members of each. A member that is null is as one that is not there, and one that the method does
 * not have is refused, so that a misspelt option is noticed.
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

WEIR_END_DECLS

#endif
