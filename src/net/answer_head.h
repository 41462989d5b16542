/* answer_head.h -- the head of an upstream's answer, from its lines as libcurl hands them over. */
#ifndef WR_NET_ANSWER_HEAD_H
#define WR_NET_ANSWER_HEAD_H

#include "net/head.h"

/* `lines` is the status line and the headers, up to the empty line; the head points into it. False:
 * it is no head, or has too many headers. The words behind the status are in `target`. */
bool wr_answer_head_read(weir_span lines, struct wr_head *head);

#endif
