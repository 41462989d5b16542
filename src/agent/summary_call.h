/* summary_call.h -- a summary of older turns, written by a model.
 *
 * The session decides whether the text is good enough (weir/session.h); here it is only asked for,
 * within the time, the tokens and the money that the task allows. What it used is told, also where
 * nothing came of it.
 */
#ifndef WR_AGENT_SUMMARY_CALL_H
#define WR_AGENT_SUMMARY_CALL_H

#include "agent/client.h"
#include "weir/session.h"

struct wr_summary_call {
    struct wr_client *client;
    const struct wr_endpoint *endpoint;
    const char *model, *session;
    const struct weir_session *live; /* knows prices; NULL: the money is not looked at */
    struct wr_buf text;              /* of the last one */
};

void wr_summary_call_init(struct wr_summary_call *call);
void wr_summary_call_release(struct wr_summary_call *call);

weir_summary_fn wr_summary_call; /* the user is a wr_summary_call */

#endif
