/* local_window.h -- how large a window a local server has really loaded a model with.
 *
 * What such a server says a model could have is not what it was loaded with, and a prompt over the
 * loaded window is cut without a word. models/loaded.h knows whom to ask and reads the answers.
 */
#ifndef WR_AGENT_LOCAL_WINDOW_H
#define WR_AGENT_LOCAL_WINDOW_H

#include "agent/client.h"

/* Tokens; 0: it does not say. */
uint32_t wr_local_window(struct wr_client *client, const struct wr_endpoint *endpoint,
                         const char *model);

#endif
