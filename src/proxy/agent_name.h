/* agent_name.h -- which program sent a request, as its headers say. */
#ifndef WR_PROXY_AGENT_NAME_H
#define WR_PROXY_AGENT_NAME_H

#include "net/head.h"

/* "codex", "claude-code", ...: a constant; "" where nothing is known. An agent that says who it is
 * comes before the library that it sends with. */
const char *wr_agent_name(const struct wr_head *head);

#endif
