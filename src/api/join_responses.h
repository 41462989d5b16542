/* join_responses.h -- what responses.c, join_responses.c and own_responses.c share. */
#ifndef WR_API_JOIN_RESPONSES_H
#define WR_API_JOIN_RESPONSES_H

#include "api/own_api.h"

/* Whether an item is a call that the client answers; whether it is such an answer. */
bool wr_responses_is_call(const struct wr_json *doc, wr_json_id item);
bool wr_responses_is_result(const struct wr_json *doc, wr_json_id item);

/* own_responses.c, for the table. */
bool wr_own_responses_may_join(const struct wr_json *doc);
bool wr_own_responses_is_hosted(const struct wr_json *doc, wr_json_id tool);
bool wr_own_responses_put_back(struct wr_own_edits *edits);
void wr_own_responses_show_stored(struct wr_splice *splice, const struct wr_json *doc,
                                  const struct wr_own_stored *stored);

#endif
