/* reason.h -- the usual words behind a status. */
#ifndef WR_NET_REASON_H
#define WR_NET_REASON_H

const char *wr_reason(int status); /* "Unknown" for what is not in the list */

#endif
