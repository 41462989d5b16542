/* spoken.h -- calls and results that a client writes as plain text. Private to src/api.
 *
 * smolagents sends the model's calls back as the model's words and their results as words of the
 * user. Words of the user are never shortened (law L5), so such a result could only stay. Where the
 * client's own marks leave no doubt the two are read as what they are; in doubt they stay words.
 */
#ifndef WR_API_SPOKEN_H
#define WR_API_SPOKEN_H

#include "api/read.h"

/* Adds `content` of a message of the model's as a call, if it is one and nothing else. `*is_call`
 * says so; else nothing is added. */
WEIR_MUST_USE weir_status wr_add_spoken_call(struct wr_transcript *transcript,
                                             const struct wr_place *place, wr_json_id content,
                                             bool *is_call);

/* Whether a user's message with this content, which comes next, is the result of such a call;
 * `*is_error`: that failed. */
bool wr_is_spoken_result(const struct wr_transcript *transcript, wr_json_id content,
                         bool *is_error);

/* The call that the last segment is; empty: it is none that was spoken. */
weir_span wr_spoken_call_id(const struct wr_transcript *transcript);

#endif
